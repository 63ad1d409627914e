"""The application: its addresses, and what each calls. Everything is answered by a view, in its turn."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from publius.releases.plan import publius_version
from publius.web import answers, requests
from publius.web.errors import Json, answer_to, invalid, refused
from publius.web.guards.body import LimitedBody
from publius.web.guards.limits import Limits
from publius.web.guards.security import Guard, SafeAnswers
from publius.web.openapi import described
from publius.web.queues import Lane, Work
from publius.web.reports import POLICY
from publius.web.state import State
from publius.web.views import compare as compare_view
from publius.web.views import curve as curve_view
from publius.web.views import document as document_view
from publius.web.views import public as public_view
from publius.web.views import release as release_view
from publius.web.views import words as words_view

STATIC: Final = Path(__file__).parent / "static"
_KINDS: Final = frozenset((".html", ".css", ".js", ".svg", ".png", ".ico", ".woff2"))
_QUICK, _LONG = 2, 1


def make_app(
    state: State, *, port: int, token: str, limits: Limits | None = None, work: Work | None = None
) -> ASGIApp:
    """The whole application behind its guards, for the address 127.0.0.1:``port`` and the ``token`` printed.

    ``work`` is told what is being computed, so that it can be ended.
    """
    limits = limits or Limits()
    inner = LimitedBody(_application(state, limits, work or Work()), limits)
    return SafeAnswers(Guard(inner, port=port, token=token))


def _application(state: State, limits: Limits, work: Work) -> FastAPI:
    service = _Service(state, limits, work)
    app = FastAPI(
        title="Publius",
        version=publius_version(),
        description="Documents in, protected bags-of-words out; what an epsilon does. Loopback only.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=service.lifespan,
    )
    app.include_router(_pages(state))
    app.include_router(service.router())
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _any)
    app.add_api_route("/v1/openapi.json", lambda: Json(described(app)), include_in_schema=False)
    return app


class _Service:
    """The views, each in the lane that suits it: what must be certified first does not stop the rest."""

    def __init__(self, state: State, limits: Limits, work: Work) -> None:
        self._state, self._limits, self._work = state, limits, work
        self._quick, self._long = Lane(_QUICK, limits), Lane(_LONG, limits)

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Prepare what the page asks for first; at the end wait for releases that were begun, for nothing else."""
        prepared = asyncio.create_task(self._prepare())
        yield
        prepared.cancel()
        await self._work.ended()

    async def _prepare(self) -> None:
        with suppress(Exception):  # whoever asks for it gets the error
            await self._quick.run(document_view.prepare, self._state)
            await self._long.run(public_view.mechanisms, self._state)

    async def _answer(self, view: Callable[..., dict[str, Any]], *arguments: Any) -> Response:
        """What the view says, or its error."""
        lane = self._long if self._is_long(view, *arguments) else self._quick
        running = asyncio.create_task(lane.run(view, self._state, *arguments))
        release = view in (release_view.obfuscate, release_view.release)
        self._work.add(running, must_end=release)
        try:
            return Json(await asyncio.shield(running))
        except asyncio.CancelledError:
            return refused(503, 74, "StorageError", "the explorer is ending: start it again")
        except Exception as error:
            return answer_to(error)

    def _is_long(self, view: Callable[..., dict[str, Any]], *arguments: object) -> bool:
        """Whether a mechanism may have to be certified, or many are asked for."""
        asked = arguments[0] if arguments else None
        ready = self._state.mechanisms.is_ready
        if isinstance(asked, requests.Choice) and not ready(asked.mechanism, asked.epsilon, asked.metric):
            return True
        if view is public_view.one_mechanism:
            return not self._state.mechanisms.is_quick(str(asked))
        return view in (public_view.mechanisms, curve_view.curve)

    def router(self) -> APIRouter:
        """Every address under /v1, and /health."""
        router = APIRouter()

        @router.get("/health", responses=_form(answers.Health))
        @router.get("/v1/health", responses=_form(answers.Health))
        async def health() -> Response:
            """Whether the service runs."""
            return Json({"status": "ok", "version": publius_version()})

        self._add_public(router)
        self._add_views(router)
        self._add_releases(router)
        return router

    def _add_public(self, router: APIRouter) -> None:
        @router.get("/v1/mechanisms", responses=_form(answers.Mechanisms))
        async def mechanisms(name: requests.MechanismName | None = None) -> Response:
            """The mechanisms, and useful epsilons on this vocabulary; or only the one of this name."""
            if name is None:
                return await self._answer(public_view.mechanisms)
            return await self._answer(public_view.one_mechanism, name)

        @router.get("/v1/embeddings", responses=_form(answers.Embeddings))
        async def embeddings() -> Response:
            """The word vectors in use, and those that are stored."""
            return await self._answer(public_view.embeddings)

        @router.get("/v1/session")
        async def session() -> Response:
            """What the explorer was started with."""
            return await self._answer(public_view.session, self._limits)

        @router.get("/v1/samples/{id}")
        async def sample(id: str) -> Response:
            """A public document to try."""
            return await self._answer(lambda state: state.samples.one(id))

        @router.get("/v1/reports/{id}")
        async def report(id: str) -> Response:
            """The rows of an evaluation."""
            return await self._answer(lambda state: state.reports.one(id))

        @router.post("/v1/reports/{id}/ticket")
        async def ticket(id: str) -> Response:
            """An address at which the page of an evaluation can be read once."""
            return await self._answer(lambda state: {"address": state.reports.ticket(id)})

    def _add_views(self, router: APIRouter) -> None:
        @router.post("/v1/guarantee", responses=_form(answers.Guarantee))
        async def guarantee(asked: requests.Guarantee) -> Response:
            """What a release promises."""
            return await self._answer(public_view.guarantee, asked)

        @router.post("/v1/tokens", responses=_form(answers.Tokens))
        async def tokens(asked: requests.Tokens) -> Response:
            """A text as a release would read it."""
            return await self._answer(document_view.tokens, asked)

        @router.post("/v1/draw", responses=_form(answers.Draw))
        async def draw(asked: requests.Draw) -> Response:
            """A draw to look at; not a release."""
            return await self._answer(document_view.draw, asked)

        @router.post("/v1/curve", responses=_form(answers.Curves))
        async def curve(asked: requests.Curve) -> Response:
            """Share unchanged and displacement against epsilon."""
            return await self._answer(curve_view.curve, asked)

        @router.post("/v1/words", responses=_form(answers.Words))
        async def words(asked: requests.Words) -> Response:
            """A word's likely outputs and neighbors."""
            return await self._answer(words_view.words, asked)

        @router.post("/v1/distance", responses=_form(answers.Distance))
        async def distance(asked: requests.Pair) -> Response:
            """Earth Mover's distance between two documents."""
            return await self._answer(compare_view.distance, asked)

    def _add_releases(self, router: APIRouter) -> None:
        @router.post("/v1/obfuscate", responses=_form(answers.Releases))
        async def obfuscate(asked: requests.Obfuscate) -> Response:
            """Release documents to the caller."""
            return await self._answer(release_view.obfuscate, asked)

        @router.post("/v1/release", responses=_form(answers.Released))
        async def release(asked: requests.Release) -> Response:
            """Release a document into a folder on this machine."""
            return await self._answer(release_view.release, asked)

        @router.post("/v1/account", responses=_form(answers.Account))
        async def account(asked: requests.Account) -> Response:
            """A document's budget, and what its next release would cost."""
            return await self._answer(release_view.account, asked)


def _form(model: type[answers.Answer]) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of an answer; the views make it themselves."""
    return {200: {"model": model}, "4XX": {"model": answers.Error}}


def _pages(state: State) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    files = {path.name: path for path in STATIC.iterdir() if path.suffix in _KINDS}

    @router.get("/")
    async def page() -> Response:
        return _file(files.get("index.html"))

    @router.get("/static/{name}")
    async def static(name: str) -> Response:
        return _file(files.get(name))

    @router.get("/report/{ticket}")
    async def report(ticket: str) -> Response:
        found = state.reports.page(ticket)
        if found is None:
            return refused(404, 2, "UsageError", "this address was used before, or is none")
        headers = {"content-security-policy": POLICY, "x-frame-options": "SAMEORIGIN"}
        return Response(found, media_type="text/html", headers=headers)

    return router


def _file(path: Path | None) -> Response:
    if path is None:
        return refused(404, 2, "UsageError", "there is no such address")
    kind = "text/javascript" if path.suffix == ".js" else mimetypes.guess_type(path.name)[0]
    return Response(path.read_bytes(), media_type=kind or "application/octet-stream")


async def _invalid(request: Request, error: Exception) -> Response:
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    return invalid(problems, requests.FIELDS)


async def _http(request: Request, error: Exception) -> Response:
    """Of the framework's own refusals only the status is kept."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "there is no such address", 405: "this address takes another method"}
    headers = getattr(error, "headers", None)
    return refused(status, 2, "UsageError", words.get(status, "the request cannot be read"), headers)


async def _any(request: Request, error: Exception) -> Response:
    return answer_to(error)
