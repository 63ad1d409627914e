"""Word mechanisms, word to word, one file each."""
