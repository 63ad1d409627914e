"""Rows without ids, in a random order: what the crowd adds for each author stands in the release."""

from __future__ import annotations

import csv
import json

import pytest

import publius
from publius.mechanisms.randomized_response import RandomizedResponse
from released import command

VALUES = [f"v{number}" for number in range(20)]


@pytest.fixture
def complaints(tmp_path, monkeypatch):
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "home"))
    path = tmp_path / "complaints.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "product", "author"])
        rows.writerows([f"zzid{k}", "text", VALUES[k % 20], f"author {k // 2}"] for k in range(200))
    return path


def released(complaints, out, *more):
    given = ["--preserve", "field:product", "--values", ",".join(VALUES), "--bound", "5", "--shuffled"]
    return command("obfuscate", str(complaints), *given, "--output", str(out), "--json", *more)


def test_the_crowd_stands_in_manifest_promise_and_guarantee(complaints, tmp_path):
    out = tmp_path / "out"
    code, said, error = released(complaints, out)
    assert code == 0, error
    crowd = json.loads(said)["crowd"]
    expected = publius.Shuffled(RandomizedResponse("product", VALUES, bound=5), documents=200).guarantee
    assert crowd == expected.as_json
    assert 4.0 < crowd["epsilon"] <= 5.0  # 4.033 at 1e-6 for 20 outcomes and 200 rows
    assert not any(b"zzid" in path.read_bytes() for path in out.iterdir())
    manifest = json.loads((out / "manifest.json").read_text())
    assert "how many rows there are is public" in manifest["promise"]
    code, said, _ = command("guarantee", "--manifest", str(out), "--json")
    assert (code, json.loads(said)["crowd"]) == (0, crowd)


def test_an_author_with_more_documents_than_declared_is_refused(complaints, tmp_path):
    assert released(complaints, tmp_path / "a", "--subject-field", "author")[0] in (2, 65)
    code, said, error = released(complaints, tmp_path / "b", "--documents-per-author", "2")
    assert code == 0, error
    two = json.loads(said)["crowd"]
    assert two["documents_per_author"] == 2
    one = publius.Shuffled(RandomizedResponse("product", VALUES, bound=5), documents=200).guarantee
    assert two["epsilon"] > one.epsilon
    assert two["delta"] == one.delta


def test_what_tells_rows_apart_is_refused(complaints, tmp_path):
    assert released(complaints, tmp_path / "a", "--keep", "author")[0] == 2
    given = ["obfuscate", str(complaints), "--epsilon", "2", "--length", "2", "--shuffled"]
    assert command(*given, "--output", str(tmp_path / "b"))[0] == 2


def test_a_release_with_ids_states_no_crowd(complaints, tmp_path):
    given = ["--preserve", "field:product", "--values", ",".join(VALUES), "--bound", "5"]
    code, said, _ = command("obfuscate", str(complaints), *given, "--output", str(tmp_path / "o"), "--json")
    assert code == 0
    assert "crowd" not in json.loads(said)
