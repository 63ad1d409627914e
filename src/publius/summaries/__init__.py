"""To be said by its owner."""
