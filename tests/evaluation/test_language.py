"""A language model as an adversary, with a stand-in that answers by comparing texts, or does not answer at all."""

import functools
import json
import re

import pytest
from typer.testing import CliRunner

from chat_server import HANG, chat_server
from letters import AUTHORS, rows, write
from publius.cli import app
from publius.errors import UsageError
from publius.evaluation.attackers import language
from publius.evaluation.attackers.language import LanguageAdversary, bag_text, chosen, excerpt
from publius.releases.writing.chat import ChatError, ChatModel, patiently
from publius.text.bag import Bag

for module in ("sklearn", "matplotlib", "jinja2"):
    pytest.importorskip(module, reason="extra evaluation is not installed")

pytestmark = pytest.mark.usefixtures("undrawn")
CANARY = "zanzibarskycanary"


def compare(number, request):
    """A stand-in that really answers: the candidate whose words the bag's words are likeliest among."""
    question = request["messages"][1]["content"]
    shown, bag = question.split("\n\nThe bag of words:\n")
    wanted = re.findall(r"[a-z]+", bag.split("\n\n")[0])
    parts = re.split(r"Candidate (\d+):\n", shown)[1:]
    scores = {}
    for place, text in zip(parts[::2], parts[1::2], strict=True):
        words = re.findall(r"[a-z]+", text)
        scores[place] = sum(words.count(word) / len(words) for word in wanted)
    best = max(scores, key=scores.get)
    return f'<think>candidate 1 or 2?</think>Here it is: {{"candidate": {best}}}'


@pytest.fixture(scope="module")
def place(tmp_path_factory, embeddings):
    folder = tmp_path_factory.mktemp("language")
    found = rows()
    for row in found:
        row["text"] = f"{CANARY} {row['text']}"
    write(folder / "corpus.jsonl", found)
    embeddings.save(folder / "vectors")
    return folder


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(language, "patiently", functools.partial(patiently, sleep=lambda seconds: None))


def evaluate(place, output, server, *further, epsilon="30,2"):
    return CliRunner().invoke(app, [str(each) for each in (
        "evaluate", place / "corpus.jsonl", "--embeddings", place / "vectors", "--adversaries", "likelihood",
        "--tasks", "author", "--epsilon", epsilon, "--length", "60", "--workers", 1, "--seed", 1, "--output", output,
        "--adversary", f"llm:{server.url}#stand-in", *further,
    )])  # fmt: skip


def found_in(output):
    found = [json.loads(line) for line in (output / "rows.jsonl").read_text().splitlines()]
    return {row["epsilon"]: row for row in found if row["adversary"] == "llm:stand-in"}


def sent(server):
    return json.dumps([request["messages"] for request in server.requests])


def test_it_names_authors_who_can_be_told_apart(place, tmp_path):
    with chat_server(compare) as server:
        result = evaluate(place, tmp_path / "out", server, "--i-own-these-texts")
    assert result.exit_code == 0, result.output
    found = found_in(tmp_path / "out")
    assert set(found) == {None, 30.0, 2.0}
    assert found[None]["accuracy"] == 1.0
    assert found[None]["task"] == "author"
    assert (found[None]["shown"], found[None]["unreadable"]) == ("clean", 0)
    assert found[2.0]["total"] == 4
    assert found[None]["low"] <= 1.0 == found[None]["high"]
    assert CANARY in sent(server)
    assert not any(f"{name}-" in sent(server) or f'"{name}"' in sent(server) for name in AUTHORS)
    assert "llm:stand-in" in (tmp_path / "out" / "report.html").read_text()


def test_what_it_costs_and_what_leaves_is_said_before(place, tmp_path):
    with chat_server(compare) as server:
        result = evaluate(place, tmp_path / "out", server, "--i-own-these-texts")
        said = result.stderr.splitlines()[0]
        assert "up to 12 times (3 settings and repeats, 4 texts)" in said
        assert "AS THEY ARE" in said
        assert len(server.requests) == 12
        longest = max(len(str(request["messages"]).split()) for request in server.requests)
        tokens = int(re.search(r"about ([\d,]+) tokens a question", said)[1].replace(",", ""))
        assert longest < tokens <= 8192


def test_no_clean_word_is_sent_unless_the_user_says_they_are_his(place, tmp_path):
    """Not even those that a release would replace: the canary is outside the vocabulary, and clean cells are left."""
    with chat_server(compare) as server:
        result = evaluate(place, tmp_path / "out", server)
        assert "--i-own-these-texts would send texts as they are" in result.stderr
    found = found_in(tmp_path / "out")
    assert set(found) == {30.0, 2.0}
    assert {row["shown"] for row in found.values()} == {"protected"}
    assert len(server.requests) == 8
    assert CANARY not in sent(server)
    clean = {row["text"].removeprefix(f"{CANARY} ")[:60] for row in rows()}
    assert not any(text in sent(server) for text in clean)


def test_words_that_pass_are_not_sent_either(place, tmp_path):
    with chat_server(compare) as server:
        result = evaluate(place, tmp_path / "out", server, "--unknown", "keep")
    assert result.exit_code == 0, result.output
    assert server.requests == []
    assert found_in(tmp_path / "out") == {}


def test_garbage_is_counted_and_answered_by_lot(place, tmp_path):
    garbage = "As a model I cannot name people."

    def answer(number, request):
        return garbage if number % 2 else compare(number, request)

    with chat_server(answer) as server:
        assert evaluate(place, tmp_path / "out", server, epsilon="2").exit_code == 0
    row = found_in(tmp_path / "out")[2.0]
    assert (row["unreadable"], row["total"]) == (2, 4)
    assert 0 <= row["accuracy"] <= 1


def test_a_model_that_names_nobody_is_no_attack(place, tmp_path):
    """Answered by lot, its figure would be that of chance, and stand beside those of attacks."""
    with chat_server(lambda number, request: "As a model I cannot name people.") as server:
        result = evaluate(place, tmp_path / "out", server, epsilon="2")
    assert isinstance(result.exception, ChatError)
    assert "named no candidate in 4 of 4 answers" in str(result.exception)
    assert not (tmp_path / "out" / "rows.jsonl").exists()


def test_thoughts_of_any_length_are_passed_over_in_linear_time():
    """Many beginnings without an end were each looked through to the end of the answer."""
    assert chosen('<think>1 or 2?</think>{"candidate": 3}', 4) == 2
    assert (
        chosen("<think>" * 300_000 + '{"candidate": 3}', 4) == 2
    )  # looked through from each it takes an hour


@pytest.mark.parametrize("fault", [429, 500, (503, {"Retry-After": "1"}), b"<html>"])
def test_what_fails_now_and_then_is_asked_again(place, tmp_path, fault):
    """Each question fails once: with several asked at once, every second answer could be one question's each time."""
    asked = set()

    def answer(number, request):
        question = str(request["messages"])
        if question in asked:
            return compare(number, request)
        asked.add(question)
        return fault

    with chat_server(answer) as server:
        result = evaluate(place, tmp_path / "out", server, epsilon="30")
    assert result.exit_code == 0, result.output
    assert found_in(tmp_path / "out")[30.0]["unreadable"] == 0
    assert len(server.requests) > 4


@pytest.mark.parametrize("fault", [429, 500, pytest.param(HANG, marks=pytest.mark.long), b"<html>secretword"])
def test_a_server_that_gives_up_loses_nothing_that_was_done(place, tmp_path, fault):
    """Exit 74 without a word of a document; the same command goes on where it was."""
    working = [True]

    def answer(number, request):
        if working[0] and number >= 5:
            return fault
        return compare(number, request)

    with chat_server(answer) as server:
        options = ("--i-own-these-texts",)
        result = evaluate(place, tmp_path / "out", server, *options, "--timeout", 0.3)
        assert result.exit_code == 74 or result.exception.exit_code == 74
        assert "secretword" not in result.output
        assert CANARY not in result.output
        done = {path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").glob("*.json")}
        assert done
        working[0] = False
        before = len(server.requests)
        assert evaluate(place, tmp_path / "out", server, *options).exit_code == 0
        assert len(server.requests) - before == 8
        assert done <= {path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").glob("*.json")}
    assert set(found_in(tmp_path / "out")) == {None, 30.0, 2.0}


def test_nothing_goes_to_another_machine(place, tmp_path):
    class Elsewhere:
        url = "http://192.0.2.7:9/v1"

    result = evaluate(place, tmp_path / "out", Elsewhere)
    assert result.exception.exit_code == 77
    assert "--remote-ok" in str(result.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("given", ["gpt", "llm:http://127.0.0.1:1/v1"])
def test_what_names_no_model_is_refused(place, tmp_path, given):
    with chat_server(compare) as server:
        result = evaluate(place, tmp_path / "out", server, "--adversary", given)
    assert isinstance(result.exception, UsageError)


def test_candidates_that_do_not_fit_are_refused():
    adversary = LanguageAdversary(ChatModel("http://127.0.0.1:1/v1", "m"), None, 2048)
    assert adversary.words_each(10, 40) > 80
    with pytest.raises(UsageError, match="--context"):
        adversary.words_each(500, 40)


@pytest.mark.parametrize(
    ("answer", "place"),
    [('{"candidate": 3}', 2), ("3", 2), ("The author is candidate 3.", 2), ('{"candidate": "3"}', 2), ("3 or 4", None),
     ("", None), ('{"candidate": 9}', None), ('{"candidate": 0}', None), ("none of 1 to 4; 2", None),
     ('1. I think {"candidate": 3}', 2), ("<think>1, 2</think>4", 3)],
)  # fmt: skip
def test_which_candidate_an_answer_names(answer, place):
    assert chosen(answer, 4) == place


def test_what_is_shown():
    assert bag_text(Bag(["b", "a", "b"])) == "a, b 2"
    assert excerpt(["one two three", "four five six"], 4) == "one two\nfour five"
