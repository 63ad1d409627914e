"""Of a class of somebody's own nothing is called proven or certified that was not computed from its probabilities.

What it says while it works on documents is not heard.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fences import Fence
from publius.cli import main, obfuscate
from publius.errors import PubliusError
from publius.evaluation import signed
from publius.files import user_code
from publius.mechanisms import kernel, lifted, outside, whole
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
        nearest = min(float(apart[apart > 0].min()), 10 / self.epsilon)
        odds = math.expm1(self.times * self.epsilon * nearest * (1 - 1e-9)) / embeddings.size
        self._truth = odds / (1 + odds)
    @property
    def guarantee(self):
        return Guarantee(self.epsilon, self.metric.name, "proven", delta=2.0**-30)
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

class Loud(Honest):
    """Says in some way what it sees, but only where a document has the word that no toy vocabulary has."""
    name = "loud"
    way = None
    def apply(self, words, noise, *, threads=1):
        for word in words.tolist():
            if self.embeddings.word(word) == "mountain":
                saying(self.way, self.embeddings.word(word))
        return super().apply(words, noise, threads=threads)

def saying(way, word):
    import contextlib, logging, sys, warnings
    from publius.errors import CancelledError, DataError, MissingExtraError
    kinds = {
        each.__name__: each
        for each in (DataError, CancelledError, MissingExtraError, ValueError, OSError, SystemExit, BaseException,
                     KeyboardInterrupt, MemoryError)
    }
    if way in kinds:
        raise kinds[way](*[word] * (2 if way == "MissingExtraError" else 1))
    if way == "prints":
        print(word)
        print(word, file=sys.stderr, flush=True)
        sys.stdout.write(word)
        sys.stdout.buffer.write(word.encode())
    elif way == "warns":
        warnings.warn(word)
    elif way == "logs":
        logging.getLogger("mine").warning(word)
        logging.warning(word)

for way in ("DataError", "CancelledError", "MissingExtraError", "ValueError", "OSError", "SystemExit", "BaseException",
            "KeyboardInterrupt", "MemoryError", "prints", "warns", "logs"):
    globals()[way.capitalize()] = type(way.capitalize(), (Loud,), {"way": way, "__module__": __name__})
'''

_LOUD = (
    *((name, 77) for name in ("Dataerror", "Cancellederror", "Missingextraerror", "Valueerror", "Oserror")),
    ("Systemexit", 77), ("Baseexception", 77), ("Keyboardinterrupt", 130), ("Memoryerror", 74), ("Prints", 0),
    ("Warns", 0), ("Logs", 0),
)  # fmt: skip


def _called(folder: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and standard output of a command that can import the classes."""
    code, out, _ = _heard(folder, *arguments)
    return code, out


def _heard(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """The same, and standard error."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["publius", *arguments])
        with pytest.raises(BaseException) as ended:
            main()
    said = [each.buffer.getvalue().decode() for each in (out, err)]
    return (
        int(ended.value.code or 0) if isinstance(ended.value, SystemExit) else -1,
        said[0],
        said[1] + str(ended.value),
    )


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
    assert said["probabilities"].endswith("draws were not compared")


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


def _not_heard(folder: Path) -> None:
    _prepared(folder)
    texts = folder / "texts.jsonl"
    texts.write_text(json.dumps({"id": "a", "text": "mountain mountain river calm"}) + "\n", encoding="utf-8")
    before = sys.stdout, sys.stderr, warnings.showwarning, logging.root.handlers[:]
    for name, expected in _LOUD:
        with _importable(folder), warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            _unchecked(patch)  # whose draws take most of the time
            warnings.simplefilter("always")
            code, out, err = _heard(
                folder, "obfuscate", str(texts), "--mechanism", f"python:ownclasses:{name}", "--epsilon", "2",
                "--length", "4", "--embeddings", str(folder / "toy"), "--output", str(folder / name), "--json",
            )  # fmt: skip
        logging.root.handlers[:] = before[3]
        assert (code, "mountain" in out + err) == (expected, False), (name, code, out, err)
        if code == 77:  # which type, and where
            assert f"the mechanism loud failed: {name}".lower() in err.lower(), err
            assert "at ownclasses.py:" in err
        else:
            assert (folder / name).exists() == (code == 0)
        assert not out or json.loads(out)["documents"] == 1
    assert before[:3] == (sys.stdout, sys.stderr, warnings.showwarning)


def _signed_for_its_code(folder: Path) -> None:
    """What was measured of a class says nothing about the class as it was changed since."""
    embeddings = _prepared(folder)
    embeddings.save(Path(os.environ["PUBLIUS_HOME"], "embeddings", "toy"))
    rows = [
        {"id": f"{a}{n}", "author": a, "topic": "x", "text": sentence(seed), "role": "known" if n else "unknown"}
        for seed, (a, n) in enumerate((a, n) for a in "abc" for n in range(3))
    ]  # fmt: skip
    texts = folder / "texts.jsonl"
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    release, again = folder / "release", folder / "again"
    setting = (
        "--mechanism", "python:ownclasses:Honest", "--epsilon", "2", "--length", "4", "--embeddings", "toy",
    )  # fmt: skip
    attack = ("--adversaries", "sr-nearest", "--tasks", "author", "--workers", "1", "--output")
    calls: tuple[tuple[tuple[str, ...], int, str], ...] = (
        (("evaluate", str(texts), *setting, *attack, str(folder / "measured")), 0, ""),
        (("obfuscate", str(texts), *setting, "--number", "--output", str(release)), 0, ""),
        (("signoff", str(release), "--evaluation", str(folder / "measured"), "--json"), 0, ""),
        (("evaluate", str(texts), "--release", str(release), *setting[:2], *attack, str(again)), 0, ""),
        (
            ("evaluate", str(texts), "--release", str(release), *attack, str(again)),
            2,
            f"give {' '.join(setting[:2])}",
        ),
        (("inspect", str(texts), "--release", str(release)), 2, "docs/how-to/add-a-mechanism.md"),
    )
    with pytest.MonkeyPatch.context() as patch:
        _unchecked(patch)  # whose draws take most of the time
        for arguments, expected, told in calls:
            with _importable(folder):
                code, _, said = _heard(folder, *arguments)
            assert (code, told in said) == (expected, True), (arguments, said)
        changed = _MODULE.replace('"honest"\n    times = 1', '"honest"\n    times = 0.5')
        (folder / "ownclasses.py").write_text(changed, encoding="utf-8")
        release = folder / "changed"
        with _importable(folder):
            code, _, said = _heard(
                folder, "obfuscate", str(texts), *setting, "--number", "--output", str(release)
            )
        assert code == 0, said
    for of, measured in ((release, "measured"), (folder / "release", "later")):
        with _importable(folder):
            if measured == "later":
                code, _, said = _heard(
                    folder, "evaluate", str(texts), *setting, *attack, str(folder / measured)
                )
                assert code == 0, said
            code, _, said = _heard(
                folder, "signoff", str(of), "--evaluation", str(folder / measured), "--json"
            )
        assert (code, f"measured other code of the mechanism {setting[1]}" in said) == (2, True), said
    with _importable(folder):
        code, _, said = _heard(
            folder,
            "evaluate",
            str(texts),
            "--release",
            str(folder / "release"),
            *setting[:2],
            *attack,
            str(folder / "x"),
        )
    assert (code, "other code" in said) == (2, True), said


def _taken_for_ours(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(outside, "is_outside", lambda kind: False)


def _never_computed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(outside, "computed_constant", lambda mechanism: None)


def _believed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lifted, "known_guarantee", lambda kernel: kernel.guarantee)


def _unchecked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(obfuscate, "check_own_mechanism", lambda plan, name, parameters: None)


def _heard_again(patch: pytest.MonkeyPatch) -> None:
    for module in (kernel, whole):
        patch.setattr(module, "unheard", lambda kind, name: contextlib.nullcontext())


def _errors_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(user_code, "_silence", contextlib.nullcontext())


def _ours_are_believed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(user_code, "_is_ours", lambda error: isinstance(error, PubliusError | SystemExit))


def _whatever_its_code(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(signed, "_check_code", lambda manifest, results, line, folder: None)


FENCES = (
    Fence(19, "what nothing computed is not certified", _nothing_computed, _taken_for_ours),
    Fence(19, "what is computed decides, not what is stated", _computed, _never_computed),
    Fence(19, "manifest and promise say that nothing was computed", _said_with_the_release, _believed),
    Fence(19, "a class that breaks the laws releases nothing", _checked_before_a_release, _unchecked),
    Fence(19, "what it says of documents is not heard", _not_heard, _heard_again),
    Fence(19, "nor what it prints and warns of", _not_heard, _errors_alone),
    Fence(19, "nor in an error of ours", _not_heard, _ours_are_believed),
    Fence(19, "an evaluation of other code is none of its release", _signed_for_its_code, _whatever_its_code),
)
