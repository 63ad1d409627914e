"""``publius explain``: what is promised, what becomes of a word or text; ``explore``, in the browser; ``inspect`` a file."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from publius.cli import console
from publius.cli.console import Note, Table
from publius.cli.parsing import AsRead, ByAuthors, Documents, File, Folder, Help, Json, More, WordOptions, files_of
from publius.cli.release import kernel_asked, lifted_asked
from publius.errors import PolicyError, UsageError, shown
from publius.settings import People, Reading, Words

if TYPE_CHECKING:
    from publius.mechanisms.kernel import Kernel
    from publius.mechanisms.lifted import Lifted

Answer = tuple[dict[str, Any], list[str | Table]]
"""The record of what was found, and the sentences and tables that people are shown of it."""
_DRAWN: Final = ", within 3 points"
"""Of a law without a closed form: 2,000 draws, at 95 %."""
_FIRST: Final = 5
"""Rows of a release that are shown beside their documents."""


def explain(
    release: Annotated[Folder | None, Help("Of a release; with --between a text or corpus.")] = None,
    *,
    mechanism: Annotated[str | None, Help("On words; list names them; several: --unchanged.")] = None,
    epsilon: Annotated[float, Help("Per unit of distance.")] = 10.0,
    length: Annotated[int, Help("Words of a document (N).")] = 40,
    word: Annotated[str | None, Help("What becomes of one public word.")] = None,
    text: Annotated[str | None, Help("What becomes of a text, as a look: no release.")] = None,
    between: Annotated[File | None, Help("File with one text; then the other, or a corpus.")] = None,
    plan: Annotated[bool, Help("With --between: which word moves where.")] = False,
    nearest: Annotated[int | None, Help("With --between: so many documents of a corpus.")] = None,
    unchanged: Annotated[float | None, Help("Epsilon that leaves so many words unchanged.")] = None,
    json: Json = False,
    words: WordOptions = Words(),
    reading: AsRead = Reading(),
) -> None:
    """Explain what is promised, or what a word or text becomes.

    explain RELEASE: its promise. explain --between A B: the exponent between two texts; with --nearest B is a corpus.
    """
    chosen = mechanism or words.mechanism
    if between is not None and release is None:
        raise UsageError("--between needs a second text: publius explain --between A B")
    if between is not None and nearest is not None:
        lifted = lifted_asked(words.mechanism, 10.0, length, words)
        found, shown = _nearest(_one_text(between, reading), str(release), nearest, lifted, reading)
    elif between is not None:
        texts = _one_text(between, reading), _one_text(str(release), reading)
        found, shown = _between(*texts, lifted_asked(chosen, epsilon, length, words), plan=plan)
    elif release is not None:
        found, shown = _release(release)
    elif word is not None:
        found, shown = _word(word, kernel_asked(chosen, epsilon, words))
    elif text is not None:
        found, shown = _text(text, lifted_asked(chosen, epsilon, length, words))
    elif unchanged is not None:
        found, shown = _unchanged(chosen.split(","), unchanged, words)
    elif mechanism == "list":
        found, shown = _list()
    elif mechanism is not None:
        found, shown = _setting(lifted_asked(mechanism, epsilon, length, words))
    else:
        raise UsageError(
            "explain what? A RELEASE folder, --mechanism NAME --epsilon E, --between A B, --word W or --text T"
        )
    console.answer(found, *shown, json=json)


def _release(folder: str) -> Answer:
    import msgspec

    from publius.privacy.promise import meaning
    from publius.releases.rows import read_release

    manifest = read_release(folder).manifest
    means = meaning(manifest)
    shown = [means, manifest.promise] if manifest.private else [manifest.promise]
    return {**msgspec.to_builtins(manifest), "meaning": means}, [*shown]


def _list() -> Answer:
    from publius.mechanisms.registry import KERNELS, kernel_class

    rows = [(name, (kernel_class(name).__doc__ or "").split("\n")[0]) for name in KERNELS]
    found = {"mechanisms": [{"name": name, "what": said} for name, said in rows]}
    return found, [Table(("mechanism", "what it does"), rows)]


def _setting(mechanism: Lifted) -> Answer:
    from publius.mechanisms.word_outcomes import setting
    from publius.privacy.promise import percent, rounded_up

    found = console.watched(setting, mechanism)
    rows = [
        ("exponent per unit of distance (epsilon * N)", rounded_up(found["exponent_per_distance"])),
        *((f"two texts that differ in one word: nurse, {word}", rounded_up(value))
          for word, value in (("doctor", found["nearest_pair"]), ("river", found["typical_pair"])) if value is not None),
        ("frequent words left unchanged" + _DRAWN * (found["worst_pair"] is None), percent(found["unchanged"])),
        ("mean distance of a word from its replacement", found["mean_distance"]),
        ("evidence", found["evidence"]), ("delta", f"{found['delta']:.3g}"),
    ]  # fmt: skip
    if found["worst_pair"]:
        certified = f"{found['parameters']['epsilon_certified']:.6g} ({', '.join(found['worst_pair'])})"
        rows.insert(-2, ("certified constant, and the pair that needs it", certified))
    named = f"{mechanism.kernel.name}, epsilon {found['epsilon']:g}, N = {mechanism.length}"
    shown: list[str | Table] = [Table((named, ""), rows)]
    if said := found["utility"]:
        shown.append(
            f"With probability at least {said['probability']:.0%} the bag is within {said['distance']:.3g} of its "
            f"text (the paper's printed bound, refuted: {said['paper_refuted']:.0%})."
        )
    return found, shown


def _unchanged(names: list[str], share: float, words: Words) -> Answer:
    from publius.mechanisms.word_outcomes import epsilon_for

    def row(name: str) -> dict[str, Any]:
        try:
            epsilon, found = epsilon_for(partial(kernel_asked, name, words=words), share)
        except PolicyError as error:
            return {"mechanism": name, "epsilon": None, "unchanged": None, "refused": str(error)}
        return {"mechanism": name, "epsilon": epsilon, "unchanged": found, "refused": None}

    rows = console.watched(lambda: [row(name) for name in names])
    cells = [
        (row["mechanism"], row["epsilon"] or "-", f"{row['unchanged']:.1%}" if row["unchanged"] else row["refused"])
        for row in rows
    ]
    return {"mechanisms": rows}, [
        Table(("mechanism", "epsilon", "unchanged"), cells),
        "Public words of the vocabulary; epsilons of different mechanisms bound the same ratio. Where words are drawn, "
        "shares are within 2 points.",
    ]


def _word(word: str, kernel: Kernel) -> Answer:
    from publius.mechanisms.word_outcomes import outcomes

    found = console.watched(outcomes, kernel, word if word in kernel.embeddings else word.lower())
    rows = [(each.word, f"{each.probability:.2%}", each.distance) for each in found.outputs]
    exact = "exact" if found.draws is None else f"from {found.draws:,} draws"
    return found.record(), [
        Table(("becomes", "probability", "distance"), rows),
        f"{found.word} stays with probability {found.stay:.1%} ({exact}); 99 % of outputs are {found.support:,} words.",
    ]


def _text(text: str, mechanism: Lifted) -> Answer:
    from publius.mechanisms.mechanism import release

    seen, known = mechanism.known(text)
    drawn = release(text, mechanism, experiment=True)  # shown to whoever typed the text
    bag = {} if drawn.bag is None else dict(drawn.bag.counts)
    return {"words": seen, "known": known, "bag": bag, "ordered": drawn.words}, [
        " ".join(drawn.words or [w if n == 1 else f"{w} ({n})" for w, n in bag.items()]),
        f"One draw, to look at: no release. {known} of {seen} words are known to {mechanism.vocabulary.name}.",
    ]


def _between(first: str, second: str, mechanism: Lifted, *, plan: bool) -> Answer:
    from publius.distances.earth_mover import transport_plan
    from publius.privacy.promise import factor_text, rounded_up
    from publius.text.bag import Bag, words_of

    distance, metric, vectors = mechanism.distance(first, second), mechanism.guarantee.metric, mechanism.vocabulary
    bound = mechanism.bound(distance)
    found: dict[str, Any] = {
        "distance": distance, "exponent": bound.exponent, "delta": bound.delta, "length": mechanism.length,
        "metric": metric, "mechanism": mechanism.name,
    }  # fmt: skip
    shown: list[str | Table] = [
        f"Earth Mover's distance at most {distance:.6g} ({metric}, N = {mechanism.length}).\n"
        f"Exponent {rounded_up(bound.exponent, 6)}: "
        f"a bag is at most {factor_text(bound.exponent)} times as probable under one text."
    ]
    if plan:
        one, two = (Bag(words_of(each, vectors, mechanism.encoding).words) for each in (first, second))
        moves = transport_plan(one, two, vectors, mechanism.kernel.metric).moves
        found["plan"] = [{"from": m.source, "to": m.target, "mass": m.mass, "distance": m.distance} for m in moves]
        rows = [(m.source, m.target, f"{m.mass:.4f}", f"{m.distance:.4f}") for m in moves]
        shown.append(Table(("from", "to", "mass", "distance"), rows))
        if (moved := sum(m.mass * m.distance for m in moves)) < distance * (1 - 1e-6):
            shown.append(
                f"The plan moves the words that are there, by {moved:.6g}; what fills a short text up adds the rest."
            )
    return found, shown


def _nearest(text: str, corpus: str, count: int, mechanism: Lifted, reading: Reading) -> Answer:
    from publius.documents.corpus import open_corpus

    def found() -> list[tuple[int, float]]:
        rows = ((each.row + 1, mechanism.distance(text, each.text)) for each in open_corpus(corpus, reading))
        return heapq.nsmallest(count, rows, key=lambda row: (row[1], row[0]))

    rows = console.watched(found)
    near = [{"row": row, "distance": distance} for row, distance in rows]
    return {"nearest": near, "length": mechanism.length}, [Table(("row", "distance"), rows)]


def _one_text(path: str, reading: Reading) -> str:
    """The one text in a file; `UsageError` for a file of several."""
    from publius.documents.corpus import open_corpus

    found = list(islice(open_corpus(path, reading), 2))
    if len(found) != 1:
        raise UsageError(f"{path!r:.80} holds {'several documents' if found else 'no document'}: give a file with one")
    return found[0].text


def explore(
    folder: Annotated[Path, Help("Files and finished releases. Default: this folder.")] = Path(),
    *,
    port: Annotated[int, Help("On 127.0.0.1; 0 takes a free one.")] = 8765,
    token_file: Annotated[Path | None, Help("File with the token, for programs; made if new.")] = None,
    no_browser: Annotated[bool, Help("Print the address and open nothing.")] = False,
) -> None:
    """Open the explorer in the browser, and answer programs, until Ctrl-C.

    It listens on this machine only. The token stands in the printed address, behind #.
    """
    from publius.web import server

    if not folder.is_dir():
        raise UsageError(f"no folder {shown(folder)}")

    def started(address: str) -> None:
        console.say(address)
        console.note("Only this machine can open it. Ctrl-C ends it.")
        if not no_browser:
            import threading
            import webbrowser

            threading.Timer(0.5, webbrowser.open, (server.leading_page(address).as_uri(),)).start()

    token = server.token_for(token_file)
    server.serve(server.listening_socket(port), token, folder, started)


def inspect(
    file: Documents,
    *more: More,
    by: Annotated[tuple[str, ...], Help('Declared groups: which rows would become "other".')] = (),
    release: Annotated[Folder | None, Help("Show what this release made of these documents.")] = None,
    document: Annotated[int | None, Help("Print one as a release reads it; from 1.")] = None,
    json: Json = False,
    reading: AsRead = Reading(),
    people: ByAuthors = People(),
) -> None:
    """Look at a file, or at a release; nothing leaves."""
    import msgspec

    from publius.documents.inspection import inspect as looked_at
    from publius.summaries.groups import Groups

    if (Path(file) / "manifest.json").is_file():
        raise UsageError(f"this folder is a release: publius explain {file}, or publius inspect FILE --release {file}")
    files = files_of(file, more, by[-1] if by else None)
    if release is not None:
        compared = console.watched(_against, files, reading, people, release)
        console.answer(compared, *_beside(compared), json=json)
        return
    if document is not None:
        from publius.documents.corpus import open_corpus

        console.say(next((each.text for each in open_corpus(files, reading) if each.row + 1 == document), ""))
        return
    groups = {field.name: field.declares for field in Groups.of(by).fields}
    found = console.watched(looked_at, files, reading, by=groups, **vars(people))
    without = f", {found.without_text:,} without text" if found.without_text else ""
    facts = [
        ("documents", f"{found.documents:,}{without}"), ("columns", ", ".join(found.columns)),
        ("texts in", found.text_field), ("encoding", found.encoding),
        ("languages", ", ".join(f"{name} {count:,}" for name, count in found.languages.items())),
    ]  # fmt: skip
    notes = Table(("rows", "to look at", "where"), [(each.count, each.what, each.where) for each in found.notes])
    odd = notes if found.notes else "Nothing odd was found."
    console.answer(msgspec.to_builtins(found), Table(("found", ""), facts), odd, json=json)


def _against(files: str | list[str], reading: Reading, people: People, folder: str) -> dict[str, Any]:
    """The first rows, beside their documents where ids left; and how often each label or word stands there."""
    from publius.documents.corpus import open_corpus
    from publius.releases.manifest import SummaryManifest
    from publius.releases.rows import read_release

    released = read_release(folder)
    texts: dict[str | None, str] = {}
    if getattr(released.manifest, "ids", False):
        corpus = open_corpus(files, reading, id_field="id", **vars(people))
        texts = {each.id: each.text for each in islice(corpus, _FIRST)}
    rows = (row for row in released.rows() if not texts or row.get("id") in texts)
    return {
        "by_id": bool(texts),
        "made_up": isinstance(released.manifest, SummaryManifest),
        "rows": [{"text": texts.get(row.get("id")), **row} for row in islice(rows, _FIRST)],
        **{name: released.table(name) for name in ("labels", "words") if name in released.tables},
    }


def _beside(compared: dict[str, Any]) -> Iterator[Note | Table]:
    if compared["made_up"]:
        yield Note("Rows of a summary are made up: they are nobody's.")
    elif not compared["by_id"]:
        yield Note("Rows of this release are in a secret order: nobody can say which document is which.")
    rows = []
    for row in compared["rows"]:
        said = ", ".join(f"{name} {value}" for name, value in row.items() if name not in ("id", "text"))
        rows.append((row.get("id"), _cut(row["text"] or ""), _cut(said)))
    yield Table(("id", "document", "released"), rows)
    for name in ("labels", "words"):
        if table := compared.get(name):
            yield Table(tuple(table[0]), [tuple(row.values()) for row in table[:20]])


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:77] + "..."
