"""The client of a language model: what it sends and where, what it takes for an answer, what it makes of the rest."""

import json
import socket
import time

import pytest

from chat_server import CUT, DRIP, HANG, LAST_DRIP, RESET, chat_server, said
from publius.errors import PolicyError, UsageError
from publius.releases.writing.chat import LONGEST_ANSWER, ChatError, ChatModel, patiently

QUESTION = [{"role": "user", "content": "the words are secretword"}]


def test_an_answer_and_what_was_sent_for_it():
    with chat_server(lambda number, request: "A sentence.") as server:
        model = ChatModel.named(f"llm:{server.url}#small:1b", key="k3y")
        assert model.chat(QUESTION, max_tokens=7) == "A sentence."
    (seen,) = server.requests
    assert seen["path"] == "/v1/chat/completions"
    assert seen["headers"]["Authorization"] == "Bearer k3y"
    assert (seen["model"], seen["messages"], seen["max_tokens"]) == ("small:1b", QUESTION, 7)
    assert "k3y" not in repr(model)


@pytest.mark.parametrize(
    ("answer", "message", "again"),
    [(HANG, "within 0.4 s", True), (DRIP, "within 0.4 s", True),
     (LAST_DRIP, "within 0.4 s", True), (CUT, "broke off", True), (RESET, "broke off", True),
     (b"<html>secretword", "not a chat", True), (b"[1]", "not a chat", True), (b"", "not a chat", True),
     (b'{"choices": [{"message": {"content": 5}}]}', "not a chat", True), (b"[" * 10_000, "not a chat", True),
     (429, "status 429: try again later", True), (500, "status 500", True), (404, "name of the model", False),
     (401, "wants a key", False), (400, "does not take", False),
     ((302, {"Location": "http://192.0.2.1/"}), "302", False), (b" " * (LONGEST_ANSWER + 1), "more than", True)],
)  # fmt: skip
def test_what_is_no_answer_is_a_typed_error_in_time(answer, message, again):
    with chat_server(lambda number, request: answer) as server:
        limit = 0.4 if answer in (HANG, DRIP, LAST_DRIP) else 600
        model = ChatModel(server.url, "m", timeout=limit)
        with pytest.raises(ChatError, match=message) as found:
            model.chat(QUESTION)
        assert not server.ended  # what hangs or drips went on meanwhile
    assert found.value.again is again
    assert found.value.exit_code == 74
    assert "secretword" not in str(found.value)


def test_a_limit_that_ends_before_there_is_a_connection_holds_all_the_same(monkeypatch):
    connect = socket.create_connection

    def slow(to, timeout):
        wire = connect(to, timeout)
        time.sleep(1)
        return wire

    monkeypatch.setattr(socket, "create_connection", slow)
    with chat_server(lambda number, request: DRIP) as server:
        with pytest.raises(ChatError, match=r"within 0\.4 s"):
            ChatModel(server.url, "m", timeout=0.4).chat(QUESTION)
        assert not server.ended


def test_nobody_there():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ChatError, match="is it running"):
        ChatModel(f"http://127.0.0.1:{port}/v1", "m").chat(QUESTION)


@pytest.mark.parametrize("host", ["192.0.2.7", "[2001:db8::1]", "0.0.0.0", "10.0.0.1"])
def test_nothing_goes_to_another_machine_unless_allowed(host, monkeypatch):
    monkeypatch.setattr(socket, "create_connection", lambda *given: pytest.fail("a connection was tried"))
    with pytest.raises(PolicyError, match="--remote-ok"):
        ChatModel(f"http://{host}:9/v1", "m").chat(QUESTION)


def test_a_name_must_be_loopback_in_all_its_addresses_and_is_resolved_once(monkeypatch):
    answers = [("127.0.0.1", 80), ("192.0.2.7", 80)]
    asked = []

    def resolved(host, port, **rest):
        asked.append(host)
        return [(0, 0, 0, "", address) for address in answers]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.setattr(socket, "create_connection", lambda to, timeout: pytest.fail(f"a connection to {to}"))
    with pytest.raises(PolicyError):
        ChatModel("http://model.example/v1", "m").chat(QUESTION)
    answers.pop()
    went = []

    def connected(to, timeout):
        went.append(to)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connected)
    with pytest.raises(ChatError):
        ChatModel("http://model.example/v1", "m").chat(QUESTION)
    assert went == [("127.0.0.1", 80)]
    assert asked == ["model.example"] * 2
    ChatModel("http://192.0.2.7/v1", "m", remote_ok=True).check()


@pytest.mark.parametrize(
    "given",
    ["llm:", "llm:http://127.0.0.1/v1", "llm:#m", "llm:file:///etc/passwd#m", "llm:http://u:p@127.0.0.1/v1#m",
     "llm:http://127.0.0.1/v1?x=1#m", "llm:http://127.0.0.1:99999/v1#m", "llm:http://[::1/v1#m"],
)  # fmt: skip
def test_what_is_no_address_is_refused(given):
    with pytest.raises(UsageError):
        ChatModel.named(given)


def test_patience():
    waits, answers = [], [ChatError("a"), ChatError("b", wait=9.0), "text"]

    def ask():
        found = answers.pop(0)
        if isinstance(found, str):
            return found
        raise found

    assert patiently(ask, sleep=waits.append) == "text"
    assert waits == [1.0, 9.0]
    answers[:] = [ChatError("c"), ChatError("no", again=False), "never"]
    with pytest.raises(ChatError, match="no"):
        patiently(ask, sleep=waits.append)
    answers[:] = [ChatError("d")] * 3
    with pytest.raises(ChatError, match="d"):
        patiently(ask, attempts=2, sleep=waits.append)
    assert len(answers) == 1


def test_retry_after_is_read_and_limited():
    for header, wait in (("3", 3.0), ("100000", 60.0), ("Wed, 21 Oct 2015 07:28:00 GMT", None), ("-1", None)):
        answer = (429, {"Retry-After": header})
        with chat_server(lambda *asked, answer=answer: answer) as server, pytest.raises(ChatError) as found:
            ChatModel(server.url, "m").chat(QUESTION)
        assert found.value.wait == wait


def test_the_stand_in_speaks_the_interface():
    assert json.loads(said("x"))["choices"][0]["message"]["content"] == "x"
