"""An evaluation made ready, and concluded: what every face that runs one has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from publius.evaluation.data import check_tasks
from publius.evaluation.dataset_files import open_dataset
from publius.evaluation.encoding import encode_dataset, without_rejected
from publius.evaluation.language_choice import language_adversary
from publius.evaluation.own_data import Columns
from publius.evaluation.readings import reference_reading, without_learned
from publius.evaluation.report import write_report
from publius.evaluation.runner import Evaluation, EvaluationRequest, Results, facts_of
from publius.evaluation.same_run import key_of
from publius.evaluation.summary import SummaryLine, summarize
from publius.evaluation.verdict import Verdict, judge, read_limits
from publius.settings import ExperimenterSettings
from publius.text.bag import Encoding
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference


def prepared(
    corpus: str,
    request: EvaluationRequest,
    work: ExperimenterSettings,
    output: Path,
    learned: Path | None = None,
) -> Evaluation:
    """The evaluation with its texts read and encoded, but for those that what protects them has learned from.

    ``learned`` may hold these: see `without_learned`.
    """
    request = request.together_with(output)
    vectors = Embeddings.load(request.embeddings)
    encoding = Encoding.of(
        vectors.tokenizer, length=request.size, unknown=request.unknown, stop_words=request.stop_words
    )
    columns = Columns(
        request.id_field, request.text_field, request.author_field, request.topic_field, request.sensitive
    )
    dataset = open_dataset(corpus, work.topics, columns, request.parts)
    dataset, encoding = without_rejected(dataset, vectors, encoding)
    if "embeddings" in request.reads:
        dataset = without_learned(dataset, vectors, corpus, learned)
    if request.reference is not None and "reference" in request.reads:
        dataset = without_learned(dataset, Reference.load(request.reference), corpus, learned)
    request = replace(request, tasks=check_tasks(dataset, request.tasks))
    data = encode_dataset(dataset, vectors, encoding, request.training)
    language = language_adversary(request, dataset, data)
    whole = reference_reading(request, dataset)
    key = key_of(output)
    facts = facts_of(request, dataset, data, vectors, whole, key=key)
    evaluation = Evaluation(output, request, facts, work.seed, key)
    evaluation.prepare(data, vectors, whole, language)
    return evaluation


def concluded(results: Results, folder: Path) -> tuple[Sequence[SummaryLine], Verdict | None]:
    """The lines of the table, and the verdict where limits were set; the report is written."""
    lines = summarize(results)
    verdict = judge(lines, read_limits(folder), results.facts)
    write_report(results, lines, folder, verdict)
    return lines, verdict
