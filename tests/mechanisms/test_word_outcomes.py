"""The word explorer, the common axis, and their commands."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from publius.cli import app
from publius.distances.metrics import Euclidean
from publius.errors import UsageError
from publius.mechanisms import comparison
from publius.mechanisms.comparison import ComparisonTarget, compare, draw_curves, find_dial
from publius.mechanisms.finite.prior import read_prior
from publius.mechanisms.registry import make_mechanism
from publius.mechanisms.word_outcomes import binomial_interval, distortion, outcomes
from publius.noise.randomness import seeded_rng
from publius.embeddings.embeddings import Embeddings
from toy import WORDS


def test_exact_outcomes_are_the_row(embeddings):
    mechanism = make_mechanism("exponential", embeddings, epsilon=1.5)
    found = outcomes(mechanism, "river", count=60)
    row = np.exp(mechanism.log_probabilities(np.array([0]))[0])
    assert found.stay == pytest.approx(row[0])
    assert sum(output.probability for output in found.outputs) == pytest.approx(1)
    assert found.support == 1 + np.searchsorted(np.cumsum(np.sort(row)[::-1]), 0.99)
    distances = mechanism.metric.pairwise(embeddings.vectors[:1], embeddings.vectors)[0]
    assert found.expected_distance == pytest.approx(row @ distances)
    assert found.draws is None


def test_simulated_outcomes_come_with_an_interval(embeddings):
    found = outcomes(
        make_mechanism("laplace", embeddings, epsilon=4.0), "river", draws=3000, rng=seeded_rng(1)
    )
    assert found.stay_low < found.stay < found.stay_high
    assert (found.stay_low, found.stay_high) == binomial_interval(round(found.stay * 3000), 3000)
    assert found.draws == 3000


def test_the_interval_covers():
    """Clopper and Pearson: at least the confidence, whatever the probability."""
    hits = seeded_rng(2).binomial(50, 0.03, 2000)
    covered = [low <= 0.03 <= high for low, high in (binomial_interval(int(k), 50) for k in hits)]
    assert np.mean(covered) > 0.985


def test_a_word_outside_the_vocabulary_is_refused(embeddings):
    with pytest.raises(UsageError, match="not in the vocabulary"):
        outcomes(make_mechanism("laplace", embeddings, epsilon=1.0), "zebra")


@pytest.mark.parametrize("target", [ComparisonTarget(unchanged=0.6), ComparisonTarget(mean_distance=1.2)])
def test_every_mechanism_reaches_the_target(embeddings, target):
    names = ["laplace", "exponential", "repaired-tight", "projected-exponential", "truncated-exponential"]
    for row in compare(names, embeddings, target, np.arange(60), draws=60):
        mechanism = make_mechanism(row.mechanism, embeddings, epsilon=row.epsilon)
        again = distortion(mechanism, np.arange(60), draws=60, rng=seeded_rng(5))
        reached = again.unchanged if target.unchanged else again.mean_distance
        assert reached == pytest.approx(target.unchanged or target.mean_distance, rel=0.04)


def test_a_refused_mechanism_is_a_row_with_the_reason(embeddings):
    rows = compare(["tight"], embeddings, ComparisonTarget(unchanged=0.05), np.arange(60))
    assert rows[0].epsilon is None
    assert "negative" in rows[0].refused


def test_each_mechanism_gets_the_options_it_takes(embeddings):
    rows = compare(
        ["laplace", "projected-laplace"],
        embeddings,
        ComparisonTarget(unchanged=0.5),
        np.arange(20),
        project=4,
    )
    assert [row.mechanism for row in rows] == ["laplace", "projected-laplace"]
    with pytest.raises(UsageError, match="none of these mechanisms takes floor"):
        compare(["laplace"], embeddings, ComparisonTarget(unchanged=0.5), np.arange(20), floor=0.1)


def test_find_dial_solves_steep_and_flat_curves():
    for power in (0.2, 1.0, 6.0):
        dial = find_dial(lambda x, p=power: (x / 7) ** p / (1 + (x / 7) ** p) - 0.83, start=0.01)
        assert dial == pytest.approx(7 * (0.83 / 0.17) ** (1 / power), rel=0.02)


def test_a_target_below_the_border_of_existence_ends_below_it_soon():
    """Refused under 2, and already over the target there: the dial returned is refused, after few steps."""
    asked = []

    def excess(dial):
        asked.append(dial)
        return 0.1 + dial / 100 if dial > 2 else -math.inf

    assert 1.9 < find_dial(excess, start=1.0) <= 2
    assert len(asked) < 15
    assert find_dial(lambda x: x - 3 if x > 2 else -math.inf, start=1.0) == pytest.approx(3, rel=1e-3)


def test_curves_are_drawn_and_equal_each_time(embeddings, tmp_path):
    rows = compare(
        ["exponential", "laplace"], embeddings, ComparisonTarget(unchanged=0.5), np.arange(20), curve=True
    )
    assert len(rows[0].curve) == 7
    for name in ("a.svg", "b.svg"):
        draw_curves(rows, tmp_path / name, "toy")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    with pytest.raises(UsageError, match=r"\.svg"):
        draw_curves(rows, tmp_path / "a.html", "toy")


def run(*arguments):
    """The one JSON object that the command prints."""
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# Commands -------------------------------------------------------------------------------------------------------


def test_certify_command(stored):
    record = run("certify", "--mechanism", "exponential", "--epsilon", "2", "--embeddings", stored, "--json")
    assert 0.999 * 2 <= record["epsilon_certified"] <= 2
    assert record["method"] == "exact"
    assert record["pairs"] == 60 * 59
    assert len(record["worst_pair"]) == 2
    proof = run("certify", "--mechanism", "laplace", "--epsilon", "2", "--embeddings", stored, "--json")
    assert (proof["method"], proof["epsilon_certified"], proof["worst_pair"]) == ("proof", 2.0, None)


def test_words_command(stored):
    record = run(
        "words", "river", "--mechanism", "exponential", "--epsilon", "2", "--embeddings", stored, "--json"
    )
    assert set(record) >= {"word", "stay", "support", "expected_distance", "outputs"}
    assert set(record["outputs"][0]) == {"word", "probability", "distance"}
    two = run("words", "river", "bread", "--mechanism", "laplace", "--epsilon", "2", "--draws", "200",
              "--embeddings", stored, "--json")  # fmt: skip
    assert [each["word"] for each in two["words"]] == ["river", "bread"]


def test_compare_command(stored, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("river\nbread\nsilver\n")
    record = run("compare", "--mechanisms", "exponential,laplace", "--unchanged", "0.5", "--embeddings", stored,
                 "--words", str(words), "--plot", str(tmp_path / "p.svg"), "--json")  # fmt: skip
    assert [row["mechanism"] for row in record["rows"]] == ["exponential", "laplace"]
    assert all(row["unchanged"] == pytest.approx(0.5, abs=0.05) for row in record["rows"])
    assert (tmp_path / "p.svg").exists()


def test_fit_command_stores_embeddings_that_release(tmp_path, home):
    corpus = tmp_path / "public.jsonl"
    rows = [
        {"text": " ".join(WORDS[(i % 2) * 20 : (i % 2) * 20 + 25]), "topic": "ab"[i % 2]} for i in range(20)
    ]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    fitted = run("embeddings", "fit", str(corpus), "--label", "topic", "--name", "topics", "--json")
    assert "must be public" in fitted["source"]["notice"]
    record = run("obfuscate", str(corpus), "--number", "--mechanism", "tight", "--epsilon", "0.5", "--embeddings",
                 "topics", "--length", "10", "--unknown", "drop", "--output", str(tmp_path / "out"),
                 "--json")  # fmt: skip
    assert record["mechanism"] == "tight"
    assert record["mechanism_parameters"]["epsilon_certified"] <= 0.5


def test_a_prior_needs_every_word_once(embeddings, tmp_path):
    path = tmp_path / "prior.tsv"
    path.write_text("".join(f"{word}\t{i + 1}\n" for i, word in enumerate(WORDS)) + "zebra\t3\n")
    np.testing.assert_array_equal(read_prior(path, embeddings), np.arange(1, 61))
    for content, reason in (("river\t1\n", "no weight for 59"), ("river\t-1\n", "line 1"), ("river 1\n", "line 1"),
                            ("river\t1\nriver\t2\n", "line 2"), ("river\tnan\n", "positive")):  # fmt: skip
        path.write_text(content)
        with pytest.raises(ValueError, match=reason):
            read_prior(path, embeddings)


@pytest.mark.parametrize("kept", [0, 2**29])
def test_distances_of_the_words_are_computed_once(monkeypatch, kept):
    """Every dial of every mechanism asks for the same ones; where they do not fit they are computed again."""
    vectors = seeded_rng(5).standard_normal((150, 6))
    embeddings = Embeddings.from_arrays(
        [f"w{i}" for i in range(150)], vectors, name="made", tokenizer="glove"
    )
    words = np.arange(0, 144, 3)
    asked = []
    whole = Euclidean.pairwise

    def pairwise(self, a, b):
        if len(b) == 150 and len(a) == 16:  # certificates ask for a few
            asked.append(len(a))
        return whole(self, a, b)

    target = ComparisonTarget(unchanged=0.5)
    names = ["exponential", "truncated-exponential"]
    expected = compare(names, embeddings, target, words)
    monkeypatch.setattr(comparison, "_KEPT_BYTES", kept)
    monkeypatch.setattr(Euclidean, "pairwise", pairwise)
    assert compare(names, embeddings, target, words) == expected
    assert (sum(asked) == len(words)) == (kept > 0)


def test_compared_shares_are_those_of_the_mechanism_itself():
    """Distances by products, and a shape that is kept from dial to dial: to rounding what its rows say."""
    vectors = seeded_rng(6).standard_normal((150, 24))
    vectors[3] = vectors[4] * (1 + 1e-6)
    embeddings = Embeddings.from_arrays(
        [f"w{i}" for i in range(150)], vectors, name="made", tokenizer="glove"
    )
    words = np.arange(0, 144, 3)
    for name in ("exponential", "truncated-exponential", "projected-exponential", "repaired-tight"):
        given = {"project": 7} if name == "projected-exponential" else {}
        axis = comparison._Axis(name, embeddings, comparison._Words(embeddings, words), 20, given)
        for scale in (0.8, 1.0, 0.8):
            found = axis.at(scale)
            rows = distortion(make_mechanism(name, embeddings, scale=scale, **given), words)
            assert (found.unchanged, found.mean_distance) == pytest.approx(
                (rows.unchanged, rows.mean_distance), rel=1e-12
            )
