"""How large Publius is, by one measure for any version: ``python tests/project/counts.py [CHECKOUT]``.

Modules, lines of src and tests, commands, options (named in the help of every command), words of docs written by hand, and
concepts that the terminal of the demo makes a curator meet.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
GIVEN_UP = (
    "bound nats reference prototype theme aspect crowd floor holder probability_kept strength stratum meaning evidence "
    "verdict fence level ordered baseline preserve receivers"
).split()


def lines(folder: Path) -> tuple[int, int]:
    """Files and lines of Python below a folder."""
    files = [path for path in folder.rglob("*.py") if "__pycache__" not in path.parts]
    return len(files), sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def help_of(root: Path, *command: str) -> str:
    """The help of a command of the checkout at ``root``, without colours."""
    program = root / ".venv" / "bin" / "publius"
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}
    found = subprocess.run([str(program), *command, "--help"], capture_output=True, text=True, env=environment)
    return re.sub(r"\x1b\[[0-9;]*m", "", found.stdout)


def commands(root: Path) -> list[tuple[str, ...]]:
    """Every command that takes options, those of groups as pairs."""

    def listed(text: str) -> list[str]:
        return re.findall(r"^(?:│ | {1,3})([a-z][a-z-]+)\s{2,}[A-Z]", text, re.M)

    found: list[tuple[str, ...]] = []
    for name in listed(help_of(root)):
        text = help_of(root, name)
        if re.search(r"^.*publius \S+ COMMAND", text, re.M):
            found += [(name, part) for part in listed(text)]
        else:
            found.append((name,))
    return found


def options(text: str) -> set[str]:
    """The options that a help names."""
    return set(re.findall(r"--[a-z][a-z-]+", text)) - {"--help", "--version"}


def concepts(root: Path) -> list[str]:
    """Terms of the glossary, and of those that 1.0 gave up, that the terminal of the demo makes a curator meet."""
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = {*re.findall(r"^\| ([a-z][a-z' -]+) \|", glossary, re.M), *GIVEN_UP} - {"concept", "term"}
    command = ["demo"] if "preserve" in help_of(root, "demo") else ["start", "--demo"]
    with tempfile.TemporaryDirectory() as folder:
        program = [str(root / ".venv" / "bin" / "publius"), *command, "--output", f"{folder}/demo"]
        done = subprocess.run(program, capture_output=True, text=True, env={**os.environ, "PUBLIUS_HOME": folder})
    told = done.stdout.lower()
    return sorted(term for term in terms if re.search(rf"\b{re.escape(term)}s?\b", told))


def words(root: Path) -> int:
    """Words of README, SECURITY, CONTRIBUTING, CHANGELOG and the pages of docs that nobody generates."""
    pages = [root / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += [page for page in (root / "docs").rglob("*.md") if "made by" not in page.read_text(encoding="utf-8")[:300]]
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages if page.exists())


def main() -> None:
    """Print the table."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    modules, source = lines(root / "src")
    tests, checks = lines(root / "tests")
    every = commands(root)
    counted = {" ".join(command): len(options(help_of(root, *command))) for command in every}
    print(f"modules of src       {modules:>8,}\nlines of src         {source:>8,}")
    print(f"files of tests       {tests:>8,}\nlines of tests       {checks:>8,}")
    print(f"commands             {len({command[0] for command in every}):>8,}")
    print(f"options              {sum(counted.values()):>8,}   ", ", ".join(f"{k} {v}" for k, v in counted.items()))
    print(f"words of docs        {words(root):>8,}")
    met = concepts(root)
    print(f"concepts             {len(met):>8,}   ", ", ".join(met))


if __name__ == "__main__":
    main()
