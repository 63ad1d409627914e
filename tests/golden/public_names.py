"""Every public name of Publius with its parameters: python tests/golden/public_names.py [--compare]

Public is what docs/versions.md says: `publius.__all__`, `publius.sklearn`, and the commands with their options.
``public_names_0_2.json`` was printed by this file on commit 9c31968 with that checkout's Python. ``--compare`` prints
what was there and is not now, what is new, and what takes other parameters.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("public_names_0_2.json")


def _signature(value: Any) -> str:
    if inspect.isclass(value) and issubclass(value, Exception):
        return f"exception, exit {getattr(value, 'exit_code', None)}"
    if not callable(value):
        return type(value).__name__
    return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(value)))


def _of_module(module: Any) -> dict[str, str]:
    found = {}
    for name in module.__all__:
        value = getattr(module, name)
        found[f"{module.__name__}.{name}"] = _signature(value)
        if (
            inspect.isclass(value)
            and value.__module__.startswith("publius")
            and not issubclass(value, Exception)
        ):
            for member, inner in inspect.getmembers_static(value):
                if not member.startswith("_"):
                    plain = getattr(inner, "__func__", inner)
                    found[f"{module.__name__}.{name}.{member}"] = (
                        _signature(plain) if inspect.isfunction(plain) else "attribute"
                    )
    return found


def _of_commands(command: Any, name: str) -> dict[str, str]:
    if hasattr(command, "commands"):
        return {
            key: value
            for each, inner in command.commands.items()
            for key, value in _of_commands(inner, f"{name} {each}").items()
        }
    context = command.make_context(name, [], resilient_parsing=True)
    found = {}
    for each in command.get_params(context):
        if each.name != "help":
            words = "/".join([*each.opts, *getattr(each, "secondary_opts", [])])
            default = None if callable(each.default) else each.default
            found[f"{name} {words}"] = (
                f"{each.param_type_name}{', required' if each.required else f', default {default!r}'}"
            )
    return found


def public_names() -> dict[str, str]:
    """Names with their parameters, commands' options with their types."""
    import typer

    import publius.sklearn
    from publius.cli import app

    return {
        **_of_module(publius),
        **_of_module(publius.sklearn),
        **_of_commands(typer.main.get_command(app), "publius"),
    }


if __name__ == "__main__":
    now = public_names()
    if sys.argv[1:] != ["--compare"]:
        print(json.dumps(now, indent=1))
        sys.exit()
    was = json.loads(RECORDED.read_text(encoding="utf-8"))
    for name in [*was, *(each for each in now if each not in was)]:
        if was.get(name) != now.get(name):
            print(f"{name}\n  was {was.get(name, 'not there')}\n  now {now.get(name, 'not there')}")
