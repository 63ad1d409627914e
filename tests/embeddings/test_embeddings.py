"""Embeddings: what they hold, how they are found, stored, opened, sent to other processes and verified."""

import copy
import dataclasses
import hashlib
import multiprocessing
import pickle
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from publius.embeddings import catalogue
from publius.embeddings import embeddings as module
from publius.embeddings.catalogue import (
    DEFAULT,
    PACKAGED,
    in_own_store,
    name_from,
    package_installed,
    store_root,
    stored_folder,
    stored_names,
)
from publius.embeddings.embeddings import Embeddings, central_index
from publius.embeddings.store import surely_words, word_fault
from publius.errors import DataError, MissingExtraError, StorageError, UsageError
from publius.text import list_rule
from publius.text.bag import UNKNOWN
from vector_files import VECTORS, WORDS, glove, packed, word2vec_binary

needs_glove = pytest.mark.skipif(not package_installed(), reason="the extra glove is not installed")


@pytest.fixture
def small():
    return Embeddings.from_arrays(WORDS, VECTORS, name="small", tokenizer="word2vec")


def _same(one, other):
    assert one.vocabulary == other.vocabulary
    np.testing.assert_array_equal(one.vectors, other.vectors)
    for key in ("name", "sha256", "unknown_index", "tokenizer", "source", "size", "dimension"):
        assert getattr(one, key) == getattr(other, key), key


def test_what_they_hold(small):
    assert (small.size, len(small), small.dimension, small.name) == (4, 4, 3, "small")
    assert [small.index(word) for word in (*WORDS, "absent")] == [0, 1, 2, 3, None]
    assert "house" in small
    assert "absent" not in small
    assert small.word(3) == "数据"
    assert repr(small) == "Embeddings('small', size=4, dimension=3)"


def test_nothing_can_be_changed(small):
    with pytest.raises(dataclasses.FrozenInstanceError):
        small.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        small.vectors[0] = 0
    with pytest.raises(TypeError):
        small.source["format"] = "other"


def test_arrays_are_copied():
    vectors = VECTORS.copy()
    made = Embeddings.from_arrays(WORDS, vectors)
    vectors[:] = 0
    np.testing.assert_array_equal(made.vectors, VECTORS)


@pytest.mark.parametrize("convert", [np.asfortranarray, np.float64, np.ndarray.tolist, lambda a: a.astype(">f4")])
def test_any_real_array_becomes_float32_in_c_order(convert):
    made = Embeddings.from_arrays(WORDS, convert(VECTORS)).vectors
    assert made.dtype == np.float32
    assert made.flags.c_contiguous
    np.testing.assert_array_equal(made, VECTORS)


BAD_ARRAYS = {
    "one dimension": (WORDS, VECTORS[0], r"shape \(V, n\)"),
    "complex": (WORDS, VECTORS + 1j, "real numbers"),
    "objects": (WORDS, VECTORS.astype(object), "real numbers"),
    "texts": (WORDS, [["1"]] * 4, "real numbers"),
    "a str for words": ("abcd", VECTORS, "a sequence"),
    "too few words": (WORDS[:3], VECTORS, "3 words and vectors"),
    "none": ([], np.empty((0, 3)), "0 words and vectors"),
    "no numbers": (WORDS, np.empty((4, 0)), "4 words and vectors"),
    "a word again": ([*WORDS[:3], "the"], VECTORS, "row 4: a word that stood before"),
    "bytes": ([*WORDS[:3], b"x"], VECTORS, "must be a str"),
    "unknown token": ([*WORDS[:3], UNKNOWN], VECTORS, "row 4: the unknown token"),
    "control": ([*WORDS[:3], "a\nb"], VECTORS, r"row 4: a control character \(U\+000A\)"),
    "surrogate": ([*WORDS[:3], "a\udc80"], VECTORS, r"row 4: a control character \(U\+DC80\)"),
    "NaN": (WORDS, np.where(np.eye(4, 3), np.nan, VECTORS), "row 1: NaN"),
    "beyond float32": (WORDS, [[1.0], [2.0], [3e38], [4e38]], "row 3: a vector longer"),
    "infinite": (WORDS, [[1.0], [2.0], [3.0], [4e38]], "row 4: an infinite number"),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_bad_arrays_are_refused(case):
    words, vectors, said = BAD_ARRAYS[case]
    with pytest.raises(DataError, match=said):
        Embeddings.from_arrays(words, vectors)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "../up"}, "cannot be the name"),
        ({"tokenizer": "none"}, "no tokenizer is called"),
        ({"source": {"a": float("nan")}}, "what JSON can"),
        ({"source": {"a": b""}}, "what JSON can"),
    ],
)
def test_bad_facts_are_refused(options, said):
    with pytest.raises(UsageError, match=said):
        Embeddings.from_arrays(WORDS, VECTORS, **options)


def test_texts_in_small_letters_find_words_with_capitals():
    """Texts are read in lower case; a word of its own comes first."""
    found = Embeddings.from_arrays(["Chicago", "US", "us", "CHICAGO"], [[0.0], [2.0], [3.0], [4.0]])
    assert [found.index(word) for word in ("chicago", "us", "US", "CHICAGO", "cHICAGO")] == [0, 2, 1, 3, None]


def test_digest_is_as_documented(small):
    content = b"publius/embeddings/v1\0" + struct.pack("<QQ", 4, 3)
    content += b"".join(word.encode() + b"\n" for word in WORDS) + VECTORS.astype("<f4").tobytes()
    assert small.sha256 == hashlib.sha256(content).hexdigest()


def test_digest_tells_words_and_numbers_apart(small):
    nudged = np.nextafter(VECTORS, np.float32(9))
    for words, vectors in ((WORDS[::-1], VECTORS), (WORDS, nudged), (["the", "hous", "e", "x"], VECTORS)):
        assert Embeddings.from_arrays(words, vectors).sha256 != small.sha256


def test_unknown_token_stands_nearest_to_the_mean(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 7)
    vectors = np.random.default_rng(8).standard_normal((100, 5)).astype(np.float32) + 100
    distances = np.linalg.norm(vectors.astype(float) - vectors.astype(float).mean(axis=0), axis=1)
    assert central_index(vectors) == distances.argmin()
    assert central_index(np.float32([[1], [0], [0], [1]])) == 0


def test_save_and_open(tmp_path, small):
    stored = small.save(tmp_path / "store")
    _same(stored, small)
    assert stored.folder == tmp_path / "store"
    stored.verify()
    assert sorted(path.name for path in stored.folder.iterdir()) == ["meta.json", "vectors.npy", "words.txt"]
    assert (stored.folder / "words.txt").read_text(encoding="utf-8").split("\n") == [*WORDS, ""]
    np.testing.assert_array_equal(np.load(stored.folder / "vectors.npy", allow_pickle=False), VECTORS)


def test_save_refuses_a_folder_with_content(tmp_path, small):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is not empty"):
        small.save(tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


TABLES = st.lists(
    st.text(max_size=6).filter(lambda word: word != UNKNOWN and not word_fault(word)), min_size=1, unique=True
).flatmap(
    lambda words: st.tuples(
        st.just(words), arrays.arrays(np.float32, (len(words), 3), elements=st.floats(-(2.0**56), 2.0**56, width=32))
    )
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=TABLES)
def test_any_admissible_table_survives_the_store(tmp_path_factory, table):
    made = Embeddings.from_arrays(*table)
    stored = made.save(tmp_path_factory.mktemp("store") / "new")
    _same(stored, made)
    stored.verify()
    assert [stored.index(word) for word in stored.vocabulary] == list(range(stored.size))


def test_opening_ones_own_maps_and_copies_nothing():
    words = [f"w{i}" for i in range(20_000)]
    folder = Embeddings.from_arrays(words, np.ones((20_000, 100), np.float32)).save(stored_folder("ones")).folder
    tracemalloc.start()
    try:
        opened = Embeddings.open(folder)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000  # the words; the vectors have 8 MB
    finally:
        tracemalloc.stop()
    assert isinstance(opened.vectors.base, np.memmap)
    assert type(opened.vectors) is np.ndarray
    assert not opened.vectors.flags.writeable
    assert opened.vectors.flags.c_contiguous
    assert "_indices" not in vars(opened)


def test_packaged_vectors_that_a_home_links_to_are_its_own_and_no_others(tmp_path, small, monkeypatch):
    """Those of a foreign folder are compared with their digest at each opening; the store's own were when made."""
    shared = tmp_path / "shared"
    small.save(shared / "packaged" / "toy")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "packaged").symlink_to(shared / "packaged")
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "embeddings").mkdir()
    assert in_own_store(tmp_path / "home" / "packaged" / "toy")
    small.save(tmp_path / "elsewhere" / "toy")
    (tmp_path / "home" / "embeddings" / "toy").symlink_to(tmp_path / "elsewhere" / "toy")
    assert not in_own_store(tmp_path / "home" / "embeddings" / "toy")
    assert not in_own_store(shared)


def test_from_store_goes_by_place_and_from_memory_by_content(tmp_path, small):
    words = [f"w{i}" for i in range(5_000)]
    large = Embeddings.from_arrays(words, np.zeros((5_000, 50), np.float32))
    stored = large.save(tmp_path / "store")
    assert len(pickle.dumps(stored)) < 1_000 < 10**6 < len(pickle.dumps(large))
    for one in (stored, large, small):
        received = pickle.loads(pickle.dumps(one))
        _same(received, one)
        assert not received.vectors.flags.writeable
        assert received.folder == one.folder
    _same(copy.deepcopy(stored), stored)


def _central_word(embeddings):
    return embeddings.word(embeddings.unknown_index), isinstance(embeddings.vectors.base, np.memmap)


@pytest.mark.long
def test_another_process_maps_the_same_store(tmp_path, small):
    stored = small.save(tmp_path / "store")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_central_word, (stored,)) == (small.word(small.unknown_index), True)


def test_a_store_that_was_replaced_is_noticed(tmp_path, small):
    sent = pickle.dumps(small.save(tmp_path / "store"))
    (tmp_path / "store").rename(tmp_path / "old")
    Embeddings.from_arrays(WORDS, VECTORS + 1).save(tmp_path / "store")
    with pytest.raises(DataError, match="was replaced while it was in use"):
        pickle.loads(sent)


def test_load_finds_names_folders_and_files(tmp_path, small, monkeypatch):
    stored = small.save(stored_folder("small"))
    (tmp_path / "v.bin.gz").write_bytes(packed(word2vec_binary()))
    _same(Embeddings.load("small"), small)
    _same(Embeddings.load(stored.folder), small)
    _same(Embeddings.load(str(stored.folder)), small)
    assert Embeddings.load(tmp_path / "v.bin.gz").sha256 == small.sha256
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small").write_bytes(glove(["other"], VECTORS[:1]))
    assert Embeddings.load("small").size == 4
    assert Embeddings.load("./small").size == 1


def test_load_of_nothing(tmp_path, small):
    small.save(stored_folder("small"))
    with pytest.raises(UsageError, match="known are glove-6b-50d, glove-6b-50d-400k, small"):
        Embeddings.load("smal")
    with pytest.raises(StorageError, match="no such file"):
        Embeddings.load(tmp_path / "missing")


@pytest.mark.parametrize(
    "name", ["../up", "/etc", "a/b", "..", ".hidden", "A", "a b", "", "a\0b", "-a", "x" * 101, "é"]
)
def test_names_cannot_leave_the_store(name):
    with pytest.raises(UsageError, match="cannot be the name"):
        stored_folder(name)


def test_a_name_that_is_a_link_is_refused(tmp_path, small, home):
    small.save(tmp_path / "elsewhere")
    (home / "embeddings").mkdir(parents=True)
    (home / "embeddings" / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="is a link"):
        Embeddings.load("link")
    (home / "embeddings" / "dangling").symlink_to(tmp_path / "new")
    with pytest.raises(UsageError, match="is stored: choose another name"):
        catalogue.new_stored_folder("dangling")


@pytest.mark.parametrize(
    ("variables", "root"),
    [
        ({"PUBLIUS_HOME": "/p", "XDG_DATA_HOME": "/x"}, "/p/embeddings"),
        ({"XDG_DATA_HOME": "/x"}, "/x/publius/embeddings"),
        ({"XDG_DATA_HOME": "relative", "HOME": "/h"}, "/h/.local/share/publius/embeddings"),
    ],
)
@pytest.mark.skipif("sys.platform != 'linux'", reason="the places of Linux")
def test_store_root(monkeypatch, variables, root):
    monkeypatch.delenv("PUBLIUS_HOME")
    for key, value in variables.items():
        monkeypatch.setenv(key, value)
    assert str(store_root()) == root


def test_temporary_folders_are_no_names(small, home):
    small.save(stored_folder("small"))
    (home / "embeddings" / ".publius-1-1.tmp").mkdir()
    assert stored_names() == ["small"]


@pytest.mark.parametrize(
    ("file", "name"),
    [("GoogleNews-32k.bin.gz", "googlenews-32k"), ("wiki.de.vec", "wiki.de"), ("数据.txt", "embeddings"), ("v", "v")],
)
def test_names_from_files(file, name):
    assert name_from(f"/x/{file}") == name


@pytest.mark.parametrize(("content", "tokenizer"), [(glove(), "glove"), (word2vec_binary(), "word2vec")])
def test_from_file_states_source_and_tokenizer(tmp_path, content, tokenizer):
    (tmp_path / "v").write_bytes(content)
    made = Embeddings.from_file(tmp_path / "v", limit=3, vocabulary={"the", "数据"})
    assert made.tokenizer == tokenizer
    assert made.vocabulary == ("the", "数据")
    assert {key: made.source[key] for key in ("limit", "vocabulary", "skipped", "unknown_rows")} == {
        "limit": 3, "vocabulary": 2, "skipped": {}, "unknown_rows": 0,
    }  # fmt: skip
    assert str(tmp_path) not in str(made.source)
    assert Embeddings.from_file(tmp_path / "v", tokenizer="word2vec").tokenizer == "word2vec"
    with pytest.raises(UsageError, match="no tokenizer"):
        Embeddings.from_file(tmp_path / "missing", tokenizer="none")


@needs_glove
def test_packaged_default():
    made = Embeddings.load()
    assert (made.name, made.size, made.dimension, made.tokenizer) == (DEFAULT, 50_000, 50, "glove")
    assert made.vocabulary[:3] == ("the", ",", ".")
    assert made.sha256 == "a2907f0bf033c1f9f35f387e642e2b596f994d70f34575bd486f28d3b927066e"
    assert made.vectors.flags.c_contiguous
    assert not made.vectors.flags.writeable


@needs_glove
def test_packaged_words_are_near_their_like():
    made = Embeddings.load(DEFAULT)
    monday = made.vectors[made.index("monday")]
    nearest = np.argsort(np.linalg.norm(made.vectors - monday, axis=1))[1:5]
    assert {made.word(index) for index in nearest} <= {"tuesday", "wednesday", "thursday", "friday", "sunday"}


@pytest.mark.parametrize("name", PACKAGED)
def test_missing_package_names_the_extra(monkeypatch, name):
    monkeypatch.setattr(list_rule, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"publius\[glove\]"):
        Embeddings.load(name)
    with pytest.raises(UsageError, match="packaged embeddings"):
        catalogue.new_stored_folder(name)


@given(st.lists(st.text(alphabet="ab \u00e9\u200d\x07\u2028", max_size=4), max_size=5))
def test_what_is_sure_of_all_words_at_once_is_true_of_each(words):
    """The quick look at a whole file passes no word that the rule for one word would not."""
    lines = "".join(f"{word}\n" for word in words)
    faults = [word_fault(word) for word in words]
    if surely_words(lines, words):
        assert not any(faults)
    elif not any(faults):
        assert not lines.replace("\n", "").isprintable()
    assert not surely_words("a" * 1001 + "\n", ["a" * 1001])
    assert surely_words("a b\n\u00e9\n", ["a b", "\u00e9"])
