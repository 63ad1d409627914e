"""Columns that a first release asks for: who wrote the texts, what they are about, what leaves as it is, how many."""

import csv
import io
import json

import pytest

from publius.cli.start.releasing import _about
from publius.errors import UsageError
from publius.evaluation.steps.answers import Choices
from publius.evaluation.steps.looking import looked_at
from publius.evaluation.steps.questions import columns_in
from publius.evaluation.steps.walk import Walk
from publius.noise.randomness import seeded_rng
from released import completed as publius

WORDS = {
    "x": "card payment charged refund statement bank fee interest balance credit limit purchase".split(),
    "y": "loan mortgage house monthly rate application approved officer income closing lender term".split(),
}


def table(path, count, seed, **columns):
    """Rows of some twenty words on one of two topics; ``columns`` are functions of the row's number."""
    rng, sheet = seeded_rng(seed), io.StringIO()
    writer = csv.writer(sheet)
    writer.writerow(["id", "complaint", *columns])
    for number in range(count):
        drawn = rng.integers(12, size=20 + number % 5).tolist()
        text = " ".join(WORDS["xy"[number % 2]][place] for place in drawn)
        writer.writerow([f"r{number}", text, *(make(number) for make in columns.values())])
    path.write_text(sheet.getvalue())
    return path


@pytest.fixture
def private(tmp_path):
    """Of three writers, of whom one wrote half of all."""
    return table(
        tmp_path / "complaints.csv", 40, 1, who=lambda n: "anna" if n % 2 else f"b{n % 4}", year=lambda n: 1999 + n % 2,
        branch=lambda n: "xy"[n % 2],
    )  # fmt: skip


@pytest.fixture
def older(tmp_path):
    return table(tmp_path / "older.csv", 60, 2, whom=lambda n: f"a{n % 9}", about=lambda n: "xy"[n % 2])


def test_each_column_is_asked_for_corrected_in_place_and_none_of_the_answers_is_lost(
    private, older, tmp_path
):
    answers = ("rows", "canary", "who", "canary", "branch", "canary", "year, canary", "year", older, "canary", "whom",
               "canary", "about", "canary")  # fmt: skip
    done = publius("start", private, "--text-field", "complaint", "--output", tmp_path / "out",
                   said="\n".join(map(str, answers)) + "\n")  # fmt: skip
    said = done.stdout
    asked = [
        "Which column says who wrote each of your texts (who, year, branch, none)",
        "Which column says what each of your texts is about; it shows how often labels are right and does not "
        "leave (year, branch, none)",
        "Which columns leave as they are, for everybody to read (year, none, or several with commas)",
        "Public or older texts",
        "Which column of the public texts says who wrote them (id, whom, about, none)",
        "Which column of the public texts says what they are about",
        "What to keep",
    ]
    places = [said.index(each) for each in asked]
    assert places == sorted(places)
    assert said.count("none of the answers: who, year, branch, none") == 1
    assert said.count("none of the answers: year, branch, none") == 1
    assert said.count("'canary' is none of the columns 'year'") == 2
    assert said.count("none of the answers: id, whom, about, none") == 2
    assert (
        said.count("none of the answers: topic, meaning, words") == 1
    )  # nobody was there to correct this one
    assert "on 2 topics" in said
    assert done.returncode == 1
    assert not (tmp_path / "out").exists()


def test_what_was_answered_is_what_is_used(private, older, tmp_path):
    """The answers of a walk that ends well are those that its folder keeps."""
    pytest.importorskip("sklearn")
    answers = (
        "rows",
        "who",
        "branch",
        "year",
        older,
        "whom",
        "about",
        "topic",
        "all",
        "7",
        "release",
        *["open"] * 5,
        "yes",
    )
    done = publius("start", private, "--text-field", "complaint", "--authors-at-least", "2", "--output",
                   tmp_path / "out", said="\n".join(map(str, answers)) + "\n")  # fmt: skip
    assert done.returncode in (0, 1, 3), done.stderr
    assert "3 authors wrote your documents" in done.stdout
    assert "One author has 20: together they are within 140 nats, 20 times the bound" in done.stdout
    assert "The same on your own column 'branch', for your eyes only" in done.stdout
    manifest = json.loads((tmp_path / "out" / "release" / "manifest.json").read_text())
    assert manifest["labels"] == ["year"]
    assert b"branch" not in b"".join(each.read_bytes() for each in (tmp_path / "out" / "release").iterdir())
    assert (tmp_path / "out" / "signoff.html").stat().st_mode & 0o077 == 0
    page = (tmp_path / "out" / "signoff.html").read_text()
    assert (
        "The author with most documents has 20 (found), 140 nats together; the median author has 10" in page
    )
    above, _ = page.split("Signed</h2>")
    assert (
        "20 documents (found; none was declared); their bounds add up to 140 nats: empty, which promises nothing"
        in above
    )


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        (["open"], ["purpose"]),
        (
            ["To learn", "open", "here", "open", "a@b.example"],
            ["purpose", "recipient", "originals", "review", "contact"],
        ),
    ],
)
def test_who_leaves_the_purpose_open_is_not_asked_for_the_rest(private, answers, asked):
    """A newcomer comes to a page in ten answers; whoever has a purpose is asked for all that the page is to say."""
    choices, heard = Choices(text_field="complaint", preserve="topic", bound=7.0, without_evidence=True), []

    def ask(question):
        heard.append(question.name)
        return answers[len(heard) - 1]

    ask.yes = False
    walk = _about(Walk(private, looked_at(private, choices), None, choices), ask)
    assert heard == asked
    said = {name: getattr(walk.choices, name) for name in asked}
    assert said == {name: None if each == "open" else each for name, each in zip(asked, answers, strict=True)}


def test_with_yes_no_column_is_kept_and_what_is_proposed_is_said(private, older, tmp_path):
    done = publius("start", private, "--public", older, "--public-author-field", "whom", "--yes", "--text-field",
                   "complaint", "--authors-at-least", "99", "--output", tmp_path / "out")  # fmt: skip
    assert (
        "What to keep: meaning, because the public texts have no column of topics; --topic-field names one"
        in done.stdout
    )
    assert "leave as they are" not in done.stdout
    assert done.returncode == 65  # there are not so many authors


def test_the_column_of_authors_cannot_be_the_published_ids(tmp_path, publius):
    path = tmp_path / "t.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": f"Person {n}", "text": f"a text on rivers and banks {n}"}) + "\n"
            for n in range(9)
        )
    )
    code, _, said = publius("start", path, "--preserve", "topic", "--reference", "themes", "--author-field", "id",
                            "--publish-ids", "--without-evidence", "--yes", "--output", tmp_path / "out")  # fmt: skip
    assert code == 77
    assert "'id' is the column of authors, and as ids it would stand in every row" in said
    assert not (tmp_path / "out").exists()


def test_the_column_of_authors_cannot_be_kept(private, older, tmp_path):
    """Its values would stand in the rows."""
    said = (
        "--author-field",
        "who",
        "--public-author-field",
        "whom",
        "--keep",
        "who",
        "--preserve",
        "meaning",
        "--yes",
    )
    done = publius("start", private, "--public", older, *said, "--text-field", "complaint",
                   "--output", tmp_path / "out")  # fmt: skip
    assert done.returncode == 77
    assert "'who' is the column of authors, and kept it would stand in every row" in done.stderr
    assert not (tmp_path / "out").exists()


def test_more_documents_of_an_author_than_declared_are_refused_before_anything_is_learned(
    private, older, tmp_path
):
    done = publius("start", private, "--public", older, "--author-field", "who", "--public-author-field", "whom",
                   "--public-topic-field", "about", "--preserve", "topic", "--bound", "7", "--text-field", "complaint",
                   "--documents-per-author", "19", "--yes", "--output", tmp_path / "out")  # fmt: skip
    assert done.returncode == 65
    assert (
        "1 of 3 authors has more than 19 documents: declare the most with --documents-per-author"
        in done.stderr
    )
    assert "anna" not in done.stderr
    assert "2. What is public" not in done.stdout
    assert not (tmp_path / "out").exists()


def test_the_columns_to_keep_are_named_with_commas_or_none():
    columns = ("year", "branch, city")
    assert columns_in("none", columns) == ()
    assert columns_in("branch, city", columns) == ("branch, city",)
    assert columns_in("year , year", columns) == ("year",)
    with pytest.raises(UsageError, match="'city' is none of the columns"):
        columns_in("year,city", columns)
