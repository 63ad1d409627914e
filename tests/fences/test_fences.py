"""Every fence holds, and every broken version is caught by its own check."""

from __future__ import annotations

from pathlib import Path

import pytest

from fences import Fence, all_fences

FENCES = [pytest.param(fence, id=f"{fence.row}: {fence.name}") for fence in all_fences()]


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("fence", FENCES)
def test_it_holds(fence: Fence, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o700)
    fence.check(folder)


@pytest.mark.parametrize("fence", FENCES)
def test_the_broken_version_is_caught(fence: Fence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o700)
    fence.broken(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        fence.check(folder)
