"""Publius: documents become noisy bags-of-words that keep their topic and hide their author."""

__version__ = "0.1.0"
