"""``publius certify``: the exact constant of a mechanism on a vocabulary."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from publius.cli.console import print_json, print_table
from publius.cli.log import say
from publius.cli.options import REQUIRED, Json, KernelCommand, make, options
from publius.errors import PolicyError, UsageError
from publius.settings import MechanismSettings

if TYPE_CHECKING:
    from publius.mechanisms.kernel import Kernel


STATED_BY_CLASS: Final = "as the class states them; draws were not compared"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("certify", cls=KernelCommand)(certify)


@options(mechanism=REQUIRED)
def certify(
    settings: MechanismSettings,
    scale: Annotated[
        float | None, typer.Option(help="Certify at this scale instead of finding one for epsilon.")
    ] = None,
    json: Json = False,
) -> None:
    """Compute the exact constant of a mechanism.

    On one vocabulary, over all pairs of words and all outputs. For a class of your own, only what is computed from
    the output probabilities that it states is certified; anything else is stated by its author, and nothing is
    computed.
    """
    import time

    if (settings.epsilon is None) == (scale is None):
        raise UsageError("give either --epsilon or --scale")
    started = time.perf_counter()
    made = make(replace(settings, parameters={**settings.parameters, "scale": scale}))
    record = _record(made, time.perf_counter() - started)
    certified = record["epsilon_certified"]
    if json:
        print_json(record)
    else:
        title = "no certificate" if certified is None else "certificate"
        known = [(key.replace("_", " "), _shown(value)) for key, value in record.items() if value is not None]
        print_table((title, ""), known)
    if certified is None:
        _say_why(made)
    elif "probabilities" in record:
        say(
            "Computed from the probabilities that the class states. That it draws by them was not looked at: publius "
            "check-mechanism does that"
        )
    if certified is not None and made.epsilon is not None and certified > made.epsilon * (1 + 1e-12):
        raise PolicyError(
            f"the mechanism {made.name} states epsilon {made.epsilon:g}, and its own probabilities leak {certified:g}: "
            "its guarantee is false"
        )


def _say_why(made: Kernel) -> None:
    """Say on standard error why nothing was computed, and the way to have it."""
    from publius.mechanisms.kernel import AbstractExact
    from publius.mechanisms.outside import LARGEST

    if not isinstance(made, AbstractExact):
        why = (
            "the class does not derive from AbstractExact of publius.mechanisms.kernel, so its output probabilities "
            "are not known"
        )
    else:
        why = (
            f"the vocabulary has {made.embeddings.size:,} words, and of a class of your own that is done for up to "
            f"{LARGEST:,}: give other --embeddings"
        )
    say(f"Nothing was computed: {why}")


def _record(mechanism: Kernel, seconds: float) -> dict[str, Any]:
    from publius.mechanisms.outside import computed_constant, is_outside
    from publius.privacy.guarantee import STATED

    guarantee, embeddings = mechanism.guarantee, mechanism.embeddings
    ours = not is_outside(type(mechanism))
    constant: Any = getattr(mechanism, "constant", None) if ours else None
    computed = None if constant else computed_constant(mechanism)
    worst = constant.worst if constant else computed.worst if computed else None
    scale = constant.scale if constant else mechanism.parameters.get("noise_epsilon", mechanism.epsilon)
    found = constant or computed
    return {
        "mechanism": mechanism.name,
        "epsilon": mechanism.epsilon,
        "epsilon_certified": found.epsilon if found else mechanism.epsilon if ours else None,
        "scale": scale,
        "vocabulary_size": embeddings.size,
        "pairs": embeddings.size * (embeddings.size - 1) if found else 0,
        "worst_pair": None if worst is None else [embeddings.word(i) for i in worst],
        "method": "exact" if found else "proof" if ours else STATED,
        **({} if ours or not found else {"probabilities": STATED_BY_CLASS}),
        "seconds": round(seconds, 3),
        "metric": guarantee.metric,
        "delta": guarantee.delta,
        "embeddings": embeddings.name,
        "vocabulary_sha256": embeddings.sha256,
        "parameters": mechanism.parameters,
    }


def _shown(value: object) -> object:
    if isinstance(value, list):
        return " / ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return value
