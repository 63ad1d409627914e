"""Sentences of public texts that may be quoted: whole, of public words alone, typical of a theme."""

from collections import Counter

import pytest

from publius.text.tokenizer import StopWords, tokenize
from publius.vectors.learning.passages import PER_THEME, sentences, typical_passages
from publius.vectors.learning.public_themes import fit_themes
from publius.vectors.learning.public_words import PublicText, WordCount
from references import TOPICS, public_documents

STOPS = StopWords.load("english")
LEAST = 5


def fitted():
    """Each public document as a sentence of eight words, six documents an author; themes and public words of them."""
    texts = [
        (" ".join(words[:8]).capitalize() + ".", topic, f"author {place % 20}")
        for place, (words, topic) in enumerate(public_documents(120))
    ]
    public = [
        PublicText.of(text, "glove", STOPS, topic, author, tuple(sentences(text)))
        for text, topic, author in texts
    ]
    known = WordCount.of(public).public(LEAST)
    bags = [Counter(word for word in text.words if word in known) for text in public]
    return public, fit_themes(bags, themes=3, dimension=10), known


@pytest.mark.parametrize(
    "text",
    [
        "Write to jane.doe@example.org about the fee that the bank charged me.",
        "Account number 4711 0815 99 was charged a fee without a reason.",
        "so this one begins in the middle of what somebody wrote there.",
        "The bank charged a fee and never answered when I asked them about",
        "> The bank charged a fee and never answered when I asked them.",
        "Short one.",
        "The bank " + "charged a fee and " * 20 + "that was it.",
    ],
)
def test_what_is_no_whole_sentence_or_points_at_somebody_is_not_quoted(text):
    assert list(sentences(text)) == []


def test_sentences_of_broken_lines_are_joined():
    text = "The bank charged a fee\nthat nobody could explain to me. “Nobody knows,” they said, but hung up!!\n\nBye."
    assert list(sentences(text)) == [
        "The bank charged a fee that nobody could explain to me.",
        "“Nobody knows,” they said, but hung up!!",
    ]


def test_passages_are_typical_and_of_public_words_alone():
    public, themes, known = fitted()
    found = typical_passages(public, themes, known, STOPS, LEAST, "glove")
    assert all(0 < len(some) <= PER_THEME for some in found)
    for theme, some in enumerate(found):
        topic = next(name for name, words in TOPICS.items() if themes.typical(theme, 1)[0] in words)
        for sentence in some:
            words = list(tokenize(sentence))
            assert all(word in known or word in STOPS for word in words)
            assert sum(word in TOPICS[topic] for word in words) > len(words) / 2


def test_a_sentence_with_a_word_that_few_authors_use_is_not_quoted():
    """Quokka is no public word; wombat is a stop word here that four authors use, and "and" one that five use."""
    _, themes, known = fitted()
    theme = " ".join(next(iter(TOPICS.values()))).capitalize()
    texts = [
        PublicText((), None, f"{word} {place % 4 if word != 'and' else place}", (), (f"{theme} {word}.",))
        for word in ("quokka", "wombat", "and")
        for place in range(LEAST)
    ]
    found = typical_passages(texts, themes, known, STOPS.words | {"wombat"}, LEAST, "glove")
    assert [sentence for some in found for sentence in some] == [f"{theme} and."]


def test_an_author_is_quoted_once_for_a_theme_and_a_wording_once():
    public, themes, known = fitted()
    for one in (
        [PublicText(text.words, None, "Ada", (), text.sentences) for text in public],
        [PublicText(text.words, None, text.author, (), public[0].sentences[:1]) for text in public],
    ):
        found = typical_passages(one, themes, known, STOPS, 0, "glove")
        assert sum(map(len, found)) in range(1, 4)
        assert max(map(len, found)) == 1
