"""The court (anyone's mechanism against its claim), the laws of a plug-in, and a quick check of this installation."""
