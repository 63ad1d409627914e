"""Steps 2 to 4: what becomes public, texts before and after, and how strongly to protect."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import typer

from publius.cli.console import printable, waiting
from publius.cli.start.asking import Asking, shown_progress
from publius.errors import how_many
from publius.evaluation.steps.questions import FIND, LEAVE_OUT

if TYPE_CHECKING:
    from publius.evaluation.steps.walk import Walk
    from publius.evaluation.steps.workflow import ReleaseWorkflow

_SHOWN_WORDS: Final = 200
_SHOWN_ALIKE: Final = 10
_SHOWN_MOST: Final = 20


def learn(flow: ReleaseWorkflow, ask: Asking, *, shown: bool) -> None:
    """Learn what becomes public, after its rare words were shown."""
    typer.echo("2. What is public")
    walk = flow.walk
    if walk.reference is None:
        typer.echo(f"   Each bag gets {walk.size:,} words, {_chosen_by(walk)}.")
        flow.walk = walk = replace(walk, choices=replace(walk.choices, length=walk.size))
    elif walk.reference == "themes":
        typer.echo("   The themes that are made from public word vectors.")
    elif walk.choices.reference is not None:
        from publius.vectors.learning.public_words import stated
        from publius.vectors.learning.reference import read_reference_record, references_root

        said = stated(read_reference_record(references_root() / walk.choices.reference)["source"])
        typer.echo(f"   The stored reference {printable(walk.choices.reference)}, as you chose.")
        typer.echo(f"   All its words are public: {printable(said)}.")
    else:
        flow.walk = walk = _vocabulary(walk, ask, shown=shown)
        if walk.learned_before:
            typer.echo("   Learned from the same public texts before.")
        else:
            with shown_progress(flow):
                flow.learn()
            typer.echo("   Learned from the first half of the public texts.")


def _chosen_by(walk: Walk) -> str:
    """Who says how many words a bag has."""
    return "as the lengths of the public texts suggest" if walk.choices.length is None else "as you chose"


def _vocabulary(walk: Walk, ask: Asking, *, shown: bool) -> Walk:
    """The walk with the rare words that do not become public: stated, or asked for where there are any."""
    from publius.vectors.learning.public_words import left_out, many_left_out, not_public, wording

    with waiting("counting who uses which word"):
        found = walk.vocabulary()
    if found is None:
        return walk
    typer.echo(
        f"   {len(found.words):,} words of the public texts become public, each used by at least {found.at_least:,} "
        f"{found.by}:\n   whoever gets the release can learn them. Long numbers, addresses, mail and links never do."
    )
    if found.by == "texts":
        typer.echo(
            "   No author is known, so they are counted by texts: a word that one person wrote in several texts can\n"
            "   be among them. Name the column of authors with --author-field."
        )
    if shown or not ask.yes or sys.stdout.isatty():
        _tell_alike(walk)
    telling, others = ([each for each in found.rare if each.telling is kind] for kind in (True, False))
    if walk.choices.leave_out is None and found.rare:
        if shown or not ask.yes or sys.stdout.isatty():
            for words, what in ((telling, "names, and words general text does not know"), (others, "others")):
                if words:
                    listed = ", ".join(wording(words, _SHOWN_WORDS))
                    typer.echo(f"   Rare, {what}, and how many {found.by} use each: {printable(listed)}.")
        typer.echo("   The rare words that you do not leave out will be public.")
        answer = ask(replace(LEAVE_OUT, proposed=walk.words.leave_out))
        walk = replace(walk, choices=replace(walk.choices, leave_out=answer))
    without = left_out(found.words, found.rare, walk.words.leave_out)
    rare = sum(each.word not in without for each in found.rare)
    typer.echo(f"   Left out: {len(without):,} words. Rare words that will be public: {rare:,}.")
    if unknown := not_public(found.words, walk.words.leave_out):
        named = (
            printable(", ".join(unknown))
            if shown or not ask.yes or sys.stdout.isatty()
            else how_many(len(unknown), "word")
        )
        typer.echo(f"   None of the public words, so perhaps misspelt: {named}.")
    kept = len(found.words) - len(without)
    if (why := many_left_out(len(without), kept, found.by, found.uses(without))) is not None:
        typer.echo(f"   {why}.")
        if shown or not ask.yes or sys.stdout.isatty():
            most = sorted(without, key=lambda word: (-found.words[word], word))
            listed = ", ".join(f"{word} {found.words[word]}" for word in most[:_SHOWN_MOST])
            typer.echo(f"   Left out and most used: {printable(listed)}.")
    return walk


def _tell_alike(walk: Walk) -> None:
    """Authors of the public texts who may be one person, for the curator to bring under one name."""
    from publius.collections.authors import MOST_NAMES, near_duplicates
    from publius.text.author_names import counted_name

    rows = () if walk.older is None else (*walk.older.learned, *walk.older.attacked)
    names = {counted_name(row["author"]): row["author"] for row in rows if "author" in row}
    alike = near_duplicates(names) if len(names) <= MOST_NAMES else []
    for group in alike[:_SHOWN_ALIKE]:
        listed = ", ".join(sorted(printable(names[key]) for key in group))
        typer.echo(f"   Perhaps one person, counted as {len(group)} authors: {listed}.")
    if len(alike) > _SHOWN_ALIKE:
        typer.echo(f"   ... and {len(alike) - _SHOWN_ALIKE:,} more such groups.")


def before_and_after(walk: Walk, *, shown: bool) -> None:
    """Two public texts and what would be released of them; yours on a terminal only, or where ``shown``."""
    from publius.evaluation.steps.showing import examples

    older = walk.older
    typer.echo("3. Before and after, on public texts")
    if older is None:
        typer.echo("   There are none to show.")
        return
    if not (shown or older.packaged or sys.stdout.isatty()):
        typer.echo("   Shown on a terminal only: your texts belong in no log.")
        return
    with waiting("protecting two public texts"):
        found = examples(walk, walk.plan())
    for each in found:
        label = "" if each.label is None else f" [{each.label}]"
        words = ", ".join(f"{word} {count}" if count > 1 else word for word, count in each.after)
        typer.echo(f"   before: {printable(each.before)} ({each.words:,} words)")
        typer.echo(f"   after:{printable(label)} {printable(words)}, ... ({each.size:,} words)")


def strength(walk: Walk, ask: Asking) -> Walk:
    """The walk with its bound, or epsilon: stated, or proposed in words."""
    typer.echo("4. How strongly to protect")
    choices = walk.choices
    if choices.find:
        return walk
    if choices.bound is not None or choices.epsilon is not None:
        typer.echo(f"   {walk.kept.strength_in_words(walk)}")
        return walk
    for line in walk.kept.before_asking(walk):
        typer.echo(f"   {line}")
    answer = ask(replace(walk.kept.question, proposed=f"{walk.strength:g}"))
    if answer == FIND:
        return replace(walk, choices=replace(choices, find=True))
    return walk.at(float(answer))


def tell_labels(flow: ReleaseWorkflow) -> None:
    """How often a label is right: on public texts, and on the curator's own column, for his eyes."""
    from publius.evaluation.steps.labels import noise_in_words, public_label_shares

    walk = flow.walk
    if (shares := public_label_shares(walk)) is None or walk.choices.find:
        return
    typer.echo("   How often a label is right, on the second half of the public texts:")
    for sentence in shares.sentences():
        typer.echo(f"   {printable(sentence)}")
    plan = walk.plan()
    if (outcomes := plan.mechanism.crowd_outcomes) is not None:
        alike = max(plan.shared_labels.values(), default=1)
        typer.echo(f"   {noise_in_words(walk.strength, outcomes, alike)}")
    with waiting("looking at the texts"):
        own = flow.own()
    if own.labels is not None:
        typer.echo(f"   The same on your own column {printable(repr(walk.own_topic))}, for your eyes only:")
        for sentence in own.labels.sentences():
            typer.echo(f"   {printable(sentence)}")


def tell_authors(flow: ReleaseWorkflow) -> None:
    """How much of one author leaves, or that nobody counted."""
    own, walk = flow.own().authors, flow.walk
    if own is None:
        typer.echo(
            "   No column says who wrote your texts, so the promise is per document: an author of five documents can\n"
            "   lose five times as much. Name the column with --author-field to see how many anybody has."
        )
        return
    typer.echo(f"   {printable(own.sentence)}")
    most = walk.choices.documents_per_author
    if most is None and own.most > 1 and own.bound is not None:  # of words nothing is stated for an author
        typer.echo(
            "   What rows without ids promise an author is stated for one document each; for others declare the most\n"
            f"   with --documents-per-author {own.most}."
        )
