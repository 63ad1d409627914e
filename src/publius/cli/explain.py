"""``publius explain``: what is promised, of a release, of a setting, between two texts; what a word or text becomes."""

from __future__ import annotations

import heapq
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from publius.cli.parsing import File, flat
from publius.errors import UsageError
from publius.settings import Reading, Words

if TYPE_CHECKING:
    from publius.mechanisms.kernel import Kernel
    from publius.mechanisms.lifted import Lifted


def explain(
    release: Path | None = None,
    other: File | None = None,
    *,
    mechanism: str | None = None,
    epsilon: float | None = None,
    length: int = 40,
    word: str | None = None,
    text: str | None = None,
    between: File | None = None,
    plan: bool = False,
    nearest: int | None = None,
    unchanged: float | None = None,
    json: bool = False,
    words: Annotated[Words, flat("Words")] = Words(),
    reading: Annotated[Reading, flat("Reading")] = Reading(),
) -> None:
    """Explain what is promised, or what a word or text becomes.

    explain RELEASE: its promise. explain --between A B: the exponent between two texts.

    Parameters
    ----------
    release
        Folder of a release; with --between the second text.
    other
        A corpus to search, with --between and --nearest.
    mechanism
        A mechanism on words, or several with --unchanged; list names them.
    epsilon
        Epsilon per unit of distance. Default: 10.
    length
        Words of a document (N).
    word
        What becomes of one public word.
    text
        What becomes of a text: a draw to look at, no release.
    between
        A file with one text; give the second, or a corpus with --nearest.
    plan
        With --between: which word moves where.
    nearest
        With --between: the nearest documents of a corpus.
    unchanged
        The epsilon at which each mechanism leaves this share of words unchanged.
    json
        Print one JSON object.
    """
    if between is not None:
        if release is None:
            raise UsageError("--between needs a second text: publius explain --between A B")
        if nearest is not None:
            _nearest(between, str(release), nearest, words, length, reading, json=json)
        else:
            _between(between, str(release), epsilon, mechanism, words, length, reading, plan=plan, json=json)
    elif release is not None:
        _release(release, json=json)
    elif word is not None:
        _word(word, _kernel(mechanism, epsilon, words), json=json)
    elif text is not None:
        _text(text, _lifted(mechanism, epsilon, length, words), json=json)
    elif unchanged is not None:
        _unchanged((mechanism or words.mechanism).split(","), unchanged, words, json=json)
    elif mechanism is not None:
        _setting(mechanism, epsilon, length, words, json=json)
    else:
        raise UsageError(
            "explain what? A RELEASE folder, --mechanism NAME --epsilon E, --between A B, --word W or --text T"
        )


def _release(folder: Path, *, json: bool) -> None:
    from publius.cli import console
    from publius.privacy.promise import meaning
    from publius.releases.release import read_release

    manifest = read_release(folder).manifest
    if json:
        import msgspec

        console.as_json({**msgspec.to_builtins(manifest), "meaning": meaning(manifest)})
    else:
        if manifest.private:
            console.say(meaning(manifest))
        console.say(manifest.promise)


def _setting(name: str, epsilon: float | None, length: int, words: Words, *, json: bool) -> None:
    from publius.cli import console
    from publius.mechanisms import registry
    from publius.mechanisms.explained import setting

    if name == "list":
        rows = [(each, (kind.__doc__ or "").split("\n")[0]) for each, kind in registry.KERNELS.items()]
        if json:
            console.as_json({"mechanisms": [{"name": each, "what": said} for each, said in rows]})
        else:
            console.table(("mechanism", "what it does"), rows)
        return
    found = console.watched(setting, _lifted(name, epsilon, length, words))
    if json:
        console.as_json(found)
        return
    rows = [
        ("exponent per unit of distance (epsilon * N)", found["exponent_per_distance"]),
        ("two texts that differ in one word: nurse, doctor", found["nearest_pair"]),
        ("two texts that differ in one word: nurse, river", found["typical_pair"]),
        ("frequent words left unchanged", f"{found['unchanged']:.1%}"),
        ("mean distance of a word from its replacement", found["mean_distance"]),
        ("evidence", found["evidence"]), ("delta", f"{found['delta']:.3g}"),
    ]  # fmt: skip
    if found["worst_pair"]:
        certified = f"{found['parameters']['epsilon_certified']:.6g} ({', '.join(found['worst_pair'])})"
        rows.insert(-2, ("certified constant, and the pair that needs it", certified))
    console.table((f"{name}, epsilon {found['epsilon']:g}, N = {length}", ""), rows)
    if found["utility"]:
        said = found["utility"]
        console.say(
            f"With probability at least {said['probability']:.0%} the bag is within {said['distance']:.3g} of its text "
            f"(the paper's printed bound, refuted: {said['paper_refuted']:.0%})."
        )


def _unchanged(names: list[str], share: float, words: Words, *, json: bool) -> None:
    from functools import partial

    from publius.cli import console
    from publius.errors import PolicyError
    from publius.mechanisms.explained import epsilon_for

    def rows() -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for name in names:
            try:
                epsilon, found = epsilon_for(partial(_kernel, name, words=words), share)
                made.append({"mechanism": name, "epsilon": epsilon, "unchanged": found, "refused": None})
            except PolicyError as error:
                made.append({"mechanism": name, "epsilon": None, "unchanged": None, "refused": str(error)})
        return made

    found = console.watched(rows)
    if json:
        console.as_json({"mechanisms": found})
    else:
        shown = [
            (row["mechanism"], row["epsilon"] or "-", f"{row['unchanged']:.1%}" if row["unchanged"] else row["refused"])
            for row in found
        ]
        console.table(("mechanism", "epsilon", "unchanged"), shown)
        console.say("Public words of the vocabulary; epsilons of different mechanisms bound the same ratio.")


def _word(word: str, kernel: Kernel, *, json: bool) -> None:
    from publius.cli import console
    from publius.mechanisms.word_outcomes import outcomes

    found = console.watched(outcomes, kernel, _as_written(word, kernel))
    if json:
        console.as_json(found.record())
        return
    console.table(
        ("becomes", "probability", "distance"),
        [(each.word, f"{each.probability:.2%}", each.distance) for each in found.outputs],
    )
    exact = "exact" if found.draws is None else f"from {found.draws:,} draws"
    console.say(
        f"{found.word} stays with probability {found.stay:.1%} ({exact}); 99 % of outputs are {found.support:,} words."
    )


def _as_written(word: str, kernel: Kernel) -> str:
    """The word as the vectors write it: as typed, else in small letters."""
    return word if word in kernel.embeddings else word.lower()


def _text(text: str, mechanism: Lifted, *, json: bool) -> None:
    from publius.cli import console
    from publius.releases.release import release

    seen, known = mechanism.known(text)
    drawn = release(text, mechanism, experiment=True)  # shown to whoever typed the text
    bag = {} if drawn.bag is None else dict(drawn.bag.counts)
    if json:
        console.as_json({"words": seen, "known": known, "bag": bag, "ordered": drawn.words})
        return
    console.say(
        " ".join(drawn.words) if drawn.words else " ".join(w if n == 1 else f"{w} ({n})" for w, n in bag.items())
    )
    console.say(f"One draw, to look at: no release. {known} of {seen} words are known to {mechanism.vocabulary.name}.")


def _between(
    a: str, b: str, epsilon: float | None, name: str | None, words: Words, length: int, reading: Reading, *,
    plan: bool, json: bool,
) -> None:  # fmt: skip
    from publius.cli import console
    from publius.privacy.promise import factor_text

    mechanism = _lifted(name, epsilon, length, words)
    first, second = _one_text(a, reading), _one_text(b, reading)
    distance = mechanism.distance(first, second)
    bound = mechanism.bound(distance)
    moves: list[dict[str, Any]] = []
    if plan:
        from publius.distances.earth_mover import transport_plan
        from publius.text.bag import Bag, words_of

        one, two = (Bag(words_of(each, mechanism.vocabulary, mechanism.encoding).words) for each in (first, second))
        found = transport_plan(one, two, mechanism.vocabulary, mechanism.kernel.metric)
        ranked = sorted(found.moves, key=lambda move: (-move.mass * move.distance, move.source, move.target))
        moves = [{"from": m.source, "to": m.target, "mass": m.mass, "distance": m.distance} for m in ranked]
    if json:
        more = {"plan": moves} if plan else {}
        console.as_json({
            "distance": distance, "exponent": bound.exponent, "delta": bound.delta, "length": length,
            "metric": mechanism.guarantee.metric, "mechanism": mechanism.name, **more,
        })  # fmt: skip
        return
    console.say(f"Earth Mover's distance at most {distance:.6g} ({mechanism.guarantee.metric}, N = {length}).")
    console.say(
        f"Exponent {bound.exponent:.6g}: a bag is at most {factor_text(bound.exponent)} times as probable under one text."
    )
    if plan:
        console.table(
            ("from", "to", "mass", "distance"),
            [(*list(move.values())[:2], f"{move['mass']:.4f}", f"{move['distance']:.4f}") for move in moves],
        )


def _nearest(a: str, corpus: str, count: int, words: Words, length: int, reading: Reading, *, json: bool) -> None:
    from publius.cli import console
    from publius.documents.corpus import open_corpus

    mechanism, text = _lifted(None, None, length, words), _one_text(a, reading)

    def found() -> list[tuple[int, float]]:
        rows = ((each.row + 1, mechanism.distance(text, each.text)) for each in open_corpus(corpus, reading))
        return heapq.nsmallest(count, rows, key=lambda row: (row[1], row[0]))

    rows = console.watched(found)
    if json:
        console.as_json({"nearest": [{"row": row, "distance": distance} for row, distance in rows], "length": length})
    else:
        console.table(("row", "distance"), rows)


def _one_text(path: str, reading: Reading) -> str:
    """The one text in a file; `UsageError` for a file of several."""
    from itertools import islice

    from publius.documents.corpus import open_corpus

    found = list(islice(open_corpus(path, reading), 2))
    if len(found) != 1:
        raise UsageError(f"{path!r:.80} holds {'several documents' if found else 'no document'}: give a file with one")
    return found[0].text


def _kernel(name: str | None, epsilon: float | None, words: Words) -> Kernel:
    from publius.embeddings.embeddings import Embeddings
    from publius.mechanisms import registry

    chosen = name or words.mechanism
    kind = registry.kernel_class(chosen)
    parameters = registry.parse_set(kind, words.set)
    vectors = Embeddings.load(words.embeddings)
    return registry.make_kernel(
        chosen, vectors, epsilon=10.0 if epsilon is None else epsilon, metric=words.metric, parameters=parameters
    )


def _lifted(name: str | None, epsilon: float | None, length: int, words: Words) -> Lifted:
    from publius.mechanisms.lifted import Lifted

    return Lifted(_kernel(name, epsilon, words), length, unknown=words.unknown, stop_words=words.stop_words)
