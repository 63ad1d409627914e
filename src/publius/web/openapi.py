"""The OpenAPI document: every address, what it takes, what it answers, the token it needs."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from publius.web.guards.limits import ServerLimits
from publius.web.requests import Stream

_FAULT: Final = {
    "description": "An error: code as of the command line.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}


def described(app: FastAPI, limits: ServerLimits) -> dict[str, Any]:
    """The document of ``app``, with the token, the ``limits`` and the form of errors that its guards add."""
    document = app.openapi()
    document["info"]["x-limits"] = limits.stated()
    _, lines = models_json_schema([(Stream, "validation")], ref_template="#/components/schemas/{model}")
    document["components"]["schemas"] = {**lines["$defs"], **document["components"]["schemas"]}
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            operation["responses"].pop("422", None)
            for form in operation["responses"].get("200", {}).get("content", {}).values():
                if "anyOf" in form["schema"]:  # of each line; what is no JSON as a whole is called a string
                    form["schema"].pop("type", None)
            operation["responses"] |= {"4XX": _FAULT, "5XX": _FAULT}
            operation["security"] = [] if path == "/health" else [{"token": []}]
    return document
