"""A metric of one's own: finite mechanisms take it, noise does not, and what is seen to be none is refused."""

import sys

import numpy as np
import pytest

from publius.distances.earth_mover import earth_movers_distance, pairwise_distances, transport_plan
from publius.distances.metrics import AbstractMetric, Manhattan, ground_metric, metric_asked
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.kernels.exponential import Exponential, TruncatedExponential
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.kernels.mahalanobis import Mahalanobis
from publius.mechanisms.kernels.projected import ProjectedLaplace
from publius.mechanisms.kernels.tight import Tight
from publius.mechanisms.kernels.vickrey import Vickrey
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.registry import make_kernel
from publius.text.bag import Bag


class Largest(AbstractMetric):
    """The largest coordinate difference."""

    name = "largest"

    def pairwise(self, a, b):
        return largest(a, b)


class Squared(Largest):
    name = "squared"

    def pairwise(self, a, b):
        return super().pairwise(a, b) ** 2


class Disguised(Largest):
    name = Manhattan.name


def largest(a, b):
    """The largest coordinate difference, as a plain function of two sets of vectors."""
    return np.abs(np.asarray(a, np.float64)[:, None] - np.asarray(b, np.float64)[None]).max(axis=2)


def of_two_vectors(a, b):
    return float(np.abs(a - b).max())


OWN = f"python:{__name__}:largest"
"""As a command names it, and a guarantee states it."""


@pytest.mark.parametrize("metric", [Largest(), largest], ids=["class", "function"])
@pytest.mark.parametrize("kind", [Exponential, Tight, TruncatedExponential])
def test_a_finite_mechanism_keeps_its_bound_in_it(embeddings, kind, metric):
    mechanism = kind(embeddings, metric=metric, epsilon=4.0)
    logs, far = mechanism.log_probabilities(), largest(embeddings.vectors, embeddings.vectors)
    losses = (logs[:, None] - logs[None]).max(axis=2)
    assert (losses <= mechanism.epsilon * far + 1e-9).all()
    assert losses.max() > 0.01  # it does say something
    name = OWN if metric is largest else "largest"
    assert (mechanism.guarantee.metric, mechanism.guarantee.evidence) == (name, "stated")
    assert (mechanism.at(5.0).metric.name, mechanism.at(5.0).epsilon) == (name, 5.0)


def test_every_distance_takes_it(embeddings):
    words = [embeddings.word(place) for place in range(4)]
    a, b = Bag([words[0], words[0], words[1]]), Bag([words[2], words[3], words[3]])
    expected = transport_plan(a, b, embeddings, Largest()).distance
    assert transport_plan(a, b, embeddings, largest).distance == pytest.approx(expected)
    assert pairwise_distances([a, b], embeddings, largest)[0, 1] == pytest.approx(expected)
    single = Largest().pairwise(embeddings.vectors[:1], embeddings.vectors[1:2])[0, 0]
    assert earth_movers_distance(Bag(words[:1]), Bag(words[1:2]), embeddings, Largest()) == pytest.approx(single)


def test_a_function_of_two_single_vectors_is_refused_with_what_it_must_take(embeddings):
    with pytest.raises(DataError, match=r"two sets at once, shapes \(p, n\) and \(q, n\)"):
        Exponential(embeddings, epsilon=2.0, metric=of_two_vectors)


def test_a_manifest_says_whose_metric_it_is(embeddings):
    facts = Lifted(Exponential(embeddings, epsilon=2.0, metric=largest), 3).facts()
    assert (facts["metric"], facts["evidence"]) == (OWN, "stated")
    assert Lifted(Mahalanobis(embeddings, epsilon=2.0), 3).facts()["evidence"] == "proven"


METRIC = """
import numpy as np

def largest(a, b):
    return np.abs(a[:, None] - b[None]).max(axis=2)
"""


def test_a_command_takes_a_metric_of_ones_own(embeddings, tmp_path, monkeypatch):
    """By its place, on PYTHONPATH; noise says why it cannot, and a file that names it runs nothing."""
    (tmp_path / "own_distance.py").write_text(METRIC)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path])
    asked = metric_asked("python:own_distance:largest")
    assert asked.name == "python:own_distance:largest"
    assert make_kernel("exponential", embeddings, epsilon=2.0, metric=asked.name).metric.name == asked.name
    with pytest.raises(UsageError, match="norm"):
        make_kernel("laplace", embeddings, epsilon=2.0, metric=asked.name)
    with pytest.raises(UsageError, match="python:own_distance:smallest"):
        metric_asked("python:own_distance:smallest")
    with pytest.raises(UsageError, match="no metric is called"):
        ground_metric(asked.name)


@pytest.mark.parametrize("metric", [Largest(), largest], ids=["class", "function"])
@pytest.mark.parametrize("kind", [Laplace, Vickrey, ProjectedLaplace])
def test_noise_needs_a_norm_and_says_so(embeddings, kind, metric):
    with pytest.raises(UsageError, match="norm"):
        kind(embeddings, epsilon=2.0, metric=metric)


def test_what_is_no_metric_is_refused(embeddings):
    with pytest.raises(DataError, match="triangle"):
        Exponential(embeddings, epsilon=2.0, metric=Squared())
    with pytest.raises(UsageError, match="name of its own"):
        Exponential(embeddings, epsilon=2.0, metric=Disguised())
    with pytest.raises(UsageError, match="AbstractMetric"):
        Exponential(embeddings, epsilon=2.0, metric=object())


def test_mechanisms_are_shown_in_a_line(embeddings):
    laplace = Laplace(embeddings, epsilon=2.0)
    assert repr(laplace) == "Laplace('toy', epsilon=2, metric='euclidean')"
    assert repr(Lifted(laplace, 10)) == "Lifted(Laplace('toy', epsilon=2, metric='euclidean'), length=10)"


class Loud(Largest):
    """Says what it saw."""

    name = "loud"

    def pairwise(self, a, b):
        return loud(a, b)


def loud(a, b):
    raise DataError(f"between {a} and {b}")


@pytest.mark.parametrize("metric", [Loud(), loud], ids=["class", "function"])
def test_what_it_raises_is_not_heard(embeddings, metric):
    words = embeddings.vocabulary[:2]
    with pytest.raises(PolicyError, match=r"^the metric \S+ failed: DataError at test_own_metric\.py:\d+; ") as error:
        earth_movers_distance(Bag(words[:1]), Bag(words[1:]), embeddings, metric)
    assert "between" not in str(error.value)
