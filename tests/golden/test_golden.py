"""What 0.2 wrote and answered, held against today's code: bags byte for byte, manifests and answers key by key.

The golden files were made by `make` on commit 9c31968. Where today differs on purpose, `changes` says so. To see
all differences that it does not tell: python tests/golden/test_golden.py
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from fnmatch import fnmatchcase
from functools import cache
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cases
import pytest
from changes import ABSENT, CHANGES, same

from publius.releases import watching

MODULES = ("pyarrow", "sklearn", "matplotlib", "jinja2", "ot")
GROUPS = ("seeded", "python", "reading", "commands")
VARIES = {
    "*/seconds": "a time",
    "*/publius_version": "the version moves on",
    "*/versions/numpy": "that of this machine",
}
"""Keys whose values are no golden ones; that they are there is."""
GOLDEN = {group: json.loads((cases.HERE / f"{group}.json").read_text(encoding="utf-8")) for group in GROUPS}
CASES = [f"{group}/{name}" for group, found in GOLDEN.items() for name in found]


def workplace(place: Path) -> Path:
    """The inputs and what 0.2 wrote, with the rights that it had."""
    for name in ("inputs", "written"):
        shutil.copytree(cases.HERE / name, place / name)
    shutil.move(place / "written" / "home", place / "home")
    for path in place.glob("written/*.ledger*"):
        path.chmod(0o600)
    return place


@cache
def today() -> dict[str, Any]:
    """Every answer of today's code, by ``group/case``; and the commands that took the packaged vectors."""
    took: list[str] = []
    run = cases.run

    def watched(line: str) -> tuple[int, str, str]:
        found = run(line)
        if Path("home/packaged").exists():
            took.append(line)
            shutil.rmtree("home/packaged")
        return found

    with (
        tempfile.TemporaryDirectory() as folder,
        cases.inside(workplace(Path(folder))),
        pytest.MonkeyPatch().context() as patch,
    ):
        patch.setattr(cases, "run", watched)
        # What arrived together had the order of its names then, and has a secret one now.
        in_order = SimpleNamespace(rng=lambda name: SimpleNamespace(permutation=range))
        patch.setattr(watching, "RunKey", SimpleNamespace(fresh=lambda: in_order))
        return {
            f"{group}/{name}": each for group, found in cases.answers() for name, each in found.items()
        } | {"packaged": took}


def differences(was: Any, now: Any, key: str = "") -> list[tuple[str, Any, Any]]:
    """Each place at which two answers differ: its path, what stood there and what stands there now."""
    if isinstance(was, dict) and isinstance(now, dict):
        names = [*was, *(name for name in now if name not in was)]
        found = [
            one
            for name in names
            for one in differences(was.get(name, ABSENT), now.get(name, ABSENT), f"{key}/{name}".lstrip("/"))
        ]
        common = [[name for name in each if name in was and name in now] for each in (was, now)]
        return found if common[0] == common[1] else [*found, (f"{key}/order of keys", *common)]
    if isinstance(was, list) and isinstance(now, list):
        pairs = enumerate(zip_longest(was, now, fillvalue=ABSENT))
        return [one for place, pair in pairs for one in differences(*pair, f"{key}/{place}".lstrip("/"))]
    if same(was, now) or (ABSENT not in (was, now) and any(fnmatchcase(f"/{key}", each) for each in VARIES)):
        return []
    return [(key, was, now)]


def changes_of(case: str, key: str) -> list[Any]:
    return [each for each in CHANGES if fnmatchcase(case, each.answers) and fnmatchcase(key, each.key)]


def untold(case: str) -> list[tuple[str, Any, Any]]:
    """The differences of a case that no change tells."""
    group, name = case.split("/", 1)
    return [
        (key, was, now)
        for key, was, now in differences(GOLDEN[group][name], today()[case])
        if not any(each.explains(was, now, GOLDEN[group][name]) for each in changes_of(case, key))
    ]


@pytest.fixture(scope="module", autouse=True)
def _everything_is_installed():
    for name in MODULES:
        pytest.importorskip(name, reason=f"needs {name}")


@pytest.mark.parametrize("case", CASES)
def test_as_0_2(case):
    assert untold(case) == []


def test_every_case_is_run_and_no_other():
    assert set(today()) - {"packaged"} == {*CASES}
    assert {*GOLDEN["seeded"]} == {*cases.releases()}
    # A fit compares its words with those of general text, and finds the subjects of summaries among them.
    for command in today()["packaged"]:
        assert command.startswith(("reference fit", "embeddings fit")), (
            "a case took the packaged vectors: name --embeddings toy"
        )


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.answers} {change.key}")
def test_every_change_tells_of_something(change):
    def tells(case: str) -> bool:
        group, name = case.split("/", 1)
        return any(
            fnmatchcase(key, change.key) and change.explains(was, now, GOLDEN[group][name])
            for key, was, now in differences(GOLDEN[group][name], today()[case])
        )

    assert any(tells(case) for case in CASES if fnmatchcase(case, change.answers)), "strike it"


@pytest.mark.parametrize("kind", cases.KINDS)
@pytest.mark.parametrize("other", ["resumable", "two processes"])
def test_the_way_a_corpus_is_worked_through_changes_no_bag(kind, other):
    """Of the golden files themselves: engines and processes gave the same bytes, so a wrong one shows as itself."""
    if f"{kind}, {other}" in GOLDEN["seeded"]:
        plain = {"words": "laplace", "ordered": "laplace, ordered", "topic": "prototype, topic"}
        first = GOLDEN["seeded"][plain.get(kind, f"{kind}, topic")]
        assert GOLDEN["seeded"][f"{kind}, {other}"]["files"] == first["files"]


def test_an_answer_that_differs_is_found():
    """The comparison bites: a word, a key that is gone, one that is new, their order, a type, a row more."""
    was = {"exit": 0, "json": {"a": 1, "b": [1.0, {"c": "x"}]}}
    for now in (
        {"exit": 1, "json": was["json"]},
        {"exit": 0, "json": {"a": 1}},
        {"exit": 0, "json": {**was["json"], "d": None}},
        {"exit": 0, "json": {"b": was["json"]["b"], "a": 1}},
        {"exit": 0, "json": {"a": 1.0, "b": was["json"]["b"]}},
        {"exit": 0, "json": {"a": True, "b": was["json"]["b"]}},
        {"exit": 0, "json": {"a": 1, "b": [1.0, {"c": "y"}]}},
        {"exit": 0, "json": {"a": 1, "b": [1.0, {"c": "x"}, 2]}},
        {"exit": 0, "json": {"a": 1, "b": [1.0000001, {"c": "x"}]}},
        {"exit": 0, "json": None},
    ):
        assert differences(was, now)
    assert differences(was, {"exit": 0, "json": {"a": 1, "b": [1.0 + 1e-13, {"c": "x"}]}}) == []


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))  # the toy engine
    os.environ.pop("PUBLIUS_CONFIG", None)
    for case in CASES:
        for key, was, now in untold(case):
            print(f"{case}\n  {key}\n    was {was!r:.300}\n    now {now!r:.300}")
