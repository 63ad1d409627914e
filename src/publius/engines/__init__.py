"""A corpus through `publius.releases.protect`: one entry, `protect_corpus`; runners are local processes and Spark."""

from publius.engines.local import LocalRunner
from publius.engines.run import (
    Summary,
    batches_of,
    default_batch_size,
    protect_corpus,
    shortest_length,
)
from publius.engines.working import Found

__all__ = [
    "Found",
    "LocalRunner",
    "Summary",
    "batches_of",
    "default_batch_size",
    "protect_corpus",
    "shortest_length",
]
