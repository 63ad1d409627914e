"""Documents come in: files and tables become rows of text, one at a time; what they look like before anything is spent."""
