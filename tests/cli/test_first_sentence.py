"""The time to the first sentence is mostly that of imports: a release of words loads no library that it does not use."""

import json
import subprocess
import sys

import pytest

RUN = """
import sys
from publius.cli import run
code = run(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""
UNUSED = {
    "rich", "jinja2", "scipy", "sklearn", "pyarrow", "pydantic", "multiprocessing", "importlib.metadata",
    "publius.mechanisms.kernels.tight", "publius.cli.inputs",
}  # fmt: skip


def loaded(*arguments):
    found = subprocess.run([sys.executable, "-c", RUN, *map(str, arguments)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout, {*found.stderr.split()}


def test_rows_alone_load_nothing_else(tmp_path, stored):
    (tmp_path / "one.jsonl").write_text('{"text": "the river bends"}\n')
    asked = ("--epsilon", 10, "--length", 4, "--embeddings", stored, "--output", "-")
    said, modules = loaded("obfuscate", tmp_path / "one.jsonl", *asked)
    assert json.loads(said)["size"] == 4
    assert modules & UNUSED == set()
    assert "publius.mechanisms.kernels.laplace" in modules


def test_a_folder_loads_its_pages_and_nothing_that_explains(tmp_path, stored):
    (tmp_path / "one.jsonl").write_text('{"text": "the river bends"}\n')
    asked = ("--epsilon", 4, "--length", 4, "--embeddings", stored, "--output", tmp_path / "out")
    said, modules = loaded("obfuscate", tmp_path / "one.jsonl", *asked)
    assert "1 rows of words." in said
    assert modules & UNUSED == {"jinja2"}
    assert modules & {"publius.mechanisms.finite.base", "publius.privacy.bounds"} == set()


@pytest.mark.parametrize("command", ["obfuscate", "models"])
def test_help_loads_no_renderer_and_no_other_command(command):
    said, modules = loaded(command, "--help")
    assert said.startswith(f"Usage: publius {command} ")
    assert modules & {"rich", "numpy", "publius.cli.measure"} == set()
