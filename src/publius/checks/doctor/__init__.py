"""Whether this installation can be trusted: what is installed, and a quick check of what a release stands on."""
