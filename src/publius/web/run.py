"""A run: steps of a release, in a process of their own that can be followed and stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, final

from publius.errors import CancelledError, PubliusError
from publius.evaluation.steps.walk import Step
from publius.evaluation.steps.workflow import TITLES, Advanced, Began, Ended, Noted
from publius.files.progress import Pace
from publius.files.tasks import Task
from publius.web.errors import fault_of

State = Literal["waiting", "running", "done", "failed", "stopped"]


@final
@dataclass(slots=True)
class StepProgress:
    """A step: the command that does it alone, as it would be typed, and how far it is."""

    step: Step
    command: str
    state: State = "waiting"
    began: float = 0.0
    seconds: float = 0.0
    pace: Pace = field(default_factory=Pace)
    notes: list[str] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """For the page."""
        running = self.state == "running"
        elapsed = time.monotonic() - self.began if running else self.seconds
        left = self.pace.left() if running else None
        return {
            "title": TITLES[self.step], "command": self.command, "state": self.state, "seconds": round(elapsed, 1),
            "done": self.pace.done, "total": self.pace.total, "left": None if left is None else round(left, 1),
            "notes": self.notes,
        }  # fmt: skip

    def begin(self) -> None:
        """It runs from now on."""
        self.state, self.began = "running", time.monotonic()

    def end(self, state: State) -> None:
        """It is over."""
        self.state, self.seconds = state, time.monotonic() - self.began
        if state == "done":
            self.pace.done = self.pace.total


@final
class WorkflowProcess:
    """A function of the workflow in a process of its own, started when made. Safe in threads.

    ``work(*arguments, listener)`` tells the events of the ``stages``; ``shown`` makes the page's result of what it
    returns. ``facts`` say what it was started with; ``named`` puts the curator's names of files into messages.
    """

    def __init__(
        self,
        kind: str,
        stages: Sequence[StepProgress],
        facts: Mapping[str, Any],
        work: Callable[..., Any],
        arguments: Sequence[Any] = (),
        *,
        shown: Callable[[Any], dict[str, Any]] = lambda returned: {"returned": returned},
        named: Callable[[str], str] = str,
    ) -> None:
        """See the class."""
        self.kind, self.stages, self.facts = kind, list(stages), facts
        self.state: State = "running"
        self.result: dict[str, Any] | None = None
        self.fault: dict[str, Any] | None = None
        self._shown, self._named = shown, named
        self._task = Task(work, *arguments)
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

    def cancel(self) -> None:
        """Let the step that runs clean up and end; nothing half-made stays."""
        self._task.cancel()

    def wait(self) -> None:
        """Until it has ended."""
        self._thread.join(30)

    def _run(self) -> None:
        state: State = "failed"
        try:
            self.result = self._shown(self._task.result(self._hear))
            state = "done"
        except CancelledError as error:
            state = "stopped"
            if error.debit_told:
                self.fault = fault_of(error)[1]
        except BaseException as error:  # whatever it is, the page is told
            if isinstance(error, PubliusError):
                error.args = (self._named(str(error)),)
            self.fault = fault_of(error)[1]
        for stage in self.stages:
            if stage.state == "running":
                stage.end(state)
        self.state = state

    def _hear(self, event: object) -> None:
        running = next((each for each in self.stages if each.state == "running"), None)
        match event:
            case Began(step):
                next(each for each in self.stages if (each.step, each.state) == (step, "waiting")).begin()
            case Advanced(done, total) if running is not None:
                running.pace.advance(done, total)
            case Noted(sentence) if running is not None:
                running.notes.append(self._named(sentence))
            case Ended() if running is not None:
                running.end("done")
