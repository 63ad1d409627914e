"""The blocks of docs/formats.md run as they stand, where their libraries are installed, and print what they say."""

import importlib
import re
import warnings
from pathlib import Path

import pytest

from publius.embeddings import package_installed

PAGE = (Path(__file__).parent.parent / "docs" / "formats.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(# needs: (\w+)\n.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_every_block_says_what_it_needs():
    assert len(BLOCKS) == PAGE.count("```python") == 6


def importable(library):
    """Skip unless it is installed; its own warnings at import are none of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            importlib.import_module(library)
        except ModuleNotFoundError:
            pytest.skip(f"{library} is not installed: make ecosystem")


@pytest.mark.parametrize(
    ("block", "library"), BLOCKS, ids=[f"{n}-{name}" for n, (_, name) in enumerate(BLOCKS)]
)
def test_block(block, library, capsys, monkeypatch, tmp_path):
    if "Embeddings.load()" in block and not package_installed():
        pytest.skip("the extra glove is not installed")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    importable(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(block, "docs/formats.md", "exec"), {"__name__": "example"})
    expected = re.findall(r"^ *print\(.*\)  # (.*)$", block, flags=re.MULTILINE)
    assert expected
    assert capsys.readouterr().out.splitlines() == expected
