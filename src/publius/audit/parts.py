"""The pieces of an audit: independent, each run, recorded and resumed on its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import final

from publius.audit.checkout import harness
from publius.audit.documents import (
    check_document_draws,
    check_documents,
    check_own_texts,
    check_positions,
    check_what_leaves,
)
from publius.audit.generators import check_entropy, check_key, check_sealed, check_streams
from publius.audit.given_vocabulary import check_own, check_own_timing
from publius.audit.implementation import GENUINE, Subject
from publius.audit.levels import Level
from publius.audit.nearest import check_batch, check_blind, check_search, kernels
from publius.audit.noise_law import noise_law
from publius.audit.outcomes import Findings
from publius.audit.release_path import check_entropy_failures, check_release_path
from publius.audit.theorem import check_theorem, lifted_worlds
from publius.audit.toy_vocabularies import World, worlds
from publius.audit.vectors import check_vectors
from publius.audit.words import check_ratios, check_words
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import RunKey
from publius.vectors.nearest import NearestWords

_EPSILON = 2.5
_LINE = 10  # up to this dimension a draw says little about the scale


@final
@dataclass(frozen=True)
class Context:
    """Inputs that every piece is given.

    Attributes:
        subject: the implementation, with the mechanism that is audited on small vocabularies.
        own: that mechanism on the user's vocabulary, at the user's epsilon.
        level: sizes.
        key: the source of all samples.

    """

    subject: Subject
    own: Kernel
    level: Level
    key: RunKey


@final
@dataclass(frozen=True)
class Piece:
    """A part of an audit.

    Attributes:
        name: unique, a file name.
        run: does it.
        alone: nothing else may run beside it: it measures time.

    """

    name: str
    run: Callable[[Context], Findings]
    alone: bool = False


def pieces(level: Level, mechanism: str) -> list[Piece]:
    """The pieces of an audit at ``level`` of the mechanism called ``mechanism``, the timing first.

    A checkout adds its own: see `publius.audit.checkout`.
    """
    noise = [Piece(f"noise-{n}", partial(_noise, dimension=n)) for n in level.dimensions]
    words = [
        Piece(f"words-{place:02}", partial(_words, place=place)) for place in range(level.configurations)
    ]
    checkout = harness()
    return [
        Piece(
            "timing", lambda context: check_own_timing(context.own, context.level, context.key), alone=True
        ),
        Piece("theorem", _theorem),
        Piece("documents", _documents),
        Piece("own", lambda context: check_own(context.own, context.level, context.key)),
        *(noise if mechanism == Laplace.name else []),
        *words,
        Piece("ratios", lambda c: check_ratios(c.subject, c.level.ratio_words, c.key)),
        Piece("search", _search),
        Piece("generators", _generators),
        Piece("vectors", _vectors),
        Piece("release", _release),
        *(() if checkout is None else checkout.pieces(level)),
    ]


def _theorem(context: Context) -> Findings:
    return check_theorem(context.subject, lifted_worlds(context.level.cells))


def _documents(context: Context) -> Findings:
    level = context.level
    cells = check_documents(GENUINE, level.document_cells)
    others = (
        check_positions(GENUINE, 20),
        check_document_draws(GENUINE, level.document_draws, context.key),
        check_what_leaves(GENUINE, context.key),
        check_own_texts(GENUINE),
    )
    return Findings((*cells.checks, *(check for found in others for check in found.checks)), cells.figures)


def _noise(context: Context, dimension: int) -> Findings:
    level = context.level
    draws = level.draws_in_line if dimension <= _LINE else level.draws
    rng = context.key.rng(f"noise/{dimension}")
    return Findings(tuple(noise_law(GENUINE.noise(dimension, _EPSILON), draws, rng)))


def _words(context: Context, place: int) -> Findings:
    level = context.level
    world: World = worlds(level.configurations)[place]
    check = check_words(context.subject, world, level.words // level.configurations, context.key)
    words = 0 if check is None else check.samples
    return Findings(() if check is None else (check,), {"words": words, "configurations": int(words > 0)})


def _search(context: Context) -> Findings:
    points = context.level.search_points
    found = [
        *check_search(GENUINE, points, points // 10, context.key),
        check_batch(GENUINE, min(points, 2000), context.key),
        check_blind(GENUINE, min(points, 3000), context.key),
    ]
    for kernel in kernels()[1:]:
        other = replace(GENUINE, search=partial(NearestWords, kernel=kernel))
        checks = (
            *check_search(other, points, points // 10, context.key),
            check_batch(other, min(points, 2000), context.key),
        )
        found += [replace(check, name=f"{check.name} ({kernel})") for check in checks]
    return Findings(tuple(found))


def _generators(context: Context) -> Findings:
    methods = ("fork", "spawn") if context.level.spawn else ("fork",)
    return Findings(
        (
            check_streams(GENUINE, context.level.streams, methods),
            check_entropy(GENUINE),
            check_key(GENUINE),
            check_sealed(GENUINE),
            check_entropy_failures(GENUINE, 200),
        )
    )


def _vectors(context: Context) -> Findings:
    draws = 10 * context.level.search_points
    return Findings(tuple(check_vectors(GENUINE, draws, context.key)))


def _release(context: Context) -> Findings:
    return Findings(tuple(check_release_path(GENUINE, context.level.documents, context.key)))
