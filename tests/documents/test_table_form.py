"""How a table is written is told by its header, never by what somebody's text holds."""

import pytest

from publius.documents.inspection import inspect
from publius.documents.table_form import find_form

HEADERS = {
    "id;asked;said": ";",
    "id,asked,said": ",",
    "id\tasked\tsaid": "\t",
    "id|asked|said": "|",
    "id;asked, if known;said": ";",
    "asked;date, time, zone": ";",
    "id, asked, said": ",",
    '"id";"asked, or not"': ";",
    "said": ",",
}


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("mark", [",", ";", "\t", "|", '"'])
def test_the_header_alone_tells_what_separates_columns(tmp_path, header, mark):
    """One author's rows, however many, would decide how everybody's are read."""
    wanted = HEADERS[header]
    width = header.count(wanted) + 1 if wanted in header else 1
    others = [wanted.join(["x"] * width)] * 3
    mine = [mark.join("abc" for _ in range(places)) for places in range(1, 9)] * 20
    path = tmp_path / "a.csv"
    path.write_text("\n".join([header, *others, *mine]) + "\n")
    assert find_form(path).delimiter == wanted
    assert inspect(path).delimiter == wanted


def test_a_header_that_names_the_columns_decides_before_one_that_has_more(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text;a,b,c,d\nx;y\n")
    assert find_form(path).delimiter == ","
    assert find_form(path, ["text"]).delimiter == ";"
