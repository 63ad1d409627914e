"""The answers of ``start``: one record for the terminal, the page in the browser and a later repetition."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import msgspec

from publius.errors import DataError

FILE: Final = "answers.json"
Kind = Literal["summary", "labels", "words"]


class Answers(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a curator has said so far; None where nothing was said.

    Attributes:
        file: the texts to release.
        public: public texts, with labels (to train a classifier) or authors (to attack).
        release: what readers need.
        text_field, author_field: columns of ``file`` and ``public``.
        by: groups of a summary, FIELD=V1,V2.
        labels: names of labels, separated by commas.
        label_field: column of labels in ``public``.
        epsilon: of the kind of release that was chosen.
        length: words of a bag.
        purpose, recipient, contact, review: for the page to sign.
    """

    file: str
    public: str | None = None
    release: Kind | None = None
    text_field: str | None = None
    author_field: str | None = None
    by: str | None = None
    labels: str | None = None
    label_field: str | None = None
    epsilon: float | None = None
    length: int | None = None
    purpose: str | None = None
    recipient: str | None = None
    contact: str | None = None
    review: str | None = None

    def save(self, folder: Path) -> None:
        """Write them for their owner alone."""
        from publius.files.writing import write_file

        with write_file(folder / FILE) as file:
            file.write(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")

    @classmethod
    def load(cls, path: Path) -> Answers:
        """Read what `save` wrote; `DataError` for anything else."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except msgspec.MsgspecError as error:
            raise DataError(f"{path.name} holds no answers of publius start: {error}") from None
