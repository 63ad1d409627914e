"""A released bag in a likely order; sees the release and public text only."""
