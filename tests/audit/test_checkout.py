"""What a checkout adds to an audit is found beside the package's source; an installation says what it lacks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from publius.audit import checkout
from publius.audit.levels import QUICK
from publius.audit.parts import pieces
from publius.audit.report import NOT_TRIED, write_page
from publius.audit.runs import Audit, AuditRequest, machine
from publius.cli.audit import _show

AUDIT = Audit(AuditRequest(QUICK, None, "laplace", 2.0, 1), {}, {}, machine())
FIND = "from publius.audit.checkout import harness; print(harness().__file__)"


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """The package in a folder of packages, with tests of somebody's own beside that."""
    (tmp_path / "tests" / "audit").mkdir(parents=True)
    (tmp_path / "tests" / "audit" / "__init__.py").touch()
    place = tmp_path / "site-packages" / "publius" / "audit" / "checkout.py"
    monkeypatch.setattr(checkout, "__file__", str(place))


def test_neither_the_working_folder_nor_the_path_has_a_say(tmp_path):
    for folder in (tmp_path / "audit", tmp_path / "tests" / "audit"):
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("raise SystemExit('somebody else')")
    path = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", FIND], cwd=tmp_path, env=path, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()) == Path(__file__).with_name("pieces.py")


def test_a_checkout_tries_broken_versions():
    names = {piece.name for piece in pieces(QUICK, "laplace")}
    assert {"theorem", "mutants-noise", "ledger", "observable", "hard-points", "hostile"} <= names


def test_an_installation_tries_what_it_has(installed):
    names = {piece.name for piece in pieces(QUICK, "laplace")}
    assert {"theorem", "documents", "own", "ratios", "release"} <= names
    assert not any(name.startswith("mutants") for name in names)


def test_an_installation_says_what_was_not_tried(tmp_path, capsys):
    _show(AUDIT, tmp_path, json=False)
    assert NOT_TRIED in capsys.readouterr().out
    _show(AUDIT, tmp_path, json=True)
    out, err = capsys.readouterr()
    assert NOT_TRIED in err
    assert json.loads(out)["mutants"] == {"total": 0, "caught": 0}
    write_page(AUDIT, tmp_path, tmp_path / "audit.md")
    page = (tmp_path / "audit.md").read_text()
    assert NOT_TRIED[1:] in page
    assert "0 of 0" not in page
