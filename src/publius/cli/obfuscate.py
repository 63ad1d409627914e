"""``publius obfuscate``: documents in, protected bags out."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.before import (
    ask_about_loss,
    check_input,
    check_own_mechanism,
    check_strength,
    every_bad_document,
    look_first,
    name_files,
    say_emptiness,
    say_first,
    with_what_is_kept,
)
from publius.cli.console import as_json, printable, progress_bar, standard_output, waiting
from publius.cli.log import say
from publius.cli.options import MAKING, Json, MechanismCommand, options
from publius.cli.to_output import DASH, check_to_output, to_output
from publius.errors import PolicyError, UsageError
from publius.settings import InputSettings, ReleaseSettings, RunSettings, WordRelease

if TYPE_CHECKING:
    from publius.documents.corpus import Corpus
    from publius.privacy.ledger import Ledger
    from publius.releases.engines import RunSummary
    from publius.releases.plan import Plan
    from publius.releases.preflight import Preflight
    from publius.releases.release import Tally
    from publius.text.bag import Encoding
    from publius.vectors.embeddings import Embeddings

_BAD_SHOWN = 20
_COUNTS = "These counts of unknown words{} and words left out describe your documents. They are for you, not released."


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("obfuscate", cls=MechanismCommand)(obfuscate)


@options(preserve=None)
def obfuscate(
    input: Annotated[
        Path,
        typer.Argument(help="A file or folder: text, tables, Word, PDF, HTML, e-mail; - is standard input."),
    ],
    settings: ReleaseSettings,
    output: Annotated[
        Path,
        typer.Option(help="New folder for the bags and their manifest; - sends the bags to standard output."),
    ],
    fields: InputSettings,
    work: RunSettings,
    ledger: Annotated[
        Path | None, typer.Option(help="Budget to debit before the release; see publius ledger.")
    ] = None,
    allow_padding: Annotated[
        bool,
        typer.Option("--allow-padding", help="Release even where more than 30 % of the words are padding."),
    ] = False,
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss", help="With --skip-bad: release even where more than 5 % cannot be read."
        ),
    ] = False,
    shuffled: Annotated[
        bool,
        typer.Option(
            "--shuffled",
            help="Rows without your ids, in a random order: states what the crowd adds for each author.",
        ),
    ] = False,
    length_from: Annotated[
        Path | None,
        typer.Option(help="With words: PUBLIC texts whose lengths say how many words a bag has."),
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option(help="With --output -: where the manifest goes. Default: nowhere.")
    ] = None,
    json: Json = False,
) -> None:
    """Turn documents into protected bags of words.

    The bags keep their topic or meaning, or their words: --preserve.
    """
    from publius.mechanisms.threads import processors
    from publius.releases.engines import started_early
    from publius.releases.engines.run import check_presence
    from publius.releases.preflight import check_loss

    if fields.subject_field is not None and fields.subject_field in fields.keep:
        raise PolicyError(
            "the field that names the person charged would stand in every row: leave it out of --keep"
        )
    book = _ledger(ledger, None if shuffled else fields.subject_field)
    settings = with_what_is_kept(settings, ask=True)
    check_strength(settings)
    check_input(input, work.engine)
    check_to_output(manifest, output, work)
    settings = settings if length_from is None else _with_length(settings, length_from, quiet=json)
    corpus = _opened(input, settings, fields, work.engine, shuffled=shuffled, charged=book is not None)
    plan = _plan(settings, corpus, skip_bad=work.skip_bad)
    check_presence(
        plan, skip_bad=work.skip_bad
    )  # what may not be asked for, before what is wrong with the data
    check_own_mechanism(plan, settings.mechanism, settings.parameters)
    if shuffled:
        _check_crowd(plan, corpus)
    run = replace(work, workers=work.workers or processors())
    with started_early(corpus, plan, run, forked=True) as runner:
        looked = look_first(
            corpus, plan, allow_padding=allow_padding or settings.experiment, skip_bad=work.skip_bad
        )
        say_emptiness(plan)
        if not json:
            say_first(corpus, () if looked is None else looked.warnings(), work.engine)
        if looked is not None and work.skip_bad:
            accept_loss = ask_about_loss(corpus, looked, accepted=accept_loss)
        losing = partial(check_loss, accepted=accept_loss)
        options = {"ledger": book, "run": run, "losing": losing, "runner": runner}
        _run(corpus, plan, output, looked, json=json, manifest=manifest, **options)


def _opened(
    input: Path,
    settings: ReleaseSettings,
    fields: InputSettings,
    engine: str,
    *,
    shuffled: bool,
    charged: bool,
) -> Corpus:
    """The documents: texts, or values of the field that is released; ids of ``shuffled`` ones are read to charge."""
    from publius.documents.corpus import open_released_corpus

    taken = _without_ids(fields, engine) if shuffled else fields
    corpus = open_released_corpus(input, settings.field, **asdict(taken))
    return replace(corpus, charged_field=fields.id_field if shuffled and charged else None)


def _plan(settings: ReleaseSettings, corpus: Corpus, *, skip_bad: bool = False) -> Plan:
    from publius.releases.engines import shortest_length
    from publius.releases.plan import Plan

    def shortest(encoding: Encoding, embeddings: Embeddings) -> int:
        say("looking for the shortest document")
        return shortest_length(corpus, encoding, embeddings, skip_bad=skip_bad)

    with waiting(MAKING) as say:
        return Plan.of(settings, labels=corpus.keep, shortest=shortest)


def _without_ids(fields: InputSettings, engine: str) -> InputSettings:
    """The input with numbers for ids, which stand in a secret random order."""
    if fields.keep:
        raise UsageError("--shuffled releases rows that nothing tells apart: leave out --keep")
    if engine != "local":
        raise UsageError(
            "--shuffled needs all rows in one place to put them in a random order: use --engine local"
        )
    return replace(fields, number=True)


def _check_crowd(plan: Plan, corpus: Corpus) -> None:
    """Refuse what a crowd adds nothing to, and authors with more documents than were declared."""
    from publius.collections.authors import check_documents_per_author
    from publius.documents.corpus import Document

    if plan.crowd_outcomes is None:
        raise UsageError(
            "--shuffled states what a crowd adds to labels that are votes at the bound, and those of "
            f"{plan.mechanism.name} are not known to be: use --mechanism prototype, or keep a field"
        )
    named = (item.subject for item in corpus if isinstance(item, Document) and item.subject is not None)
    check_documents_per_author(named, plan.documents_per_author)


def _ledger(path: Path | None, subject_field: str | None) -> Ledger | None:
    from publius.privacy.ledger import Ledger

    if path is None and subject_field is not None:
        raise UsageError("--subject-field says whom a ledger charges: give --ledger FILE too")
    return None if path is None else Ledger(path)


def _with_length(settings: ReleaseSettings, public: Path, *, quiet: bool) -> ReleaseSettings:
    """N from the lengths of texts that are public."""
    from publius.documents.corpus import Document, open_public_corpus
    from publius.releases.lengths import proposed_length
    from publius.vectors.embeddings import Embeddings

    if not isinstance(settings.chosen, WordRelease) or settings.length is not None:
        raise UsageError("--length-from belongs to --preserve words, without another --length")
    texts = (item.text for item in open_public_corpus(public, number=True) if isinstance(item, Document))
    size = proposed_length(texts, Embeddings.load(settings.embeddings), settings.stop_words)
    if not quiet:
        _say(f"N = {size:,} words of each document, as the lengths of the public texts suggest")
    return replace(settings, length=size)


def _run(
    corpus: Corpus,
    plan: Plan,
    output: Path,
    looked: Preflight | None = None,
    *,
    json: bool,
    manifest: Path | None = None,
    **options: Any,
) -> None:
    """``options`` are those of `publius.releases.engines.protect_corpus`."""
    from publius.releases.engines import protect_corpus

    def make(folder: Path) -> RunSummary:
        return protect_corpus(corpus, plan, folder, progress=progress, notice=_say, **options)

    piped = str(output) == DASH
    with progress_bar("documents", corpus.count_hint) as progress, every_bad_document(corpus):
        summary = to_output(make, manifest) if piped else make(output)
    told = _as_json(summary, output, corpus, looked)
    if piped:
        say(as_json(told) if json else _summary(summary, "standard output", looked), plain=True)
    else:
        with standard_output(f"the release in {output} is complete"):
            typer.echo(as_json(told) if json else _summary(summary, str(output), looked))
    if not json:
        name_files(corpus, summary.bad)


def _say(text: str) -> None:
    say(printable(text))


def _as_json(summary: RunSummary, output: Path, corpus: Corpus, looked: Preflight | None) -> dict[str, Any]:
    tally = summary.tally
    return {
        "output": str(output),
        "ids": "given" if corpus.id_field else "numbers",
        "documents": tally.documents,
        "words": tally.words,
        "unknown_share": round(tally.unknown_share, 6),
        "padding_words": tally.padding,
        **({} if looked is None else {"left_out_words": looked.left_out, "looked_at": looked.documents}),
        **({"resumed": asdict(summary.found)} if summary.found else {}),
        "skipped": [{"position": bad.position, "id": bad.id, "reason": bad.reason} for bad in summary.bad],
        **summary.manifest,
    }


def _of_words(summary: RunSummary) -> list[str]:
    from publius.privacy.promise import rounded_up

    tally, manifest = summary.tally, summary.manifest
    return [
        f"  words           {tally.words:,} (N = {manifest['size']:,} a document, {manifest['size_from']})",
        f"  unknown words   {tally.unknown_share:.1%} of the words read ({manifest['unknown']}); "
        f"padding {tally.padding / tally.words:.1%} of the words released",
        f"  mechanism       {manifest['mechanism']}, {manifest['metric']}, {manifest['embeddings']} "
        f"({manifest['vocabulary_size']:,} words, {manifest['dimension']} dimensions)",
        f"  epsilon         {rounded_up(manifest['epsilon'], 6)} a word; epsilon*N = "
        f"{rounded_up(manifest['epsilon_total'], 6)}; delta = {rounded_up(manifest['delta'], 2)}",
    ]


def _of_documents(summary: RunSummary) -> list[str]:
    from publius.privacy.promise import rounded_up
    from publius.releases.plan import DECLARED_VALUE

    manifest = summary.manifest
    per_unit = (
        "nothing is stated" if manifest["epsilon"] is None else f"{rounded_up(manifest['epsilon'], 6)} nats"
    )
    return [
        *(
            [
                f"  values          one a document, of the {manifest['vocabulary_size']:,} that were declared",
                *_of_others(summary.tally),
            ]
            if manifest["kind"] == DECLARED_VALUE
            else _of_reference(summary)
        ),
        f"  promise         {rounded_up(manifest['bound'], 6)} nats between any two documents "
        f"({manifest['strength']}); per unit of distance {per_unit}",
    ]


def _of_others(tally: Tally) -> list[str]:
    """How many documents count as the value that stands for the rest: for the curator, who may have misspelt one."""
    from publius.errors import how_many

    if not tally.unknown:
        return []
    have = "has" if tally.unknown == 1 else "have"
    return [
        f"  other values    {tally.unknown:,} of {how_many(tally.documents, 'document')} {have} none of these, and "
        "counted as --other (for you, not released)"
    ]


def _of_reference(summary: RunSummary) -> list[str]:
    from publius.mechanisms.registry import tells_preserved

    manifest = summary.manifest
    what = f"the {manifest['preserve']}" if tells_preserved(manifest) else "what it tells"
    kept = f"{what}, by {manifest['mechanism']} on the reference {manifest['reference']}"
    return [
        f"  words           {manifest['size']:,} public words a document, whatever its length",
        f"  unknown words   {summary.tally.unknown_share:.1%} of the words read ({manifest['unknown']})",
        f"  kept            {kept} ({manifest['vocabulary_size']:,} words, {manifest['dimension']} dimensions)",
    ]


def _left_out(looked: Preflight | None) -> list[str]:
    """Words that stand after those that count, where there are such."""
    if looked is None or not looked.cut:
        return []
    return [
        f"  left out        {looked.left_out:,} words ({looked.left_out_share:.0%}) after those that count, in "
        f"{looked.cut:,} of the first {looked.documents:,} documents"
    ]


def _summary(summary: RunSummary, output: str, looked: Preflight | None) -> str:
    from publius.releases.plan import DECLARED_VALUE

    tally, manifest = summary.tally, summary.manifest
    of_kind, padding = {"word": (_of_words, ", padding"), "document": (_of_documents, "")}[manifest["level"]]
    lines = [
        f"Released to {output}",
        f"  documents       {tally.documents:,}"
        + (f" ({len(summary.bad):,} left out)" if summary.bad else ""),
        *of_kind(summary),
        *_left_out(looked),
        *([] if manifest["kind"] == DECLARED_VALUE else [_COUNTS.format(padding)]),
        "",
        *(f"left out: {bad.error()}" for bad in summary.bad[:_BAD_SHOWN]),
        *([f"... and {len(summary.bad) - _BAD_SHOWN:,} more"] if len(summary.bad) > _BAD_SHOWN else []),
        manifest["promise"],
    ]
    return "\n".join(printable(line) for line in lines)
