"""Summaries of a collection, its authors protected: counted, drawn once, written as a folder like every release."""
