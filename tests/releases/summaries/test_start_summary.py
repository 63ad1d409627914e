"""`publius start` asks first what readers need; for a summary no value in the documents is taken to be public."""

import csv
import html
import json
import shlex
import sys
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from publius.cli import app
from publius.cli.start import summary
from publius.documents.inspection import inspect
from publius.errors import DataError, UsageError
from publius.evaluation.steps import summarizing
from publius.evaluation.steps.questions import STRATUM
from publius.evaluation.steps.summarizing import SummaryWorkflow, seen
from publius.files.progress import unheard
from publius.privacy.ledger import Ledger
from publius.releases.contents import SUMMARY
from publius.releases.manifests import read_manifest_of
from publius.releases.measured import Budget
from publius.releases.page_parts import constants
from publius.releases.verification import verify
from publius.settings import StartSettings


@pytest.fixture
def file(rows, tmp_path):
    path = tmp_path / "letters.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["customer", "product", "text"])
        writer.writeheader()
        for row in rows:
            writer.writerow({"customer": row["author"], "product": row["product"], "text": row["text"]})
    return path


def run(*arguments, answers=""):
    return CliRunner().invoke(app, ["start", *map(str, arguments)], input=answers)


def test_a_summary_step_by_step(file, reference, tmp_path, monkeypatch):
    """The values that are seen are proposed, one column is called public, epsilon is chosen with its accuracy told."""
    monkeypatch.setattr(summary, "_is_seen", lambda: True)
    output = tmp_path / "out"
    found = run(
        file, "--output", output, "--reference", reference.folder, "--purpose", "To learn", "--contact",
        "office@example.org", answers="summary\ncustomer\nyes\n4\ny\n",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    for page in (output / "signoff.html", output / "summary" / "receivers.html"):
        assert all(
            f"<dd><bdi>{said}</bdi></dd>" in page.read_text() for said in ("To learn", "office@example.org")
        )
    verify(output / "summary", output / "signoff.html")
    theirs, said = (output / "summary" / name for name in ("receivers.html", "READ-ME.txt"))
    whole, told = (" ".join(html.unescape(each.read_text()).split()) for each in (theirs, said))
    for each in (
        "Is Ms X in the data? This folder does not tell",
        "Do not try to find out whose documents these are.",
    ):
        assert whole.count(each) == told.count(each) == 1
    found_of_rows = ("No row says", "each row says", "Whether a document is in the collection")
    assert not any(each in whole for each in found_of_rows), (
        "a summary has no rows, and who is in it is bounded"
    )
    assert "in all rows of a file together with a probability of at least 95 %" in whole
    assert "--purpose 'To learn' --contact office@example.org --receivers --output" in found.output
    assert "What readers need" in found.output
    assert "Is this list public" in found.output
    assert "each within" in found.output
    manifest = read_manifest_of(output / "summary")
    assert (manifest["kind"], manifest["epsilon"]) == ("summary", 4)
    assert manifest["strata"]["product"] == ["card", "loan", "parcel", "other"]
    assert "whatever one author wrote" in (output / "signoff.html").read_text()
    assert {each.name for each in output.iterdir()} == {"summary", "signoff.html"}


@pytest.mark.parametrize(
    ("said", "meant"), [("y", "yes"), ("Y", "yes"), ("n", "no"), (" YES ", "yes"), ("y,n", "y,n")]
)
def test_a_short_yes_is_no_value_to_count_by(said, meant):
    """Taken for a public value every document counts as other, and the epsilon is spent."""
    assert STRATUM.answer(said) == meant


@pytest.fixture
def wards(tmp_path):
    """Letters of which the frequencies and the first places of wards run against the alphabet."""
    path = tmp_path / "wards.csv"
    of = ["zeta"] * 9 + ["alpha"] * 5 + ["mid"] * 7 + ["rare"] * 4 + ["hospice"]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["author", "ward", "text"])
        writer.writerows([f"author {n}", ward, f"the garden has {n} roses"] for n, ward in enumerate(of))
        writer.writerows([["author 21", "rare", "the garden has roses"]] * 5)
        writer.writerows([["AUTHOR 21 ", "rare", "the garden has roses"]] * 5)
    return path


def test_values_are_proposed_in_an_order_that_tells_nothing_and_never_those_of_few_authors(wards):
    private = seen(wards, inspect(wards, text_field="text"), StartSettings(author_field="author"))
    assert private.authors == 26
    assert private.values == {"ward": ("alpha", "mid", "zeta")}
    assert private.rare == {"ward": ("hospice", "rare")}


def test_a_list_that_nobody_was_shown_is_not_public(wards, reference, tmp_path):
    """Without a terminal the values are not told, and a yes says nothing about them."""
    common = (wards, "--summary", "--text-field", "text", "--author-field", "author")
    common += ("--reference", reference.folder, "--output", tmp_path / "out")
    refused = run(*common, answers="yes\n4\ny\n")
    assert (refused.exception.exit_code, "zeta" in refused.output) == (2, False), refused.exception
    assert "nobody was shown the list" in str(refused.exception)
    assert not (tmp_path / "out").exists()
    typed = run(*common, answers="zeta,alpha\n4\ny\n")
    assert typed.exit_code == 0, typed.output
    assert read_manifest_of(tmp_path / "out" / "summary")["strata"]["ward"] == ["zeta", "alpha", "other"]


def test_the_output_is_claimed_until_all_of_it_has_its_place(file, reference, tmp_path, monkeypatch):
    """A second run with the same output and ledger is refused before it pays; a late failure says what was paid."""
    ledger = Ledger.create(tmp_path / "ledger", budget=10, unit="bound")
    choices = StartSettings(
        author_field="customer", text_field="text", reference=str(reference.folder), epsilon=4
    )
    flow = SummaryWorkflow(file, inspect(file, text_field="text"), choices, [])
    told = {"progress": unheard, "notice": lambda text: None}

    def signing(folder, _sources=None):
        with pytest.raises(UsageError, match="another process is at work"):
            flow.release(tmp_path / "out", ledger, **told)
        raise DataError("the page cannot be made")

    monkeypatch.setattr(summarizing, "sign_off", signing)
    with pytest.raises(DataError, match="The ledger is debited: nothing was released"):
        flow.release(tmp_path / "out", ledger, **told)
    assert (ledger.subject("author 7").spent, ledger.subject("author 7").releases) == (4, 1)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["ledger", "letters.csv"]


def test_epsilon_is_never_printed_below_what_it_is_and_the_command_has_all_of_it(file, reference, tmp_path):
    choices = StartSettings(
        author_field="customer", text_field="text", reference=str(reference.folder), epsilon=1.2345641,
        encoding="cp1252", delimiter=",",
    )  # fmt: skip
    command = SummaryWorkflow(file, inspect(file, text_field="text"), choices, []).commands(tmp_path)[0]
    assert "--epsilon 1.2345641 --delimiter , --encoding cp1252" in command
    values = [value for _, value, _ in constants({"kind": SUMMARY, "epsilon": 1.2345641, "evidence": "certified",
                                                  "epsilon_added_or_left_out": 0.61728205})]  # fmt: skip
    assert values[:2] == ["1.23457", "0.617283"]


@pytest.mark.parametrize("seen_on_a_terminal", [True, False])
def test_private_values_are_shown_where_what_is_written_goes_to_a_terminal(monkeypatch, seen_on_a_terminal):
    """Who keeps the talk in a file reads the questions on a terminal, and has them in the file all the same."""
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: seen_on_a_terminal))
    assert summary._is_seen() is seen_on_a_terminal


def test_where_nobody_is_asked_no_value_is_taken_to_be_public(file, reference, tmp_path):
    output = tmp_path / "out"
    common = (file, "--summary", "--json", "--reference", reference.folder, "--epsilon", 4)
    unsaid = run(*common, "--output", output)
    assert (unsaid.exit_code, "name it with --author-field" in str(unsaid.exception)) == (1, True)
    common += ("--author-field", "customer")  # as a column of customers may be called that did not write
    found = run(*common, "--output", output)
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert (told["by"], told["verdict"]) == ([], None)
    assert read_manifest_of(output / "summary")["strata"] == {}
    ledger = Ledger.create(tmp_path / "ledger", budget=10, unit="bound")
    stated = run(
        *common, "--by", "product=card,loan", "--ledger", tmp_path / "ledger", "--output", tmp_path / "two"
    )
    assert json.loads(stated.stdout)["by"] == ["product=card,loan"]
    assert ledger.subject("author 7").spent == 4
    assert "--by product=card,loan" in json.loads(stated.stdout)["commands"][0]


def test_who_repeats_the_printed_commands_is_charged_again_and_the_page_says_so(file, reference, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", budget=10, unit="bound")
    done = run(
        file, "--summary", "--json", "--reference", reference.folder, "--author-field", "customer", "--epsilon", 4,
        "--ledger", tmp_path / "ledger", "--output", tmp_path / "out",
    )  # fmt: skip
    page = " ".join((tmp_path / "out" / "signoff.html").read_text().split())
    assert "The ledger counts nats: the author charged most has spent 4 of 10." in page
    assert "4 nats for the author charged most" in page
    assert "charged most" not in (tmp_path / "out" / "summary" / "receivers.html").read_text()
    for command in json.loads(done.stdout)["commands"]:
        words = [
            word.replace(str(tmp_path / "out"), str(tmp_path / "again")) for word in shlex.split(command)
        ]
        again = CliRunner().invoke(app, words[1:])
        assert again.exit_code == 0, again.output
    assert ledger.subject("author 7").spent == 8
    assert "has spent 8 of 10." in (tmp_path / "again" / "signoff.html").read_text()
    with pytest.raises(UsageError, match="counts epsilon-n, in which this release cannot have been charged"):
        Budget.of(
            Ledger.create(tmp_path / "other", budget=10), read_manifest_of(tmp_path / "out" / "summary")
        )


def test_what_says_nothing_is_said_to_the_curator_and_released(file, reference, tmp_path):
    """A refusal would tell of the number of authors."""
    arguments = (
        "--summary",
        "--yes",
        "--reference",
        reference.folder,
        "--epsilon",
        "0.001",
        "--author-field",
    )
    found = run(file, *arguments, "customer", "--output", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert "Careful: nothing could be told apart: with 400 authors" in found.output
    assert (tmp_path / "out" / "summary" / "manifest.json").exists()


def test_what_does_not_fit_is_refused_before_anything_is_released(file, reference, tmp_path):
    output = tmp_path / "out"
    for arguments, code in (
        (("--summary", "--rows"), 2),
        (("--summary", "--public", "samples", "--author-field", "author"), 2),
        (("--summary", "--bound", "7", "--author-field", "author"), 2),
        (("--summary", "--keep", "year", "--find", "--author-field", "author"), 2),
        (("--by", "product=card"), 2),
        (("--summary", "--json", "--author-field", "nobody"), 2),
    ):
        found = run(file, *arguments, "--output", output)
        assert found.exception is not None
        assert getattr(found.exception, "exit_code", None) == code
    assert not output.exists()
