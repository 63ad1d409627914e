"""What every test stands on: a home of its own, reproducible examples, no network."""

import one_thread  # noqa: F401  # isort: skip
import functools
import os
import socket
import sqlite3

import pytest
from hypothesis import settings

from homes import new_home

settings.register_profile("publius", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("long", settings.get_profile("publius"), max_examples=400)
settings.load_profile("publius")

# No test loses its machine, and a disk takes a tenth of all their time to keep what they write.
os.fsync = os.fstat


class _Connection(sqlite3.Connection):
    def execute(self, sql, *values):
        return super().execute(sql.replace("synchronous = EXTRA", "synchronous = OFF"), *values)


sqlite3.connect = functools.partial(sqlite3.connect, factory=_Connection)


@pytest.fixture(autouse=True)
def home(monkeypatch):
    """No test sees or leaves anything in the user's store."""
    folder = new_home()
    monkeypatch.setenv("PUBLIUS_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def run():
    """A command line in this process: ``run("label", path, "--epsilon", 5)`` -> (exit code, standard output, standard error)."""
    import contextlib
    import io

    from publius.cli import run

    def call(*arguments, stdin=None):
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([str(each) for each in arguments])
        return code, *(each.buffer.getvalue().decode() for each in (out, err))

    return call


@pytest.fixture(scope="session")
def embeddings():
    """60 words in 8 dimensions, neighbours about 2.5 apart."""
    from toy import toy_embeddings

    return toy_embeddings()


@pytest.fixture
def stored(embeddings, home):
    """The name of the same vectors in the store."""
    embeddings.save(home / "embeddings" / "toy")
    return "toy"


@pytest.fixture(autouse=True, scope="session")
def no_network():
    """The suite asks no machine but this one."""
    connect = socket.socket.connect

    def guarded(self, address):
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"a test asked the network for {address[0]}")
        return connect(self, address)

    socket.socket.connect = guarded
    yield
    socket.socket.connect = connect
