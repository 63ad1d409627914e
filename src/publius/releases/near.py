"""The promise of a release of words between documents that are as near as can be: whether it is a promise at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from publius.errors import PolicyError, PubliusError
from publius.mechanisms.lifted import NEAR, near_exponent
from publius.privacy.guarantee import STRENGTHS, strength_of
from publius.privacy.promise import rounded_up

LARGEST_DELTA: Final = 1e-5
"""The largest probability with which a promise that somebody signs may fail."""


def emptiness(delta: float, near: float | None) -> str | None:
    """Why what is promised is empty even between near documents; None where it is not.

    ``delta`` is that of one document; ``near`` are nats between documents that differ in one word, None if unknown.
    """
    if delta > LARGEST_DELTA:
        return (
            f"the promise can fail with a probability of {rounded_up(delta, 2)}, and more than {LARGEST_DELTA:g} is no "
            "promise"
        )
    if near is not None and strength_of(near) == "empty":
        return (
            f"even documents that differ in one word alone, such as {NEAR[0]} and {NEAR[1]}, are {rounded_up(near, 3)} "
            "nats apart, which bounds nothing: a smaller epsilon is needed"
        )
    return None


def emptiness_of_bound(bound: float, who: str) -> str | None:
    """The same where nothing is nearer than a bound says: of any two values of a field, or of one author's part."""
    if strength_of(bound) != "empty":
        return None
    return (
        f"{who} are {rounded_up(bound, 6)} nats apart, which bounds nothing: more than {STRENGTHS[-1][0]:g} let "
        "through nearly all that was read"
    )


ANY_TWO_VALUES: Final = "any two values"
REPLACED: Final = "collections in which one author is replaced"


def check_not_empty(why: str | None, done: str) -> None:
    """`PolicyError` with what was ``done`` where there is a reason why the promise is empty."""
    if why is not None:
        raise PolicyError(f"{why}. {done}")


def emptiness_of(manifest: Mapping[str, Any]) -> str | None:
    """The same of a finished release: as its manifest says, or from its vectors where they are at hand."""
    if manifest.get("empty"):
        return str(manifest["empty"])
    delta = manifest.get("delta") if manifest.get("bound") is None else manifest.get("bound_delta")
    return emptiness(float(delta or 0.0), _near_of(manifest))


def _near_of(manifest: Mapping[str, Any]) -> float | None:
    from publius.distances.metrics import metric_named
    from publius.vectors.embeddings import Embeddings

    if manifest.get("embeddings") is None:  # made without word vectors
        return None
    try:
        embeddings = Embeddings.load(manifest["embeddings"])
        metric = metric_named(manifest["metric"])
    except (PubliusError, OSError, KeyError):
        return None
    if embeddings.sha256 != manifest["vocabulary_sha256"]:
        return None
    return near_exponent(embeddings, metric, float(manifest["epsilon"]))
