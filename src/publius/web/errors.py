"""Errors as answers: the types, codes and words of the shell, never a text that was sent."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from publius.errors import PubliusError, StorageError, place_of

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")
"""What a name of a field looks like; anything else could be text that was put in its place."""

STATUS: Final = {2: 400, 65: 422, 70: 500, 74: 503, 77: 403}


class Json(Response):
    """JSON as we write it: UTF-8, no NaN."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """See `Response.render`."""
        from publius.web.answers import Answer  # by what takes a while to import; a page needs none

        if isinstance(content, Answer):
            content = content.content()
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def refused(
    status: int, code: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> Json:
    """An error as an answer."""
    return Json({"error": _fault_as(code, kind, message)}, status, headers)


def answer_to(error: BaseException) -> Json:
    """The answer to whatever was raised."""
    status, fault = fault_of(error)
    return Json({"error": fault}, status)


def fault_of(error: BaseException) -> tuple[int, dict[str, Any]]:
    """Status, and code, type and message, of whatever was raised; of what nobody expected only its place (R17)."""
    if isinstance(error, PubliusError):
        return STATUS[error.exit_code], _fault_as(error.exit_code, type(error).__name__, str(error))
    if isinstance(error, MemoryError):
        message = "out of memory: try a smaller length"
        return 503, _fault_as(StorageError.exit_code, "MemoryError", message)
    if isinstance(error, OSError):
        reason = os.strerror(error.errno or errno.EIO)
        return 503, _fault_as(StorageError.exit_code, "StorageError", f"reading or writing failed ({reason})")
    message = f"internal error: {place_of(error)}. Please report it; no document text is shown."
    return 500, _fault_as(PubliusError.exit_code, "PubliusError", message)


def _fault_as(code: int, kind: str, message: str) -> dict[str, Any]:
    return {"code": code, "type": kind, "message": message}


def invalid(problems: Sequence[Mapping[str, Any]], fields: frozenset[str]) -> Json:
    """The answer to a request of the wrong form: where and what, without anything that was sent."""
    without_body = [{**problem, "loc": problem["loc"][1:]} for problem in problems]
    return refused(400, 2, "UsageError", wrong_form(without_body, fields))


def wrong_form(problems: Sequence[Mapping[str, Any]], fields: frozenset[str]) -> str:
    """The fault and its place, in words."""
    places = [_place(_within(problem), fields) + _fault(problem) for problem in problems[:5]]
    return "; ".join(places) or "the request has the wrong form"


def _within(problem: Mapping[str, Any]) -> Sequence[object]:
    """Where the fault is; of a field that there is not, what it would be a field of."""
    location: Sequence[object] = problem["loc"]
    return location[:-1] if problem["type"] == "extra_forbidden" else location


def _place(location: Sequence[object], fields: frozenset[str]) -> str:
    """Only numbers and names of ours: what stands in the place of a name could hold words of a document."""
    parts = [str(part) if isinstance(part, int) or part in fields else "(another)" for part in location]
    return f"{'.'.join(parts)}: " if parts else ""


def no_such_field(name: object) -> str:
    """The fault of a field that there is not, by the name that was typed for it, if it can be one."""
    named = f" {name}" if isinstance(name, str) and _NAME.fullmatch(name) else ""
    return f"there is no such field{named}: leave it out"


def _fault(problem: Mapping[str, Any]) -> str:
    if problem["type"] == "extra_forbidden":
        return no_such_field(problem["loc"][-1])
    known = {
        "missing": "this field is needed",
        "json_invalid": "this is not JSON",
        "model_attributes_type": "this must be a JSON object",
        "model_type": "this must be a JSON object",
        "string_unicode": "the text holds lone surrogates, which UTF-8 cannot hold",
    }
    return known.get(problem["type"]) or str(problem["msg"])
