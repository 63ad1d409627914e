"""A metric of one's own: finite mechanisms take it, noise does not, and what is seen to be none is refused."""

import hashlib
import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from homes import home_at
from publius import release
from publius.cli import stopped
from publius.distances import (
    NearestDocuments,
    earth_movers_distance,
    pairwise_distances,
    transport_plan,
)
from publius.distances.metrics import AbstractMetric, Manhattan, metric_asked, metric_named
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.registry import make_mechanism, mechanism_of
from publius.privacy.guarantee import STATED
from publius.releases.plan import Plan
from publius.settings import MechanismSettings, ReleaseSettings
from publius.text.bag import Bag
from released import command, toy_vectors
from toy import sentence


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


def largest(a, b):
    """The largest coordinate difference, as a plain function of two sets of vectors."""
    return np.abs(np.asarray(a, np.float64)[:, None] - np.asarray(b, np.float64)[None]).max(axis=2)


def of_two_vectors(a, b):
    return float(np.abs(a - b).max())


OWN = f"python:{__name__}:largest"
"""As a command names it, and a guarantee states it."""


@pytest.mark.parametrize("name", ["exponential", "tight", "repaired-tight", "truncated-exponential"])
def test_a_plain_function_will_do_for_every_finite_mechanism(embeddings, name):
    mechanism = make_mechanism(name, embeddings, metric=largest, epsilon=4.0)
    logs, far = mechanism.log_probabilities(), largest(embeddings.vectors, embeddings.vectors)
    losses = (logs[:, None] - logs[None]).max(axis=2)
    assert (losses <= mechanism.epsilon * far + 1e-9).all()
    assert losses.max() > 0.01
    assert (mechanism.guarantee.metric, mechanism.guarantee.evidence) == (OWN, STATED)
    assert mechanism.at(mechanism.epsilon).metric.name == OWN


def test_every_distance_takes_a_plain_function(embeddings):
    words = [embeddings.word(place) for place in range(4)]
    a, b = Bag([words[0], words[0], words[1]]), Bag([words[2], words[3], words[3]])
    expected = transport_plan(a, b, embeddings, Largest()).distance
    assert transport_plan(a, b, embeddings, largest).distance == pytest.approx(expected)
    assert pairwise_distances([a, b], embeddings, largest)[0, 1] == pytest.approx(expected)
    assert NearestDocuments([b], embeddings, largest).query(a)[0].distance == pytest.approx(expected)


def test_a_function_of_two_single_vectors_is_refused_with_what_it_must_take(embeddings):
    with pytest.raises(DataError, match=r"two sets at once, shapes \(p, n\) and \(q, n\)"):
        make_mechanism("exponential", embeddings, epsilon=2.0, metric=of_two_vectors)


def test_a_manifest_says_whose_metric_it_is(embeddings):
    plan = Plan.of(
        ReleaseSettings(length=3), make_mechanism("exponential", embeddings, epsilon=2.0, metric=largest)
    )
    manifest = plan.manifest(1)
    assert manifest["metric"] == OWN
    assert manifest["evidence"] == STATED
    assert manifest["metric_source"]["class"] == "largest"
    assert "beyond 20 nats it bounds nothing in practice" in manifest["promise"]
    assert "mean nearly the same" not in manifest["promise"]
    assert "sampled noise" not in manifest["promise"]
    assert manifest["metric_source"]["sha256"] == hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    ours = Plan.of(ReleaseSettings(length=3), make_mechanism("mahalanobis", embeddings, epsilon=2.0))
    assert "metric_source" not in ours.manifest(1)
    assert "mean nearly the same" in ours.manifest(1)["promise"]
    assert "for the finite range of the sampled noise" in ours.manifest(1)["promise"]


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
    settings = MechanismSettings(mechanism="exponential", epsilon=2.0, metric=asked.name)
    assert mechanism_of(settings, embeddings).metric.name == asked.name
    with pytest.raises(UsageError, match="norm"):
        mechanism_of(replace(settings, mechanism="laplace"), embeddings)
    with pytest.raises(UsageError, match="python:own_distance:smallest"):
        metric_asked("python:own_distance:smallest")
    for read_from_a_file in (
        metric_named,
        lambda name: make_mechanism("exponential", embeddings, epsilon=1, metric=name),
    ):
        with pytest.raises(UsageError, match="no metric is called"):
            read_from_a_file(asked.name)


def test_distances_take_it(embeddings):
    a, b = embeddings.word(0), embeddings.word(1)
    expected = Largest().pairwise(embeddings.vectors[:1], embeddings.vectors[1:2])[0, 0]
    assert earth_movers_distance(Bag([a]), Bag([b]), embeddings, Largest()) == pytest.approx(expected)


@pytest.mark.parametrize("metric", [Largest(), largest], ids=["class", "function"])
@pytest.mark.parametrize("name", ["laplace", "vickrey", "projected-laplace"])
def test_noise_needs_a_norm_and_says_so(embeddings, name, metric):
    more = {"project": 2} if name == "projected-laplace" else {}
    with pytest.raises(UsageError, match="norm"):
        make_mechanism(name, embeddings, epsilon=2.0, metric=metric, **more)


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
    assert said in stopped.interrupted()


class Loud(Largest):
    """Says what it sees."""

    name = "loud"

    def pairwise(self, a, b):
        return loud(a, b)


def loud(a, b):
    print(a)
    raise DataError(f"between {a} and {b}")


@pytest.mark.parametrize("metric", [Loud(), loud], ids=["class", "function"])
def test_what_it_says_of_documents_is_not_heard(embeddings, metric, capfd):
    words = embeddings.vocabulary[:2]
    with pytest.raises(
        PolicyError, match=r"^the metric \S+ failed: DataError at test_own_metric\.py:\d+; "
    ) as error:
        earth_movers_distance(Bag(words[:1]), Bag(words[1:]), embeddings, metric)
    assert "between" not in str(error.value)
    assert capfd.readouterr() == ("", "")


_MODULE = """import numpy as np

def far(a, b):
    return {times} * np.abs(np.asarray(a, np.float64)[:, None] - np.asarray(b, np.float64)[None]).max(axis=2)
"""


def test_an_evaluation_in_another_metric_of_the_same_name_is_none_of_its_release(tmp_path, monkeypatch):
    monkeypatch.setenv("PUBLIUS_HOME", str(home_at(tmp_path / "home")))
    monkeypatch.syspath_prepend(str(tmp_path))
    toy_vectors().save(tmp_path / "home" / "embeddings" / "toy")
    texts = tmp_path / "texts.jsonl"
    rows = [
        {"id": f"{n}", "author": "abc"[n % 3], "topic": "x", "text": sentence(n), "role": role}
        for n, role in enumerate(["unknown"] * 3 + ["known"] * 6)
    ]  # fmt: skip
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    metric = ("--metric", "python:metric_of_mine:far")
    setting = ("--mechanism", "exponential", "--epsilon", 2, "--length", 4, "--embeddings", "toy", *metric)
    attack = ("--adversaries", "sr-nearest", "--tasks", "author", "--workers", 1, "--output")

    def called(code, *arguments):
        monkeypatch.delitem(sys.modules, "metric_of_mine", raising=False)
        importlib.invalidate_caches()
        ended, _, said = command(*arguments)
        assert ended == code, said
        return said

    for times, code in ((1, 0), (2.5, 2)):
        (tmp_path / "metric_of_mine.py").write_text(_MODULE.format(times=times))
        folder = tmp_path / f"release{times}"
        called(0, "obfuscate", texts, *setting, "--number", "--output", folder)
        if not code:
            called(0, "evaluate", texts, *setting, *attack, tmp_path / "measured")
            called(0, "evaluate", texts, "--release", folder, *metric, *attack, tmp_path / "again")
        said = called(code, "signoff", folder, "--evaluation", tmp_path / "measured", "--json")
        assert ("measured other code of the metric python:metric_of_mine:far" in said) is bool(code)
    said = called(2, "evaluate", texts, "--release", tmp_path / "release1", *attack, tmp_path / "unnamed")
    assert "where you know it, give --metric python:metric_of_mine:far" in said
    said = called(
        2, "evaluate", texts, "--release", tmp_path / "release1", *metric, *attack, tmp_path / "changed"
    )
    assert "other code" in said
