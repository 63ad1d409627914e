"""Every way a file is given, in every format, to every command: pairs by ``make test``, all of it by ``make use``."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from commands import COMMANDS  # noqa: E402
from formats import COLUMNED, FORMATS, OPTIONS  # noqa: E402
from ways import WAYS  # noqa: E402


def cells():
    """All cells; those that are no pair's first one are marked: each pair of a way, a format, a command is tried."""
    seen = set()
    formats, ways = list(FORMATS), list(WAYS)
    for c, command in enumerate(COMMANDS):
        for f, format in enumerate(formats):
            for w in range(len(ways)):
                way = ways[(w + f + c) % len(ways)]
                pairs = {(command, format), (command, way), (format, way)}
                fresh = not pairs <= seen
                seen |= pairs
                yield pytest.param(command, format, way, id=f"{command}-{format}-{way}", marks=[] if fresh else [pytest.mark.use])


@pytest.mark.parametrize(("command", "format", "way"), [*cells()])
def test_what_people_have_as_they_type_it(command, format, way, tmp_path, monkeypatch, run):
    given = tmp_path / "given"
    given.mkdir()
    files, count = WAYS[way](given, format, monkeypatch)
    options = OPTIONS.get(format, [])
    assert COMMANDS[command](run, files, options, format in COLUMNED, tmp_path) == count
