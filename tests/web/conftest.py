"""The explorer's application on toy vectors, asked in this process."""

import asyncio

import pytest

pytest.importorskip("fastapi", reason="the explorer needs the extra web")
httpx = pytest.importorskip("httpx", reason="asks the application in this process")

TOKEN = "a-token-of-a-test-that-is-long-enough"
PORT = 8765
OURS = {"authorization": f"Bearer {TOKEN}"}


class Client:
    """Requests one after another, each in a loop of its own."""

    def __init__(self, app):
        self._app = app
        self.headers = dict(OURS)

    def get(self, path, **more):
        return self._ask("GET", path, **more)

    def post(self, path, **more):
        return self._ask("POST", path, **more)

    def _ask(self, method, path, headers=None, **more):
        async def asked():
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
            base = f"http://127.0.0.1:{PORT}"
            async with httpx.AsyncClient(transport=transport, base_url=base) as client:
                return await client.request(method, path, headers={**self.headers, **(headers or {})}, **more)

        return asyncio.run(asked())


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "folder"


@pytest.fixture
def client(stored, folder, monkeypatch):
    """Answers with the token; the packaged vectors are not there, so that the toy ones are the first."""
    from publius.embeddings import catalogue
    from publius.web.app import make_app

    monkeypatch.setattr(catalogue, "package_installed", lambda: False)
    folder.mkdir()
    return Client(make_app(folder, port=PORT, token=TOKEN))


@pytest.fixture
def bare(client):
    """The same without the token."""
    client.headers.pop("authorization")
    return client
