"""``--preserve`` is said, follows from an option that only one kind has, is asked for at a terminal, or is missed."""

import json
import sys

import pytest

import references
from publius.cli.before import with_what_is_kept
from publius.errors import UsageError
from publius.settings import ReleaseSettings
from publius.vectors.learning import reference as stored_reference


def settings(**options):
    return ReleaseSettings(**{"preserve": None, **options})


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"epsilon": 2.0}, "words"), ({"bound": 7.0}, "topic"), ({"preserve": "meaning", "bound": 7.0}, "meaning"),
        ({"parameters": {"scale": 2.0}}, "words"), ({"epsilon": 2.0, "bound": 7.0}, "words"),
    ],
    ids=str,
)  # fmt: skip
def test_an_option_of_one_kind_says_what_is_kept(options, kept):
    assert with_what_is_kept(settings(**options)).preserve == kept


def test_a_reference_says_what_it_keeps(monkeypatch):
    made = references.made([[0.0], [1.0]], [[0.0], [1.0]], name="meaning")
    monkeypatch.setattr(stored_reference.Reference, "load", lambda name: made)
    assert with_what_is_kept(settings(reference="any", bound=7.0)).preserve == "meaning"


def test_without_any_the_run_is_refused_with_the_ways_out(publius, corpus_file, tmp_path):
    code, _, err = publius("obfuscate", corpus_file, "--output", tmp_path / "out", "--embeddings", "toy")
    assert code == 2
    assert all(flag in err for flag in ("--preserve topic", "--reference", "--bound", "--epsilon"))
    assert not (tmp_path / "out").exists()


def test_at_a_terminal_it_is_asked_for_until_it_is_one_of_the_choices(monkeypatch):
    answers = iter(["topics", "meaning"])
    monkeypatch.setattr("typer.prompt", lambda question, err: next(answers))
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert with_what_is_kept(settings(), ask=True).preserve == "meaning"
    with pytest.raises(UsageError, match="nothing says what to keep"):
        with_what_is_kept(settings())


def test_outcomes_are_of_words_or_of_a_document(publius, stored, tmp_path):
    given = ("river", "--mechanism", "exponential", "--epsilon", "2", "--embeddings", stored, "--json")
    asked, earlier = (publius(name, *given) for name in ("outcomes", "words"))
    assert asked == earlier
    assert json.loads(asked[1])["word"] == "river"
    code, _, err = publius("outcomes", "one.txt", "other.txt", "--bound", "7", "--reference", "themes")
    assert (code, "give one document" in err) == (2, True)


def test_the_nearest_documents_are_a_question_of_distance(publius, stored, corpus_file):
    text, *given = "river bread judge", corpus_file, "--text", "--embeddings", stored, "--json"
    asked = publius("distance", text, *given, "--nearest", "3")
    assert asked == publius("nearest", text, *given, "--count", "3")
    assert len(json.loads(asked[1])["nearest"]) == 3
    assert publius("distance", text, *given, "--nearest", "3", "--plan")[0] == 2
