"""``publius label``: one randomized label for each document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from publius.cli.parsing import Documents, Help, More, files_of
from publius.cli.released import Asked, Releasing, released
from publius.errors import DataError, UsageError

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier


def label(
    file: Documents,
    *more: More,
    classifier: Annotated[str | None, Help("A stored one, a summary, or python:MODULE:NAME.")] = None,
    labels: Annotated[str | None, Help('A,B,"C D" or @FILE: the nearest name counts.')] = None,
    field: Annotated[str | None, Help("Column whose declared values, --labels, leave.")] = None,
    epsilon: Annotated[float, Help("Local epsilon of each document.")] = 5.0,
    bag: Annotated[int | None, Help("Public words of its label beside each row.")] = None,
    encoder: Annotated[str, Help("Default: packaged; or python:MODULE:NAME.")] = "packaged",
    labels_after_texts: Annotated[bool, Help("Labels were chosen after a look at the texts.")] = False,
    asked: Releasing = Asked(),
) -> None:
    """Release one randomized label per document."""
    from publius.mechanisms.randomized_response import RandomizedResponse

    if (classifier is None) == (labels is None) or (field is not None and labels is None):
        raise UsageError(_which())
    files = files_of(file, more, labels)
    answers = answering(classifier, labels, encoder, field=field)
    if field is not None:
        asked = replace(asked, reading=replace(asked.reading, text_field=field, raw=True))
    mechanism = RandomizedResponse(answers, epsilon, bag=bag)
    released(files, mechanism, asked, answers.known, field=field, labels_after_texts=labels_after_texts)


def answering(classifier: str | None, labels: str | None, encoder: str, *, field: str | None = None) -> Classifier:
    """The classifier of ``--classifier``, or that of ``--labels``: declared values of ``--field``, else nearest names."""
    if classifier is not None:
        from publius.classifiers import load_classifier
        from publius.classifiers.encoder import load_encoder

        if encoder != "packaged":  # what a folder names counts only where it is named here, too
            load_encoder(encoder)
        return load_classifier(classifier)
    names, descriptions = declared_labels(labels or "")
    if field is not None:
        from publius.classifiers.values import Values

        return Values(names)
    from publius.classifiers.encoder import load_encoder
    from publius.classifiers.names import Names

    return Names(names, load_encoder(encoder), descriptions=descriptions)


def declared_labels(given: str) -> tuple[list[str], list[str] | None]:
    """Labels of ``--labels``: typed, one a line of a file, or a table ``label,description``; and their descriptions."""
    from publius.files.reading import value_list

    values = value_list(given, "--labels")
    if given.startswith("@"):
        import csv

        with Path(given[1:]).open(encoding="utf-8-sig", newline="") as file:
            rows = [*csv.reader(file)]
        if rows and [cell.strip() for cell in rows[0]] == ["label", "description"]:
            if any(len(row) != 2 for row in rows[1:] if row):
                raise DataError(f"{Path(given[1:]).name}: each row must have a label and a description, quoted as CSV")
            return [row[0].strip() for row in rows[1:] if row], [row[1].strip() for row in rows[1:] if row]
    return values, None


def _which() -> str:
    """What there is to answer with, and how to make one."""
    from publius.classifiers import stored_classifiers

    return (
        "one classifier answers: --classifier NAME, --labels A,B (the nearest name), or --field COLUMN --labels V1,V2. "
        f"Stored: {', '.join(stored_classifiers()) or 'none yet'}. Train one on public texts: publius models train "
        "PUBLIC --label topic --name NAME"
    )
