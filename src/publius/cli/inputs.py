"""``publius models``: classifiers and word vectors; ``publius ledger``: privacy budgets, one account per author."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from publius.cli import console
from publius.cli.console import Table
from publius.cli.parsing import AsRead, Documents, Help, Json, More, files_of, new_app
from publius.cli.release import answering
from publius.errors import MissingExtraError, UsageError
from publius.settings import Reading

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier
    from publius.classifiers.store import StoredClassifier
    from publius.documents.document import Document

models = new_app(name="models", help="Train, import, list and try classifiers and word vectors: public inputs.")
ledger = new_app(name="ledger", help="Make and show privacy budgets: one account per author.")
_SHOWN = 20
_COMPARED = 2_000


@models.command
def train(
    file: Documents,
    *more: More,
    name: Annotated[str, Help("Name to store it under.")],
    label: Annotated[str | None, Help("Column of labels.")] = None,
    kind: Annotated[
        Literal["topics", "clusters", "metric"], Help("topics, clusters, metric (vectors). Default: topics.")
    ] = "topics",
    like: Annotated[str | None, Help("Learn this classifier's answers, not --label.")] = None,
    labels: Annotated[str | None, Help("Learn the nearest of these names: A,B or @FILE.")] = None,
    encoder: Annotated[bool, Help("Use the packaged sentence encoder, too.")] = False,
    clusters: Annotated[int, Help("Number of clusters.")] = 100,
    words: Annotated[Path | None, Help("File of more words that may leave, one a line.")] = None,
    languages: Annotated[str, Help("Lists of words that may leave: en,de.")] = "en",
    estimate: Annotated[bool, Help("Only say time and memory, by a sample.")] = False,
    json: Json = False,
    author_field: Annotated[str | None, Help("Column of authors, who stay together in folds.")] = None,
    reading: AsRead = Reading(),
) -> None:
    """Train a classifier, or word vectors, on public texts.

    The texts are never those to be released.
    """
    from publius.classifiers.clusters import Clusters
    from publius.classifiers.encoder import load_encoder
    from publius.classifiers.store import free_name, store
    from publius.classifiers.topics import TopicClassifier
    from publius.documents.corpus import open_corpus
    from publius.embeddings.catalogue import new_stored_folder
    from publius.files.progress import stage
    from publius.files.reading import file_sha256
    from publius.releases.register import check_public
    from publius.text.normal_form import author_key
    from publius.text.tokenizer import words_in_file

    if sum(each is not None for each in (label, like, labels)) != (kind != "clusters"):
        raise UsageError(
            "clusters need no labels: leave --label, --like and --labels out." if kind == "clusters"
            else "what is learned? Name the column with --label, or a classifier with --like or --labels A,B."
        )  # fmt: skip
    files = files_of(file, more, labels)
    teacher = answering(like, labels, "packaged") if like or labels else None
    folder = new_stored_folder(name) if kind == "metric" else free_name(name)
    own = words_in_file(words, "the list of words") if words else frozenset()
    lists: list[str | Path] = [each for each in (words, labels[1:] if labels and labels[:1] == "@" else None) if each]

    corpus = open_corpus(files, reading, author_field=author_field, fields=[label] if label else [])
    check_public(corpus.digests(), "this file")
    documents: list[Document] = console.watched(list, corpus)

    def work(step: int = 1) -> dict[str, Any]:
        some = documents[::step]  # of all labels, however they are sorted
        texts = [each.text for each in some]
        authors = [each.author for each in some] if author_field else None
        targets: list[Any] = [each.fields[label] for each in some] if label else []
        if teacher is not None:
            with stage("labelling"):
                targets = teacher.predict(texts)
        told: dict[str, Any] = {
            "name": name, "kind": kind, "texts": len(texts), "like": teacher.name if teacher else None,
            "authors": len({author_key(each) for each in authors} - {None}) if authors else None,
        }  # fmt: skip
        listed: dict[str, Any] = {
            "authors": authors, "name": name, "languages": tuple(filter(None, languages.split(","))),
            "trained_on": (*corpus.digests(), *getattr(teacher, "trained_on", ()), *map(file_sha256, lists)),
        }  # fmt: skip
        if kind == "metric":
            from publius.embeddings.topic_metric import fit_metric

            vectors = fit_metric(texts, [str(each) for each in targets], extra=own, **listed)
            vectors = vectors if estimate else vectors.save(folder)
            return {**told, "words": vectors.size, "dimension": vectors.dimension, "sha256": vectors.sha256}
        listed |= {"extra_words": own, "encoder": load_encoder() if encoder else None}
        made: StoredClassifier
        if kind == "clusters":
            made = Clusters.train(texts, clusters=clusters, **listed)
            public = {*made.meta.vocabulary}
        else:
            made = TopicClassifier.train(texts, targets, **listed)
            public = {word for words_of_label in made.meta.words for word in words_of_label}
        if not estimate:
            store(made)
        return {**told, **_facts(made), "words": len(public)}

    if estimate:
        console.estimate(work, len(documents), json=json)
    else:
        made = console.watched(work)
        console.answer(made, *_told(made), json=json)


def _told(made: dict[str, Any]) -> Iterator[str | Table]:
    authors = f" of {made['authors']:,} authors" if made["authors"] else ""
    yield f"Trained {made['name']} ({made['kind']}) on {made['texts']:,} public texts{authors}."
    used = "authors" if made["authors"] else "texts"
    yield f"{made['words']:,} words become public with it: each used by at least five {used}, and in a list of words."
    if accuracy := made.get("accuracy"):
        asked = f"Agrees with {made['like']}" if made["like"] else "Right"
        yield f"{asked} for {_interval(accuracy)} of these texts, in cross-validation:"
        rows = [(name, f"{100 * share:.0f} %", console.bar(share)) for name, share in accuracy["by_label"].items()]
        yield Table(("label", "right", ""), rows)
    elif made["kind"] == "metric":
        yield f"Use it: publius obfuscate FILE --embeddings {made['name']} --epsilon 10 --length 40 --output DIR"
    else:
        yield f"{len(made['labels']) - 1} clusters, and other. Look at them: publius models show {made['name']}"


def _interval(accuracy: dict[str, Any]) -> str:
    from publius.privacy.promise import outward

    low, high = outward(100 * accuracy["low"], 100 * accuracy["high"], 1)
    return f"{100 * accuracy['share']:.1f} % (95 % CI {low:.1f} % to {high:.1f} %)"


def _facts(made: Classifier) -> dict[str, Any]:
    """What a list says of a classifier."""
    names = ("name", "kind", "labels", "accuracy", "sha256", "public", "trained_on")
    found = {name: getattr(made, name) for name in names}
    return {name: [*value] if isinstance(value, tuple) else value for name, value in found.items()}


@models.command(name="import")
def import_(
    file: Annotated[Path, Help("word2vec, GloVe or fastText (.vec); also .gz.")],
    *,
    name: Annotated[str | None, Help("Name to store them under. Default: the file's.")] = None,
    limit: Annotated[int | None, Help("Keep the first words only: the most frequent.")] = None,
    words: Annotated[Path | None, Help("Keep the words of this file, one a line.")] = None,
    tokenizer: Annotated[
        Literal["glove", "word2vec", "icu"] | None, Help("glove, word2vec, icu (no spaces). Default: by file.")
    ] = None,
    skip_bad_rows: Annotated[bool, Help("Leave bad rows out and count them.")] = False,
    json: Json = False,
) -> None:
    """Check and store a file of public word vectors."""
    from publius.embeddings.catalogue import name_from, new_stored_folder
    from publius.embeddings.embeddings import Embeddings
    from publius.text.tokenizer import words_in_file

    called = name or name_from(file)
    folder = new_stored_folder(called)
    found = console.watched(
        Embeddings.from_file, file, name=called, limit=limit, tokenizer=tokenizer, skip_bad_rows=skip_bad_rows,
        vocabulary=words_in_file(words, "the list of words") if words else None,
    ).save(folder)  # fmt: skip
    said = f"Stored {called}: {found.size:,} words, {found.dimension} dimensions."
    console.answer(_vectors(found), said, json=json)


def _vectors(found: Any) -> dict[str, Any]:
    return {
        "name": found.name, "kind": "embeddings", "words": found.size, "dimension": found.dimension,
        "tokenizer": found.tokenizer, "sha256": found.sha256, "source": dict(found.source),
    }  # fmt: skip


@models.command(name="list")
def list_(*, json: Json = False) -> None:
    """List classifiers, word vectors and the encoder."""
    from publius.classifiers.encoder import PACKAGED as ENCODER
    from publius.classifiers.encoder import load_encoder
    from publius.classifiers.store import load_classifier, stored_classifiers
    from publius.embeddings.catalogue import PACKAGED, package_installed, stored_names

    classifiers: list[dict[str, Any]] = [_facts(load_classifier(name)) for name in stored_classifiers()]
    packaged = [*PACKAGED] if package_installed() else []
    if packaged:
        classifiers.append({"name": "subjects", "kind": "subjects", "labels": None, "accuracy": None})
    vectors: list[dict[str, Any]] = [{"name": name, "kind": "embeddings"} for name in (*packaged, *stored_names())]
    encoders: list[dict[str, Any]] = []
    try:
        found = load_encoder(ENCODER)
        about = {"languages": list(found.languages), "dimension": found.dimension, "installed": True}
        encoders = [{**found.public, **about}]
    except MissingExtraError as error:
        console.note(f"No encoder: {error}")
    rows = []
    for each in (*classifiers, *vectors, *encoders):
        labels, accuracy = each.get("labels"), each.get("accuracy")
        right = f"{100 * accuracy['share']:.1f} %" if accuracy else ""
        rows.append((each["name"], each["kind"], f"{len(labels):,}" if labels else "", right))
    every = {"classifiers": classifiers, "embeddings": vectors, "encoder": encoders}
    console.answer(every, Table(("name", "kind", "labels", "right"), rows), json=json)


@models.command
def show(
    name: Annotated[str, Help("Stored, a folder, python:MODULE:NAME, or subjects.")], *, json: Json = False
) -> None:
    """Show a classifier's labels and words, or word vectors."""
    from publius.classifiers.store import is_stored, load_classifier
    from publius.embeddings.catalogue import PACKAGED
    from publius.embeddings.catalogue import is_stored as has_vectors
    from publius.embeddings.embeddings import Embeddings

    if not is_stored(name) and (name in PACKAGED or has_vectors(name)):
        facts = _vectors(Embeddings.load(name))
        console.answer(facts, Table(("found", ""), [(key, str(value)) for key, value in facts.items()]), json=json)
        return
    found = load_classifier(name)
    words = {label: list(found.words(label)) for label in found.labels}
    accuracy = found.accuracy
    rights = {label: f"{100 * share:.0f} %" for label, share in accuracy["by_label"].items()} if accuracy else {}
    listed = [(label, rights.get(label, ""), " ".join(words[label][:8])) for label in found.labels]
    right = f"Right for {_interval(accuracy)} of its public texts, in cross-validation." if accuracy else None
    console.answer(
        {**_facts(found), "words": words},
        f"{found.name}: {found.kind}, {len(found.labels):,} labels, sha256 {found.sha256[:16]}", right,
        Table(("label", "right", "words"), listed), json=json,
    )  # fmt: skip


@models.command
def remove(name: Annotated[str, Help("Its name.")]) -> None:
    """Remove a stored classifier or stored word vectors."""
    from publius.classifiers.store import SHELF
    from publius.embeddings.catalogue import SHELF as VECTORS

    (VECTORS if VECTORS.holds(name) and not SHELF.holds(name) else SHELF).remove(name)
    console.say(f"Removed {name}.")


@models.command(name="try")
def try_(
    file: Documents,
    *,
    classifier: Annotated[str | None, Help("A stored one, a folder, or python:MODULE:NAME.")] = None,
    labels: Annotated[str | None, Help("Answer with the nearest of these names: A,B, @FILE.")] = None,
    label: Annotated[str | None, Help("Column of right labels: how often both agree.")] = None,
    encoder: Annotated[str, Help("Default: packaged; or python:MODULE:NAME.")] = "packaged",
    json: Json = False,
    reading: AsRead = Reading(),
) -> None:
    """Look at the answers for twenty public texts."""
    from publius.documents.corpus import open_corpus
    from publius.text.normal_form import compared

    if (classifier is None) == (labels is None):
        raise UsageError("what answers? --classifier NAME, or --labels A,B by their names.")
    found = answering(classifier, labels, encoder)
    documents = [*open_corpus(file, reading, fields=[label] if label else [])]
    some = documents[:: max(1, -(-len(documents) // (_COMPARED if label else _SHOWN)))]
    answers = console.watched(found.predict, [each.text for each in some])
    pairs = [*zip(some, answers, strict=True)]
    agreement = sum(compared(each.fields[label]) == answer for each, answer in pairs) / len(pairs) if label else None
    shown = pairs[:: max(1, -(-len(pairs) // _SHOWN))]
    rows = [{"text": " ".join(each.text.split())[:60], "label": answer} for each, answer in shown]
    agree = None if agreement is None else f"Both agree for {100 * agreement:.1f} % of {len(some):,} texts."
    console.answer(
        {"classifier": found.name, "kind": found.kind, "agreement": agreement, "texts": rows},
        Table(("text", "label"), [(row["text"], row["label"]) for row in rows]), agree, json=json,
    )  # fmt: skip


@ledger.command
def init(
    ledger: Annotated[Path, Help("New file.")],
    *,
    budget: Annotated[float, Help("The most to be spent on one author, in all.")],
    unit: Annotated[
        Literal["epsilon", "exponent"], Help("epsilon, or exponent (of words). Default: epsilon.")
    ] = "epsilon",
    json: Json = False,
) -> None:
    """Make a new ledger."""
    from publius.privacy.ledger import Ledger, decimal

    made = Ledger.create(ledger, budget=budget, unit=unit)
    console.answer(
        {"ledger": str(ledger), "budget": float(made.budget), "unit": unit},
        f"Budget {decimal(made.budget)} ({unit}) for each author. Use it: --ledger {ledger} --author-field COLUMN",
        json=json,
    )


@ledger.command(name="show")
def show_ledger(
    ledger: Annotated[Path, Help("The file.")],
    *,
    author: Annotated[str | None, Help("Show the account of one author.")] = None,
    json: Json = False,
) -> None:
    """Show what was spent, for the curator only."""
    from publius.privacy.ledger import Ledger, decimal

    found = Ledger(ledger)
    debits = found.check()
    accounts = found.accounts() if author is None else [found.account(author)]
    rows = [
        {"author": a.author, "spent": float(a.spent), "remaining": float(a.remaining), "releases": a.releases}
        for a in accounts
    ]
    ranked = sorted(accounts, key=lambda each: -each.spent)
    shown = [(each.author, decimal(each.spent), decimal(each.remaining), each.releases) for each in ranked[:20]]
    console.answer(
        {"budget": float(found.budget), "unit": found.unit, "debits": debits, "accounts": rows},
        f"Budget {decimal(found.budget)} ({found.unit}) for each author; {debits:,} releases were debited.",
        Table(("author", "spent", "left", "releases"), shown) if shown else None,
        f"{len(ranked) - len(shown):,} more authors: --json lists all." if len(ranked) > len(shown) else None,
        json=json,
    )
