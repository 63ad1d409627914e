"""Authors of the public texts who may be one person are named to the curator before their words become public."""

from types import SimpleNamespace

from publius.cli.start.protection import _tell_alike


def told(capsys, *authors):
    rows = [{"author": author, "text": "x"} for author in authors]
    _tell_alike(SimpleNamespace(older=SimpleNamespace(learned=rows[::2], attacked=rows[1::2])))
    return capsys.readouterr().out.splitlines()


def test_a_slip_of_the_pen_is_named_and_counted_apart(capsys):
    (line,) = told(capsys, "Ann Kowal", "Anne Kowal", "Bert Moravec", "Ann Kowal")
    assert line == "   Perhaps one person, counted as 2 authors: Ann Kowal, Anne Kowal."


def test_what_counts_as_one_is_not_named(capsys):
    assert told(capsys, "Ann Kowal", "KOWAL, ANN", "\u0410nn Kowal", "customer 1", "customer 2") == []


def test_of_many_groups_the_first_are_named(capsys):
    lines = told(capsys, *(f"{chr(97 + place) * 9} Moravec{end}" for place in range(12) for end in ("", "a")))
    assert len(lines) == 11
    assert lines[-1] == "   ... and 2 more such groups."
