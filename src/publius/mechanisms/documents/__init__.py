"""Mechanisms that release something of a whole document: `base` says what one is, one file each."""
