"""The import rules of docs/design.md, read from the source."""

import ast
import re
from pathlib import Path

import pytest

from source_imports import FILES, PACKAGE, ROOT, imports_of, nodes_of, tree_of


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


def _breaches(room: str, tree: ast.AST) -> list[str]:
    """What a module of ``room`` imports that stands no lower than it."""
    found = []
    for name in imports_of(tree):
        if not name.startswith("publius"):
            continue
        if name == "publius" and room != "cli":
            found.append("imports the package: absolute imports of modules, never of the package")
        other = [*name.split("."), ""][1]
        if (
            other in RANKS and other != room and RANKS[other] >= RANKS[room]
        ):  # else the package, or a name in it
            found.append(f"{room} (rank {RANKS[room]}) imports {other} (rank {RANKS[other]})")
    return found


def test_imports_only_lower_ranks():
    ranked = [path for path in FILES if _room(path) not in ("__init__", "__main__")]
    assert {_room(path) for path in ranked} <= RANKS.keys(), "a room has no rank in docs/design.md"
    found = {str(path.relative_to(PACKAGE)): _breaches(_room(path), tree_of(path)) for path in ranked}
    assert {path: breaches for path, breaches in found.items() if breaches} == {}


@pytest.mark.parametrize(
    ("room", "line"),
    [("documents", "from publius.vectors import embeddings"), ("noise", "import publius.mechanisms.kernel"),
     ("privacy", "def f():\n    from publius.mechanisms.kernel import Kernel"), ("text", "import publius"),
     ("mechanisms", "from publius.releases.plan import Plan"), ("web", "from publius.cli.console import print_json"),
     ("sklearn", "from publius.web.state import State")],
)  # fmt: skip
def test_a_bad_import_is_found(room, line):
    """The rule bites: upwards, sideways, inside a function, and of the package itself."""
    assert _breaches(room, ast.parse(line))
    assert not _breaches(room, ast.parse("from publius.errors import PubliusError\nimport numpy"))


def test_what_is_cited_stands_in_the_docs():
    """A page that the code cites is in docs/, and so is the section it names."""
    cited = re.compile(r"(\w[\w/-]*\.md)(?:\s+sections?\s+(\d+))?")
    found = [(path.name, each) for path in FILES for each in cited.findall(path.read_text(encoding="utf-8"))]
    for module, (page, section) in found:
        place = ROOT / page if page.startswith("docs/") else ROOT / "docs" / page
        assert place.exists() or (ROOT / page).exists(), f"{module} cites {page}, which is not there"
        if section:
            headings = re.findall(r"^## (\d+)\.", place.read_text(encoding="utf-8"), re.MULTILINE)
            assert section in headings, f"{module} cites section {section} of {page}"


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
        assert f"publius.{banned}" not in " ".join(imports_of(tree_of(path)))


def test_only_rng_makes_generators():
    """R6: no np.random.* and no random.* outside noise/randomness.py."""
    for path in FILES:
        if path.name == "randomness.py":
            continue
        tree = tree_of(path)
        roots = {name if name.startswith("numpy") else name.split(".")[0] for name in imports_of(tree)}
        assert not {"random", "numpy.random", "randomgen", "secrets"} & roots, path
        for node in nodes_of(tree):
            used = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            assert not used.startswith(("np.random", "numpy.random")), f"{path}:{node.lineno} {used}"


@pytest.mark.parametrize(
    "line", ["from numpy import random", "from urllib import request", "import numpy.random as r"]
)
def test_every_form_of_import_is_read(line):
    assert {"numpy.random", "urllib.request"} & set(imports_of(ast.parse(line)))


_STARTERS = {
    "files/child.py": "it is what starts a process of ours",
    "files/workers.py": "it is what starts workers",
    "audit/lines.py": "the command of a target, which the user names, or one of files/child",
    "releases/engines/spark.py": "it names the interpreter of a cluster, which starts it",
}
"""Where a process may be started by hand, and why."""

_METHOD_IS_KNOWN = {
    "audit/forking.py": "a fork for the audit of generators: spawned workers come from files/workers.py"
}


def starts_of(tree):
    """Lines that start a process which could import what lies in the working folder or what the environment names.

    Such a process has its command from `publius.files.child.command`, its context from `publius.files.workers`.
    """
    found = []
    for node in nodes_of(tree):
        said = ast.unparse(node) if isinstance(node, ast.Attribute | ast.Name | ast.Call) else ""
        if said in ("sys.executable", "multiprocessing.Process", "multiprocessing.Pool"):
            found.append(said)
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        last = name.rpartition(".")[2]
        given = ast.unparse(node.args[0]) if node.args else ""
        if last in ("Popen", "check_call", "check_output", "getoutput") or name == "subprocess.run":
            if not given.startswith(("command(", "child.command(")):
                found.append(said)
        elif last in ("get_context", "set_start_method") or (last == "executable" and not node.args):
            found.append(said)
        elif last == "ProcessPoolExecutor":
            contexts = [ast.unparse(each.value) for each in node.keywords if each.arg == "mp_context"]
            if not (contexts or len(node.args) > 1):
                found.append(said)
        elif name in ("os.system", "os.popen") or last.startswith(
            ("execv", "execl", "spawnv", "spawnl", "posix_spawn")
        ):
            found.append(said)
    return found


def test_no_process_of_ours_is_started_by_hand():
    """It could run what somebody left beside the documents."""
    starts = {path.relative_to(PACKAGE).as_posix(): starts_of(tree_of(path)) for path in FILES}
    allowed = {**_STARTERS, **_METHOD_IS_KNOWN}
    assert {name: lines for name, lines in starts.items() if lines and name not in allowed} == {}
    assert [
        name
        for name in _METHOD_IS_KNOWN
        if "spawning() if" not in (PACKAGE / name).read_text(encoding="utf-8")
    ] == []


@pytest.mark.parametrize(
    "line",
    [
        "subprocess.run([sys.executable, '-m', 'publius'])", "subprocess.Popen(['python', '-c', text])",
        "multiprocessing.get_context('spawn')", "context = get_context('spawn')", "multiprocessing.Process(target=f)",
        "ProcessPoolExecutor(4)", "os.execv(path, words)", "multiprocessing.set_start_method('spawn')",
        "os.posix_spawn(path, words, {})", "subprocess.check_output(['publius'])",
    ],
)  # fmt: skip
def test_a_process_started_by_hand_is_found(line):
    assert starts_of(ast.parse(line))


@pytest.mark.parametrize(
    "line",
    [
        "subprocess.Popen(command('publius.documents.parser'))",
        "ProcessPoolExecutor(4, mp_context=spawning())",
    ],
)
def test_a_process_of_ours_is_not(line):
    assert not starts_of(ast.parse(line))


def test_no_assert_in_the_product():
    """R22: a guard must not vanish under python -O."""
    for path in FILES:
        for node in nodes_of(tree_of(path)):
            assert not isinstance(node, ast.Assert), f"{path}:{node.lineno}"


def test_no_network():
    """R20: nothing that could call out is imported, but by the client of a language model of the user's own."""
    for path in FILES:
        if _room(path) == "web" or path.relative_to(PACKAGE).as_posix() == "releases/writing/chat.py":
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
        assert not banned & set(imports_of(tree_of(path))), path


# Options and parameters -------------------------------------------------------------------------------------------

MOST_PARAMETERS = 12
DEFAULTS = {"euclidean", "manhattan", "unk", "english", "laplace"}


def too_many_parameters(tree):
    """The functions with more than `MOST_PARAMETERS`, ``self`` and ``cls`` left out."""
    for node in nodes_of(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            known = node.args
            names = [each.arg for each in (*known.posonlyargs, *known.args, *known.kwonlyargs)]
            names += [each.arg for each in (known.vararg, known.kwarg) if each is not None]
            if len([name for name in names if name not in ("self", "cls")]) > MOST_PARAMETERS:
                yield getattr(node, "name", "lambda"), node.lineno


def repeated_defaults(tree):
    """The values of `DEFAULTS` that are written out in code; docstrings are no code."""
    texts = {
        id(node.body[0].value)
        for node in nodes_of(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes_of(tree):
        if isinstance(node, ast.Constant) and node.value in DEFAULTS and id(node) not in texts:
            yield node.value, node.lineno


def test_no_function_takes_too_many_parameters():
    found = [
        (str(path.relative_to(PACKAGE)), *each)
        for path in FILES
        for each in too_many_parameters(tree_of(path))
    ]
    assert found == [], "give it a settings object"


def test_defaults_stand_in_settings_only():
    found = [
        (str(path.relative_to(PACKAGE)), *each)
        for path in FILES
        if path.name != "settings.py"
        for each in repeated_defaults(tree_of(path))
        if each[0] != "laplace" or path.name != "laplace.py"  # the mechanism's own name
    ]
    assert found == [], "read it off the settings: TextSettings.unknown, VectorSettings.metric, ..."


@pytest.mark.parametrize(
    ("find", "code"),
    [
        (too_many_parameters, "def f(self, a, b, c, d, e, f, g, h, i, j, k, l, *, m): ..."),
        (too_many_parameters, "def f(a, b, c, d, e, f, g, h, i, j, k, *l, **m): ..."),
        (repeated_defaults, 'def f(metric="euclidean"): ...'),
        (repeated_defaults, 'def f():\n    """English."""\n    return load("english")'),
    ],
)
def test_a_breach_of_these_rules_is_found(find, code):
    assert list(find(ast.parse(code)))


def test_what_keeps_these_rules_passes():
    code = 'def f(self, a, b, c, d, e, f, g, h, i, j, k, l):\n    """Of "english"."""\n    return "inglese"'
    assert not list(too_many_parameters(ast.parse(code)))
    assert not list(repeated_defaults(ast.parse(code)))


MOST_THAT_SAY_WHAT = 60
"""Lower it as they are rewritten; it is never raised."""


def test_summaries_name_the_thing_or_say_what_is_done():
    """Hardly a first line of a module's docstring, or of what others may call, begins with "What": 320 did."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = []
    for path in FILES:
        tree = tree_of(path)
        named = [node for node in nodes_of(tree) if isinstance(node, kinds) and node.name[0] != "_"]
        for node in (tree, *named):
            if (ast.get_docstring(node) or "").startswith("What "):
                found.append(f"{path.relative_to(PACKAGE)}: {getattr(node, 'name', 'module')}")
    assert len(found) <= MOST_THAT_SAY_WHAT, found
