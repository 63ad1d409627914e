"""Promises: guarantees, the promise text, bounds on utility, and the ledger of what was spent."""
