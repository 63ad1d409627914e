"""The writers by name."""

from __future__ import annotations

from typing import Final

from publius.errors import PolicyError, PubliusError, UsageError, place_of
from publius.files.user_code import PYTHON
from publius.releases.writing.characters import Characters
from publius.releases.writing.chat import PREFIX
from publius.releases.writing.exemplar import Exemplar
from publius.releases.writing.llm import LanguageModelWriter
from publius.releases.writing.ngram import NGram
from publius.releases.writing.released_bags import ReleasedBag
from publius.releases.writing.writer import AbstractTextWriter, WriterInput, Written, imported

WRITERS: Final[dict[str, type[AbstractTextWriter]]] = {
    kind.name: kind for kind in (Exemplar, NGram, Characters)
}

_SIZED: Final = (f"{NGram.name}:", f"{Characters.name}:")
"""Writers whose name may say a length, as in ngram:2."""


def check_name(name: str) -> None:
    """`UsageError` for a writer that cannot be."""
    if name not in WRITERS and not name.startswith((PREFIX, PYTHON, *_SIZED)):
        raise UsageError(
            f"no writer is called {name!r:.80}: choose {', '.join(WRITERS)}, llm:URL#MODEL or python:MODULE:CLASS"
        )


def made(seen: WriterInput, key: str | None = None) -> AbstractTextWriter:
    """The writer that the settings name; ``key`` is for the server of a language model."""
    name = seen.settings.writer
    check_name(name)
    if name.startswith(PREFIX):
        return LanguageModelWriter(seen, key)
    if not name.startswith(PYTHON):
        return WRITERS[name.partition(":")[0]](seen)
    kind = imported(name)
    try:
        writer = kind(seen)
    except PubliusError:
        raise
    except Exception as error:  # somebody else's bug is told as such
        raise PolicyError(f"the writer {name} cannot be made: {place_of(error)}") from None
    writer.name = name
    return writer


def checked(writer: AbstractTextWriter, released: ReleasedBag) -> Written:
    """The writer's text for a bag; `PolicyError` where a writer from outside fails or says something else."""
    try:
        found = writer.write(released)
    except PubliusError:
        raise
    except Exception as error:
        raise PolicyError(f"the writer {writer.name} failed: {place_of(error)}") from None
    if not isinstance(found, Written) or not (
        isinstance(found.text, str) or (found.text is None and found.fault)
    ):
        raise PolicyError(
            f"the writer {writer.name} gave something else than a Written with a text or a fault"
        )
    return found
