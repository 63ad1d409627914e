"""The installed software: versions, extras, processors, BLAS."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any, Final, final

_REQUIREMENT: Final = re.compile(r"\s*(?P<name>[A-Za-z0-9._-]+)\s*(?P<bounds>[^;]*)(?:;(?P<marker>.*))?")
_BOUND: Final = re.compile(r"(>=|<=|==|!=|<|>)\s*([0-9][0-9A-Za-z.*+]*)")
_EXTRA: Final = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


@final
@dataclass(frozen=True)
class Dependency:
    """A package that Publius asks for.

    Attributes:
        name: of the package.
        wanted: the versions that are asked for, as written; empty for any.
        installed: its version; None when it is absent.
        extra: the extra that asks for it; None for Publius itself.

    """

    name: str
    wanted: str
    installed: str | None
    extra: str | None

    @property
    def satisfied(self) -> bool:
        """Whether it is there in a version that is asked for."""
        return self.installed is not None and within(self.installed, self.wanted)


@final
@dataclass(frozen=True)
class Library:
    """A library of linear algebra that is loaded, and how many threads it uses."""

    name: str
    version: str
    threads: int


def dependencies() -> list[Dependency]:
    """Requirements of the installed Publius, its own needs first."""
    found = [_dependency(line) for line in requires("publius") or () if not _is_own_extra(line)]
    return sorted(found, key=lambda each: (each.extra is not None, each.extra or "", each.name))


def extras(found: Sequence[Dependency]) -> dict[str, bool]:
    """Each extra and whether all it asks for is there."""
    names = sorted({each.extra for each in found if each.extra is not None})
    return {name: all(each.satisfied for each in found if each.extra == name) for name in names}


def machine() -> dict[str, Any]:
    """System, Python, processors and memory."""
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count() or 1,
        "processors_allowed": _allowed(),
        "memory_gb": _memory(),
    }


def libraries() -> list[Library]:
    """The BLAS libraries that numpy and scipy load."""
    from threadpoolctl import threadpool_info

    import_module("scipy.linalg")
    return [
        Library(str(each["internal_api"]), str(each["version"]), int(each["num_threads"]))
        for each in threadpool_info()
        if each["user_api"] == "blas"
    ]


def within(installed: str, wanted: str) -> bool:
    """Whether a version is one of those asked for, such as ``>=2.2,<3`` or ``==4.3.*``, by its numbers."""
    return all(_holds(_numbers(installed), sign, bound) for sign, bound in _BOUND.findall(wanted))


def _holds(found: tuple[int, ...], sign: str, bound: str) -> bool:
    wanted = _numbers(bound)
    if bound.endswith(".*"):
        same = found[: len(wanted)] == wanted
        return not same if sign == "!=" else same
    length = max(len(found), len(wanted))
    left, right = _padded(found, length), _padded(wanted, length)
    return {
        ">=": left >= right,
        "<=": left <= right,
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        ">": left > right,
    }[sign]


def _numbers(text: str) -> tuple[int, ...]:
    """The release numbers at the start of a version: ``2.0.1rc1`` is (2, 0, 1)."""
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _padded(numbers: tuple[int, ...], length: int) -> tuple[int, ...]:
    return numbers + (0,) * (length - len(numbers))


def _dependency(line: str) -> Dependency:
    found = _REQUIREMENT.match(line)
    name, bounds, marker = found.group("name", "bounds", "marker") if found else (line, "", "")
    extra = _EXTRA.search(marker or "")
    return Dependency(name, bounds.strip(), _installed(name), extra[1] if extra else None)


def _is_own_extra(line: str) -> bool:
    """An extra may name another one as ``publius[other]``."""
    return line.lower().startswith("publius[")


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _allowed() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return None
