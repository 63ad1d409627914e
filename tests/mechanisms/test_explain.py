"""``explain`` and ``ledger``: the numbers on a terminal are those of the library."""

import json

import numpy as np
import pytest

import publius
from manifests import drawn, labels_of
from publius.embeddings.embeddings import Embeddings
from publius.privacy.promise import meaning, percent, rounded_up

ONE, OTHER = "The nurse, and the river.", "A doctor at the river"


@pytest.fixture
def asked(run, stored, tmp_path):
    """``explain`` with the stored vectors: the one JSON object that it prints, or with ``said`` the lines."""
    (tmp_path / "a.txt").write_text(ONE)
    (tmp_path / "b.txt").write_text(OTHER)
    rows = ["painter dancer", "doctor river", "nurse river", "bread butter"]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in rows))

    def call(*arguments, said=False, code=0):
        arguments = [tmp_path / each if each in ("a.txt", "b.txt", "c.jsonl") else each for each in arguments]
        vectors = () if "--mechanism=list" in arguments else ("--embeddings", stored)
        ended, out, err = run("explain", *arguments, *vectors, *(() if said or code else ("--json",)))
        assert ended == code, err
        return err if code else out if said else json.loads(out)

    return call


def test_between_two_texts(asked, embeddings):
    lifted = publius.Lifted(publius.Laplace(embeddings, epsilon=2.0), 2)
    found = asked("--between", "a.txt", "b.txt", "--epsilon", 2, "--length", 2, "--plan")
    distance = lifted.distance(ONE, OTHER)
    assert (found["distance"], found["exponent"]) == (distance, lifted.bound(distance).exponent)
    apart = np.linalg.norm(np.subtract(*[embeddings.vectors[embeddings.index(w)] for w in ("nurse", "doctor")]))
    assert found["distance"] == pytest.approx(apart / 2, rel=1e-6)
    assert (found["plan"][0]["from"], found["plan"][0]["to"]) == ("nurse", "doctor")
    assert "Exponent" in asked("--between", "a.txt", "b.txt", said=True)


def test_the_nearest_of_a_corpus(asked):
    found = asked("--between", "a.txt", "c.jsonl", "--nearest", 2, "--length", 2)
    assert [each["row"] for each in found["nearest"]] == [3, 2]
    assert found["nearest"][0]["distance"] == 0


def test_a_setting_and_a_certificate(asked):
    found = asked("--mechanism", "exponential", "--epsilon", 3, "--length", 10)
    assert (found["exponent_per_distance"], found["evidence"]) == (30, "certified")
    assert 0.99 * 3 < found["parameters"]["epsilon_certified"] <= 3
    found = asked("--mechanism", "laplace", "--epsilon", 3)
    said = asked("--mechanism", "laplace", "--epsilon", 3, said=True)
    assert f" {rounded_up(found['nearest_pair'])} " in said  # as on pages: limits are rounded up
    assert f" {percent(found['unchanged'])} " in said
    assert "120" in said
    assert "refuted" in said


def test_a_pair_that_is_no_word_of_the_vectors_has_no_row(run, asked, home):
    Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="poles").save(home / "embeddings" / "poles")
    code, said, _ = run("explain", "--mechanism", "laplace", "--embeddings", "poles")
    assert (code, "differ in one word" in said) == (0, False)
    assert "differ in one word: nurse, doctor" in asked("--mechanism", "laplace", said=True)


def test_mechanisms_at_one_share_unchanged(asked):
    found = asked("--mechanism", "laplace,exponential", "--unchanged", 0.8)["mechanisms"]
    assert [each["mechanism"] for each in found] == ["laplace", "exponential"]
    assert all(each["unchanged"] == pytest.approx(0.8, abs=0.01) for each in found)
    assert found[0]["epsilon"] > found[1]["epsilon"]


def test_a_word_and_a_text(asked, run, tmp_path):
    found = asked("--word", "river", "--mechanism", "exponential", "--epsilon", 2)
    assert (found["word"], found["exact"]) == ("river", True)
    found = asked("--text", "the river xyzzy", "--epsilon", 5, "--length", 4)
    assert (found["words"], found["known"], sum(found["bag"].values())) == (2, 1, 4)
    assert "not in the vocabulary" in asked("--word", "zebra", code=2)


def test_capitals_are_found_where_the_vectors_have_them(run, home):
    vectors = Embeddings.from_arrays(["Chicago", "Illinois", "press"], [[0.0], [1.0], [3.0]], name="big")
    vectors.save(home / "embeddings" / "big")
    _, out, _ = run("explain", "--text", "chicago press", "--length", 2, "--embeddings", "big", "--json")
    assert json.loads(out)["known"] == 2


def test_a_release_by_its_folder(run, tmp_path):
    manifest = labels_of(4)
    folder = drawn(tmp_path / "out", manifest, [{"id": str(n), "label": "other"} for n in range(3)])
    code, out, _ = run("explain", folder)
    assert code == 0
    assert " ".join(meaning(manifest).split()) in " ".join(out.split())
    assert json.loads(run("explain", folder, "--json")[1])["promise"] == manifest.promise


def test_what_is_missing_is_said(asked, run):
    assert "RELEASE" in run("explain")[2]
    assert "second text" in asked("--between", "a.txt", code=2)
    assert "several documents" in asked("--between", "a.txt", "c.jsonl", code=2)
    assert "laplace" in asked("--mechanism", "magic", code=2)


def test_a_ledger_is_made_and_shown(run, tmp_path):
    path = tmp_path / "budget"
    assert run("ledger", "init", path, "--budget", 2.5, "--unit", "exponent")[0] == 0
    publius.Ledger(path).spend({"Ann": 1.5})
    found = json.loads(run("ledger", "show", path, "--json")[1])
    assert (found["budget"], found["unit"], found["debits"]) == (2.5, "exponent", 1)
    assert found["accounts"] == [{"author": "ann", "spent": 1.5, "remaining": 1.0, "releases": 1}]
    assert run("ledger", "init", path, "--budget", 2)[0] == 2
    assert "ann" in run("ledger", "show", path)[1]
