"""Broken release paths: what they hold, whose noise they use, what they state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, final

from audit.mutants.mutant import Mutant
from audit.mutants.rewired import with_draw
from publius.audit.implementation import GENUINE, Outcome, Subject
from publius.audit.outcomes import Check
from publius.audit.release_path import (
    check_company,
    check_content,
    check_entropy_failures,
    check_errors,
    check_fresh,
    check_law,
    check_manifest,
    check_manifest_is_public,
    check_marked,
    check_no_trace,
    check_order,
    check_refusals,
)
from publius.documents.corpus import BadDocument, Document
from publius.errors import EntropyError
from publius.noise.randomness import RunKey, seeded_rng
from publius.releases.layout import Layout
from publius.releases.plan import Experiment, Plan
from publius.releases.protect import protect
from publius.releases.release import Release, Tally
from publius.releases.writers import WRITERS, AbstractWriter
from publius.text.bag import Bag

_DOCUMENTS: Final = 400
_BAGS: Final = 1200
"""Of these one row of noise a document is seen: chi-square with 8 degrees and a noncentrality of 480 (measured) is at
most 57 with a chance of 1e-48. Of 400 it was 0.15."""

Change = Callable[[Release, Document, Plan], Release]


def _changed(change: Change) -> Callable[[Sequence[Document], Plan, RunKey], Outcome]:
    """A release path whose releases are changed afterwards by ``change``, which sees the document."""

    def broken(documents: Sequence[Document], plan: Plan, key: RunKey) -> Outcome:
        results, tally = protect(documents, plan, key)
        pairs = zip(results, documents, strict=True)
        return [change(r, d, plan) if isinstance(r, Release) else r for r, d in pairs], tally

    return broken


def _unknown_pass(release: Release, document: Document, plan: Plan) -> Release:
    """Unknown words of the text replace as many words of the bag."""
    vocabulary = plan.mechanism.kernel.embeddings
    unknown = [word for word in document.text.split() if word not in vocabulary][: plan.size]
    return replace(release, bag=Bag([*unknown, *list(release.bag.words())[len(unknown) :]]))


def _shorter(release: Release, document: Document, plan: Plan) -> Release:
    """As many words as the text has, when it has fewer than N."""
    return replace(release, bag=Bag(list(release.bag.words())[: len(document.text.split())]))


def _with_text(release: Release, document: Document, plan: Plan) -> Release:
    return replace(release, id=document.text)


def _in_order(release: Release, document: Document, plan: Plan) -> Release:
    words = document.text.split()
    place = {word: words.index(word) for word in release.bag.counts if word in words}
    ordered = sorted(release.bag.words(), key=lambda word: place.get(word, len(words)))
    return replace(release, words=tuple(ordered))


def _with_order() -> Subject:
    """Releases with the words in order, and a writer that writes them."""
    return replace(GENUINE, protect=_changed(_in_order), writer=_ordered)


def _ordered(plan: Plan, folder: Path) -> AbstractWriter:
    """Writes order for a plan of bags; the genuine writer refuses such releases."""
    return WRITERS["jsonl"](folder, replace(Layout.of(plan), ordered=True))


def _shown(release: Release, document: Document, plan: Plan) -> Release:
    return replace(release, id=f"{release.id}: {document.text[:60]}")


def _words_alike(documents: Sequence[Document], plan: Plan, key: RunKey) -> Outcome:
    """Equal words of a document share their noise: each distinct word is randomized once."""

    def alike(release: Release, document: Document, plan: Plan) -> Release:
        mechanism = plan.mechanism.kernel
        words = document.text.split()
        distinct = sorted(set(words))
        outputs = mechanism.apply(
            mechanism.indices(distinct), mechanism.noise(len(distinct), key.rng(document.id))
        )
        drawn = dict(zip(distinct, outputs.tolist(), strict=True))
        return replace(release, bag=Bag([mechanism.embeddings.word(drawn[word]) for word in words]))

    return _changed(alike)(documents, plan, key)


def _one_row(documents: Sequence[Document], plan: Plan, key: RunKey) -> Outcome:
    """All words of a document share one row of noise."""
    mechanism = plan.mechanism.kernel

    def shared(release: Release, document: Document, plan: Plan) -> Release:
        words = document.text.split()
        noise = mechanism.noise(1, key.rng(document.id)).repeat(len(words), axis=0)
        return replace(release, bag=mechanism.bag(mechanism.apply(mechanism.indices(words), noise)))

    return _changed(shared)(documents, plan, key)


def _rekeyed(name: Callable[[Document, int], str]) -> Callable[[Sequence[Document], Plan, RunKey], Outcome]:
    """Each document's noise is keyed with ``name`` of the document and its place in the batch, not with its id."""

    def broken(documents: Sequence[Document], plan: Plan, key: RunKey) -> Outcome:
        results: list[Release | BadDocument] = []
        tally = Tally()
        for place, document in enumerate(documents):
            found, counted = protect(
                [replace(document, id=name(document, place))], plan, RunKey(key.expose())
            )
            results.append(replace(found[0], id=document.id))
            tally += counted
        return results, tally

    return broken


def _fitted(documents: Sequence[Document], plan: Plan, key: RunKey) -> Outcome:
    """Only words that occur in the batch come out: the vocabulary is fitted on the documents."""
    present = {word for document in documents for word in document.text.split()}
    spare = min(present)

    def kept(release: Release, document: Document, plan: Plan) -> Release:
        return replace(release, bag=Bag([w if w in present else spare for w in release.bag.words()]))

    return _changed(kept)(documents, plan, key)


def _naming(documents: Sequence[Document], plan: Plan, key: RunKey) -> Outcome:
    """A refusal names the unknown word."""
    results, tally = protect(documents, plan, key)
    vocabulary = plan.mechanism.kernel.embeddings
    named: list[Release | BadDocument] = []
    for result, document in zip(results, documents, strict=True):
        unknown = [word for word in document.text.split() if word not in vocabulary]
        if isinstance(result, BadDocument):
            result = replace(result, reason=f"{result.reason}: {unknown}")
        named.append(result)
    return named, tally


def _constant_key(plan: Plan) -> RunKey:
    return RunKey.seeded(0)


def _falls_back(plan: Plan) -> RunKey:
    try:
        return plan.run_key()
    except EntropyError:
        return RunKey.seeded(0)


def _states(**changes: Callable[[Any, Plan], Any]) -> Callable[[Plan, int], dict[str, Any]]:
    """A manifest with entries changed: each function takes what stood there and the plan."""

    def broken(plan: Plan, documents: int) -> dict[str, Any]:
        manifest = plan.manifest(documents)
        return {**manifest, **{name: change(manifest.get(name), plan) for name, change in changes.items()}}

    return broken


def _with_digest() -> Subject:
    """The manifest holds an unkeyed digest of the documents that were released before it."""
    state = hashlib.sha256()

    def watching(documents: Sequence[Document], plan: Plan, key: RunKey) -> Outcome:
        nonlocal state
        state = hashlib.sha256("\n".join(document.text for document in documents).encode())
        return protect(documents, plan, key)

    return replace(
        GENUINE, protect=watching, manifest=_states(input_sha256=lambda was, plan: state.hexdigest())
    )


@final
class _Silent:
    """A writer that leaves the warning of each release out."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self._writer = GENUINE.writer(replace(plan, experiment=None), folder)

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *error: object) -> None:
        self._writer.__exit__(None, None, None)

    def write(self, release: Release) -> None:
        """Without the warning."""
        self._writer.write(replace(release, warning=None))


def _unmarked(release: Release, document: Document, plan: Plan) -> Release:
    return replace(release, warning=None)


def _lenient(mechanism: Any, encoding: Any, **options: Any) -> Plan:
    """Lets unknown words pass without an experiment."""
    if encoding.unknown != "keep":
        return Plan(mechanism, encoding, **options)
    return Plan(mechanism, encoding, **{**options, "experiment": Experiment()})


def probe_contents(subject: Subject, key: RunKey) -> Sequence[Check]:
    """What a release holds and refers to."""
    return [
        *check_content(subject, key),
        check_no_trace(subject, key),
        check_order(subject, key),
        check_errors(subject, key),
    ]


def probe_laws(subject: Subject, key: RunKey) -> Sequence[Check]:
    """Whose noise a release uses."""
    return [
        *check_law(subject, _DOCUMENTS, key),
        check_fresh(subject, 8, key),
        check_company(subject, key),
        check_entropy_failures(subject, 12),
    ]


def probe_bags(subject: Subject, key: RunKey) -> Sequence[Check]:
    """The law of released bags, on more of them."""
    return check_law(subject, _BAGS, key)


def probe_statements(subject: Subject, key: RunKey) -> Sequence[Check]:
    """What the manifest states and what is refused."""
    return [
        check_manifest(subject),
        check_manifest_is_public(subject, key),
        check_marked(subject, key),
        check_refusals(subject),
    ]


def release_mutants() -> list[Mutant]:
    """Twenty-four broken release paths."""
    contents = {
        "unknown words pass": (_unknown_pass, "release: words of the vocabulary only"),
        "as short as the document": (_shorter, "release: exactly N words"),
        "keeps its document": (_with_text, "release: no reference to its document"),
        "text in a repr": (_shown, "release: no word in a repr"),
    }
    laws: dict[str, tuple[Callable[..., Outcome], str]] = {
        "equal words share their noise": (_words_alike, "release: law of bags of two equal words"),
        "one row of noise a document": (_one_row, "release: law of bags of two different words"),
        "one stream for all documents": (
            _rekeyed(lambda d, place: "all"),
            "release: documents are independent",
        ),
        "noise keyed by the text": (_rekeyed(lambda d, place: d.text), _SHARED),
        "noise keyed by the place": (_rekeyed(lambda d, place: str(place)), _COMPANY),
        "vocabulary fitted on the documents": (_fitted, _COMPANY),
    }
    subjects: list[tuple[str, Subject, Any, str]] = [
        ("a refusal names the word", replace(GENUINE, protect=_naming), probe_contents, _REFUSAL),
        ("noise from a fixed seed", replace(GENUINE, mechanism=with_draw(_fixed_seed)), probe_laws, _SHARED),
        ("constant run key", replace(GENUINE, run_key=_constant_key), probe_laws, _SHARED),
        ("constant key when the entropy fails", replace(GENUINE, run_key=_falls_back), probe_laws, _ENTROPY),
        ("writer does not mark experiments", replace(GENUINE, writer=_Silent), probe_statements, _MARKED),
        ("releases of experiments unmarked", replace(GENUINE, protect=_changed(_unmarked)), probe_statements, _MARKED),
        ("digest of the documents in the manifest", _with_digest(), probe_statements, _PUBLIC),
        ("order of the text kept", _with_order(), probe_contents, _ORDER),
        ("unknown words allowed to pass", replace(GENUINE, plan=_lenient), probe_statements, _REFUSED),
    ]  # fmt: skip
    statements: dict[str, tuple[Callable[[Plan, int], dict[str, Any]], str]] = {
        "epsilon understated": (_states(epsilon=lambda was, plan: was / 2), _STATED),
        "epsilon*N without N": (
            _states(epsilon_total=lambda was, plan: plan.mechanism.kernel.epsilon),
            _STATED,
        ),
        "delta left out": (_states(delta=lambda was, plan: 0.0), _STATED),
        "delta of one word": (
            _states(delta=lambda was, plan: plan.mechanism.kernel.guarantee.delta),
            _STATED,
        ),
        "another vocabulary's digest": (_states(vocabulary_sha256=lambda was, plan: "0" * 64), _STATED),
        "experiments stated as private": (_states(private=lambda was, plan: True), _MARKED),
    }
    subjects += [
        (name, replace(GENUINE, protect=_changed(change)), probe_contents, check)
        for name, (change, check) in contents.items()
    ]
    subjects += [
        (name, replace(GENUINE, protect=path), probe_bags if path is _one_row else probe_laws, check)
        for name, (path, check) in laws.items()
    ]
    subjects += [
        (name, replace(GENUINE, manifest=manifest), probe_statements, check)
        for name, (manifest, check) in statements.items()
    ]
    return [Mutant(f"release: {name}", subject, probe, check) for name, subject, probe, check in subjects]


def _fixed_seed(inner: Any, count: int, rng: Any) -> Any:
    return inner.noise(count, seeded_rng(42))


_ORDER: Final = "release: the order of the words changes no byte"
_SHARED: Final = "release: two releases never share their noise"
_COMPANY: Final = "release: other documents change nothing"
_ENTROPY: Final = "release: stops when the entropy source fails"
_STATED: Final = "manifest: states what was done"
_MARKED: Final = "manifest: experiments are marked NOT PRIVATE"
_REFUSED: Final = "release: what breaks the promise is refused"
_REFUSAL: Final = "release: a refusal holds no word"
_PUBLIC: Final = "manifest: describes no document"
