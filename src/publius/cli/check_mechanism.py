"""``publius check-mechanism``: the laws of a word mechanism on a class of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from publius.cli.console import print_json, printable, waiting
from publius.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from publius.audit.laws import LawVerdict
    from publius.settings import Declared

_FAILED = 1


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check-mechanism")(check_mechanism)


def check_mechanism(
    mechanism: Annotated[
        str,
        typer.Argument(help="python:package.module:Class, or the name of a mechanism.", show_default=False),
    ],
    parameter: Annotated[
        list[str] | None, typer.Option(help="A parameter that the class declares, as NAME=VALUE; repeatable.")
    ] = None,
    samples: Annotated[int, typer.Option(min=1000, help="Draws of each word of a toy vocabulary.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Of all draws.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check the laws that a mechanism on words must keep.

    Exits 1 if one is broken. Uses toy vocabularies of 2 to 12 words. A pass is no proof: the guarantee itself
    needs one, or exact probabilities.
    """
    from publius.audit.laws import check_laws
    from publius.mechanisms.outside import origin
    from publius.mechanisms.registry import make_mechanism, mechanism_class
    from publius.settings import declared

    kind = mechanism_class(mechanism)
    chosen = _parsed(parameter or (), {each.name: each for each in declared(kind.Parameters)})
    with waiting("drawing from toy vocabularies"):
        verdicts = list(
            check_laws(
                lambda embeddings, epsilon: make_mechanism(
                    mechanism, embeddings, epsilon=epsilon, threads=1, **chosen
                ),
                samples=samples,
                seed=seed,
            )
        )
    passed = all(each.passed for each in verdicts)
    if json:
        checks = [{**vars(each), "passed": each.passed} for each in verdicts]
        print_json({"mechanism": kind.name, "source": origin(kind), "passed": passed, "checks": checks})
    else:
        _show(kind.name, verdicts)
    if not passed:
        raise typer.Exit(_FAILED)


def _show(name: str, verdicts: Sequence[LawVerdict]) -> None:
    for law in dict.fromkeys(each.law for each in verdicts):
        found = [each for each in verdicts if each.law == law]
        broken = [each for each in found if not each.passed]
        typer.echo(f"{'FAIL' if broken else 'PASS'}  {law} ({len(found)} vocabularies)")
        for each in broken[:3]:
            typer.echo(printable(f"      {each.vocabulary}: {each.reason}"))
    failed = len({each.law for each in verdicts if not each.passed})
    typer.echo(f"\n{name}: " + (f"FAIL, {failed} laws are broken" if failed else "PASS; a pass is no proof"))


def _parsed(given: Sequence[str], options: dict[str, Declared]) -> dict[str, Any]:
    """NAME=VALUE as the class declares them."""
    values: dict[str, Any] = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not separator or name not in options:
            known = ", ".join(options) or "none"
            raise UsageError(
                f"--parameter {text!r} is not NAME=VALUE of a parameter of this mechanism: {known}"
            )
        values[name] = _value(options[name], value)
    return values


def _value(option: Declared, text: str) -> Any:
    if option.option.parse is not None:
        return option.option.parse(text)
    kinds = [kind for kind in (option.type, *get_args(option.type)) if kind in (bool, int, float)]
    if bool in kinds:
        return text.lower() in ("1", "true", "yes")
    try:
        return kinds[0](text) if kinds else text
    except ValueError:
        raise UsageError(f"{option.name} must be a number, not {text!r}") from None
