"""What is run under 0.2 and today alike: the commands, in an order, and how what they leave is read.

A case is one command line in a folder that holds ``inputs`` (made texts), ``home`` (vectors and a reference) and
``written`` (what 0.2 left). Every name is relative, so nothing that is compared knows where it was run.
"""

# ruff: noqa: E501  # a command line is not broken for its length

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

HERE = Path(__file__).parent
IN_MANIFEST = "as in the manifest"
WORD_MECHANISMS = (
    "laplace", "exponential", "tight", "repaired-tight", "projected-laplace", "projected-exponential",
    "truncated-exponential", "mahalanobis", "vickrey",
)  # fmt: skip
SEEDED = "--experiment --seed 7 --json"
WORDS = "--embeddings toy --length 20 --epsilon 1.25"
TOPIC = "--preserve topic --reference subjects --bound 5"
MEANING = "--preserve meaning --reference subjects --bound 5"
POSITION = f"{TOPIC} --mechanism position"
KINDS = {"words": WORDS, "ordered": f"{WORDS} --order", "topic": TOPIC, "position": POSITION}
CORPUS = "inputs/corpus.jsonl"


def _releases() -> Iterator[tuple[str, str, str]]:
    """Name, input and options of each seeded release."""
    for mechanism in WORD_MECHANISMS:
        yield mechanism, CORPUS, f"{WORDS} --mechanism {mechanism}"
        yield f"{mechanism}, ordered", CORPUS, f"{WORDS} --mechanism {mechanism} --order"
    yield "tight, refused", CORPUS, f"{WORDS} --mechanism tight --epsilon 1"
    yield "prototype, topic", CORPUS, TOPIC
    yield "prototype, meaning", CORPUS, MEANING
    yield "position, topic", CORPUS, POSITION
    yield "position, meaning", CORPUS, f"{MEANING} --mechanism position"
    for kind, options in KINDS.items():
        for form in ("csv", "parquet", "mtx"):
            yield f"{kind} as {form}", CORPUS, f"{options} --keep topic --format {form}"
        yield f"{kind}, kept fields", CORPUS, f"{options} --keep topic --keep author"
        yield f"{kind}, numbered", CORPUS, f"{options} --number"
        yield f"{kind}, resumable", CORPUS, f"{options} --resume"
    for kind in ("words", "topic"):
        yield f"{kind}, two processes", CORPUS, f"{KINDS[kind]} --workers 2 --batch-size 2"
    yield "ordered, stop words stand", CORPUS, f"{WORDS} --order --keep-between stop-words"
    yield "ordered, punctuation stands", CORPUS, f"{WORDS} --order --keep-between punctuation"
    yield "ordered, all stands", CORPUS, f"{WORDS} --order --keep-between all"
    yield "words, unknown ones dropped", CORPUS, f"{WORDS} --unknown drop"
    yield "words, unknown ones pass", CORPUS, f"{WORDS} --unknown keep"
    yield "words, unknown ones refused", CORPUS, f"{WORDS} --unknown reject"
    yield "words, unknown ones leave out", CORPUS, f"{WORDS} --unknown reject --skip-bad"
    yield "words, as the shortest", CORPUS, f"{WORDS} --length shortest"
    yield "words, manhattan", CORPUS, f"{WORDS} --metric manhattan"
    yield "words, no stop words", CORPUS, f"{WORDS} --stop-words none"
    yield (
        "words, length of public texts",
        CORPUS,
        ("--embeddings toy --epsilon 3 --length-from inputs/public-texts --allow-padding"),
    )
    yield (
        "exponential, a prior",
        CORPUS,
        (f"{WORDS} --mechanism exponential --prior inputs/prior.txt --floor 0.1"),
    )
    yield "projected-laplace, three components", CORPUS, f"{WORDS} --mechanism projected-laplace --project 3"
    yield "truncated-exponential, beta", CORPUS, f"{WORDS} --mechanism truncated-exponential --beta 0.01"
    yield "mahalanobis, share", CORPUS, f"{WORDS} --mechanism mahalanobis --share 0.5"
    yield "vickrey, share", CORPUS, f"{WORDS} --mechanism vickrey --share 0.3"
    yield "topic, gamma 0", CORPUS, f"{TOPIC} --gamma 0"
    yield "topic, gamma", CORPUS, f"{TOPIC} --gamma 0.5"
    yield "topic, epsilon", CORPUS, f"{TOPIC} --epsilon 2"
    yield "topic, first words", CORPUS, f"{TOPIC} --first 5 --length 12"
    yield "topic, unknown ones at a point", CORPUS, f"{TOPIC} --unknown unk"
    yield "meaning, prototypes", CORPUS, f"{MEANING} --prototypes 7"
    yield (
        "position, epsilon",
        CORPUS,
        ("--preserve topic --reference subjects --mechanism position --epsilon 0.5"),
    )
    for name, place in (("csv", "inputs/corpus.csv"), ("folder", "inputs/texts")):
        yield f"words from {name}", place, f"{WORDS} --allow-padding"
        yield f"topic from {name}", place, TOPIC
    yield "a bad line left out", "inputs/bad.jsonl", f"{WORDS} --skip-bad"
    yield "a bad line refused", "inputs/bad.jsonl", WORDS


def releases() -> dict[str, str]:
    """The command line of each seeded release by name; each writes ``out/NAME``."""
    return {
        name: f"obfuscate {place} {options} {SEEDED} --output 'out/{name}'"
        for name, place, options in _releases()
    }


WRITING = {
    "vectors": "embeddings import inputs/vectors.txt --name toy --tokenizer word2vec",
    "reference": "reference fit inputs/public.jsonl --label topic --features log-odds --embeddings toy --name subjects",
    "reference of the meaning": "reference fit inputs/public.jsonl --features embedding --embeddings toy --name plain",
    **{
        f"ledger {unit}": f"ledger init written/{unit}.ledger --budget 130 --unit {unit} --subject-budget 500"
        for unit in ("epsilon-n", "epsilon", "epsilon-n-ordered", "bound")
    },
    "ledger hidden": "ledger init written/hidden.ledger --budget 130 --unit bound --hide-ids",
    "release words": f"obfuscate {CORPUS} {WORDS} --keep topic --ledger written/epsilon-n.ledger "
    "--subject-field author --output written/words",
    "release ordered": f"obfuscate {CORPUS} {WORDS} --order --ledger written/epsilon-n-ordered.ledger "
    "--output written/ordered",
    "release topic": f"obfuscate {CORPUS} {TOPIC} --keep topic --ledger written/bound.ledger --output written/topic",
    "release meaning": f"obfuscate {CORPUS} {MEANING} --ledger written/hidden.ledger --output written/meaning",
    "release position": f"obfuscate {CORPUS} {POSITION} --output written/position",
    "release csv": f"obfuscate {CORPUS} {TOPIC} --format csv --output written/csv",
    "release parquet": f"obfuscate {CORPUS} {TOPIC} --format parquet --output written/parquet",
    "release mtx": f"obfuscate {CORPUS} {WORDS} --format mtx --output written/mtx",
    "experiment": f"obfuscate {CORPUS} {WORDS} --experiment --output written/experiment",
    "evaluation of words": "evaluate inputs/labelled.jsonl --embeddings toy --release written/words --output written/evaluation-words "
    "--adversaries likelihood --workers 1 --seed 1",
    "evaluation of topics": "evaluate inputs/labelled.jsonl --embeddings toy --release written/topic --output written/evaluation-topic "
    "--adversaries likelihood --workers 1 --seed 1 --author-at-most 1 --topic-at-least 0",
    "texts": "write written/topic --writer ngram --public inputs/public.jsonl --output written/texts.jsonl",
    "page of words": "signoff written/words --ledger written/epsilon-n.ledger --evaluation written/evaluation-words "
    "--output written/words.html",
    "page of topics": "signoff written/topic --ledger written/bound.ledger --evaluation written/evaluation-topic "
    "--texts written/texts.jsonl --output written/topic.html",
    "page without an evaluation": "signoff written/position --output written/position.html",
}
"""What 0.2 wrote unseeded, and is read today."""

_OLD = ("words", "ordered", "topic", "meaning", "position", "csv", "parquet", "mtx", "experiment")
_LEDGERS = ("epsilon-n", "epsilon", "epsilon-n-ordered", "bound", "hidden")
READING = {
    "embeddings list": "embeddings list --json",
    "embeddings info": "embeddings info toy --json",
    "embeddings verify": "embeddings verify toy --json",
    **{f"reference {verb} {name}": f"reference {verb} {name} --json"
       for name in ("subjects", "plain") for verb in ("info", "verify")},
    **{f"ledger {verb} {name}": f"ledger {verb} written/{name}.ledger --json"
       for name in _LEDGERS for verb in ("show", "check")},
    "ledger show a document": "ledger show written/hidden.ledger --document d1 --json",
    "ledger show a subject": "ledger show written/epsilon-n.ledger --subject ada --json",
    **{f"guarantee of {name}": f"guarantee --manifest written/{name}/manifest.json --json" for name in _OLD},
    **{f"signoff of {name}": f"signoff written/{name} --output 'out/{name}.html' --json" for name in _OLD},
    "signoff with all": "signoff written/topic --ledger written/bound.ledger --evaluation written/evaluation-topic "
    "--texts written/texts.jsonl --output out/all.html --json",
    "verify words": "verify written/words written/words.html --evaluation written/evaluation-words --json",
    "verify topic": "verify written/topic written/topic.html --evaluation written/evaluation-topic "
    "--texts written/texts.jsonl --json",
    "verify position": "verify written/position written/position.html --json",
    "verify what does not belong": "verify written/topic written/words.html --json",
    "report": "report written/evaluation-topic --json",
    "evaluate the old release": "evaluate inputs/labelled.jsonl --embeddings toy --release written/topic --output out/evaluation "
    "--adversaries likelihood --workers 1 --seed 1 --json",
    "write from the old release": "write written/topic --writer ngram --public inputs/public.jsonl "
    "--output out/texts.jsonl --json",
    "a release on the old ledger": f"obfuscate {CORPUS} {TOPIC} --ledger written/bound.ledger --output out/again --json",
    "a release beyond the old ledger": f"obfuscate {CORPUS} {WORDS} --epsilon 6 --ledger written/epsilon-n.ledger "
    "--output out/beyond --json",
    "a release on the hidden ledger": f"obfuscate {CORPUS} {TOPIC} --ledger written/hidden.ledger --output out/hid --json",
}  # fmt: skip
"""How today must read what 0.2 wrote: as 0.2 does."""

COMMANDS = {
    "help of nothing": "nothing",
    "inspect": f"inspect {CORPUS} --json",
    "inspect a table": "inspect inputs/corpus.csv --json",
    "inspect a folder": "inspect inputs/texts --json",
    "inspect nothing": "inspect inputs/missing --json",
    "outcomes": f"outcomes inputs/texts/d1.txt {TOPIC} --json",
    "outcomes of words": "outcomes inputs/texts/d1.txt --preserve words --reference subjects --bound 5 --json",
    "certify": "certify --mechanism exponential --embeddings toy --epsilon 3 --json",
    "certify laplace": "certify --mechanism laplace --embeddings toy --epsilon 3 --json",
    "words": "words river court --embeddings toy --epsilon 3 --mechanism exponential --outputs 3 --json",
    "words, unknown": "words zzunknown --embeddings toy --epsilon 3 --json",
    "compare": "compare --mechanisms exponential,tight --embeddings toy --unchanged 0.5 --words inputs/words.txt --json",
    "compare documents": "compare --mechanisms exponential,tight --embeddings toy --document inputs/texts/d1.txt "
    "--other inputs/texts/d2.txt --length 10 --json",
    "distance": "distance inputs/texts/d1.txt inputs/texts/d2.txt --embeddings toy --plan --json",
    "distance of words": "distance river court --words --embeddings toy --json",
    "nearest": "nearest inputs/texts/d1.txt inputs/texts --embeddings toy -k 3 --json",
    "nearest, a document without words": f"nearest inputs/texts/d1.txt {CORPUS} --embeddings toy -k 3 --json",
    "guarantee": f"guarantee {WORDS} --distance 2 --json",
    "guarantee between": f"guarantee {WORDS} --between inputs/texts/d1.txt inputs/texts/d2.txt --json",
    "guarantee, releases and candidates": "guarantee --epsilon 3 --length 20 --embeddings toy --releases 3 --candidates 100 --json",
    "guarantee of a topic": f"guarantee {TOPIC} --releases 2 --candidates 100 --json",
    "guarantee of a position": f"guarantee {POSITION} --between inputs/texts/d1.txt inputs/texts/d2.txt --json",
    "guarantee of a position at a distance": f"guarantee {POSITION} --distance 0.5 --json",
    "guarantee for typical pairs": f"guarantee {WORDS} --public inputs/public.jsonl --json",
    "guarantee of nothing": "guarantee --json",
    "utility": "utility --epsilon 10 --length 20 --dimension 8 --distance 2 --json",
    "utility, negative": "utility --epsilon -1 --length 20 --dimension 8 --distance 2 --json",
    "check-mechanism": "check-mechanism exponential --samples 2000 --json",
    "reference fit": "reference fit inputs/public.jsonl --label topic --features log-odds --embeddings toy --name again --json",
    "reference fit, a name that is taken": "reference fit inputs/public.jsonl --name subjects --json",
    "reference fit, no such field": "reference fit inputs/public.jsonl --label nothing --embeddings toy --name other --json",
    "reference info of nothing": "reference info nothing --json",
    "reference list": "reference list --json",
    "embeddings import": "embeddings import inputs/vectors.txt --name again --tokenizer word2vec --json",
    "embeddings import, a bad row": "embeddings import inputs/bad-vectors.txt --name bad --json",
    "embeddings info of nothing": "embeddings info nothing --json",
    "embeddings fit": "embeddings fit inputs/public.jsonl --name topical --label topic --json",
    "ledger init": "ledger init out/new.ledger --budget 100 --json",
    "ledger init, there already": "ledger init out/new.ledger --budget 100 --json",
    "ledger init, no such unit": "ledger init out/other.ledger --budget 100 --unit days --json",
    "ledger show nothing": "ledger show out/missing.ledger --json",
    "ledger check no ledger": f"ledger check {CORPUS} --json",
    "obfuscate": f"obfuscate {CORPUS} {WORDS} --ledger out/new.ledger --output out/words --json",
    "obfuscate, overspent": f"obfuscate {CORPUS} {WORDS} --epsilon 5 --ledger out/new.ledger --output out/more --json",
    "obfuscate, there already": f"obfuscate {CORPUS} {WORDS} --output out/words --json",
    "obfuscate, topic": f"obfuscate {CORPUS} {TOPIC} --output out/topic --json",
    "obfuscate, no epsilon": f"obfuscate {CORPUS} --embeddings toy --output out/no --json",
    "obfuscate, no bound": f"obfuscate {CORPUS} --preserve topic --reference subjects --output out/no --json",
    "obfuscate, no reference": f"obfuscate {CORPUS} --preserve topic --bound 5 --output out/no --json",
    "obfuscate, no such reference": f"obfuscate {CORPUS} --preserve topic --bound 5 --reference no --output out/no",
    "obfuscate, no such mechanism": f"obfuscate {CORPUS} {WORDS} --mechanism magic --output out/no --json",
    "obfuscate, a word mechanism for topics": f"obfuscate {CORPUS} {TOPIC} --mechanism laplace --output out/no --json",
    "obfuscate, a bound for words": f"obfuscate {CORPUS} {WORDS} --bound 5 --output out/no --json",
    "obfuscate, order for topics": f"obfuscate {CORPUS} {TOPIC} --order --output out/no --json",
    "obfuscate, vectors for topics": f"obfuscate {CORPUS} {TOPIC} --embeddings toy --output out/no --json",
    "obfuscate, rejecting for topics": f"obfuscate {CORPUS} {TOPIC} --unknown reject --output out/no --json",
    "obfuscate, a seed": f"obfuscate {CORPUS} {WORDS} --seed 7 --output out/no --json",
    "obfuscate, unknown words pass": f"obfuscate {CORPUS} {WORDS} --unknown keep --output out/no --json",
    "obfuscate, rejecting and skipping": f"obfuscate {CORPUS} {WORDS} --unknown reject --skip-bad --output out/no",
    "obfuscate, a parameter not taken": f"obfuscate {CORPUS} {WORDS} --gamma 0.5 --output out/no --json",
    "obfuscate, padding": f"obfuscate {CORPUS} --embeddings toy --epsilon 3 --length 400 --output out/no --json",
    "obfuscate, no such field": f"obfuscate {CORPUS} {WORDS} --text-field body --output out/no --json",
    "obfuscate, no such file": f"obfuscate inputs/missing.jsonl {WORDS} --output out/no --json",
    "obfuscate, a bad line": f"obfuscate inputs/bad.jsonl {WORDS} --output out/no --json",
    "obfuscate, no such engine": f"obfuscate {CORPUS} {WORDS} --engine magic --output out/no --json",
    "obfuscate, an experiment and a ledger": f"obfuscate {CORPUS} {WORDS} --experiment --ledger out/new.ledger "
    "--output out/no --json",
    "obfuscate, a subject without a ledger": f"obfuscate {CORPUS} {WORDS} --subject-field author --output out/no",
    "signoff, no release": "signoff inputs --output out/no.html --json",
    "signoff, inside": "signoff written/topic --output written/topic/page.html --json",
    "signoff, the wrong ledger": "signoff written/topic --ledger written/epsilon-n.ledger --output out/no.html --json",
    "reconstruct no release": "reconstruct inputs --output out/no.jsonl --json",
    "write, no such writer": "write written/topic --writer magic --output out/no.jsonl --json",
    "write from an experiment": "write written/experiment --writer ngram --public inputs/public.jsonl "
    "--output out/no.jsonl --json",
    "evaluate, passes": "evaluate inputs/labelled.jsonl --embeddings toy --epsilon 3 --length shortest --seed 1 --json "
    "--adversaries likelihood,informed --workers 1 --author-at-most 1 --topic-at-least 0 --output out/passes",
    "evaluate, fails": "evaluate inputs/labelled.jsonl --embeddings toy --reference subjects --bound 5 --seed 1 --json "
    "--adversaries likelihood --workers 1 --author-at-most 0 --output out/fails",
    "evaluate, no such adversary": "evaluate inputs/labelled.jsonl --embeddings toy --epsilon 3 --adversaries nobody "
    "--output out/no --json",
    "watch": f"watch inputs/texts --once --settle 0 --ledger written/epsilon.ledger --output out/watched {WORDS} "
    "--epsilon 1 --json",
}  # fmt: skip
"""Right and wrong ones: their exit codes, and what they print as JSON."""


def run(line: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command line, in this process and folder."""
    from publius.cli import main

    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        patch.object(sys, "argv", ["publius", *shlex.split(line)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(said),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        else:
            raise RuntimeError("the command line did not end")
    out.flush()
    said.flush()
    return int(code), out.buffer.getvalue().decode(), said.buffer.getvalue().decode()  # type: ignore[attr-defined]


@contextlib.contextmanager
def inside(place: Path) -> Iterator[None]:
    """In this folder, with its ``home`` as Publius's."""
    (place / "out").mkdir(exist_ok=True)
    with contextlib.chdir(place), patch.dict(os.environ, {"PUBLIUS_HOME": "home"}):
        yield


def told(line: str) -> dict[str, Any]:
    """What a command says: its exit code, and the JSON of standard output, a list where it prints lines of it."""
    code, text, _ = run(line)
    text = text.replace(f"{Path.cwd()}/", "")
    if "--json" not in line or not text.strip():
        return {"exit": code, "json": None}
    try:
        return {"exit": code, "json": json.loads(text)}
    except ValueError:
        return {"exit": code, "json": [json.loads(one) for one in text.splitlines()]}


def released(folder: Path) -> dict[str, Any]:
    """Every file of a release but its manifest: text as it stands, of Parquet the schema and the rows."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "manifest.json":
            found[path.relative_to(folder).as_posix()] = (
                _parquet(path) if path.suffix == ".parquet" else path.read_bytes().decode()
            )
    return found


def _parquet(path: Path) -> dict[str, Any]:
    from pyarrow import parquet

    table = parquet.read_table(path)
    return {"schema": [str(field) for field in table.schema], "rows": table.to_pylist()}


def seeded(name: str, line: str) -> dict[str, Any]:
    """A seeded release: exit code, what it prints, its manifest and its files."""
    found = told(line)
    folder = Path("out", name)
    if folder.exists():
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        found["manifest"] = manifest
        found["json"] = {
            key: IN_MANIFEST if key in manifest and manifest[key] == value else value
            for key, value in found["json"].items()
        }
        found["files"] = released(folder)
    return found


def in_python() -> dict[str, Any]:
    """One seeded release of each mechanism through public names, and whole corpora on an engine of one's own."""
    import publius
    from publius.settings import ReleaseSettings
    from toy_engine import ToyEngine

    text = Path("inputs/texts/d1.txt").read_text(encoding="utf-8")
    embeddings, reference = publius.Embeddings.load("toy"), publius.Reference.load("subjects")
    seed = publius.Experiment(7)
    found: dict[str, Any] = {}
    for name in WORD_MECHANISMS:
        mechanism = publius.make_mechanism(name, embeddings, epsilon=1.25)
        for ordered in (None, publius.OrderedText()):
            made = publius.release(text, mechanism, length=20, experiment=seed, ordered=ordered)
            found[f"{name}{', ordered' if ordered else ''}"] = _release(made)
    for name in ("prototype", "position"):
        for preserve in ("topic", "meaning"):
            whole = publius.make_document_mechanism(name, reference, preserve=preserve, bound=5.0)
            found[f"{name}, {preserve}"] = _release(publius.release(text, whole, experiment=seed))
    about = {"experiment": True, "seed": 7}
    words = {**about, "embeddings": "toy", "length": 20, "epsilon": 3.0}
    topic = {**about, "preserve": "topic", "reference": "subjects", "bound": 5.0}
    for name, chosen in (
        ("words", words), ("ordered", {**words, "order": True}), ("topic", topic),
        ("position", {**topic, "mechanism": "position"}),
    ):  # fmt: skip
        corpus = publius.open_corpus(CORPUS, keep=["topic"])
        plan = publius.Plan.of(ReleaseSettings(**chosen), labels=["topic"])
        folder = Path("out", f"{name} in turn")
        publius.protect_corpus(corpus, plan, folder, engine=ToyEngine(), batch_size=2)
        found[f"{name}, in turn"] = {"files": released(folder)}
    return found


def _release(made: Any) -> dict[str, Any]:
    return {
        "id": made.id, "size": made.bag.size, "counts": dict(made.bag.counts), "words": made.words and list(made.words),
        "prototype": made.prototype, "label": made.label, "warning": made.warning,
    }  # fmt: skip


def answers() -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything that is compared: each group by name, in the folder where it is called."""
    yield "seeded", {name: seeded(name, line) for name, line in releases().items()}
    yield "python", in_python()
    yield "reading", {name: told(line) for name, line in READING.items()}
    yield "commands", {name: told(line) for name, line in COMMANDS.items()}
