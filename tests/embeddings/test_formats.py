"""Readers of others' formats: round trips, an independent reader as oracle, what is kept and what is left out."""

import os
import threading
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from publius.embeddings.import_file import read_vectors
from publius.embeddings.store import LARGEST_NORM, word_fault
from publius.errors import DataError, UsageError
from publius.text.bag import UNKNOWN
from vector_files import VECTORS, WORDS, WRITERS, binary_rows, glove, header, packed, word2vec_binary

GOOGLE = Path(os.environ.get("PUBLIUS_TEST_DATA", "absent"), "GoogleNews-subset-32k.bin.gz")
BINARY_AND_TEXT = ("word2vec-binary", "glove")


def _file(folder, data, name="v"):
    (folder / name).write_bytes(data)
    return folder / name


def read(path, **options):
    words, vectors, source = read_vectors(path, **options)
    return SimpleNamespace(words=words, vectors=vectors, **source)


def _same(found, words, vectors):
    assert list(found.words) == list(words)
    assert found.vectors.dtype == np.float32
    np.testing.assert_array_equal(found.vectors, vectors)


@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize("format", WRITERS)
def test_round_trip(tmp_path, format, gz):
    write, name = WRITERS[format]
    path = _file(tmp_path, packed(write()) if gz else write(), name + ".gz" * gz)
    found = read(path)
    _same(found, WORDS, VECTORS)
    assert (found.format, found.rows, found.skipped, found.unknown_rows) == (format, 4, {}, 0)


@pytest.mark.long
@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize("format", WRITERS)
def test_an_independent_reader_agrees(tmp_path, format, gz):
    models = pytest.importorskip("gensim.models")
    write, name = WRITERS[format]
    rng = np.random.default_rng(3)
    words = [f"w{i}é" for i in range(500)]
    vectors = rng.standard_normal((500, 20))
    data = write(words, vectors)
    path = _file(tmp_path, packed(data) if gz else data, name + ".gz" * gz)
    headed = _file(tmp_path, (header(words, vectors) if format == "glove" else b"") + data, "headed")
    theirs = models.KeyedVectors.load_word2vec_format(str(headed), binary=format == "word2vec-binary")
    _same(read(path), theirs.index_to_key, theirs.vectors)


@pytest.mark.long
@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize("binary", [False, True])
def test_files_of_an_independent_writer(tmp_path, binary, gz):
    models = pytest.importorskip("gensim.models")
    vectors = np.random.default_rng(4).standard_normal((300, 10)).astype(np.float32)
    theirs = models.KeyedVectors(10)
    theirs.add_vectors([f"w{i}" for i in range(300)], vectors)
    path = tmp_path / ("v.gz" if gz else "v")
    theirs.save_word2vec_format(str(path), binary=binary)
    found = read(path)
    assert found.words == tuple(theirs.index_to_key)
    np.testing.assert_allclose(found.vectors, vectors, rtol=1e-6)


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _admissible(word):
    return word != UNKNOWN and word_fault(word) is None and not _is_number(word.rpartition(" ")[2])


TABLES = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.text(max_size=8).filter(_admissible), min_size=1, max_size=9, unique=True).flatmap(
        lambda words: st.tuples(
            st.just(words),
            arrays.arrays(np.float32, (len(words), n), elements=st.floats(-(2.0**56), 2.0**56, width=32)),
        )
    )
)


@pytest.mark.parametrize("format", WRITERS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=TABLES)
def test_any_admissible_table_survives(tmp_path, format, table):
    words, vectors = table
    if format == "word2vec-binary":
        words = [word.replace(" ", "_") for word in words]
        vectors[0, 0] = 0.5  # a first row of printable bytes only is taken for text, and refused
    write, name = WRITERS[format]
    if len(set(words)) == len(words):
        _same(read(_file(tmp_path, write(words, vectors), name)), words, vectors)


@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_binary_with_and_without_newlines_across_chunks(tmp_path, monkeypatch, newline):
    monkeypatch.setattr("publius.embeddings.import_file._CHUNK", 37)
    words = [f"word{i}" for i in range(100)]
    vectors = np.random.default_rng(5).standard_normal((100, 7)).astype(np.float32)
    _same(read(_file(tmp_path, word2vec_binary(words, vectors, newline))), words, vectors)


def test_binary_numbers_may_look_like_newlines_and_blanks(tmp_path):
    odd = np.frombuffer(b"\n\n\n\n    \n \n ", "<f4").reshape(1, 3)
    _same(read(_file(tmp_path, word2vec_binary(["a"], odd, b"\n"))), ["a"], odd)


@pytest.mark.parametrize("format", BINARY_AND_TEXT)
@pytest.mark.parametrize("limit", [1, 3, 4, 9])
def test_limit_keeps_the_first_and_reads_no_further(tmp_path, format, limit):
    words = [*WORDS, "the"]  # the repeated word would be refused
    path = _file(tmp_path, WRITERS[format][0](words, np.vstack([VECTORS, VECTORS[:1]])))
    if limit > 4:
        with pytest.raises(DataError, match=r"row 5.*the word of row 1 again"):
            read(path, limit=limit)
    else:
        _same(read(path, limit=limit), WORDS[:limit], VECTORS[:limit])


@pytest.mark.parametrize("format", BINARY_AND_TEXT)
def test_vocabulary_keeps_its_words_in_the_order_of_the_file(tmp_path, format):
    path = _file(tmp_path, WRITERS[format][0]())
    _same(read(path, vocabulary={"数据", "house", "absent"}), ["house", "数据"], VECTORS[[1, 3]])
    _same(read(path, vocabulary={"数据", "house"}, limit=1), ["house"], VECTORS[[1]])


def test_rows_outside_the_vocabulary_are_passed_over_unchecked(tmp_path):
    path = _file(tmp_path, word2vec_binary([b"\xff", "a"], [[1, 2], [3, 4]]))
    _same(read(path, vocabulary={"a"}), ["a"], [[3, 4]])


def test_limit_must_be_positive(tmp_path):
    with pytest.raises(UsageError, match="at least 1"):
        read(_file(tmp_path, glove()), limit=0)


@pytest.mark.parametrize("format", WRITERS)
def test_bad_rows_are_left_out_and_counted_when_asked(tmp_path, format):
    words = ["a", "b\x1b", "a", UNKNOWN, "c", "d"]
    vectors = np.arange(12, dtype=np.float32).reshape(6, 2)
    vectors[4, 0] = np.nan
    path = _file(tmp_path, WRITERS[format][0](words, vectors), WRITERS[format][1])
    found = read(path, skip_bad_rows=True)
    _same(found, ["a", "d"], vectors[[0, 5]])
    assert found.skipped == {
        "NaN among the numbers": 1, "a control character in the word": 1, "a repeated word": 1,
    }  # fmt: skip
    assert (found.unknown_rows, found.rows) == (1, 6)


def test_bad_lines_are_left_out_and_counted_when_asked(tmp_path):
    data = b"a 1 2\nb 1\nc 1 2 3\nd 1 x\n\n e 1 2\nf 3 4\n\n"
    found = read(_file(tmp_path, data), skip_bad_rows=True)
    _same(found, ["a", "f"], [[1, 2], [3, 4]])
    assert sum(found.skipped.values()) == 5
    assert found.rows == 7


def test_words_with_blanks_and_separators_stay_whole(tmp_path):
    words = ["at name@domain.com", ". . .", "at\u00a0name", "می\u200cروم"]
    data = glove(words, VECTORS).replace(b"\n", b"\r\n")
    _same(read(_file(tmp_path, data)), words, VECTORS)


def test_line_separators_do_not_split_a_row(tmp_path):
    data = glove(["a", "x\u0085y", "x\u2028y", "b"], VECTORS)
    with pytest.raises(DataError, match=r"row 2 \(line 2\): a control character \(U\+0085\)"):
        read(_file(tmp_path, data))
    _same(read(tmp_path / "v", skip_bad_rows=True), ["a", "b"], VECTORS[[0, 3]])


def test_byte_order_mark_is_no_part_of_a_word(tmp_path):
    _same(read(_file(tmp_path, b"\xef\xbb\xbf" + glove())), WORDS, VECTORS)


@pytest.mark.parametrize(("norm", "admitted"), [(LARGEST_NORM / 2, True), (LARGEST_NORM * 2, False)])
def test_squares_must_not_overflow(tmp_path, norm, admitted):
    path = _file(tmp_path, word2vec_binary(["a"], [[norm, 0]]))
    if admitted:
        assert np.isfinite(read(path).vectors @ np.float32([norm, norm])).all()
    else:
        with pytest.raises(DataError, match=r"row 1: a vector longer than 1e\+18"):
            read(path)


def test_progress_counts_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("publius.embeddings.import_file._NUMBERS_IN_A_BLOCK", 6)
    seen = []
    monkeypatch.setattr("publius.embeddings.import_file.advance", lambda done, total: seen.append((done, total)))
    read(_file(tmp_path, glove()))
    read(_file(tmp_path, header(WORDS, VECTORS) + glove()))
    assert seen == [(2, 0), (4, 0), (2, 4), (4, 4)]


def _through_a_pipe(data):
    reader, writer = os.pipe()

    def feed():
        with os.fdopen(writer, "wb") as sink:
            sink.write(data)

    thread = threading.Thread(target=feed)
    thread.start()
    return reader, thread


@pytest.mark.parametrize("format", WRITERS)
def test_a_pipe_is_read_as_a_file_is(format):
    reader, thread = _through_a_pipe(WRITERS[format][0]())
    try:
        _same(read(f"/dev/fd/{reader}"), WORDS, VECTORS)
    finally:
        thread.join()
        os.close(reader)


@pytest.mark.parametrize("rows", [binary_rows, lambda w, v: glove(w, v)])
def test_memory_grows_with_what_is_read_not_with_the_header(rows):
    words = [f"w{i}" for i in range(1000)]
    data = b"999999999999 300\n" + rows(words, np.ones((1000, 300)))
    reader, thread = _through_a_pipe(data)  # of unknown size, so the header cannot be compared with it
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"row 100[01].*the file ends here and its header says 999999999999"):
            read(f"/dev/fd/{reader}")
        assert tracemalloc.get_traced_memory()[1] < 40e6
    finally:
        tracemalloc.stop()
        thread.join()
        os.close(reader)


@pytest.mark.parametrize("gz", [False, True])
def test_a_header_beyond_the_file_is_refused_at_once(tmp_path, gz):
    data = b"999999999999 300\n" + binary_rows(["a"] * 1000, np.ones((1000, 300)))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="the file can hold"):
            read(_file(tmp_path, packed(data) if gz else data))
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_too_much_for_memory_names_the_way_out(tmp_path, monkeypatch):
    class Full(bytearray):
        def __iadd__(self, more):
            raise MemoryError

    monkeypatch.setattr("publius.embeddings.import_file.bytearray", Full, raising=False)
    with pytest.raises(DataError, match="do not fit into memory: keep fewer with limit"):
        read(_file(tmp_path, glove()))


def test_header_with_tabs_and_spaces(tmp_path):
    data = header(WORDS, VECTORS).replace(b" ", b"\t").replace(b"\n", b" \r\n") + glove()
    _same(read(_file(tmp_path, data)), WORDS, VECTORS)


@pytest.mark.long
def test_real_vectors():
    if not GOOGLE.exists():
        pytest.skip("PUBLIUS_TEST_DATA names no folder with the Google News subset")
    models = pytest.importorskip("gensim.models")
    theirs = models.KeyedVectors.load_word2vec_format(str(GOOGLE), binary=True, limit=3000)
    _same(read(GOOGLE, limit=3000), theirs.index_to_key, theirs.vectors)
    assert read(GOOGLE).vectors.shape == (32_174, 300)
