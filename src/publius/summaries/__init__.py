"""What a collection says: noisy counts with the author as the unit, and what follows from them alone."""
