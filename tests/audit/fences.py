"""The fences of a checkout as a part of an audit: each holds, and catches its defect when that is put back."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from publius.audit.outcomes import Check, Findings, violations

TESTS = Path(__file__).resolve().parents[1]
"""Beside the source that is audited: neither the working folder nor the environment has a say in it."""


def all_fences() -> list[Any]:
    """Those of ``tests/fences``."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    found = import_module("fences")
    if Path(found.__file__ or "").resolve() != TESTS / "fences" / "__init__.py":
        raise RuntimeError("a package called 'fences' that is not the checkout's was imported before")
    return list(found.all_fences())


def check_fences(fences: Sequence[Any] | None = None) -> Findings:
    """A check for each fence that can be tried here; how many there are, and which could not be."""
    checks: list[Check] = []
    left: list[str] = []
    caught = 0
    for fence in all_fences() if fences is None else fences:
        holds, catches = _falls(fence, broken=False), _falls(fence, broken=True)
        name = f"fence {fence.row}: {fence.name}"
        if None in (holds, catches):
            left.append(name)
            continue
        caught += bool(catches)
        checks.append(violations(name, 2, bool(holds) + (not catches)))
    return Findings(tuple(checks), {"mutants": {"total": len(checks), "caught": caught}, "not tried": left})


def _falls(fence: Any, *, broken: bool) -> bool | None:
    """Whether its check fails, with the defect put back or without; None where a library that it needs is missing."""
    import pytest

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        work = folder / "work"
        work.mkdir(mode=0o700)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("PUBLIUS_HOME", str(folder / "home"))
        if broken:
            fence.broken(patch)
        return _fails(fence.check, work)


def _fails(check: Callable[[Path], None], folder: Path) -> bool | None:
    import pytest

    try:
        check(folder)
    except (AssertionError, pytest.fail.Exception):
        return True
    except pytest.skip.Exception:
        return None
    return False
