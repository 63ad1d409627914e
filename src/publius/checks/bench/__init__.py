"""Speed, each figure beside its limit or a peer in the same run."""
