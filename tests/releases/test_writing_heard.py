"""What the parent of a writer's process believes of it."""

import json

import pytest

from publius.errors import DataError, PolicyError, UsageError
from publius.releases.writing.confinement import CALLS, FILES
from publius.releases.writing.heard import Heard

FOREIGN = "python:evil:Evil"
HELD, WHO, DONE = {"held": [FILES, CALLS]}, {"writer": "exemplar", "note": "QUOTED"}, {"done": True}


def text(place, **other):
    return {"place": place, "text": "a b", "source": {}, "fault": None, **other}


def hear(*lines, writer=FOREIGN, written=(), warning=None):
    heard = Heard(writer, ["d0", "d1"], written, warning)
    kept = [heard.line(json.dumps(each).encode() + b"\n") for each in lines]
    return heard, [each for each in kept if each is not None]


def test_each_bag_has_the_line_of_its_own_document():
    heard, kept = hear(HELD, WHO, text(1), text(0, text=None, fault="no\x1b[31m word"), DONE)
    line = {"writer": FOREIGN, "source": {}, "note": "QUOTED"}
    assert kept == [
        (1, {**line, "id": "d1", "text": "a b"}),
        (0, {**line, "id": "d0", "text": None, "fault": "no\ufffd[31m word"}),
    ]
    assert (heard.done, heard.held) == (True, (FILES, CALLS))


def test_a_writer_of_ours_says_its_own_name_and_a_warning_is_on_every_line():
    _, kept = hear(
        HELD, {"writer": "llm:tiny", "note": "by tiny"}, text(0), writer="llm:x", warning="NOT PRIVATE"
    )
    assert [(line["writer"], line["warning"]) for _, line in kept] == [("llm:tiny", "NOT PRIVATE")]


def test_what_was_sent_is_not_a_line():
    heard, kept = hear(HELD, WHO, {"request": {"messages": []}})
    assert (heard.sent, kept) == ({"messages": []}, [])


def test_what_was_written_before_need_not_come_again():
    assert hear(HELD, WHO, text(0), DONE, written=[1])[0].done


@pytest.mark.parametrize(
    "lines",
    [
        [HELD, WHO, text(2)], [HELD, WHO, text(-1)], [HELD, WHO, text(True)], [HELD, WHO, text("0")],
        [HELD, WHO, text(0), text(0)], [HELD, WHO, {**text(0), "id": "invented"}], [HELD, WHO, {"place": 0}],
        [HELD, WHO, {"place": 0, "record": {"id": "d0", "text": "x", "writer": "exemplar", "source": {}, "note": ""}}],
        [HELD, WHO, text(0, text=3)], [HELD, WHO, text(0, text=None)], [HELD, WHO, text(0, fault="and a text")],
        [HELD, WHO, text(0, source="a list")], [HELD, WHO, DONE], [HELD, WHO, text(0), DONE], [HELD, DONE],
        [HELD, text(0)], [HELD, HELD], [HELD, WHO, HELD], [WHO], [text(0)], [DONE], [HELD, WHO, WHO], [{}], [[]], [7],
        [HELD, {"error": {}}], [HELD, {"error": {"message": "x", "exit_code": "many"}}], [{"held": 3}],
        [HELD, WHO, text(0, text="half \ud800")], [HELD, WHO, text(0, source={"at": float("nan")})],
        [HELD, WHO, {"request": float("inf")}], [{**HELD, "done": True}], [HELD, WHO, text(0), text(1), DONE, text(1)],
    ],
)  # fmt: skip
def test_anything_else_is_refused(lines):
    with pytest.raises(PolicyError, match="something else than a text for each bag"):
        hear(*lines)


@pytest.mark.parametrize("line", [b"\xff\n", b"no json\n", b"[" * 100_000 + b"\n", b'{"held": NaN'])
def test_what_is_no_line_is_refused(line):
    with pytest.raises(PolicyError, match="something else"):
        Heard(FOREIGN, ["d0"], [], None).line(line)


def test_an_error_is_told_without_what_drives_a_terminal():
    said = {"error": {"message": "bad \x1b[31m\x07 \u202e", "exit_code": 65}}
    with pytest.raises(DataError, match=r"^bad \ufffd\[31m\ufffd \ufffd$"):
        hear(HELD, said)
    with pytest.raises(UsageError):
        hear(HELD, {"error": {"message": "x", "exit_code": 2}})
