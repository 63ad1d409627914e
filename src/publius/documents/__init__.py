"""Documents come in: files and tables become rows of text; what they look like before anything is spent."""
