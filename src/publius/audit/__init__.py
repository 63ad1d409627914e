"""Proof that the code does what the theorem says: exact kernels, statistical checks, and mutants that they catch."""
