"""Options, declared once."""

from dataclasses import dataclass
from pathlib import Path

import pytest

import publius
from publius.errors import UsageError
from publius.option import Settings, declared, option
from publius.settings import ReleaseSettings, parsed_length

SOURCE = Path(publius.__file__).parent


@dataclass(frozen=True, kw_only=True)
class Toy(Settings):
    share: float = option(0.5, help="Of the first.", above=0, below=1)
    steps: int = option(3, help="Steps.", at_least=1)
    name: str = option(help="A name.")


@pytest.mark.parametrize(
    ("values", "reason"),
    [({"share": 0.0}, "share must be above 0 and below 1, not 0.0"), ({"share": float("nan")}, "share must be"),
     ({"steps": 0}, "steps must be at least 1, not 0")],
)  # fmt: skip
def test_bounds_are_checked_when_settings_are_made(values, reason):
    with pytest.raises(UsageError, match=reason):
        Toy(name="x", **values)


@pytest.mark.parametrize(
    ("values", "reason"),
    [({"metric": "cosine"}, "no metric is called 'cosine': choose one of euclidean, manhattan"),
     ({"unknown": "guess"}, "no policy for unknown words is called 'guess'"),
     ({"keep_between": "some"}, "no choice of what to keep between words is called 'some': choose one of none"),],
)  # fmt: skip
def test_choices_are_checked_when_settings_are_made(values, reason):
    with pytest.raises(UsageError, match=reason):
        ReleaseSettings(**values)


def test_a_face_learns_all_it_needs():
    share, steps, name = declared(Toy)
    assert (share.name, share.type, share.default, share.option.help) == (
        "share",
        float,
        0.5,
        "Of the first.",
    )
    assert (steps.option.bounds, name.required, share.required) == ("at least 1", True, False)


def test_settings_take_what_is_theirs():
    assert Toy.among({"share": 0.25, "name": "x", "length": 3}) == Toy(share=0.25, name="x")


@pytest.mark.parametrize(
    ("length", "words", "expected"),
    [("30", (), 30), (30, (), 30), ("shortest", ("shortest",), "shortest"), ("all", ("all",), "all")],
)  # fmt: skip
def test_lengths(length, words, expected):
    assert parsed_length(length, words) == expected


@pytest.mark.parametrize("length", ["0", 0, "-1", "1.5", 1.5, True, "zero", "all", "10000001", "٣", ""])
def test_no_lengths(length):
    with pytest.raises(
        UsageError, match="--length must be a whole number from 1 to 10,000,000, or 'shortest'"
    ):
        parsed_length(length)


def test_settings_are_shown_and_compared_as_those_of_any_dataclass():
    """Every class takes it from one place; Toy has its own, made by Python."""

    @dataclass(frozen=True, kw_only=True, repr=False, eq=False)
    class Other(Settings):
        share: float = option(0.5, help="Of the first.", above=0, below=1)
        steps: int = option(3, help="Steps.", at_least=1)
        name: str = option(help="A name.")

    assert repr(Other(name="x")) == repr(Toy(name="x")).replace("Toy", Other.__qualname__)
    assert Other(name="x") == Other(name="x", steps=3)
    assert Other(name="x") != Other(name="x", steps=4)
    assert Other(name="x") != Toy(name="x")
    assert hash(Other(name="x")) == hash(Toy(name="x"))
    assert {Other(name="x"): 1}[Other(name="x")] == 1
    with pytest.raises(AttributeError):
        Other(name="x").steps = 4
    assert ReleaseSettings(bound=5.0) != ReleaseSettings(bound=6.0)
