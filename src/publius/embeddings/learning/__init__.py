"""Vectors learned from public text."""
