"""``publius start``: what is asked, what Enter takes, and what is said before anything is drawn."""

import io
import json
import shlex
import sys

import pytest

from publius import Summary, Values
from publius.cli import start as command
from publius.errors import DataError, UsageError
from publius.start import steps
from publius.start.answers import Answers, filled, open_questions
from publius.summaries.summary import expected


@pytest.fixture
def tickets(tmp_path):
    """Columns of which the longest holds the texts; authors; the same text twice."""
    path = tmp_path / "tickets.json"
    rows = [
        {"id": n, "who": f"p{n}", "kind": "a", "description": f"the bus was late {max(n, 1)} times"} for n in range(9)
    ]
    path.write_text(json.dumps(rows))
    return path


def test_the_column_of_texts_is_proposed_but_never_taken_unasked(tickets):
    columns, likely = steps.look(Answers(file=str(tickets)))
    assert (columns, likely) == (("id", "who", "kind", "description"), "description")
    answers = Answers(file=str(tickets), release="labels", labels="a,b", epsilon=5.0)
    (question,) = open_questions(answers, columns, likely)
    assert (question.name, question.default, question.likely) == ("text_field", None, "description")
    with pytest.raises(
        UsageError, match=r"give --text-field, such as description\. Columns: id, who, kind, description"
    ):
        filled(answers, columns, None, likely)
    assert filled(answers, columns, lambda asked: asked.likely, likely).text_field == "description"


def test_a_column_that_may_name_the_author_is_proposed_but_never_taken_unasked():
    def asked(*columns):
        answers = Answers(file="x", release="summary", text_field="a", by="b", epsilon=1.0)
        (question,) = (each for each in open_questions(answers, columns) if each.name == "author_field")
        return question.default, question.likely

    assert asked("a", "b", "author") == ("author", None)
    assert asked("a", "requester_id", "b") == (None, "requester_id")
    assert asked("a", "b") == (None, None)
    with pytest.raises(UsageError, match="give --author-field, such as requester_id"):
        filled(Answers(file="x", release="summary", by="b"), ("text", "requester_id"), None)


def test_answers_are_read_again_and_others_refused(tmp_path):
    answers = Answers(file="x.csv", release="summary", epsilon=1.5, labels="a,b")
    answers.save(tmp_path)
    assert Answers.load(tmp_path / "answers.json") == answers
    assert json.loads((tmp_path / "answers.json").read_text()) == {
        "file": "x.csv", "release": "summary", "epsilon": 1.5, "labels": "a,b",
    }  # fmt: skip
    for wrong in ('{"file": "x", "epsilom": 1}', '{"file": "x", "epsilon": "1"}', '{"release": "summary"}', "[]", "{"):
        (tmp_path / "answers.json").write_text(wrong)
        with pytest.raises(DataError, match=r"answers.json holds no answers of publius start"):
            Answers.load(tmp_path / "answers.json")


@pytest.mark.parametrize(("likely", "typed", "taken"), [("description", "\n", "description"), (None, "\nwho\n", "who")])
def test_enter_takes_the_proposal_or_asks_to_name_one(tickets, monkeypatch, capsys, likely, typed, taken):
    answers = Answers(file=str(tickets), release="labels", labels="a,b", epsilon=5.0)
    (question,) = open_questions(answers, ("id", "who", "kind", "description"), likely)
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert command._ask(question) == taken
    said = capsys.readouterr().err
    assert ("name one of these columns" in said) == (likely is None)
    assert said.count("kind, description") == 1


def test_what_is_odd_is_said_before_the_draw(run, tickets, tmp_path, monkeypatch):
    from publius.classifiers import classifier, encoder

    monkeypatch.setattr(encoder, "load_encoder", lambda name="packaged": None)
    monkeypatch.setattr(classifier, "Names", lambda labels, encoder: Values(labels))
    code, out, err = run(
        "start", tickets, "--output", tmp_path / "out", "--release", "labels", "--labels", "a,b", "--text-field",
        "description", "--author-field", "who", "--yes", "--review", "2027-12-31",
    )  # fmt: skip
    assert code == 0, err
    assert out.startswith("9 texts by 9 authors.\n")
    assert "texts that are there more than once: 2\n" in out
    assert out.index("more than once") < out.index("a released row")


def test_what_a_count_needs_to_be_seen_is_said_from_public_numbers():
    subjects = Values([f"s{n}" for n in range(50)])

    def told(**more):
        return {each.table: each.told for each in expected(Summary(Values(["x"]), subjects=subjects, **more))}

    grouped, plain, stronger = told(by="kind=b,c"), told(), told(by="kind=b,c", epsilon=3)
    first, second = steps.beforehand(Summary(Values(["x"]), by="kind=b,c", subjects=subjects))
    assert first == (
        f"At least 95 % sure to be seen in the noise: a group of {grouped['totals']} documents, a topic in a group of "
        f"{grouped['topics']} documents, a subject of {grouped['subjects']} documents; smaller ones may be "
        "(1 document of an author counts)."
    )
    assert second == (
        f"Fewer are enough: without --by a subject of {plain['subjects']} documents; with epsilon 3 a subject of "
        f"{stronger['subjects']} documents."
    )
    assert plain["subjects"] < grouped["subjects"] > stronger["subjects"]
    own = {"shares": "topics=0.5,subjects=0.2", "documents_per_author": 2, "by": "kind=b"}
    (only,) = steps.beforehand(Summary(Values(["x"]), subjects=subjects, **own))
    assert "(2 documents of an author count)" in only


def test_a_review_that_is_no_date_is_refused_before_the_draw(run, tickets, tmp_path):
    code, out, err = run(
        "start", tickets, "--output", tmp_path / "out", "--release", "words", "--text-field", "description", "--yes",
        "--review", "next year",
    )  # fmt: skip
    assert (code, out) == (2, "")
    assert "--review is a date" in err
    assert not (tmp_path / "out").exists()


def test_the_reports_command_repeats_its_attacks(run, tmp_path, monkeypatch):
    public, asked = tmp_path / "public texts.jsonl", []
    public.write_text("".join(json.dumps({"text": f"tea {n}", "by whom": f"p{n % 3}"}) + "\n" for n in range(9)))

    def stopped(*given):
        asked.append(given)
        raise UsageError("enough")

    monkeypatch.setattr("publius.evaluation.evaluate.of_words", stopped)
    code, _, err = run(
        "start", public, "--public", public, "--release", "words", "--author-field", "by whom", "--epsilon", 7.5,
        "--length", 12, "--yes", "--output", tmp_path / "out",
    )  # fmt: skip
    assert (code, "enough" in err) == (2, True)
    monkeypatch.chdir(tmp_path)
    run(*shlex.split(asked[0][0].command)[1:])
    (first, *setting), (second, *again) = ((given[0].people, given[1], repr(given[2])) for given in asked)
    assert (first, setting) == (second, [again[0], again[1].replace("'12'", "12")])  # a command line has no numbers
    assert asked[0][0].read()[1] == asked[1][0].read()[1]
