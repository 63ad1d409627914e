"""Every way a file is given, in every format, to every command: pairs by ``make test``, all of it by ``make use``."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from commands import COMMANDS, ONE_FILE, Given
from formats import COLUMNED, FORMATS, OPTIONS, family
from ways import WAYS


def cells():
    """All cells. Those that bring no new pair of a command, a family of formats and a way, nor a new format, are marked."""
    seen, ways = set(), list(WAYS)
    for c, (command, (_, needs)) in enumerate(COMMANDS.items()):
        for f, format in enumerate(FORMATS):
            if needs and format not in COLUMNED:
                continue
            for w in range(len(ways)):
                way = ways[(w + f + c) % len(ways)]
                if way == "several" and command in ONE_FILE:
                    continue
                kind = family(format)
                pairs = {
                    (command, kind), (command, way), (kind, way), (command if c < 2 else "release", format),
                }  # fmt: skip
                marks = [pytest.mark.use] if pairs <= seen else []
                seen |= pairs
                yield pytest.param(command, format, way, id=f"{command}-{format}-{way}", marks=marks)


@pytest.mark.parametrize(("command", "format", "way"), [*cells()])
def test_what_people_have_as_they_type_it(command, format, way, tmp_path, monkeypatch, run, stored):
    given = tmp_path / "given"
    given.mkdir()
    files, count = WAYS[way](given, format, monkeypatch)
    work, _ = COMMANDS[command]
    assert work(Given(run, files, OPTIONS.get(format, []), format in COLUMNED, tmp_path, count)) == count
