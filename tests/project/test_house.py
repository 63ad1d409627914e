"""The house: who may import whom, how large it is, and what never happens in it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "publius"
FILES = sorted(PACKAGE.rglob("*.py"))

ROOMS = (
    "errors arrays option statistics settings files text documents embeddings distances noise classifiers privacy mechanisms pages "
    "releases summaries evaluation audit sklearn start web cli"
).split()
"""Bottom to top: a room imports from itself and from rooms before it."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def room_of(path: Path) -> str:
    part = path.relative_to(PACKAGE).parts[0]
    return part.removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Names of our own modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("publius"):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("publius")}
    return found


@pytest.mark.parametrize("room", [*ROOMS, "__main__"])
def test_a_room_imports_only_from_rooms_below_it(room):
    above = set(ROOMS[ROOMS.index(room) + 1 :]) if room in ROOMS else set()
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in FILES
        if room_of(path) == room
        for name in imported(path)
        if len(name.split(".")) > 1 and name.split(".")[1] in above
    ]
    assert wrong == []


def test_every_module_is_in_a_room():
    assert {room_of(path) for path in FILES} <= {*ROOMS, "__init__", "__main__"}


def test_randomness_comes_from_one_place():
    wrong = []
    for path in FILES:
        if room_of(path) == "noise" or path.name == "answering.py":  # it seeds the generators of a stranger's mechanism
            continue
        for node in ast.walk(tree(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if "random" in names or (isinstance(node, ast.ImportFrom) and node.module in ("random", "numpy.random")):
                wrong.append(f"{path.name}:{node.lineno}")
            if isinstance(node, ast.Attribute) and node.attr == "random" and ast.unparse(node.value) in ("np", "numpy"):
                wrong.append(f"{path.name}:{node.lineno}")
    assert wrong == []


def test_no_guard_is_an_assert():
    wrong = [f"{path.name}:{n.lineno}" for path in FILES for n in ast.walk(tree(path)) if isinstance(n, ast.Assert)]
    assert wrong == []


def test_nothing_is_fetched():
    banned = {"requests", "urllib.request", "http.client", "httpx", "ftplib", "smtplib"}
    wrong = []
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                wrong += [path.name for alias in node.names if alias.name in banned]
            if isinstance(node, ast.ImportFrom) and node.module in banned:
                wrong.append(path.name)
    assert wrong == []


def test_the_house_does_not_grow():
    from project.counts import lines

    assert lines(ROOT / "src")[1] <= 25_000
    assert lines(ROOT / "tests")[1] <= 24_000


def test_no_registry_address_stands_in_a_file():
    wrong = [
        path.name
        for path in [*ROOT.glob("*"), *(ROOT / "requirements").glob("*"), *(ROOT / ".ci").glob("*")]
        if path.is_file()
        and re.search(r"https?://[^\s]*(pypi|pythonhosted|npmjs|debian\.org)", path.read_text("utf-8", "ignore"))
    ]
    assert wrong == []


def test_public_names_import_and_have_a_docstring():
    import publius

    for name in publius._HOMES:
        assert (getattr(publius, name).__doc__ or "").strip(), name
