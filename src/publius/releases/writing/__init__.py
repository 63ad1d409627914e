"""Text to read from a release alone: writers, each of which sees the release and public things only."""
