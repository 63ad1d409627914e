"""``publius embeddings``: what is printed, stored and returned."""

import json
import sys

import pytest

from publius.vectors.catalogue import package_installed, stored_names
from publius.vectors.embeddings import Embeddings
from vector_files import VECTORS, WORDS, glove, word2vec_binary


@pytest.fixture
def file(tmp_path):
    (tmp_path / "v.bin").write_bytes(word2vec_binary())
    return tmp_path / "v.bin"


def test_import_info_verify_list(publius, file):
    code, out, err = publius("embeddings", "import", file, "--name", "mine", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    expected = Embeddings.from_arrays(WORDS, VECTORS)
    assert facts.pop("folder").endswith("/embeddings/mine")
    assert facts.pop("source")["format"] == "word2vec-binary"
    assert facts == {
        "name": "mine", "size": 4, "dimension": 3, "sha256": expected.sha256, "tokenizer": "word2vec",
        "unknown_stands_at": expected.word(expected.unknown_index),
    }  # fmt: skip
    assert publius("embeddings", "info", "mine", "--json")[1] == out
    verified = json.loads(publius("embeddings", "verify", "mine", "--json")[1])
    assert verified == {"name": "mine", "verified": True, "sha256": expected.sha256}
    listed = json.loads(publius("embeddings", "list", "--json")[1])["embeddings"]
    assert [entry["name"] for entry in listed] == ["glove-6b-50d", "glove-6b-50d-400k", "mine"]
    assert listed[-1]["sha256"] == expected.sha256


def test_text_for_people(publius, file):
    out = publius("embeddings", "import", file, "--name", "mine")[1]
    assert "size               4\n" in out
    assert "unknown stands at" in out
    assert "mine" in publius("embeddings", "list")[1]
    assert "verified" in publius("embeddings", "verify", "mine")[1]


def test_import_options(publius, tmp_path):
    (tmp_path / "v.txt").write_bytes(glove() + b"bad\x1b 1 2 3\n")
    (tmp_path / "words").write_text("house\n数据\nabsent\n", encoding="utf-8")
    arguments = ("embeddings", "import", tmp_path / "v.txt", "--json")
    vocabulary = ("--vocabulary", tmp_path / "words", "--tokenizer", "word2vec")
    facts = json.loads(publius(*arguments, "--name", "a", *vocabulary)[1])
    assert (facts["size"], facts["tokenizer"], facts["source"]["vocabulary"]) == (2, "word2vec", 3)
    facts = json.loads(publius(*arguments, "--name", "b", "--limit", "3")[1])
    assert (facts["size"], facts["source"]["limit"]) == (3, 3)
    out = publius(*arguments[:-1], "--name", "c", "--skip-bad-rows")[1]
    assert "left out: a control character in the word  1" in out
    assert stored_names() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("import", "FILE", "--name", "../up"),
        ("import", "FILE", "--name", "glove-6b-50d"),
        ("import", "FILE", "--name", "taken"),
        ("import", "FILE", "--name", "a", "--tokenizer", "none"),
        ("import", "FILE", "--name", "a", "--limit", "0"),
        ("import", "FILE"),
        ("info", "absent"),
        ("verify", "absent"),
        ("nothing",),
    ],
)
def test_wrong_calls(publius, file, arguments):
    assert publius("embeddings", "import", file, "--name", "taken")[0] == 0
    code, out, err = publius("embeddings", *(file if part == "FILE" else part for part in arguments))
    assert (code, out) == (2, "")
    assert err
    assert stored_names() == ["taken"]


def test_progress_is_for_terminals_only(publius, file, monkeypatch):
    assert publius("embeddings", "import", file, "--name", "other", "--json")[2] == ""
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True, raising=False)
    _, out, err = publius("embeddings", "import", file, "--name", "mine", "--json")
    assert json.loads(out)["size"] == 4
    assert "rows read" in err


@pytest.mark.skipif(not package_installed(), reason="the extra glove is not installed")
def test_packaged_info_and_verify(publius):
    facts = json.loads(publius("embeddings", "info", "glove-6b-50d", "--json")[1])
    assert (facts["size"], facts["dimension"], facts["tokenizer"]) == (50_000, 50, "glove")
    assert "packaged" in facts["folder"]  # converted at first use
    assert publius("embeddings", "verify", "glove-6b-50d")[0] == 0


def test_missing_package_is_listed_with_the_way_out(publius, monkeypatch):
    monkeypatch.setattr("publius.vectors.catalogue.package_installed", lambda: False)
    assert "needs: pip install 'publius[glove]'" in publius("embeddings", "list")[1]
