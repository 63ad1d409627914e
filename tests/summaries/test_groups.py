"""Groups: declared values, quoted as in CSV, from a file, or months."""

import datetime

import pytest

from publius.errors import DataError, UsageError
from publius.summaries.groups import Groups, parse_field


def test_values_with_commas_and_quotation_marks():
    field = parse_field('category=Loans,"Cards, prepaid", "say ""no""",Mortgage')
    assert field.values == ("Loans", "Cards, prepaid", 'say "no"', "Mortgage")
    assert [field.place(value) for value in ("Loans", " Cards, prepaid ", "loans", None, "", "Student")] == [
        0,
        1,
        4,
        4,
        4,
        4,
    ]


def test_values_of_a_file(tmp_path):
    path = tmp_path / "categories.txt"
    path.write_bytes("\ufeffLoans\n\nCards, prepaid\r\n  Ärger \n".encode())
    assert parse_field(f"category=@{path}").values == ("Loans", "Cards, prepaid", "Ärger")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="UTF-8"):
        parse_field(f"category=@{path}")


def test_months_and_ranges_of_months():
    field = parse_field("month=2025-11..2026-02,2026-05")
    assert field.values == ("2025-11", "2025-12", "2026-01", "2026-02", "2026-05")
    inside = ["2026-01", "2026-01-31", "2026-01-31T23:59:59+01:00", "2026-01-02 10:00", datetime.date(2026, 1, 5),
              datetime.datetime(2026, 1, 5, 3)]  # fmt: skip
    assert {field.place(value) for value in inside} == {2}
    outside = ["2026-03-01", "2026-13", "2026-01-32", "01/2026", "2026", "", None, "2026-011"]
    assert {field.place(value) for value in outside} == {5}


def test_what_looks_like_a_range_of_something_else_is_a_value():
    assert not parse_field("level=a..b,2026-01").monthly


@pytest.mark.parametrize(
    ("declared", "value"), [("17,18", 17), ("17,18", 17.0), ("true,false", True), ("é", "e\u0301")]
)
def test_values_of_other_types(declared, value):
    assert parse_field(f"field={declared}").place(value) == 0


@pytest.mark.parametrize(
    "declared",
    ["a,b,a", "caf\u00e9,cafe\u0301", "a b,a\u00a0b", "a  b,a b", "card,ca\u200brd", "\uff21,A", "x,ot\u00adher"],
)
def test_two_values_of_one_look_are_refused(declared):
    """One of them would count nothing, and a table would have two rows of one name."""
    with pytest.raises(UsageError, match=r"look alike|leave 'other' out"):
        parse_field(f"field={declared}")
    assert parse_field("field=Card,card").values == ("Card", "card")


def test_two_groups_of_one_name_are_refused():
    with pytest.raises(UsageError, match="two groups have one name"):
        Groups.of(["a=x,x / y", "b=y / z,z"])


def test_groups_are_crossed():
    groups = Groups.of(["category=Loans,Cards", "month=2026-01..2026-03"])
    assert groups.size == 3 * 4
    places = [groups.place({"category": one, "month": two, "more": 1})
              for one in ("Loans", "Cards", "?") for two in ("2026-01-09", "2026-02", "2026-03", None)]  # fmt: skip
    assert places == list(range(12))
    assert next(iter(groups.labels)) == ("Loans", "2026-01")
    assert [*groups.labels][7] == ("Cards", "other")
    assert [*groups.labels][groups.place({})] == ("other", "other")


def test_no_field_is_one_stratum():
    assert Groups().size == 1
    assert Groups().place({"category": "Loans"}) == 0
    assert Groups().names == ("all",)


@pytest.mark.parametrize(
    ("declarations", "reason"),
    [(["category"], "FIELD=VALUE"), (["=a"], "FIELD=VALUE"), (["a="], "FIELD=VALUE"), (["a=x,x"], "twice"),
     (["a=x,other"], "leave 'other' out"), (["a=x,,y"], "empty"), (['a="x'], "CSV"), (['a="x"y,z'], "CSV"),
     (["a=x", "a=y"], "given twice"), (["m=2026-05..2026-01"], "end before"),
     (["m=0001-01..9999-12"], "more than"),
     (["a=" + ",".join(map(str, range(400))), "b=" + ",".join(map(str, range(400)))], "fewer values")],
)  # fmt: skip
def test_what_is_no_declaration_is_refused(declarations, reason):
    with pytest.raises(UsageError, match=reason):
        Groups.of(declarations)
