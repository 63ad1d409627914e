"""The application: its addresses, and what each calls. Everything is answered by a view, in its turn."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Final, final, get_args

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp

from publius.errors import CancelledError
from publius.files.progress import Watch
from publius.releases.plan import publius_version
from publius.web import answers, requests, start_answers
from publius.web.errors import Json, answer_to, invalid, refused
from publius.web.front import guarded
from publius.web.guards.body import LINES, OCTETS, file_too_large
from publius.web.guards.limits import STREAM, UPLOAD, ServerLimits
from publius.web.openapi import described
from publius.web.queues import Lane, Work
from publius.web.reports import POLICY
from publius.web.state import State
from publius.web.streaming import StreamedAnswer
from publius.web.views import (
    compare,
    corpus,
    curve,
    document,
    exemplar,
    outcomes,
    public,
    release,
    start,
    stream,
    summary,
    words,
)
from publius.web.watches import Watches
from publius.web.workplace import Role

_QUICK, _LONG = 2, 1
_NOTHING_LEAVES: Final[Any] = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""FastAPI would tell of requests to whom the environment names; versions before that take no notice of it."""


def make_app(
    state: State, *, port: int, token: str, limits: ServerLimits | None = None, work: Work | None = None
) -> ASGIApp:
    """The whole application behind its guards, for the address 127.0.0.1:``port`` and the ``token`` printed.

    ``work`` is told what is being computed, so that it can be ended.
    """
    limits = limits or ServerLimits()
    return guarded(application(state, limits, work or Work()), port=port, token=token, limits=limits)


def application(state: State, limits: ServerLimits, work: Work, *, forms: bool = False) -> FastAPI:
    """The framework's part; with ``forms`` of the answers, which only its description needs and which take a while."""
    service = _Service(state, limits, work, forms=forms)
    with _without_old_pydantic():
        app = FastAPI(
            title="Publius",
            version=publius_version(),
            description=(
                "Documents in, protected bags-of-words out; what an epsilon does. Loopback only. "
                + limits.sentence
            ),
            docs_url=None,
            redoc_url=None,
            openapi_url=None,
            lifespan=service.lifespan,
            telemetry=_NOTHING_LEAVES,
        )
        app.include_router(_reports(state, Lane(_LONG, limits)))
        app.include_router(service.router())
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _any)

    def description() -> Response:
        return Json(described(application(state, limits, work, forms=True), limits))

    app.add_api_route("/v1/openapi.json", description, include_in_schema=False)
    return app


@contextmanager
def _without_old_pydantic() -> Iterator[None]:
    """FastAPI asks of every parameter whether it is of Pydantic's first form, whose import takes a tenth of a start."""
    name = "pydantic.v1"
    absent = name not in sys.modules
    if absent:
        sys.modules[name] = None  # type: ignore[assignment]  # cannot be imported
    try:
        yield
    finally:
        if absent:
            del sys.modules[name]


class _Service:
    """The views, each in the lane that suits it: what must be certified first does not stop the rest."""

    def __init__(self, state: State, limits: ServerLimits, work: Work, *, forms: bool = False) -> None:
        self._state, self._limits, self._work = state, limits, work
        self._forms = forms
        self._quick, self._long, self._opening, self._files = (
            Lane(n, limits) for n in (_QUICK, _LONG, _LONG, _LONG)
        )
        self._streams = asyncio.Semaphore(limits.streams)
        self._watches = Watches()

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Prepare what the page asks for first; at the end wait for releases that were begun, for nothing else."""
        prepared = asyncio.create_task(self._prepare())
        yield
        prepared.cancel()
        await asyncio.to_thread(self._state.workplace.close)
        await self._work.ended()

    async def _prepare(self) -> None:
        with suppress(Exception):  # whoever asks for it gets the error
            await self._quick.run(document.prepare, self._state)
            await self._long.run(public.mechanisms, self._state)

    async def _answer(self, view: Callable[..., Any], *arguments: Any, watch: str | None = None) -> Response:
        """The answer of the view, or its error; it can be followed and stopped under the name ``watch``."""
        finished = view in (release.obfuscate, release.release, summary.summary)
        lane, watched = self._lane(view, *arguments), Watch()
        work = (view,) if finished else (watched.run, view)
        running = asyncio.create_task(lane.run(*work, self._state, *arguments))
        self._work.add(running, must_end=finished)
        try:
            with self._watches.known(None if finished else watch, watched, running):
                return Json(await asyncio.shield(running))
        except asyncio.CancelledError:
            if watched.cancelled:
                return answer_to(CancelledError("cancelled before it began"))
            return refused(503, 74, "StorageError", "the explorer is ending: start it again")
        except Exception as error:
            return answer_to(error)

    def _lane(self, view: Callable[..., Any], asked: object = None) -> Lane:
        """The long one where something is certified first or much is asked for; references wait for none of that."""
        if view is document.tokens:
            return self._quick  # a text is read without any mechanism
        if isinstance(asked, requests.Chosen) and not self._state.is_ready(asked):
            return {"embeddings": self._long, "reference": self._opening}[asked.settings.chosen.reads]
        if view in _ON_FILES:
            return self._files
        if view is public.mechanisms:
            quick = asked is not None and self._state.mechanisms.is_quick(str(asked))
            return self._quick if quick else self._long
        return self._long if view in (curve.curve, exemplar.exemplar) else self._quick

    def _form(self, model: Any) -> dict[int | str, dict[str, Any]] | None:
        """What the OpenAPI document says of an answer; the views make it themselves."""
        if model is None or not self._forms:
            return None
        return {200: {"model": model}, "4XX": {"model": answers.Error}}

    def router(self) -> APIRouter:
        """Every address under /v1, and /health."""
        router = APIRouter()

        @router.get("/health", responses=self._form(answers.Health))
        @router.get("/v1/health", responses=self._form(answers.Health))
        async def health() -> Response:
            """Whether the service runs."""
            return Json({"status": "ok", "version": publius_version()})

        @router.get("/v1/progress/{id}", responses=self._form(answers.Progress))
        async def progress(id: requests.WatchId) -> Response:
            """How far a request is that was sent with this id in the header Publius-Watch, while it is answered."""
            return Json(self._watches.record(id))

        @router.post("/v1/progress/{id}/cancel", responses=self._form(answers.Progress))
        async def cancel(id: requests.WatchId) -> Response:
            """Stop it: at once while it waits for its turn, else where it next says how far it is."""
            self._watches.cancel(id)
            return Json(self._watches.record(id))

        @router.get("/v1/session")
        async def session() -> Response:
            """The settings that the explorer was started with."""
            return await self._answer(public.session, self._limits)

        @router.post(UPLOAD, responses=self._form(start_answers.Given), openapi_extra=_FILE)
        async def files(
            request: Request, role: requests.Role, name: requests.FileName, more: bool = False
        ) -> Response:
            """Give a file of texts: into a private folder of this machine that is removed at the end."""
            try:
                return await self._received(request, role, name, more=more)
            except Exception as error:
                return answer_to(error)

        @router.post(
            STREAM,
            responses=self._form(answers.StreamedLine),
            response_class=StreamedAnswer,
            status_code=200,
            openapi_extra=_DOCUMENTS,
        )
        async def streamed() -> Response:
            """Release documents that come as lines of JSON; each bag is a line, sent as it is made.

            The first line is the choice, every further one a document. The answers stand in the order of the lines,
            some together: as many as the choice says. A line that cannot be released is answered with its number and
            the reason. The last line is the manifest, or the error that ended the stream and the first line that it
            left out; an answer without such a last line is not whole. With a ledger documents are debited before
            their bags are drawn.
            """
            return StreamedAnswer(self._limits, self._work, self._streams, self._begun, self._quick.run)

        for route in _ROUTES:
            router.add_api_route(
                route.path,
                self._endpoint(route),
                methods=[route.method],
                name=route.name,
                description=(route.view.__doc__ or "").strip(),
                responses=self._form(route.answer),
            )
        return router

    async def _begun(self, asked: requests.Stream) -> stream.ReleaseStream:
        return await self._lane(stream.ReleaseStream, asked).run(stream.ReleaseStream, self._state, asked)

    async def _received(self, request: Request, role: Role, name: str, *, more: bool) -> Response:
        """Take a file as it comes; what is too large, too slow or cut short leaves nothing behind."""
        place, limits = self._state.workplace, self._limits
        before = place.given(role) if more else None
        left = limits.upload_bytes - (before.size if before else 0)
        path, file = place.receive(name)
        try:
            with file:
                async with asyncio.timeout(limits.upload_seconds):
                    async for chunk in request.stream():
                        left -= len(chunk)
                        if left < 0:
                            return file_too_large(limits.upload_bytes)
                        await asyncio.to_thread(file.write, chunk)
            kept = await self._files.run(partial(place.keep, role, name, path, more=more))
            names, size = len(kept.names), kept.size
            return Json(
                start_answers.Given(
                    key=kept.key,
                    name=kept.name,
                    files=names,
                    size=size,
                    packaged=False,
                    found=None,
                    command=kept.command,
                )
            )
        except TimeoutError:
            message = f"the file took more than {limits.upload_seconds:g} s to arrive"
            return refused(408, 2, "UsageError", message, {"connection": "close"})
        except ClientDisconnect:
            return refused(400, 2, "UsageError", "the file did not arrive whole")
        finally:
            path.unlink(missing_ok=True)  # it was moved where it was taken

    def _endpoint(self, route: _Route) -> Callable[..., Awaitable[Response]]:
        """A function with the parameters of the view beside the state, for the framework to read."""

        async def endpoint(*, watch: str | None, **asked: Any) -> Response:
            return await self._answer(route.view, *asked.values(), watch=watch)

        kept = inspect.Parameter.KEYWORD_ONLY
        parameters = [each.replace(kind=kept) for each in route.parameters]
        parameters.append(inspect.Parameter("watch", kept, annotation=requests.Watched, default=None))
        endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return endpoint


@final
@dataclass(frozen=True, slots=True)
class _Route:
    """An address, and the view that answers: what it takes and gives is what the view's annotations say."""

    method: str
    path: str
    view: Callable[..., Any]

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of the view beside the state."""
        return list(inspect.signature(self.view, eval_str=True).parameters.values())[1:]

    @property
    def answer(self) -> Any:
        """The form of the answer; None where it is no model."""
        found = inspect.signature(self.view, eval_str=True).return_annotation
        forms = get_args(found) or (found,)
        return (
            found
            if all(isinstance(each, type) and issubclass(each, answers.Answer) for each in forms)
            else None
        )

    @property
    def name(self) -> str:
        """Of the operation in the OpenAPI document."""
        return self.path.removeprefix("/v1/").partition("/{")[0].replace("/", "-")


_ROUTES: Final = (
    _Route("GET", "/v1/mechanisms", public.mechanisms),
    _Route("GET", "/v1/embeddings", public.embeddings),
    _Route("GET", "/v1/samples/{id}", public.sample),
    _Route("GET", "/v1/reports/{id}", public.report),
    _Route("POST", "/v1/reports/{id}/ticket", public.ticket),
    _Route("GET", "/v1/references", outcomes.references),
    _Route("POST", "/v1/guarantee", public.guarantee),
    _Route("POST", "/v1/outcomes", outcomes.outcomes),
    _Route("POST", "/v1/exemplar", exemplar.exemplar),
    _Route("POST", "/v1/tokens", document.tokens),
    _Route("POST", "/v1/draw", document.draw),
    _Route("POST", "/v1/curve", curve.curve),
    _Route("POST", "/v1/words", words.words),
    _Route("POST", "/v1/distance", compare.distance),
    _Route("POST", "/v1/obfuscate", release.obfuscate),
    _Route("POST", "/v1/release", release.release),
    _Route("POST", "/v1/account", release.account),
    _Route("POST", "/v1/accuracy", summary.accuracy),
    _Route("POST", "/v1/summary", summary.summary),
    _Route("GET", "/v1/start", start.start),
    _Route("POST", "/v1/start/look", start.look),
    _Route("POST", "/v1/start/forget", start.forget),
    _Route("POST", "/v1/start/plan", start.plan),
    _Route("POST", "/v1/start/learn", start.learn),
    _Route("POST", "/v1/start/release", start.release),
    _Route("POST", "/v1/start/instead", start.instead),
    _Route("GET", "/v1/start/run", start.run),
    _Route("POST", "/v1/start/cancel", start.cancel),
    _Route("POST", "/v1/start/samples", start.samples),
    _Route("POST", "/v1/start/example", start.example),
    _Route("POST", "/v1/start/corpus", corpus.corpus),
    _Route("POST", "/v1/start/map", corpus.corpus_map),
    _Route("POST", "/v1/start/ticket", start.ticket),
)
_ON_FILES: Final = (
    start.look, start.forget, start.samples, start.plan, start.example, start.learn, start.release,
    corpus.corpus, corpus.corpus_map, summary.summary,
)  # fmt: skip
_FILE: Final = {
    "requestBody": {
        "required": True,
        "content": {OCTETS: {"schema": {"type": "string", "format": "binary"}}},
    }
}
_DOCUMENTS: Final = {
    "requestBody": {
        "required": True,
        "description": "Lines of JSON: the first is a Stream, every further one a GivenDocument.",
        "content": {LINES: {"schema": {"type": "string"}, "example": '{}\n{"id": "a", "text": "b"}\n'}},
    }
}


def _reports(state: State, lane: Lane) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/report/{ticket}")
    async def report(ticket: str) -> Response:
        found = await lane.run(state.reports.page, ticket)
        if found is None:
            return refused(404, 2, "UsageError", "this address was used before, or is none")
        content, name = found
        if name is not None:
            stored = {"content-disposition": f'attachment; filename="{name}"'}
            return StreamingResponse(_parts(content), media_type="application/zip", headers=stored)
        headers = {"content-security-policy": POLICY, "x-frame-options": "SAMEORIGIN"}
        return Response(content.read(), media_type="text/html", headers=headers)

    return router


def _parts(content: BinaryIO) -> Iterator[bytes]:
    with content:
        while part := content.read(2**18):
            yield part


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
