"""What a file says never drives the terminal on which `publius start` asks."""

import typer
from typer.testing import CliRunner

from publius.cli.start.asking import Asking
from publius.evaluation.steps.questions import NO, YES, OfferedAnswer, Question

ODD = "mess\x1b]0;TITLE\x07\x1b[31mage"


def asked(question, typed):
    app, found = typer.Typer(), []

    @app.command()
    def ask():
        asking = Asking(yes=False)
        found.append(asking.agreed(question) if question.yes_or_no else asking(question))

    done = CliRunner().invoke(app, [], input=typed)
    assert done.exit_code == 0, done.output
    return found[0], done.output


def test_a_proposed_column_is_shown_without_what_drives_a_terminal_and_taken_as_it_is():
    question = Question(
        name="text_field", words="Which column?", options=(OfferedAnswer(ODD, ODD, ODD),), proposed=ODD
    )
    answer, shown = asked(question, "\n")
    assert answer == ODD
    assert not any(mark in shown for mark in "\x1b\x07")
    answer, _ = asked(Question(name="text_field", words="Which?", proposed=ODD, open="a column"), "other\n")
    assert answer == "other"


def test_a_question_of_yes_or_no_drives_no_terminal_either():
    options = (OfferedAnswer(YES, ""), OfferedAnswer(NO, ""))
    answer, shown = asked(
        Question(name="go_on", words=f"Go on with {ODD}?", options=options, proposed=YES), "n\n"
    )
    assert (answer, "\x1b" in shown) == (False, False)
