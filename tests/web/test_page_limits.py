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
    assert _run(script) == "53 %|52 %|50 %|0.1 %|9.9 %"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed: make e2e tries the page")
def test_nats_are_rounded_up_wherever_the_page_shows_them():
    script = (
        "import {nats} from './format.js';"
        "for (let i = 1; i < 30000; i++) for (const by of [1e-8, 1e-3, 0.7]) { const value = i * by + 2 ** -52;"
        " const shown = Number(nats(value).replaceAll(',', ''));"
        " if (!(shown >= value && shown <= value * 1.0001)) throw new Error(`${shown} for ${value}`); }"
        "console.log([nats(9.24), nats(10.04), nats(7), nats(10.0000001), nats(20000), nats(0), nats(null)].join('|'))"
    )
    assert _run(script) == "9.24|10.04|7|10.0001|20,000|0|–"
    for path in SCRIPTS:
        if path.name.endswith(".js"):
            text = path.read_text(encoding="utf-8")
            assert re.findall(r"number\([^()]*(?:bound|exponent|epsilon_total)\b[^()]*\)", text) == [], (
                path.name
            )


def _run(script):
    found = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        cwd=SCRIPTS[0].parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.strip()
