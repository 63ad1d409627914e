"""A metric of one's own: finite mechanisms take it, noise does not, and what is seen to be none is refused."""

import numpy as np
import pytest

from publius import cli, release
from publius.distances import earth_movers_distance
from publius.distances.metrics import AbstractMetric, Manhattan
from publius.errors import DataError, UsageError
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.registry import make_mechanism
from publius.privacy.guarantee import STATED
from publius.text.bag import Bag


class Largest(AbstractMetric):
    """The largest coordinate difference."""

    name = "largest"

    def pairwise(self, a, b):
        return np.abs(np.asarray(a, np.float64)[:, None] - np.asarray(b, np.float64)[None]).max(axis=2)


class Squared(Largest):
    name = "squared"

    def pairwise(self, a, b):
        return super().pairwise(a, b) ** 2


class Disguised(Largest):
    name = Manhattan.name


def test_a_finite_mechanism_keeps_its_bound_in_it(embeddings):
    mechanism = make_mechanism("exponential", embeddings, epsilon=2.0, metric=Largest())
    logs, far = mechanism.log_probabilities(), Largest().pairwise(embeddings.vectors, embeddings.vectors)
    losses = (logs[:, None] - logs[None]).max(axis=2)
    assert (losses <= 2.0 * far + 1e-9).all()
    assert losses.max() > 0.5  # it does say something
    assert (mechanism.guarantee.metric, mechanism.guarantee.evidence) == ("largest", STATED)
    again = mechanism.at(1.0)
    assert (again.metric.name, again.epsilon) == ("largest", 1.0)


def test_distances_take_it(embeddings):
    a, b = embeddings.word(0), embeddings.word(1)
    expected = Largest().pairwise(embeddings.vectors[:1], embeddings.vectors[1:2])[0, 0]
    assert earth_movers_distance(Bag([a]), Bag([b]), embeddings, Largest()) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["laplace", "vickrey"])
def test_noise_needs_a_norm_and_says_so(embeddings, name):
    with pytest.raises(UsageError, match="norm"):
        make_mechanism(name, embeddings, epsilon=2.0, metric=Largest())


def test_what_is_no_metric_is_refused(embeddings):
    with pytest.raises(DataError, match="triangle"):
        make_mechanism("exponential", embeddings, epsilon=2.0, metric=Squared())
    with pytest.raises(UsageError, match="name of its own"):
        make_mechanism("exponential", embeddings, epsilon=2.0, metric=Disguised())
    with pytest.raises(UsageError, match="AbstractMetric"):
        make_mechanism("exponential", embeddings, epsilon=2.0, metric=object())


def test_mechanisms_are_shown_in_a_line(embeddings):
    laplace = make_mechanism("laplace", embeddings, epsilon=2.0)
    assert repr(laplace) == "Laplace('toy', epsilon=2, metric='euclidean')"
    assert repr(Lifted(laplace, 10)) == "Lifted(Laplace('toy', epsilon=2, metric='euclidean'), length=10)"


def test_a_guarantee_is_a_sentence_and_a_release_a_table(embeddings):
    lifted = Lifted(make_mechanism("laplace", embeddings, epsilon=2.0), 3)
    said = str(lifted.guarantee)
    assert (
        said
        == "At most 2.0 * N * Earth Mover's distance (euclidean) nats between two documents of N = 3 words; proven."
    )
    released = release("the river", lifted)
    page = released._repr_html_()
    assert all(f"<td>{word}</td>" in page for word in released.bag.counts)
    assert "Earth Mover&#x27;s distance" in page
    assert "river" not in repr(
        Bag(["river"])
    )  # a bag may be a document: it is shown where it was released only


@pytest.mark.parametrize(("command", "said"), [("evaluate", "kept"), ("obfuscate", "nothing was released")])
def test_a_stop_says_what_holds(monkeypatch, command, said):
    monkeypatch.setattr("sys.argv", ["publius", "--quiet", command, "file"])
    assert said in cli._interrupted()
