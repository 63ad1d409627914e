"""Help: a usage line first, then each option in one line, with the kind of its value."""

import re

import pytest

from project.test_faces import EVERY, helped


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_help_begins_with_its_usage_and_has_a_line_an_option(command, capsys):
    lines = helped(capsys, command).splitlines()
    assert lines[0].startswith(f"Usage: publius {' '.join(command)}")
    assert [line for line in lines if re.match(" {10}", line)] == []


def test_an_option_with_a_value_shows_its_kind_and_a_switch_none(capsys):
    said = helped(capsys, ["sign"])
    assert "Usage: publius sign RELEASE --output FILE [OPTIONS]" in said
    assert re.search(r"--public-page FILE +One for recipients", said)
    assert re.search(r"--review DATE ", said)
    said = helped(capsys, ["label"])
    assert re.search(r"--labels-after-texts {3}", said)
    assert re.search(r"--keep COLUMN ", said)
    assert re.search(r"--documents-per-author N ", said)
