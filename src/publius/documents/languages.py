"""Which language a text is in, by the identifier of the extra ``documents``; its model is in its package."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from publius.errors import extra

READ: Final = 2_000
"""Characters of a text that are looked at."""

FEWEST_LETTERS: Final = 20
"""With fewer letters nothing is said."""

SURE: Final = 0.8
"""The least probability, by the identifier, at which a language is named."""


@cache
def _identifier() -> Any:
    with extra("documents", "py3langid"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def language_of(text: str) -> str | None:
    """The language as an ISO 639 code, "en"; None for a text too short, or where the identifier is not sure.

    Raises `MissingExtraError` when the extra is not installed.
    """
    start = text[:READ]
    if sum(map(str.isalpha, start)) < FEWEST_LETTERS:
        return None
    language, probability = _identifier().classify(start)
    return str(language) if probability >= SURE else None
