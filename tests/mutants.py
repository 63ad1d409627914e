"""Plant faults in a room and count those that its tests catch.

``python tests/mutants.py ROOM [--count 300] [--seed 1] [--root CHECKOUT] [--tests PATH...]``, by the checkout's Python:
a mutant is one small change of one expression (operator, comparison, constant, condition, sign), drawn by the seed from
all that the room offers. The tests run once under a tracer. A mutant meets those that ran its statement, the quickest
first, until one fails; all of them where an import ran it; none did: it lived. Each has a process, forked from one that
has imported the libraries: there, and in every Python it starts, the changed module is imported. What fails without a
mutant catches nothing. Not seen: a Python without our environment, a source read as text, lines that a test needs and
another ran (for a file, or a cache inside an object). Printed: the share caught with a 95 % interval (Clopper-Pearson),
and the mutants that lived, to be read.
"""

import argparse
import ast
import gc
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
from collections import defaultdict
from contextlib import suppress
from functools import _lru_cache_wrapper, cache
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from itertools import chain
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve()
LIBRARIES = "numpy scipy.optimize scipy.sparse scipy.stats sklearn.linear_model hypothesis pytest typer".split()
AT = [os.environ.get("RUN_FOR", "")]
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def places(tree):
    """The nodes of a module that may be changed: annotations are none."""
    notes = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    notes = {id(part) for note in notes if isinstance(note, ast.AST) for part in ast.walk(note)}
    return [node for node in ast.walk(tree) if id(node) not in notes]


def kinds(node):
    """The changes that a node allows."""
    swapped = type(getattr(node, "op", None)) in SWAPS
    allowed = {
        "operator": isinstance(node, ast.BinOp) and swapped and not isinstance(node.left, ast.JoinedStr),
        "comparison": isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS,
        "and/or": isinstance(node, ast.BoolOp),
        "constant": isinstance(node, ast.Constant) and type(node.value) in (int, float),
        "condition": isinstance(node, ast.If),
        "sign": isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not),
    }
    return [kind for kind, is_allowed in allowed.items() if is_allowed]


def changed(path, number, kind):
    """What is changed, its statement's lines up to it (one is run where it is: constants are folded), the new module."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    node = places(tree)[number]
    before = ast.unparse(node)[:70].split("\n")[0]
    statement = [each for each in ast.walk(tree) if isinstance(each, ast.stmt) and node in ast.walk(each)][-1]
    last = (node.test if isinstance(node, ast.If) else node).end_lineno
    if kind == "comparison":
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif kind == "constant":
        node.value += 1
    elif kind == "condition":
        node.test = ast.UnaryOp(ast.Not(), node.test)
    else:
        node.op = SWAPS.get(type(node.op), ast.UAdd)()
    return f"{before} [{kind}]", range(min(node.lineno, statement.lineno), last + 1), ast.fix_missing_locations(tree)


class Planted(SourceFileLoader):
    """Imports the changed module in place of its file."""

    def find_spec(self, name, path=None, target=None):
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, _):
        return compile(changed(*json.loads(os.environ["MUTANT"]))[2], self.path, "exec")


def module(path):
    """Its name."""
    return ".".join(Path(path).relative_to(os.environ["SOURCE"]).with_suffix("").parts).removesuffix(".__init__")


def imported(names):
    """Those of the modules whose libraries are here."""
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)


@cache
def size(code):
    """How many lines a function has."""
    return len({line for *_, line in code.co_lines() if line})


def at(name):
    """Lines are run from now on for this test, or for this fixture of several; "": by an import."""
    AT[0] = os.environ["RUN_FOR"] = name


def begin():
    """In each process, and in those that tests start: plant the mutant, or write down which lines are run for whom."""
    if mutant := os.environ.get("MUTANT"):
        path = json.loads(mutant)[0]
        sys.meta_path.insert(0, Planted(module(path), path))
    if not (log := os.environ.get("RUN_LINES")):
        return
    log, source, seen = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), os.environ["SOURCE"], defaultdict(set)

    def line(frame, *_):
        code, number = frame.f_code, frame.f_lineno
        lines = seen[AT[0], code.co_filename, code.co_name, code.co_firstlineno]
        if number not in lines:
            lines.add(number)
            os.write(log, (json.dumps([AT[0], code.co_filename, number]) + "\n").encode())
        return line if len(lines) < size(code) else None  # where all are known

    def call(frame, *_):
        return line(frame) if frame.f_code.co_filename.startswith(source) else None

    threading.settrace(call)
    sys.settrace(call)


class Plugin:
    """Of pytest: which tests run, quickest first, and what is seen of them. Without seconds: all, in pytest's order."""

    def __init__(self, order=(), seconds=None, modules=()):
        self.order, self.seconds, self.modules, self.caches = order, seconds, modules, []
        self.said = {"failed": [], "seconds": defaultdict(float), "shared": defaultdict(list)}

    def pytest_collection_modifyitems(self, items):
        if self.seconds:  # a test that only the mutant has is run too
            place = {name: number for number, name in enumerate(self.order)}
            items[:] = [each for each in items if each.nodeid in place or each.nodeid not in self.seconds]
            items.sort(key=lambda item: place.get(item.nodeid, -1))
            return
        imported(self.modules)
        caches = [each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper)]
        self.caches = [
            each for each in caches if self.modules and str(each.__module__).startswith(("publius", "test_"))
        ]
        for item in items:
            for each in chain.from_iterable(item._fixtureinfo.name2fixturedefs.values()):
                self.said["shared"][f"{each.baseid} {each.argname}"].append(item.nodeid)

    def pytest_runtest_logstart(self, nodeid):
        at(nodeid)
        for each in self.caches:  # or the first of several tests would run the lines alone
            each.cache_clear()
        if self.seconds:  # an endless loop
            used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
            limit(used + 10 + 5 * self.seconds.get(nodeid, 0), 300 + 10 * self.seconds.get(nodeid, 0))

    def pytest_fixture_setup(self, fixturedef, request):
        shared = f"{fixturedef.baseid} {fixturedef.argname}"
        at(request.node.nodeid if fixturedef.scope == "function" else shared)

    def pytest_runtest_call(self, item):
        at(item.nodeid)

    def pytest_runtest_logreport(self, report):
        self.said["seconds"][report.nodeid] += report.duration
        self.said["failed"] += [report.nodeid] * report.failed


def limit(processor, clock):
    """This process is killed after so many seconds of either."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(processor), resource.RLIM_INFINITY))
    signal.alarm(int(clock))


def run(jobs, workers=1):
    """Each job (its name, what pytest is told, plugin, variables) in a process: its name, how it ended, what was said."""
    jobs, running = jobs[::-1], {}
    while jobs or running:
        if jobs and len(running) < workers:
            name, *job = jobs.pop()
            folder = Path(tempfile.mkdtemp(prefix="mutants-"))
            if not (number := os.fork()):
                _pytest(folder, *job)
            running[number] = name, folder
            continue
        number, status = os.wait()
        with suppress(ProcessLookupError):
            os.killpg(number, signal.SIGKILL)  # what it left running
        name, folder = running.pop(number)
        said = folder / "said.json"
        yield name, status, json.loads(said.read_text()) if said.exists() else {"failed": []}
        shutil.rmtree(folder, ignore_errors=True)


def _pytest(folder, told, plugin, variables):
    try:
        os.setpgid(0, 0)
        os.environ.update(variables, TMPDIR=str(folder))
        for number in range(3):
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        limit(1800, 3600)
        begin()
        import pytest

        options = ["-q", "-n", "0", "-p", "no:cacheprovider", "--assert=plain", "-m", "not long"]
        code = pytest.main([*options, *told], [plugin])
        (folder / "said.json").write_text(json.dumps(plugin.said))
        os._exit(code)
    finally:
        os._exit(70)


def tried(drawn, tests, paths, workers):
    """Those of the mutants that live, and the tests of each."""
    log = Path(os.environ["PYTHONPATH"].split(os.pathsep)[0]) / "log"
    [(_, status, said)] = run([("", tests, Plugin(modules=list(map(module, paths))), {"RUN_LINES": str(log)})])
    seconds, failed = said["seconds"], {*said["failed"]}
    if not seconds:
        sys.exit(f"no test was run: pytest ended with status {status}")
    print(f"{len(seconds)} tests, {sum(seconds.values()):.0f} s under the tracer; fail: {sorted(failed)}", flush=True)
    ran = defaultdict(set)
    for run_for, *line in map(json.loads, log.read_text().splitlines()):
        names = said["shared"].get(run_for, [run_for])
        ran[*line].update(names)
        ran[line[0], 0].update(names)
    imported(LIBRARIES)
    plans, results = {}, {}
    for mutant in drawn:
        path, near = mutant[0], set()
        near.update(*(ran[path, line] for line in changed(*mutant)[1]))
        rank = {name: (name not in near, name not in ran[path, 0], seconds[name]) for name in seconds}
        plans[mutant] = sorted(rank if "" in near else near & {*rank}, key=rank.get)
    again = drawn
    while again:
        jobs = []
        for mutant in again:
            results[mutant] = 0, set()
            if order := [name for name in plans[mutant] if name not in failed]:
                told = ["-x", *sorted({name.split("::")[0] for name in order})]
                jobs.append((mutant, told, Plugin(order, seconds), {"MUTANT": json.dumps(mutant)}))
        for mutant, status, said in run(jobs, workers):
            results[mutant] = os.waitstatus_to_exitcode(status), {*said["failed"]}
        caught_by = set().union(*(names for _, names in results.values())) & {*seconds} - failed
        for _, _, said in run([("", sorted(caught_by), Plugin(), {})] if caught_by else []):
            failed |= {*said["failed"]}
        again = [mutant for mutant, (_, names) in results.items() if names & failed]
    return [each for each in drawn if results[each][0] in (0, 5)], plans  # 5: no test is left


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--root", type=Path, default=HERE.parents[1])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tests", nargs="*")
    given = parser.parse_args()
    os.nice(19)
    os.chdir(given.root)
    room = Path("src/publius", given.room).resolve()
    paths = list(map(str, sorted(room.rglob("*.py")) if room.is_dir() else [room.with_suffix(".py")]))
    nodes = [(path, *each) for path in paths for each in enumerate(places(ast.parse(Path(path).read_text("utf-8"))))]
    every = [(path, number, kind) for path, number, node in nodes for kind in kinds(node)]
    drawn = Random(given.seed).sample(every, min(given.count, len(every)))
    with tempfile.TemporaryDirectory(prefix="mutants-") as kept:
        text = f"import sys\nsys.path.append({str(HERE.parent)!r})\nimport mutants\nsys.path.pop()\nmutants.begin()\n"
        Path(kept, "sitecustomize.py").write_text(text)
        source = sys.path[0] = str(Path("src").resolve())
        os.environ.update(PYTHONPATH=f"{kept}{os.pathsep}{source}", SOURCE=source)
        os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
        lived, plans = tried(drawn, given.tests or [f"tests/{given.room}"], paths, given.workers)
    from scipy.stats import binomtest

    for mutant in lived:
        what, lines, _ = changed(*mutant)
        print(f"lived: {module(mutant[0])}:{lines[-1]} {what}{'' if plans[mutant] else ' (no test runs it)'}")
    caught = len(drawn) - len(lived)
    interval = binomtest(caught, len(drawn)).proportion_ci(0.95)
    print(f"{given.room}: {caught} of {len(drawn)} caught ({len(every):,} possible), {caught / len(drawn):.1%}, "
          f"95 % CI {interval.low:.1%} to {interval.high:.1%}")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
