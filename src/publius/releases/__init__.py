"""The way out: a plan of public decisions, `protect`, and what is written."""
