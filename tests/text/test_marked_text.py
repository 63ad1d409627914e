"""The words of a text in their places: nothing is lost, and they are those that a release takes."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hostile_text import HOSTILE
from publius.text import tokenizer as module
from publius.text.bag import UNKNOWN, Encoding, tokens_of, words_of
from publius.text.tokenizer import StopWords, Unknown, normalize

VOCABULARY = frozenset("river straße well known do n't tea 's a b c é ς σ istanbul".split())
ENGLISH = StopWords.load("english")
TEXTS = st.lists(
    st.one_of(st.sampled_from(["River", "well-known", "don't", "the", "zebra", "Straße", "İstanbul", "e\u0301", "ΑΣ",
                               "so\u00adft", "a\u2019s", " ", "\n", "--", "tea's,", "A\u030a", "ﬁ", "\u1100\u1161"]),
              st.text(max_size=6)), max_size=12).map("".join)  # fmt: skip


def encoding(length=None, unknown="unk"):
    return Encoding(length, unknown, ENGLISH, "glove")


@settings(max_examples=120, deadline=None)
@given(text=TEXTS, length=st.integers(1, 9), unknown=st.sampled_from(["unk", "drop"]))
@example("ΑΣ ΑΣ.", 2, "unk")
@example("İstanbul", 1, "unk")
def test_tokens_are_the_text_and_its_words(text, length, unknown):
    asked = encoding(length, unknown)
    tokens = list(tokens_of(text, VOCABULARY, asked))
    assert "".join(token.text for token in tokens) == text
    words = [UNKNOWN if type(word) is Unknown else word for token in tokens for word in token.words]
    if unknown == "drop":
        words = [word for word in words if word != UNKNOWN]
    expected = words_of(text, VOCABULARY, asked)
    assert tuple(words[:length]) == expected.words[: length - expected.padding]


def test_kinds():
    tokens = tokens_of("The River, zebra: don't well-known end", VOCABULARY, encoding(5))
    assert [(token.text, token.kind) for token in tokens if token.kind != "gap"] == [
        ("The", "stop"), ("River", "word"), ("zebra", "unknown"), ("don't", "stop"), ("well-known", "word"),
        ("end", "unknown")]  # fmt: skip


def test_what_comes_after_the_first_n_words_is_beyond():
    tokens = list(tokens_of("river tea. river", VOCABULARY, encoding(2)))
    assert [token.kind for token in tokens] == ["word", "gap", "word", "beyond"]
    assert tokens[-1].text == ". river"


def test_a_token_shows_no_word_when_printed():
    assert "river" not in repr(next(tokens_of("river", VOCABULARY, encoding())))


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_character_of_hostile_text_is_normalized_often(kind, monkeypatch):
    """Normalization decides about the time: whole pieces are put through it, and their graphemes once each."""
    given = []

    def watched(text):
        given.append(len(text))
        return normalize(text)

    monkeypatch.setattr(module, "normalize", watched)
    text = HOSTILE[kind] * (40_000 // len(HOSTILE[kind]))
    assert "".join(token.text for token in tokens_of(text, VOCABULARY, encoding())) == text
    assert sum(given) <= 3 * len(text)
