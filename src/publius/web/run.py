"""A run: commands of Publius one after the other, each a process of its own that can be watched and stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import Any, Final, Literal, final

from publius.errors import DataError, PolicyError, PubliusError, StorageError, UsageError
from publius.files import child
from publius.files.progress import Pace
from publius.web.errors import fault_of

_PART: Final = re.compile(r"(\d+)/(\d+) ")
_SAID: Final = "publius: "
_ERRORS: Final = {each.exit_code: each for each in (UsageError, DataError, StorageError, PolicyError)}
_OURSELVES: Final = (*child.command("publius"), "--config", os.devnull)
"""A file of options in the working folder changes nothing of what is shown."""

_PATIENCE: Final = 15.0
"""Seconds that a command gets to end in order."""

State = Literal["waiting", "running", "done", "failed", "stopped"]


class _Stopped(Exception):
    """The curator cancelled."""


@final
@dataclass(slots=True)
class Stage:
    """A command: what it is for, as it would be typed, and how far it is.

    ``expected`` is how many parts it will have, for a command that does not know it itself.
    """

    title: str
    command: str
    expected: int = 0
    state: State = "waiting"
    began: float = 0.0
    seconds: float = 0.0
    pace: Pace = field(default_factory=Pace)
    notes: list[str] = field(default_factory=list)
    said: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """For the page."""
        running = self.state == "running"
        elapsed = time.monotonic() - self.began if running else self.seconds
        left = self.pace.left() if running else None
        return {
            "title": self.title, "command": self.command, "state": self.state, "seconds": round(elapsed, 1),
            "done": self.pace.done, "total": self.pace.total, "left": None if left is None else round(left, 1),
            "notes": self.notes,
        }  # fmt: skip

    def advance(self, done: int, total: int) -> None:
        """It is so far now."""
        self.pace.advance(done, total or self.expected)


@final
class Run:
    """Started when made; ``work`` is called in a thread and calls `command` for each stage in turn. Safe in threads.

    ``facts`` say what it was started with; ``named`` puts the curator's names of files into messages.
    """

    def __init__(
        self,
        kind: str,
        stages: Sequence[Stage],
        facts: Mapping[str, Any],
        work: Callable[[Run], dict[str, Any]],
        named: Callable[[str], str],
    ) -> None:
        self.kind, self.stages, self.facts = kind, list(stages), facts
        self.state: State = "running"
        self.result: dict[str, Any] | None = None
        self.fault: dict[str, Any] | None = None
        self._work, self._named = work, named
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._cancelled = False
        self._thread = threading.Thread(target=self._run, name="run", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self.state == "running"

    def record(self) -> dict[str, Any]:
        """For the page."""
        stages = [each.record() for each in self.stages]
        return {
            "kind": self.kind, "state": self.state, "facts": dict(self.facts), "stages": stages,
            "result": self.result, "error": self.fault,
        }  # fmt: skip

    def command(self, arguments: Sequence[str], *, codes: Sequence[int] = (0,), watched: bool = False) -> int:
        """Run the next stage's command; the code it ends with, its own error where that is none of the ``codes``.

        All say on standard error how many of their parts are done; a ``watched`` one says nothing else, the others
        one JSON object.
        """
        stage = next(each for each in self.stages if each.state == "waiting")
        stage.state, stage.began = "running", time.monotonic()
        with TemporaryFile() as said:
            call = [*_OURSELVES, *arguments, *([] if watched else ["--json"])]
            code = self._watch(self._start(call, said), stage)
            stage.seconds = time.monotonic() - stage.began
            if self._cancelled:
                raise _Stopped
            if code not in codes:
                message = stage.notes.pop() if stage.notes else f"a command ended with {code}"
                raise _ERRORS.get(code, PubliusError)(self._named(message))
            stage.state, stage.pace.done = "done", stage.pace.total
            if not watched:
                said.seek(0)
                stage.said = json.loads(said.read())
        return code

    def cancel(self) -> None:
        """Let the command that runs clean up and end; nothing half-made stays."""
        with self._lock:
            self._cancelled = True
            process = self._process
        if process is not None:
            _send(process, "SIGTERM")
            killer = threading.Timer(_PATIENCE, _send, (process, "SIGKILL"))
            killer.daemon = True
            killer.start()

    def wait(self) -> None:
        """Until it has ended."""
        self._thread.join(2 * _PATIENCE)

    def _run(self) -> None:
        state: State = "failed"
        try:
            self.result = self._work(self)
            state = "done"
        except _Stopped:
            state = "stopped"
        except BaseException as error:  # whatever it is, the page is told
            self.fault = fault_of(error)[1]
        for stage in self.stages:
            if stage.state == "running":
                stage.state = state
        self.state = state

    def _start(self, call: Sequence[str], said: Any) -> subprocess.Popen[str]:
        with self._lock:
            if self._cancelled:
                raise _Stopped
            self._process = subprocess.Popen(  # noqa: S603  # ourselves, without a shell
                call, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.PIPE, encoding="utf-8",
                errors="replace", start_new_session=True, env=_environment(),
            )  # fmt: skip
            return self._process

    def _watch(self, process: subprocess.Popen[str], stage: Stage) -> int:
        with process:
            for line in process.stderr or ():
                if found := _PART.match(line):
                    stage.advance(int(found[1]), int(found[2]))
                elif line.startswith(_SAID):
                    stage.notes.append(self._named(line.removeprefix(_SAID).strip()))
        with self._lock:
            self._process = None
        return process.returncode


def _environment() -> dict[str, str]:
    """Ours, without options of commands: what is shown is all that is said.

    Progress is told line by line, and a command whose explorer was killed ends in order: see `publius.cli.held`.
    """
    own = child.environment(PUBLIUS_WATCHED="1", PUBLIUS_HELD="1")
    ours = ("PUBLIUS_HOME", "PUBLIUS_WATCHED", "PUBLIUS_HELD")
    return {name: value for name, value in own.items() if name in ours or not name.startswith("PUBLIUS_")}


def _send(process: subprocess.Popen[str], name: str) -> None:
    """To the command and its workers, which are a group of their own; Windows has no groups, and one way to end."""
    with suppress(ProcessLookupError, PermissionError):
        if process.poll() is None:
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, getattr(signal, name))
