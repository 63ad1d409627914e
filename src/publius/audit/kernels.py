"""Exact kernels of the Laplace mechanism on small vocabularies: the probability of each output word.

Written from the definition, without the product's noise or search: an independent statement of what must come out.
In one dimension the words nearest to w form an interval; in two dimensions a convex polygon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.errors import UsageError

LARGEST_DIMENSION = 2

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_PANELS = 16
_DECAY = 90.0  # beyond exp(-90) of its largest value an edge's integrand is nothing


def laplace_kernel(vectors: FloatArray, epsilon: float) -> Float64Array:
    """K[x, w], the probability that word x comes out as word w; shape (V, V), relative error below 1e-12.

    For the Euclidean metric in one or two dimensions. Of equal vectors the lowest index gets the whole cell.
    Raises `UsageError` for other dimensions.
    """
    points = np.asarray(vectors, np.float64)
    if not 1 <= points.shape[1] <= LARGEST_DIMENSION:
        raise UsageError(f"exact kernels exist in 1 and 2 dimensions, not in {points.shape[1]}")
    distinct, first, inverse = np.unique(points, axis=0, return_index=True, return_inverse=True)
    small = _on_line(distinct[:, 0], epsilon) if points.shape[1] == 1 else _in_plane(distinct, epsilon)
    kernel = np.zeros((len(points), len(points)))
    kernel[:, first] = small[inverse.reshape(-1)]
    return kernel


# One dimension -------------------------------------------------------------------------------------------------


def _on_line(values: Float64Array, epsilon: float) -> Float64Array:
    """The kernel for ascending ``values``: the cell of a word lies between the middles to its neighbors."""
    middles = (values[:-1] + values[1:]) / 2
    left = np.append(-np.inf, middles)[None, :] - values[:, None]
    right = np.append(middles, np.inf)[None, :] - values[:, None]
    return np.where(
        (left < 0) & (right > 0),
        -(np.expm1(-epsilon * np.abs(left)) + np.expm1(-epsilon * np.abs(right))) / 2,
        _one_side(np.where(left >= 0, left, -right), np.where(left >= 0, right, -left), epsilon),
    )


def _one_side(near: Float64Array, far: Float64Array, epsilon: float) -> Float64Array:
    """Mass between the distances ``near`` and ``far`` on one side, without cancellation."""
    near = np.maximum(near, 0.0)
    return -np.exp(-epsilon * near) * np.expm1(-epsilon * (far - near)) / 2


# Two dimensions ------------------------------------------------------------------------------------------------


def _in_plane(points: Float64Array, epsilon: float) -> Float64Array:
    """The kernel by Green's theorem round each cell.

    With G(r) = (1 + epsilon r) exp(-epsilon r), the mass beyond radius r, the mass of a cell seen from x is
    [x in the cell] - 1/(2 pi) times the integral of G over the angle along the cell's boundary. An edge between
    two cells is integrated once and counts for the one what it takes from the other.
    """
    kernel = np.eye(len(points))
    for a, b, start, stop in _edges(points):
        normal = points[b] - points[a]
        length = math.hypot(*normal)
        normal /= length
        along = np.array([-normal[1], normal[0]])
        middle = (points[a] + points[b]) / 2
        height = (middle - points) @ normal
        offset = (points - middle) @ along
        mass = _edge_integral(np.abs(height), start - offset, stop - offset, epsilon) / (2 * np.pi)
        signed = np.sign(height) * mass
        kernel[:, a] -= signed
        kernel[:, b] += signed
    return kernel


def _edges(points: Float64Array) -> Iterator[tuple[int, int, float, float]]:
    """Edges (a, b, start, stop) between the cells of a and b, as lengths along their bisector from its middle."""
    for a in range(len(points)):
        for b in range(a + 1, len(points)):
            start, stop = _edge(points, a, b)
            if start < stop:
                yield a, b, start, stop


def _edge(points: Float64Array, a: int, b: int) -> tuple[float, float]:
    """Where the bisector of a and b is at most as far from them as from every other point."""
    difference = points[b] - points[a]
    along = np.array([-difference[1], difference[0]]) / math.hypot(*difference)
    middle = (points[a] + points[b]) / 2
    others = np.delete(points, [a, b], axis=0)
    # |middle + s along - a|^2 <= |middle + s along - c|^2 is slope * s <= room.
    slope = 2 * (others - points[a]) @ along
    room = np.square(others - middle).sum(axis=1) - np.square(points[a] - middle).sum()
    if (room[slope == 0] < 0).any():
        return 0.0, 0.0
    limits = room[slope != 0] / slope[slope != 0]
    rising = slope[slope != 0] > 0
    return float(max(limits[~rising], default=-np.inf)), float(min(limits[rising], default=np.inf))


def _edge_integral(
    height: Float64Array, start: Float64Array, stop: Float64Array, epsilon: float
) -> Float64Array:
    """Integral of G over the angle under which points at ``height`` over a line see its part (start, stop).

    With s = h sinh u along the line the radius is h cosh u and the angle element du / cosh u: smooth, and it dies
    out as exp(-epsilon h cosh u), whatever h. Gauss-Legendre on panels of u. Shapes (points,).
    """
    result = np.zeros(len(height))
    seen = np.flatnonzero(height > 0)
    if not len(seen):
        return result
    h, a = height[seen], epsilon * height[seen]
    low, high = np.arcsinh(start[seen] / h), np.arcsinh(stop[seen] / h)
    nearest = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    reach = np.arccosh(np.cosh(np.minimum(nearest, 700.0)) + _DECAY / a)
    low, high = np.maximum(low, -reach), np.minimum(high, reach)
    width = (high - low) / _PANELS
    panels = low[:, None] + width[:, None] * np.arange(_PANELS)
    u = panels[:, :, None] + width[:, None, None] * (_NODES + 1) / 2
    cosh = np.cosh(u)
    exponent = a[:, None, None] * cosh
    values = (1 + exponent) * np.exp(-exponent) / cosh
    result[seen] = (values @ _WEIGHTS).sum(axis=1) * width / 2
    return result
