"""Documents come in: files and rows, ids and labels checked, one at a time."""
