"""Values that are plainly what an option takes, so that a start need not wait for the library that converts them.

Typer converts every value, also one that was not given, with Pydantic, whose import and preparation is a sixth of a
start. What is no plain value of its option, right or wrong, goes that way: errors are Typer's own.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final, Literal, final, get_args, get_origin

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,15}")
_DECIMAL: Final = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")
_NOT_PLAIN: Final = object()


def quickly(parameters: list[Any]) -> list[Any]:
    """The same parameters, whose plain values are taken as they are; untouched where Typer has other insides."""
    for each in parameters:
        if getattr(each, "_runtime_param", _NOT_PLAIN) is None and hasattr(each, "get_runtime_param"):
            each._runtime_param = _Plain(each.get_runtime_param, each.type_descriptor)
    return parameters


@final
class _Plain:
    """In the place of Typer's conversion of a parameter."""

    def __init__(self, made: Any, descriptor: Any) -> None:
        self._made, self._descriptor = made, descriptor

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of the option; an error of Typer's for one that it does not take."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        found = _plain(value, self._descriptor.annotation, self._descriptor.parameter_info)
        if found is not _NOT_PLAIN:
            return found
        param._runtime_param = None
        return self._made().coerce(value, param=param, ctx=ctx)


def _plain(value: Any, kind: Any, facts: Any) -> Any:
    if facts.parser is not None or facts.clamp:
        return _NOT_PLAIN
    if kind is str or kind is bool:
        return value if type(value) is kind else _NOT_PLAIN
    if kind is int or kind is float:
        return _number(value, kind, facts)
    if kind is Path:
        return _path(value, facts)
    if get_origin(kind) is Literal:
        return value if value in get_args(kind) else _NOT_PLAIN
    if kind == list[str] and isinstance(value, list | tuple) and all(type(each) is str for each in value):
        return list(value)
    return _NOT_PLAIN


def _number(value: Any, kind: type, facts: Any) -> Any:
    if isinstance(value, str):
        if not (_WHOLE if kind is int else _DECIMAL).fullmatch(value):
            return _NOT_PLAIN
        value = kind(value)
    inside = type(value) is kind and not (
        (facts.min is not None and value < facts.min) or (facts.max is not None and value > facts.max)
    )
    return value if inside else _NOT_PLAIN


def _path(value: Any, facts: Any) -> Any:
    asked = (facts.exists, facts.writable, facts.resolve_path, facts.allow_dash, facts.path_type)
    if any(asked) or not (facts.file_okay and facts.dir_okay):
        return _NOT_PLAIN
    if not isinstance(value, str | Path) or "\0" in str(value):
        return _NOT_PLAIN
    unreadable = facts.readable and os.path.exists(value) and not os.access(value, os.R_OK)
    return _NOT_PLAIN if unreadable else Path(value)
