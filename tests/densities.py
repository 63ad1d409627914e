"""The densities that `publius.noise.laplace` states, against which its draws are held."""

import math

import numpy as np


def log_density(noise, vectors):
    """The natural logarithm at each row of ``vectors``, shape (count, n) -> (count,)."""
    n, vectors = noise.dimension, np.asarray(vectors, np.float64)
    if noise.metric_name == "manhattan":
        return n * math.log(noise.epsilon / 2) - noise.epsilon * np.abs(vectors).sum(axis=1)
    log_area = math.log(2) + n / 2 * math.log(math.pi) - math.lgamma(n / 2)
    log_constant = n * math.log(noise.epsilon) - math.lgamma(n) - log_area
    return log_constant - noise.epsilon * np.linalg.norm(vectors, axis=1)
