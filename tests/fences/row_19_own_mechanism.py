"""Of a class of somebody's own nothing is called proven or certified that was not computed from its probabilities."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fences import Fence
from publius.cli import main, obfuscate
from publius.mechanisms import lifted, outside
from publius.mechanisms.registry import make_mechanism
from publius.noise.randomness import seeded_rng
from publius.privacy.guarantee import STATED
from publius.releases.plan import Encoding, Plan
from publius.vectors.embeddings import Embeddings
from toy import WORDS, sentence

_MODULE = '''
import math
import numpy as np
from publius import Kernel, Guarantee
from publius.mechanisms.kernel import AbstractExact

class Leaky(Kernel):
    """Tells the word, or any word; three times as much of it as it states."""
    name = "leaky"
    times = 3
    def __init__(self, embeddings, **given):
        super().__init__(embeddings, **given)
        apart = self.metric.pairwise(embeddings.vectors, embeddings.vectors)
        nearest = min(float(apart[apart > 0].min()), 20 / self.epsilon)
        odds = math.expm1(self.times * self.epsilon * nearest * (1 - 1e-9)) / embeddings.size
        self._truth = odds / (1 + odds)
    @property
    def guarantee(self):
        return Guarantee(self.epsilon, self.metric.name, "proven", delta=2.0**-51)
    def noise(self, count, rng):
        return rng.random((count, 2))
    def apply(self, words, noise, *, threads=1):
        size = self.embeddings.size
        drawn = np.minimum((noise[:, 1] * size).astype(np.int64), size - 1)
        return np.where(noise[:, 0] < self._truth, words, drawn)

class Told(Leaky, AbstractExact):
    """The same, and says its probabilities."""
    name = "told"
    def log_probabilities(self, words=None):
        size = self.embeddings.size
        words = np.arange(size) if words is None else words
        rest = (1 - self._truth) / size
        return np.log(rest + self._truth * (words[:, None] == np.arange(size)))

class Honest(Told):
    """As much as it states."""
    name = "honest"
    times = 1
'''


def _called(folder: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and standard output of a command that can import the classes."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setattr(sys, "argv", ["publius", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    return int(ended.value.code or 0), out.getvalue()


def _prepared(folder: Path) -> Embeddings:
    folder.mkdir(exist_ok=True)
    (folder / "ownclasses.py").write_text(_MODULE, encoding="utf-8")
    vectors = seeded_rng(20).standard_normal((len(WORDS), 8), np.float32)
    embeddings = Embeddings.from_arrays(WORDS, vectors, name="toy", tokenizer="word2vec")
    embeddings.save(folder / "toy")
    return embeddings


@contextlib.contextmanager
def _importable(folder: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield
    sys.modules.pop("ownclasses", None)


def _certificate(folder: Path, name: str) -> tuple[int, dict[str, Any]]:
    _prepared(folder)
    with _importable(folder):
        code, out = _called(
            folder, "certify", "--mechanism", f"python:ownclasses:{name}", "--epsilon", "2", "--embeddings",
            str(folder / "toy"), "--json",
        )  # fmt: skip
    return code, json.loads(out)


def _nothing_computed(folder: Path) -> None:
    code, said = _certificate(folder, "Leaky")
    assert (code, said["epsilon_certified"], said["pairs"], said["method"]) == (0, None, 0, STATED)


def _computed(folder: Path) -> None:
    code, said = _certificate(folder, "Told")
    assert (code, said["method"]) == (77, "exact")
    assert said["epsilon_certified"] == pytest.approx(6, rel=1e-6)
    code, said = _certificate(folder / "honest", "Honest")
    assert (code, said["method"]) == (0, "exact")
    assert said["epsilon_certified"] == pytest.approx(2, rel=1e-6)


def _said_with_the_release(folder: Path) -> None:
    embeddings = _prepared(folder)
    with _importable(folder):
        mechanism = make_mechanism("python:ownclasses:Honest", embeddings, epsilon=2.0)
        manifest = Plan(mechanism, Encoding.of("word2vec", length=4)).manifest(1)
    assert manifest["evidence"] == STATED
    assert f"({STATED}, for epsilon = 2 a word" in manifest["promise"]
    assert "proven" not in json.dumps(manifest)


def _checked_before_a_release(folder: Path) -> None:
    _prepared(folder)
    texts = folder / "texts.jsonl"
    texts.write_text(json.dumps({"id": "a", "text": sentence(1)}) + "\n", encoding="utf-8")
    with _importable(folder):
        code, _ = _called(
            folder, "obfuscate", str(texts), "--mechanism", "python:ownclasses:Leaky", "--epsilon", "2", "--length",
            "4", "--embeddings", str(folder / "toy"), "--output", str(folder / "out"), "--json",
        )  # fmt: skip
    assert (code, (folder / "out").exists()) == (77, False)


def _taken_for_ours(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(outside, "is_outside", lambda kind: False)


def _never_computed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(outside, "computed_constant", lambda mechanism: None)


def _believed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lifted, "known_guarantee", lambda kernel: kernel.guarantee)


def _unchecked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(obfuscate, "check_own_mechanism", lambda plan, name, parameters: None)


FENCES = (
    Fence(19, "what nothing computed is not certified", _nothing_computed, _taken_for_ours),
    Fence(19, "what is computed decides, not what is stated", _computed, _never_computed),
    Fence(19, "manifest and promise say that nothing was computed", _said_with_the_release, _believed),
    Fence(19, "a class that breaks the laws releases nothing", _checked_before_a_release, _unchecked),
)
