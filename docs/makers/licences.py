"""Write docs/reference/licences.md from the metadata of what is installed. ``make pages`` runs it; a test compares."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "licences.md"
_HEAD = """\
# Licences of what Publius stands on

Made by `docs/makers/licences.py` from the metadata of the packages that the project's environments hold; nothing on
it is typed. The whole closure is listed: what Publius needs, and what that needs in turn. Versions are those that the
project is tested with; others that `pyproject.toml` allows may come under other terms. Publius itself is Apache-2.0,
and none of these packages is part of its wheel.
"""
_LONG = 60
_ABSENT = "not installed here"


def page() -> str:
    """The whole page: a table for the core, and one for what each extra adds, as it was for one not installed here."""
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return "\n".join([_HEAD, *(_kept(text, before) for _, text in sections())])


def _kept(text: str, before: str) -> str:
    title = text.partition("\n")[0]
    if _ABSENT not in text or f"{title}\n" not in before:
        return text
    return title + before.partition(title)[2].partition("\n## ")[0].removesuffix("\n") + "\n"


def sections() -> Iterator[tuple[str, str]]:
    """Name and text of each table."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    core = _closure(project["dependencies"], _installed())
    yield "core", _table("Core", core)
    for name in sorted(extras):
        found = _closure(_flat(name, extras), _installed(name))
        yield name, _table(f"Extra `{name}`", {key: value for key, value in found.items() if key not in core})


def _installed(extra: str = "") -> dict[str, Distribution]:
    """Installed distributions by name; those of Spark are in an environment of their own."""
    paths = sorted(map(str, ROOT.glob(".venv-spark/lib/python*/site-packages"))) if extra == "spark" else []
    found = [*distributions(), *(distributions(path=paths) if paths else ())]
    return {_normal(each.metadata["Name"]): each for each in found}


def _flat(name: str, extras: dict[str, list[str]]) -> list[str]:
    found: list[str] = []
    for each in extras[name]:
        inner = re.fullmatch(r"publius\[(.+)\]", each)
        found += _flat(inner[1], extras) if inner else [each]
    return found


def _closure(lines: list[str], there: dict[str, Distribution]) -> dict[str, Distribution | None]:
    """Everything asked for, directly or not, on this system and Python."""
    found: dict[str, Distribution | None] = {}
    waiting = [Requirement(line) for line in lines]
    while waiting:
        wanted = waiting.pop()
        name = _normal(wanted.name)
        if name in found:
            continue
        found[name] = there.get(name)
        for line in (found[name].requires if found[name] else None) or ():
            inner = Requirement(line)
            asked = wanted.extras or {""}
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in asked):
                waiting.append(inner)
    return dict(sorted(found.items()))


def _table(title: str, found: dict[str, Distribution | None]) -> str:
    rows = [f"| {name} | {each.version if each else ''} | {_licence(each)} |" for name, each in found.items()]
    body = (
        ["| package | version | licence |", "|---|---|---|", *rows] if rows else ["Nothing beyond the core."]
    )
    return "\n".join([f"## {title}", "", *body, ""])


def _licence(each: Distribution | None) -> str:
    """The licence expression; else the classifiers; else the short name in the licence field."""
    if each is None:
        return _ABSENT
    data = each.metadata
    kinds = [
        line.split(" :: ")[-1] for line in data.get_all("Classifier") or () if line.startswith("License ::")
    ]
    text = " ".join((data["License"] or "").split())
    short = text if len(text) <= _LONG else ""
    return (data["License-Expression"] or "; ".join(kinds) or short or "see the package").replace("|", "\\|")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
