"""A corpus through `publius.releases.protect`: one entry, `protect_corpus`; engines are local processes and Spark."""

from publius.engines.processes import LocalRunner, batches_of
from publius.engines.request import Summary
from publius.engines.run import default_batch_size, protect_corpus, shortest_length
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
