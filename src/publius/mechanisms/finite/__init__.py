"""Mechanisms with a finite table of output probabilities: rows, sampling, certificates."""
