"""``publius summarize``: what stands in the folder, what is refused, what is said, what is paid."""

import csv
import html
import json
import math
import re
from fractions import Fraction

import pytest
from made_collection import TOPICS, Keywords, Letters, made_rows, written

from publius.documents.corpus import open_corpus
from publius.errors import BudgetError, DataError, PolicyError, StorageError, UsageError
from publius.privacy.ledger import Ledger
from publius.releases import draft
from publius.releases.register import made_here
from publius.releases.rows import read_release
from publius.summaries.run import summarize_corpus
from publius.summaries.summary import Summary

BY = {"district": ["north", "south"]}
TABLES = {"groups.csv", "counts.csv", "topics.csv", "subjects.csv", "words.csv"}
BESIDE = {"synthetic.jsonl", "noisy.json", "release.html", "README.txt"}


@pytest.fixture
def of(topics, subjects):
    return Summary(topics, epsilon=2, by=BY, subjects=subjects)


def corpus(path, **more):
    return open_corpus(path, **{"author_field": "author", "fields": ("district",), **more})


def table(path):
    with path.open(newline="") as file:
        return [*csv.DictReader(file)]


def test_the_folder(of, file, tmp_path):
    found = summarize_corpus(corpus(file), of, tmp_path / "out", workers=1)
    folder = tmp_path / "out"
    assert {path.name for path in folder.iterdir()} == {*TABLES, *BESIDE, "manifest.json"}
    assert made_here(folder) == found.manifest
    manifest = json.loads((folder / "manifest.json").read_bytes())
    wanted = {
        "kind": "summary", "private": True, "unit": "author", "neighbours": "replace", "epsilon": 2, "delta": 0,
        "authors": 400, "documents_per_author": 1, "by": {"district": ["north", "south", "other"]}, "forced": False,
        "epsilons": {"totals": 0.4, "topics": 1.0, "subjects": 0.6}, "statements": 0, "author": None, "shuffled": None,
    }  # fmt: skip
    assert {name: manifest[name] for name in wanted} == wanted
    assert manifest["classifier"]["kind"] == "topics"
    assert manifest["subjects"]["kind"] == "subjects"
    assert sum(manifest["epsilons"].values()) == 2
    assert manifest["scales"] == {"totals": 5.0, "topics": 2.0, "subjects": pytest.approx(10 / 3)}
    head = (folder / "subjects.csv").read_text().splitlines()[0].split(",")
    assert head[:4] == ["words", "documents", "low", "high"]
    assert "label" in head  # the name that counts.csv and made-up rows have
    assert {row["group"] for row in table(folder / "groups.csv")} == {"north", "south", "other"}
    assert table(folder / "counts.csv")[0]["label"] in TOPICS
    assert all(
        int(row["low"]) > 0 for name in ("counts", "topics", "subjects") for row in table(folder / f"{name}.csv")
    )
    assert read_release(folder).table("groups")[0]["group"] == "north"


def test_the_promise_is_one(of, file, tmp_path):
    found = summarize_corpus(corpus(file), of, tmp_path / "out", workers=1, synthetic=0)
    assert "each author with epsilon = 2" in found.manifest.promise
    page = (tmp_path / "out" / "release.html").read_text()
    assert html.unescape(page).count(found.manifest.promise) == 1


@pytest.fixture
def released(topics, subjects, file, tmp_path):
    """A folder with everything there is."""
    of = Summary(
        Keywords("python"),
        epsilon=8,
        by=BY,
        subjects=subjects,
        ask=["bus train tram", "school lesson"],
        encoder=Letters(),
    )
    summarize_corpus(
        corpus(written(tmp_path / "old.jsonl", made_rows(900, 9, (1, 9, 1, 1)))), of, tmp_path / "old", workers=1
    )
    now = corpus(written(tmp_path / "now.jsonl", made_rows(900, 8, (0, 0, 1, 9))))
    summarize_corpus(now, of, tmp_path / "out", compare=tmp_path / "old", workers=1)
    return tmp_path / "out"


def words(text):
    return len(re.sub(r"<[^>]+>", " ", text).split())


def test_the_page_shows_pictures_first_and_is_short(released):
    page = (released / "release.html").read_text()
    side = re.search(r'<section class="side.*?</section>', page, re.DOTALL)[0]
    assert "<script" not in page
    assert side.index("<svg") < side.index("What you may write") < side.index("What protects authors")
    assert words(side) < 600
    assert words(re.sub(r"<svg.*?</svg>", "", side, flags=re.DOTALL)) < 400
    assert len(re.search(r"What you may write, and what not</h2>(.*?)</ol>", side, re.DOTALL)[1].split("<li>")) == 4
    for said in (
        "What they wrote about",
        "district",
        "bus train tram",
        "What changed since an earlier summary",
        "Here epsilon is ",
        "Subjects with small counts are not named.",
        "words more frequent in this group than overall",
    ):
        assert said in side
    assert "more</b>: park" in side or "new</b>: park" in side
    for row in table(released / "groups.csv"):
        assert f"{int(row['high']):,}" in page


def test_the_read_me_is_short(released):
    text = (released / "README.txt").read_text()
    assert len(text.split()) < 250
    assert "groups.csv" in text
    assert "subjects.csv" in text


def test_of_which_documents_a_count_is_is_said(released, topics, subjects, file, tmp_path):
    page, read_me = ((released / name).read_text() for name in ("release.html", "README.txt"))
    assert "in any document. A program decides, and makes mistakes." in page
    assert "drawn by lot; for statements, all documents." in page
    assert "of each author was counted; for statements, all documents." in read_me
    assert (
        "at most 1 document of each author, and of all their documents at most 2 statements;"
        in json.loads((released / "manifest.json").read_bytes())["promise"]
    )
    assert "of 900 counted documents" in page  # one of each author: exact
    summarize_corpus(
        corpus(file), Summary(topics, epsilon=8, by=BY, subjects=subjects, documents_per_author=2), tmp_path / "c"
    )
    low, high = re.search(
        r"of (\d+) to (\d+) counted documents", (tmp_path / "c" / "release.html").read_text()
    ).groups()
    assert 400 <= int(low) < int(high) <= 800
    two = Summary(topics, by=BY, subjects=subjects, documents_per_author=2)
    with pytest.raises(UsageError, match="counts at most 1 document of an author"):
        summarize_corpus(corpus(file), two, tmp_path / "d", compare=released, workers=1)


def test_shares_of_epsilon_add_up_on_the_page(released):
    page = (released / "release.html").read_text()
    shares = re.findall(r'<td class="n">(\d+/\d+)</td>', page)
    assert (len(shares), sum(map(Fraction, shares))) == (4, 1)


def test_how_many_times_more_is_rounded_down_to_hundredths(released):
    page = html.unescape((released / "release.html").read_text())
    rows = [row for name in ("topics", "subjects") for row in table(released / f"{name}.csv")]
    told = {
        f"{math.floor(100 * float(row['times_low'])) / 100:.4g}" for row in rows if row["change"] in ("new", "more")
    }
    assert {*re.findall(r"at least ([\d.]+) times", page)} == told
    assert ("no change told" in page) == any(not row["change"] for row in rows)
    assert "not shown" not in page


def test_what_changed_stands_in_the_tables(released):
    changes = {row["words"].split()[0]: row for row in table(released / "subjects.csv")}
    assert changes["park"]["change"] in ("new", "more")
    assert float(changes["park"]["times_low"]) > 1
    stated = json.loads((released / "manifest.json").read_bytes())
    assert stated["compared_with"] == "an earlier summary (epsilon 8)"
    assert [len(each["sha256"]) for each in stated["public"] if each["name"] == stated["compared_with"]] == [64]


def test_statements_stand_in_a_table(released):
    rows = table(released / "statements.csv")
    assert [*rows[0]] == ["statement", "authors", "low", "high"]
    assert [row["statement"] for row in rows] == ["bus train tram", "school lesson"]
    manifest = json.loads((released / "manifest.json").read_bytes())
    assert (manifest["statements"], manifest["statements_per_author"], manifest["near"]) == (2, 2, 0.3)
    assert "letters" in [each["name"] for each in manifest["public"]]


# Nothing but the noisy counts leaves (rule 4) ---------------------------------------------------------------


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_rule_4_with_the_draw_fixed_texts_of_one_world_are_those_of_another(of, tmp_path, monkeypatch):
    """Worlds whose noisy counts are equal differ in no byte: names, ids, order and texts tell nothing else."""
    monkeypatch.setattr(draft, "entropy", lambda: bytes(range(32)))
    rows = made_rows(300, per_author=1)
    other = [
        {**row, "id": f"x{at}", "author": f"Somebody {row['author']}", "text": row["text"] + " zyzzyva" * at}
        for at, row in enumerate(reversed(rows))
    ]
    found = []
    for name, world in (("one", rows), ("two", other)):
        place = written(tmp_path / f"{name}.jsonl", world)
        summarize_corpus(corpus(place), of, tmp_path / name, workers=1)
        found.append(contents(tmp_path / name))
    assert found[0] == found[1]


def test_no_word_of_a_document_leaves(of, tmp_path):
    rows = [{**row, "text": row["text"] + " Kryptonite", "author": row["author"] + " Zaphod"} for row in made_rows(300)]
    summarize_corpus(corpus(written(tmp_path / "in.jsonl", rows)), of, tmp_path / "out", workers=1)
    for name, content in contents(tmp_path / "out").items():
        assert b"ryptonite" not in content, name
        assert b"aphod" not in content, name


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_change_nothing(of, file, tmp_path, monkeypatch, workers):
    monkeypatch.setattr(draft, "entropy", lambda: bytes(range(32)))
    summarize_corpus(corpus(file), of, tmp_path / "out", workers=workers)
    summarize_corpus(corpus(file), of, tmp_path / "again", workers=1)
    assert contents(tmp_path / "out") == contents(tmp_path / "again")


@pytest.mark.parametrize("value", ["null", "17", "[1]", '"\\u0000"', '""'])
def test_rule_5_no_text_refuses_or_drops_an_author(of, tmp_path, value):
    lines = [json.dumps(row) for row in made_rows(300, per_author=1)]
    lines[7] = f'{{"id": "i7", "text": {value}, "author": "Author 7", "district": {{"a": 1}}}}'
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    assert summarize_corpus(corpus(tmp_path / "in.jsonl"), of, tmp_path / "out", workers=1).manifest.authors == 300


# Paying and refusing ----------------------------------------------------------------------------------------


def test_each_author_is_charged_once_and_all_or_none(of, file, tmp_path):
    Ledger.create(tmp_path / "l", budget=3, unit="epsilon")
    ledger = Ledger(tmp_path / "l")
    summarize_corpus(corpus(file), of, tmp_path / "one", ledger=ledger, workers=1)
    assert ledger.account("author 3").spent == 2
    with pytest.raises(BudgetError):
        summarize_corpus(corpus(file), of, tmp_path / "two", ledger=ledger, workers=1)
    assert not (tmp_path / "two").exists()
    assert ledger.account("author 3").spent == 2
    Ledger.create(tmp_path / "w", budget=3, unit="exponent")
    with pytest.raises(UsageError, match="unit epsilon"):
        summarize_corpus(corpus(file), of, tmp_path / "two", ledger=Ledger(tmp_path / "w"), workers=1)


def test_few_authors_are_refused_before_anything_is_paid(of, tmp_path):
    place = written(tmp_path / "in.jsonl", made_rows(5))
    Ledger.create(tmp_path / "l", budget=3, unit="epsilon")
    with pytest.raises(PolicyError, match="5 authors are too few at epsilon 2: every count would be noise"):
        summarize_corpus(corpus(place), of, tmp_path / "out", ledger=Ledger(tmp_path / "l"), workers=1)
    assert not (tmp_path / "out").exists()
    assert Ledger(tmp_path / "l").account("author 3").spent == 0
    found = summarize_corpus(corpus(place), of, tmp_path / "out", force=True, workers=1)
    assert found.manifest.forced
    page = (tmp_path / "out" / "release.html").read_text()
    assert page.index("5 authors are too few") < page.index("<h1")
    assert (tmp_path / "out" / "README.txt").read_text().startswith("5 authors are too few")


def test_what_taught_the_classifier_is_not_summarized(of, file, topics, subjects, tmp_path):
    trained = Keywords()
    trained.trained_on = corpus(file).digests()
    with pytest.raises(PolicyError, match="made from"):
        summarize_corpus(corpus(file), Summary(trained, subjects=subjects), tmp_path / "out", workers=1)


@pytest.mark.parametrize(
    ("compare", "error", "reason"),
    [("nothing", DataError, "is no release"), ("labels", UsageError, "another kind"), ("damaged", DataError, "not as it was"),
     ("two", UsageError, "same --documents-per-author"),
     ("missing.jsonl", StorageError, "missing"), ("in.jsonl", PolicyError, "one of the files")],
)  # fmt: skip
def test_what_cannot_be_compared_with(of, file, topics, subjects, tmp_path, compare, error, reason):
    place = tmp_path / compare
    if compare == "nothing":
        place.mkdir()
    elif compare == "labels":
        import publius
        from publius.releases.run import protect_corpus

        protect_corpus(corpus(file), publius.RandomizedResponse(topics, 2), place)
    elif compare in ("damaged", "two"):
        other = Summary(topics, by=BY, subjects=subjects, documents_per_author=1 + (compare == "two"))
        summarize_corpus(corpus(file), other, place, workers=1)
        if compare == "damaged":
            (place / "noisy.json").write_text("{}")
    with pytest.raises(error, match=reason):
        summarize_corpus(corpus(file), of, tmp_path / "out", compare=place, workers=1)
    assert not (tmp_path / "out").exists()


def test_public_texts_are_compared_with(of, file, tmp_path):
    public = [row for row in made_rows(600, 7, (5, 3, 1, 0)) if "park" not in row["text"]]
    for row in public:
        del row["district"]
    place = written(tmp_path / "public.jsonl", public)
    private = corpus(written(tmp_path / "now.jsonl", made_rows(600, 8, (1, 1, 1, 9))))
    found = summarize_corpus(private, of, tmp_path / "out", compare=place, workers=1)
    assert found.told.subjects[0]["label"] == "park"
    assert found.told.subjects[0]["change"] in ("new", "more")
    assert found.manifest.compared_with == "public texts"


# The command ------------------------------------------------------------------------------------------------


@pytest.fixture
def command(run, monkeypatch, tmp_path):
    """The command on a classifier of anybody's, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        return run("summarize", *arguments)

    return call


TOY = ("--classifier", "python:toy_classifier:topics", "--share", "totals=0.3,topics=0.7")


def test_the_command(command, file, tmp_path):
    code, out, err = command(
        file,
        "--author-field",
        "author",
        "--by",
        "district=north,south",
        *TOY,
        "--output",
        tmp_path / "out",
        "--workers",
        1,
    )
    assert code == 0, err
    assert len(out.splitlines()) < 10
    assert "bus" in out
    assert "Summary of 400 authors" in out
    assert "74 %" in out
    assert (tmp_path / "out" / "release.html").exists()


def test_json(command, file, tmp_path):
    arguments = (file, "--author-field", "author", "--by", "district=north", *TOY, "--output", tmp_path / "out")
    code, out, err = command(*arguments, "--json", "--workers", 1)
    assert code == 0, err
    found = json.loads(out)
    assert found["kind"] == "summary"
    assert found["groups"][1]["group"] == "other"
    assert {"label", "documents", "low", "high", "share"} <= set(found["topics"][0])
    assert "south" not in out
    assert "undeclared district" in err


def test_an_author_column_is_asked_for_with_the_columns(command, file, tmp_path):
    code, _, err = command(file, "--output", tmp_path / "out")
    assert code == 2
    assert "--author-field" in err
    assert "id, text, author, district" in err
    code, _, err = command(file, "--author-field", "name", "--output", tmp_path / "out")
    assert code == 65
    assert "name" in err


def test_each_document_its_own_author(command, file, rows, tmp_path):
    code, out, err = command(file, "--author-field", "id", *TOY[:2], "--share", "topics=1", "--output", tmp_path / "o")
    assert code == 0, err
    assert f"{len(rows):,} authors" in out


def test_few_authors_exit_with_77(command, tmp_path):
    place = written(tmp_path / "few.jsonl", made_rows(5))
    arguments = (place, "--author-field", "author", *TOY[:2], "--share", "topics=1", "--output", tmp_path / "out")
    code, _, err = command(*arguments)
    assert code == 77
    assert "5 authors are too few at epsilon 1: every count would be noise" in err
    code, out, _ = command(*arguments, "--force")
    assert code == 0
    assert out.startswith("5 authors are too few")


def test_accuracy_before_anything(command, tmp_path):
    code, out, err = command(*TOY, "--by", "district=north,south", "--accuracy")
    assert code == 0, err
    assert "sure to show from" in out
    assert "smaller counts may show, too" in out  # a noisy count shows from half of that true one on
    assert len(out.splitlines()) < 10
    code, out, _ = command(*TOY, "--by", "district=north,south", "--accuracy", "--json", "--epsilon", "1/2")
    totals, topics = json.loads(out)["tables"]
    assert totals["cells"] == 3
    assert topics["cells"] == 15
    assert topics["told"] == 2 * topics["within"] + 1
    assert topics["scale"] == pytest.approx(2 / 0.35)


def test_what_is_missing(command, file):
    assert command()[0] == command(file)[0] == 2


def test_each_option_is_one_line_of_help(command):
    code, out, _ = command("--help")
    assert code == 0
    own = out[: out.index("People")].splitlines()
    assert len([line for line in own if line.startswith("│")]) <= 30
