"""Hostile and damaged files of vectors: each a typed error with the place and the way out, and nothing stored."""

import pickle
import random

import numpy as np
import pytest

from publius.embeddings.embeddings import Embeddings
from publius.embeddings.import_file import read_vectors
from publius.errors import DataError, PubliusError
from publius.files.reading import GZIP_FREE
from vector_files import VECTORS, WORDS, binary_rows, glove, header, npy, npz, packed, text_rows
from vector_files import word2vec_binary as binary
from vector_files import word2vec_text as text

NAN, INF = float("nan"), float("inf")
NOISE = random.Random(2).randbytes(20_000)


def changed(row, word=None, number=None, write=binary):
    """Four good rows, one of them changed."""
    words, vectors = list(WORDS), VECTORS.copy()
    words[row - 1] = words[row - 1] if word is None else word
    if number is not None:
        vectors[row - 1, 1] = number
    return write(words, vectors)


def lines(*rows, head=b""):
    return head + b"".join(row + b"\n" for row in rows)


FETCH, SKIP, IMPORT = "fetch", "--skip-bad-rows", "from_arrays"

# name: (content, what the message says, the way out)
FILES = {
    # headers
    "empty file": (b"", "is empty", FETCH),
    "header only": (b"4 3\n", "header: 4 words of 3 numbers take at least", FETCH),
    "header of 10^12 words": (b"1000000000000 3\n" + binary_rows(WORDS, VECTORS), "header: 1000000000000 words", FETCH),
    "header of 10^12 words, gzip": (packed(b"1000000000000 3\n" + glove()), "header: 1000000000000 words", FETCH),
    "header of 10^12 numbers": (b"4 1000000000000\n" + glove(), "header: 4 words of 1000000000000 numbers", FETCH),
    "header of 40 digits": (b"1" * 40 + b" 3\n" + glove(), "header: a number of more than 18 digits", FETCH),
    "header of 10,001 numbers": (b"1 10001\n" + bytes(50_000), "1 to 10000 numbers", FETCH),
    "header without words": (b"0 3\n" + glove(), "header: 0 words", FETCH),
    "header without numbers": (b"4 0\n" + glove(), "header: 4 words of 0 numbers", FETCH),
    "negative header": (b"-4 3\n" + glove(), "header: -4 words", FETCH),
    # binary
    "binary, cut in a vector": (binary()[:-5], "row 4: the file ends here and its header says 4", FETCH),
    "binary, cut in a vector after long words": (
        binary(["x" * 90, "y", "z", "w"], VECTORS)[:-5], "row 4: the file ends here", FETCH),
    "binary, cut in a word": (binary(["x" * 90, "y", "z", "w" * 90], VECTORS)[:-60], "row 4: the file ends", FETCH),
    "binary, a row missing": (
        b"5 3\n" + binary_rows(["x" * 90, "a", "b", "c"], VECTORS), "row 5: the file ends here", FETCH),
    "binary, a row too many": (b"3 3\n" + binary_rows(WORDS, VECTORS), "row 3: more follows than the 3", FETCH),
    "binary, something after": (binary() + b"tail", "row 4: more follows", FETCH),
    "binary, no end of a word": (b"2 3\n" + binary_rows(["a"], VECTORS[:1]) + b"x" * 9000, "no word ends", FETCH),
    "binary, noise": (b"4 3\n" + NOISE, "row", ""),
    "binary, NaN": (changed(2, number=NAN), "row 2: NaN among the numbers", SKIP),
    "binary, infinite": (changed(3, number=INF), "row 3: an infinite number", SKIP),
    "binary, minus infinite": (changed(4, number=-INF), "row 4: an infinite number", SKIP),
    "binary, squares overflow": (changed(1, number=1e30), "row 1: a vector longer than 1e+18", SKIP),
    "binary, a word again": (changed(3, word="the"), "row 3: the word of row 1 again", SKIP),
    "binary, empty word": (changed(2, word=""), "row 2: an empty word", SKIP),
    "binary, escape": (changed(2, word="a\x1b[2J"), "row 2: a control character (U+001B)", SKIP),
    "binary, null": (changed(2, word="a\0b"), "row 2: a control character (U+0000)", SKIP),
    "binary, newline in a word": (changed(2, word="a\nb"), "row 2: a control character (U+000A)", SKIP),
    "binary, next line": (changed(2, word="a\u0085b"), "row 2: a control character (U+0085)", SKIP),
    "binary, line separator": (changed(2, word="a\u2028b"), "row 2: a control character (U+2028)", SKIP),
    "binary, right-to-left override": (changed(2, word="a\u202eb"), "row 2: a bidirectional control (U+202E)", SKIP),
    "binary, bidirectional isolate": (changed(2, word="a\u2066b"), "row 2: a bidirectional control (U+2066)", SKIP),
    "binary, byte order mark": (changed(2, word="\ufeffb"), "row 2: a control character (U+FEFF)", SKIP),
    "binary, blank word": (changed(2, word="\u00a0\u3000"), "row 2: a word of blanks only", SKIP),
    "binary, invisible word": (changed(2, word="\u200d"), "row 2: a word of blanks only", SKIP),
    "binary, bytes that are not UTF-8": (changed(2, word=b"caf\xe9"), "row 2: bytes that are not UTF-8", SKIP),
    "binary, a surrogate": (changed(2, word=b"a\xed\xb0\x80"), "row 2: bytes that are not UTF-8", SKIP),
    "binary, long word": (changed(2, word="x" * 1001), "row 2: a word of more than 1000 characters", SKIP),
    # text
    "text, a row missing": (b"5 3\n" + glove(), "row 4 (line 5): the file ends here", FETCH),
    "text, a row too many": (b"3 3\n" + glove(), "row 4 (line 5): the header says 3 words", "correct it"),
    "text, cut in the last number's row": (text()[:-15], "row 4 (line 5)", SKIP),
    "text, a number missing": (lines(b"a 1 2", b"b 1"), "row 2 (line 2): 1 numbers instead of 2", SKIP),
    "text, a number too many": (lines(b"a 1 2", b"b 1 2 3"), "row 2 (line 2): more than 2 numbers", SKIP),
    "text, header and a number too many": (
        lines(b"a 1 2", b"b 1 2 3", head=b"2 2\n"), "row 2 (line 3): more than 2 numbers", SKIP),
    "text, not a number": (lines(b"a 1 2", b"b 1 x"), "row 2 (line 2): something that is not a number", SKIP),
    "text, decimal comma": (lines(b"a 1.0 2", b"b 1,0 2"), "row 2 (line 2): something that is not a number", SKIP),
    "text, hexadecimal": (lines(b"a 1 2", b"b 1 0x1p3"), "row 2 (line 2): something that is not a number", SKIP),
    "text, underscore": (lines(b"a 1 2", b"b 1 1_0"), "row 2 (line 2): something that is not a number", SKIP),
    "text, two blanks": (lines(b"a 1 2", b"b 1  2"), "row 2 (line 2)", SKIP),
    "text, tabs": (lines(b"a 1 2", b"b\t1\t2"), "row 2 (line 2): 0 numbers instead of 2", SKIP),
    "text, NaN": (lines(b"a 1 2", b"b 1 nan"), "row 2 (line 2): NaN", SKIP),
    "text, infinite": (lines(b"a 1 2", b"b -inf 2"), "row 2 (line 2): an infinite number", SKIP),
    "text, beyond float32": (lines(b"a 1 2", b"b 1e39 2"), "row 2 (line 2): an infinite number", SKIP),
    "text, beyond float64": (lines(b"a 1 2", b"b 1e999 2"), "row 2 (line 2): an infinite number", SKIP),
    "text, a word again": (changed(3, word="the", write=text), "row 3 (line 4): the word of row 1 again", SKIP),
    "text, empty word": (lines(b"a 1 2", b" 1 2"), "row 2 (line 2): an empty word", SKIP),
    "text, blank at the edge": (lines(b"a 1 2", b" b 1 2"), "row 2 (line 2): a word that starts or ends", SKIP),
    "text, empty line": (lines(b"a 1 2", b"", b"b 1 2"), "row 2 (line 2): an empty line", SKIP),
    "text, escape": (changed(2, word="a\x1bb", write=text), "row 2 (line 3): a control character (U+001B)", SKIP),
    "text, next line": (changed(2, word="\u0085", write=glove), "row 2 (line 2): a control character (U+0085)", SKIP),
    "text, right-to-left": (changed(2, word="a\u200f", write=glove), "row 2 (line 2): a bidirectional", SKIP),
    "text, not UTF-8": (lines(b"a 1 2", b"caf\xe9 1 2"), "row 2 (line 2): bytes that are not UTF-8", SKIP),
    "text, a long line": (lines(b"a 1 2", b"b " + b"1 " * 600_000), "row 2 (line 2): a line of more than", FETCH),
    "text, 10,001 numbers": (b"a" + b" 1" * 10_001, "row 1 has 10001 numbers", "is this a file of word vectors"),
    "text, prose": (b"It was a dark and stormy night.\n" * 9, "row 1 has 0 numbers", "is this a file of word vectors"),
    "text, UTF-16": (glove().decode().encode("utf-16"), "row 1 has 0 numbers", "is this a file of word vectors"),
    "only the unknown token": (glove(["<unk>"], VECTORS[:1]), "none of its 1 rows is a word to keep", FETCH),
    # gzip
    "gzip, cut short": (packed(text())[:-9], "is damaged or cut short", FETCH),
    "gzip, wrong checksum": (packed(text())[:-8] + bytes(8), "is damaged or cut short", FETCH),
    "gzip, something after": (packed(text()) + b"tail", "is damaged or cut short", FETCH),
    "gzip, bomb": (
        packed(b"a 1 2\n" + (b" " * 9_999 + b"\n") * (GZIP_FREE // 5_000)), "unpacks to more than", "unpack it"),
    "gzip, bomb of one line": (packed(b"a 1 2\nb " + b"1" * 2 * GZIP_FREE), "row 2 (line 2): a line", FETCH),
    # other containers
    "npz": (npz(), "npz archive", IMPORT),
    "npy": (npy(VECTORS), "NumPy array without words", IMPORT),
    "pickle": (pickle.dumps({"a": [1.0]}), "a Python pickle, which is never opened", "word2vec format"),
    "fastText model": (b"\xba\x16\x4f\x2f" + NOISE, "a fastText model", "the .vec file"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + NOISE, "HDF5", "word2vec format"),
    "Parquet": (b"PAR1\x15" + NOISE, "Parquet", "word2vec format"),
    "bzip2": (b"BZh91AY&SY" + NOISE, "bzip2", "unpack it"),
    "xz": (b"\xfd7zXZ\0" + NOISE, "xz", "unpack it"),
}  # fmt: skip


def test_there_are_enough():
    assert len(FILES) >= 60
    assert len({content for content, _, _ in FILES.values()}) == len(FILES)


def refused(call):
    """The exit code and the message of what is refused."""
    with pytest.raises(PubliusError) as caught:
        call()
    return caught.value.exit_code, str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_refused(tmp_path, name):
    content, said, way_out = FILES[name]
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    code, message = refused(lambda: Embeddings.from_file(path))
    assert code == 65
    assert message.startswith(f"'{path}'")
    assert said in message
    assert way_out in message
    assert message.isprintable()
    if way_out == SKIP:  # the way out works
        mended = Embeddings.from_file(path, skip_bad_rows=True)
        assert mended.source["skipped"]
        mended.save(tmp_path / "store").verify()


@pytest.mark.parametrize(
    ("target", "code", "said"),
    [("missing", 74, "no such file"), ("", 74, "it is a folder"), ("file/below", 74, "is a file, not a folder"),
     ("file.gz", 65, "is named .gz but is not gzip: rename")],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(tmp_path, target, code, said):
    (tmp_path / "file").touch()
    (tmp_path / "file.gz").write_bytes(b"a 1 2\n")
    found, message = refused(lambda: Embeddings.from_file(tmp_path / target))
    assert found == code
    assert said in message


def test_a_full_disk_leaves_nothing(tmp_path, home, monkeypatch):
    (tmp_path / "v.txt").write_bytes(glove())

    def fail(*_, **__):
        raise OSError(28, "")

    monkeypatch.setattr(np.lib.format, "write_array_header_1_0", fail)
    code, message = refused(lambda: Embeddings.from_file(tmp_path / "v.txt").save(home / "embeddings" / "full"))
    assert code == 74
    assert "no space left on device; free some space" in message
    assert not [path for path in home.rglob("*") if path.is_file()], "an empty private store at most"


def test_cut_anywhere_is_never_accepted(tmp_path):
    whole = header(WORDS, VECTORS) + text_rows(WORDS, VECTORS).rstrip(b"\n")
    last_number = len(whole.rpartition(b" ")[2])
    for data, ends in ((binary(), 1), (packed(whole), 1), (whole, last_number)):
        for end in range(len(data) - ends + 1):
            (tmp_path / "v").write_bytes(data[:end])
            with pytest.raises(DataError):
                read_vectors(tmp_path / "v")
