"""The command line: thirteen commands. Their list needs no library; a command is parsed by `publius.cli.parsing`."""

from __future__ import annotations

import sys
from typing import Final

from publius import __version__
from publius.errors import PubliusError, place_of

ABOUT: Final = "Release what documents say, or a label for each, or their words, with a proof."
COMMANDS: Final = {
    "Release": {
        "start": ("start:start", "A guided path: look, choose, release, page."),
        "summarize": ("summarize:summarize", "Release what a collection says, each author protected."),
        "label": ("release:label", "Release one randomized label per document."),
        "obfuscate": ("release:obfuscate", "Release the words of each document as noisy bags."),
        "inspect": ("understand:inspect", "Look at a file, or at a release; nothing leaves."),
        "sign": ("release:sign", "Write the page to sign for a release."),
        "verify": ("release:verify", "Check that a release and its page belong together."),
    },
    "Understand": {
        "explain": ("understand:explain", "Explain a promise: of a release, a setting, two texts, a word."),
        "explore": ("understand:explore", "Open the explorer in the browser, and the service."),
    },
    "Measure": {
        "evaluate": ("measure:evaluate", "Attack protected public texts; find an epsilon within limits."),
        "audit": ("measure:audit", "Check this installation, or a mechanism's claim."),
    },
    "Public inputs": {
        "models": ("inputs:models", "Train, import and list classifiers and word vectors."),
        "ledger": ("inputs:ledger", "Make and show privacy budgets."),
    },
}


def overview() -> str:
    """``publius --help``: every command in a line, by what it is for."""
    parts = [f"Usage: publius COMMAND [OPTIONS]\n\n{ABOUT}\n"]
    for title, commands in COMMANDS.items():
        parts.append(f"\n{title}\n" + "".join(f"  {name:<11}{said}\n" for name, (_, said) in commands.items()))
    return (
        "".join(parts) + "\nFirst time? publius start --demo --output demo. Help of a command: publius COMMAND --help\n"
    )


def run(arguments: list[str] | None = None) -> int:
    """Run one command line; the exit code. Errors are one line each on standard error."""
    given = sys.argv[1:] if arguments is None else arguments
    if given in ([], ["--help"], ["-h"]):
        sys.stdout.write(overview())
        return 0
    if given == ["--version"]:
        sys.stdout.write(f"{__version__}\n")
        return 0
    try:
        from publius.cli.parsing import call

        return call(given) or 0
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
