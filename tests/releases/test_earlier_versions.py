"""What 0.1.0 released can still be read and told; nobody signs for it anew."""

import json

import pytest

from released import command

MANIFEST = """
{
 "manifest_version": 1,
 "publius_version": "0.1.0",
 "private": true,
 "promise": "Take any two documents of 5 words.",
 "kind": "bag-of-words",
 "documents": 2,
 "size": 5,
 "size_from": "given",
 "epsilon": 5.0,
 "epsilon_total": 25.0,
 "delta": 5.861922625084711e-184,
 "evidence": "proven",
 "mechanism": "laplace",
 "mechanism_parameters": {},
 "metric": "euclidean",
 "embeddings": "glove-6b-50d",
 "dimension": 50,
 "vocabulary_size": 50000,
 "vocabulary_sha256": "a2907f0bf033c1f9f35f387e642e2b596f994d70f34575bd486f28d3b927066e",
 "tokenizer": "glove-1",
 "stop_words": "english-1",
 "stop_words_sha256": "d970e9041dc359f1624d163b8904f2f9fab933b16571a5c65474d80842628231",
 "unknown": "unk",
 "unknown_token": "<unk>",
 "labels": [],
 "ordered": false,
 "randomness": "ChaCha20 keyed by the operating system",
 "versions": {
  "numpy": "2.4.6"
 }
}
"""
BAGS = [{"id": "a", "size": 5, "bag": {"boat": 2, "gale": 3}}, {"id": "b", "size": 5, "bag": {"cattle": 5}}]


@pytest.fixture
def release(tmp_path):
    """As 0.1.0 wrote it, but for the words."""
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "manifest.json").write_text(MANIFEST)
    (folder / "bags.jsonl").write_text("".join(json.dumps(bag) + "\n" for bag in BAGS))
    return folder


def test_its_guarantee_is_told(release):
    told = json.loads(command("guarantee", "--manifest", release / "manifest.json", "--json")[1])
    assert (told["level"], told["mechanism"], told["epsilon"], told["bound"]) == ("word", "laplace", 5, None)


def test_nobody_signs_for_it_anew(release, tmp_path):
    page = tmp_path / "page.html"
    for more in (["--output", page], ["--json"], ["--metadata", "--receivers", "--output", page]):
        code, _, said = command("signoff", release, *more)
        assert code == 77, said
        assert "signs only for what it wrote itself" in said
        assert "release the texts again" in said
    assert not page.exists()
