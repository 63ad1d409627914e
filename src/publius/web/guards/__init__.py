"""Guards that a request passes before anything reads it: security, size and time limits."""
