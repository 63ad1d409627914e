"""The paper map and the threat model name modules and tests that exist; made pages are current."""

import ast
import importlib
import re
import sys
from pathlib import Path

import pytest

from publius.mechanisms.kernel import Kernel
from publius.mechanisms.registry import DOCUMENT_MECHANISMS, MECHANISMS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [DOCS / "paper-map.md", DOCS / "threat-model.md"]
sys.path.insert(0, str(DOCS / "makers"))


def mentions(pattern):
    return sorted(
        {found for page in PAGES for found in re.findall(pattern, page.read_text(encoding="utf-8"))}
    )


@pytest.mark.parametrize("name", mentions(r"`(tests/[\w/]+\.py::\w+)`"))
def test_the_test_exists(name):
    path, _, function = name.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", mentions(r"`(publius\.[\w.]+)`"))
def test_the_module_or_name_exists(name):
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return
    pytest.fail(name)


def rows(page):
    text = page.read_text(encoding="utf-8")
    return [
        re.split(r"(?<!\\)\|", line)[1:-1]
        for line in text.splitlines()
        if re.match(r"\| (?!item|tool|\||-)", line)
    ]


def missing_rows(mechanism, kind, texts):
    """Where a registered mechanism is not told of: the page, and what is missing there."""
    page, said = (
        ("mechanisms.md", f"| `{mechanism}` |")
        if issubclass(kind, Kernel)
        else ("documents.md", f"- **`{mechanism}`**")
    )
    found = [] if said in texts[page] else [f"docs/{page} lacks {said}"]
    names = (f"`{kind.__module__}`", f"`{kind.__module__}.")
    return (
        found
        if any(name in texts["paper-map.md"] for name in names)
        else [*found, f"docs/paper-map.md lacks {names[0]}"]
    )


def pages():
    return {
        name: (DOCS / name).read_text(encoding="utf-8")
        for name in ("mechanisms.md", "documents.md", "paper-map.md")
    }


@pytest.mark.parametrize(("name", "kind"), {**MECHANISMS, **DOCUMENT_MECHANISMS}.items())
def test_every_registered_mechanism_has_its_rows(name, kind):
    assert missing_rows(name, kind, pages()) == []


def test_a_missing_row_is_named():
    texts = {
        name: text.replace("`vickrey`", "").replace("publius.mechanisms.kernels.vickrey", "")
        for name, text in pages().items()
    }
    assert missing_rows("vickrey", MECHANISMS["vickrey"], texts) == [
        "docs/mechanisms.md lacks | `vickrey` |", "docs/paper-map.md lacks `publius.mechanisms.kernels.vickrey`",
    ]  # fmt: skip


@pytest.mark.parametrize("row", rows(DOCS / "paper-map.md"), ids=lambda row: row[0].strip()[:40])
def test_every_item_has_a_place_and_a_test(row):
    item, source, where, test, _ = (cell.strip() for cell in row)  # without a status it is implemented
    assert item
    assert source
    assert "`publius." in where
    assert "::test_" in test


@pytest.mark.parametrize(
    "word", ["Definition", "Lemma", "Theorem", "Corollary 1", "Algorithm 1", "Algorithm 2", "Table 1"]
)
def test_every_kind_of_item_is_there(word):
    assert any(row[0].strip().startswith(word) for row in rows(DOCS / "paper-map.md"))


def test_every_requirement_is_there():
    text = (DOCS / "threat-model.md").read_text(encoding="utf-8")
    found = [int(number) for number in re.findall(r"^\| R(\d+) \|", text, re.MULTILINE)]
    assert found == sorted({*found, *range(1, 29)}), "in order, each once"


def test_the_manual_is_current():
    """After a change of a command: make pages."""
    import manual

    assert manual.PAGE.read_text(encoding="utf-8") == manual.page()


@pytest.mark.long
def test_the_licences_are_current():
    """After a change of the pins: make pages. A table whose packages are not in this environment is not compared."""
    licences = pytest.importorskip("licences", reason="needs packaging")
    page = licences.PAGE.read_text(encoding="utf-8")
    compared = [
        name for name, text in licences.sections() if "not installed here" not in text and text in page
    ]
    differ = [
        name for name, text in licences.sections() if "not installed here" not in text and text not in page
    ]
    assert not differ
    assert "core" in compared


def test_the_figure_of_unknown_words_shows_the_table():
    figures = pytest.importorskip("figures", reason="needs matplotlib")
    epsilons, columns = figures.unknown_words_table()
    assert epsilons == ["none", "40", "30", "25", "20", "15", "10"]
    assert columns["topic, unknown words pass"] == [20.0] * 7
    assert columns["topic, every word protected"][-1] == 10.0
