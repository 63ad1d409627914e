"""The steps of ``start``, for terminal and browser: look, release, the page to sign. Each says in one line what it found."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from publius.errors import UsageError, how_many
from publius.files.progress import stage
from publius.settings import LARGEST_LOCAL_EPSILON, Leaving, People, Reading, Tried
from publius.start.answers import Answers

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier
    from publius.documents.corpus import Corpus
    from publius.mechanisms.mechanism import Mechanism
    from publius.summaries.summary import Summary

Said = Callable[[str], object]
Known = Callable[[str], tuple[int, int]] | None
RELEASE: Final = "release"
PAGE: Final = "page.html"
RECIPIENTS: Final = "recipients.html"
EVALUATION: Final = "evaluation"
ABOUT: Final = ("purpose", "recipient", "contact", "review")
_SHOWN: Final = 70


def look(answers: Answers, reading: Reading = Reading()) -> tuple[tuple[str, ...], str | None]:
    """The columns of the file, none for plain texts, and the one with the longest values where none is called text."""
    from publius.documents.sources import Source

    tables = Source(answers.file).tables(reading)
    columns = tuple(dict.fromkeys(name for table in tables for name in table.columns))
    return columns, tables[0].longest() if len(columns) > 1 and "text" not in columns else None


def run(answers: Answers, output: Path, said: Said, reading: Reading = Reading()) -> dict[str, str | None]:
    """Take all steps for complete ``answers`` into the new folder ``output``: where release, pages and evaluation lie."""
    from publius.documents.corpus import open_corpus
    from publius.files.writing import new_folder
    from publius.releases.sign import check_typed, sign

    if answers.release is None or answers.epsilon is None:
        raise UsageError("what do readers need? --release summary, labels or words")
    about = {name: getattr(answers, name) for name in ABOUT}
    check_typed(about)
    reading = replace(reading, text_field=answers.text_field)
    with new_folder(output, owner_only=True) as work:  # all of it or nothing
        answers.save(work)
        fields = [field.partition("=")[0].strip() for field in _groups(answers)]
        corpus = open_corpus(answers.file, reading, author_field=answers.author_field, fields=fields)
        evaluated = answers.release == "words" and answers.public is not None
        if answers.release == "summary":
            _summary(answers, corpus, work / RELEASE, said)
        else:
            mechanism, known = _mechanism(answers, said, work / RELEASE)
            _look(answers, corpus, known, said)
            if evaluated:
                _evaluate(answers, reading, work / EVALUATION, said)
            _rows(corpus, mechanism, work / RELEASE, said)
        evaluation = work / EVALUATION if evaluated else None
        sign(work / RELEASE, work / PAGE, evaluation=evaluation, public_page=work / RECIPIENTS, **about)
    said(f"Release: {output / RELEASE}. To sign: {output / PAGE}. For recipients: {output / RECIPIENTS}.")
    return {
        "release": str(output / RELEASE), "page": str(output / PAGE), "recipients": str(output / RECIPIENTS),
        "evaluation": str(output / EVALUATION) if evaluated else None,
    }  # fmt: skip


def _groups(answers: Answers) -> list[str]:
    return [part.strip() for part in (answers.by or "").split(";") if part.strip()]


def _look(answers: Answers, corpus: Corpus, known: Known, said: Said) -> None:
    """What ``label`` and ``inspect`` say of a file, before anything is spent; cells of it stand in ``inspect`` alone."""
    from publius.documents.inspection import inspect, look
    from publius.summaries.groups import Groups

    by = {field.name: field.declares for field in Groups.of(_groups(answers)).fields}
    with stage("looking"):
        lines = look(corpus, known, by="these word vectors" if answers.release == "words" else "this classifier")
        notes = inspect(answers.file, corpus.tables[0].reading, author_field=answers.author_field, by=by).notes
    told = [f"{each.what}: {each.count:,}" for each in notes]
    for line in [*lines, *(each for each in told if not any(line.startswith(each) for line in lines))]:
        said(line)


def beforehand(summary: Summary) -> list[str]:
    """How many documents a count needs to be seen, and what would need fewer: public numbers, before anything is spent."""
    from publius.summaries.summary import Summary, expected
    from publius.summaries.tables import shares_of

    grouped, c = summary.groups.size > 1, summary.documents_per_author
    topic = "subject" if summary.classifier is summary.subjects else "topic"
    named = {
        "totals": "a group of {}", "subjects": "a subject of {}",
        "statements": "a statement of {}", "topics": f"a {topic}{' in a group' * grouped} of {{}}",
    }  # fmt: skip

    def seen(asked: Summary) -> dict[str, str]:
        unit = {"statements": "author"}
        return {
            str(each.table): named[each.table].format(how_many(each.told, unit.get(each.table, "document")))
            for each in expected(asked)
        }

    each_author = f"{how_many(c, 'document')} of an author {'counts' if c == 1 else 'count'}"
    sure = ", ".join(seen(summary).values())
    lines = [f"At least 95 % sure to be seen in the noise: {sure}; smaller ones may be ({each_author})."]
    if summary.shares == shares_of(None, tuple(summary.shares)) and not summary.statements and summary.subjects:
        given = summary.classifier if summary.classifier is not summary.subjects else None
        shared: dict[str, Any] = {"documents_per_author": c, "subjects": summary.subjects}
        fewer = [f"without --by {seen(Summary(given, summary.epsilon, **shared))['subjects']}"] if grouped else []
        if (weaker := min(3 * summary.epsilon, Fraction(LARGEST_LOCAL_EPSILON))) > summary.epsilon:
            told = seen(Summary(given, weaker, by=summary.groups, **shared))
            fewer.append(f"with epsilon {float(weaker):g} {told['subjects']}")
        if fewer:
            lines.append(f"Fewer are enough: {'; '.join(fewer)}.")
    return lines


def _summary(answers: Answers, corpus: Corpus, folder: Path, said: Said) -> None:
    from publius.privacy.promise import meaning
    from publius.releases.rows import read_release
    from publius.summaries.run import summarize_corpus
    from publius.summaries.summary import Summary

    classifier = _classifier(answers, said, folder) if answers.labels or answers.label_field else None
    summary = Summary(classifier, epsilon=answers.epsilon or 1.0, by=_groups(answers))
    counts = summary.classifier or summary.subjects
    _look(answers, corpus, None if counts is None else counts.known, said)
    for line in beforehand(summary):
        said(line)
    with stage("summarizing"):
        found = summarize_corpus(corpus, summary, folder)
    said(
        f"{found.manifest.authors:,} authors, each with at most {found.manifest.documents_per_author} document counted."
    )
    drawn = read_release(folder)
    for name in ("topics", "subjects"):
        for row in drawn.table(name)[:6] if name in drawn.tables else ():
            said(f"  {row.get('label') or row.get('words') or '':<44.44} {row['low']} to {row['high']} documents")
    said(meaning(found.manifest))


def _mechanism(answers: Answers, said: Said, folder: Path) -> tuple[Mechanism, Known]:
    if answers.release == "labels":
        from publius.mechanisms.randomized_response import RandomizedResponse

        classifier = _classifier(answers, said, folder)
        return RandomizedResponse(classifier, answers.epsilon or 5.0), classifier.known
    from publius.embeddings.embeddings import Embeddings
    from publius.mechanisms.lifted import Lifted
    from publius.mechanisms.registry import make_kernel

    kernel = make_kernel("laplace", Embeddings.load(), epsilon=answers.epsilon or 10.0)
    lifted = Lifted(kernel, answers.length or 40)
    return lifted, lifted.known


def _classifier(answers: Answers, said: Said, folder: Path) -> Classifier:
    """Values of names, or what public texts taught, which is kept beside ``folder`` for the next release."""
    if answers.public is not None and answers.label_field is not None:
        from publius.classifiers.topics import TopicClassifier
        from publius.documents.corpus import open_corpus
        from publius.privacy.promise import between, percent

        reading = Reading(text_field=answers.text_field)
        columns = open_corpus(answers.public, reading).columns
        author = answers.author_field if answers.author_field in columns else None
        public = open_corpus(answers.public, reading, author_field=author, fields=(answers.label_field,))
        rows = list(public)
        with stage("training on public texts"):
            made = TopicClassifier.train(
                [row.text for row in rows], [str(row.fields[answers.label_field]) for row in rows],
                authors=[row.author for row in rows] if author else None, name=Path(answers.public).stem,
                trained_on=public.digests(),
            )  # fmt: skip
        made.save(folder.with_name("classifier"))
        right = made.accuracy
        said(f"{len(rows):,} public texts, {len(made.labels) - 1} labels: right for {percent(right['share'])} of them "
             f"({between(right['low'], right['high'])}).")  # fmt: skip
        return made
    if answers.labels is None:
        raise UsageError("which labels? --labels A,B,C, or --public FILE with a column of labels")
    from publius.classifiers.classifier import Names
    from publius.classifiers.encoder import load_encoder
    from publius.files.reading import value_list

    return Names(value_list(answers.labels, "--labels"), load_encoder())


def _rows(corpus: Corpus, mechanism: Mechanism, folder: Path, said: Said) -> None:
    from publius.privacy.promise import meaning
    from publius.releases.rows import read_release
    from publius.releases.run import protect_corpus

    with stage("releasing"):
        found = protect_corpus(corpus, mechanism, folder, leaving=Leaving())
    first = next(read_release(found.folder).rows(), {})
    drawn = str(first.get("label") or " ".join(first.get("bag", ())))
    said(f"a released row: {drawn[:_SHOWN]}{'...' if len(drawn) > _SHOWN else ''}")
    for row in sorted(found.table, key=lambda each: -each["rows"])[:6]:
        said(f"  {row['label']:<30.30} {row['rows']:>6,} rows, {row['low']:,} to {row['high']:,} documents")
    said(meaning(found.manifest))


def _evaluate(answers: Answers, reading: Reading, folder: Path, said: Said) -> None:
    """Attack public texts at the setting of the release; what is measured is of these texts."""
    from publius.evaluation import evaluate
    from publius.evaluation.report import headline, write

    author, epsilon = answers.author_field or "author", answers.epsilon or 10.0
    tried = Tried(length=answers.length or 40)
    asked = {"author-field": author, "epsilon": repr(epsilon), "length": str(tried.length)}
    again = [part for name, value in asked.items() for part in (f"--{name}", value)]
    public = evaluate.Public(
        source=answers.public, reading=reading, people=People(author_field=author),
        command=shlex.join(["publius", "evaluate", Path(str(answers.public)).name, *again]),
    )  # fmt: skip
    with stage("attacking public texts"):
        results = evaluate.of_words(public, [epsilon], tried)
    write(results, folder)
    said(headline(results))
