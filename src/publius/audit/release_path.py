"""The way out: what a release holds, what its law is, and what never leaves (R7, R10 to R15, R17, R21)."""

from __future__ import annotations

import gc
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from publius.audit.generators import ENTROPY_FAILURES, entropy_source
from publius.audit.implementation import Subject
from publius.audit.lifting import bag_kernel, bags
from publius.audit.outcomes import Check, surprise, violations
from publius.audit.tests_of_fit import log_p_pearson
from publius.audit.toy_vocabularies import small_embeddings
from publius.audit.words import exact_kernel
from publius.documents.corpus import BadDocument, Document
from publius.errors import EntropyError, PolicyError
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.mechanism import OrderedText
from publius.noise.randomness import RunKey
from publius.releases.plan import Experiment, Plan
from publius.releases.release import Release
from publius.settings import EUCLIDEAN, TextSettings
from publius.text.bag import UNKNOWN, Encoding
from publius.vectors.embeddings import Embeddings

CANARY: Final = "zzcanaryword"
_LAW_WORDS: Final = np.array([[0.0], [1.0], [1.75], [3.5]])
_NO_NOISE: Final = 1e6  # an epsilon at which a word stays what it is


def toy_embeddings(words: int = 60, dimension: int = 8) -> Embeddings:
    """A vocabulary of words that look like words of a text, about 4 apart."""
    vectors = RunKey.seeded(20).rng("toy").standard_normal((words, dimension))
    syllables = [a + b for a in "bdfglmnprt" for b in "aeiou"]
    names = [first + second for first in syllables for second in syllables[:2]][:words]
    return Embeddings.from_arrays(names, vectors.astype(np.float32), name="toy", tokenizer="word2vec")


def make_plan(subject: Subject, embeddings: Embeddings, epsilon: float, length: int, **options: Any) -> Plan:
    """A plan without stop words; ``options``: unknown, ordered, experiment, labels."""
    unknown = options.pop("unknown", TextSettings.unknown)
    encoding = Encoding.of(embeddings.tokenizer, length=length, unknown=unknown, stop_words="none")
    lifted = Lifted(subject.mechanism(embeddings, epsilon), length, ordered=options.pop("ordered", None))
    return subject.plan(lifted, encoding, **options)


def make_documents(embeddings: Embeddings, count: int, words: int, key: RunKey) -> list[Document]:
    """Documents d0, d1, ... of ``words`` random vocabulary words."""
    rng = key.rng("documents")
    choices = rng.integers(0, embeddings.size, (count, words))
    return [
        Document(f"d{index}", " ".join(embeddings.word(place) for place in row), {}, index + 1)
        for index, row in enumerate(choices.tolist())
    ]


def _released(subject: Subject, documents: Sequence[Document], plan: Plan, key: RunKey) -> list[Release]:
    results, _ = subject.protect(documents, plan, RunKey(key.expose()))
    return [result for result in results if isinstance(result, Release)]


# What a release holds ------------------------------------------------------------------------------------------


def check_content(subject: Subject, key: RunKey) -> list[Check]:
    """Exactly N words, all of the vocabulary, whatever unknown words, repetitions or length the text has."""
    embeddings = toy_embeddings()
    known = embeddings.vocabulary
    texts = [
        f"{CANARY} {known[0]} {CANARY}s " * 20,
        known[3],
        " ".join(known) * 3,
        f"{known[1]} " * 90,
        f"{CANARY} {UNKNOWN} {known[2]}",
        CANARY,
    ]
    documents = [Document(f"d{place}", text, {}, place + 1) for place, text in enumerate(texts)]
    sizes = outside = shown = total = 0
    for unknown in (TextSettings.unknown, "drop"):
        for epsilon in (0.5, _NO_NOISE):
            plan = make_plan(subject, embeddings, epsilon, 30, unknown=unknown)
            for release in _released(subject, documents, plan, key):
                sizes += release.bag.size != plan.size
                outside += bool(set(release.bag.counts) - set(known))
                shown += CANARY in repr(release) + str(release) + repr(release.bag)
                total += 1
    return [
        violations("release: exactly N words", total, sizes + (total == 0)),
        violations("release: words of the vocabulary only", total, outside),
        violations("release: no word in a repr", total, shown),
    ]


def check_no_trace(subject: Subject, key: RunKey) -> Check:
    """Nothing that can be reached from a release is its document or its text (R21)."""
    embeddings = toy_embeddings()
    documents = make_documents(embeddings, 5, 30, key)
    traces = 0
    for document in documents:
        plan = make_plan(subject, embeddings, 1.0, 30)
        for release in _released(subject, [document], plan, key):
            traces += _reaches(release, (document, document.text))
    return violations("release: no reference to its document", len(documents), traces)


def _reaches(start: object, targets: tuple[object, ...]) -> bool:
    seen: set[int] = set()
    queue = [start]
    while queue:
        thing = queue.pop()
        if any(thing is target for target in targets):
            return True
        if id(thing) not in seen and not isinstance(thing, type):
            seen.add(id(thing))
            queue += [other for other in gc.get_referents(thing) if not callable(other)]
    return False


def check_order(subject: Subject, key: RunKey) -> Check:
    """Documents of the same words in another order give the same bytes: a release has no order (R11)."""
    embeddings = toy_embeddings()
    document = make_documents(embeddings, 1, 40, key)[0]
    words = document.text.split()
    orders = (words, sorted(words), words[::-1], sorted(words, key=lambda word: word[::-1]))
    plan = make_plan(subject, embeddings, _NO_NOISE, 40)
    written = {
        _written(subject, plan, _released(subject, [Document("d", " ".join(order), {}, 1)], plan, key))
        for order in orders
    }
    return violations("release: the order of the words changes no byte", len(orders), len(written) - 1)


def _written(subject: Subject, plan: Plan, releases: Sequence[Release]) -> bytes:
    """All bytes that the writer makes of ``releases``."""
    with tempfile.TemporaryDirectory() as name:
        with subject.writer(plan, Path(name)) as writer:
            for release in releases:
                writer.write(release)
        return b"".join(path.read_bytes() for path in sorted(Path(name).iterdir()))


def check_errors(subject: Subject, key: RunKey) -> Check:
    """A document that is refused is named by its place, never by its words (R17)."""
    embeddings = toy_embeddings()
    text = f"{embeddings.word(0)} {CANARY} {embeddings.word(1)}"
    plan = make_plan(subject, embeddings, 1.0, 3, unknown="reject")
    results, _ = subject.protect([Document("d", text, {}, 1)], plan, RunKey(key.expose()))
    refused = [result for result in results if isinstance(result, BadDocument)]
    shown = sum(any(word in repr(bad) + str(bad.error()) for word in text.split()) for bad in refused)
    return violations("release: a refusal holds no word", 1, shown + (len(refused) != 1))


# Its law -------------------------------------------------------------------------------------------------------


def check_law(subject: Subject, count: int, key: RunKey) -> list[Check]:
    """Released bags of two words, and pairs of released documents, against the exact law.

    Seen: noise shared by the words of a document, by equal words, by documents, and padding without noise.
    """
    embeddings = small_embeddings(_LAW_WORDS, "law")
    epsilon = 1.25
    kernel = exact_kernel(subject.mechanism(embeddings, epsilon))
    if kernel is None:
        return []
    checks = []
    pairs: tuple[tuple[int, int], ...] = ((0, 2), (1, 1))
    for pair in pairs:
        text = " ".join(embeddings.word(place) for place in pair)
        plan = make_plan(subject, embeddings, epsilon, 2)
        documents = [Document(f"{text}/{place}", text, {}, place + 1) for place in range(count)]
        observed = [tuple(release.bag.words()) for release in _released(subject, documents, plan, key)]
        name = "different words" if pair[0] != pair[1] else "equal words"
        checks.append(_bag_law(kernel, embeddings, pair, observed, f"release: law of bags of two {name}"))
    return [*checks, _pair_law(subject, kernel, embeddings, epsilon, count, key)]


def _bag_law(
    kernel: Any, embeddings: Embeddings, pair: Sequence[int], observed: list[tuple[str, ...]], name: str
) -> Check:
    outputs = [
        tuple(sorted(embeddings.word(place) for place in bag)) for bag in bags(len(kernel), 2).tolist()
    ]
    row = outputs.index(tuple(sorted(embeddings.word(place) for place in pair)))
    counts = np.array([observed.count(bag) for bag in outputs], np.float64)
    lost = len(observed) - int(counts.sum())
    expected = bag_kernel(kernel, 2)[row] * counts.sum()
    return surprise(name, len(observed), -math.inf if lost else log_p_pearson(counts, expected))


def _pair_law(
    subject: Subject, kernel: Any, embeddings: Embeddings, epsilon: float, count: int, key: RunKey
) -> Check:
    """Two documents after one another, one word each: jointly, their law is the product."""
    plan = make_plan(subject, embeddings, epsilon, 1)
    words = (0, 2)
    documents = [
        Document(str(place), embeddings.word(words[place % 2]), {}, place + 1) for place in range(2 * count)
    ]
    found = [next(iter(release.bag.counts)) for release in _released(subject, documents, plan, key)]
    indices = np.array([embeddings.index(word) for word in found], np.int64)
    joint = np.bincount(indices[::2] * len(kernel) + indices[1::2], minlength=kernel.size).astype(np.float64)
    expected = np.outer(kernel[words[0]], kernel[words[1]]).ravel() * joint.sum()
    return surprise("release: documents are independent", count, log_p_pearson(joint, expected))


def check_fresh(subject: Subject, runs: int, key: RunKey) -> Check:
    """Releases of one document in several runs, and of one text under several ids, never repeat their noise."""
    embeddings = toy_embeddings()
    plan = make_plan(subject, embeddings, 0.4, 40)
    document = make_documents(embeddings, 1, 40, key)[0]
    same_text = [Document(f"copy{place}", document.text, {}, place + 1) for place in range(runs)]
    found = [
        release.bag
        for _ in range(runs)
        for release in _released(subject, [document], plan, subject.run_key(plan))
    ]
    found += [release.bag for release in _released(subject, same_text, plan, subject.run_key(plan))]
    return violations(
        "release: two releases never share their noise", len(found), len(found) - len(set(found))
    )


def check_company(subject: Subject, key: RunKey) -> Check:
    """The documents beside it and their order change nothing for a document: no path fits on its input (R14)."""
    embeddings = toy_embeddings()
    plan = make_plan(subject, embeddings, 1.0, 30)
    documents = make_documents(embeddings, 8, 30, key)
    whole = {release.id: release.bag for release in _released(subject, documents, plan, key)}
    others = _released(subject, documents[::-1], plan, key)
    others += [release for document in documents for release in _released(subject, [document], plan, key)]
    changed = sum(whole.get(release.id) != release.bag for release in others)
    return violations("release: other documents change nothing", len(others), changed + (len(others) != 16))


def check_entropy_failures(subject: Subject, runs: int) -> Check:
    """When the entropy source fails before or during a run's start, nothing is released (R7)."""
    embeddings = toy_embeddings()
    plan = make_plan(subject, embeddings, 1.0, 3)
    document = Document("d", embeddings.word(0), {}, 1)
    released = 0
    for place in range(runs):
        with entropy_source(ENTROPY_FAILURES[place % len(ENTROPY_FAILURES)]):
            try:
                released += len(_released(subject, [document], plan, subject.run_key(plan)))
            except EntropyError:
                continue
    return violations("release: stops when the entropy source fails", runs, released)


# What it states ------------------------------------------------------------------------------------------------


def check_manifest(subject: Subject) -> Check:
    """The manifest states what was done, recomputed here: epsilon, N, delta, vocabulary, private."""
    embeddings = toy_embeddings()
    wrong = total = 0
    for epsilon, length in ((0.5, 7), (3.0, 400)):
        plan = make_plan(subject, embeddings, epsilon, length)
        manifest = subject.manifest(plan, 5)
        delta = subject.mechanism(embeddings, epsilon).guarantee.delta * length
        expected = {
            "epsilon": epsilon,
            "epsilon_total": epsilon * length,
            "size": length,
            "documents": 5,
            "private": True,
            "metric": EUCLIDEAN,
            "unknown": TextSettings.unknown,
            "vocabulary_size": embeddings.size,
            "vocabulary_sha256": embeddings.sha256,
            "dimension": embeddings.dimension,
        }
        wrong += sum(manifest.get(name) != value for name, value in expected.items())
        wrong += not manifest.get("delta", -1) >= delta * (1 - 1e-12)
        total += len(expected) + 1
    return violations("manifest: states what was done", total, wrong)


def check_manifest_is_public(subject: Subject, key: RunKey) -> Check:
    """Runs of the same public decisions on different documents have the same manifest (R14, R15)."""
    embeddings = toy_embeddings()
    manifests = set()
    for seed in ("a", "b"):
        plan = make_plan(subject, embeddings, 1.0, 30)
        documents = make_documents(embeddings, 4, 30, RunKey.seeded(ord(seed)))
        _released(subject, documents, plan, key)
        manifests.add(json.dumps(subject.manifest(plan, 4), sort_keys=True))
    return violations("manifest: describes no document", 2, len(manifests) - 1)


def check_marked(subject: Subject, key: RunKey) -> Check:
    """An experiment is marked NOT PRIVATE in its manifest, its releases and every file (R10)."""
    embeddings = toy_embeddings()
    experiments = ({"experiment": Experiment(seed=3)}, {"experiment": Experiment(), "ordered": OrderedText()},
                   {"experiment": Experiment()})  # fmt: skip
    unmarked = 0
    for experiment in experiments:
        plan = make_plan(subject, embeddings, 1.0, 10, **experiment)
        releases = _released(subject, make_documents(embeddings, 2, 10, key), plan, key)
        manifest = subject.manifest(plan, 2)
        said = [str(manifest.get("warning")), str(manifest["promise"]), *(str(r.warning) for r in releases)]
        said += [_written(subject, plan, releases).decode()]
        unmarked += sum("NOT PRIVATE" not in text for text in said)
        unmarked += manifest["private"] is not False or any(release.guarantee for release in releases)
    return violations("manifest: experiments are marked NOT PRIVATE", len(experiments), unmarked)


def check_refusals(subject: Subject) -> Check:
    """Check that a broken promise is refused: unknown words that pass, an epsilon that is no number."""
    embeddings = toy_embeddings()
    attempts: list[Callable[[], object]] = [
        lambda: make_plan(subject, embeddings, 1.0, 5, unknown="keep"),
        lambda: make_plan(subject, embeddings, math.nan, 5),
        lambda: make_plan(subject, embeddings, math.inf, 5),
        lambda: make_plan(subject, embeddings, -1.0, 5),
    ]
    accepted = 0
    for attempt in attempts:
        try:
            attempt()
        except (PolicyError, ValueError):
            continue
        accepted += 1
    return violations("release: what breaks the promise is refused", len(attempts), accepted)


def check_release_path(subject: Subject, count: int, key: RunKey) -> list[Check]:
    """All of the above; ``count`` documents for each law."""
    return [
        *check_content(subject, key),
        check_no_trace(subject, key),
        check_order(subject, key),
        check_errors(subject, key),
        *check_law(subject, count, key),
        check_fresh(subject, 20, key),
        check_company(subject, key),
        check_manifest(subject),
        check_manifest_is_public(subject, key),
        check_marked(subject, key),
        check_refusals(subject),
    ]
