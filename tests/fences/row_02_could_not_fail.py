"""A test that could not fail shows nothing, and a promise that is empty between near documents is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from made_scores import clean, facts, line
from publius.evaluation import verdict
from publius.evaluation.verdict import Limits, judge
from publius.mechanisms.kernels.laplace import Laplace
from publius.releases import near
from publius.releases.plan import Plan
from publius.text.bag import Encoding
from publius.vectors.embeddings import Embeddings


def _clear_text_never_passes(folder: Path) -> None:
    hits = np.arange(400) % 10 == 0
    given = facts(400, 20, 0.1)
    for released in (hits, np.ones(400), np.zeros(400)):
        found = judge([clean(hits, 0.1), line({"svm": (released, 0.1)})], Limits(adds_at_most=0.05), given)
        assert found is not None
        assert found.answer == "NO EVIDENCE", found.text


def _not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict.Authors, "empty", None)


def _empty_promises_are_refused(folder: Path) -> None:
    from publius.errors import PolicyError

    for delta, nats in ((1.0, 1.0), (1e-4, 1.0), (0.0, 78.2)):
        with pytest.raises(PolicyError):
            near.check_not_empty(near.emptiness(delta, nats), "Nothing was released")
    assert near.emptiness(1e-6, 15.6) is None


def _taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "emptiness", lambda delta, nats: None)


def _an_empty_promise_says_so(folder: Path) -> None:
    words = [f"word{chr(97 + place)}" for place in range(26)]
    vectors = np.random.default_rng(2).normal(size=(26, 4)).astype(np.float32)
    toy = Embeddings.from_arrays(words, vectors, name="toy")
    encoding = Encoding.of(toy.tokenizer, length=5)
    for epsilon, empty in ((0.5, False), (1_000.0, True)):
        manifest = Plan(Laplace(toy, epsilon=epsilon), encoding).manifest(1)
        assert ("empty" in manifest) == empty
        assert manifest["promise"].startswith("THE PROMISE IS EMPTY") == empty
        assert (near.emptiness_of({**manifest, "embeddings": "elsewhere"}) is not None) == empty


def _unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "empty", None)


FENCES = (
    Fence(2, "an empty promise says so in promise and manifest", _an_empty_promise_says_so, _unsaid),
    Fence(2, "where clear text passes there is no evidence", _clear_text_never_passes, _not_asked),
    Fence(2, "an empty promise is refused", _empty_promises_are_refused, _taken_as_it_is),
)
