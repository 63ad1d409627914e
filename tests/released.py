"""Small releases of made documents, for tests of what is done with a finished one."""

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest

import publius
from publius.cli import main
from publius.noise.randomness import seeded_rng
from publius.releases.engines import protect_corpus
from publius.releases.of_manifest import in_order
from publius.releases.plan import Experiment, Plan
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings
from toy import WORDS, sentence


def toy_vectors(name="toy"):
    """60 words in 8 dimensions."""
    vectors = seeded_rng(20).standard_normal((len(WORDS), 8), np.float32)
    return Embeddings.from_arrays(WORDS, vectors, name=name, tokenizer="word2vec")


def toy_documents(path, count=6):
    """Documents of 30 words with a field that can be kept, as JSON lines."""
    rows = [{"id": f"doc{i}", "text": sentence(i), "year": 2000 + i % 2} for i in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def toy_plan(*, keep=(), epsilon=2.0, length=5, seed=None):
    """A word mechanism on the toy vectors; an experiment where there is a seed."""
    encoding = Encoding(length, "unk", StopWords.load("none"), "word2vec")
    experiment = None if seed is None else Experiment(seed)
    mechanism = publius.Laplace(toy_vectors(), epsilon=epsilon)
    return Plan(mechanism, encoding, labels=tuple(keep), experiment=experiment)


def toy_release(folder, *, count=6, keep=(), format="jsonl", **changes):
    """A release in the new folder ``folder``."""
    folder.parent.mkdir(exist_ok=True)
    corpus = publius.open_corpus(toy_documents(folder.with_suffix(".jsonl"), count), keep=list(keep))
    protect_corpus(corpus, toy_plan(keep=keep, **changes), folder, format=format)
    return folder


def command(*arguments, said=""):
    """Run the command line in this process: (exit code, standard output, standard error); ``said`` is typed to it."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["publius", *map(str, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(said.encode()), "utf-8"))
        with pytest.raises(SystemExit) as ended:
            main()
    out.flush()
    err.flush()
    return ended.value.code or 0, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()


def completed(*arguments, said=""):
    """The same as a process would have ended, at a tenth of its price."""
    code, out, err = command(*arguments, said=said)
    return subprocess.CompletedProcess(arguments, code, out, err)


def state(folder, manifest):
    """Let a folder's manifest state something else, written as a release writes it."""
    text = json.dumps(
        in_order(manifest), indent=2, ensure_ascii=False
    )  # with NaN, which Publius does not write
    (folder / "manifest.json").write_text(f"{text}\n", encoding="utf-8")
