"""The steps of ``start``: look, then release, then the page to sign. Each says in one line what it found.

The terminal and the page in the browser run the same steps over the same answers; what they print is these lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from publius.errors import UsageError
from publius.files.progress import stage
from publius.settings import Leaving, People, Reading
from publius.start.answers import Answers

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier
    from publius.documents.corpus import Corpus
    from publius.mechanisms.mechanism import Mechanism

Said = Callable[[str], object]
RELEASE: Final = "release"
PAGE: Final = "page.html"
RECIPIENTS: Final = "recipients.html"
EVALUATION: Final = "evaluation"
_SHOWN: Final = 70


@final
@dataclass(frozen=True)
class Made:
    """Where the results are: the release, the page to sign, the page for recipients, an evaluation if there is one."""

    release: Path
    page: Path
    recipients: Path
    evaluation: Path | None = None


def look(answers: Answers, reading: Reading = Reading()) -> tuple[str, ...]:
    """The columns of the file; none for plain texts. Raises what reading raises, but for the column of texts."""
    from publius.documents.sources import Source, tables_of

    return tuple(
        dict.fromkeys(name for table in tables_of(Source(answers.file), reading) for name in table.columns)
    )


def run(answers: Answers, output: Path, said: Said, reading: Reading = Reading()) -> Made:
    """Take all steps for complete ``answers`` into the new folder ``output``; errors are those of the steps."""
    from publius.files.folders import check_new_folder, make_parents

    if answers.release is None or answers.epsilon is None:
        raise UsageError("what do readers need? --release summary, labels or words")
    check_new_folder(output)
    make_parents(output)
    answers.save(output)
    reading = replace(reading, text_field=answers.text_field)
    corpus = _corpus(answers, reading)
    said(f"{corpus.count():,} texts to release, from {Path(answers.file).name}.")
    folder, evaluation = output / RELEASE, None
    if answers.release == "summary":
        _summary(answers, corpus, folder, said)
    else:
        mechanism = _mechanism(answers, said)
        if answers.release == "words" and answers.public is not None:
            evaluation = output / EVALUATION
            _evaluate(answers, reading, evaluation, said)
        _rows(answers, corpus, mechanism, folder, said)
    return _signed(answers, output, evaluation, said)


def _corpus(answers: Answers, reading: Reading) -> Corpus:
    from publius.documents.corpus import open_corpus

    fields = [field.partition("=")[0].strip() for field in _groups(answers)]
    return open_corpus(answers.file, reading, author_field=answers.author_field, fields=fields)


def _groups(answers: Answers) -> list[str]:
    return [part.strip() for part in (answers.by or "").split(";") if part.strip()]


def _summary(answers: Answers, corpus: Corpus, folder: Path, said: Said) -> None:
    from publius.privacy.promise import meaning
    from publius.releases.release import read_release
    from publius.summaries.run import summarize_corpus
    from publius.summaries.summary import Summary

    classifier = _classifier(answers, said) if answers.labels or answers.label_field else None
    summary = Summary(classifier, epsilon=answers.epsilon or 1.0, by=_groups(answers))
    with stage("summarizing"):
        found = summarize_corpus(corpus, summary, folder)
    said(
        f"{found.manifest.authors:,} authors, each with at most {found.manifest.documents_per_author} document counted."
    )
    table = next((name for name in ("topics", "subjects") if name in read_release(folder).tables()), None)
    if table is not None:
        for row in read_release(folder).table(table)[:6]:
            name = row.get("label") or row.get("words") or ""
            said(f"  {name:<44.44} {row['low']} to {row['high']} documents")
    said(meaning(found.manifest))


def _mechanism(answers: Answers, said: Said) -> Mechanism:
    if answers.release == "labels":
        from publius.mechanisms.randomized_response import RandomizedResponse

        return RandomizedResponse(_classifier(answers, said), answers.epsilon or 5.0)
    from publius.embeddings.embeddings import Embeddings
    from publius.mechanisms.lifted import Lifted
    from publius.mechanisms.registry import make_kernel

    kernel = make_kernel("laplace", Embeddings.load(), epsilon=answers.epsilon or 10.0)
    return Lifted(kernel, answers.length or 40)


def _classifier(answers: Answers, said: Said) -> Classifier:
    if answers.public is not None and answers.label_field is not None:
        from publius.classifiers.topics import TopicClassifier
        from publius.documents.corpus import open_corpus

        reading = Reading(text_field=answers.text_field)
        columns = open_corpus(answers.public, reading).columns
        author = answers.author_field if answers.author_field in columns else None
        public = open_corpus(answers.public, reading, author_field=author, fields=(answers.label_field,))
        rows = list(public)
        with stage("training on public texts"):
            made = TopicClassifier.train(
                [row.text for row in rows], [str(row.fields[answers.label_field]) for row in rows],
                authors=[row.author for row in rows] if author else None, name=Path(answers.public).stem,
            )  # fmt: skip
        right = made.accuracy
        said(f"{len(rows):,} public texts, {len(made.labels) - 1} labels: right for {right.share:.0%} of them "
             f"({right.low:.0%} to {right.high:.0%}).")  # fmt: skip
        return made
    if answers.labels is None:
        raise UsageError("which labels? --labels A,B,C, or --public FILE with a column of labels")
    from publius.classifiers.encoder import load_encoder
    from publius.classifiers.names import Names
    from publius.files.value_list import value_list

    return Names(value_list(answers.labels, "--labels"), load_encoder())


def _rows(answers: Answers, corpus: Corpus, mechanism: Mechanism, folder: Path, said: Said) -> None:
    from publius.privacy.promise import meaning
    from publius.releases.run import protect_corpus

    before = " ".join(next(iter(corpus)).text.split())
    with stage("releasing"):
        found = protect_corpus(corpus, mechanism, folder, leaving=Leaving())
    said(f"before: {before[:_SHOWN]}{'...' if len(before) > _SHOWN else ''}")
    drawn = mechanism.protect([before], [0], _fresh_key()).outcomes[0]
    after = drawn.label if drawn.label is not None else " ".join(drawn.bag.words() if drawn.bag else ())
    said(
        f"after:  {after[:_SHOWN]}{'...' if len(after) > _SHOWN else ''}  (another draw than the released one)"
    )
    for row in sorted(found.table, key=lambda each: -each["rows"])[:6]:
        said(f"  {row['label']:<30.30} {row['rows']:>6,} rows, {row['low']:,} to {row['high']:,} documents")
    said(meaning(found.manifest))


def _fresh_key() -> Any:
    from publius.noise.randomness import RunKey

    return RunKey.fresh()


def _evaluate(answers: Answers, reading: Reading, folder: Path, said: Said) -> None:
    """Attack public texts at the setting of the release; what is measured is of these texts."""
    from publius.evaluation import evaluate
    from publius.evaluation.report import headline, write

    public = evaluate.Public(
        source=answers.public, reading=reading, people=People(author_field=answers.author_field or "author")
    )
    tried = evaluate.Tried(epsilons=(answers.epsilon or 10.0,), length=answers.length or 40)
    with stage("attacking public texts"):
        results = evaluate.of_words(public, tried)
    write(results, folder)
    said(headline(results))


def _signed(answers: Answers, output: Path, evaluation: Path | None, said: Said) -> Made:
    from publius.releases.sign import sign

    made = Made(output / RELEASE, output / PAGE, output / RECIPIENTS, evaluation)
    about = {name: getattr(answers, name) for name in ("purpose", "recipient", "contact", "review")}
    sign(made.release, made.page, evaluation=evaluation, public_page=made.recipients, **about)
    said(f"Release: {made.release}. To sign: {made.page}. For recipients: {made.recipients}.")
    return made


def write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    """Made or packaged documents as JSON lines."""
    from publius.files.writing import write_file

    with write_file(path) as file:
        file.writelines(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
