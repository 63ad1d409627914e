"""The audit's exact kernels and cells, against other ways to the same numbers."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, special
from scipy.optimize import linear_sum_assignment

from publius.audit.kernels import laplace_kernel
from publius.audit.lifting import assignment_costs, bag_kernel, bags, check_cells, largest_losses
from publius.audit.toy_vocabularies import LAYOUTS, sharp_world, worlds
from publius.errors import UsageError
from publius.noise.randomness import seeded_rng


def points(count, dimension, seed=1):
    return seeded_rng(seed).standard_normal((count, dimension))


def distances(vectors):
    return np.linalg.norm(vectors[:, None] - vectors[None], axis=2)


def test_line_against_quadrature():
    vectors, epsilon = np.sort(points(6, 1), axis=0), 1.7
    kernel = laplace_kernel(vectors, epsilon)
    edges = np.concatenate([[-40.0], (vectors[1:, 0] + vectors[:-1, 0]) / 2, [40.0]])
    for x, w in itertools.product(range(6), range(6)):
        center = vectors[x, 0]
        inside = [center] if edges[w] < center < edges[w + 1] else None
        density = lambda z, center=center: epsilon / 2 * math.exp(-epsilon * abs(z - center))  # noqa: E731
        mass = integrate.quad(density, edges[w], edges[w + 1], points=inside, epsabs=1e-15, limit=200)[0]
        assert kernel[x, w] == pytest.approx(mass, rel=1e-8)


@pytest.mark.parametrize(("half", "epsilon"), [(0.5, 2.0), (0.01, 1.0), (3.0, 5.0)])
def test_half_plane_against_the_bessel_marginal(half, epsilon):
    """The first coordinate of planar Laplace noise has density epsilon/pi * t K1(t), t = epsilon |x|."""
    kernel = laplace_kernel(np.array([[0.0, 0.0], [2 * half, 0.0]]), epsilon)
    law = lambda t: t * special.k1(t) / math.pi  # noqa: E731
    mass = integrate.quad(law, epsilon * half, epsilon * half + 80, epsabs=0, epsrel=1e-12, limit=500)[0]
    assert kernel[0, 1] == pytest.approx(mass, rel=1e-11)


def _by_rays(vectors, epsilon, x, w, rays=40_000):
    """The mass of a cell by following rays from x: where each enters and leaves the cell of w."""
    angles = 2 * np.pi * (np.arange(rays) + 0.5) / rays
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    others = np.delete(vectors, w, axis=0)
    slope = 2 * ways @ (others - vectors[w]).T
    room = np.square(others - vectors[x]).sum(axis=1) - np.square(vectors[w] - vectors[x]).sum()
    limits = room / slope
    leave = np.clip(np.where(slope > 0, limits, np.inf).min(axis=1), 0, 1e3)
    enter = np.clip(np.where(slope < 0, limits, 0).max(axis=1), 0, 1e3)
    beyond = lambda r: (1 + epsilon * r) * np.exp(-epsilon * r)  # noqa: E731
    return np.where(enter < leave, beyond(enter) - beyond(leave), 0).mean()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_plane_against_rays(layout):
    vectors = LAYOUTS[layout](seeded_rng(4), 7, 2) + 1e-7 * points(7, 2)
    kernel = laplace_kernel(vectors, 1.3)
    rays = [[_by_rays(vectors, 1.3, x, w) for w in range(7)] for x in range(7)]
    np.testing.assert_allclose(kernel, rays, atol=2e-5)


def test_rows_sum_to_one_and_equal_vectors_share_nothing():
    vectors = np.repeat(points(4, 2), 2, axis=0)
    kernel = laplace_kernel(vectors, 1.0)
    np.testing.assert_allclose(kernel.sum(axis=1), 1, atol=1e-12)
    assert (kernel[:, 1::2] == 0).all()
    np.testing.assert_array_equal(kernel[::2], kernel[1::2])


def test_three_dimensions_have_no_exact_kernel():
    with pytest.raises(UsageError, match="1 and 2 dimensions"):
        laplace_kernel(points(3, 3), 1.0)


def test_bags_against_enumeration():
    kernel = laplace_kernel(points(4, 1), 1.0)
    members = bags(4, 3)
    expected = np.zeros((len(members), len(members)))
    place = {tuple(bag): index for index, bag in enumerate(members.tolist())}
    for row, bag in enumerate(members):
        for outputs in itertools.product(range(4), repeat=3):
            expected[row, place[tuple(sorted(outputs))]] += math.prod(kernel[bag, outputs])
    np.testing.assert_allclose(bag_kernel(kernel, 3), expected, rtol=1e-12)


def test_assignment_against_an_independent_solver():
    gaps = distances(points(5, 2))
    members = bags(5, 4)
    costs = assignment_costs(gaps, 4)
    for a, b in seeded_rng(1).integers(0, len(members), (300, 2)).tolist():
        matrix = gaps[np.ix_(members[a], members[b])]
        rows, columns = linear_sum_assignment(matrix)
        assert costs[a, b] == pytest.approx(matrix[rows, columns].sum(), abs=1e-12)


@pytest.mark.parametrize("world", worlds(10, words=(3, 7)), ids=lambda world: world.name)
def test_the_theorem_holds_in_every_cell(world):
    kernel = laplace_kernel(world.vectors, world.epsilon)
    for size in (1, 2, 3):
        cells = check_cells(kernel, distances(world.vectors), world.epsilon, size)
        assert cells.worst_excess <= 1e-9
        assert cells.count == math.comb(len(kernel) + size - 1, size) ** 3


def test_the_bound_is_reached_on_the_sharp_world():
    world = sharp_world()
    cells = check_cells(laplace_kernel(world.vectors, 1.0), distances(world.vectors), 1.0, 2)
    assert cells.tightness == pytest.approx(1, abs=1e-12)


def test_cells_see_an_epsilon_two_percent_too_large():
    world = sharp_world()
    kernel = laplace_kernel(world.vectors, 1.02)
    assert check_cells(kernel, distances(world.vectors), 1.0, 1).worst_excess > 0.04


def test_an_impossible_output_is_an_infinite_loss():
    logs = np.log(np.array([[0.5, 0.5], [1e-300, 1.0]]))
    logs[1, 0] = -np.inf
    assert largest_losses(logs).tolist() == [[0.0, np.inf], [pytest.approx(math.log(2)), 0.0]]
