"""``publius watch`` under SIGKILL: every file is released once, every draw paid for once, whatever is killed when.

Half of the kills come at a random instant, half just before a random one of the steps that change the disk. Files come
in while it runs: some at once, some renamed in, some in two pieces. Whoever waits for the releases takes some away
as soon as they are there.
"""

import json
import os
import signal
import stat
import tempfile
import time
from pathlib import Path

from publius.audit.outcomes import Findings, violations
from publius.noise.randomness import seeded_rng
from publius.privacy.ledger import Ledger
from publius.releases.watching import RECORD, FolderWatch, record_folder
from torture import bench
from torture.children import run_child

_STEPS = ("fsync", "replace", "rename", "unlink", "mkdir", "rmdir", "chmod")


def memory():
    """A temporary folder in memory where there is one: a kill asks nothing of the disk, and fsync is quick there."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


class Place:
    """The folders of a watch, and what was seen of its releases."""

    def __init__(self, folder: Path) -> None:
        self.inbox, self.output, self.taken = (folder / name for name in ("in", "out", "taken"))
        self.inbox.mkdir()
        self.taken.mkdir()
        self.price = bench.plan().guarantee.epsilon_total
        self.ledger = Ledger.create(folder / "ledger", budget=10**6)
        self.seen: dict[str, bytes] = {}
        self.problems: list[str] = []
        self.files = 0

    def arrive(self, count: int) -> None:
        """``count`` new texts."""
        words = bench.EMBEDDINGS.vocabulary
        for number in range(self.files, self.files + count):
            text = " ".join(words[(number * 13 + place * 7) % len(words)] for place in range(15))
            path = self.inbox / f"text{number:06d}.txt"
            if number % 3 == 0:
                hidden = self.inbox / f".{path.name}.part"
                hidden.write_text(text, encoding="utf-8")
                hidden.rename(path)
            else:
                with path.open("w", encoding="utf-8") as file:
                    file.write(text[:20] if number % 3 == 1 else "")
                    file.flush()
                    file.write(text[20:] if number % 3 == 1 else text)
        self.files += count

    def watch(self, kill_at: int | None = None, kill_after: float | None = None) -> bool:
        """Watch until all is released, or killed before step ``kill_at`` or after so many seconds; whether killed."""
        ended, result = run_child(lambda: self._watch(kill_at), kill_after=kill_after, timeout=900)
        if not ended and (result is None or result[0]):
            self.problems.append(f"it failed: {result}")
        return bool(ended)

    def _watch(self, kill_at):
        if kill_at is not None:
            die_before_step(kill_at)
        with FolderWatch(
            self.inbox, self.output, bench.plan(), Ledger(self.ledger.path), settle=0.01
        ) as watch:
            while True:
                for event in watch.look():
                    if event.what != "released":
                        raise RuntimeError(f"{event.what}: {event.said}")
                if not watch.unsettled:
                    return
                time.sleep(0.02)

    def look(self, rng=None) -> None:
        """Compare what can be seen with what was seen before; take a release away now and then."""
        for path in self.output.iterdir() if self.output.exists() else ():
            if path.name.endswith(".publius-run"):
                if stat.S_IMODE(path.stat().st_mode) != 0o700:
                    self.problems.append(f"{path.name} can be read by others")
                continue
            if not (path / "manifest.json").exists():
                self.problems.append(f"{path.name} is not whole")
                continue
            if path.name in self.seen:
                if (path / "bags.jsonl").read_bytes() != self.seen[path.name]:
                    self.problems.append(f"{path.name} was drawn twice")
                continue
            if not bench.whole(path, "jsonl", 1):
                self.problems.append(f"{path.name} is torn")
            self.seen[path.name] = (path / "bags.jsonl").read_bytes()
            if rng is not None and rng.random() < 0.1:
                path.rename(self.taken / path.name)

    def judge(self) -> None:
        """At the end: each file has one release and one debit, and nothing else is left."""
        self.look()
        there = {path.name for path in self.output.iterdir()}
        taken = {path.name for path in self.taken.iterdir()}
        if there & taken or len(there) + len(taken) != self.files:
            self.problems.append(f"{len(there)} + {len(taken)} releases of {self.files} files")
        record = record_folder(self.output) / RECORD
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        released = [line["name"] for line in lines if "released" in line]
        if sorted(released) != sorted(path.name for path in self.inbox.iterdir()):
            self.problems.append("the record names other files than there are, or one twice")
        self.ledger.check()
        accounts = list(self.ledger.accounts())
        if [(account.spent, account.releases) for account in accounts] != [(self.price, 1)] * self.files:
            self.problems.append("the ledger is not exact")
        if self.ledger.counts()[2] != self.files:
            self.problems.append("the ledger counts other debits than releases")


def die_before_step(number: int) -> None:
    """Kill this process just before its ``number``-th step that changes the disk or the ledger."""
    done = 0

    def counted(call):
        def step(*arguments, **named):
            nonlocal done
            done += 1
            if done == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **named)

        return step

    for name in _STEPS:
        setattr(os, name, counted(getattr(os, name)))
    spend = Ledger.spend

    def paid(self, *arguments, **named):
        counted(int)()
        answer = spend(self, *arguments, **named)
        counted(int)()
        return answer

    Ledger.spend = paid


def torture_watch(files, kills, seed=9):
    """``files`` arrive while it is killed ``kills`` times; then it runs to its end."""
    rng = seeded_rng(seed)
    with memory() as name:
        place = Place(Path(name))
        place.arrive(10)
        began = time.perf_counter()
        place.watch()
        pace = (time.perf_counter() - began) / 10
        landed, missed, coming = 0, False, max(1, files // (2 * kills))  # not every kill comes before the end
        while landed < kills and place.files + coming <= files:
            place.arrive(coming)
            if landed % 2 or missed:  # a step comes however quick the machine has become
                killed = place.watch(kill_at=int(rng.integers(1, 30 * coming)))
            else:
                killed = place.watch(kill_after=float(rng.random()) * pace * coming)
            landed, missed = landed + killed, not killed
            place.look(rng)
        place.arrive(files - place.files)
        place.watch()
        place.judge()
    checks = (violations("watch under kills: lost, twice, unpaid or torn", files, len(place.problems)),)
    return Findings(checks, {"watched files": files, "watch kills": landed, "problems": place.problems[:20]})


def torture_watch_steps(stride=1):
    """One file, killed before every ``stride``-th step in turn: it is released once and paid for once all the same."""
    problems, step, kills = [], 1 - stride, 0
    killed = True
    while killed:
        step += stride
        with memory() as name:
            place = Place(Path(name))
            place.arrive(1)
            killed = place.watch(step)
            kills += killed
            place.look()
            if step % 2 and (place.output / "00000001").exists():
                (place.output / "00000001").rename(place.taken / "00000001")
            place.watch()
            place.judge()
            problems += [f"step {step}: {problem}" for problem in place.problems]
    checks = (violations("watch killed before each step: lost, twice, unpaid or torn", kills, len(problems)),)
    return Findings(checks, {"watch steps": kills, "problems": problems[:20]})
