"""Broken versions, each with the named check that must catch it: an audit that catches nothing proves nothing."""
