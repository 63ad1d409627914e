"""Public word vectors: a vocabulary, a vector for each word, and what identifies them.

They are public inputs: nothing here sees a document. A release names them by their digest.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import ArrayLike

from publius.arrays import Float32Array, IndexArray
from publius.embeddings import catalogue, store
from publius.embeddings.import_file import GLOVE, read_vectors
from publius.errors import AnyPath, DataError, StorageError, UsageError, shown
from publius.text.known_words import UNKNOWN
from publius.text.list_rule import PACKAGE, glove_data, glove_words
from publius.text.tokenizer import PROFILES, profile_named

_BLOCK: Final = 2**13


@final
@dataclass(frozen=True, eq=False, repr=False)
class Embeddings:
    """A public vocabulary of V words with vectors of dimension n; read-only.

    Made by `load`, `from_file` or `from_arrays`, which check every word and number. Vectors from a store are
    memory-mapped: processes share them, and pickling sends the place and the digest only.

    >>> made = Embeddings.from_arrays(["tea", "milk"], [[0.0, 1.0], [1.0, 0.0]])
    >>> made.index("milk"), made.size, made.dimension
    (1, 2, 2)
    """

    name: str
    vocabulary: tuple[str, ...]
    """The words; ``<unk>`` is never one of them."""
    vectors: Float32Array
    """Shape (V, n), read-only."""
    unknown_index: int
    """The word at whose vector the unknown token stands: nearest to the mean of all vectors."""
    tokenizer: str
    """The profile of `text` that suits the vocabulary."""
    source: Mapping[str, Any]
    """Where the vectors come from: format, limit and the like."""
    folder: Path | None = None
    """The store they are mapped from; None when they are in memory."""
    _known_sha256: str | None = None

    def __post_init__(self) -> None:
        self.vectors.flags.writeable = False
        object.__setattr__(self, "source", MappingProxyType(dict(self.source)))

    @classmethod
    def load(cls, name_or_path: AnyPath | None = None) -> Embeddings:
        """Embeddings by name or path; the packaged default without either.

        A name (``str``) is looked up among the packaged and then the stored ones; anything else is the path of a
        store's folder or of a file of vectors (`from_file`): write ``./name`` for a file called like a stored one.
        `MissingExtraError` without the extra ``glove``; `DataError` when the vectors are malformed; `UsageError`
        or `StorageError` when there are none.
        """
        given = catalogue.DEFAULT if name_or_path is None else name_or_path
        if isinstance(given, str):
            if given in catalogue.PACKAGED:
                return cls._packaged(given)
            if catalogue.is_stored(given):
                if (folder := catalogue.stored_folder(given)).is_symlink():
                    raise DataError(f"{shown(folder)} is a link: give the path that it leads to instead")
                return cls.open(folder)
        path = Path(given)
        if path.is_dir():
            return cls.open(path)
        if isinstance(given, str) and path.name == given and not path.exists():
            known = ", ".join((*catalogue.PACKAGED, *catalogue.stored_names()))
            raise UsageError(
                f"no embeddings are called {given!r}, and no file is: known are {known}; "
                "add others with: publius models import FILE --name NAME"
            )
        return cls.from_file(path)

    @classmethod
    def open(cls, folder: AnyPath) -> Self:
        """The store in ``folder``, memory-mapped; of one outside the user's own every byte is read, as `verify` does.

        Who can write to another folder could have changed it under its old digest, by which releases name it.
        """
        record, words, vectors = store.open_store(folder)
        if record.tokenizer not in PROFILES:
            raise DataError(f"{shown(folder)}: its tokenizer {record.tokenizer!r} is not known to this Publius")
        facts = record.name, words, vectors, record.unknown_index, record.tokenizer, record.source
        found = cls(*facts, Path(folder).resolve(), record.sha256)
        if not catalogue.in_own_store(folder):
            found.verify()
        return found

    @classmethod
    def from_file(
        cls, path: AnyPath, *, name: str | None = None, limit: int | None = None,
        vocabulary: AbstractSet[str] | None = None, tokenizer: str | None = None, skip_bad_rows: bool = False,
    ) -> Self:  # fmt: skip
        """Read word2vec binary or text, GloVe or fastText .vec, also gzip; see `import_file.read_vectors`.

        ``tokenizer`` is "glove" for GloVe files and "word2vec" for others unless given; ``name`` comes from the
        file's unless given.
        """
        if tokenizer is not None:
            profile_named(tokenizer)
        words, vectors, source = read_vectors(path, limit=limit, vocabulary=vocabulary, skip_bad_rows=skip_bad_rows)
        profile = tokenizer or ("glove" if source["format"] == GLOVE else "word2vec")
        return cls._checked(name or catalogue.name_from(path), words, vectors, profile, source)

    @classmethod
    def from_arrays(
        cls, words: Sequence[str], vectors: ArrayLike, *, name: str = "embeddings", tokenizer: str = "glove",
        source: Mapping[str, Any] | None = None,
    ) -> Self:  # fmt: skip
        """Embeddings from V words and an array of shape (V, n), which is copied to float32.

        ``source`` says where they come from, in what JSON can hold. `DataError` names the first row (from 1)
        that cannot be accepted.
        """
        array = np.asarray(vectors)
        if array.dtype.kind not in "fiu" or array.ndim != 2 or isinstance(words, str):
            raise DataError(
                f"words must be a sequence and vectors real numbers of shape (V, n), not {array.dtype} {array.shape}"
            )
        if len(words) != len(array) or not len(words) or not 1 <= array.shape[1] <= store.LARGEST_DIMENSION:
            raise DataError(
                f"{len(words)} words and vectors of shape {array.shape}: there must be a vector of "
                f"1 to {store.LARGEST_DIMENSION} numbers for each word"
            )
        with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite and is refused as such
            copied = np.array(array, np.float32, order="C", copy=True)
        _check_content(tuple(words), copied, "from_arrays")
        return cls._checked(name, tuple(words), copied, tokenizer, source or {"format": "arrays"})

    @classmethod
    def _checked(
        cls, name: str, words: tuple[str, ...], vectors: Float32Array, tokenizer: str, source: Mapping[str, Any]
    ) -> Self:
        try:
            facts = json.loads(json.dumps(dict(source), allow_nan=False))
        except (TypeError, ValueError):
            raise UsageError("source must hold what JSON can: texts, finite numbers, lists, mappings") from None
        profile = profile_named(tokenizer).name
        return cls(catalogue.check_name(name), words, vectors, central_index(vectors), profile, facts)

    @classmethod
    def _packaged(cls, name: str) -> Embeddings:
        """The package's vectors, converted to a store at first use so that later they are mapped at once.

        They are read by path: no code of the package is run.
        """
        data, limit = glove_data(), catalogue.PACKAGED[name]
        installed = data.parents[1].glob(f"{PACKAGE.replace('-', '_')}-*.dist-info")
        version = next((each.stem.rpartition("-")[2] for each in installed), "0")  # importlib.metadata is slow to start
        folder = catalogue.home() / catalogue.PACKAGED_FOLDER / f"{name}-{version}"
        if folder.is_dir():
            return cls.open(folder)
        try:
            vectors = np.load(data / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)[:limit]
            words = glove_words(limit)
        except (OSError, ValueError) as error:
            said = f"the package {PACKAGE} is damaged ({type(error).__name__}): install it again"
            raise DataError(said) from None
        source = {"format": "package", "package": PACKAGE, "version": version, "limit": limit}
        made = cls.from_arrays(words, vectors, name=name, tokenizer="glove", source=source)
        try:
            return made.save(folder)
        except (StorageError, UsageError):  # no place to write, or another process was quicker
            return made

    @property
    def size(self) -> int:
        """V, the number of words."""
        return len(self.vocabulary)

    @property
    def dimension(self) -> int:
        """n, the length of a vector."""
        return int(self.vectors.shape[1])

    @functools.cached_property
    def sha256(self) -> str:
        """The digest that identifies the words and vectors; see `store.digest`."""
        return self._known_sha256 or store.digest(self.vocabulary, self.vectors)

    @functools.cached_property
    def places(self) -> Mapping[str, int]:
        """The position of each word in the vocabulary, from 0; in small letters, too, of one with capitals.

        Texts are read in small letters: "chicago" is found at "Chicago" where it has no place of its own.
        """
        indices = dict(zip(self.vocabulary, range(self.size), strict=True))
        if len(indices) != self.size:
            raise DataError(f"{self._where()}: a word stands twice in the vocabulary; import it again")
        if (joined := " ".join(self.vocabulary)) == joined.lower():
            return indices
        small = dict(zip(map(str.lower, reversed(self.vocabulary)), reversed(range(self.size)), strict=True))
        return {**small, **indices}  # of several words that are one in small letters the first is found

    def index(self, word: str) -> int | None:
        """The position of ``word`` in the vocabulary, from 0; None when it is not there."""
        return self.places.get(word)

    def word(self, index: int) -> str:
        """The word at a position from 0."""
        return self.vocabulary[index]

    def __contains__(self, word: object) -> bool:
        return word in self.places

    def __len__(self) -> int:
        return self.size

    def save(self, folder: AnyPath) -> Embeddings:
        """Store in a new or empty folder, whole or not at all, and open what was stored."""
        record = store.Record(
            name=self.name, sha256=self.sha256, size=self.size, dimension=self.dimension,
            unknown_index=self.unknown_index, tokenizer=self.tokenizer, source=dict(self.source),
        )  # fmt: skip
        store.write_store(folder, record, self.vocabulary, self.vectors)
        return Embeddings.open(folder)

    def verify(self) -> None:
        """Read every byte again: digest, words, numbers, the unknown token's place. `DataError` if one is off."""
        where = self._where()
        if store.digest(self.vocabulary, self.vectors) != self.sha256:
            raise DataError(
                f"{where}: the digest does not match: the store was changed or the disk fails; "
                "remove it and import the vectors again"
            )
        _check_content(self.vocabulary, self.vectors, where)
        if central_index(self.vectors) != self.unknown_index:
            raise DataError(f"{where}: the unknown token's place is not as computed; import the vectors again")

    def _where(self) -> str:
        return shown(self.folder or self.name)

    def __repr__(self) -> str:
        return f"Embeddings({self.name!r}, size={self.size}, dimension={self.dimension})"

    def __reduce__(self) -> tuple[Callable[..., Embeddings], tuple[Any, ...]]:
        if self.folder is not None:
            return _reopened, (str(self.folder), self.sha256)
        facts = self.name, self.vocabulary, self.vectors, self.unknown_index, self.tokenizer, dict(self.source)
        return Embeddings, (*facts, None, self.sha256)


def _reopened(folder: str, sha256: str) -> Embeddings:
    embeddings = Embeddings.open(folder)
    if embeddings.sha256 != sha256:
        raise DataError(f"{shown(folder)} was replaced while it was in use: start again")
    return embeddings


def _check_content(words: tuple[str, ...], vectors: Float32Array, where: str) -> None:
    if not {str}.issuperset(map(type, words)):
        raise DataError(f"{where}: every word must be a str")
    if found := store.first_word_fault(words):
        raise DataError(f"{where}, row {found[0] + 1}: {found[1]}; leave the row out")
    for start in range(0, len(vectors), _BLOCK):
        for index, fault in store.vector_faults(vectors[start : start + _BLOCK]).items():
            raise DataError(f"{where}, row {start + index + 1}: {fault}; leave the row out")


def central_index(vectors: Float32Array) -> int:
    """The row of ``vectors``, shape (V, n), nearest to their mean (Euclidean, float64); the first of equals."""
    blocks = [vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK)]
    total = sum((block.sum(axis=0, dtype=np.float64) for block in blocks), np.zeros(vectors.shape[1]))
    mean = total / len(vectors)
    squared = np.concatenate([np.square(block - mean).sum(axis=1) for block in blocks])
    return int(squared.argmin())


def word_indices(words: Sequence[str], embeddings: Embeddings) -> IndexArray:
    """Vocabulary indices; the unknown token stands at `Embeddings.unknown_index`. `DataError` for other words."""
    indices = [embeddings.unknown_index if word == UNKNOWN else embeddings.index(word) for word in words]
    if missing := sum(index is None for index in indices):
        raise DataError(
            f"{missing} of {len(indices)} words are not in the vocabulary {embeddings.name!r}: make the bag with "
            "Bag.from_text, which replaces, drops or rejects unknown words"
        )
    return np.array(indices, np.int64)
