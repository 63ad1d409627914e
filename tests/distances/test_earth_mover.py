"""Earth Mover's distance: against two oracles, as a metric, and its plan."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bags import by_assignment, by_linear_program, random_bag, vectors_of
from publius.distances import solver
from publius.distances.earth_mover import earth_movers_distance, transport_plan, word_by_word_distance
from publius.distances.metrics import Euclidean, word_distances
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, PolicyError, PubliusError, UsageError
from publius.noise.randomness import seeded_rng
from publius.text.bag import UNKNOWN, Bag
from toy import WORDS

BAGS = st.lists(st.sampled_from([*WORDS[:12], UNKNOWN]), min_size=1, max_size=9).map(Bag)


def pairs_of(count, sizes, seed):
    rng = seeded_rng(seed)
    drawn = [sizes(rng) for _ in range(count)]
    return [(random_bag(rng, p), random_bag(rng, q)) for p, q in drawn]


def equal(rng):
    return (int(rng.integers(1, 30)),) * 2


def unequal(rng):
    return int(rng.integers(1, 15)), int(rng.integers(1, 15))


@pytest.mark.parametrize("pairs", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_pairs_against_two_oracles(embeddings, pairs):
    """Half of equal sizes against the assignment, half of any sizes against a general linear program."""
    for a, b in pairs_of(pairs // 2, equal, 1):
        assert earth_movers_distance(a, b, embeddings) == pytest.approx(by_assignment(a, b, embeddings), abs=1e-9)
    others = pairs_of(pairs // 2, unequal, 2)
    for start in range(0, len(others), 50):
        some = others[start : start + 50]
        ours = [earth_movers_distance(a, b, embeddings) for a, b in some]
        np.testing.assert_allclose(ours, by_linear_program(some, embeddings), rtol=0, atol=1e-9)


@pytest.mark.parametrize("way", ["network simplex", "assignment", "linear program"])
def test_every_solver_gives_the_same(way, embeddings, monkeypatch):
    if way == "network simplex":
        pytest.importorskip("ot")
    else:
        monkeypatch.setitem(sys.modules, "ot", None)
    monkeypatch.setattr(solver, "SMALL", 0)
    monkeypatch.setattr(solver, "_LARGEST_ASSIGNMENT", 0 if way == "linear program" else 4_000)
    pairs = pairs_of(100, unequal, 3)
    ours = [earth_movers_distance(a, b, embeddings) for a, b in pairs]
    np.testing.assert_allclose(ours, by_linear_program(pairs, embeddings), rtol=0, atol=1e-9)


def test_long_documents(embeddings):
    """Past the size where POT takes over."""
    for a, b in pairs_of(20, lambda rng: (400, 400), 4):
        assert earth_movers_distance(a, b, embeddings) == pytest.approx(by_assignment(a, b, embeddings), abs=1e-9)


def test_manhattan(embeddings):
    for a, b in pairs_of(200, equal, 5):
        expected = by_assignment(a, b, embeddings, "cityblock")
        assert earth_movers_distance(a, b, embeddings, "manhattan") == pytest.approx(expected, abs=1e-9)


def test_any_callable_is_a_ground_distance(embeddings):
    def discrete(x, y):
        return (x[:, None] != y).any(axis=2).astype(float)

    a, b = Bag({"river": 3, "forest": 1}), Bag({"river": 1, "meadow": 3})
    assert earth_movers_distance(a, b, embeddings, discrete) == 0.75


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_a_callable_must_give_distances(bad, embeddings):
    with pytest.raises(DataError, match="negative or not finite"):
        earth_movers_distance(
            Bag(["river", "forest"]), Bag(["meadow", "lemon"]), embeddings, lambda x, y: np.full((2, 2), bad)
        )


@settings(max_examples=150, deadline=None)
@given(BAGS, BAGS)
def test_symmetric_and_zero_on_equal_bags(embeddings, a, b):
    there, back = earth_movers_distance(a, b, embeddings), earth_movers_distance(b, a, embeddings)
    assert there == pytest.approx(back, abs=1e-12)
    assert earth_movers_distance(a, a, embeddings) == 0.0


@settings(max_examples=150, deadline=None)
@given(BAGS, BAGS, BAGS)
def test_triangle_inequality(embeddings, a, b, c):
    direct = earth_movers_distance(a, c, embeddings)
    assert direct <= earth_movers_distance(a, b, embeddings) + earth_movers_distance(b, c, embeddings) + 1e-12


def test_only_proportions_count(embeddings):
    a, b = Bag({"river": 2, "forest": 1}), Bag({"river": 200, "forest": 100})
    assert earth_movers_distance(a, b, embeddings) == 0.0


def test_the_unknown_token_stands_at_its_public_vector(embeddings):
    central = embeddings.vocabulary[embeddings.unknown_index]
    assert earth_movers_distance(Bag([UNKNOWN] * 3), Bag([central] * 2), embeddings) == 0.0


def test_equal_vectors_are_at_distance_zero_exactly():
    twins = Embeddings.from_arrays(["one", "two", "far"], [[0.1, 0.7], [0.1, 0.7], [5, 5]], name="twins")
    assert earth_movers_distance(Bag({"one": 3}), Bag({"two": 2}), twins) == 0.0


@settings(max_examples=100, deadline=None)
@given(BAGS, BAGS)
def test_the_plan_is_a_flow_of_that_cost(embeddings, a, b):
    plan = transport_plan(a, b, embeddings)
    for bag, end in ((a, "source"), (b, "target")):
        for word, count in bag.counts.items():
            mass = math.fsum(move.mass for move in plan.moves if getattr(move, end) == word)
            assert mass == pytest.approx(count / bag.size, abs=1e-12)
    assert math.fsum(move.mass * move.distance for move in plan.moves) == pytest.approx(plan.distance, abs=1e-12)
    assert all(move.mass > 0 for move in plan.moves)


def test_shared_words_stay(embeddings):
    plan = transport_plan(Bag({"river": 2, "forest": 2}), Bag({"river": 1, "lemon": 3}), embeddings)
    stay, *moves = sorted(plan.moves, key=lambda move: move.distance)
    assert (stay.source, stay.target, stay.mass, stay.distance) == ("river", "river", 0.25, 0.0)
    assert {move.target for move in moves} == {"lemon"}


def test_the_upper_bound_is_above_the_exact_distance(embeddings):
    """The distance of one word to another, in rational arithmetic."""
    from fractions import Fraction

    for a, b in pairs_of(300, lambda rng: (1, 1), 6):
        if a == b:
            continue
        plan = transport_plan(a, b, embeddings)
        x, y = (vectors_of(bag, embeddings)[0] for bag in (a, b))
        square = sum((Fraction(float(p)) - Fraction(float(q))) ** 2 for p, q in zip(x, y, strict=True))
        assert Fraction(plan.distance_upper) ** 2 >= square
        assert plan.distance_upper <= plan.distance * (1 + 1e-13)


def test_fast_word_distances_lose_no_digits():
    """The product form is replaced by differences where it cancels: near-equal vectors far from the origin."""
    rng = seeded_rng(7)
    x = 100 + rng.standard_normal((60, 30))
    y = np.concatenate([x[:30] + 1e-7 * rng.standard_normal((30, 30)), rng.standard_normal((30, 30))])
    differences = np.sqrt(((x[:, None] - y) ** 2).sum(axis=2))
    np.testing.assert_allclose(word_distances(x, y, Euclidean()), differences, rtol=1e-11)


def of_vectors(x, y):
    """Two bags, of the rows of two arrays, and the vocabulary of all rows."""
    words = [f"w{i}" for i in range(len(x) + len(y))]
    return Bag(words[: len(x)]), Bag(words[len(x) :]), Embeddings.from_arrays(words, np.concatenate([x, y]))


def test_one_dimension_is_the_mean_gap_of_sorted_values():
    x, y = seeded_rng(8).standard_normal((2, 50, 1)).astype(np.float32)
    expected = np.abs(np.sort(x[:, 0]).astype(float) - np.sort(y[:, 0])).mean()
    assert earth_movers_distance(*of_vectors(x, y)) == pytest.approx(expected, abs=1e-12)


def test_one_dimension_agrees_with_the_general_solver():
    rng = seeded_rng(9)
    for p, q in [(3, 8), (40, 25), (1, 9)]:
        x, y = rng.integers(0, 9, (p, 1)).astype(np.float32), rng.standard_normal((q, 1)).astype(np.float32)
        flat = earth_movers_distance(*of_vectors(np.hstack([x, 0 * x]), np.hstack([y, 0 * y])))
        assert earth_movers_distance(*of_vectors(x, y)) == pytest.approx(flat, abs=1e-9)


def test_in_order_is_the_sum_of_the_words_and_at_least_n_times_the_distance_of_the_bags(embeddings):
    for a, b in pairs_of(50, lambda rng: (7, 7), 12):
        one, two = [*a.words()], [*b.words()][::-1]
        x, y = vectors_of(a, embeddings), vectors_of(b, embeddings)[::-1]
        found = word_by_word_distance(one, two, embeddings)
        exact = np.sqrt(((x - y) ** 2).sum(axis=1)).sum()
        assert exact <= found <= exact * (1 + 1e-8)
        assert 7 * earth_movers_distance(a, b, embeddings) <= found
    with pytest.raises(PolicyError, match="one length"):
        word_by_word_distance(["river"], [], embeddings)
    with pytest.raises(DataError, match="1 of 1 words"):
        word_by_word_distance(["zanzibar"], ["river"], embeddings)


def test_an_empty_bag_has_no_distance(embeddings):
    with pytest.raises(DataError, match="empty bag"):
        earth_movers_distance(Bag(), Bag(["river"]), embeddings)


def test_a_word_outside_the_vocabulary_is_refused_and_not_shown(embeddings):
    with pytest.raises(DataError, match="1 of 2 words") as caught:
        earth_movers_distance(Bag(["river", "zanzibar"]), Bag(["river"]), embeddings)
    assert "zanzibar" not in str(caught.value)


def test_an_unknown_metric_is_refused(embeddings):
    with pytest.raises(UsageError, match="cosine"):
        earth_movers_distance(Bag(["river"]), Bag(["lemon"]), embeddings, "cosine")


def test_a_solver_that_stops_early_raises(monkeypatch):
    pytest.importorskip("ot")
    monkeypatch.setattr(solver, "_ITERATIONS", 3)
    costs = seeded_rng(10).random((60, 60))
    ones = np.ones(60, np.int64)
    with pytest.raises(PubliusError, match="stopped before the optimum"):
        solver._network_simplex(costs, ones, ones)


def test_a_flow_that_loses_mass_is_refused(monkeypatch):
    ones = np.ones(2, np.int64)
    monkeypatch.setattr(solver, "_solve", lambda *_: solver.Flow(np.array([0]), np.array([0]), np.array([1])))
    with pytest.raises(PubliusError, match="all of the mass"):
        solver.optimal_flow(1 - np.eye(2)[::-1] + np.eye(2), ones, ones)


def test_the_repr_of_a_plan_holds_no_word(embeddings):
    assert "river" not in repr(transport_plan(Bag(["river"]), Bag(["lemon"]), embeddings))
