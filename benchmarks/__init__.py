"""`make bench`: every figure a ratio to its limit or to a peer, in one run."""
