"""Limits that the page words itself are rounded to the safe side: 0.5233 is at most 53 %, not 52 %."""

import re
import shutil
import subprocess
from importlib.resources import files

import pytest

SCRIPTS = sorted(files("publius.web").joinpath("static").iterdir(), key=lambda path: path.name)
WORDED = re.compile(r"at (most|least) \$\{(\w+)")
NO_SHARES = {"answer", "plural"}
"""`answer.exponent_text` is worded, and rounded up, where it is computed; ``plural`` words whole numbers."""


def test_what_is_at_most_or_at_least_is_rounded_outwards():
    found = [
        (path.name, side, name)
        for path in SCRIPTS
        if path.name.endswith(".js")
        for side, name in WORDED.findall(path.read_text(encoding="utf-8"))
        if name not in NO_SHARES
    ]
    assert len(found) >= 3
    assert [each for each in found if each[2] != {"most": "atMost", "least": "atLeast"}[each[1]]] == []


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed: make e2e tries the page")
def test_the_two_roundings():
    script = (
        "import {atMost, atLeast} from './format.js';"
        "console.log([atMost(0.5233), atLeast(0.5299), atMost(0.5), atMost(0.0001), atLeast(0.0999)].join('|'))"
    )
    found = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        cwd=SCRIPTS[0].parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "53 %|52 %|50 %|0.1 %|9.9 %"
