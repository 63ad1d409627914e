"""The broken versions and hard cases that a checkout of the source has beside the package, and an installation has not.

They lie in ``tests/audit``, which is found beside this file's own folder ``src`` and nowhere else: neither the working
folder nor PYTHONPATH has a say in what an audit runs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

from publius.errors import UsageError

NAME: Final = "audit"
"""As the modules there call each other."""


def folder() -> Path | None:
    """``tests/audit`` of the checkout that this code is in; None in an installation."""
    source = Path(__file__).resolve().parents[2]
    found = source.parent / "tests" / NAME
    whole = source.name == "src" and (source.parent / "pyproject.toml").is_file()
    return found if whole and (found / "__init__.py").is_file() else None


def attach() -> bool:
    """Make the modules of `folder` importable in this process; whether there are any.

    `UsageError` where another package of that name was imported before.
    """
    found = folder()
    if found is None:
        return False
    first = found / "__init__.py"
    if NAME not in sys.modules:
        spec = spec_from_file_location(NAME, first, submodule_search_locations=[str(found)])
        if spec is None or spec.loader is None:
            return False
        module = module_from_spec(spec)
        sys.modules[NAME] = module
        spec.loader.exec_module(module)
    elif Path(sys.modules[NAME].__file__ or "").resolve() != first:
        raise UsageError(f"a package called {NAME!r} that is not the checkout's {found} was imported before")
    return True


def harness() -> ModuleType | None:
    """The checkout's pieces of an audit; None in an installation."""
    return import_module(f"{NAME}.pieces") if attach() else None
