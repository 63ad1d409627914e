"""How long a start takes: the help, one sentence, the explorer's page and answers; beside Python and NumPy."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from publius.errors import PubliusError
from publius.files.child import environment

_ROUNDS: Final = 5
_TEXT: Final = "The old river bends twice below the castle before it reaches the sea."
_ASKED_FIRST: Final = ("/v1/session", "/v1/mechanisms?name=laplace", "/v1/embeddings")
"""What the page needs before it can be worked with: ``static/main.js``."""
_PUBLIUS: Final = (sys.executable, "-P", "-m", "publius")


def bench_start(embeddings: str | None = None) -> dict[str, Any]:
    """Milliseconds of each start in a process of its own, the best of five rounds taken in turn.

    By the clock and, with ``processor`` in the name, of the processor, which is less disturbed by what else runs.

    Byte code is kept in a folder of the benchmark's own, as an installation has it beside its modules: where
    PYTHONDONTWRITEBYTECODE is set, a start from a checkout would compile all of them anew.

    ``first_draw_ms`` is the whole of ``publius obfuscate`` on one sentence, until its files are written;
    ``explorer_ms`` lasts until the explorer's page is there with its scripts and styles, ``explorer_answers_ms`` until
    it has what it asks for first and can be worked with. Vectors are those that are stored, opened once before.
    Raises `PubliusError` when a command fails.
    """
    vectors = () if embeddings is None else ("--embeddings", embeddings)
    with tempfile.TemporaryDirectory() as folder:
        own = environment(PYTHONPYCACHEPREFIX=str(Path(folder) / "compiled"))
        source = Path(folder) / "one.jsonl"
        source.write_text(json.dumps({"id": "one", "text": _TEXT}) + "\n", encoding="utf-8")
        release = (
            *_PUBLIUS, "obfuscate", str(source), "--epsilon", "10", "--length", "8", "--allow-padding", *vectors
        )  # fmt: skip
        starts: dict[str, Callable[[int], Any]] = {
            "python": lambda _: _run((sys.executable, "-P", "-c", "pass"), own),
            "numpy": lambda _: _run((sys.executable, "-P", "-c", "import numpy"), own),
            "help": lambda _: _run((*_PUBLIUS, "--help"), own),
            "first_draw": lambda number: _run(
                (*release, "--output", str(Path(folder) / f"out{number}")), own
            ),
            "explorer": lambda _: _explored(
                (*_PUBLIUS, "explore", "--no-browser", "--port", "0", *vectors), own
            ),
        }
        for name, start in starts.items():  # what is written once is written now
            start(-1 if name == "first_draw" else 0)
        rounds = [
            {name: _timed(start, number) for name, start in starts.items()} for number in range(_ROUNDS)
        ]
    busy = {name: min(each[name][1] for each in rounds) for name in starts}
    best = {name: min(each[name][0] for each in rounds) for name in starts if name != "explorer"}
    best["explorer"], best["explorer_answers"] = (
        min(each["explorer"][2][moment] for each in rounds) for moment in (0, 1)
    )
    return {
        "benchmark": "start",
        "rounds": _ROUNDS,
        **{f"{name}_ms": round(seconds * 1e3, 1) for name, seconds in best.items()},
        **{f"{name}_processor_ms": round(seconds * 1e3, 1) for name, seconds in busy.items()},
        "help_ratio": round(best["python"] / best["help"], 4),
        "first_draw_ratio": round(best["numpy"] / best["first_draw"], 4),
        "explorer_ratio": round(best["numpy"] / best["explorer"], 4),
        "explorer_answers_ratio": round(best["numpy"] / best["explorer_answers"], 4),
    }


def _run(command: tuple[str, ...], own: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=own, capture_output=True, check=False)  # our own commands
    if done.returncode:
        raise PubliusError(f"a start that was to be timed ended with {done.returncode}: try publius doctor")


def _explored(command: tuple[str, ...], own: Mapping[str, str]) -> tuple[float, float]:
    """Seconds until the page of an explorer is there with its files, and until it has its first answers."""
    from publius.web.front import STATIC

    began = time.perf_counter()
    with (
        subprocess.Popen(command, env=own, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running,
        ExitStack() as stack,
    ):
        try:
            address, _, token = (
                (running.stdout.readline() if running.stdout else b"").decode().partition("/#token=")
            )
            if not token:
                raise PubliusError("the explorer did not start: try publius explore, and publius doctor")
            asked = stack.enter_context(closing(HTTPConnection(address.removeprefix("http://"))))
            files = [f"/static/{path.name}" for path in sorted(STATIC.iterdir())]
            moments = []
            for paths in (("/", *files), _ASKED_FIRST):
                for path in paths:
                    asked.request("GET", path, headers={"Authorization": f"Bearer {token.strip()}"})
                    answer = asked.getresponse()
                    if answer.status != HTTPStatus.OK or not answer.read():
                        raise PubliusError(f"the explorer answered {path} with {answer.status}")
                moments.append(time.perf_counter() - began)
        finally:
            running.terminate()
    return moments[0], moments[1]


def _timed(start: Callable[[int], Any], number: int) -> tuple[float, float, Any]:
    """Seconds by the clock, and of the processor; and what the start says of itself."""
    clock, busy = time.perf_counter(), _children_seconds()
    said = start(number)
    return time.perf_counter() - clock, _children_seconds() - busy, said


def _children_seconds() -> float:
    import resource  # not on Windows

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
