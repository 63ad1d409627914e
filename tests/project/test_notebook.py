"""examples/figures.ipynb runs from its first cell to its last: ``make notebook``."""

import json
import os
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "examples" / "figures.ipynb"
NOTEBOOK = json.loads(PATH.read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_it_is_small():
    assert PATH.stat().st_size < 300_000


def test_its_code_compiles_and_its_figures_are_checked():
    for cell in CODE:
        compile(cell, "figures.ipynb", "exec")
    assert sum("plt.show()" in cell for cell in CODE) == 5
    assert sum("assert " in cell for cell in CODE) >= 4


def test_what_it_holds_of_earlier_runs_has_no_error_and_no_path():
    text = json.dumps([cell.get("outputs", []) for cell in NOTEBOOK["cells"]])
    assert '"error"' not in text
    assert "/home/" not in text
    assert "/tmp/" not in text


def test_it_runs(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: make notebook")
    import nbformat

    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    book = nbformat.reads(PATH.read_text(encoding="utf-8"), as_version=4)
    nbclient.NotebookClient(book, timeout=900, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in book.cells for output in cell.get("outputs", ()) if "data" in output]
    assert sum("image/png" in output["data"] for output in shown) == 5
    if target := os.environ.get("PUBLIUS_KEEP_NOTEBOOK"):  # to keep its figures: a path
        for cell in book.cells:
            cell.metadata.pop("execution", None)
        nbformat.write(book, target)
