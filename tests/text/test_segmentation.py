"""Scripts without spaces: cut into words by the extra, or said aloud; the vectors are made of each text's own words."""

import json
import sys
import unicodedata

import numpy as np
import pytest

from hostile_text import unspaced
from publius.documents.corpus import open_corpus
from publius.errors import MissingExtraError
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import seeded_rng
from publius.releases.plan import Plan
from publius.releases.preflight import look
from publius.text import segmentation
from publius.text.bag import Encoding, words_of, words_of_all
from publius.text.segmentation import is_unspaced
from publius.text.tokenizer import StopWords, profile_named, tokenize
from publius.embeddings.embeddings import Embeddings

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


def plan_of(text, profile):
    found = sorted({*tokenize(text, profile), "ende"})
    vectors = seeded_rng(1).standard_normal((len(found), 8), np.float32)
    embeddings = Embeddings.from_arrays(found, vectors, tokenizer=profile)
    return Plan(Laplace(embeddings, epsilon=5.0), Encoding(8, "unk", NONE, embeddings.tokenizer))


@both
def test_a_text_becomes_words(language, icu):
    text = TEXTS[language]
    found = words(text)
    assert {*WORDS[language]} <= {*found}
    assert "".join(found) == "".join(character for character in text if character.isalnum())
    assert words(unicodedata.normalize("NFD", text)) == found
    assert 20 < len(found) < len(text)


@both
def test_nothing_is_unknown_and_nothing_warned_of_where_the_words_are_known(language, icu, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXTS[language], encoding="utf-8")
    plan = plan_of(TEXTS[language], "icu")
    found = look(open_corpus(path), plan)
    assert (found.words, found.foreign, found.unspaced) == (len(words(TEXTS[language])), (), ())
    assert [each for each in found.warnings() if "left out" not in each] == []
    assert plan.manifest(1)["tokenizer"] == profile_named("icu").label
    assert profile_named("icu").label.startswith("icu-1-")
    assert profile_named("icu").label.split("-")[2][0].isdigit()


@pytest.mark.parametrize(
    "text", [TEXTS["zh"], TEXTS["ja"], "ประเทศไทยเป็นประเทศที่สวยงาม", "plain words here " * 5 + TEXTS["zh"]]
)
@pytest.mark.parametrize("profile", ["glove", "word2vec"])
def test_a_tokenizer_that_does_not_cut_it_is_said(text, profile, tmp_path):
    """Also where most words are known: a stretch without spaces counts as one unknown word only."""
    for name, content in (("a", text), ("b", "only words with spaces between them")):
        (tmp_path / f"{name}.txt").write_text(content, encoding="utf-8")
    found = look(open_corpus(tmp_path), plan_of("plain words here only with spaces between them", profile))
    assert found.unspaced == (1,)
    assert any("--tokenizer icu: documents 1" in warning for warning in found.warnings())


@pytest.mark.parametrize(
    "text", ["", "3.14", "한국어 문장은 띄어 씁니다", "Привет, мир", "a 道 in a text of many other words"]
)
def test_of_other_scripts_nothing_is_said(text):
    assert not is_unspaced(text)


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
    plan = plan_of(text[: len(text) // 2], "icu")
    texts = [text, text[3:] + " spaced " + text, text * 300, "", "道" * 5000]
    encoding = Encoding(None, "unk", NONE, "icu")
    together = words_of_all(texts, plan.vocabulary, encoding)
    assert [list(each.words) for each in together] == [
        list(words_of(each, plan.vocabulary, encoding).words) for each in texts
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
    for call in (
        lambda: profile_named("icu"),
        lambda: words(TEXTS["zh"]),
        lambda: Encoding(5, "unk", NONE, "icu"),
    ):
        with pytest.raises(MissingExtraError, match=r"publius\[segmentation\]"):
            call()
    segmentation._breaker.cache_clear()


def test_the_language_is_told_or_left_open():
    pytest.importorskip("py3langid", reason="the extra documents is not installed")
    from publius.documents.languages import language_of

    assert language_of(TEXTS["ja"]) == "ja"
    assert language_of(TEXTS["zh"]) in (
        "zh",
        None,
    )  # classical Chinese is none that the identifier is sure of


def test_vectors_are_imported_for_it(icu, publius, home, tmp_path):
    """The whole way: vectors of the language, a release, and its manifest."""
    found = sorted({*words(TEXTS["ja"])})
    rng = seeded_rng(3)
    rows = [f"{word} " + " ".join(f"{x:.3f}" for x in rng.standard_normal(8)) for word in found]
    (tmp_path / "vectors.vec").write_text(f"{len(rows)} 8\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "texts.jsonl").write_text(
        json.dumps({"id": "a", "text": TEXTS["ja"]}) + "\n", encoding="utf-8"
    )
    code, _, err = publius(
        "embeddings", "import", tmp_path / "vectors.vec", "--name", "ja", "--tokenizer", "icu"
    )
    assert code == 0, err
    code, _, err = publius(
        "obfuscate", tmp_path / "texts.jsonl", "--embeddings", "ja", "--epsilon", 5, "--length", 10,
        "--stop-words", "none", "--output", tmp_path / "out",
    )  # fmt: skip
    assert code == 0, err
    bag = json.loads((tmp_path / "out/bags.jsonl").read_text(encoding="utf-8"))["bag"]
    assert {*bag} <= {*found}
    assert json.loads((tmp_path / "out/manifest.json").read_text())["tokenizer"] == profile_named("icu").label
