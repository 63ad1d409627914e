"""``publius explain``: what is promised, of a release, of a setting, between two texts; what a word or text becomes."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from publius.cli import console
from publius.cli.parsing import AsRead, File, Folder, Json, WordOptions
from publius.errors import PolicyError, UsageError
from publius.settings import Reading, Words

if TYPE_CHECKING:
    from publius.mechanisms.kernel import Kernel
    from publius.mechanisms.lifted import Lifted

Answer = tuple[dict[str, Any], Callable[[], None]]
"""What was found, and what prints it for people."""


def explain(
    release: Folder | None = None,
    *,
    mechanism: str | None = None,
    epsilon: float = 10.0,
    length: int = 40,
    word: str | None = None,
    text: str | None = None,
    between: File | None = None,
    plan: bool = False,
    nearest: int | None = None,
    unchanged: float | None = None,
    json: Json = False,
    words: WordOptions = Words(),
    reading: AsRead = Reading(),
) -> None:
    """Explain what is promised, or what a word or text becomes.

    explain RELEASE: its promise. explain --between A B: the exponent between two texts; with --nearest B is a corpus.

    Args:
        release: Of a release; with --between a text or corpus.
        mechanism: On words; list names them; several: --unchanged.
        epsilon: Per unit of distance.
        length: Words of a document (N).
        word: What becomes of one public word.
        text: What becomes of a text, as a look: no release.
        between: File with one text; then the other, or a corpus.
        plan: With --between: which word moves where.
        nearest: With --between: so many documents of a corpus.
        unchanged: Epsilon that leaves so many words unchanged.
    """
    chosen = mechanism or words.mechanism
    if between is not None and release is None:
        raise UsageError("--between needs a second text: publius explain --between A B")
    if between is not None and nearest is not None:
        lifted = _lifted(words.mechanism, 10.0, length, words)
        answer = _nearest(_one_text(between, reading), str(release), nearest, lifted, reading)
    elif between is not None:
        texts = _one_text(between, reading), _one_text(str(release), reading)
        answer = _between(*texts, _lifted(chosen, epsilon, length, words), plan=plan)
    elif release is not None:
        answer = _release(release)
    elif word is not None:
        answer = _word(word, kernel_asked(chosen, epsilon, words))
    elif text is not None:
        answer = _text(text, _lifted(chosen, epsilon, length, words))
    elif unchanged is not None:
        answer = _unchanged(chosen.split(","), unchanged, words)
    elif mechanism == "list":
        answer = _list()
    elif mechanism is not None:
        answer = _setting(_lifted(mechanism, epsilon, length, words))
    else:
        raise UsageError(
            "explain what? A RELEASE folder, --mechanism NAME --epsilon E, --between A B, --word W or --text T"
        )
    found, shown = answer
    console.as_json(found) if json else shown()


def _release(folder: str) -> Answer:
    import msgspec

    from publius.privacy.promise import meaning
    from publius.releases.release import read_release

    manifest = read_release(folder).manifest

    def shown() -> None:
        if manifest.private:
            console.say(meaning(manifest))
        console.say(manifest.promise)

    return {**msgspec.to_builtins(manifest), "meaning": meaning(manifest)}, shown


def _list() -> Answer:
    from publius.mechanisms.registry import KERNELS

    rows = [(name, (kind.__doc__ or "").split("\n")[0]) for name, kind in KERNELS.items()]
    found = {"mechanisms": [{"name": name, "what": said} for name, said in rows]}
    return found, lambda: console.table(("mechanism", "what it does"), rows)


def _setting(mechanism: Lifted) -> Answer:
    from publius.mechanisms.explained import setting
    from publius.privacy.promise import percent, rounded_up

    found = console.watched(setting, mechanism)

    def shown() -> None:
        rows = [
            ("exponent per unit of distance (epsilon * N)", rounded_up(found["exponent_per_distance"])),
            *((f"two texts that differ in one word: nurse, {word}", value and rounded_up(value))
              for word, value in (("doctor", found["nearest_pair"]), ("river", found["typical_pair"]))),
            ("frequent words left unchanged", percent(found["unchanged"])),
            ("mean distance of a word from its replacement", found["mean_distance"]),
            ("evidence", found["evidence"]), ("delta", f"{found['delta']:.3g}"),
        ]  # fmt: skip
        if found["worst_pair"]:
            certified = f"{found['parameters']['epsilon_certified']:.6g} ({', '.join(found['worst_pair'])})"
            rows.insert(-2, ("certified constant, and the pair that needs it", certified))
        named = f"{mechanism.kernel.name}, epsilon {found['epsilon']:g}, N = {mechanism.length}"
        console.table((named, ""), rows)
        if said := found["utility"]:
            console.say(
                f"With probability at least {said['probability']:.0%} the bag is within {said['distance']:.3g} of its "
                f"text (the paper's printed bound, refuted: {said['paper_refuted']:.0%})."
            )

    return found, shown


def _unchanged(names: list[str], share: float, words: Words) -> Answer:
    from publius.mechanisms.explained import epsilon_for

    def row(name: str) -> dict[str, Any]:
        try:
            epsilon, found = epsilon_for(partial(kernel_asked, name, words=words), share)
        except PolicyError as error:
            return {"mechanism": name, "epsilon": None, "unchanged": None, "refused": str(error)}
        return {"mechanism": name, "epsilon": epsilon, "unchanged": found, "refused": None}

    rows = console.watched(lambda: [row(name) for name in names])

    def shown() -> None:
        cells = [
            (row["mechanism"], row["epsilon"] or "-", f"{row['unchanged']:.1%}" if row["unchanged"] else row["refused"])
            for row in rows
        ]
        console.table(("mechanism", "epsilon", "unchanged"), cells)
        console.say("Public words of the vocabulary; epsilons of different mechanisms bound the same ratio.")

    return {"mechanisms": rows}, shown


def _word(word: str, kernel: Kernel) -> Answer:
    from publius.mechanisms.word_outcomes import outcomes

    found = console.watched(outcomes, kernel, word if word in kernel.embeddings else word.lower())

    def shown() -> None:
        rows = [(each.word, f"{each.probability:.2%}", each.distance) for each in found.outputs]
        console.table(("becomes", "probability", "distance"), rows)
        exact = "exact" if found.draws is None else f"from {found.draws:,} draws"
        console.say(
            f"{found.word} stays with probability {found.stay:.1%} ({exact}); 99 % of outputs are {found.support:,} words."
        )

    return found.record(), shown


def _text(text: str, mechanism: Lifted) -> Answer:
    from publius.releases.release import release

    seen, known = mechanism.known(text)
    drawn = release(text, mechanism, experiment=True)  # shown to whoever typed the text
    bag = {} if drawn.bag is None else dict(drawn.bag.counts)

    def shown() -> None:
        console.say(" ".join(drawn.words or [w if n == 1 else f"{w} ({n})" for w, n in bag.items()]))
        console.say(
            f"One draw, to look at: no release. {known} of {seen} words are known to {mechanism.vocabulary.name}."
        )

    return {"words": seen, "known": known, "bag": bag, "ordered": drawn.words}, shown


def _between(first: str, second: str, mechanism: Lifted, *, plan: bool) -> Answer:
    from publius.distances.earth_mover import transport_plan
    from publius.privacy.promise import factor_text, rounded_up
    from publius.text.bag import Bag, words_of

    distance, vectors = mechanism.distance(first, second), mechanism.vocabulary
    bound = mechanism.bound(distance)
    moves: list[dict[str, Any]] = []
    if plan:
        one, two = (Bag(words_of(each, vectors, mechanism.encoding).words) for each in (first, second))
        found = transport_plan(one, two, vectors, mechanism.kernel.metric)
        ranked = sorted(found.moves, key=lambda move: (-move.mass * move.distance, move.source, move.target))
        moves = [{"from": m.source, "to": m.target, "mass": m.mass, "distance": m.distance} for m in ranked]

    def shown() -> None:
        console.say(
            f"Earth Mover's distance at most {distance:.6g} ({mechanism.guarantee.metric}, N = {mechanism.length}).\n"
            f"Exponent {rounded_up(bound.exponent, 6)}: "
            f"a bag is at most {factor_text(bound.exponent)} times as probable under one text."
        )
        if plan:
            rows = [(*list(move.values())[:2], f"{move['mass']:.4f}", f"{move['distance']:.4f}") for move in moves]
            console.table(("from", "to", "mass", "distance"), rows)

    return {
        "distance": distance, "exponent": bound.exponent, "delta": bound.delta, "length": mechanism.length,
        "metric": mechanism.guarantee.metric, "mechanism": mechanism.name, **({"plan": moves} if plan else {}),
    }, shown  # fmt: skip


def _nearest(text: str, corpus: str, count: int, mechanism: Lifted, reading: Reading) -> Answer:
    from publius.documents.corpus import open_corpus

    def found() -> list[tuple[int, float]]:
        rows = ((each.row + 1, mechanism.distance(text, each.text)) for each in open_corpus(corpus, reading))
        return heapq.nsmallest(count, rows, key=lambda row: (row[1], row[0]))

    rows = console.watched(found)
    near = [{"row": row, "distance": distance} for row, distance in rows]
    return {"nearest": near, "length": mechanism.length}, lambda: console.table(("row", "distance"), rows)


def _one_text(path: str, reading: Reading) -> str:
    """The one text in a file; `UsageError` for a file of several."""
    from publius.documents.corpus import open_corpus

    found = list(islice(open_corpus(path, reading), 2))
    if len(found) != 1:
        raise UsageError(f"{path!r:.80} holds {'several documents' if found else 'no document'}: give a file with one")
    return found[0].text


def kernel_asked(name: str, epsilon: float, words: Words) -> Kernel:
    """The kernel called ``name`` on the vectors that the options ask for."""
    from publius.embeddings.embeddings import Embeddings
    from publius.mechanisms import registry

    parameters = registry.parse_set(registry.kernel_class(name), words.set)
    vectors = Embeddings.load(words.embeddings)
    return registry.make_kernel(name, vectors, epsilon=epsilon, metric=words.metric, parameters=parameters)


def _lifted(name: str, epsilon: float, length: int, words: Words) -> Lifted:
    from publius.mechanisms.lifted import Lifted

    return Lifted(kernel_asked(name, epsilon, words), length, unknown=words.unknown, stop_words=words.stop_words)
