"""Plant faults in a room and count those that its tests catch.

``python tests/mutants.py ROOM [--count 300] [--seed 1] [--root CHECKOUT] [--tests PATH...]``: each mutant is one small
change of one expression (an operator, a comparison, a constant, a condition, a returned value), drawn by the seed from all
that the room offers. The room's tests run on a copy until one fails. Printed: the share caught with a 95 % interval
(Clopper-Pearson), and the mutants that lived, to be read.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def places(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a module that may be changed: annotations are none."""
    annotations = {id(part) for node in ast.walk(tree) for part in _annotations(node)}
    return [node for node in ast.walk(tree) if id(node) not in annotations]


def changes(source: str) -> list[tuple[int, int, str]]:
    """Every mutant of a module: its line, the number of the node, and the kind of change."""
    nodes = enumerate(places(ast.parse(source)))
    return [(node.lineno, number, kind) for number, node in nodes for kind in _kinds(node)]


def changed(path: Path, number: int, kind: str) -> tuple[str, str]:
    """What is changed, and the new source."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node = places(tree)[number]
    before = ast.unparse(node)[:70].split("\n")[0]
    _apply(node, kind)
    return f"{before} [{kind}]", ast.unparse(ast.fix_missing_locations(tree))


def _annotations(node):
    for name in ("annotation", "returns"):
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            yield from ast.walk(part)


def _kinds(node):
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS and not isinstance(node.left, ast.JoinedStr):
        yield "operator"
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield "comparison"
    if isinstance(node, ast.BoolOp):
        yield "and/or"
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "constant"
    if isinstance(node, ast.If):
        yield "condition"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        yield "sign"


def _apply(node, kind):
    if kind in ("operator", "and/or"):
        node.op = SWAPS[type(node.op)]()
    elif kind == "comparison":
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif kind == "constant":
        node.value += 1
    elif kind == "condition":
        node.test = ast.UnaryOp(ast.Not(), node.test)
    else:
        node.op = ast.UAdd()


def tried(mutant, root, tests, seconds):
    """Whether the tests fail with one mutant: "caught", "lived" or "time" (counted as caught)."""
    path, _, number, kind = mutant
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("src", "tests", "pyproject.toml", "docs", "README.md", "benchmarks"):
            origin = root / name
            if origin.is_dir():
                shutil.copytree(origin, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif origin.exists():
                shutil.copy(origin, copy / name)
        (copy / path.relative_to(root)).write_text(changed(path, number, kind)[1], encoding="utf-8")
        command = [str(root / ".venv/bin/python"), "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
        command += ["-m", "not long and not use", *tests]
        environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return "time"
        return "lived" if done.returncode == 0 else "caught"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--tests", nargs="*")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    root = given.root.resolve()
    room = root / "src" / "publius" / given.room
    files = sorted(room.rglob("*.py")) if room.is_dir() else [room.with_suffix(".py")]
    tests = given.tests or [f"tests/{given.room}"]
    every = [(path, *change) for path in files for change in changes(path.read_text(encoding="utf-8"))]
    drawn = Random(given.seed).sample(every, min(given.count, len(every)))
    with ThreadPoolExecutor(given.workers) as pool:
        results = list(pool.map(lambda mutant: tried(mutant, root, tests, given.seconds), drawn))
    counts = Counter(results)
    caught = counts["caught"] + counts["time"]
    from scipy.stats import binomtest

    interval = binomtest(caught, len(drawn)).proportion_ci(0.95)
    for (path, line, number, kind), result in zip(drawn, results, strict=True):
        if result == "lived":
            print(f"lived: {path.relative_to(root)}:{line} {changed(path, number, kind)[0]}")
    print(f"{given.room}: {caught} of {len(drawn)} caught ({len(every):,} possible), {caught / len(drawn):.1%}, "
          f"95 % CI {interval.low:.1%} to {interval.high:.1%}")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
