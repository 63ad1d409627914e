"""Damaged and hostile stores: refused when opened or verified, with the part that is wrong and the way out."""

import json
import shutil

import numpy as np
import pytest

from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError
from vector_files import VECTORS, WORDS, npy, npy_of_shape, npz

DEEP = b"[" * 100_000


def meta(**changes):
    def change(folder):
        record = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        for key, value in changes.items():
            record[key] = value
        (folder / "meta.json").write_text(json.dumps(record), encoding="utf-8")

    return change


def content(name, data):
    return lambda folder: (folder / name).write_bytes(data)


def missing(name):
    return lambda folder: (folder / name).unlink()


def link(name):
    def change(folder):
        (folder / name).rename(folder.parent / "elsewhere")
        (folder / name).symlink_to(folder.parent / "elsewhere")

    return change


def words(*lines):
    return content("words.txt", "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))


def vectors(data):
    return content("vectors.npy", data)


AGAIN = "remove the folder and import the vectors again"
NOT_VECTORS = "vectors.npy': "

# name: (what is done to a good store, what the message says, the way out)
OPENING = {
    "no meta": (missing("meta.json"), "it has no meta.json", "import the vectors"),
    "no words": (missing("words.txt"), "it has no words.txt", "import the vectors"),
    "no vectors": (missing("vectors.npy"), "it has no vectors.npy", "import the vectors"),
    "meta is a link": (link("meta.json"), "no meta.json, or one that is a link", "import the vectors"),
    "words are a link": (link("words.txt"), "no words.txt, or one that is a link", "import the vectors"),
    "vectors are a link": (link("vectors.npy"), "no vectors.npy, or one that is a link", "import the vectors"),
    "meta is not JSON": (content("meta.json", b"{"), "describes no store", AGAIN),
    "meta is not UTF-8": (content("meta.json", b'{"a": "\xff"}'), "describes no store", AGAIN),
    "meta is deep": (content("meta.json", DEEP), "describes no store", AGAIN),
    "meta is long": (content("meta.json", b" " * 2**21), "meta.json' has more than 1048576 bytes", "split it"),
    "meta is a list": (content("meta.json", b"[]"), "describes no store", AGAIN),
    "other format": (meta(format="other"), "`$.format`", AGAIN),
    "newer version": (meta(version=2), "`$.version`", AGAIN),
    "other numbers": (meta(dtype="float64"), "`$.dtype`", AGAIN),
    "name with a path": (meta(name="../../etc"), "`$.name`", AGAIN),
    "name with an escape": (meta(name="a\x1b[2J"), "`$.name`", AGAIN),
    "name with a line feed": (meta(name="good\n"), "`$.name`", AGAIN),
    "an escape as a key": (meta(**{"\x1b[2J": 1}), "unknown field `[2J`", AGAIN),
    "no name": (meta(name=None), "`$.name`", AGAIN),
    "short digest": (meta(sha256="abc"), "`$.sha256`", AGAIN),
    "size as text": (meta(size="4"), "`$.size`", AGAIN),
    "size true": (meta(size=True), "`$.size`", AGAIN),
    "size negative": (meta(size=-4), "`$.size`", AGAIN),
    "size of 10^12": (meta(size=10**12), "4 whole lines, and meta.json says 1000000000000", AGAIN),
    "size too small": (meta(size=3, unknown_index=0), "4 whole lines, and meta.json says 3", AGAIN),
    "dimension of 10^12": (meta(dimension=10**12), "`$.dimension`", AGAIN),
    "dimension too small": (meta(dimension=2), "float32 array of shape (4, 2)", AGAIN),
    "unknown token outside": (meta(unknown_index=4), "unknown_index is beyond the last word", AGAIN),
    "unknown token negative": (meta(unknown_index=-1), "`$.unknown_index`", AGAIN),
    "tokenizer of the future": (meta(tokenizer="other"), "its tokenizer 'other' is not known", "this Publius"),
    "source is a list": (meta(source=[]), "`$.source`", AGAIN),
    "another key": (meta(extra=1), "unknown field `extra`", AGAIN),
    "a word missing": (words(*WORDS[:3]), "3 whole lines, and meta.json says 4", AGAIN),
    "the last word cut": (content("words.txt", "\n".join(WORDS).encode()), "3 whole lines", AGAIN),
    "empty word": (words("the", "", "c", "d"), "line 2: an empty word", AGAIN),
    "carriage return": (words("the", "b\r", "c", "d"), "line 2: a control character (U+000D)", AGAIN),
    "escape": (words("the", "\x1b[2J", "c", "d"), "line 2: a control character (U+001B)", AGAIN),
    "right-to-left": (words("the", "\u202eb", "c", "d"), "line 2: a bidirectional control", AGAIN),
    "not UTF-8": (words("the", "\udcff", "c", "d"), "not UTF-8 at byte 4", AGAIN),
    "unknown token a word": (words("the", "<unk>", "c", "d"), "the unknown token is among the words", AGAIN),
    "float64": (vectors(npy(VECTORS.astype(float))), NOT_VECTORS, AGAIN),
    "Fortran order": (vectors(npy(np.asfortranarray(VECTORS))), NOT_VECTORS, AGAIN),
    "big endian": (vectors(npy(VECTORS.astype(">f4"))), NOT_VECTORS, AGAIN),
    "other shape": (vectors(npy(VECTORS.T.copy())), NOT_VECTORS, AGAIN),
    "one dimension": (vectors(npy(VECTORS.ravel())), NOT_VECTORS, AGAIN),
    "pickled objects": (vectors(npy(VECTORS.astype(object), allow_pickle=True)), NOT_VECTORS, AGAIN),
    "npz": (vectors(npz()), NOT_VECTORS, AGAIN),
    "cut short": (vectors(npy(VECTORS)[:-1]), NOT_VECTORS, AGAIN),
    "something after": (vectors(npy(VECTORS) + b"x"), NOT_VECTORS, AGAIN),
    "cut in the header": (vectors(npy(VECTORS)[:50]), NOT_VECTORS, AGAIN),
    "a shape that no integer holds": (vectors(npy_of_shape((10**20, 3))), NOT_VECTORS, AGAIN),
    "a shape that no memory holds": (vectors(npy_of_shape((2**62, 3))), NOT_VECTORS, AGAIN),
    "empty": (vectors(b""), NOT_VECTORS, AGAIN),
    "noise": (vectors(b"\x93NUMPY\x01\x00\xff\xff" + bytes(70_000)), NOT_VECTORS, AGAIN),
}

FORGED = np.where(np.eye(4, 3), np.nan, VECTORS)


def forged(lines=WORDS, array=VECTORS):
    """A store whose digest is right and whose content is not admissible."""
    from publius.embeddings.store import digest

    def change(folder):
        words(*lines)(folder)
        vectors(npy(array.astype(np.float32)))(folder)
        meta(sha256=digest(lines, array.astype(np.float32)))(folder)

    return change


def other_place(folder):
    meta(unknown_index=(Embeddings.open(folder).unknown_index + 1) % 4)(folder)


VERIFYING = {
    "a number changed": (vectors(npy(np.nextafter(VECTORS, np.float32(9)))), "digest does not match", "import"),
    "a word changed": (words("The", *WORDS[1:]), "digest does not match", "import"),
    "digest changed": (meta(sha256="0" * 64), "digest does not match", "import"),
    "forged, a word again": (forged(["the", "the", "c", "d"]), "row 2: a word that stood before", "leave the row out"),
    "forged, NaN": (forged(array=FORGED), "row 1: NaN", "leave the row out"),
    "forged, squares overflow": (forged(array=VECTORS * 1e30), "row 1: a vector longer", "leave the row out"),
    "unknown token moved": (other_place, "the unknown token's place is not as computed", "import"),
}


@pytest.fixture
def good(home):
    return Embeddings.from_arrays(WORDS, VECTORS, name="good").save(home / "embeddings" / "good").folder


@pytest.mark.parametrize("case", OPENING)
def test_opening_refuses(good, case):
    change, said, way_out = OPENING[case]
    change(good)
    with pytest.raises(DataError) as caught:
        Embeddings.load("good")
    message = str(caught.value)
    assert said in message
    assert way_out in message
    assert message.isprintable()


@pytest.mark.parametrize("case", VERIFYING)
def test_verifying_refuses(good, tmp_path, case):
    """What lies in the user's own store is opened at once; what lies elsewhere is verified."""
    change, said, way_out = VERIFYING[case]
    change(good)
    found = Embeddings.load("good")
    for call in (found.verify, lambda: Embeddings.open(shutil.copytree(good, tmp_path / "elsewhere"))):
        with pytest.raises(DataError, match=said) as caught:
            call()
        assert way_out in str(caught.value)


def test_a_repeated_word_is_found_before_it_is_used(good):
    forged(["the", "the", "c", "d"])(good)
    with pytest.raises(ValueError, match="a word stands twice"):
        Embeddings.open(good).index("the")
