"""Rule 15: who may ask, and that an error tells nothing of a text."""

import json

import pytest

from publius.errors import StorageError, UsageError
from publius.web.guard import LARGEST_BODY
from publius.web.server import listening_socket, token_for

CANARY = "canary-zwxq"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8765.evil.example", "[::1]:8765"]
)
def test_only_our_host_is_answered(client, host):
    assert client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8765", "http://127.0.0.1:1"])
def test_a_page_of_another_origin_is_refused(client, origin):
    assert client.post("/view/word", json={}, headers={"origin": origin}).status_code == 403


def test_our_own_origin_is_answered(client):
    for origin in ("http://127.0.0.1:8765", "http://localhost:8765"):
        assert client.post("/view/word", json={}, headers={"origin": origin}).status_code == 200


@pytest.mark.parametrize("path", ["/view/document", "/start/run", "/v1/label", "/v1/obfuscate", "/v1/explain"])
def test_what_works_needs_the_token(bare, path):
    assert bare.post(path, json={}).status_code == 401
    for wrong in ("", "Bearer", "Bearer x", "Basic a-token-of-a-test-that-is-long-enough"):
        assert bare.post(path, json={}, headers={"authorization": wrong}).status_code == 401
    assert bare.get("/v1/classifiers").status_code == 401
    assert bare.get("/v1/openapi.json").status_code == 401


@pytest.mark.parametrize("path", ["/", "/static/explorer.js", "/static/explorer.css", "/v1/health"])
def test_the_bare_page_needs_none_and_has_every_header(bare, path):
    answer = bare.get(path)
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in answer.headers


def test_a_body_beyond_the_limit_is_refused(client):
    answer = client.post("/v1/obfuscate", content=b" " * (LARGEST_BODY + 1))
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/view/../page", "/view/page", "/nothing"]
)
def test_no_other_path_is_anything(client, path):
    assert client.get(path).status_code in (404, 405)


def test_an_unknown_view_is_not_a_file(client):
    for name in ("page", "controls", "..%2fpage"):
        assert client.post(f"/view/{name}", json={}).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        f'{{"text": "{CANARY}", "epsilon": "{CANARY}"}}',
        f'{{"text": "{CANARY}", "{CANARY}": 1}}',
        f'{{"text": ["{CANARY}"]}}',
        f'{{"text": "{CANARY}"',
        f'"{CANARY}"',
        f'{{"text": "{CANARY}", "mechanism": "python:os:path"}}',
        f'{{"text": "{CANARY}", "stop_words": "file:/etc/passwd"}}',
        f'{{"text": "{CANARY}", "length": 0}}',
    ],
)
def test_an_error_is_one_line_and_holds_no_text(client, body):
    answer = client.post("/v1/obfuscate", content=body, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert CANARY not in answer.text
    assert set(json.loads(answer.text)) == {"error", "exit_code"}
    assert "\n" not in answer.text


def test_a_bug_tells_its_place_alone(client, monkeypatch):
    from publius.web.state import State

    def broken(*given):
        raise RuntimeError(CANARY)

    monkeypatch.setattr(State, "kernel", broken)
    answer = client.post("/v1/obfuscate", json={"text": CANARY})
    assert answer.status_code == 500
    assert CANARY not in answer.text
    assert "RuntimeError at test_guard.py" in answer.json()["error"]


def test_a_token_is_made_for_its_owner_alone_and_read_again(tmp_path):
    path = tmp_path / "token"
    made = token_for(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert token_for(path) == made
    assert len(made) >= 43
    assert token_for(None) != token_for(None)


def test_it_listens_on_loopback_alone():
    with listening_socket(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        with pytest.raises(StorageError, match=r"cannot be used \(Address already in use\)"):
            listening_socket(listener.getsockname()[1])
    for port in (-1, 65536):
        with pytest.raises(UsageError, match="from 0 to 65535"):
            listening_socket(port)
