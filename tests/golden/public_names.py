"""Every public name of Publius with its parameters: python tests/golden/public_names.py [--compare | --write]

Public is what docs/versions.md says: `publius.__all__`, `publius.sklearn`, and the commands with their options.
``public_names_0_2.json`` was printed by this file on commit 9c31968 with that checkout's Python. ``--compare`` prints
what was there and is not now, what is new, and what takes other parameters; ``--write`` keeps that as
``docs/public-names.csv``, each name that is gone with what stands for it.
"""

from __future__ import annotations

import csv
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("public_names_0_2.json")
WRITTEN = Path(__file__).parents[2] / "docs" / "public-names.csv"

STANDS_FOR = {
    r"publius\.(AbstractMechanism|Laplace)\.level": "guarantee.unit",
    r"publius\.(AbstractMechanism|Laplace|Plan)\.names_prototypes": "Mechanism.fields",
    r"publius\.Plan\.word_mechanism": "Plan.mechanism.kernel",
    r"publius \w+ --first": "--max-words; --first still works",
    r"publius outcomes document": "the argument has another name",
    r"publius (certify|words|compare) --(gamma|prototypes)": "none: they belong to mechanisms on documents",
    r"publius check-mechanism --parameter": "an option for each parameter, such as --share",
    r"publius reconstruct .*": "publius write --writer ngram",
    r"publius (embeddings|reference) fit --least-documents": "--authors-at-least: by authors, not documents",
    r"publius\.sklearn\.DocumentPrivatizer.*": "publius.sklearn.BagPrivatizer(mechanism=publius.Prototype(...))",
    r"publius bench .*": "python -m benchmarks, in a checkout",
}
"""What stands for the names of 0.2 that are gone; docs/versions.md says how to move."""


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


def changes(was: dict[str, str], now: dict[str, str]) -> list[tuple[str, str, str]]:
    """Name, what became of it, and for one that is gone what stands for it now."""
    found = []
    for name in [*was, *(each for each in now if each not in was)]:
        if name not in now:
            stands = next((text for form, text in STANDS_FOR.items() if re.fullmatch(form, name)), "")
            found.append((name, "removed", stands))
        elif name not in was:
            found.append((name, "added", ""))
        elif was[name] != now[name]:
            found.append((name, "takes other parameters", ""))
    return found


if __name__ == "__main__":
    now = public_names()
    was = json.loads(RECORDED.read_text(encoding="utf-8"))
    match sys.argv[1:]:
        case ["--compare"]:
            for name, _, _ in changes(was, now):
                print(f"{name}\n  was {was.get(name, 'not there')}\n  now {now.get(name, 'not there')}")
        case ["--write"]:
            with WRITTEN.open("w", encoding="utf-8", newline="") as file:
                write = csv.writer(file, lineterminator="\n").writerows
                write([("name", "from 0.2 to 0.3", "what stands for it"), *changes(was, now)])
        case _:
            print(json.dumps(now, indent=1))
