"""Write docs/reference/command-line.md from the commands themselves. ``make pages`` runs it; a test compares."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer import Context
from typer.main import get_command

from publius.cli import app

PAGE = Path(__file__).parents[1] / "reference" / "command-line.md"
_HEAD = """\
# Command line

Made by `docs/makers/manual.py` from what `publius COMMAND --help` says.

Every command takes `--help`. Those with `--json` print one JSON object on standard output and nothing else; messages
go to standard error. Exit codes: 0 done, 2 the call is wrong, 65 an input cannot be accepted, 70 a bug or a failed
check, 74 reading or writing failed, 77 refused by policy or budget.

## Options that are not typed

What is typed comes first, then the environment, then a file, then the default. `--epsilon` is `PUBLIUS_EPSILON` in the
environment, and in a file that is named by `publius --config FILE COMMAND` or `PUBLIUS_CONFIG`:

```toml
[obfuscate]
epsilon = 10
keep = ["topic"]

[ledger.init]
budget = 8000
```

A `publius.toml` that merely lies in the working folder may set conveniences only, such as `workers`: anybody may have
put it there. A command says which options it took. Unknown sections and keys are refused. `--experiment` and `--seed`
are typed always. The `publius.toml` that `publius start` writes has its answers below `[start]`.

`publius -v COMMAND` logs steps, `-vv` is for debugging. `--log-format json` makes every message an object on one line,
with `time`, `level`, `logger` and `message`. No word of a document is logged.

Completion for bash, zsh, fish and PowerShell: `publius --install-completion` for the shell you are in, or
`publius --show-completion` to see what it would install.
"""


def page() -> str:
    """The whole page."""
    top = get_command(app)
    names = "\n".join(f"- [`{path}`](#{_anchor(path)}): {_first(command)}" for path, command in _all(top))
    return "\n".join([_HEAD, names, "", *(_section(path, command) for path, command in _all(top))])


def _all(top: Any) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its whole name, in the order of ``--help``."""
    for name, command in top.commands.items():
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from ((f"publius {name} {inner}", each) for inner, each in command.commands.items())
        else:
            yield f"publius {name}", command


def _section(path: str, command: Any) -> str:
    parameters = command.get_params(Context(command))
    shown = [each for each in parameters if not getattr(each, "hidden", False) and each.name != "help"]
    arguments = [each for each in shown if each.param_type_name == "argument"]
    options = [each for each in shown if each.param_type_name == "option"]
    called = " ".join([path, *(["[OPTIONS]"] if options else []), *map(_argument, arguments)])
    lines = [f"## {path}", "", f"    {called}", "", _plain(command.help or ""), ""]
    if shown:
        lines += ["| | | default |", "|---|---|---|"]
        lines += [
            f"| `{_name(each)}` | {_cell(each)} | {_default(each)} |" for each in (*arguments, *options)
        ]
        lines.append("")
    return "\n".join(lines)


def _argument(parameter: Any) -> str:
    name = parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
    return name if parameter.required else f"[{name}]"


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return _argument(parameter).strip("[]")
    choices = parameter.metavar if (parameter.metavar or "").startswith("[") else ""
    return " ".join(
        [", ".join([*parameter.opts, *parameter.secondary_opts]), *([_bare(choices)] if choices else [])]
    )


def _bare(choices: str) -> str:
    """Without the bars that would end a cell of a table."""
    return choices.replace("|", " or ")


def _cell(parameter: Any) -> str:
    text = _plain(getattr(parameter, "help", None) or "")
    kind = "" if getattr(parameter, "is_flag", False) else _kind(parameter)
    return " ".join(filter(None, [text, kind]))


def _kind(parameter: Any) -> str:
    """The type where it says more than "text", and its range."""
    named = {int: "integer", float: "number"}.get(parameter.type_descriptor.annotation, "")
    span = [f"from {parameter.min:g}"] if parameter.min is not None else []
    span += [f"to {parameter.max:g}"] if parameter.max is not None else []
    return f"({' '.join([named, *span]).strip()})" if named else ""


def _default(parameter: Any) -> str:
    value = parameter.default
    if parameter.required:
        return "required"
    if value is None or value is False or callable(value):
        return ""
    return f"`{value}`"


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")


def _first(command: Any) -> str:
    return _plain((command.help or "").split("\n\n")[0])


def _anchor(path: str) -> str:
    return path.replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
