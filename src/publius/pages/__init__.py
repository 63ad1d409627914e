"""Pages: one printed side each, details folded below; no script, nothing from outside, readable without pictures."""
