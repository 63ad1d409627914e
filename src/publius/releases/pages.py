"""HTML pages from the templates of a package: whatever they are given is escaped."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from publius.errors import extra


def template(package: str, name: str, **filters: Callable[..., str]) -> Any:
    """The template ``name`` of ``package``, with ``filters`` beside Jinja's own; `MissingExtraError` without Jinja."""
    with extra("evaluation", "jinja2"):
        import jinja2  # noqa: F401
    return _template(package, name, frozenset(filters.items()))


@cache
def _template(package: str, name: str, filters: frozenset[tuple[str, Callable[..., str]]]) -> Any:
    """Compiled once: that takes longer than to fill it in."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= dict(filters)
    return environment.get_template(name)
