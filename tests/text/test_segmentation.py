"""Scripts without spaces are cut into words by the extra."""

import sys
import unicodedata

import pytest

from hostile_text import unspaced
from publius.errors import MissingExtraError
from publius.text import tokenizer as segmentation
from publius.text.bag import Encoding, words_of, words_of_all
from publius.text.known_words import WordList
from publius.text.tokenizer import StopWords, profile_named, tokenize

TEXTS = {  # the first words of books in the public domain: the Dao De Jing, and Kokoro by Natsume Soseki (1914)
    "zh": "道可道，非常道。名可名，非常名。無名天地之始；有名萬物之母。故常無欲，以觀其妙；常有欲，以觀其徼。",
    "ja": "私はその人を常に先生と呼んでいた。だからここでもただ先生と書くだけで本名は打ち明けない。",
}
WORDS = {"zh": ["天地", "之", "始", "萬物", "母"], "ja": ["私", "その", "人", "先生", "本名", "打ち"]}
NONE = StopWords.load("none")

both = pytest.mark.parametrize("language", TEXTS)


@pytest.fixture
def icu():
    pytest.importorskip("icu4py", reason="the extra segmentation is not installed")


def words(text):
    return list(tokenize(text, "icu"))


@both
def test_a_text_becomes_words(language, icu):
    text = TEXTS[language]
    found = words(text)
    assert {*WORDS[language]} <= {*found}
    assert "".join(found) == "".join(character for character in text if character.isalnum())
    assert words(unicodedata.normalize("NFD", text)) == found
    assert 20 < len(found) < len(text)


def test_the_version_of_the_dictionary_is_stated(icu):
    assert profile_named("icu").label.startswith("icu-1-")
    assert profile_named("icu").label[6].isdigit()


MIXED = {
    "iPhone手机 don't well-known手": ["iphone", "手机", "don't", "well-known", "手"],
    "𠮷野家で食べる": ["𠮷", "野", "家", "で", "食べる"],
    "3.14道": ["3.14", "道"],
    "ประเทศไทยสวยงาม": ["ประเทศ", "ไทย", "สวยงาม"],
}


@pytest.mark.parametrize("text", MIXED)
def test_what_stands_beside_stays_as_it_is(text, icu):
    found = words(text)
    assert "".join(found) == "".join(MIXED[text])
    assert [word for word in found if word.isascii()] == [word for word in MIXED[text] if word.isascii()]


@both
def test_many_texts_at_once_give_the_words_of_one(language, icu):
    text = TEXTS[language]
    vocabulary = WordList(sorted({*words(text[: len(text) // 2])}))
    texts = [text, text[3:] + " spaced " + text, text * 300, "", "道" * 5000]
    encoding = Encoding(None, "unk", NONE, "icu")
    together = words_of_all(texts, vocabulary, encoding)
    assert [list(each.words) for each in together] == [
        list(words_of(each, vocabulary, encoding).words) for each in texts
    ]


def test_no_character_of_hostile_text_is_segmented_twice(icu, monkeypatch):
    """The time is ICU's, which is linear in what it is given."""
    real, given = segmentation._breaker(), []

    def watched(text, language):
        given.append(len(text))
        return real(text, language)

    monkeypatch.setattr(segmentation, "_breaker", lambda: watched)
    for hostile in unspaced():
        given.clear()
        assert sum(1 for _ in tokenize(hostile * 2, "icu")) > 0
        assert sum(given) <= 2 * len(hostile * 2)


def test_without_the_extra_it_is_named(monkeypatch):
    segmentation._breaker.cache_clear()
    monkeypatch.setitem(sys.modules, "icu4py", None)
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    for call in (lambda: profile_named("icu"), lambda: words(TEXTS["zh"]), lambda: Encoding(5, "unk", NONE, "icu")):
        with pytest.raises(MissingExtraError, match=r"publius\[segmentation\]"):
            call()
    segmentation._breaker.cache_clear()
