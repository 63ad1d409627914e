"""The command line: thirteen commands, each parsed here and run in the room it belongs to."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Final

from cyclopts import App, CycloptsError, Group, Parameter

from publius.errors import PubliusError, place_of

_STANDARD: Final = "\N{SYMBOL FOR NULL}"  # what "-" is while the line is parsed: cyclopts takes it for an option
RELEASE, UNDERSTAND, MEASURE, PUBLIC = (
    Group(name, sort_key=place) for place, name in enumerate(("Release", "Understand", "Measure", "Public inputs"))
)
COMMANDS: Final = {
    "start": (RELEASE, "start:start", "A guided path: look, choose, release, page."),
    "summarize": (RELEASE, "summarize:summarize", "Release what a collection says, each author protected."),
    "label": (RELEASE, "label:label", "Release one randomized label per document."),
    "obfuscate": (RELEASE, "obfuscate:obfuscate", "Release the words of each document as noisy bags."),
    "inspect": (RELEASE, "inspect:inspect", "Look at a file, or at a release; nothing leaves."),
    "sign": (RELEASE, "sign:sign", "Write the page to sign for a release."),
    "verify": (RELEASE, "sign:verify", "Check that a release and its page belong together."),
    "explain": (UNDERSTAND, "explain:explain", "Explain a promise: of a release, a setting, two texts, a word."),
    "explore": (UNDERSTAND, "explore:explore", "Open the explorer in the browser, and the service."),
    "evaluate": (MEASURE, "evaluate:evaluate", "Attack protected public texts; find an epsilon within limits."),
    "audit": (MEASURE, "audit:audit", "Check this installation, or a mechanism's claim."),
    "models": (PUBLIC, "models:app", "Train, import and list classifiers and word vectors."),
    "ledger": (PUBLIC, "ledger:app", "Make and show privacy budgets."),
}


def _standard(_kind: Any, tokens: Any) -> str:
    return str(tokens[0].value).replace(_STANDARD, "-")


File = Annotated[str, Parameter(converter=_standard)]
"""A path, or - for standard input or output."""


def flat(name: str) -> Parameter:
    """The marker with which a command takes a class of `publius.settings` as options of its own."""
    return Parameter(name="*", group=Group(name))


def new_app(**facts: Any) -> App:
    """An `App` with the house's conventions: no negative flags, plain help."""
    return App(default_parameter=Parameter(negative=()), help_format="plaintext", version_flags=(), **facts)


def make_app() -> App:
    """The whole command line."""
    app = new_app(name="publius", help="Release what documents say, or a label for each, or their words, with a proof.")
    app.version_flags = ("--version",)
    app.version = _version
    for name, (group, home, summary) in COMMANDS.items():
        app.command(f"publius.cli.{home}", name=name, group=group, help=summary)
    return app


def _version() -> str:
    from publius import __version__

    return __version__


def run(arguments: list[str] | None = None) -> int:
    """Run one command line; the exit code. Errors are one line each on standard error."""
    tokens = [_STANDARD if each == "-" else each for each in (sys.argv[1:] if arguments is None else arguments)]
    app = make_app()
    try:
        answer = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        return answer if isinstance(answer, int) and not isinstance(answer, bool) else 0
    except CycloptsError as error:
        return _failed(f"{error}".strip().replace(_STANDARD, "-") + " See --help.", 2)
    except PubliusError as error:
        return _failed(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _failed("stopped", 130)
    except BrokenPipeError:
        return 0
    except MemoryError:
        return _failed("not enough memory: use fewer --workers", 74)
    except OSError as error:
        return _failed(f"{error.strerror or 'reading or writing failed'} ({place_of(error)})", 74)
    except Exception as error:  # a bug: its message may hold a text, so only type and place are said
        return _failed(f"a bug in Publius: {place_of(error)}. Please report this line.", 70)


def _failed(message: str, code: int) -> int:
    from publius.cli.console import printable

    sys.stderr.write(f"publius: {printable(message)}\n")
    return code


def main() -> None:
    """Run the command line and end the process."""
    sys.exit(run())
