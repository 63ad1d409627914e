"""A corpus through `protect`: one entry, `protect_corpus`; engines are classes behind `AbstractEngine`."""

from publius.releases.engines.engine import AbstractEngine, EngineResult, Job, RunSummary
from publius.releases.engines.run import default_batch_size, protect_corpus, shortest_length, started_early
from publius.releases.engines.run_folder import ResumedWork
from publius.releases.engines.worker_pool import LocalRunner, batches_of

__all__ = [
    "AbstractEngine",
    "EngineResult",
    "Job",
    "LocalRunner",
    "ResumedWork",
    "RunSummary",
    "batches_of",
    "default_batch_size",
    "protect_corpus",
    "shortest_length",
    "started_early",
]
