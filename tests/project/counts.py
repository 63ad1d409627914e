"""Count what a stranger trips over: python tests/project/counts.py [CHECKOUT] [--json] [--junit FILE] [--site FOLDER]

Reads the source of a checkout (default: this one) without running it; only the options of the commands are asked of
the ``publius`` in the checkout's ``.venv``. ``counts_0_2.json`` beside this file holds the counts of commit 9c31968;
`WHY` says of each that did not fall since why it did not.

A *question of kind* is a line of code outside ``mechanisms/`` that asks whether a word or a document mechanism is
held, in one of these forms:

- ``isinstance``, ``issubclass`` or ``type`` with a class of mechanisms or of guarantees;
- a comparison with a ``level`` or a ``preserve``, as attribute, name or key, or with ``unit`` and "bound" (that
  nothing was chosen, ``is None``, is no such question, nor is that a level of confidence is between two numbers);
- a lookup in one of the two registries by name, ``in MECHANISMS`` or ``in DOCUMENT_MECHANISMS``;
- ``word_mechanism``, ``names_prototypes`` and ``keeps_words``, which exist to ask or to refuse.

Several in one line count once. Annotations of both kinds (``A | B``) are counted apart.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml  # a file that pytest wrote
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[2]
KINDS = re.compile(
    r"\w*Mechanism|\w*Guarantee|Kernel|Lifted|Laplace|Prototype|Position|AbstractFinite|AbstractExact"
)
ASKED = {"level", "preserve", "unit"}
REGISTRIES = {"MECHANISMS", "DOCUMENT_MECHANISMS"}
ACCESSORS = {"word_mechanism", "names_prototypes", "keeps_words"}
NEW = (
    "new are summaries of collections, the audit of anybody's mechanism, declared values, the checks of a sign-off and "
    "the steps that terminal and page share"
)
WHY = {
    "modules": NEW,
    "lines": NEW,
    "classes": NEW,
    "imports": "with the modules",
    "imports_per_module_mean": "what is heavy is imported where it is used, so several functions of a file name it",
    "imports_per_module_median": "as before",
    "options": "summarize has 22, and start asks 20 things more: summaries, columns and the page to sign",
    "words_of_pages_looked_up": "the manual of these options, and the docstrings of new public names",
    "type_ignores": "classes made from settings at run time, libraries without types, values that were checked before",
}
"""Why a count did not fall since 0.2."""

OPTIONS = """
import json, typer
from publius.cli import app
def walk(command, name):
    if hasattr(command, "commands"):
        for key, each in command.commands.items():
            yield from walk(each, f"{name} {key}".strip())
    else:
        shown = command.get_params(command.make_context(name, [], resilient_parsing=True))
        yield name, sum(1 for one in shown if one.param_type_name == "option")
print(json.dumps(dict(walk(typer.main.get_command(app), ""))))
"""


def _names(node: ast.AST) -> set[str]:
    """Every name, attribute and plain string within a piece of code."""
    return {
        name
        for each in ast.walk(node)
        for name in (getattr(each, "id", None), getattr(each, "attr", None), getattr(each, "value", None))
        if isinstance(name, str)
    }


def asks_of_kind(node: ast.AST) -> bool:
    """Whether this node asks which kind of mechanism is held."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, asked]):
            return any(KINDS.fullmatch(name) for name in _names(asked))
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in ACCESSORS:
            return True
        case ast.Compare(left=left, ops=operators, comparators=others):
            if any(isinstance(each, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for each in operators):
                return False
            sides = [left, *others]
            if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
                return False
            held = [_names(side) for side in sides]
            if any("type" in names for names in held):
                return any(KINDS.fullmatch(name) for names in held for name in names)
            if any(names & REGISTRIES for names in held):
                return True
            asked = set().union(*(names & ASKED for names in held))
            return bool(asked - {"unit"}) or (bool(asked) and any("bound" in names for names in held))
    return False


@functools.lru_cache(1)
def _nodes(tree: ast.AST) -> list[ast.AST]:
    return [*ast.walk(tree)]


def questions(tree: ast.AST) -> set[int]:
    """The lines of questions of kind."""
    return {node.lineno for node in _nodes(tree) if asks_of_kind(node)}


def unions(tree: ast.AST) -> set[int]:
    """The lines on which an annotation takes both kinds of mechanism or of guarantee."""
    found = set()
    for node in _nodes(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            names = [name for name in _names(node) if KINDS.fullmatch(name)]
            if len(names) > 1:
                found.add(node.lineno)
    return found


def _imports(tree: ast.AST) -> int:
    """Import statements of a module, wherever they stand."""
    return sum(isinstance(node, ast.Import | ast.ImportFrom) for node in _nodes(tree))


def _source(package: Path) -> Iterator[tuple[str, str, ast.Module]]:
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path.relative_to(package).as_posix(), text, ast.parse(text)


def source_counts(checkout: Path) -> dict[str, Any]:
    """What the source says."""
    files = list(_source(checkout / "src" / "publius"))
    classes: Counter[str] = Counter()
    asked, annotated, imports = {}, {}, []
    for name, _, tree in files:  # one after the other: the nodes of the last are at hand
        classes.update(node.name for node in _nodes(tree) if isinstance(node, ast.ClassDef))
        imports.append(_imports(tree))
        if not name.startswith("mechanisms/"):
            asked[name], annotated[name] = len(questions(tree)), len(unions(tree))
    imports.sort()
    doubles = {name: count for name, count in sorted(classes.items()) if count > 1}
    return {
        "modules": len(files),
        "lines": sum(len(text.splitlines()) for _, text, _ in files),
        "classes": sum(classes.values()),
        "class_names_used_more_than_once": len(doubles),
        "classes_of_such_names": sum(doubles.values()),
        "doubles": doubles,
        "questions_of_kind": sum(asked.values()),
        "files_with_questions_of_kind": sum(map(bool, asked.values())),
        "questions_of_kind_by_file": {name: count for name, count in asked.items() if count},
        "annotations_of_both_kinds": sum(annotated.values()),
        "type_ignores": sum(text.count("# type: ignore") for _, text, _ in files),
        "imports": sum(imports),
        "imports_per_module_mean": round(sum(imports) / len(imports), 2),
        "imports_per_module_median": imports[len(imports) // 2],
    }


def option_counts(checkout: Path) -> dict[str, Any]:
    """Options of each command, with --help and those of the mechanisms, as the command line itself has them."""
    python = checkout / ".venv" / "bin" / "python"
    said = subprocess.check_output([python, "-c", OPTIONS], text=True, cwd=checkout)
    found = json.loads(said)
    return {"commands": len(found), "options": sum(found.values()), "options_by_command": found}


def word_counts(checkout: Path, site: Path | None) -> dict[str, int]:
    """Words of the documentation as ``tests/site_words.py`` counts them, of a built site or of one built here."""
    sys.path.insert(0, str(HERE / "tests"))
    import site_words

    def of(built: Path) -> dict[str, int]:
        pages = [
            words for name, words in site_words.counted(built).items() if name not in site_words.LOOKED_UP
        ]
        apart = [words for name, words in site_words.counted(built).items() if name in site_words.LOOKED_UP]
        shown, folded = sum(page.shown for page in pages), sum(page.folded for page in pages)
        looked_up = sum(page.shown + page.folded for page in apart)
        return {"words_unfolded": shown, "words_all": shown + folded, "words_of_pages_looked_up": looked_up}

    if site is not None:
        return of(site)
    with tempfile.TemporaryDirectory() as folder:
        python = checkout / ".venv" / "bin" / "python"
        command = [
            python,
            "-m",
            "sphinx",
            "-b",
            "html",
            "-q",
            "-d",
            f"{folder}/doctrees",
            "docs",
            f"{folder}/html",
        ]
        subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
        return of(Path(folder, "html"))


def minutes_of_tests(junit: Path) -> dict[str, float | int]:
    """From a file that ``pytest --junit-xml`` wrote: tests, and the minutes that they took one after another."""
    cases = xml.parse(junit).getroot().findall(".//testcase")
    seconds = sum(float(case.get("time", 0)) for case in cases)
    return {"tests": len(cases), "minutes_of_tests": round(seconds / 60, 2)}


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", nargs="?", type=Path, default=HERE)
    parser.add_argument("--json", action="store_true", help="Print one JSON object.")
    parser.add_argument("--junit", type=Path, help="What pytest --junit-xml wrote.")
    parser.add_argument("--site", type=Path, help="The built site. Default: built here, in a minute.")
    given = parser.parse_args()
    checkout = given.checkout.resolve()
    counts = {**source_counts(checkout), **option_counts(checkout), **word_counts(checkout, given.site)}
    if given.junit is not None:
        counts |= minutes_of_tests(given.junit)
    if given.json:
        print(json.dumps(counts, indent=1))
        return
    before = json.loads(Path(__file__).with_name("counts_0_2.json").read_text(encoding="utf-8"))
    print(f"{'now':>10}  {'in 0.2':>10}")
    for name, count in counts.items():
        if not isinstance(count, dict):
            why = f": {WHY[name]}" if name in WHY and count >= before.get(name, count + 1) else ""
            print(f"{count:>10,}  {before.get(name, 'none'):>10,}  {name.replace('_', ' ')}{why}")


if __name__ == "__main__":
    main()
