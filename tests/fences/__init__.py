"""Fences: what must hold around the mechanisms, each with the defect that it was built against.

A fence is a check and its broken version. The check passes on the product and raises AssertionError once the defect
is put back: a check that cannot fail shows nothing. Every module of this package holds ``FENCES``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest


@dataclass(frozen=True)
class Fence:
    """One defect that was seen, and the check that catches it.

    Attributes:
        row: the number of the defect in SECURITY.md.
        name: what must hold, as a sentence.
        check: raises AssertionError where it does not hold; gets an empty private folder to work in.
        broken: puts the defect back for as long as the patches stand.

    """

    row: int
    name: str
    check: Callable[[Path], None]
    broken: Callable[[pytest.MonkeyPatch], None]


def all_fences() -> Iterator[Fence]:
    """Every fence of every module here, by module name."""
    for module in sorted(iter_modules(__path__), key=lambda found: found.name):
        if not module.name.startswith("test_"):
            yield from import_module(f"{__name__}.{module.name}").FENCES
