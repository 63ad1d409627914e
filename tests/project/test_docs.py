"""README and docs: every code block runs, pages keep to their size, links lead somewhere."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"(<!-- not run: [^>]+ -->\n+)?```(python|console)\n(.*?)```", re.S)
LIMITS = {"README.md": 700, "SECURITY.md": 1_200, "CONTRIBUTING.md": 400, "docs/design.md": 1_000}


def blocks(page):
    for skipped, kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if not skipped:
            yield kind, text


def fits(printed, expected):
    """Whether what is printed has the expected lines in order; ... stands for anything."""
    pattern = ".*".join(re.escape(" ".join(part.split())) for part in expected.split("..."))
    return re.search(pattern.replace(r"\ ", r"\s+"), " ".join(printed.split()), re.S) is not None


def run_console(text, folder, run):
    """Commands of ours in this process, which has imported most of it; pipes and others in a shell."""
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", text, re.M)
    assert commands, text
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    for command, expected in commands:
        line = command.replace("\\\n", " ")
        if line.startswith("publius ") and not re.search(r"[|<>;]", line.replace("'", "")):
            code, out, err = run(*shlex.split(line)[1:])
        else:
            done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True)
            code, out, err = done.returncode, done.stdout, done.stderr
        assert code == 0, (line, err)
        assert fits(out + err, expected), (line, out, err)


@pytest.mark.parametrize("page", [page for page in PAGES if list(blocks(page))], ids=lambda page: page.name)
def test_code_blocks_run(page, tmp_path, monkeypatch, run):
    """In the order of the page, in one folder: Python blocks share their names."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "docs"}
    for kind, text in blocks(page):
        if kind == "console":
            run_console(text, tmp_path, run)
        else:
            exec(compile(text, page.name, "exec"), names)


def test_pages_keep_to_their_size():
    words = {str(page.relative_to(ROOT)): len(page.read_text(encoding="utf-8").split()) for page in PAGES}
    assert {name: words[name] for name, limit in LIMITS.items() if words[name] > limit} == {}
    assert sum(count for name, count in words.items() if name.startswith("docs/")) <= 15_000


def first_column(page, heading):
    """What stands in code in the first column of the table with this heading."""
    _, _, below = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(f"\n| {heading} |")
    cells = [line.split("|")[1] for line in below.partition("\n\n")[0].splitlines()[2:]]
    return sorted(name for cell in cells for name in re.findall(r"`([^`]+)`", cell))


def test_tables_hold_every_mechanism_and_classifier():
    from typing import get_args

    from publius.classifiers.classifier import Kind
    from publius.mechanisms.registry import KERNELS

    assert first_column("words.md", "`--mechanism`") == sorted([*KERNELS, "python:MODULE:CLASS"])
    assert first_column("labels.md", "classifier") == sorted(get_args(Kind))


def test_links_lead_somewhere():
    wrong = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                wrong.append(f"{page.name}: {target}")
    assert wrong == []


def test_every_command_of_the_docs_exists():
    from publius.cli import COMMANDS

    known = {name for commands in COMMANDS.values() for name in commands}
    for page in PAGES:
        for line in re.findall(r"publius ([a-z]+)", page.read_text(encoding="utf-8")):
            assert line in known or page.name == "CHANGELOG.md", (page.name, line)


def test_shell_words_can_be_parsed():
    for page in PAGES:
        for kind, text in blocks(page):
            for line in re.findall(r"^\$ (.*)$", text, re.M) if kind == "console" else ():
                shlex.split(line.rstrip("\\"))


def test_the_paper_map_names_tests_and_code_that_exist():
    import importlib

    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    for path, name in set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)):
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), (path, name)
    for name in set(re.findall(r"`(publius(?:\.\w+)+)`", text)):
        parts = name.split(".")
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(".".join(parts[:-1])), parts[-1]), name
