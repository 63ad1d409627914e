"""``publius explore``: the explorer in the browser, and the service."""

from __future__ import annotations

from pathlib import Path

from publius.cli import console
from publius.errors import UsageError


def explore(
    folder: Path = Path(), *, port: int = 8765, token_file: Path | None = None, no_browser: bool = False
) -> None:
    """Open the explorer in the browser, and answer programs, until Ctrl-C.

    It listens on this machine only. The token stands in the printed address, behind #.

    Args:
        folder: Files and finished releases. Default: this folder.
        port: On 127.0.0.1; 0 takes a free one.
        token_file: File with the token, for programs; made if new.
        no_browser: Print the address and open nothing.
    """
    from publius.files.paths import shown
    from publius.web import server

    if not folder.is_dir():
        raise UsageError(f"no folder {shown(folder)}")

    def started(address: str) -> None:
        console.say(address)
        console.note("Only this machine can open it. Ctrl-C ends it.")
        if not no_browser:
            import threading
            import webbrowser

            threading.Timer(0.5, webbrowser.open, (address,)).start()

    token = server.token_for(token_file)
    server.serve(server.listening_socket(port), token, folder, started)
