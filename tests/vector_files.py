"""Files of word vectors as other tools write them, made by the tests."""

import gzip
import io

import numpy as np

WORDS = ["the", "house", "naïve", "数据"]
VECTORS = np.random.default_rng(7).standard_normal((4, 3)).astype(np.float32)


def header(words, vectors):
    return f"{len(words)} {np.shape(vectors)[1]}\n".encode()


def binary_rows(words, vectors, newline=b""):
    rows = zip(words, np.asarray(vectors, "<f4"), strict=True)
    return b"".join((w if isinstance(w, bytes) else w.encode()) + b" " + v.tobytes() + newline for w, v in rows)


def text_rows(words, vectors, end=b"\n"):
    rows = zip(words, np.asarray(vectors, np.float32), strict=True)
    return b"".join(f"{word} {' '.join(f'{x:.9g}' for x in vector)}".encode() + end for word, vector in rows)


def word2vec_binary(words=WORDS, vectors=VECTORS, newline=b""):
    return header(words, vectors) + binary_rows(words, vectors, newline)


def word2vec_text(words=WORDS, vectors=VECTORS):
    return header(words, vectors) + text_rows(words, vectors)


def glove(words=WORDS, vectors=VECTORS):
    return text_rows(words, vectors)


def fasttext(words=WORDS, vectors=VECTORS):
    return header(words, vectors) + text_rows(words, vectors, b" \n")


WRITERS = {
    "word2vec-binary": (word2vec_binary, "v.bin"),
    "word2vec-text": (word2vec_text, "v.txt"),
    "glove": (glove, "v.txt"),
    "fasttext": (fasttext, "v.vec"),
}


def npz():
    stream = io.BytesIO()
    np.savez(stream, words=np.array(WORDS), vectors=VECTORS)
    return stream.getvalue()


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def npy_of_shape(shape):
    """A header that says ``shape``, and a little data."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return stream.getvalue() + bytes(600)


def packed(data):
    return gzip.compress(data, 1)
