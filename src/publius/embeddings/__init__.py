"""Public words and their vectors: embeddings, their store, the search for the nearest word."""
