"""Limits of requests and how long they may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

LONGEST_TEXT: Final = 1_000_000
"""Characters of one document."""

MOST_DOCUMENTS: Final = 100
"""In one request."""

MOST_COUNTED: Final = 100_000
"""Documents that are counted in one summary where they come in the request; files may have more."""

LARGEST_LENGTH: Final = 20_000
"""N, words of a bag."""

MOST_WORDS: Final = 400_000
"""Documents times N in one request."""

LONGEST_COMPARED: Final = 4_000
"""N where an Earth Mover's distance is computed: its time grows with the square."""

MOST_STREAMED: Final = 1_000_000
"""Documents of one request that is answered while it comes."""

BATCH: Final = 64
"""Of those, how many are answered together unless the request says another number; N may allow fewer."""

UPLOAD: Final = "/v1/start/files"
"""The address that takes a file instead of JSON."""

STREAM: Final = "/v1/stream"
"""The address that takes lines of JSON, and answers while they come."""

MOST_FILES: Final = 10_000
"""Of one corpus."""

HEAD_BYTES: Final = 16 * 2**10
"""Of a request's headers together."""


@final
@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of the server itself.

    Attributes:
        body_bytes: of a request.
        body_seconds: within which a request's body must have arrived.
        head_seconds: within which its head must have arrived.
        drained_bytes: that are still read, and thrown away, of a request that was answered before its end.
        drained_seconds: for how long.
        upload_bytes: of the files of one corpus together.
        upload_seconds: within which one file must have arrived.
        stream_bytes: of a request that is answered while it comes.
        line_bytes: of each of its lines.
        part_bytes: of its lines that are held at once; a line more may be.
        stream_seconds: for which neither side may keep the other waiting there.
        streams: such requests at a time.
        waiting: requests that may wait for their turn.
        waiting_seconds: how long each waits at most.
    """

    body_bytes: int = 8 * 2**20
    body_seconds: float = 10.0
    head_seconds: float = 10.0
    drained_bytes: int = 128 * 2**20
    drained_seconds: float = 10.0
    upload_bytes: int = 256 * 2**20
    upload_seconds: float = 120.0
    stream_bytes: int = 2**30
    line_bytes: int = 8 * 2**20
    part_bytes: int = 8 * 2**20
    stream_seconds: float = 60.0
    streams: int = 4
    waiting: int = 256
    waiting_seconds: float = 120.0

    def stated(self) -> dict[str, float]:
        """What a caller has to keep to, by name."""
        return {
            "text_characters": LONGEST_TEXT, "documents": MOST_DOCUMENTS, "words": MOST_WORDS,
            "body_bytes": self.body_bytes, "body_seconds": self.body_seconds, "length": LARGEST_LENGTH,
            "compared_length": LONGEST_COMPARED, "counted_documents": MOST_COUNTED,
            "upload_bytes": self.upload_bytes, "upload_files": MOST_FILES, "stream_bytes": self.stream_bytes,
            "stream_documents": MOST_STREAMED, "line_bytes": self.line_bytes, "streams": self.streams,
        }  # fmt: skip

    @property
    def sentence(self) -> str:
        """The same for people."""
        return (
            f"One request takes at most {MOST_DOCUMENTS:,} documents of {LONGEST_TEXT:,} characters, "
            f"{_mebibytes(self.body_bytes)} together and {MOST_WORDS:,} words drawn; a stream {MOST_STREAMED:,} "
            f"documents, {_mebibytes(self.line_bytes)} a line and {_mebibytes(self.stream_bytes)} together, "
            f"{self.streams:,} streams at a time; the files of one corpus {_mebibytes(self.upload_bytes)}."
        )


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:,.4g} MiB" if size >= 2**20 else f"{size:,} bytes"
