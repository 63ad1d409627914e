"""The answers of ``start``: one record for the terminal, the page in the browser and a later repetition."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from publius.errors import DataError

FILE: Final = "answers.json"
Kind = Literal["summary", "labels", "words"]


@dataclass(kw_only=True)
class Given:
    """What a curator says, as options or asked for; None where nothing was said."""

    public: str | None = None
    """Public texts of the same kind: labels or authors."""
    release: Kind | None = None
    """What readers need: summary, labels or words."""
    author_field: str | None = None
    """Column that names the author."""
    by: str | None = None
    """Groups of a summary; several with ; between."""
    labels: str | None = None
    """Names of labels, separated by commas."""
    label_field: str | None = None
    """Column of labels in the public texts."""
    epsilon: float | None = None
    """Default: 1 an author, 5 a label, 10 for words."""
    length: int | None = None
    """Words of a bag. Default: 40."""
    purpose: str | None = None
    """For the page: what the release is for."""
    recipient: str | None = None
    """For the page: who gets it."""
    contact: str | None = None
    """For the page: whom to ask."""
    review: str | None = None
    """For the page: when to look again, YYYY-MM-DD."""


@dataclass(kw_only=True)
class Answers(Given):
    """All answers, with the file of texts and their column."""

    file: str
    text_field: str | None = None

    def save(self, folder: Path) -> None:
        """Write them for their owner alone."""
        from publius.files.writing import write_file

        said = {name: value for name, value in asdict(self).items() if value is not None}
        with write_file(folder / FILE) as file:
            file.write(msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n")

    @classmethod
    def load(cls, path: Path) -> Answers:
        """Read what `save` wrote; `DataError` for anything else."""
        try:
            found = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
            if unknown := {*found} - {each.name for each in fields(cls)}:
                raise msgspec.ValidationError(f"{min(unknown)!r:.40} is none of them")
            return msgspec.convert(found, cls)
        except msgspec.MsgspecError as error:
            raise DataError(f"{path.name} holds no answers of publius start: {error}") from None
