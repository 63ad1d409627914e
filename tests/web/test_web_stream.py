"""Documents that are released while they come: in order, paid before they leave, a few of them in memory."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from publius.privacy.ledger import Ledger
from publius.web import answers
from publius.web.app import make_app
from publius.web.guards.limits import ServerLimits
from publius.web.state import State
from toy import WORDS, sentence
from web_service import CANARY, fault, service

KIND = {"Content-Type": "application/x-ndjson"}
CHOICE = {"epsilon": 2.0, "length": 50, "batch": 4}


def document(number, **changes):
    return {"id": f"d{number}", "text": sentence(number, 60), **changes}


def body(*lines, choice=CHOICE):
    return b"".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in (choice, *lines)
    )


def ask(client, *lines, choice=CHOICE, **changes):
    return client.post("/v1/stream", content=body(*lines, choice=choice), headers={**KIND, **changes})


def found(answer):
    assert answer.status_code == 200
    lines = [json.loads(line) for line in answer.text.splitlines()]
    for line in lines:
        form = (
            answers.Ended if "manifest" in line else answers.ReleasedBag if "bag" in line
            else answers.Stopped if "from" in line else answers.Refused
        )  # fmt: skip
        form.model_validate(line)
    return lines


@pytest.fixture(scope="module")
def free(embeddings, tmp_path_factory):
    with service(embeddings, tmp_path_factory.mktemp("web")) as client:
        yield client


def test_bags_come_in_the_order_of_the_lines_and_the_manifest_last(free):
    *bags, end = found(ask(free, *map(document, range(10))))
    assert [each["id"] for each in bags] == [f"d{i}" for i in range(10)]
    for each in bags:
        assert sum(each["bag"].values()) == each["size"] == 50
        assert set(each["bag"]) <= set(WORDS)
    manifest = end["manifest"]
    assert (manifest["documents"], manifest["missing"], manifest["private"]) == (10, 0, True)
    assert manifest["epsilon_total"] == 100


def test_each_request_has_a_key_of_its_own(free):
    first, second = (found(ask(free, document(1))) for _ in range(2))
    assert first[0] != second[0]
    assert first[1] == second[1]


def test_a_bad_line_is_said_and_costs_no_other(free, capfd, caplog):
    bad = [
        b"{" + CANARY.encode() + b"\n", b'["%s"]\n' % CANARY.encode(), {"id": "e", "text": 3}, {"id": CANARY},
        {"id": "f", "text": "a", CANARY: 1}, {"id": "d0", "text": CANARY}, {"id": f"{CANARY}\n", "text": "a"},
        b"\xff\xfe" + CANARY.encode() + b"\n", {"id": "g", "text": CANARY * 200_000},
        b'{"id": "h", "text": "\\ud800"}\n',
    ]  # fmt: skip
    answer = ask(free, document(0), b"\n", *bad, document(1))
    lines = found(answer)
    assert [each.get("line", each.get("id")) for each in lines[:-1]] == ["d0", *range(4, 14), "d1"]
    assert {each["error"]["code"] for each in lines if "error" in each} == {65}
    assert (lines[-1]["manifest"]["documents"], lines[-1]["manifest"]["missing"]) == (2, 10)
    out, err = capfd.readouterr()
    assert CANARY not in answer.text + out + err + caplog.text


def test_a_line_beyond_the_limit_is_passed_over(embeddings, tmp_path):
    with service(embeddings, tmp_path, limits=ServerLimits(line_bytes=1000)) as client:
        lines = found(
            ask(client, document(0), document(1, text="a" * 5000), document(2, text="a" * 999), document(3))
        )
    assert [each.get("line", each.get("id")) for each in lines[:-1]] == ["d0", 3, 4, "d3"]
    assert "too long" in lines[1]["error"]["message"]


def test_what_has_no_text_or_no_known_word_is_released_all_the_same(free):
    """R27: no private word decides whether an id appears."""
    lines = found(
        ask(free, document(0, text=""), document(1, text=" \n"), document(2, text=f"{CANARY} " * 60))
    )
    assert [each["size"] for each in lines[:-1]] == [50, 50, 50]
    assert CANARY not in json.dumps(lines)
    assert fault(ask(free, document(0), choice={**CHOICE, "unknown": "reject"}))[:2] == (403, 77)


def test_public_fields_are_kept_line_by_line(free):
    lines = found(
        ask(
            free,
            document(0, year=1999),
            document(1),
            document(2, year=2001, mood="x"),
            document(3, year=2003),
            choice={**CHOICE, "keep": ["year"]},
        )
    )
    assert [each.get("year") for each in lines[:-1]] == ["1999", None, None, "2003"]
    assert "there is no field 'year'" in lines[1]["error"]["message"]
    assert "not named in keep" in lines[2]["error"]["message"]
    assert "mood" not in json.dumps(lines)  # the answer is handed on whole
    assert lines[-1]["manifest"]["labels"] == ["year"]


def test_a_topic_is_kept_line_by_line(embeddings, tmp_path, home):
    from references import fitted

    fitted("letters").save(home / "references" / "letters")
    choice = {"preserve": "topic", "reference": "letters", "bound": 5.0}
    with service(embeddings, tmp_path) as client:
        *bags, end = found(ask(client, document(0), document(1), choice=choice))
        assert [each["id"] for each in bags] == ["d0", "d1"]
        assert end["manifest"]["level"] == "document"
        assert fault(ask(client, document(0), choice={"preserve": "topic"}))[:2] == (400, 2)


FIRST = {
    "nothing": (b"", 400), "no JSON": (b"zz\n", 400), "a document": (body(choice=document(1)), 400),
    "another field": (body(choice={f"{CANARY}, and more": 1}), 400),
    "too many words": (body(choice={"length": 20_000, "batch": 64}), 400),
    "no such mechanism": (body(choice={"mechanism": CANARY}), 400), "a batch of none": (body(choice={"batch": 0}), 400),
}  # fmt: skip


@pytest.mark.parametrize("case", FIRST)
def test_a_choice_that_is_none_has_a_status_of_its_own(free, case):
    content, status = FIRST[case]
    answer = free.post("/v1/stream", content=content, headers=KIND)
    assert fault(answer)[:2] == (status, 2)
    assert CANARY not in answer.text


def test_the_guards_stand_before_it(free):
    assert fault(ask(free, document(1), Authorization="Bearer x"))[:2] == (401, 77)
    assert fault(ask(free, document(1), Host="evil.example"))[:2] == (421, 77)
    assert fault(ask(free, document(1), Origin="http://evil.example"))[:2] == (403, 77)
    assert fault(ask(free, document(1), **{"Content-Type": "application/json"}))[:2] == (415, 2)
    assert fault(ask(free, document(1), **{"Content-Length": str(2**40)}))[:2] == (413, 2)
    assert free.get("/v1/stream").status_code == 405


def test_more_than_the_limit_ends_the_stream_after_what_came(embeddings, tmp_path):
    content = body(*map(document, range(20)))
    limits = ServerLimits(stream_bytes=len(body(*map(document, range(5)))) + 100)
    with service(embeddings, tmp_path, limits=limits) as client:
        lines = found(client.post("/v1/stream", content=iter([content]), headers=KIND))
    assert [each["id"] for each in lines[:-1]] == [f"d{i}" for i in range(5)]
    assert (lines[-1]["from"], lines[-1]["charged"], lines[-1]["error"]["code"]) == (7, 0, 2)


# The ledger -----------------------------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path):
    return Ledger.create(tmp_path / "book.ledger", budget=150, subject_budget=650)


@pytest.fixture
def client(embeddings, tmp_path, book):
    with service(embeddings, tmp_path, ledger=book) as client:
        yield client


@pytest.mark.parametrize("part", [1, 700, 2**20])
@pytest.mark.parametrize("batch", [1, 4, 64])
def test_a_spent_budget_ends_the_stream_at_its_line(embeddings, tmp_path, book, batch, part):
    """However lines are held together: what leaves is decided by the budget alone, and nothing else is debited."""
    with service(embeddings, tmp_path, ledger=book, limits=ServerLimits(part_bytes=part)) as client:
        lines = found(
            ask(client, *[document(i, subject="a") for i in range(9)], choice={**CHOICE, "batch": batch})
        )
        assert [each["id"] for each in lines[:-1]] == [f"d{i}" for i in range(6)]
        assert (lines[-1]["from"], lines[-1]["charged"], lines[-1]["error"]["code"]) == (8, 0, 77)
        assert [book.document(f"d{i}").spent for i in range(9)] == [100] * 6 + [0] * 3
        assert book.subject("a").spent == 600
        assert fault(ask(client, document(0)))[:2] == (403, 77)
    book.check()


def test_the_debit_comes_before_the_draw(client, book, monkeypatch):
    """R16: when a draw fails, its budget is spent all the same, and the answer says so."""
    from publius.web.views import stream

    drawn = stream.protect_batch

    def broken(batch, *arguments):
        assert book.document(batch[0].id).spent == 100
        if batch[0].id == "d4":
            raise MemoryError(CANARY)
        return drawn(batch, *arguments)

    monkeypatch.setattr(stream, "protect_batch", broken)
    lines = found(ask(client, *map(document, range(10))))
    assert [each["id"] for each in lines[:-1]] == ["d0", "d1", "d2", "d3"]
    assert (lines[-1]["from"], lines[-1]["charged"], lines[-1]["error"]["code"]) == (6, 4, 74)
    assert [book.document(f"d{i}").spent for i in range(10)] == [100] * 8 + [0] * 2


def test_a_bad_line_is_not_charged(client, book):
    lines = found(ask(client, document(0), {"id": "bad"}, document(0), document(1)))
    assert [each.get("line", each.get("id")) for each in lines[:-1]] == ["d0", 3, 4, "d1"]
    assert (book.document("bad").spent, book.document("d0").spent) == (0, 100)


# What is seen of an answer --------------------------------------------------------------------------------------


class Wire:
    """A client on a connection of its own, which can write and read at once."""

    def __init__(self, address, token):
        host, port = address.removeprefix("http://").split(":")
        self.connection = socket.create_connection((host, int(port)), timeout=600)
        fields = {
            "Host": f"{host}:{port}",
            "Authorization": f"Bearer {token}",
            **KIND,
            "Transfer-Encoding": "chunked",
        }
        head = "POST /v1/stream HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in fields.items()
        )
        self.connection.sendall(head.encode() + b"\r\n")
        self.file = self.connection.makefile("rb")
        self.head = None

    def send(self, data):
        self.connection.sendall(b"%x\r\n%b\r\n" % (len(data), data))

    def end(self):
        self.connection.sendall(b"0\r\n\r\n")

    def chunk(self):
        """What was sent together; nothing at the end."""
        if self.head is None:
            self.head = [self.file.readline()]
            while self.head[-1] not in (b"\r\n", b""):
                self.head.append(self.file.readline())
        size = int(self.file.readline() or b"0", 16)
        return self.file.read(size + 2)[:size]

    def chunks(self):
        return list(iter(self.chunk, b""))


@contextmanager
def process_of(embeddings, home):
    """A real service in a process of its own: (what connects to it, the process)."""
    embeddings.save(home / "embeddings" / "toy")
    command = [
        "-m",
        "publius",
        "explore",
        "--no-browser",
        "--embeddings",
        "toy",
        "--output",
        str(home / "releases"),
    ]
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PUBLIUS_HOME": str(home), "TMPDIR": str(home)},
    )  # fmt: skip
    address, token = process.stdout.readline().strip().split("/#token=")
    wires = []

    def connect():
        wires.append(Wire(address, token))
        return wires[-1]

    connect.address, connect.token = address, token
    yield connect, process
    for each in wires:
        each.file.close()
        each.connection.close()
    process.kill()
    assert process.communicate() == ("", "")


@pytest.fixture(scope="module")
def running(embeddings, tmp_path_factory):
    with process_of(embeddings, tmp_path_factory.mktemp("home")) as (connect, _):
        yield connect


def test_a_client_reads_while_it_writes(running):
    wire = running()
    wire.send(body())
    for first in range(0, 12, 4):
        wire.send(body(*map(document, range(first, first + 4)), choice=b""))
        lines = wire.chunk().splitlines()  # before anything more is sent
        assert [json.loads(line)["id"] for line in lines] == [f"d{first + i}" for i in range(4)]
    assert wire.head[0] == b"HTTP/1.1 200 OK\r\n"
    wire.end()
    assert json.loads(wire.chunk())["manifest"]["documents"] == 12


@pytest.mark.parametrize("cut", [1, 7, 1000, 10**6])
def test_how_the_answer_is_cut_follows_the_numbers_of_lines(running, cut):
    """Not the sizes of texts, nor how they arrive: long and short ones, known and unknown words look alike."""
    texts = [[sentence(i, 60) for i in range(10)], ["zebra " * (1 + 400 * (i % 3)) for i in range(10)]]
    seen = []
    for each in texts:
        wire = running()
        data = body(*({"id": f"d{i}", "text": text} for i, text in enumerate(each)))
        if cut == 1:
            data = data[:8000]  # a byte at a time takes long
        for start in range(0, len(data), cut):
            wire.send(data[start : start + cut])
        wire.end()
        seen.append([[*map(json.loads, chunk.splitlines())] for chunk in wire.chunks()])
    if cut > 1:
        assert [[[line.get("id") for line in chunk] for chunk in chunks] for chunks in seen] == [
            [["d0", "d1", "d2", "d3"], ["d4", "d5", "d6", "d7"], ["d8", "d9", None]]
        ] * 2
    else:
        assert all([line.get("id") for line in chunks[0]] == ["d0", "d1", "d2", "d3"] for chunks in seen)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_example_of_the_page_works(running, tmp_path):
    page = (Path(__file__).parents[2] / "docs/how-to/service.md").read_text(encoding="utf-8")
    command = re.search(r"```text\n(\{ echo.*?)```", page, re.DOTALL)[1].replace(
        "http://127.0.0.1:8765", running.address
    )
    (tmp_path / "documents.jsonl").write_bytes(body(*map(document, range(200)), choice=b""))
    environment = {"PATH": os.environ["PATH"], "TOKEN": running.token}
    subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, check=True, timeout=600)
    *bags, end = map(json.loads, (tmp_path / "bags.jsonl").read_text().splitlines())
    assert [each["id"] for each in bags] == [f"d{i}" for i in range(200)]
    assert (end["manifest"]["documents"], end["manifest"]["size"]) == (200, 400)


def test_a_service_that_ends_answers_what_came_whole(embeddings, tmp_path):
    with process_of(embeddings, tmp_path) as (connect, process):
        check_end(connect(), process)


def check_end(wire, process):
    wire.send(body(*map(document, range(6))) + b'{"id": "half')
    assert len(wire.chunk().splitlines()) == 4
    process.send_signal(signal.SIGINT)
    *bags, last = map(json.loads, b"".join(wire.chunks()).splitlines())
    assert [each["id"] for each in bags] == ["d4", "d5"]
    assert (last["from"], last["charged"], last["error"]["code"]) == (8, 0, 74)
    wire.file.close()  # else it would be waited for
    wire.connection.close()
    assert process.wait(90) == 0


def test_an_error_before_the_first_bag_can_be_read_by_who_sends_on(running):
    wire = running()
    wire.send(body(choice={"epsilon": -1}))
    for number in range(200):
        wire.send(body(document(number, text="a" * 50_000), choice=b""))
    wire.end()
    assert wire.file.readline().startswith(b"HTTP/1.1 400 ")
    assert json.loads(wire.file.read().partition(b"\r\n\r\n")[2])["error"]["code"] == 2


# Who waits for whom ---------------------------------------------------------------------------------------------


def scripted(embeddings, folder, limits, messages, send):
    """One request to the application itself, whose client is a script."""
    state = State(embeddings, releases=folder)
    app = make_app(state, port=80, token="t", limits=limits)
    headers = {"host": "localhost", "authorization": "Bearer t", "content-type": KIND["Content-Type"],
               "transfer-encoding": "chunked"}  # fmt: skip
    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "path": "/v1/stream", "raw_path": b"/v1/stream",
        "query_string": b"", "root_path": "", "scheme": "http",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip

    async def receive():
        if messages:
            return {"type": "http.request", "body": messages.pop(0), "more_body": True}
        return await asyncio.sleep(60)

    return app(scope, receive, send)


def test_who_does_not_read_is_left_and_nothing_more_is_drawn_for_him(embeddings, tmp_path):
    sent, messages = [], [body()] + [body(document(i), choice=b"") for i in range(1000)]

    async def send(message):
        sent.append(message)
        if len(sent) > 3:
            await asyncio.sleep(60)

    asyncio.run(scripted(embeddings, tmp_path, ServerLimits(stream_seconds=0.2), messages, send))
    assert len(sent) == 4
    assert all(
        message.get("more_body", True) for message in sent
    )  # so that the answer is seen not to be whole
    assert len(messages) == 1000 - 3 * 4


def test_who_sends_nothing_is_told(embeddings, tmp_path):
    sent = []

    async def send(message):
        sent.append(message)

    for messages, status in (([], 408), ([body(choice={})], 408), ([body(*map(document, range(5)))], 200)):
        sent.clear()
        asyncio.run(scripted(embeddings, tmp_path, ServerLimits(stream_seconds=0.2), messages, send))
        assert sent[0]["status"] == status
        assert sent[-1]["more_body" if status == 200 else "type"] in (False, "http.response.body")
    lines = b"".join(message.get("body", b"") for message in sent).splitlines()
    assert [json.loads(line).get("id") for line in lines] == ["d0", "d1", "d2", "d3", "d4", None]
    assert json.loads(lines[-1])["from"] == 7


def test_only_so_many_streams_at_once(embeddings, tmp_path):
    with service(embeddings, tmp_path, limits=ServerLimits(streams=0)) as client:
        assert fault(ask(client, document(1)))[:2] == (503, 74)


def test_openapi_tells_both_sides(free):
    document = free.get("/v1/openapi.json").json()
    asked = document["paths"]["/v1/stream"]["post"]
    assert [*asked["requestBody"]["content"]] == [KIND["Content-Type"]]
    line = asked["responses"]["200"]["content"][KIND["Content-Type"]]["schema"]
    named = [each["$ref"].removeprefix("#/components/schemas/") for each in line["anyOf"]]
    assert named == ["ReleasedBag", "Refused", "Ended", "Stopped"]
    assert {*named, "Stream", "GivenDocument"} <= {*document["components"]["schemas"]}
    assert document["components"]["schemas"]["Stream"]["properties"]["batch"]
