"""``publius explore``: the explorer in the browser, and the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from publius.cli import console
from publius.cli.parsing import Help
from publius.errors import UsageError


def explore(
    folder: Annotated[Path, Help("Files and finished releases. Default: this folder.")] = Path(),
    *,
    port: Annotated[int, Help("On 127.0.0.1; 0 takes a free one.")] = 8765,
    token_file: Annotated[Path | None, Help("File with the token, for programs; made if new.")] = None,
    no_browser: Annotated[bool, Help("Print the address and open nothing.")] = False,
) -> None:
    """Open the explorer in the browser, and answer programs, until Ctrl-C.

    It listens on this machine only. The token stands in the printed address, behind #.
    """
    from publius.errors import shown
    from publius.web import server

    if not folder.is_dir():
        raise UsageError(f"no folder {shown(folder)}")

    def started(address: str) -> None:
        console.say(address)
        console.note("Only this machine can open it. Ctrl-C ends it.")
        if not no_browser:
            import threading
            import webbrowser

            threading.Timer(0.5, webbrowser.open, (server.leading_page(address).as_uri(),)).start()

    token = server.token_for(token_file)
    server.serve(server.listening_socket(port), token, folder, started)
