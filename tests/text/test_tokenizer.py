import itertools
import unicodedata
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile_text import HOSTILE
from publius.errors import DataError, StorageError, UsageError
from publius.noise.randomness import seeded_rng
from publius.text import normal_form
from publius.text import tokenizer as module
from publius.text.tokenizer import PROFILES as EVERY
from publius.text.tokenizer import StopWords, Unknown, lookup, normalize, profile_named, tokenize

NONE = StopWords.load("none")
PROFILES = {
    name: profile for name, profile in EVERY.items() if not profile.segmented or find_spec("icu4py")
}  # fmt: skip
ENGLISH = StopWords.load()
NORMALIZE = unicodedata.normalize


def words(text, profile="word2vec"):
    return list(tokenize(text, profile))


def resolved(text, vocabulary, profile="glove", stop_words=NONE):
    found = lookup(text, set(vocabulary.split()), profile=profile, stop_words=stop_words)
    return [None if type(word) is Unknown else word for word in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", "hello world"),
        ("हिन्दी में लिखा हुआ पाठ।", "हिन्दी में लिखा हुआ पाठ"),
        ("مَرْحَبًا بِالعالم", "مَرْحَبًا بِالعالم"),
        ("می‌خواهم بروم", "می‌خواهم بروم"),
        ("Привет, мир", "привет мир"),
        ("ΟΔΟΣ ΟΔΥΣΣΕΥΣ", "οδος οδυσσευς"),
        ("สวัสดีครับ", "สวัสดีครับ"),
        ("ශ්‍රී ලංකාව", "ශ්‍රී ලංකාව"),
        ("naïve façade Ångström", "naïve façade ångström"),
        ("日本語のテキスト", "日本語のテキスト"),
        ("İstanbul", "i̇stanbul"),
        ("Straße STRASSE", "straße strasse"),
        ("𝐁old 😀 ok", "𝐁old ok"),
    ],
)
def test_scripts_stay_whole(text, expected):
    assert words(text) == expected.split(" ")


@pytest.mark.parametrize(
    ("text", "glove", "word2vec"),
    [
        ("don't", "do n't", "don't"),
        ("CAN’T", "ca n't", "can't"),
        ("Harry's", "harry 's", "harry's"),
        ("we'll they're I've she'd I'm", "we 'll they 're i 've she 'd i 'm", "we'll they're i've she'd i'm"),
        ("shouldn't've", "should n't 've", "shouldn't've"),
        ("o'clock d’Artagnan", "o'clock d'artagnan", "o'clock d'artagnan"),
        ("'quoted' dogs' 'tis", "quoted dogs tis", "quoted dogs tis"),
        ("mother-in-law's", "mother-in-law 's", "mother-in-law's"),
        ("N'T 's", "n't s", "n't s"),
    ],
)
def test_clitics_follow_the_profile(text, glove, word2vec):
    assert words(text, "glove") == glove.split()
    assert words(text, "word2vec") == word2vec.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("well-known", "well-known"),
        ("well‐known well‑known", "well-known well-known"),
        ("end -- start—middle–last", "end start middle last"),
        ("-x- y-", "x y"),
        ("pages 12-14", "pages 12-14"),
        ("_emphasis_ *b* [c]", "emphasis b c"),
        ("co\u00adoper\u00adate", "cooperate"),
        ("don\u2019t don\u02bct", "don't don't"),
        ("3.14 1,000 v2 ½ ٣٫٤", "3.14 1,000 v2 ½ ٣ ٤"),
        ("1999. Then 2,", "1999 then 2"),
        ("a.b,c", "a b c"),
        ("<unk> <b>", "unk b"),
        ("", ""),
        ("… !?", ""),
    ],
)
def test_punctuation_and_numbers(text, expected):
    assert words(text) == expected.split()


@settings(deadline=None, max_examples=40)
@given(st.text())
def test_composed_and_decomposed_text_give_the_same_words(text):
    decomposed = unicodedata.normalize("NFD", text)
    assert words(text) == words(decomposed)


@settings(deadline=None)
@given(st.text(), st.sampled_from(sorted(PROFILES)))
def test_any_string_gives_clean_words(text, profile):
    for word in tokenize(text, profile):
        assert word
        assert word == word.lower()
        assert not any(character.isspace() for character in word)
        assert not set('<>,.;:!?"’') & set(word) or any(map(str.isdigit, word))


@settings(deadline=None)
@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=50))
def test_lone_surrogates_are_no_words(text):
    assert not any(unicodedata.category(character) == "Cs" for word in words(text) for character in word)


def test_words_do_not_depend_on_where_long_text_is_cut():
    pieces = ["Don't", "ΟΔΟΣ", "e\u0301te\u0301", "well-known", "3.14", "हिन्दी"]
    text = " ".join(pieces * 5000)
    assert words(text, "glove") == words(" ".join(pieces), "glove") * 5000


def test_tokenizing_is_lazy(monkeypatch):
    prepared = []
    monkeypatch.setattr(module, "normalize", lambda text: prepared.append(len(text)) or text)
    assert next(tokenize("word " * 100_000)) == "word"
    assert len(prepared) == 1
    assert prepared[0] < 20_000


@pytest.mark.parametrize("hostile", ["a" * 400_000, "a'" * 100_000, "'s" * 100_000, "x-" * 100_000, "1," * 100_000])
def test_hostile_words_take_linear_time(hostile):
    for profile in PROFILES:
        assert resolved(hostile, "nothing", profile) == [None]
        assert len(words(hostile, profile)) == 1


def before_runs_were_broken(text):
    """The words' normal form as it was while its time grew with the square of a run of combining marks."""
    text = unicodedata.normalize("NFC", text)
    for written, meant in module._SPELLINGS:
        text = text.replace(written, meant)
    return unicodedata.normalize("NFC", text.lower())


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_ordinary_texts_keep_their_words(count):
    """Random strings, of scripts that compose, without 31 marks in a row."""
    rng = seeded_rng(15)
    ranges = [(0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x400), (0x5B0, 0x5F0), (0x900, 0x980),
              (0xF40, 0xF90), (0x1100, 0x1200), (0x1E00, 0x2030), (0xAC00, 0xAE00), (0x11099, 0x110C0)]  # fmt: skip
    starts, ends = (np.array(side)[rng.integers(0, len(ranges), 30 * count)] for side in zip(*ranges, strict=True))
    codes = (starts + rng.random(30 * count) * (ends - starts)).astype(int).tolist()
    characters = [chr(code) for code in codes]
    cuts = rng.integers(0, 30 * count, count).tolist()
    for cut, length in zip(cuts, rng.integers(1, 60, count).tolist(), strict=True):
        text = "".join(characters[cut : cut + length])
        if not normal_form._LONG_RUN.search(text):
            assert normalize(text) == before_runs_were_broken(text)


def longest_run(text):
    runs = itertools.groupby(text, key=lambda character: unicodedata.combining(character) > 0)
    return max((len(list(run)) for marks, run in runs if marks), default=0)


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_normalized_in_pieces_without_long_runs(kind, monkeypatch):
    """What Unicode's normalization is given decides its time: no run to sort is long, no piece keeps an interrupt."""
    given = []

    def watched(form, text):
        given.append(text)
        return NORMALIZE(form, text)

    monkeypatch.setattr(unicodedata, "normalize", watched)
    text = "x" + HOSTILE[kind] * (200_000 // len(HOSTILE[kind]))
    assert longest_run(normalize(text)) <= 30
    assert all(longest_run(piece) <= 30 for piece in given)
    if kind != "vowel jamo":  # nowhere to cut it, and quick
        assert all(len(piece) <= 2**16 + 31 for piece in given)


def test_nothing_is_cut_before_what_joins_the_character_before_it():
    """Every second part of a character that has parts, whatever Python's version of Unicode."""
    joining = {parts[1] for code in range(0x110000) if len(parts := NORMALIZE("NFD", chr(code))) > 1}
    assert len(joining) > 60
    assert not [part for part in joining if normal_form._STARTER.match(part)]


@pytest.mark.parametrize("joint", ["-", "\u2019"])
def test_a_word_of_a_million_parts_is_one_word(joint):
    """The parts are remembered while a word is looked for, so not too many at once; and no part is lost."""
    long = joint.join("ab" for _ in range(300_000))
    text = f"before {long} {long}, -{joint}after"
    spelt = long.replace("\u2019", "'")
    assert words(text) == ["before", spelt, spelt, "after"]
    found = list(lookup(text, {"before"}, profile="word2vec", stop_words=NONE, keep="all"))
    assert [word for word in found if len(word) > 5] == ["before", spelt, spelt]
    assert [len(word) for word in words("1." * 100_000 + "1")] == [200_001]


def test_a_run_of_marks_is_broken_as_unicode_says():
    assert normalize("a" + "\u0323" * 30) == NORMALIZE("NFC", "a" + "\u0323" * 30)
    assert normalize("é" + "\u0323" * 61) == NORMALIZE("NFC", "é" + "\u0323" * 30) + (
        "\u034f" + "\u0323" * 30 + "\u034f" + "\u0323"
    )
    assert len(words("é" + "\u0323" * 1000)) == 1
    assert list(map(longest_run, normalize("\u0344" * 31).split("\u034f"))) == [30, 30, 2]  # each comes apart


RUNS = st.builds(
    lambda character, times: character * times,
    st.sampled_from(sorted({*"aΣİé \u0323\u034f\u0378", *"".join(HOSTILE.values())})),
    st.integers(1, 70),
)


@settings(deadline=None)
@given(st.lists(st.one_of(RUNS, st.text(max_size=3)), max_size=8).map("".join))
def test_a_normal_form_is_its_own_normal_form(text):
    once = normalize(text)
    assert normalize(once) == once
    assert words(once) == words(text)


def test_a_normal_form_is_its_own_normal_form_beside_every_mark():
    """Marks, and letters with another form, where a run has its 30 marks already: what comes apart makes it longer."""
    run = "\u0323" * 15 + "\u0301" * 15
    kinds = [chr(code) for code in range(0x110000)]
    kinds = [
        kind
        for kind in kinds
        if unicodedata.category(kind)[0] == "M" or NORMALIZE("NFD", kind) != kind or kind.lower() != kind
    ]
    assert len(kinds) > 10_000
    forms = [normalize(text) for kind in kinds for text in (kind + run, run + kind, "aΣ" + kind * 31)]
    assert [form for form in forms if normalize(form) != form] == []


@pytest.mark.parametrize(
    ("text", "vocabulary", "expected"),
    [
        ("don't", "don't do n't", ["don't"]),
        ("don't", "do n't", ["do", "n't"]),
        ("well-known", "well-known well known", ["well-known"]),
        ("well-known", "well known", ["well", "known"]),
        ("well-qqqq", "well", ["well", None]),
        ("pppp-qqqq", "well", [None]),
        ("qqqq", "well", [None]),
        ("mother-in-law's", "mother-in-law 's", ["mother-in-law", "'s"]),
        ("mother-in-law's", "mother in law 's", ["mother", "in", "law", "'s"]),
        ("l'homme", "l homme", ["l", "homme"]),
        ("Paris", "Paris", [None]),
        ("1999", "####", [None]),
    ],
)
def test_fallback_from_whole_to_pieces(text, vocabulary, expected):
    assert resolved(text, vocabulary) == expected


@pytest.mark.parametrize(
    ("text", "vocabulary", "expected"),
    [
        ("don't", "do n't don t", ["don", "t"]),
        ("harry's", "harry", ["harry", None]),
        ("1999", "#### 1999", ["1999"]),
        ("1999", "####", ["####"]),
        ("covid-19", "covid ##", ["covid", "##"]),
        ("3.14", "#.##", ["#.##"]),
    ],
)
def test_fallback_of_word2vec(text, vocabulary, expected):
    assert resolved(text, vocabulary, "word2vec") == expected


@pytest.mark.parametrize("profile", PROFILES)
def test_stop_words_leave_whole_and_in_pieces(profile):
    text = "The cat's and-so don't sit-in Don’t THE they'd cat"
    assert resolved(text, "cat sit the don't do", profile, ENGLISH) == ["cat", "sit", "cat"]


def test_resolving_is_lazy():
    class Counting(set):
        asked = 0

        def __contains__(self, word):
            self.asked += 1
            return True

    vocabulary = Counting()
    stream = lookup("word " * 10_000, vocabulary, profile="glove", stop_words=NONE)
    assert [next(stream) for _ in range(3)] == ["word"] * 3
    assert vocabulary.asked == 3


def test_unknown_words_do_not_show_in_a_repr():
    (unknown,) = module.lookup("canary", set(), profile="glove", stop_words=NONE)
    assert unknown == "canary"
    assert "canary" not in repr(unknown)


def test_profiles_have_names_and_versions():
    assert {profile.label for profile in EVERY.values() if not profile.segmented} == {"glove-1", "word2vec-1"}
    with pytest.raises(UsageError, match="choose one of glove, icu, word2vec"):
        profile_named("spacy")


def test_english_covers_contractions_and_their_pieces():
    for word in "the don't n't 's 'll do don t s ca wo it's would with".split():
        assert word in ENGLISH
    assert ENGLISH.name == "english-1"
    assert "harry" not in ENGLISH


def test_the_english_list_is_frozen():
    """Manifests name it: a change of words is a new version."""
    assert (len(ENGLISH.words), ENGLISH.sha256) == (
        250,
        "d970e9041dc359f1624d163b8904f2f9fab933b16571a5c65474d80842628231",
    )


def test_no_english_stop_word_survives_tokenizing():
    for profile in PROFILES:
        for word in sorted(ENGLISH.words):
            assert resolved(word, word, profile, ENGLISH) == []


def test_a_file_list_is_normalized_and_its_path_stays_private(tmp_path):
    path = tmp_path / "secret-name.txt"
    path.write_bytes("\ufeff# ours\n Été \r\n\nDON’T\ne\u0301te\u0301\n".encode())
    stops = StopWords.load(f"file:{path}")
    assert stops.words == {"été", "don't"}
    assert (stops.name, len(stops.words)) == ("file", 2)
    assert "secret" not in repr(stops)
    assert "été" not in repr(stops)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"fine\ncanary bird\n", "line 2"),
        (b"canary\xff\n", "line 1"),
        (b"\n\ncanary\x00\n", "line 3"),
        (b"canary" * 11, "line 1"),
        (b"canary\n" * 5_000_000, "33554432 bytes"),
    ],
)
def test_a_malformed_list_is_refused_with_the_place(tmp_path, data, place):
    path = tmp_path / "list.txt"
    path.write_bytes(data)
    with pytest.raises(DataError, match=place) as caught:
        StopWords.load(f"file:{path}")
    assert "canary" not in str(caught.value)


def test_names_of_lists_that_do_not_exist(tmp_path):
    with pytest.raises(UsageError, match="choose one of english, german"):
        StopWords.load("klingon")
    with pytest.raises(StorageError, match="cannot open"):
        StopWords.load(f"file:{tmp_path / 'missing'}")
    with pytest.raises(UsageError, match="null character"):
        StopWords.load("file:a\0b")


def test_none_is_empty():
    assert (NONE.name, len(NONE.words)) == ("none", 0)
