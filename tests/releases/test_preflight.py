"""What a plan would do to the documents, said before anything is drawn."""

import json

import pytest

import complaint_files
import publius
from publius.documents.corpus import open_corpus
from publius.errors import PolicyError
from publius.releases.preflight import look, unusable
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords


def corpus_of(tmp_path, *texts):
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(json.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts)))
    return open_corpus(path)


def looked_at(tmp_path, embeddings, length, *texts, unknown="unk"):
    encoding = Encoding(length, unknown, StopWords.load("none"), embeddings.tokenizer)
    plan = publius.Plan(publius.Laplace(embeddings, epsilon=1.0), encoding)
    return look(corpus_of(tmp_path, *texts), plan)


def test_padding_and_words_left_out_are_counted(tmp_path, embeddings):
    found = looked_at(tmp_path, embeddings, 4, "river bridge", "river bridge judge nurse doctor storm")
    assert (found.documents, found.padding, found.left_out, found.cut) == (2, 2, 2, 1)
    assert (found.padding_share, found.left_out_share) == (0.25, 0.25)
    warnings = list(found.warnings())
    assert warnings[0].startswith("25% of the words will be padding")
    assert warnings[1].startswith("25% of the words stand after the first that count")
    found.check(allowed=False)


def test_too_much_padding_is_refused_unless_allowed(tmp_path, embeddings):
    found = looked_at(tmp_path, embeddings, 100, "river bridge")
    found.check(allowed=True)
    with pytest.raises(PolicyError, match="98% of the words released would be padding"):
        found.check(allowed=False)


def test_texts_that_fit_need_no_warning(tmp_path, embeddings):
    assert not list(looked_at(tmp_path, embeddings, 2, "river bridge", "nurse doctor").warnings())


def test_documents_of_another_language_are_named_by_position(tmp_path, embeddings):
    found = looked_at(tmp_path, embeddings, 2, "river bridge", "canary canary river")
    assert found.foreign == (2,)
    (warning,) = [each for each in found.warnings() if "hardly knows" in each]
    assert "documents (2)." in warning
    assert "canary" not in warning
    assert "too few or of another kind" in warning  # nobody can tell from three words: both causes are named
    assert "vectors of their language" in warning


def test_another_language_is_told_from_a_small_vocabulary(tmp_path, embeddings):
    pytest.importorskip("py3langid", reason="the extra documents is not installed")
    filler = " the letter that was sent to the office has not been answered by anybody"
    known = [f"{'river bridge ' * 20}{filler}"] * 3
    small = (
        f"{complaint_files.COMMON[0]} about charges and statements of the bank, which is not helpful at all"
    )
    found = looked_at(tmp_path, embeddings, 2, *known, small, complaint_files.GERMAN, complaint_files.FRENCH)
    assert found.foreign == (4, 5, 6)
    assert found.elsewhere == {5: "de", 6: "fr"}
    elsewhere, few = [each for each in found.warnings() if "know" in each]
    assert elsewhere.startswith("2 of 6 documents are in another language (de, fr) than the others")
    assert "known (5, 6):" in elsewhere
    assert f"the vocabulary of {embeddings.size:,} words hardly knows 1 of 6 documents (4)." in few


def test_dropped_words_do_not_count(tmp_path, embeddings):
    found = looked_at(tmp_path, embeddings, 2, "canary river canary", unknown="drop")
    assert (found.words, found.padding) == (1, 1)


def test_every_document_that_cannot_be_read_is_listed_at_once(tmp_path):
    assert [bad.position for bad in unusable(corpus_of(tmp_path, "river", None, "bridge", 7))] == [2, 4]
