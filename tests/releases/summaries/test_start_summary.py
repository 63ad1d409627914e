"""`publius start` asks first what readers need; for a summary no value in the documents is taken to be public."""

import csv
import json

import pytest
from typer.testing import CliRunner

from publius.cli import app
from publius.privacy.ledger import Ledger
from publius.releases.signoff import read_manifest_of


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


def test_a_summary_step_by_step(file, reference, tmp_path):
    """The values that are seen are proposed, one column is called public, epsilon is chosen with its accuracy told."""
    output = tmp_path / "out"
    found = run(
        file, "--output", output, "--reference", reference.folder, answers="summary\ncustomer\nyes\n4\ny\n"
    )
    assert found.exit_code == 0, found.output
    assert "What readers need" in found.output
    assert "Is this list public" in found.output
    assert "each within" in found.output
    manifest = read_manifest_of(output / "summary")
    assert (manifest["kind"], manifest["epsilon"]) == ("summary", 4)
    assert {*manifest["strata"]["product"]} == {"card", "loan", "parcel", "other"}
    assert "whatever one author wrote" in (output / "signoff.html").read_text()
    assert {each.name for each in output.iterdir()} == {"summary", "signoff.html"}


def test_where_nobody_is_asked_no_value_is_taken_to_be_public(file, reference, tmp_path):
    output = tmp_path / "out"
    common = (file, "--summary", "--json", "--reference", reference.folder, "--epsilon", 4)
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


def test_what_does_not_fit_is_refused_before_anything_is_released(file, reference, tmp_path):
    output = tmp_path / "out"
    for arguments, code in (
        (("--summary", "--rows"), 2),
        (("--by", "product=card"), 2),
        (("--summary", "--json", "--author-field", "nobody"), 2),
        (("--summary", "--json", "--reference", reference.folder, "--epsilon", "0.001"), 77),
    ):
        found = run(file, *arguments, "--output", output)
        assert found.exception is not None
        assert getattr(found.exception, "exit_code", None) == code
    assert not output.exists()
