"""Releases: a run from documents to a folder, its manifest and pages, the register, signing and verifying."""
