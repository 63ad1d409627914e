"""Word mechanisms, one file each."""
