"""The command, the lanes, the reports, the browser's private page."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from publius.cli import explore as command
from publius.errors import DataError, PolicyError, StorageError, UsageError
from publius.files import remove_leftovers
from publius.web.front import STATIC, Later, Pages
from publius.web.guards.limits import ServerLimits
from publius.web.guards.lingering import LingeringTransport
from publius.web.guards.security import SafeAnswers
from publius.web.mechanism_cache import Cache, MechanismCache
from publius.web.queues import BusyError, Lane
from publius.web.reports import Reports
from publius.web.server import kept_token, listening_socket, new_token
from publius.web.workplace import Workplace
from toy import sentence
from web_service import fault, service

# Lanes ----------------------------------------------------------------------------------------------------------


def test_a_lane_runs_so_many_at_once():
    running, most = [], []
    two = threading.Barrier(2, timeout=600)  # each waits until another is there, too

    def work():
        running.append(1)
        most.append(len(running))
        two.wait()
        running.pop()

    async def scenario():
        lane = Lane(2, ServerLimits())
        await asyncio.gather(*(lane.run(work) for _ in range(20)))

    asyncio.run(scenario())
    assert max(most) == 2
    assert len(most) == 20


def test_a_view_that_ends_an_iteration_keeps_nobody_waiting():
    """A future holds no StopIteration: the one who asked, and all after him, would wait for ever."""

    async def scenario():
        lane = Lane(1, ServerLimits(waiting_seconds=5))
        with pytest.raises(RuntimeError, match="an iteration ended"):
            await asyncio.wait_for(lane.run(next, iter(())), 600)
        return await asyncio.wait_for(lane.run(abs, -7), 600)

    assert asyncio.run(scenario()) == 7


def test_a_full_queue_is_refused():
    gate = threading.Event()

    async def scenario():
        lane = Lane(1, ServerLimits(waiting=2, waiting_seconds=5))
        calls = [asyncio.create_task(lane.run(gate.wait)) for _ in range(4)]
        await asyncio.sleep(0.05)
        gate.set()
        return await asyncio.gather(*calls, return_exceptions=True)

    found = asyncio.run(scenario())
    assert sum(isinstance(each, BusyError) for each in found) >= 1
    assert found[0] is True


def test_a_turn_that_does_not_come_is_refused():
    gate = threading.Event()

    async def scenario():
        lane = Lane(1, ServerLimits(waiting_seconds=0.05))
        first = asyncio.create_task(lane.run(gate.wait))
        await asyncio.sleep(0.01)
        with pytest.raises(BusyError, match="too long"):
            await lane.run(print)
        gate.set()
        await first

    asyncio.run(scenario())


def test_an_error_that_nobody_waits_for_is_not_logged(caplog):
    async def scenario():
        lane = Lane(1, ServerLimits())
        call = asyncio.create_task(lane.run(lambda: time.sleep(0.05) or 1 / 0))
        await asyncio.sleep(0.01)
        call.cancel()
        await asyncio.sleep(0.15)

    asyncio.run(scenario())
    assert "ZeroDivision" not in caplog.text


# Mechanisms -----------------------------------------------------------------------------------------------------


def test_mechanisms_are_kept_and_made_once(embeddings):
    kept = MechanismCache(embeddings)
    found = []
    threads = [threading.Thread(target=lambda: found.append(kept.get("exponential", 1.5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1
    assert kept.is_ready("exponential", 1.5, "euclidean")
    assert not kept.is_ready("exponential", 1.6, "euclidean")
    assert kept.is_ready("laplace", 9.9, "manhattan")
    assert kept.get("laplace", 2.0).search is kept.get("laplace", 3.0).search


def test_only_so_many_are_kept(embeddings):
    kept = MechanismCache(embeddings)
    for number in range(30):
        kept.get("vickrey", 1.0 + number)
    assert len(kept._quick) == 8
    assert kept.is_ready("vickrey", 30.0, "euclidean")
    few = Cache(2)
    for key in ("a", "b", "a", "c"):
        few.get((key,), list)
    assert [(key,) in few for key in "abc"] == [True, False, True]


def test_what_takes_too_long_is_not_offered(embeddings):
    class Large:
        size, dimension = 400_000, 50

    kept = MechanismCache(Large())
    assert kept.unsuitable("laplace") is None
    assert kept.unsuitable("vickrey") is None
    assert "takes too long" in kept.unsuitable("exponential")
    assert "takes too long" in kept.unsuitable("projected-laplace")
    with pytest.raises(UsageError, match="not offered"):
        kept.get("tight", 1.0)


# Reports --------------------------------------------------------------------------------------------------------


@pytest.fixture
def result(tmp_path):
    folder = tmp_path / "result"
    folder.mkdir()
    (folder / "rows.jsonl").write_text('{"mechanism": "laplace", "accuracy": 0.5}\n')
    (folder / "report.html").write_text("<!doctype html><style>p{color:red}</style><p>Report</p>")
    return folder


def test_a_report_is_shown_once_in_a_sandbox(embeddings, tmp_path, result):
    with service(embeddings, tmp_path, reports=[result]) as client:
        assert client.get("/v1/session").json()["reports"] == [{"id": "1", "title": "result"}]
        rows = client.get("/v1/reports/1").json()
        assert rows["rows"] == [{"mechanism": "laplace", "accuracy": 0.5}]
        address = client.post("/v1/reports/1/ticket", json={}).json()["address"]
        page = client.get(address, headers={"Authorization": ""})
        assert "Report" in page.text
        assert "sandbox" in page.headers["content-security-policy"]
        assert "script-src" not in page.headers["content-security-policy"]
        assert client.get(address).status_code == 404
        assert fault(client.get("/v1/reports/2"))[:2] == (400, 2)


def test_a_ticket_ends(result, monkeypatch):
    reports = Reports([result])
    address = reports.ticket("1")
    later = time.monotonic() + 61
    monkeypatch.setattr("publius.web.reports.time.monotonic", lambda: later)
    assert reports.page(address.removeprefix("/report/")) is None


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no result of an evaluation"):
        Reports([tmp_path])


# The command ----------------------------------------------------------------------------------------------------


def test_tokens_differ_and_are_long():
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) == 43


def test_a_port_that_is_taken_is_an_error():
    with listening_socket(0) as first:
        first.listen()
        with pytest.raises(StorageError, match="--port"):
            listening_socket(first.getsockname()[1])


def test_the_browser_gets_the_address_by_a_private_file(tmp_path, monkeypatch):
    opened = threading.Event()
    seen = []
    monkeypatch.setattr("webbrowser.open", lambda address: (seen.append(address), opened.set()))
    command._open("http://127.0.0.1:1/#token=secret", tmp_path)
    assert opened.wait(600)
    assert "secret" not in seen[0]
    page = tmp_path / "publius.html"
    assert page.stat().st_mode & 0o077 == 0
    assert "#token=secret" in page.read_text()


@contextmanager
def explorer_of(embeddings, home, *more):
    """A real process: (its address, its token, the process)."""
    if not (home / "embeddings" / "toy").exists():
        embeddings.save(home / "embeddings" / "toy")
    arguments = ["explore", "--no-browser", "--embeddings", "toy", "--output", str(home / "releases"), *more]
    process = subprocess.Popen(
        [sys.executable, "-m", "publius", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PUBLIUS_HOME": str(home), "TMPDIR": str(home)},
    )  # fmt: skip
    address, token = process.stdout.readline().strip().split("/#token=")
    try:
        yield address, token, process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def running(embeddings, tmp_path):
    """One that a test may end."""
    with explorer_of(embeddings, tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def serving(embeddings, tmp_path_factory):
    """One for all tests that only ask: its address and its token."""
    with explorer_of(embeddings, tmp_path_factory.mktemp("serving")) as found:
        yield found[:2]


def test_the_command_serves_until_interrupted_and_says_nothing(running, tmp_path):
    address, token, process = running
    body = json.dumps({"id": "a", "text": sentence(1), "length": 10}).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{address}/v1/release", body, headers)) as answer:
        folder = Path(json.load(answer)["folder"])
    assert (folder / "manifest.json").is_file()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize(
    "signals",
    [["SIGHUP"], pytest.param(["SIGINT", "SIGINT"], marks=pytest.mark.long)],
    ids=["its terminal closes", "interrupted twice"],
)
def test_whatever_ends_it_no_text_that_was_given_stays_on_the_disk(embeddings, tmp_path, signals):
    """While somebody still sends a file: the second interrupt does not wait for him."""
    with explorer_of(embeddings, tmp_path) as (address, token, process):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}
        place = f"{address}/v1/start/files?role=texts&name=a.csv"
        given = urllib.request.Request(place, b"text,author\nx,y\n", headers)
        with urllib.request.urlopen(given) as answer:
            assert answer.status == 200
        assert [*tmp_path.rglob("*.csv")]
        with ExitStack() as held:
            if len(signals) > 1:
                port = int(address.rpartition(":")[2])
                sending = held.enter_context(socket.create_connection(("127.0.0.1", port)))
                head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
                sending.sendall(
                    f"POST /v1/start/files?role=older&name=b.csv HTTP/1.1\r\nHost: {address[7:]}\r\n{head}"
                    "Content-Length: 9\r\n\r\nx".encode()
                )
                while len([*tmp_path.rglob("*.csv")]) < 2:
                    time.sleep(0.05)
            for number, name in enumerate(signals):
                while number and _answers(address):  # two signals that arrive at once are one
                    time.sleep(0.05)
                process.send_signal(getattr(signal, name))
            process.communicate(timeout=100)
    assert [*tmp_path.glob(".publius-*"), *tmp_path.rglob("*.csv")] == []


def _answers(address):
    with suppress(OSError), socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))):
        return True
    return False


def test_a_token_that_is_kept_is_the_same_at_every_start_and_never_printed(embeddings, tmp_path):
    path = tmp_path / "token"
    for _ in range(2):
        with explorer_of(embeddings, tmp_path, "--token-file", str(path)) as (address, told, process):
            token = path.read_text().strip()
            headers = {"Authorization": f"Bearer {token}"}
            asked = urllib.request.Request(f"{address}/v1/session", headers=headers)
            with urllib.request.urlopen(asked) as answer:
                assert answer.status == 200
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=600)
            assert token not in told + out + err
            assert str(path) in told
    assert path.stat().st_mode & 0o777 == 0o600
    assert kept_token(path) == token


def test_a_kept_token_is_its_owners_alone_and_long_enough(tmp_path):
    path = tmp_path / "token"
    made = kept_token(path)
    assert kept_token(path) == made
    for mode in (0o640, 0o604, 0o620):
        path.chmod(mode)
        with pytest.raises(PolicyError, match="others may read or change"):
            kept_token(path)
    path.chmod(0o600)
    for content in ("", "short", "x" * 201, f"{'x' * 42} y", "\udcff" * 50):
        path.write_text(content, errors="surrogateescape")
        with pytest.raises(DataError, match="holds no token") as refused:
            kept_token(path)
        assert content == "" or content not in str(refused.value)


def test_no_token_of_somebody_else_is_taken(tmp_path, monkeypatch):
    """Whoever made the file knows the token, whatever its mode says: root may read every file."""
    path = tmp_path / "token"
    kept_token(path)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(PolicyError, match="belongs to somebody else"):
        kept_token(path)


def test_what_a_killed_explorer_left_is_removed_by_the_next_and_said(stored, tmp_path):
    temporary, releases = tmp_path / "temporary", tmp_path / "releases"
    temporary.mkdir()
    call = [
        sys.executable,
        "-m",
        "publius",
        "explore",
        "--no-browser",
        "--embeddings",
        stored,
        "--output",
        str(releases),
    ]
    environment = {**os.environ, "TMPDIR": str(temporary)}

    def explorer():
        return subprocess.Popen(
            call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    with explorer() as first:
        address, token = first.stdout.readline().strip().split("/#token=")
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}
        given = urllib.request.Request(
            f"{address}/v1/start/files?role=texts&name=a.txt", b"canary", headers, method="POST"
        )
        with urllib.request.urlopen(given) as answer:
            assert answer.status == 200
        first.kill()
    texts = [path for path in temporary.rglob("*") if path.is_file() and path.read_bytes() == b"canary"]
    assert len(texts) == 1  # what is to be removed is there
    assert {path.stat().st_mode & 0o777 for path in temporary.iterdir()} == {0o700}
    left = sorted(temporary.iterdir())
    with explorer() as second:
        second.stdout.readline()
        second.send_signal(signal.SIGINT)
        _, said = second.communicate(timeout=600)
    assert list(temporary.iterdir()) == []
    assert said.splitlines() == [
        f"publius: removed '{each}', which an explorer or a run that was killed left behind" for each in left
    ]


def test_two_explorers_leave_each_others_folders_alone(stored, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = Workplace()
    held = place.folder
    assert remove_leftovers(tmp_path / "new") == []
    assert held.is_dir()
    place.close()
    assert list(tmp_path.iterdir()) == []


def test_a_release_that_was_begun_is_finished_when_interrupted(running):
    address, token, process = running
    host, port = address.removeprefix("http://").split(":")
    documents = [{"id": f"d{i}", "text": sentence(i)} for i in range(20)]
    body = json.dumps({"documents": documents, "length": 20_000}).encode()
    head = [f"Host: {host}:{port}", f"Authorization: Bearer {token}", f"Content-Length: {len(body)}",
            "Content-Type: application/json", "Expect: 100-continue"]  # fmt: skip
    with socket.create_connection((host, int(port)), timeout=600) as connection:
        connection.sendall("\r\n".join(["POST /v1/obfuscate HTTP/1.1", *head, "", ""]).encode())
        answer = connection.makefile("rb")
        assert answer.readline().startswith(b"HTTP/1.1 100")  # it has begun
        assert answer.readline() == b"\r\n"
        connection.sendall(body)
        process.send_signal(signal.SIGINT)
        assert answer.readline().startswith(b"HTTP/1.1 200")
        while answer.readline() != b"\r\n":
            pass
        assert len(json.loads(answer.read())["releases"]) == 20
        answer.close()  # else it would be waited for
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_process_without_the_extra_says_which_one():
    code = "import sys; sys.modules['fastapi'] = None; sys.argv[1:] = ['explore']; from publius.cli import main; main()"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 2
    assert "pip install 'publius[web]'" in found.stderr


def raw(address, request, pause=0.0, slow=0):
    """Everything that comes back before the end, to a client that sends all of ``request`` before it reads."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=600) as connection:
        for start in range(0, len(request), slow or len(request)):
            connection.sendall(request[start : start + (slow or len(request))])
            time.sleep(pause)
        time.sleep(pause)
        found = bytearray()
        while part := connection.recv(2**16):
            found += part
        return bytes(found)


EARLY = {
    "a body of 9 MB": (413, {"Content-Length": 9 * 2**20}, b"x" * (9 * 2**20)),
    "a body of 40 MB": (413, {"Content-Length": 40 * 2**20}, b"x" * (40 * 2**20)),
    "9 MB in chunks": (413, {"Transfer-Encoding": "chunked"}, b"10000\r\n" + b"x" * 0x10000 + b"\r\n"),
    "a wrong token": (401, {"Content-Length": 5 * 2**20, "Authorization": "Bearer x"}, b"x" * (5 * 2**20)),
    "another host": (421, {"Content-Length": 5 * 2**20, "Host": "evil.example"}, b"x" * (5 * 2**20)),
    "no JSON": (415, {"Content-Length": 5 * 2**20, "Content-Type": "text/plain"}, b"x" * (5 * 2**20)),
    "chunks that are none": (400, {"Transfer-Encoding": "chunked"}, b"zz\r\n" + b"x" * (5 * 2**20)),
    "a head without end": (400, {"X-Long": "x" * (2 * 2**20)}, b""),
}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.long] * (case == "a body of 40 MB")) for case in EARLY]
)
def test_every_early_answer_can_be_read(serving, case):
    """By a client that sends its whole body before it looks: the connection is not reset under the answer."""
    address, token = serving
    status, changes, body = EARLY[case]
    if case == "9 MB in chunks":
        body = body * 150 + b"0\r\n\r\n"
    fields = {"Host": address.removeprefix("http://"), "Authorization": f"Bearer {token}",
              "Content-Type": "application/json", **changes}  # fmt: skip
    head = "POST /v1/tokens HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    for _ in range(5):
        answer = raw(address, head.encode() + b"\r\n" + body, pause=0.02)
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert b"\r\n\r\n" in answer
    if status == 413:
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == 2


def test_a_connection_serves_many_requests_and_ends_after_an_early_answer(serving):
    address, token = serving
    host = address.removeprefix("http://")
    connection = HTTPConnection(host, timeout=600)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.connect()
    first = connection.sock
    for number in range(3):
        connection.request("POST", "/v1/tokens", json.dumps({"text": sentence(number)}), headers)
        assert json.loads(connection.getresponse().read())["counts"]
        assert connection.sock is first
    connection.request("POST", "/v1/tokens", b"x" * (9 * 2**20), headers)
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("connection")) == (413, "close")
    answer.read()
    connection.request("POST", "/v1/tokens", json.dumps({"text": sentence(1)}), headers)  # a new connection
    last = connection.getresponse()
    assert (last.status, last.read()[:1]) == (200, b"{")
    connection.close()


def test_two_requests_sent_at_once_are_both_answered(serving):
    address, token = serving
    body = json.dumps({"text": sentence(1)})
    one = (
        f"POST /v1/tokens HTTP/1.1\r\nHost: {address.removeprefix('http://')}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    )
    answers = raw(address, f"{one}\r\n{body}{one}Connection: close\r\n\r\n{body}".encode())
    assert answers.count(b"HTTP/1.1 200 ") == 2


def test_what_is_thrown_away_is_limited():
    """In bytes and in time: nobody keeps a connection by sending on."""

    class Wire:
        closed = aborted = unread = 0

        def abort(self):
            self.aborted += 1

        def get_write_buffer_size(self):
            return self.unread

        def is_closing(self):
            return bool(self.closed)

        def close(self):
            self.closed += 1

        def write_eof(self): ...

        def resume_reading(self): ...

    async def scenario():
        wire, ended = Wire(), []
        transport = LingeringTransport(wire, ServerLimits(drained_bytes=10), lambda: ended.append(1))
        transport.close()
        transport.close()
        transport.throw_away(b"x" * 10)
        assert (wire.closed, transport.is_closing(), ended) == (0, True, [1])
        transport.throw_away(b"x")
        assert wire.closed == 1
        slow = Wire()
        LingeringTransport(slow, ServerLimits(drained_seconds=0.01), lambda: None).close()
        deaf = Wire()
        deaf.unread = 7
        LingeringTransport(deaf, ServerLimits(drained_seconds=0.01), lambda: None).close()
        await asyncio.sleep(0.2)
        assert (slow.closed, slow.aborted, deaf.aborted) == (1, 0, 1)

    asyncio.run(scenario())


def test_the_page_waits_for_no_library_that_it_does_not_use():
    """And nobody whom the environment names is told of requests."""
    code = (
        "import os, sys; os.environ['OTEL_EXPORTER_OTLP_ENDPOINT'] = 'http://127.0.0.1:9'\n"
        "from publius.web import app\n"
        "from unittest.mock import MagicMock\n"
        "found = app.application(MagicMock(), app.ServerLimits(), MagicMock())\n"
        "told = getattr(found, '_telemetry', {})\n"
        "print(len(found.routes), sorted(name for name in app._NOTHING_LEAVES if told.get(name)), *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    routes, told, *loaded = done.stdout.split()
    assert int(routes) > 1
    assert told == "[]"
    assert not {"pydantic.v1", "publius.releases.summaries.run", "scipy", "sklearn", "onnxruntime"} & {
        *loaded
    }


def test_the_page_is_there_before_what_computes_and_the_rest_waits_for_it():
    """Until the application is made the page and its files are answered; then what was asked for meanwhile, too."""
    gate, asked = threading.Event(), ("/", "/static/main.js", "/health")

    def make():
        gate.wait()
        return answering(b"made")

    async def scenario():
        async with living(Later(make, lambda: None)) as app:
            early = [asyncio.create_task(got(app, path)) for path in asked]
            try:
                page, script = [await asyncio.wait_for(each, 600) for each in early[:2]]
                waited = not early[2].done()
            finally:
                gate.set()
            return page, script, waited, await asyncio.wait_for(early[2], 600)

    page, script, waited, late = asyncio.run(scenario())
    assert page == (200, (STATIC / "index.html").read_bytes())
    assert script == (200, (STATIC / "main.js").read_bytes())
    assert waited
    assert late == (200, b"made")


def test_an_application_that_cannot_be_made_ends_the_service_and_says_why():
    ended = []

    def make():
        raise UsageError("no such report")

    async def scenario():
        later = Later(make, lambda: ended.append(True))
        async with living(later) as app:
            return (await got(app, "/health"))[0], (await got(app, "/"))[0], later.error

    health, page, error = asyncio.run(scenario())
    assert (health, page, str(error)) == (400, 200, "no such report")
    assert ended == [True]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200), ("POST", "/", 405), ("HEAD", "/static/main.js", 405), ("GET", "/static/none.js", 404),
        ("GET", "/static/", 299), ("GET", "/static/views/words.py", 299), ("GET", "/static/../app.py", 299),
        ("GET", "/v1/session", 299),
    ],
)  # fmt: skip
def test_only_the_pages_own_files_are_answered_without_the_application(method, path, status):
    async def scenario():
        return await got(Pages(answering(b"", 299)), path, method)

    assert asyncio.run(scenario())[0] == status


def test_an_answer_is_not_held_back_until_its_beginning_was_received():
    """Asyncio lets packets go at once only of a socket that says that it is TCP."""
    listener = listening_socket(0)

    async def scenario():
        found = asyncio.get_running_loop().create_future()

        def connected(reader, writer):
            there = writer.get_extra_info("socket")
            found.set_result(there.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(connected, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            writer.close()
            return await asyncio.wait_for(found, 600)

    assert asyncio.run(scenario())


def answering(body, status=200):
    """An application that answers everything so, and lives as long as it is let."""

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                assert (await receive())["type"] == f"lifespan.{step}"
                await send({"type": f"lifespan.{step}.complete"})
            return
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": body})

    return app


@asynccontextmanager
async def living(later):
    """``later`` behind the page and an answer to every error, started and ended as a server does."""
    told, said = asyncio.Queue(), asyncio.Queue()
    app = SafeAnswers(Pages(later))
    life = asyncio.create_task(app({"type": "lifespan"}, told.get, said.put))
    told.put_nowait({"type": "lifespan.startup"})
    assert (await asyncio.wait_for(said.get(), 600))["type"] == "lifespan.startup.complete"
    yield app
    told.put_nowait({"type": "lifespan.shutdown"})
    assert (await asyncio.wait_for(said.get(), 600))["type"] == "lifespan.shutdown.complete"
    await asyncio.wait_for(life, 600)
    assert said.empty()


async def got(app, path, method="GET"):
    """Status and body."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    await app({"type": "http", "method": method, "path": path, "headers": []}, receive, send)
    return sent[0]["status"], b"".join(each.get("body", b"") for each in sent[1:])
