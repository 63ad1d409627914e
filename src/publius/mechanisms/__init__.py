"""Mechanisms: `base` says what one is, `words` has one file each, `finite` draws from output probabilities."""
