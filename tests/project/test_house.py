"""The import rules of docs/design.md, read from the source."""

import ast
import re
from pathlib import Path

import pytest

from source_imports import FILES, PACKAGE, ROOT, imports_of


def _ranks() -> dict[str, int]:
    ranks = {}
    for line in (ROOT / "docs" / "design.md").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\| (\d+) \| (.+?) \|", line):
            for name in re.findall(r"`([a-z_]+)/?`", found[2]):
                ranks[name] = int(found[1])
    return ranks


RANKS = _ranks()


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_lower_ranks(path):
    room = _room(path)
    if room in ("__init__", "__main__"):
        return
    assert room in RANKS, f"{room} has no rank in docs/design.md"
    for name in imports_of(ast.parse(path.read_text(encoding="utf-8"))):
        if not name.startswith("publius"):
            continue
        assert name != "publius" or room == "cli", "absolute imports of modules, never of the package"
        other = [*name.split("."), ""][1]
        if other not in RANKS:  # the package itself, or a name in it
            continue
        assert other == room or RANKS[other] < RANKS[room], f"{room} (rank {RANKS[room]}) imports {other}"


@pytest.mark.parametrize(
    ("folder", "banned"),
    [("vectors/embeddings.py", "documents"), ("vectors/nearest.py", "documents"), ("vectors/importing", "documents"),
     ("vectors", "text.bag"), ("vectors/nearest.py", "vectors.embeddings"),
     ("privacy/ledger", "mechanisms"), ("privacy", "mechanisms")],
)  # fmt: skip
def test_private_rooms_do_not_meet(folder, banned):
    files = [path for path in FILES if path.relative_to(PACKAGE).as_posix().startswith(folder)]
    assert files, f"{folder} does not exist"
    for path in files:
        assert f"publius.{banned}" not in " ".join(imports_of(ast.parse(path.read_text(encoding="utf-8"))))


def test_only_rng_makes_generators():
    """R6: no np.random.* and no random.* outside noise/randomness.py."""
    for path in FILES:
        if path.name == "randomness.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        roots = {name if name.startswith("numpy") else name.split(".")[0] for name in imports_of(tree)}
        assert not {"random", "numpy.random", "randomgen", "secrets"} & roots, path
        for node in ast.walk(tree):
            used = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            assert not used.startswith(("np.random", "numpy.random")), f"{path}:{node.lineno} {used}"


@pytest.mark.parametrize(
    "line", ["from numpy import random", "from urllib import request", "import numpy.random as r"]
)
def test_every_form_of_import_is_read(line):
    assert {"numpy.random", "urllib.request"} & set(imports_of(ast.parse(line)))


def test_no_assert_in_the_product():
    """R22: a guard must not vanish under python -O."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not isinstance(node, ast.Assert), f"{path}:{node.lineno}"


def test_no_network():
    """R20: nothing that could call out is imported."""
    for path in FILES:
        if _room(path) == "web":
            continue
        banned = {
            "socket",
            "ssl",
            "urllib.request",
            "http.client",
            "requests",
            "httpx",
            "aiohttp",
            "ftplib",
            "smtplib",
        }
        assert not banned & set(imports_of(ast.parse(path.read_text(encoding="utf-8")))), path
