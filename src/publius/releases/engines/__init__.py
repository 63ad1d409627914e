"""Who maps batches of a corpus to private pieces: processes of this machine, or Spark."""
