"""A target that needs what pip does not bring says so in one line, before it makes anything."""

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
