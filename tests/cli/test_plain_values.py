"""What is plainly a value of its option is taken as it is: the same value as Typer's, or Typer's own error."""

import os
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from typer.main import get_command

from publius.cli.plain_values import quickly

VALUES = (
    "", " ", "a", "b", "A", "0", "-1", "+3", "7", "8.", "1e3", ".5", "2.5", "-2.5", "1_0", "nan", "inf", "1" * 20, "٣",
    "7 ", "true", "-", ".", "..", "/", "/nowhere/at/all", "closed", "a\0b", "x\ny",
)  # fmt: skip


def command(
    whole: int = 3,
    word: str = "w",
    number: float | None = None,
    near: Annotated[int, typer.Option(min=1, max=7)] = 2,
    share: Annotated[float, typer.Option(max=2.5)] = 1.0,
    letter: Literal["a", "b"] = "a",
    place: Path = Path(),
    kept: Annotated[Path | None, typer.Option(exists=True)] = None,
    sure: bool = False,
    many: list[str] | None = None,
    clamped: Annotated[int, typer.Option(max=5, clamp=True)] = 1,
    parsed: Annotated[str, typer.Option(parser=str.upper)] = "q",
) -> None:
    """Take an option of every kind."""


def parameters():
    app = typer.Typer(add_completion=False)
    app.command()(command)
    made = get_command(app)
    return made, made.make_context("command", [])


def outcome(parameter, value, ctx):
    try:
        found = parameter.process_value(ctx, value)
    except Exception as error:
        return type(error).__name__, str(error)
    return type(found).__name__, repr(found)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("closed").write_text("", encoding="utf-8")
    Path("a").write_text("", encoding="utf-8")
    refused = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "closed" not in str(path) and refused(path, mode))


def test_every_value_is_what_typer_makes_of_it(folder):
    (own, ctx), (quick, _) = parameters(), parameters()
    pairs = list(zip(own.params, quickly(quick.params), strict=True))
    if not hasattr(pairs[0][0], "_runtime_param"):
        pytest.skip("this Typer has other insides: nothing is taken quickly")
    for usual, quickened in pairs:
        values = [*VALUES, None, 1, 2.5, 9, True, Path("a"), ("a", "b"), ["a"], []]
        if not usual.multiple:
            values = [each for each in values if not isinstance(each, tuple | list)]
        for value in values:
            quickened._runtime_param = None
            quickly([quickened])
            assert outcome(quickened, value, ctx) == outcome(usual, value, ctx), (usual.name, value)


def test_plain_values_ask_nobody(folder, monkeypatch):
    made, ctx = parameters()
    for each in quickly(made.params):
        monkeypatch.setattr(type(each), "get_runtime_param", lambda self: self._runtime_param)
    given = {
        "whole": "12",
        "word": "x",
        "number": "2.5",
        "near": "7",
        "letter": "b",
        "place": "a",
        "many": ("y",),
    }
    found = {
        each.name: each.process_value(ctx, given[each.name]) for each in made.params if each.name in given
    }
    assert found == {
        "whole": 12, "word": "x", "number": 2.5, "near": 7, "letter": "b", "place": Path("a"), "many": ["y"]
    }  # fmt: skip
