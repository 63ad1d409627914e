"""Every fence holds, and every broken version is caught by its own check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from fences import Fence, all_fences
from homes import home_at

FENCES = [pytest.param(fence, id=f"{fence.row}: {fence.name}") for fence in all_fences()]
FIRST = {fence.row: fence.name for fence in reversed([*all_fences()])}
"""One of each row of the table; `make test-broken` tries the others."""
BROKEN = [
    pytest.param(
        fence, id=f"{fence.row}: {fence.name}", marks=[pytest.mark.broken] * (FIRST[fence.row] != fence.name)
    )
    for fence in all_fences()
]


# Those of the one fence that looks at figures are drawn in processes of their own.
pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBLIUS_HOME", str(home_at(tmp_path / "home")))


@pytest.mark.parametrize("fence", FENCES)
def test_it_holds(fence: Fence, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o700)
    fence.check(folder)


@pytest.fixture
def _no_dead_resource_tracker() -> Iterator[None]:
    """Python's own helper process, the resource tracker, dies of a planted module too, up to seconds after the test.

    Python warns whoever finds it dead, and a warning is an error here: so the test waits for its end.
    """
    yield
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("_no_dead_resource_tracker")
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore:resource_tracker:UserWarning"
)
@pytest.mark.parametrize("fence", BROKEN)
def test_the_broken_version_is_caught(fence: Fence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o700)
    fence.broken(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        fence.check(folder)


def test_every_row_of_the_table_has_a_fence() -> None:
    """The table stands in SECURITY.md: 21 defects that were seen."""
    text = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    rows = [int(found) for found in re.findall(r"^\| (\d+) \|", text, flags=re.MULTILINE)]
    assert rows == [*range(1, 22)]
    assert {fence.row for fence in all_fences()} == {*rows}
