"""A real ``publius explore`` process on loopback, for tests from outside."""

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from publius.cli import app  # noqa: F401  # what is started below is what is installed here


@dataclass(frozen=True)
class Explorer:
    """Where it listens, its token, where it writes."""

    port: int
    token: str
    releases: Path
    process: subprocess.Popen

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, timeout=120):
        """(status, JSON)."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        found = answer.status, json.loads(answer.read())
        connection.close()
        return found


@contextmanager
def explorer(folder, *options):
    """Started with ``options``; ended when the block ends."""
    releases = folder / "releases"
    arguments = [
        sys.executable,
        "-m",
        "publius",
        "explore",
        "--no-browser",
        "--output",
        str(releases),
        *options,
    ]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address, token = process.stdout.readline().strip().split("/#token=")
        yield Explorer(int(address.rpartition(":")[2]), token, releases, process)
    finally:
        process.terminate()
        process.communicate(timeout=60)
