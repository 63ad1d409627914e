"""The application: views for the browser, a small service for programs.

Every answer of ``/v1/label`` and ``/v1/obfuscate`` is a draw under a fresh key, and counts as one more release of each
text: epsilons add. Nothing is kept of a text. An error is ``{"error": "...", "exit_code": n}``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

from anyio import to_thread
from fastapi import Body, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from publius import __version__
from publius.errors import UsageError
from publius.pages.page import TEMPLATES, render
from publius.web import service, start, views
from publius.web.guard import Guard
from publius.web.state import State

_HERE: Final = Path(__file__).parent
Form = Annotated[dict[str, str], Body()]


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
    def label(asked: service.Label) -> dict[str, Any]:
        """One randomized label a text: ``{"labels", "epsilon", "classifier", "all_labels", "noise_changes"}``."""
        return service.label(state, asked)

    @app.post("/v1/obfuscate")
    def obfuscate(asked: service.Obfuscate) -> dict[str, Any]:
        """A noisy bag of each text, its words counted: ``{"bags", "epsilon", "length", "exponent_per_distance", ...}``."""
        return service.obfuscate(state, asked)

    @app.post("/v1/explain")
    def explain(asked: service.Explain) -> dict[str, Any]:
        """What is promised of a setting; of a public ``word`` its outputs; of ``text`` and ``other`` the exponent."""
        return service.explain(state, asked)

    return Guard(app, port=port, token=token)


async def _few() -> None:
    """Let few requests work at once: the search for words uses every core already."""
    to_thread.current_default_thread_limiter().total_tokens = 2


async def _refused(request: Request, error: Exception) -> Response:
    """Say which field is wrong and why, never what it holds: it may be a text."""
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    known = {name for model in service.MODELS for name in model.model_fields}
    place = ".".join(str(part) for part in first.get("loc", ())[1:2] if part in known)
    told = {"json_invalid": "the body is no JSON object", "extra_forbidden": "there is no such field"}
    kind = str(first.get("type"))
    raise UsageError(": ".join(filter(None, (place, told.get(kind, kind.replace("_", " "))))))


async def _raised(request: Request, error: Exception) -> Response:
    raise error  # Guard says it; FastAPI's own answer would come first


async def _missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    content = '{"error": "nothing is here, or not by this method", "exit_code": 2}'
    return Response(content, status, media_type="application/json")
