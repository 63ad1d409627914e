"""What is easily typed wrong names the way out: what was found, where, and the command that does it."""

import json

import pytest

import publius
from released import completed, state


class Still(publius.Kernel):
    """Never made: it may need more memory than there is."""

    name = "still"
    guarantee = None

    def noise(self, count, rng):
        raise NotImplementedError

    def apply(self, words, noise, *, threads=1):
        raise NotImplementedError


@pytest.fixture
def folder(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    state(out, {"manifest_version": 1})
    (tmp_path / "page.html").write_text("a page")
    return out


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("inspect", "out"), "is a release, not texts: publius guarantee"),
        (("verify", "page.html", "out"), "the folder first, then the page: publius verify"),
        (("outcomes",), "publius outcomes TEXT.txt --preserve topic --reference themes --bound 7"),
        (("audit", "--mechanism", f"python:{__name__}:Still"), "publius embeddings import FILE --limit 1000"),
    ],
)
def test_the_way_out_is_named(folder, monkeypatch, typed, said):
    monkeypatch.chdir(folder.parent)
    done = completed(*typed)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_folder_is_taken_for_the_manifest_in_it(tmp_path):
    """As `signoff`, `verify` and `describe` take it."""
    texts, out = tmp_path / "texts.jsonl", tmp_path / "out"
    texts.write_text(json.dumps({"id": "1", "text": "the river"}) + "\n")
    options = ("--preserve", "topic", "--reference", "themes", "--bound", "7", "--output", out)
    assert completed("obfuscate", texts, *options).returncode == 0
    done = completed("guarantee", out)
    assert done.returncode == 0
    assert done.stdout == completed("guarantee", "--manifest", out).stdout
    assert completed("guarantee", out, "--manifest", out).returncode == 2
