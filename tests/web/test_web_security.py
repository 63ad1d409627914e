"""Who is let in, what a body may be, and what every answer carries."""

import pytest

from publius.web.guards.limits import ServerLimits
from publius.web.guards.security import Guard
from web_service import CANARY, PORT, TOKEN, fault, service

HOST = f"127.0.0.1:{PORT}"


@pytest.fixture(scope="module")
def client(embeddings, tmp_path_factory):
    with service(embeddings, tmp_path_factory.mktemp("web"), limits=ServerLimits(body_bytes=2000)) as client:
        yield client


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "localhost", f"127.0.0.1:{PORT + 1}", f"127.1:{PORT}",
     f"[::1]:{PORT}", f"LOCALHOST.:{PORT}", f"localhost.evil.example:{PORT}", ""],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/v1/session", "/health", "/static/index.html", "/report/x"])
def test_other_hosts_are_refused(client, host, path):
    assert fault(client.get(path, headers={"Host": host}))[:2] == (421, 77)


def test_both_names_of_this_machine_are_served(client):
    for host in (HOST, f"localhost:{PORT}"):
        assert client.get("/v1/session", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        f"https://{HOST}",
        f"http://127.0.0.1:{PORT + 1}",
        "http://127.0.0.1",
        "",
    ],
)
def test_other_origins_are_refused(client, origin):
    assert fault(client.get("/v1/session", headers={"Origin": origin}))[:2] == (403, 77)
    assert fault(client.get("/", headers={"Origin": origin}))[0] == 403


def test_our_own_origin_is_served(client):
    assert client.get("/v1/session", headers={"Origin": f"http://{HOST}"}).status_code == 200


def test_the_usual_port_is_left_out_by_browsers():
    scope = {"type": "http", "http_version": "1.1", "path": "/", "headers": [(b"host", b"localhost")]}
    assert Guard(None, port=80, token=TOKEN)._refusal(scope) is None
    assert Guard(None, port=81, token=TOKEN)._refusal(scope).status_code == 421


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"bearer {TOKEN}", TOKEN,
               f"Basic {TOKEN}", f"Bearer  {TOKEN}"],
)  # fmt: skip
def test_a_wrong_token_is_refused(client, header):
    found = client.get("/v1/session", headers={"Authorization": header})
    assert fault(found)[:2] == (401, 77)
    assert TOKEN not in found.text


def test_long_headers_are_refused(client):
    assert fault(client.get("/v1/session", headers={"X-Padding": "a" * 17_000}))[:2] == (431, 2)


def test_the_token_is_needed_before_an_address_is_known(client):
    for path in ("/v1/openapi.json", "/v1/nothing", "/docs", "/openapi.json", "/static", "/v1/health"):
        assert client.get(path, headers={"Authorization": ""}).status_code == 401


def test_no_token_in_the_query_or_a_cookie(client):
    assert client.get(f"/v1/session?token={TOKEN}", headers={"Authorization": ""}).status_code == 401
    found = client.get("/v1/session", headers={"Authorization": "", "Cookie": f"token={TOKEN}"})
    assert found.status_code == 401


@pytest.mark.parametrize(
    ("path", "status"), [("/", 200), ("/v1/session", 200), ("/nothing", 404), ("/v1/draw", 405)]
)
def test_every_answer_is_strict(client, path, status):
    found = client.get(path)
    assert found.status_code == status
    policy = found.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert found.headers["cache-control"] == "no-store"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["referrer-policy"] == "no-referrer"
    assert found.headers["cross-origin-opener-policy"] == "same-origin"
    assert not [name for name in found.headers if name.startswith("access-control")]
    assert "set-cookie" not in found.headers


def test_preflights_get_no_leave(client):
    headers = {"Origin": f"http://{HOST}", "Access-Control-Request-Method": "POST"}
    found = client.options("/v1/draw", headers=headers)
    assert found.status_code == 405
    assert not [name for name in found.headers if name.startswith("access-control")]


def test_a_body_beyond_the_cap_is_refused(client):
    assert fault(client.post("/v1/tokens", json={"text": "a" * 3000}))[:2] == (413, 2)


def test_a_chunked_body_beyond_the_cap_is_refused(client):
    read = []

    def chunks():
        for part in range(1000):
            read.append(part)
            yield b"a" * 500

    headers = {"Content-Type": "application/json"}
    assert fault(client.post("/v1/tokens", content=chunks(), headers=headers))[:2] == (413, 2)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_only_json_is_read(client, kind):
    found = client.post("/v1/tokens", content=b'{"text": "a"}', headers={"Content-Type": kind})
    assert fault(found)[:2] == (415, 2)


@pytest.mark.parametrize("path", ["..%2fapp.py", "%2e%2e/app.py", "app.py", "index.html%00", "INDEX.HTML",
                                  "%2fetc%2fpasswd"])  # fmt: skip
def test_only_listed_files_are_served(client, path):
    assert client.get(f"/static/{path}").status_code in (401, 404)


def test_a_slow_body_is_cut_off(embeddings, tmp_path):
    import anyio

    from publius.web.guards.body import LimitedBody

    async def never():
        await anyio.sleep(60)

    async def scenario():
        sent = []

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/",
            "headers": [(b"content-type", b"application/json")],
        }
        await LimitedBody(None, ServerLimits(body_seconds=0.05))(scope, never, send)
        return sent[0]

    assert anyio.run(scenario)["status"] == 408


@pytest.mark.parametrize(
    "body",
    [f'{{"text": "{CANARY}"', f'{{"text": ["{CANARY}"]}}', f'{{"{CANARY} wrote": 1}}', f'["{CANARY}"]', f'"{CANARY}"',
     f'{{"text": "a", "mechanism": "{CANARY}"}}', f'{{"text": "a", "metric": "{CANARY}"}}',
     f'{{"text": "a", "epsilon": "{CANARY}"}}', f'{{"text": "{CANARY}", "length": 0}}',
     f'{{"text": "{CANARY}", "epsilon": -1}}', f'{{"text": "{CANARY}", "epsilon": NaN}}',
     f'{{"text": "{CANARY}", "epsilon": Infinity}}', f'{{"text": "{CANARY}", "epsilon": 1e999}}',
     f'{{"text": "{CANARY} \\ud800"}}', f'{{"text": "{CANARY}", "unknown": "reject"}}',
     f'{{"text": "{CANARY}", "unknown": "drop"}}', f'{{"text": "{CANARY}", "unknown": "keep"}}',
     f'{{"text": "{CANARY}", "epsilon": 1e-320}}', f'{{"text": "{CANARY}", "epsilon": 1e308}}'],
)  # fmt: skip
@pytest.mark.parametrize("path", ["draw", "tokens", "curve"])
def test_no_error_holds_what_was_sent(client, path, body, capfd, caplog):
    found = client.post(f"/v1/{path}", content=body.encode(), headers={"Content-Type": "application/json"})
    assert found.status_code in (200, 400, 422)
    if found.status_code != 200:
        assert fault(found)[1] in (2, 65)
        assert CANARY not in found.text
    out, err = capfd.readouterr()
    assert CANARY not in out + err + caplog.text


FIELDS = {
    "obfuscate": ["documents", "mechanism"], "release": ["text", "stop_words", "other"], "account": ["metric", "x y"],
    "guarantee": ["distance", "releases"], "words": ["word", "count"], "distance": ["a", "b", "unknown"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "field"), [(path, field) for path, fields in FIELDS.items() for field in fields]
)
def test_no_other_error_holds_what_was_sent(client, path, field, capfd, caplog):
    text = f"{CANARY} {CANARY}"
    one = {"id": "a", "text": text}
    good = {"obfuscate": {"documents": [one]}, "release": one, "account": {"id": "a"}, "guarantee": {},
            "words": {"word": text}, "distance": {"a": text, "b": text}}  # fmt: skip
    for value in (text, [text], {CANARY: text}, None):
        found = client.post(
            f"/v1/{path}", json={**good[path], "unknown": "reject", field: value, "length": 5}
        )
        if found.status_code != 200:
            assert fault(found)[1] in (2, 65)
            assert CANARY not in found.text
    out, err = capfd.readouterr()
    assert CANARY not in out + err + caplog.text


def test_deep_nesting_is_refused(client):
    body = b'{"text": ' + b"[" * 900 + b"]" * 900 + b"}"
    found = client.post("/v1/tokens", content=body, headers={"Content-Type": "application/json"})
    assert found.status_code == 400


def test_a_bug_shows_type_and_place_only(client, monkeypatch, capfd, caplog):
    def broken(*arguments, **named):
        raise ValueError(CANARY)

    monkeypatch.setattr("publius.web.state.words_of", broken)
    status, code, message = fault(client.post("/v1/draw", json={"text": CANARY}))
    assert (status, code) == (500, 70)
    assert "ValueError at test_web_security.py" in message
    out, err = capfd.readouterr()
    assert CANARY not in message + out + err + caplog.text


def test_a_bug_in_the_framework_is_answered_too(client, monkeypatch, capfd, caplog):
    def broken(*arguments, **named):
        raise RuntimeError(CANARY)

    monkeypatch.setattr("publius.web.app.Json", broken)
    status, code, message = fault(client.get("/health"))
    assert (status, code) == (500, 70)
    out, err = capfd.readouterr()
    assert CANARY not in message + out + err + caplog.text


@pytest.mark.parametrize("length", [b"0" * 5000 + b"9", b"9" * 5000, b"-1", b"1e3", b""])
def test_a_length_that_is_no_size_is_refused_or_read(length):
    """Python refuses to read a number of thousands of digits: that must not become a bug's answer."""
    from publius.web.guards.body import LimitedBody

    headers = [(b"content-length", length), (b"content-type", b"application/json")]
    refusal = LimitedBody(None, ServerLimits())._refusal({"headers": headers})
    assert (refusal is None) == (length.strip(b"0") in (b"9", b""))
