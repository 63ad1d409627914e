"""The application: views for the browser, a small service for programs.

Every answer of ``/v1/label`` and ``/v1/obfuscate`` is a draw under a fresh key, and counts as one more release of each
text: epsilons add. Nothing is kept of a text. An error is ``{"error": "...", "exit_code": n}``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from anyio import to_thread
from fastapi import Body, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from publius import __version__
from publius.errors import UsageError
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.mechanism import Mechanism, Outcome, check_release
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.mechanisms.word_outcomes import outcomes, setting
from publius.noise.randomness import RunKey
from publius.pages.page import TEMPLATES, render
from publius.web import start, views
from publius.web.guard import Guard
from publius.web.state import State

_HERE: Final = Path(__file__).parent
_MOST: Final = 1_000_000  # words, or labels, that one answer has
Form = Annotated[dict[str, str], Body()]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class _Texts(_Asked):
    """One ``text``, or several ``texts``."""

    text: str | None = None
    texts: list[str] | None = None

    def given(self, length: int = 1) -> list[str]:
        """All of them; `UsageError` for none or both, and for more than `_MOST`."""
        if (self.text is None) == (self.texts is None):
            raise UsageError("give text or texts")
        if len(self.texts or ()) * length > _MOST:
            raise UsageError(f"one request gives at most {_MOST:,} words or labels: send several")
        return [self.text] if self.text is not None else self.texts or []


class Label(_Texts):
    """``classifier``, a stored one, or ``labels``, told by their names; ``epsilon`` is local, of each text."""

    classifier: str | None = None
    labels: list[str] = []
    epsilon: float = 5.0


class _Words(_Asked):
    """A mechanism on words; ``epsilon`` is per word and distance, ``length`` the words of every bag."""

    mechanism: str = "laplace"
    epsilon: float = 10.0
    length: int = Field(40, le=10_000)
    embeddings: str | None = None

    def lifted(self, state: State) -> Lifted:
        """The mechanism that is asked for."""
        return Lifted(state.kernel(self.mechanism, self.epsilon, self.embeddings), self.length)


class Obfuscate(_Texts, _Words):
    """Texts and the mechanism on their words."""


class Explain(_Words):
    """A setting; with ``word`` what it becomes, with ``text`` and ``other`` how far they are told apart."""

    word: str | None = None
    text: str | None = None
    other: str | None = None


def make_app(folder: Path, *, port: int, token: str) -> ASGIApp:
    """The explorer over ``folder`` at 127.0.0.1:``port`` for those who know ``token``; at most two requests work at once."""
    state = State(folder)
    app = FastAPI(
        title="Publius", version=__version__, docs_url=None, redoc_url=None, openapi_url="/v1/openapi.json",
        dependencies=[Depends(_few)],
    )  # fmt: skip
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(HTTPException, _missing)
    app.add_exception_handler(Exception, _raised)

    @app.get("/")
    def page() -> HTMLResponse:
        """The bare page, which asks for the views with the token that only its own address holds."""
        return HTMLResponse(render(_HERE / "templates" / "page.html", {"views": views.VIEWS}))

    @app.get("/static/explorer.js")
    def script() -> Response:
        """The one script."""
        return Response((_HERE / "static" / "explorer.js").read_bytes(), media_type="text/javascript")

    @app.get("/static/explorer.css")
    def style() -> Response:
        """The look of all pages of Publius, and what controls need."""
        parts = (TEMPLATES / "style.css", _HERE / "static" / "explorer.css")
        return Response("\n".join(each.read_text() for each in parts), media_type="text/css")

    @app.post("/view/{name}")
    def view(name: str, asked: Form) -> HTMLResponse:
        """A view as HTML, from what its form says."""
        if name not in views.VIEWS:
            raise HTTPException(404)
        return HTMLResponse(render(_HERE / "templates" / f"{name}.html", views.facts(state, name, asked)))

    @app.post("/start/{step}")
    def started(step: str, asked: Form) -> HTMLResponse:
        """Begin the release that was answered for, cancel it, or leave its result."""
        if step == "run":
            start.begin(state, asked)
        elif step == "cancel" and state.job is not None:
            state.job.watch.cancelled = True
        elif step == "again" and state.job is not None and not state.job.is_alive():
            state.job = None
        return view("start", asked)

    @app.get("/v1/health")
    async def health() -> dict[str, Any]:
        """``{"status": "ok", "version"}``; needs no token."""
        return {"status": "ok", "version": __version__}

    @app.get("/v1/classifiers")
    def classifiers() -> dict[str, Any]:
        """``{"classifiers": [...]}``: the names that /v1/label takes."""
        return {"classifiers": state.classifiers()}

    @app.post("/v1/label")
    def label(asked: Label) -> dict[str, Any]:
        """One randomized label a text: ``{"labels", "epsilon", "classifier", "all_labels", "noise_changes"}``."""
        texts = asked.given()
        mechanism = RandomizedResponse(state.classifier(asked.classifier, asked.labels), asked.epsilon)
        return {
            "labels": [each.label for each in _drawn(mechanism, texts)], "epsilon": mechanism.epsilon,
            "classifier": {"name": mechanism.classifier.name, "sha256": mechanism.classifier.sha256},
            "all_labels": list(mechanism.labels), "noise_changes": 1 - mechanism.kept,
        }  # fmt: skip

    @app.post("/v1/obfuscate")
    def obfuscate(asked: Obfuscate) -> dict[str, Any]:
        """A noisy bag of each text, its words counted: ``{"bags", "epsilon", "length", "exponent_per_distance", ...}``."""
        texts, mechanism = asked.given(asked.length), asked.lifted(state)
        bags = [dict(each.bag.counts) for each in _drawn(mechanism, texts) if each.bag is not None]
        return {"bags": bags, **mechanism.facts()}

    @app.post("/v1/explain")
    def explain(asked: Explain) -> dict[str, Any]:
        """What is promised of a setting; of a public ``word`` its outputs; of ``text`` and ``other`` the exponent."""
        mechanism = asked.lifted(state)
        if asked.word is not None:
            if asked.word not in mechanism.vocabulary:
                raise UsageError(f"{mechanism.vocabulary.name} has no such word")
            return outcomes(mechanism.kernel, asked.word, draws=2_000).record()
        if asked.text is None and asked.other is None:
            return setting(mechanism)
        if asked.text is None or asked.other is None:
            raise UsageError("give text and other, to compare them")
        distance = mechanism.distance(asked.text, asked.other)
        bound = mechanism.bound(distance)
        return {"distance": distance, "exponent": bound.exponent, "delta": bound.delta, "length": mechanism.length}

    return Guard(app, port=port, token=token)


def _drawn(mechanism: Mechanism, texts: list[str]) -> Sequence[Outcome]:
    check_release(mechanism)
    return mechanism.protect(texts, range(len(texts)), RunKey.fresh()) if texts else []


async def _few() -> None:
    """Let few requests work at once: the search for words uses every core already."""
    to_thread.current_default_thread_limiter().total_tokens = 2


async def _refused(request: Request, error: Exception) -> Response:
    """Say which field is wrong and why, never what it holds: it may be a text."""
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    known = {name for model in (Label, Obfuscate, Explain) for name in model.model_fields}
    place = ".".join(str(part) for part in first.get("loc", ())[1:2] if part in known)
    told = {"json_invalid": "the body is no JSON object", "extra_forbidden": "there is no such field"}
    kind = str(first.get("type"))
    raise UsageError(": ".join(filter(None, (place, told.get(kind, kind.replace("_", " "))))))


async def _raised(request: Request, error: Exception) -> Response:
    raise error  # Guard says it; FastAPI's own answer would come first


async def _missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return JSONResponse({"error": "nothing is here, or not by this method", "exit_code": 2}, status)
