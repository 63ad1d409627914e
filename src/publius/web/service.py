"""What programs may ask: models of requests, and their answers as plain records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from publius.errors import UsageError
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.mechanism import Mechanism, Outcome, check_release
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.mechanisms.word_outcomes import outcomes, setting
from publius.noise.randomness import RunKey
from publius.web.state import State

_MOST: Final = 1_000_000  # words, or labels, that one answer has


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class _Texts(_Asked):
    """One ``text``, or several ``texts``."""

    text: str | None = None
    texts: list[str] | None = None

    def given(self) -> list[str]:
        """All of them; `UsageError` for none or both, and for more than `_MOST`."""
        if (self.text is None) == (self.texts is None):
            raise UsageError("give text or texts")
        if len(self.texts or ()) * getattr(self, "length", 1) > _MOST:
            raise UsageError(f"one request gives at most {_MOST:,} words or labels: send several")
        return [self.text] if self.text is not None else self.texts or []


class Label(_Texts):
    """``classifier``, a stored one, or ``labels``, told by their names; ``epsilon`` is local, of each text."""

    classifier: str | None = None
    labels: list[str] = []
    epsilon: float = 5.0


class _Words(_Asked):
    """A mechanism on words; ``epsilon`` is per word and distance, ``length`` the words of every bag."""

    mechanism: str = "laplace"
    epsilon: float = 10.0
    length: int = Field(40, le=10_000)
    embeddings: str | None = None

    def lifted(self, state: State) -> Lifted:
        """The mechanism that is asked for."""
        return Lifted(state.kernel(self.mechanism, self.epsilon, self.embeddings), self.length)


class Obfuscate(_Texts, _Words):
    """Texts and the mechanism on their words."""


class Explain(_Words):
    """A setting; with ``word`` what it becomes, with ``text`` and ``other`` how far they are told apart."""

    word: str | None = None
    text: str | None = None
    other: str | None = None


MODELS: Final = (Label, Obfuscate, Explain)


def label(state: State, asked: Label) -> dict[str, Any]:
    """The answer of ``/v1/label``; `PolicyError` for a local epsilon that hides nothing (rule 13)."""
    texts = asked.given()
    mechanism = RandomizedResponse(state.classifier(asked.classifier, asked.labels), asked.epsilon)
    return {
        "labels": [each.label for each in _drawn(mechanism, texts)], "epsilon": mechanism.epsilon,
        "classifier": {"name": mechanism.classifier.name, "sha256": mechanism.classifier.sha256},
        "all_labels": list(mechanism.labels), "noise_changes": 1 - mechanism.kept,
    }  # fmt: skip


def obfuscate(state: State, asked: Obfuscate) -> dict[str, Any]:
    """The answer of ``/v1/obfuscate``; `PolicyError` for a mechanism without a proof."""
    texts, mechanism = asked.given(), asked.lifted(state)
    bags = [dict(each.bag.counts) for each in _drawn(mechanism, texts) if each.bag is not None]
    return {"bags": bags, **mechanism.facts()}


def explain(state: State, asked: Explain) -> dict[str, Any]:
    """The answer of ``/v1/explain``."""
    mechanism = asked.lifted(state)
    if asked.word is not None:
        if asked.word not in mechanism.vocabulary:
            raise UsageError(f"{mechanism.vocabulary.name} has no such word")
        return outcomes(mechanism.kernel, asked.word, draws=2_000).record()
    if asked.text is not None and asked.other is not None:
        distance = mechanism.distance(asked.text, asked.other)
        bound = mechanism.bound(distance)
        return {"distance": distance, "exponent": bound.exponent, "delta": bound.delta, "length": mechanism.length}
    if asked.text is not None or asked.other is not None:
        raise UsageError("give text and other, to compare them")
    return setting(mechanism)


def _drawn(mechanism: Mechanism, texts: Sequence[str]) -> Sequence[Outcome]:
    check_release(mechanism)
    return mechanism.protect(list(texts), range(len(texts)), RunKey.fresh()).outcomes if texts else []
