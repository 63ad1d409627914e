"""Noise: `randomness` is the only maker of generators, `laplace` the n-dimensional law, `tails` its reach."""
