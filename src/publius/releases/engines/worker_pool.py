"""The runner of one machine: batches through `protect` in this process and in processes beside it, in order.

Each worker opens the memory-mapped vectors itself, or is a copy of a command that has. It uses one BLAS thread, and
derives each document's generator from the run key. It ends with the process that started it, however that ends: nobody
else holds the run key.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, final

from publius.documents.corpus import BadDocument, Document
from publius.errors import PubliusError, StorageError, UsageError
from publius.files.workers import DIED, carried, forking, make_neutral, spawning
from publius.mechanisms.threads import blas_threads, one_blas_thread
from publius.noise.randomness import RunKey
from publius.releases.engines.pieces import Piece
from publius.releases.layout import Layout
from publius.releases.plan import Plan
from publius.releases.protect import protect
from publius.releases.release import Release, ReleasedTogether, Tally
from publius.releases.writers import WRITERS, JsonLines

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing.queues import SimpleQueue

_AHEAD: Final = 3
"""Batches that each other process has been given, so that it waits for none."""

_PIPE: Final = 2**20
"""Bytes that a pipe between processes holds, where it may hold so many."""

_KEPT: Final = 16
"""Outcomes for each process that wait for an earlier one, at most: about as many as are made while a process starts."""

AT_ONCE: Final = 16 * 2**20
"""Characters of a batch, but for its last text: 512 texts may have gigabytes."""

Batch = list[Document | BadDocument]
Protected = tuple[Sequence[Release | BadDocument], Tally]


@final
@dataclass(frozen=True, slots=True)
class Encoded:
    """The outcome of a batch, as it travels from a worker: finished bytes.

    Attributes:
        items: of the batch.
        finished: its releases, for `AbstractWriter.add` of the format.
        bad: the documents that cannot be released.
        tally: counts.
        labels: how often each is printed, where the mechanism prints any.

    """

    items: int
    finished: Any
    bad: tuple[BadDocument, ...]
    tally: Tally
    labels: Counter[str]


@final
@dataclass(frozen=True, slots=True)
class EncodedPiece:
    """The outcome of a piece; ``encoded`` is None where something in it is odd.

    Attributes:
        piece: the piece.
        encoded: the outcome of its documents.
        digests: of their ids.

    """

    piece: Piece
    encoded: Encoded | None
    digests: list[bytes]


S = TypeVar("S")
B = TypeVar("B")
T = TypeVar("T")


@final
class WorkerPool(Generic[S, B, T]):
    """Runs ``work(state, batch, key)`` on batches, in this process and ``workers`` - 1 others; a context manager.

    ``work`` is a function of a module, ``state`` is carried to each process once. This process works on a batch of its
    own whenever the others have enough to do, from the first on: it waits for none of them to start. The run key
    belongs to a run, not to the pool, so that two runs of one pool never share noise.
    """

    def __init__(
        self, work: Callable[[S, B, RunKey], T], state: S, workers: int, *, forked: bool = False
    ) -> None:
        """With ``forked`` for a program of ours that is about to run: processes are copies of it, where that is safe.

        They have then imported and read what they need, and the first one works half a second earlier.
        """
        if workers < 1:
            raise UsageError(f"there must be at least one worker, not {workers}")
        self._work, self._state, self._others, self._forked = work, state, workers - 1, forked
        self._pool: ProcessPoolExecutor | None = None
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        if self._others:
            with ExitStack() as opened:
                self._pool = self._opened(opened)
                self._closing = opened.pop_all()
        return self

    def _opened(self, opened: ExitStack) -> ProcessPoolExecutor:
        """The other processes. What they need is sent beside what this one does: it is more than a pipe holds."""
        # A release of a few texts has no processes of its own, and does not wait for this.
        from concurrent.futures import ProcessPoolExecutor

        if self._forked and (copies := forking(blas_threads())) is not None:
            state = (self._work, self._state)
            pool = ProcessPoolExecutor(
                self._others, mp_context=copies, initializer=_start_copy, initargs=state
            )
            opened.callback(pool.shutdown, wait=True, cancel_futures=True)
            _widen_all(pool)
            return pool
        context = spawning()
        needed = opened.enter_context(carried(context, (self._work, self._state), self._others))
        pool = ProcessPoolExecutor(
            self._others, mp_context=context, initializer=_start_worker, initargs=(needed,)
        )
        opened.callback(pool.shutdown, wait=True, cancel_futures=True)
        _widen_all(pool)
        return pool

    def start(self, example: B) -> None:
        """Start the other processes now, not with the first batch: while whoever calls has other work to do.

        Each works on an ``example``, of which nothing is kept: what it makes and imports for its first batch is there
        when that comes.
        """
        if self._pool is not None:
            for _ in range(self._others):
                self._pool.submit(_try, example)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool = None
        self._closing.__exit__(kind, error, trace)

    def run(self, batches: Iterable[B], key: RunKey) -> Iterator[T]:
        """The outcome of each batch under the run's ``key``, in order; at most a few are under way at once."""
        from concurrent.futures.process import BrokenProcessPool

        if self._others and self._pool is None:
            raise PubliusError("a pool of workers was used before it was started")
        secret = (key.expose(), key.seeded_run)
        waiting: deque[Future[T]] = deque()
        try:
            for batch in batches:
                waiting.append(self._begun(batch, secret, sum(not each.done() for each in waiting)))
                while waiting and (waiting[0].done() or len(waiting) > _KEPT * (self._others + 1)):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise StorageError(f"{DIED}: nothing was released; try fewer --workers") from None

    def _begun(self, batch: B, secret: tuple[bytes, bool], under_way: int) -> Future[T]:
        """A batch that another process has been given, or, where those have enough to do, one that is done."""
        from concurrent.futures import Future

        if self._pool is not None and under_way < _AHEAD * self._others:
            return self._pool.submit(_work, batch, secret)
        done: Future[T] = Future()
        try:
            with one_blas_thread():
                done.set_result(self._work(self._state, batch, RunKey(secret[0], seeded_run=secret[1])))
        except Exception as error:  # raised in its turn: the first one of a run depends on no process
            done.set_exception(error)
        return done


@final
class LocalRunner:
    """Protects and encodes batches under one plan, in ``workers`` processes, of which this one is the first.

    A context manager: the others live as long as it does.
    """

    def __init__(self, plan: Plan, workers: int = 1, *, forked: bool = False) -> None:
        """See `WorkerPool` for ``forked``."""
        self.plan, self.workers = plan, workers
        pool = WorkerPool(_encoded, plan, workers, forked=forked)
        self._pool: WorkerPool[Plan, tuple[Any, str], Any] | None = pool if workers > 1 else None

    def __enter__(self) -> Self:
        if self._pool is not None:
            self._pool.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.__exit__(kind, error, trace)

    def start(self, example: Batch) -> None:
        """See `WorkerPool.start`."""
        if self._pool is not None:
            self._pool.start((example, JsonLines.format))

    def run(self, batches: Iterable[Batch], key: RunKey, format: str = JsonLines.format) -> Iterator[Encoded]:
        """The outcome of each batch under the run's ``key``, for the writer of ``format``, in order.

        At most a few are under way at once.
        """
        if self._pool is not None:
            yield from self._pool.run(((batch, format) for batch in batches), key)
            return
        for batch in batches:
            yield encode_batch(batch, self.plan, key, format)

    def read_and_run(
        self, pieces: Iterable[Piece], key: RunKey, format: str = JsonLines.format
    ) -> Iterator[EncodedPiece]:
        """The same of pieces, which the processes read themselves."""
        if self._pool is not None:
            yield from self._pool.run(((piece, format) for piece in pieces), key)
            return
        for piece in pieces:
            yield _of_piece(piece, self.plan, key, format)


_worker: tuple[Callable[[Any, Any, RunKey], Any], Any] | None = None


def _widen_all(pool: ProcessPoolExecutor) -> None:
    for name in ("_call_queue", "_result_queue"):
        _widen(getattr(pool, name, None))


def _widen(queue: Any) -> None:
    """Room for a whole batch where the system gives it: who writes else waits for a reader that has other work."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(queue._writer.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)


def _start_worker(needed: SimpleQueue[Any]) -> None:
    global _worker
    _begin()
    _worker = needed.get()
    _one_thread()


def _start_copy(work: Callable[[Any, Any, RunKey], Any], state: Any) -> None:
    global _worker
    make_neutral()
    for name in ("SIGTERM", "SIGHUP"):  # what the program does at its end is not for its copies to do
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    _begin()
    _worker = work, state
    _one_thread()


def _one_thread() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _begin() -> None:
    from multiprocessing.util import Finalize

    # At the end all is sent, and nothing need be taken apart.
    Finalize(None, os._exit, args=(0,), exitpriority=-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends in order and takes its workers along
    end_with_parent()


def end_with_parent() -> None:
    """End this worker when its parent dies: a killed parent cannot tell it to, and it would wait for work for ever."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    import multiprocessing.connection

    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _try(example: Any) -> None:
    with suppress(Exception):  # whatever is wrong with it is found again, in its turn
        _work(example, (RunKey.fresh().expose(), False))


def _work(batch: Any, secret: tuple[bytes, bool]) -> Any:
    if _worker is None:
        raise PubliusError("a worker was used before it was started")
    work, state = _worker
    return work(state, batch, RunKey(secret[0], seeded_run=secret[1]))


def _encoded(plan: Plan, asked: tuple[Batch | Piece, str], key: RunKey) -> Encoded | EncodedPiece:
    given, format = asked
    if isinstance(given, Piece):
        return _of_piece(given, plan, key, format, threads=1)
    return encode_batch(given, plan, key, format, threads=1)


def _of_piece(
    piece: Piece, plan: Plan, key: RunKey, format: str, *, threads: int | None = None
) -> EncodedPiece:
    read = piece.read()
    if read is None:
        return EncodedPiece(piece, None, [])
    documents, digests = read
    return EncodedPiece(piece, encode_batch([*documents], plan, key, format, threads=threads), digests)


def encode_batch(
    batch: Batch, plan: Plan, key: RunKey, format: str, *, threads: int | None = None
) -> Encoded:
    """`protect_batch`, and the bytes of its releases in ``format``."""
    results, tally = protect_batch(batch, plan, key, threads=threads)
    bad: list[BadDocument] = []
    releases: Sequence[Release]
    if isinstance(results, ReleasedTogether):
        releases = results
    else:
        bad = [result for result in results if isinstance(result, BadDocument)]
        releases = [result for result in results if isinstance(result, Release)]
    layout = Layout.of(plan)
    finished = WRITERS[format].encoded(layout, releases)
    return Encoded(
        len(results), finished, tuple(bad), tally, _printed(releases) if layout.leading else Counter()
    )


def _printed(releases: Sequence[Release]) -> Counter[str]:
    if isinstance(releases, ReleasedTogether):
        return Counter(str(label) for _, label in releases.outcomes.named)
    return Counter(str(release.label) for release in releases)


def protect_batch(batch: Batch, plan: Plan, key: RunKey, *, threads: int | None = None) -> Protected:
    """The operation of every engine: each item's release in its place, or the bad document that it is.

    A batch may be computed again, so each has a key object of its own; ids do not repeat in a corpus that is read.
    """
    own = RunKey(key.expose(), seeded_run=key.seeded_run)
    documents = [item for item in batch if isinstance(item, Document)]
    outcomes, tally = protect(documents, plan, own, threads=threads)
    if len(documents) == len(batch):
        return outcomes, tally
    released = iter(outcomes)
    return [item if isinstance(item, BadDocument) else next(released) for item in batch], tally


def batches_of(items: Iterable[Document | BadDocument], size: int) -> Iterator[Batch]:
    """Consecutive lists of ``size`` items, of fewer where texts are long; the last one shorter.

    Nothing that is seen of a release may follow where these lists end, for the lengths of texts are private.
    """
    batch, held = Batch(), 0
    for item in items:
        batch.append(item)
        held += len(item.text) if isinstance(item, Document) else 0
        if len(batch) == size or held >= AT_ONCE:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
