"""How a name is written makes no other person; identifiers that differ are different ones."""

import numpy as np
import pytest

from publius.errors import DataError
from publius.text.author_names import Spellings, counted_name, one_author


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1-12", "11-2"),
        ("12-1", "1-12"),
        ("a 1 b 2", "a 2 b 1"),
        ("u-10", "u-1 0"),
        ("customer 1", "customer 2"),
        ("a1@x.org", "a@1x.org"),
        ("ann7@x.org", "ann@7x.org"),
        ("K 7 Q", "Q 7 K"),
        ("17.1", "17"),
        ("17.0.1", "17.1"),
    ],
)
def test_ids_that_differ_are_different_labels(one, other):
    """Where merging two people would be the error; for what becomes public it only keeps more words back."""
    spellings = Spellings()
    assert [spellings.label(one), spellings.label(other)] == [one, other]
    assert spellings.merged == 0


@pytest.mark.parametrize(
    "names",
    [
        ("K-4711", "K 4711", "K4711", "k.4711", "K_4711", "#K4711", "K/4711", "K-04711"),
        ("Ann Kowal 1970", "Kowal, Ann 1970", "Ann  Kowal 1970", "Ann Kowal, 1970", "Ann Kow\u00e1l 1970"),
        ("0171 5550199", "0171/5550199", "(0171) 555 0199".replace(" 0199", "0199"), "171-5550199"),
        ("Ann 2", "Ann\u00b2"), ("17", "017"),
    ],
)  # fmt: skip
def test_an_identifier_counts_once_however_it_is_written(names):
    """Exports write one number in several forms, and five of them must not make a word public."""
    assert len({counted_name(name) for name in names}) == 1


@pytest.mark.parametrize(
    "names",
    [
        ("u-10", "U-10", " u-10", "u-10.", "\uff55-1\uff10", "u-1\u200b0"),
        ("K-001", "K 001", "k001", "K/001", "K_1", "#K-001"),
        ("Ann Kowal", "\u0410nn Kowal", "Ann K\u043ewal", "Ann \u039aowal", "Ann Kow\u03b1l"),
        ("\u0410\u043d\u043d\u0430", "\u0410\u043d\u043da"),
        ("Bob 12", "12 Bob", "bob, 12", "B\u00f6b 12", "Bob (12)"),
        ("Smith, John (17)", "John Smith 17", "17 john smith", "Smith (John) 17"),
        ("17", "17.0", "017", "\uff11\uff17"),
        ("Ann Kowal", "Kowal, Ann", "ANN KOWAL", "Ann Kowal <ann7@x.org>", "Ánn Kowal", "A\u200bnn  Kowal."),
    ],
)
def test_how_a_name_is_written_makes_no_other_person(names):
    assert len({counted_name(name) for name in names}) == 1
    spellings = Spellings()
    assert {spellings.label(name) for name in names} == {names[0]}
    assert spellings.merged == len(names) - 1


@pytest.mark.parametrize(
    "held", [["Ann"], ("Ann", None), {"Ann"}, np.array(["Ann"]), np.array(["Ann", ""], object)]
)
def test_a_list_of_one_name_is_that_name_in_whatever_holds_lists(held):
    assert one_author(held) == "Ann"


@pytest.mark.parametrize(
    "held", [{"Ann", "Bob"}, np.array([1, 2]), [np.array([1, 2]), 1], [[1]], b"Ann", {"name": "Ann"}]
)
def test_what_is_no_single_name_is_no_author(held):
    with pytest.raises(DataError, match="author"):
        one_author(held)


def test_nobody_is_no_person():
    assert {
        counted_name(name) for name in (None, "", "-", "nan", "N/A", "unknown", "[deleted]", "An\u00f3nimo")
    } == {""}
    assert Spellings().label("Anonymous") is None
