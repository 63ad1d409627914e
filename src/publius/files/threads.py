"""Work on several threads, one BLAS thread each: it changes how long a result takes, never the result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TypeVar

import numpy  # noqa: F401  # whose BLAS the controller looks for
from threadpoolctl import ThreadpoolController

from publius.files.processes import processors

_BLAS = ThreadpoolController()
_Result = TypeVar("_Result")


def one_blas_thread() -> AbstractContextManager[object]:
    """BLAS on the calling thread only, while the context lasts."""
    limited: AbstractContextManager[object] = _BLAS.limit(limits=1, user_api="blas")
    return limited


def in_threads(work: Callable[[int], _Result], items: range, threads: int | None = None) -> Generator[_Result]:
    """``work(item)`` for each item, in order, on ``threads`` Python threads with one BLAS thread each.

    One is the calling thread: on a busy machine another waits long until it may begin, for a single word, too. When it
    is closed before its end, the items that nobody has begun are left.
    """
    count = min(threads or processors(), len(items))
    with one_blas_thread():
        if count <= 1:
            yield from map(work, items)
            return
        with ThreadPoolExecutor(count) as pool:
            yield from pool.map(work, items)
