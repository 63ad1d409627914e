"""``publius check-mechanism``: the laws of a mechanism on a class of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, printable, waiting
from publius.cli.options import Json, MechanismCommand, options
from publius.files.user_code import PYTHON
from publius.settings import ParameterSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from publius.audit.laws import LawVerdict
    from publius.mechanisms.outside import Own

_FAILED = 1


class _NamedFirst(MechanismCommand):
    """A command whose mechanism is its argument; its own parameters are options."""

    def note_named(self, ctx: Any, mechanisms: list[str]) -> None:
        """Those from outside bring parameters that are not known before."""
        named = [each for each in mechanisms if each.startswith(PYTHON)]
        super().note_named(ctx, [part for each in named for part in ("--mechanism", each)])


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check-mechanism", cls=_NamedFirst)(check_mechanism)


@options()
def check_mechanism(
    mechanism: Annotated[
        str,
        typer.Argument(help="python:package.module:Class, or the name of a mechanism.", show_default=False),
    ],
    own: ParameterSettings,
    samples: Annotated[
        int, typer.Option(min=1000, help="Draws of each word of a toy vocabulary; of documents fewer.")
    ] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Of all draws.")] = 1,
    json: Json = False,
) -> None:
    """Check the laws that a mechanism must keep.

    Exits 1 if one is broken. Uses toy vocabularies of 2 to 12 words, or toy references of 3 to 5 words where whole
    documents are protected. A pass is no proof: the guarantee itself needs one, or exact probabilities.
    """
    from publius.audit.document_laws import check_named
    from publius.mechanisms.outside import origin
    from publius.mechanisms.registry import class_named

    kind = class_named(mechanism)
    with waiting("drawing from toy vocabularies"):
        verdicts = list(check_named(mechanism, samples=samples, seed=seed, **own.parameters))
    passed = all(each.passed for each in verdicts)
    if json:
        checks = [{**vars(each), "passed": each.passed} for each in verdicts]
        print_json({"mechanism": kind.name, "source": origin(kind), "passed": passed, "checks": checks})
    else:
        _show(kind, verdicts)
    if not passed:
        raise typer.Exit(_FAILED)


def _show(kind: Own, verdicts: Sequence[LawVerdict]) -> None:
    worlds = "references" if kind.reads == "reference" else "vocabularies"
    for law in dict.fromkeys(each.law for each in verdicts):
        found = [each for each in verdicts if each.law == law]
        broken = [each for each in found if not each.passed]
        typer.echo(f"{'FAIL' if broken else 'PASS'}  {law} ({len(found)} toy {worlds})")
        for each in broken[:3]:
            typer.echo(printable(f"      {each.vocabulary}: {each.reason}"))
    failed = len({each.law for each in verdicts if not each.passed})
    typer.echo(
        f"\n{kind.name}: " + (f"FAIL, {failed} laws are broken" if failed else "PASS; a pass is no proof")
    )
