"""(epsilon, delta) after shuffling: the published table, brute force on small releases, and never below the exact value."""

import itertools
import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from publius.errors import UsageError
from publius.noise.randomness import seeded_rng
from publius.privacy import shuffling as module
from publius.privacy.shuffling import Shuffling

DOCUMENTS = (200, 1000, 5000, 10_000, 100_000)
TABLE = {  # docs/theory: epsilon at delta 1e-6, rounded up to three digits
    (2, 5): (5.000, 5.000, 1.158, 0.743, 0.207),
    (20, 4): (2.477, 1.304, 0.513, 0.351, 0.102),
    (20, 5): (4.033, 2.920, 1.051, 0.689, 0.194),
    (20, 7): (7.000, 6.301, 5.100, 4.514, 0.622),
    (50, 5): (3.185, 2.167, 0.925, 0.621, 0.178),
    (100, 5): (2.646, 1.696, 0.790, 0.542, 0.157),
    (100, 7): (6.037, 4.604, 3.536, 2.989, 0.596),
}  # fmt: skip


ALIKE = {(20, 4), (20, 5), (50, 5), (100, 5)}
"""Near other rows of the table in outcomes and in bound."""


@pytest.mark.parametrize(
    ("outcomes", "bound"), [pytest.param(*row, marks=[pytest.mark.long] * (row in ALIKE)) for row in TABLE]
)
def test_the_published_table(outcomes, bound):
    for documents, wanted in zip(DOCUMENTS, TABLE[outcomes, bound], strict=True):
        shuffling = Shuffling(bound, outcomes, documents)
        epsilon = shuffling.epsilon_at(1e-6)
        assert wanted / 1.01 <= epsilon <= wanted * 1.0005
        assert shuffling.delta_at(epsilon) <= 1e-6
        if epsilon < bound:
            deltas = not_above(bound, outcomes, documents, (epsilon, epsilon / 1.01))
            assert deltas[0] <= 1e-6 < deltas[1]


def not_above(bound, outcomes, documents, epsilons):
    """What delta is at least at each epsilon, summed anew: counts elsewhere stand at the largest of their bin.

    What is unlikely is left out, and the rounding of its numbers, below 1e-9, is taken off.
    """
    others, gain = documents - 1, math.expm1(bound)
    chance = 1 / (gain + outcomes)
    elsewhere = min(1.0, (outcomes - 2) * chance / (1 - 2 * chance))

    def likely(trials, share):
        middle, spread = trials * share, 7 * math.sqrt(trials * share * (1 - share)) + 20
        return np.arange(max(0, int(middle - spread)), min(trials, int(middle + spread)) + 1)

    counts = likely(others, chance)
    rest = likely(others - int(2 * counts[0]), elsewhere) if outcomes > 2 else np.zeros(1, np.int64)
    width = max(1, int(rest[-1] * 2e-3))
    starts = np.arange(0, len(rest), width)
    largest = rest[np.minimum(starts + width, len(rest)) - 1]
    bins = {}
    totals, limits = [0.0] * len(epsilons), [math.exp(epsilon) for epsilon in epsilons]
    for x in counts.tolist():
        left = others - x
        y = counts[counts <= min(x, left)]
        pairs = binom.pmf(x, others, chance) * binom.pmf(y, left, chance / (1 - chance))
        for trials in (left - y).tolist():
            if trials not in bins:
                bins[trials] = np.add.reduceat(binom.pmf(rest, trials, elsewhere), starts)
        masses = pairs[:, None] * np.array([bins[trials] for trials in (left - y).tolist()])
        steps = [
            (1, 0, 0, 1 - (outcomes - 1) * chance), (0, 1, 0, chance), (0, 0, 1, (outcomes - 2) * chance),
        ]  # fmt: skip
        for dx, dy, do, probability in steps:
            at_x, at_y = x + dx, y[:, None] + dy
            size = at_x + at_y + largest[None, :] + do
            inverse = (size + gain * at_y) / (size + gain * at_x)
            for place, limit in enumerate(limits):
                totals[place] += probability * float((masses * np.maximum(1 - limit * inverse, 0)).sum())
    return [total * (1 - 1e-9) for total in totals]


DIGITS = 50


def summed(bound, outcomes, documents, epsilon):
    """Delta in decimal numbers of 50 digits: every count at x, at y and elsewhere, nothing in bins or left out."""
    with localcontext(prec=DIGITS):
        factor, limit = Decimal(bound).exp(), Decimal(epsilon).exp()
        whole, others = factor + outcomes - 1, documents - 1
        shares = [1 / whole, 1 / whole, (outcomes - 2) / whole, (factor - 1) / whole]
        powers = [[Decimal(1), *(share**count for count in range(1, others + 1))] for share in shares]
        ways, total = [Decimal(math.factorial(count)) for count in range(others + 1)], Decimal(0)
        for x, y in itertools.product(range(others + 1), repeat=2):
            for elsewhere in range(others - x - y + 1):
                kept = others - x - y - elsewhere
                ordered = ways[others] / (ways[x] * ways[y] * ways[elsewhere] * ways[kept])
                chance = ordered * powers[0][x] * powers[1][y] * powers[2][elsewhere] * powers[3][kept]
                for dx, dy, own in ((1, 0, factor), (0, 1, Decimal(1)), (0, 0, Decimal(outcomes - 2))):
                    size = x + y + elsewhere + 1
                    inverse = (size + (factor - 1) * (y + dy)) / (size + (factor - 1) * (x + dx))
                    total += chance * own / whole * max(Decimal(0), 1 - limit * inverse)
        return total


@pytest.mark.parametrize(
    ("outcomes", "bound", "documents"),
    [(2, 0.7, 9), (3, 2.0, 12), (3, 5.0, 12), (20, 3.0, 10), (20, 7.0, 10), (100, 5.0, 8), (5, 0.01, 6)],
)
def test_never_below_the_exact_value(outcomes, bound, documents):
    """Of no tolerance downwards: floats become the decimal numbers that they are."""
    shuffling = Shuffling(bound, outcomes, documents)
    for share in (0.0, 0.013, 0.2, 0.5, 0.75, 0.95, 0.9999):
        epsilon = share * bound
        stated, exact = Decimal(shuffling.delta_at(epsilon)), summed(bound, outcomes, documents, epsilon)
        nearly = summed(bound, outcomes, documents, epsilon * (1 - 3e-4))  # losses are rounded up by less
        assert exact <= stated <= nearly * Decimal("1.0003") + Decimal("2e-12")
    for delta in (0.2, 1e-3, 1e-8):
        epsilon = shuffling.epsilon_at(delta)
        assert epsilon == bound or summed(bound, outcomes, documents, epsilon) <= Decimal(delta)
        nearer = epsilon / 1.01 - 3e-4 * bound
        assert nearer <= 0 or summed(bound, outcomes, documents, nearer) > Decimal(delta)


def test_losses_are_rounded_up_and_answers_fall():
    shuffling = Shuffling(3.0, 5, 40)
    for ratio in [1 + 1e-9, 1.0001, 1.3, 2.0, 7.77, math.exp(2.9), math.exp(3.0)]:
        shuffling._masses[:] = 0
        shuffling._add(np.array([ratio]), np.array([1.0]))
        (place,) = np.flatnonzero(shuffling._masses)
        with localcontext(prec=DIGITS):
            assert Decimal(min(ratio, math.exp(3.0) * (1 - 1e-15))).ln() <= Decimal(shuffling._losses[place])
        assert shuffling._losses[place] <= max(math.log(ratio) * 1.0003, 2e-7)
    shuffling = Shuffling(3.0, 5, 40)
    epsilons = np.sort(
        np.concatenate([np.linspace(0, 3, 700), shuffling._losses[::500], np.nextafter(shuffling._losses[::500], 0)])
    )
    deltas = [shuffling.delta_at(epsilon) for epsilon in epsilons.tolist()]
    assert all(after <= before * (1 + 1e-12) for before, after in itertools.pairwise(deltas))
    found = [shuffling.epsilon_at(delta) for delta in np.geomspace(1e-12, 0.9, 60).tolist()]
    assert found == sorted(found, reverse=True)


def blanket_law(target, others, outcomes, factor):
    """The law of what is left to see: how often each outcome came among the uniform rows and the target's. Exact."""
    total = factor + outcomes - 1
    row = dict.fromkeys(range(outcomes), 1 / total) | {None: (factor - 1) / total}
    law = Counter()
    for rows in itertools.product(row, repeat=others):
        chance = math.prod((row[k] for k in rows), start=Fraction(1))
        for k in range(outcomes):
            own = (factor if k == target else 1) / total
            seen = Counter([k, *(other for other in rows if other is not None)])
            law[tuple(sorted(seen.items()))] += chance * own
    return law


def exact_delta(one, two, epsilon):
    e = Fraction(math.exp(epsilon))
    return float(sum(max(Fraction(0), chance - e * two[seen]) for seen, chance in one.items()))


@pytest.mark.parametrize(("outcomes", "factor", "documents"), [(2, 4, 7), (3, 4, 5), (3, 40, 6), (4, 9, 5), (5, 3, 4)])
def test_brute_force_on_small_releases(outcomes, factor, documents):
    """Every sequence of rows is written out; the two documents are any two."""
    laws = [blanket_law(k, documents - 1, outcomes, Fraction(factor)) for k in (0, 1)]
    shuffling = Shuffling(math.log(factor), outcomes, documents)
    for epsilon in (0.0, 0.1, 0.5, 1.0, 1.3, 2.0, 3.0):
        exact = exact_delta(*laws, epsilon)
        assert exact <= shuffling.delta_at(epsilon) * (1 + 1e-14) <= exact * 1.001 + 2e-3 * exact + 2e-12
    for delta in (1e-4, 1e-2):
        epsilon = shuffling.epsilon_at(delta)
        assert exact_delta(*laws, epsilon) <= delta
        assert epsilon <= 1e-6 or exact_delta(*laws, epsilon * 0.995) > delta


def release_law(documents):
    """The law of the counts that are released of documents with these laws over the outcomes."""
    law = {(0,) * len(documents[0]): 1.0}
    for chances in documents:
        longer = Counter()
        for counts, chance in law.items():
            for k, own in enumerate(chances):
                longer[(*counts[:k], counts[k] + 1, *counts[k + 1 :])] += chance * own
        law = longer
    return law


@pytest.mark.parametrize("sharp", [True, False])
def test_no_release_is_beyond_it_whatever_the_scores(sharp):
    """Soft scores, others of any kind: the divergence of what is really released never exceeds what is stated."""
    rng, outcomes, documents, bound = seeded_rng(8), 4, 8, 2.0
    shuffling, gain = Shuffling(bound, outcomes, documents), math.expm1(bound)
    largest = {0.0: 0.0, 0.4: 0.0, 1.0: 0.0}
    for _ in range(25):
        q = rng.dirichlet([0.2] * outcomes, documents + 1)
        if sharp:
            q = np.eye(outcomes)[q.argmax(axis=1)]
        laws = (1 + gain * q) / (gain + outcomes)
        one, two = (release_law([*laws[2:], laws[place]]) for place in (0, 1))
        for epsilon in largest:
            found = sum(max(0.0, chance - math.exp(epsilon) * two[seen]) for seen, chance in one.items())
            largest[epsilon] = max(largest[epsilon], found)
    for epsilon, found in largest.items():
        assert found <= shuffling.delta_at(epsilon)
    assert largest[0.0] > (0.3 if sharp else 0.1) * shuffling.delta_at(0.0)


@pytest.mark.parametrize(("outcomes", "bound", "documents"), [(2, 1.0, 400), (5, 3.0, 2000), (20, 5.0, 3000)])
def test_bins_only_raise_it(monkeypatch, outcomes, bound, documents):
    fine = Shuffling(bound, outcomes, documents)
    epsilons = [fine.epsilon_at(delta) for delta in (1e-3, 1e-6, 1e-9)]
    exact = not_above(bound, outcomes, documents, epsilons)
    for bins, error in ((4, 1e-3), (2, 0.05), (64, 0.2)):
        monkeypatch.setattr(module, "_BINS_A_DEVIATION", bins)
        monkeypatch.setattr(module, "_RATIO_ERROR", error)
        coarse = Shuffling(bound, outcomes, documents)
        for epsilon, delta in zip(epsilons, exact, strict=True):
            assert delta <= coarse.delta_at(epsilon)


@pytest.mark.long
def test_a_very_many_documents():
    epsilons = [Shuffling(5.0, 20, documents).epsilon_at(1e-6) for documents in (100_000, 1_000_000, 4_000_000)]
    # Epsilon falls a little faster than the root of n: at a fixed delta a smaller spread is cut nearer its middle.
    assert epsilons[0] / epsilons[1] == pytest.approx(math.sqrt(10), rel=0.1)
    assert epsilons[1] / epsilons[2] == pytest.approx(2, rel=0.07)


def test_the_most_documents_stand_for_larger_ones(monkeypatch):
    monkeypatch.setattr(module, "MOST_DOCUMENTS", 500)
    assert Shuffling(4.0, 20, 90_000).epsilon_at(1e-6) == Shuffling(4.0, 20, 500).epsilon_at(1e-6)


def test_more_documents_hide_more_and_more_delta_costs_less():
    by_size = [Shuffling(4.0, 20, documents).epsilon_at(1e-6) for documents in (1, 2, 50, 500, 5000)]
    assert by_size == sorted(by_size, reverse=True)
    assert by_size[0] == pytest.approx(4.0, rel=1e-6)
    shuffling = Shuffling(4.0, 20, 500)
    by_delta = [shuffling.epsilon_at(delta) for delta in (0, 1e-12, 1e-6, 1e-2, 0.9)]
    assert by_delta == sorted(by_delta, reverse=True)
    assert by_delta[0] == 4.0
    assert by_delta[-1] == 0.0


def test_one_document_alone_has_the_bound_and_the_delta_of_randomized_response():
    shuffling, total = Shuffling(2.0, 5, 1), math.exp(2) + 4
    for epsilon in (0.0, 0.5, 1.9):
        exact = (math.exp(2) - math.exp(epsilon)) / total
        assert exact <= shuffling.delta_at(epsilon) <= exact * (1 + 1e-3)
    assert shuffling.delta_at(2.0) == 0


def test_a_person_with_several_documents():
    """The person's delta is the one that is stated: that of one document is smaller."""
    shuffling = Shuffling(5.0, 20, 10_000)
    one, three = shuffling.epsilon_at(1e-6), shuffling.epsilon_at(1e-6, documents_per_author=3)
    assert three > 3 * one
    share = three / 3
    factor = (math.exp(three) - 1) / (math.exp(share) - 1)
    assert shuffling.delta_at(share) * factor == pytest.approx(1e-6, rel=1e-3)
    assert shuffling.delta_at(share) * factor <= 1e-6
    assert shuffling.delta_at(three, documents_per_author=3) <= 1e-6


def test_a_person_whom_shuffling_hides_nothing_of_has_the_bounds_together():
    assert Shuffling(7.0, 20, 200).epsilon_at(1e-9, documents_per_author=4) == 28.0
    assert Shuffling(7.0, 20, 200).delta_at(28.0, documents_per_author=4) == 0


def test_one_outcome_says_nothing():
    assert Shuffling(5.0, 1, 10).epsilon_at(1e-6) == 0
    assert Shuffling(5.0, 1, 10).delta_at(0.0) == 0


@pytest.mark.parametrize(
    "call",
    [lambda: Shuffling(0, 5, 10), lambda: Shuffling(31, 5, 10), lambda: Shuffling(1, 0, 10), lambda: Shuffling(1, 5, 0),
     lambda: Shuffling(1, 5, 2.5), lambda: Shuffling(1, 5, 10).epsilon_at(1), lambda: Shuffling(1, 5, 10).epsilon_at(-1e-9),
     lambda: Shuffling(1, 5, 10).delta_at(-1), lambda: Shuffling(1, 5, 10).delta_at(math.nan),
     lambda: Shuffling(1, 5, 10).delta_at(1, documents_per_author=0)],
)  # fmt: skip
def test_numbers_that_do_not_exist_are_refused(call):
    with pytest.raises(UsageError):
        call()
