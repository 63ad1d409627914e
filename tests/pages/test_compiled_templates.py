"""Compiled templates are kept beside compiled modules, else at home, and a page is the same with none kept."""

import os
import sys
from pathlib import Path

import jinja2
import pytest

from manifests import MADE
from publius.pages import page as module
from publius.pages.facts import facts_of
from publius.pages.page import render


def words():
    manifest, row = MADE["words"]
    return render("release.html", facts_of(manifest, row, None))


def kept(folder):
    return [*folder.rglob("*.cache")]


@pytest.fixture
def homes(tmp_path, monkeypatch):
    """A home, and a folder of compiled modules, of a Python that keeps them."""
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "home", tmp_path / "python"


def test_beside_compiled_modules(homes, monkeypatch):
    page, (home, python) = words(), homes
    assert len(kept(python)) > 1
    assert not home.exists()
    monkeypatch.setattr(jinja2.Environment, "_parse", None)  # whoever compiles again fails
    module._environment.cache_clear()
    assert words() == page


@pytest.mark.parametrize("why", ["python keeps none", "may not write", "is a file"])
def test_at_home_where_there_is_no_place_beside_them(homes, monkeypatch, why):
    home, python = homes
    if why == "python keeps none":
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
    elif why == "may not write":
        may = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: python not in Path(path).parents and may(path, mode))
    else:
        python.touch()
    page = words()
    assert len(kept(home / "templates")) > 1
    assert kept(python) == []
    (home.parent / "none").touch()
    monkeypatch.setenv("PUBLIUS_HOME", str(home.parent / "none"))
    assert words() == page
