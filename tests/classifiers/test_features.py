"""Which words public texts use: what the tokenizer says of each, and what the list rule counts."""

from collections import Counter

import pytest

from publius.classifiers import features as module
from publius.classifiers.features import uses
from publius.noise.randomness import seeded_rng
from publius.text.list_rule import may_leave
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
        words, used, users = uses(texts, authors)
        assert dict(zip(words, used.tolist(), strict=True)) == expected
        assert users.tolist() == used.tolist()


def test_authors_are_counted_as_the_list_rule_counts_them():
    texts, authors = hostile(900), [(None, "", "Ann", " ann", "Bo", 7, 7.0, *range(40))[i % 47] for i in range(900)]
    sets = [{*tokenize(text, "glove")} for text in texts]
    words, used, users = uses(texts, authors)
    found = dict(zip(words, users.tolist(), strict=True))
    assert may_leave(sets, authors, extra=words, languages=(), at_least=1) == found
    assert may_leave(found, extra=words, languages=(), at_least=3) == {w: n for w, n in found.items() if n > 2}
    assert max(users.tolist()) <= 43 < max(used.tolist())


def test_no_text_uses_no_word():
    for texts in ([], ["", "?!"]):
        assert [len(each) for each in uses(texts, None)] == [0, 0, 0]
