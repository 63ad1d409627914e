"""Publius inside other tools, one module each, made of what their libraries offer for it.

All say the same things as `publius.release`: there is no seed, a ledger is debited before anything is drawn, and the
guarantee comes back with the result. Every call draws anew: it is one more release of its documents.
"""
