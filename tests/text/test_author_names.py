"""One name function: NFKC, case folded, trimmed."""

import math

import pytest

from publius.text.normal_form import author_key


@pytest.mark.parametrize(
    "names",
    [
        ("Ann Kowal", " ann kowal ", "ANN KOWAL", "\uff21nn Kowal", "Ann\u00a0Kowal"),
        ("Straße", "STRASSE", "strasse"),
        ("17", 17, 17.0, "\uff11\uff17"),
        ("Ánn", "A\u0301nn", "ÁNN"),
    ],
)
def test_how_a_name_is_written_makes_no_other_person(names):
    assert len({author_key(name) for name in names}) == 1


def test_names_that_differ_are_different_people_and_nothing_is_nobody():
    different = ["1-12", "11-2", "u-1", "u1", "Ann Kowal", "Kowal, Ann", "0", False]
    assert len({author_key(each) for each in different}) == len(different)
    assert {author_key(each) for each in (None, "", " \t", math.nan)} == {None}
