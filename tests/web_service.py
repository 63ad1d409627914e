"""The explorer's service in this process: a client that knows the token, and the toy vectors behind it."""

import warnings
from contextlib import contextmanager
from unittest.mock import AsyncMock, patch

from publius.web.app import make_app
from publius.web.guards.limits import ServerLimits
from publius.web.state import State
from threads import ended
from toy import sentence

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would rather have a successor of httpx that is not packaged yet
    from starlette.testclient import TestClient

PORT = 8123
TOKEN = "a-token-of-the-tests"
TEXT = sentence(1) + " zebra the " + sentence(2)
OTHER = sentence(3)
CANARY = "zzcanaryzz"


@contextmanager
def service(embeddings, folder, **options):
    """A client of a service on ``embeddings`` that writes below ``folder``; at the end nothing of it computes on.

    What the page would ask for first is not computed ahead: that takes longer than most tests, which ask for less.
    """
    limits = options.pop("limits", ServerLimits())
    state = State(embeddings, releases=folder / "releases", **options)
    app = make_app(state, port=PORT, token=TOKEN, limits=limits)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    base = f"http://127.0.0.1:{PORT}"
    with (
        patch("publius.web.app._Service._prepare", AsyncMock()),
        ended(),
        TestClient(app, base_url=base, headers=headers) as client,
    ):
        yield client


def fault(answer):
    """Status, code and message of an error."""
    error = answer.json()["error"]
    assert set(error) == {"code", "type", "message"}
    return answer.status_code, error["code"], error["message"]
