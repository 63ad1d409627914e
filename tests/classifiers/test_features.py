"""Which words public texts use: what the tokenizer says of each, and what the list rule counts."""

from collections import Counter

import pytest

from publius.noise.randomness import seeded_rng
from publius.text import list_rule as module
from publius.text.list_rule import may_leave, uses
from publius.text.tokenizer import tokenize

PARTS = (
    "tea", "Tea", "don't", "isn't've", "'s", "o'neil's", "y'all'd", "x" * 130 + "n't", "well-known", "1.5", "U.S.", "É",
    "e\u0301", "ΑΣ", "don\u2019t", "\u00ad", "-", "'", ".", "@", " ", " ", " ", "\n", "\ud800", "\0",
)  # fmt: skip


def hostile(count):
    rng = seeded_rng(5)
    return ["".join(PARTS[i] for i in rng.integers(0, len(PARTS), 9).tolist()) for _ in range(count)]


@pytest.mark.parametrize("at_once", [7, 1000])
def test_they_are_the_words_of_the_tokenizer(at_once, monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    texts = hostile(1200)
    expected = Counter(word for text in texts for word in {*tokenize(text, "glove")})
    for authors in (None, [None, ""] * (len(texts) // 2)):
        used, users = uses(texts, authors)
        assert used == users == expected


def test_authors_are_counted_as_the_list_rule_counts_them():
    texts, authors = hostile(900), [(None, "", "Ann", " ann", "Bo", 7, 7.0, *range(40))[i % 47] for i in range(900)]
    used, users = uses(texts, authors)
    assert may_leave(users, extra=users, languages=()) == {w for w, n in users.items() if n >= 5}
    assert max(users.values()) <= 43 < max(used.values())


def test_no_text_uses_no_word():
    for texts in ([], ["", "?!"]):
        assert uses(texts, None) == ({}, {})
