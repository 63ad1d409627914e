"""Facts that must not change for an evaluation to go on in its folder, beside its request: texts, labels and code.

Texts may be private, so what is kept of them is one digest of all with a key of the evaluation's own. The key lies in
its folder, for that is kept as the texts are, and an evaluation must go on wherever its folder is; the page that binds
the folder's files leaves without it, and nobody can try texts against what the page says.
"""

from __future__ import annotations

import hmac
import json
from pathlib import Path
from typing import Any, Final

from publius.distances.metrics import definition_of, ground_metric, metric_asked
from publius.evaluation.data import Dataset
from publius.files import os_errors, write_file
from publius.files.user_code import PYTHON
from publius.mechanisms.outside import source_digest
from publius.mechanisms.registry import class_named
from publius.noise.randomness import KEY_BYTES, entropy
from publius.settings import EUCLIDEAN
from publius.text.tokenizer import StopWords

KEY: Final = "texts.key"


def what_is_the_same(
    mechanisms: tuple[str, ...], stop_words: str, dataset: Dataset, key: bytes, metric: str = EUCLIDEAN
) -> dict[str, Any]:
    """Facts for ``run.json``: keyed digests of the texts and of their labels, plain ones of public things."""
    own = metric.startswith(PYTHON)
    texts = [text for group in (dataset.known, dataset.unknown, dataset.topics) for text in group]
    return {
        "texts": _keyed(key, [(text.id, text.role, text.text) for text in texts]),
        "labels": _keyed(
            key, [(text.author, text.topic, text.role, text.sensitive, text.part) for text in texts]
        ),
        "stop_words_sha256": StopWords.load(stop_words).sha256,
        "mechanism_code": {
            **{name: source_digest(class_named(name)) for name in mechanisms},
            **({metric: source_digest(definition_of(ground_metric(metric_asked(metric))))} if own else {}),
        },
    }


def _keyed(key: bytes, rows: list[tuple[Any, ...]]) -> str:
    digest = hmac.new(key, digestmod="sha256")
    for row in rows:
        digest.update(json.dumps(row).encode() + b"\n")
    return digest.hexdigest()


def key_of(folder: Path) -> bytes:
    """The key of the evaluation in a folder; a fresh one where there is none. `StorageError` when reading fails."""
    path = folder / KEY
    with os_errors("read", path):
        return path.read_bytes() if path.exists() else entropy(KEY_BYTES)


def keep_key(folder: Path, key: bytes) -> None:
    """Keep the key of an evaluation that begins, for its owner only."""
    with write_file(folder / KEY, 0o600) as file:
        file.write(key)
