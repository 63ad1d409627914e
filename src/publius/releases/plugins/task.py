"""A task for Airflow, Dagster and the like: a plain function of paths and numbers, with a dict as its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from publius.documents.corpus import open_released_corpus
from publius.errors import UsageError
from publius.privacy.ledger import Ledger
from publius.releases.engines import protect_corpus
from publius.releases.plan import Plan
from publius.settings import InputSettings, ReleaseSettings, RunSettings


def protect_files(
    input: str,
    output: str,
    *,
    settings: Mapping[str, Any],
    ledger: str | None = None,
    reading: Mapping[str, Any] | None = None,
    work: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Release the documents at ``input`` into the new folder ``output``; what was done, as JSON has it.

    ``settings``, ``reading`` and ``work`` are those of `publius.settings.ReleaseSettings`, `InputSettings` and
    `RunSettings`, without ``seed`` and ``experiment``. A task that is tried again goes on with the same noise and pays
    once; one that had ended is refused, for its output is there. The result has ``output``,
    ``documents``, ``left_out`` and ``manifest``, and no word of a document. Raises what `publius.protect_corpus` does.
    """
    if refused := sorted({"seed", "experiment"} & {*settings}):
        raise UsageError(f"{refused[0]} is not offered here: a task makes a release")
    fields = InputSettings(**(reading or {}))
    chosen = ReleaseSettings(**settings)
    corpus = open_released_corpus(input, chosen.field, **asdict(fields))
    plan = Plan.of(chosen, labels=fields.keep)
    run = RunSettings(**{"workers": 1, **(work or {}), "resume": True})
    summary = protect_corpus(
        corpus, plan, Path(output), run, ledger=None if ledger is None else Ledger(ledger)
    )
    return {
        "output": output,
        "documents": summary.tally.documents,
        "left_out": len(summary.bad),
        "manifest": summary.manifest,
    }
