"""What the targets of the Makefile say, and what they run."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("target", "variable", "package"),
    [("e2e", "CHROMIUM", "chromium"), ("spark", "JAVA", "openjdk-17-jre-headless"),
     ("release", "SSH_KEYGEN", "openssh-client")],
)  # fmt: skip
def test_what_is_lacking_is_named_before_anything_is_made(target, variable, package, tmp_path):
    made = tmp_path / "environment"
    places = [f"{name}={made}" for name in ("VENV", "E2E", "SPARK", "RELEASE")]
    done = subprocess.run(
        ["make", target, f"{variable}=/no/such/program", *places], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 2
    first, *rest = done.stderr.splitlines()
    assert first == f"make {target} needs " + first.partition(" needs ")[2]
    assert first.endswith(f"on Debian, apt-get install {package}")
    assert all("***" in line for line in rest)  # what make itself says of a target that failed
    assert not made.exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_a_python_that_is_too_old_is_named_before_anything_is_made(tmp_path):
    old, made = tmp_path / "python", tmp_path / "environment"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = subprocess.run(
        ["make", "setup", f"PYTHON={old}", f"VENV={made}"], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 2
    first, *rest = done.stderr.splitlines()
    assert first == "Publius needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"
    assert all("***" in line for line in rest)
    assert not made.exists()


def test_every_version_that_is_broken_on_purpose_is_tried_by_the_gate():
    """By `make test` or by `make test-broken`, which looks in these folders only."""
    folders = re.search(r"^BROKEN := (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[
        1
    ].split()
    mark = "mark." + "broken"
    marked = [path for path in ROOT.glob("tests/**/*.py") if mark in path.read_text(encoding="utf-8")]
    assert marked
    assert all(any(path.is_relative_to(ROOT / folder) for folder in folders) for path in marked)
    assert re.findall(r"make test(?:-broken)?$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE) == [
        "make test-broken", "make test",
    ]  # fmt: skip
