"""``publius label``: one randomized label for each document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from publius.cli.parsing import File, flat
from publius.settings import Leaving, People, Reading, Run

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier


def label(
    file: File,
    *more: File,
    classifier: str | None = None,
    labels: str | None = None,
    field: str | None = None,
    epsilon: float = 5.0,
    output: File | None = None,
    bag: int | None = None,
    documents_per_author: int | None = None,
    encoder: str = "packaged",
    labels_after_texts: bool = False,
    json: bool = False,
    reading: Annotated[Reading, flat("Reading")] = Reading(),
    people: Annotated[People, flat("People")] = People(),
    leaving: Annotated[Leaving, flat("Leaving")] = Leaving(),
    run: Annotated[Run, flat("Run")] = Run(),
) -> None:
    """Release one randomized label per document.

    Parameters
    ----------
    file
        File or folder of documents, or -.
    more
        Further files, read after it.
    classifier
        A stored classifier, the folder of a summary, or python:MODULE:NAME.
    labels
        Labels: A,B,"C D" or @FILE. Of --field its values; else the nearest name counts.
    field
        Column of declared values, released instead of a classifier's answer.
    epsilon
        Local epsilon of each document.
    output
        New folder for the release, or - for rows alone.
    bag
        Words in a bag for each row, drawn from the label's public words. Default: none.
    documents_per_author
        The most documents of an author that leave; needs --author-field.
    encoder
        Encoder for --labels: packaged, or python:MODULE:NAME.
    labels_after_texts
        Somebody chose the labels after looking at these texts; the page says so.
    json
        Print the result as JSON.
    """
    from publius.cli.released import released
    from publius.errors import UsageError
    from publius.mechanisms.randomized_response import RandomizedResponse

    if sum(each is not None for each in (classifier, labels)) != 1 or (field is not None and labels is None):
        raise UsageError(_which(given=classifier is not None or field is not None))
    asked = _classifier(classifier, labels, field, encoder)
    mechanism = RandomizedResponse(asked, epsilon, bag=bag)
    released(
        [file, *more],
        mechanism,
        output,
        reading=reading if field is None else replace(reading, text_field=field, raw=True),
        people=people,
        leaving=leaving,
        run=run,
        documents_per_author=documents_per_author,
        known=asked.known,
        json=json,
        field=field,
        labels_after_texts=labels_after_texts,
    )


def _classifier(classifier: str | None, labels: str | None, field: str | None, encoder: str) -> Classifier:
    if classifier is not None:
        from publius.classifiers import load_classifier

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
    from publius.errors import DataError
    from publius.files.value_list import value_list

    if given.startswith("@"):
        import csv

        with Path(given[1:]).open(encoding="utf-8-sig", newline="") as file:
            rows = [*csv.reader(file)]
        if rows and [cell.strip() for cell in rows[0]] == ["label", "description"]:
            if any(len(row) != 2 for row in rows[1:] if row):
                raise DataError(f"{Path(given[1:]).name}: each row must have a label and a description, quoted as CSV")
            return [row[0].strip() for row in rows[1:] if row], [row[1].strip() for row in rows[1:] if row]
    return value_list(given, "--labels"), None


def _which(*, given: bool) -> str:
    """What there is to answer with, and how to make one."""
    if given:
        return (
            "one classifier answers: --classifier NAME, or --labels A,B by their names, or --field COLUMN with "
            "--labels V1,V2"
        )
    from publius.classifiers import stored_classifiers

    stored = ", ".join(stored_classifiers())
    return (
        f"which classifier answers? Stored: {stored or 'none yet'}. Use --classifier NAME, --labels A,B (the nearest "
        "name), or --field COLUMN --labels V1,V2. Train one on public texts: publius models train PUBLIC --label topic "
        "--name NAME"
    )
