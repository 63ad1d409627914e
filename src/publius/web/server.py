"""Serve the explorer on loopback until a signal."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from publius.errors import StorageError, UsageError, extra, shown
from publius.files.writing import write_file

_MINUTE: Final = 60.0  # seconds that a browser has to open its first page


def token_for(path: Path | None) -> str:
    """256 bits of the operating system's entropy as a word, or the token that a file for its owner alone holds."""
    made = secrets.token_urlsafe(32)
    if path is None:
        return made
    if not path.exists():
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(made + "\n")
        return made
    with path.open(encoding="utf-8") as file:
        state, held = os.fstat(file.fileno()), file.read().strip()
    if state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise StorageError(f"{shown(path)} can be read by others, or is theirs: remove it, and a new one is made")
    if len(held) < 32:
        raise StorageError(f"{shown(path)} holds no token: remove it, and a new one is made")
    return held


def listening_socket(port: int) -> socket.socket:
    """At 127.0.0.1:``port``, or a free port for 0; `StorageError` when it is taken or not allowed."""
    if not 0 <= port <= 65535:
        raise UsageError(f"--port is a number from 0 to 65535, not {port}")
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise StorageError(f"port {port} cannot be used ({why}): give another --port") from None


def leading_page(address: str) -> Path:
    """A file for its owner alone that leads a browser to ``address``: what a browser is started with, everybody can list.

    It lies in the home, where confined browsers may read, and goes after a minute, or when the service ends before.
    """
    home = os.path.expanduser("~")
    folder = TemporaryDirectory(prefix="publius-explore-", dir=home if os.access(home, os.W_OK) else None)
    page = Path(folder.name, "open.html")
    with write_file(page, 0o600) as file:
        file.write(f'<meta http-equiv="refresh" content="0;url={escape(address)}">'.encode())
    later = threading.Timer(_MINUTE, folder.cleanup)
    later.daemon = True
    later.start()
    return page


def serve(listener: socket.socket, token: str, folder: Path, started: Callable[[str], None]) -> None:
    """Serve until a signal; ``started`` is called with the address once requests are answered."""
    with extra("web", "fastapi"):
        import uvicorn

        from publius.web.app import make_app

    port = listener.getsockname()[1]
    config = uvicorn.Config(
        make_app(folder, port=port, token=token), log_level="critical", access_log=False, lifespan="off",
        server_header=False, timeout_keep_alive=5, timeout_graceful_shutdown=3, limit_concurrency=64, ws="none",
    )  # fmt: skip
    server = uvicorn.Server(config)
    for each in (signal.SIGTERM, signal.SIGHUP):  # else nothing would remove the leading page
        signal.signal(each, lambda number, _: sys.exit(128 + number))
    started(f"http://127.0.0.1:{port}/#{token}")
    server.run(sockets=[listener])
