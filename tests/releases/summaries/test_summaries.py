"""A summary from documents to its folder: what is counted, what leaves, who pays, and what is refused."""

import csv
import functools
import html
import io
import json
import math
import re
import shutil
import tracemalloc
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import complaints
from publius.collections.strata import OTHER
from publius.collections.tables import NoisyTable
from publius.errors import BudgetError, DataError, PolicyError, UsageError
from publius.noise.randomness import seeded_rng
from publius.privacy.ledger import Charge, Ledger
from publius.releases.contents import FILES, check_contents
from publius.releases.digests import file_digests
from publius.releases.drawing import pyplot, svg
from publius.releases.manifests import read_manifest_of
from publius.releases.metadata import metadata_of
from publius.releases.of_manifest import check_statements, in_order, not_checked
from publius.releases.summaries import pictures, report
from publius.releases.summaries.drawn import Drawn
from publius.releases.summaries.earlier import open_earlier
from publius.releases.summaries.folder import fill_folder, finish, manifest_of, row_lines
from publius.releases.summaries.names import ALONE, LIKE_ALL, TOO_FEW
from publius.releases.summaries.read_me import BAG_WORDS, SOURCE, columns
from publius.releases.summaries.run import summarize
from publius.releases.summaries.said import Said, Told
from publius.releases.summaries.summary import Seen, Summary, exact_number
from publius.vectors.learning.prototypes import NONE_OF_THESE
from publius.vectors.learning.public_themes import NO_WORDS
from publius.vectors.learning.reference import remember_texts
from released import state

BY = ["product=card,loan"]
STRATA = ["card", "loan", "other"]


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module", autouse=True)
def undrawn():
    """Pictures are made and not drawn, on the page and where it is made again; test_start_summary.py draws them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "svg", lambda figure: pyplot().close(figure) or "<svg></svg>")
        yield


@pytest.fixture
def file(rows, tmp_path):
    path = tmp_path / "letters.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(reference, rows, tmp_path_factory):
    """A folder at epsilon 4, all statistics with a share, that tests copy."""
    place = tmp_path_factory.mktemp("made")
    (place / "letters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    summary = Summary(reference, 4, by=BY, shares="totals=0.25,themes=0.5,subjects=0.25")
    return place / "summary", summarize(summary.corpus(place / "letters.jsonl"), summary, place / "summary")


@pytest.fixture
def released(made, tmp_path):
    folder, finished = made
    return shutil.copytree(folder, tmp_path / "summary"), finished


def test_rows_of_one_thing_have_one_name_in_all_files(released):
    """Who joins the tables needs no guess: strata, labels of themes and numbers are the same everywhere."""
    folder, _ = released
    counts, strata, themes, subjects = (
        table(folder / f"{name}.csv") for name in ("counts", "strata", "themes", "subjects")
    )
    noisy = json.loads((folder / "noisy.json").read_text())
    names = noisy["names"]
    assert [row["stratum"] for row in strata] == names["strata"] == STRATA
    labels = [row["theme"] for row in counts[: len(counts) // len(STRATA)]]
    assert labels == names["themes"]
    assert labels[-2:] == [NONE_OF_THESE, NO_WORDS]
    for row in themes:
        assert row["theme"] == labels[int(row["number"])]
        assert int(row["noisy"]) == sum(each[labels.index(row["theme"])] for each in noisy["themes"])
    for row in subjects:
        assert names["subjects"][int(row["number"])] == row["words"]
        assert noisy["subjects"][int(row["number"])] == int(row["noisy"])
    for row in strata:
        own = [each for each in counts if each["stratum"] == row["stratum"]]
        assert int(row["contributed"]) == sum(int(each["contributed"]) for each in own)
        assert int(row["low"]) <= int(row["contributed"]) <= int(row["high"])
        assert int(row["high"]) < sum(int(each["high"]) for each in own)
    assert {
        row["theme"] for row in map(json.loads, (folder / "synthetic.jsonl").read_text().splitlines())
    } <= {*labels}


def test_data_tools_are_told_what_columns_mean(released):
    folder, finished = released
    found = metadata_of(folder, finished.manifest)
    resources = {each["path"]: each for each in json.loads(found["datapackage.json"])["resources"]}
    for name in ("counts.csv", "strata.csv", "themes.csv", "subjects.csv"):
        fields = {each["name"]: each for each in resources[name]["schema"]["fields"]}
        for limit in ("low", "high"):
            assert fields[limit]["type"] == "integer"
            assert "a probability of at least 95 %" in fields[limit]["description"]
    rows = {each["name"]: each for each in resources["synthetic.jsonl"]["schema"]["fields"]}
    assert "declared beforehand" in rows["product"]["description"]
    for record in json.loads(found["croissant.json"])["recordSet"]:
        for field in record["field"]:
            assert not field["description"].startswith("The column"), field


def test_a_ratio_is_on_the_page_only_where_a_difference_is_shown(released):
    """A reader quotes "42 times as much" of thirty documents, whatever stands beside it, and divides two shares."""
    folder, _ = released
    expected = Counter()
    for path in ("themes.csv", "subjects.csv"):
        rows = table(folder / path)
        gone = [row for row in rows if float(row["ratio_high"]) < 1]
        assert [row for row in rows if row["ratio"]] == [
            row for row in rows if row["new"] == "true" or row in gone
        ]
        assert all(row["ratio_low"] and row["share_before"] for row in rows)
        expected["less"] += len(gone[-report._SHOWN :])  # in a table of their own, too
        for row in rows[: report._SHOWN]:
            expected["new" if row["new"] == "true" else "less" if row in gone else "not shown"] += 1
    page = (folder / "report.html").read_text()
    found = re.findall(
        r"<td>[^<]*(?:%|–)</td>\n<td>([^<]+)</td><td>([^<]+)</td><td>([^<]+)</td><td>(?:<strong[^>]*>)?([a-z ]+)",
        page,
    )
    assert Counter(shown for *_, shown in found) == expected
    assert expected["not shown"]
    assert all(
        (shown == "not shown") == (before == ratio == limits == "–") for before, ratio, limits, shown in found
    )
    assert "tell no event of this collection, and a name among them names nobody" in page
    said = " ".join((folder / "READ-ME.txt").read_text().split())
    for each in ("differ, since each has noise of its own, and none is a mistake: how many contributed documents there",
                 "The words tell no event of this collection", "Empty where 1 lies between its limits",
                 "counted by the program Publius", "Do not try to find out whose documents these are",
                 "Who published it, and for what, stands in receivers.html"):  # fmt: skip
        assert each in said, each
    assert re.search(r"Between [\d,]+ and [\d,]+ contributed documents", page), (
        "the total is where it is said to be"
    )


def test_a_reference_stores_what_summaries_need(reference):
    counted = reference.counted
    assert counted.themes.size == 6
    assert counted.themes.documents.sum() == counted.holding.sum() == counted.documents == 120
    reference.verify()


def test_the_folder_says_what_was_counted(released, rows):
    folder, finished = released
    counts = table(folder / "counts.csv")
    assert list(counts[0]) == ["stratum", "theme", "contributed", "low", "high"]
    assert [row["stratum"] for row in counts[:: 6 + 2]] == STRATA
    totals = Counter()
    for row in counts:
        totals[row["stratum"]] += int(row["contributed"])
        assert int(row["low"]) <= int(row["contributed"]) <= int(row["high"])
    truth = Counter(row["product"] if row["product"] in STRATA else "other" for row in rows)
    assert all(abs(totals[name] - truth[name]) < 40 for name in STRATA)
    bags = [json.loads(line) for line in (folder / "synthetic.jsonl").read_text().splitlines()]
    assert Counter(bag["product"] for bag in bags) == totals
    assert {"product", "theme", "bag"} == {*bags[0]}
    for name in ("subjects.csv", "themes.csv"):
        assert list(table(folder / name)[0])[:2] == ["words", "new"]
    assert [row["stratum"] for row in table(folder / "words.csv")] == STRATA
    assert all(len(row["words"].split()) == 10 for row in table(folder / "words.csv"))
    assert finished.manifest == json.loads((folder / "manifest.json").read_text())


def test_the_manifest_states_the_promise(released):
    folder, finished = released
    manifest = finished.manifest
    stated = {name: manifest[name] for name in ("kind", "private", "unit", "epsilon", "delta", "neighbours")}
    assert stated == {
        "kind": "summary", "private": True, "unit": "author", "epsilon": 4, "delta": 0, "neighbours": "replace"
    }  # fmt: skip
    assert manifest["epsilon_added_or_left_out"] == 2
    assert manifest["documents_per_author"] == 1
    assert manifest["shares"] == {"totals": 0.25, "themes": 0.5, "subjects": 0.25}
    assert manifest["strata"] == {"product": STRATA}
    assert manifest["cells"] == sum(each["cells"] for each in manifest["tables"].values())
    assert manifest["tables"]["themes"]["scale"] == "1"  # 2c / (4 / 2)
    assert "whatever one author wrote, all of it" in manifest["promise"]
    assert manifest[FILES] == {
        name: digest for name, digest in file_digests(folder).items() if name != "manifest.json"
    }


def test_no_word_of_a_document_leaves(reference, tmp_path, rows):
    """What is no public word, in texts, authors and undeclared values, stands in no file."""
    marked = [{**row, "author": f"quokka{i}", "text": row["text"] + " wombat"} for i, row in enumerate(rows)]
    marked[0]["product"] = "numbat"
    path = tmp_path / "letters.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in marked), encoding="utf-8")
    summary = Summary(reference, 4, by=BY)
    summarize(summary.corpus(path), summary, tmp_path / "out")
    whole = b"".join(each.read_bytes() for each in (tmp_path / "out").iterdir())
    assert not [word for word in (b"quokka", b"wombat", b"numbat") if word in whole]


def test_nothing_tells_how_many_authors_there_are(reference, rows, tmp_path):
    """Sizes and names follow from noisy counts and declared values alone; the manifest is the same."""
    summary = Summary(reference, 4, by=BY)
    manifests = []
    for number in (399, 400):
        path = tmp_path / f"letters{number}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows[:number]), encoding="utf-8")
        found = summarize(summary.corpus(path), summary, tmp_path / f"out{number}")
        manifests.append({name: value for name, value in found.manifest.items() if name != FILES})
        assert (
            str(number)
            not in json.dumps(manifests[-1]).replace(found.manifest["vocabulary_sha256"], "")[:400]
        )
    assert manifests[0] == manifests[1]


def test_a_document_that_cannot_be_read_counts_as_no_words(reference, rows):
    """It neither stops the run nor thins it: its author contributes."""
    summary = Summary(reference, 4)
    broken = [{**row, "text": None} if place % 2 else row for place, row in enumerate(rows)]
    told = summary(broken)
    assert abs(int(told.themes.values[0, -1]) - len(rows) // 2) < 30


def test_a_text_in_another_encoding_than_its_table_counts_as_no_words(reference, rows, tmp_path):
    """Who wrote it can still be told, so that he counts, and nobody else's text is read in another way."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"author,text\nada,d\xe9j\xe0\nbob,hello\n")
    summary = Summary(reference, "100", shares="totals=1")
    seen = Seen()
    assert [written[:2] for some in summary.read(summary.rows(path), seen) for written in some] == [
        ("ada", ""),
        ("bob", "hello"),
    ]
    assert (seen.unreadable, seen.without_author) == (1, 0)


LONG = "loan " * 3_400_000
"""More than any document may have."""


def _long_rows(name, text):
    """Bytes of a table whose first text is ``text``."""
    rows = [
        {"author": "ada", "text": text, "product": "loan"},
        {"author": "bob", "text": "hello", "product": "card"},
    ]
    if name.endswith(".jsonl"):
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    if name.endswith(".parquet"):
        pyarrow, sink = pytest.importorskip("pyarrow"), io.BytesIO()
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(rows), sink)
        return sink.getvalue()
    whole = io.StringIO(newline="")
    names = ["author", "text", "product"] if name == "before.csv" else ["text", "product", "author"]
    # Behind a text only a header whose names are quoted says that its line breaks are its own.
    writer = csv.DictWriter(
        whole, names, quoting=csv.QUOTE_MINIMAL if name == "before.csv" else csv.QUOTE_ALL
    )
    writer.writeheader()
    writer.writerows(rows)
    return whole.getvalue().encode()


TOO_LONG = {"plain": LONG, "quoted": LONG[:-1] + '"', "marks": '\n"\\{[' * 4_000_000}
QUICKLY = {("before.csv", "quoted"), ("a.parquet", "plain")}


@pytest.mark.parametrize(("name", "text"), [
    pytest.param(name, text, id=f"{kind}-{name}", marks=[] if (name, kind) in QUICKLY else pytest.mark.long)
    for name in ("before.csv", "after.csv", "a.jsonl", "a.parquet") for kind, text in TOO_LONG.items()
])  # fmt: skip
def test_a_text_that_is_too_long_for_any_document_counts_as_no_words(reference, tmp_path, name, text):
    """Who wrote it, and of what stratum it is, can still be told: else that there is a summary would tell of it."""
    path = tmp_path / name
    path.write_bytes(_long_rows(name, text))
    summary, seen = Summary(reference, "100", by=BY, shares="totals=1"), Seen()
    assert [written for some in summary.read(summary.rows(path), seen) for written in some] == [
        ("ada", "", STRATA.index("loan")),
        ("bob", "hello", STRATA.index("card")),
    ]
    assert (seen.unreadable, seen.without_author) == (1, 0)


@pytest.mark.parametrize("letters", [0, 4 * 2**20, 40 * 2**20])
@pytest.mark.parametrize("dictionary", [True, False])
def test_whether_a_parquet_file_is_read_tells_of_no_text(reference, tmp_path, letters, dictionary):
    """Text of one letter packs a thousandfold: a file of kilobytes is read with it as it is without."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"author": ["ada", "bob"], "text": ["a" * letters, "hello"]})
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path, compression="zstd", use_dictionary=dictionary)
    assert path.stat().st_size < 2**14
    summary = Summary(reference, "100", shares="totals=1")
    found = [written for some in summary.read(summary.rows(path), Seen()) for written in some]
    assert [(author, text.strip("a")) for author, text, *_ in found] == [("ada", ""), ("bob", "hello")]


@pytest.mark.parametrize(
    "line", [b'{"author": "ada", "text": "\xff"}', b'{"text": ' + b"7" * 5_000 + b', "author": "ada"}']
)
def test_a_line_whose_text_alone_cannot_be_read_counts_as_no_words(reference, tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_bytes(line + b'\n{"author": "bob", "text": "hello"}\n')
    summary, seen = Summary(reference, "100", shares="totals=1"), Seen()
    found = [written[:2] for some in summary.read(summary.rows(path), seen) for written in some]
    assert found == [("ada", ""), ("bob", "hello")]
    assert (seen.unreadable, seen.without_author) == (1, 0)


def test_rows_without_an_author_are_refused_or_left_out(reference, rows):
    some = [*rows[:5], {"product": "card", "text": "secret", "author": "  "}, *rows[5:]]
    with pytest.raises(DataError, match="document 6 has no author") as error:
        Summary(reference, 4)(some)
    assert "secret" not in str(error.value)
    Summary(reference, 4, leave_out_without_author=True)(some)


def _nested(name):
    """A name in more lists in one another than Python calls functions."""
    return functools.reduce(lambda found, _: [found], range(2_000), name)


@pytest.mark.parametrize(
    ("named", "why"),
    [(["a", "b"], "a document has 2 authors"), (_nested("secret"), "must be text or a number, not list"),
     ("secret" * 200, "at most 1,024 characters"),
     ("secret\ud800", "a text of Unicode"), ({"secret": 1}, "must be text or a number, not dict")],
    ids=["several", "nested", "long", "half", "object"],
)  # fmt: skip
def test_rows_that_name_what_can_be_no_author_are_refused_or_left_out(reference, rows, named, why):
    """As rows that name nobody: else that there is a summary would tell of such a row, whatever was asked for."""
    some = [*rows[:5], {"product": "card", "text": "secret", "author": named}, *rows[5:]]
    with pytest.raises(
        DataError, match=f"document 6 has no author.*{why}.*--leave-out-without-author"
    ) as error:
        Summary(reference, 4)(some)
    assert "secret" not in str(error.value)
    summary, seen, without = Summary(reference, 4, leave_out_without_author=True), Seen(), Seen()
    found, clean = (
        [[*each] for each in summary.read(summary.rows(given), counted)]
        for given, counted in ((some, seen), (rows, without))
    )
    assert found == clean
    assert (seen.without_author, seen.documents - without.documents) == (1, 1)


def test_an_author_counts_once_however_the_name_is_written(reference, rows):
    """Fifty letters of one person under two spellings move one count; c = 1."""
    text = rows[0]["text"]
    loud = [{"author": name, "text": f"{text} {n}"} for n in range(25) for name in ("Ada ", "ａｄａ")]
    told = Summary(reference, "100", shares="totals=1")(loud)
    assert told.totals.values.tolist() == [1]


@pytest.mark.parametrize(
    ("given", "exact"), [("0.1", Fraction(1, 10)), (0.1, Fraction(1, 10)), (2, 2), ("1/3", Fraction(1, 3))]
)
def test_epsilon_is_taken_as_it_is_written(given, exact):
    assert exact_number(given, "epsilon") == exact


@pytest.mark.parametrize("bad", ["x", 0, -1, float("nan"), float("inf"), True, None, "1e-40"])
def test_an_epsilon_that_is_none_is_refused(bad):
    with pytest.raises(UsageError, match="epsilon must be a number"):
        exact_number(bad, "epsilon")


def test_shares_of_more_than_epsilon_are_refused(reference):
    with pytest.raises(UsageError, match="sum to"):
        Summary(reference, 1, shares="themes=0.7,subjects=0.4")


def test_fields_that_would_clash_are_refused(reference):
    with pytest.raises(UsageError, match="'theme'"):
        Summary(reference, 1, by=["theme=a,b"])
    with pytest.raises(UsageError, match="private text"):
        Summary(reference, 1, by=["text=a,b"])
    for name in (
        "ann@example.org",
        "author' says. Nothing else",
        "Alice Muster",
        "Mu\u0308ller",
        "id" * 31,
        "7",
    ):
        with pytest.raises(UsageError, match="the name of the column of authors is published"):
            Summary(reference, 1, author_field=name)
    for name in ("customer_id", "AuthorName", "AUTHORID", "Customer No.", "submitted-by", "studentid", "Kundennr",
                 "patient", "e-mail", "X-From", "display_name", "Verfasser*in".replace("*", "_")):  # fmt: skip
        assert Summary(reference, 1, author_field=name).author_field == name
    for names in ({"by": {"half\ud800": ["a"]}}, {"author_field": "half\ud800"}):
        with pytest.raises(UsageError, match="a text of Unicode"):
            Summary(reference, 1, **names)


def test_a_summary_says_which_column_its_authors_are_of(reference, rows, file, publius, tmp_path):
    """Of those who wrote and those who took it down one is protected: who signs or receives it reads which."""
    folder, page = tmp_path / "out", tmp_path / "page.html"
    file.write_text(
        "".join(json.dumps({**row, "customer": row["author"], "author": "clerk"}) + "\n" for row in rows)
    )
    summary = Summary(reference, 4, by=BY, author_field="customer")
    summarize(summary.corpus(file), summary, folder)
    assert publius("signoff", folder, "--output", page)[0] == 0
    assert json.loads((folder / "manifest.json").read_text())["author_field"] == "customer"
    for path in (folder / "READ-ME.txt", folder / "report.html", page):
        said = " ".join(html.unescape(path.read_text()).split())
        assert "Who counts as one author is as the column 'customer' says" in said, path
    assert "each author with all contributed documents together, as the column 'customer' says." in said


def test_a_cell_depends_on_its_document_alone(reference, rows):
    """Whatever else is looked up together with it, and however many documents there are."""
    counting = Summary(reference, 1, by=BY).counting
    texts = [row["text"] for row in rows]
    together = counting.cells(texts, [0] * len(texts))
    alone = np.concatenate([counting.cells([text], [0]) for text in texts])
    assert (together == alone).all()


# Who pays


def test_each_author_is_charged_once_before_anything_is_drawn(reference, file, tmp_path, monkeypatch):
    """A run that is killed after the debit has drawn nothing, and the next one pays anew for its own draw."""
    ledger = Ledger.create(tmp_path / "ledger", budget=10, unit="bound")
    summary = Summary(reference, 4, by=BY)

    def killed(cells):
        assert ledger.subject("author 7").spent == 4
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Summary, "draw", lambda self, cells: killed(cells))
        with pytest.raises(KeyboardInterrupt):
            summarize(summary.corpus(file), summary, tmp_path / "out", ledger=ledger)
    assert not (tmp_path / "out").exists()
    summarize(summary.corpus(file), summary, tmp_path / "out", ledger=ledger)
    assert ledger.subject("Author 7").spent == 8
    assert ledger.counts()[:2] == (0, 400)
    ledger.check()


def test_whose_budget_is_spent_is_left_out_silently(reference, file, tmp_path):
    """He neither stops the run nor shows; he is told of to the curator alone."""
    ledger = Ledger.create(tmp_path / "ledger", budget=5, unit="bound")
    ledger.spend([Charge("row 1", 2, "AUTHOR 7")])
    summary = Summary(reference, 4, by=BY)
    finished = summarize(summary.corpus(file), summary, tmp_path / "out", ledger=ledger)
    assert finished.left_out == 1
    assert ledger.subject("author 7").spent == 2
    assert "left" not in json.dumps(
        {k: v for k, v in finished.manifest.items() if "left_out" not in k and k != "promise"}
    )


def test_a_ledger_of_distances_is_refused(reference, file, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", budget=5)
    summary = Summary(reference, 4, by=BY)
    with pytest.raises(PolicyError, match="--unit bound"):
        summarize(summary.corpus(file), summary, tmp_path / "out", ledger=ledger)


def test_a_charge_needs_somebody(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", budget=5, unit="bound")
    with pytest.raises(UsageError, match="the id of a document"):
        ledger.spend([Charge(None, 1)])
    ledger.spend([Charge(None, 4, "ada")])
    with pytest.raises(BudgetError):
        ledger.spend([Charge(None, 2, "ADA")])


# What it is worth


def test_it_stops_where_nothing_could_be_told_apart(reference, file, tmp_path):
    summary = Summary(reference, "0.001", by=BY)
    with pytest.raises(PolicyError, match="with 400 authors"):
        summarize(summary.corpus(file), summary, tmp_path / "out", authors=400)
    assert not (tmp_path / "out").exists()


def test_that_there_is_a_summary_tells_nothing_of_how_many_authors_there_were(reference, rows, tmp_path):
    """Without a public number the curator alone hears that it says nothing; one author fewer or 399 change no exit."""
    told = []
    for number, kept in enumerate((rows, rows[:-1], rows[:1])):
        few = tmp_path / f"few{number}.jsonl"
        few.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
        for epsilon in ("0.001", "4"):
            summary = Summary(reference, epsilon, by=BY)
            folder = tmp_path / f"out{number} {epsilon}"
            told.append([])
            summarize(summary.corpus(few), summary, folder, notice=told[-1].append)
            assert (folder / "manifest.json").exists()
            assert "told apart: with" not in (folder / "READ-ME.txt").read_text()
    heard = [any("nothing could be told apart" in text for text in texts) for texts in told]
    assert heard == [True, False, True, False, True, True]


def by_known_authors(reference):
    """The same reference, each of its letters another author's."""
    source = {**reference.source, "public_words": {"authors": reference.counted.documents}}
    return replace(reference, source=source)


def test_what_is_new_is_found_and_only_that(reference, rows):
    """Public letters know cards, loans and parcels alike; here nearly all are on parcels, and an equal crowd is not."""
    known = by_known_authors(reference)
    parcels = [row for row in rows if row["product"] == "parcel"]
    many = [{**row, "author": f"{row['author']} {n}"} for row in parcels for n in range(4)]
    shares = {"subjects": 1}
    found = Said(Summary(known, 1, shares=shares)(many)).subjects
    assert set(found.words[found.new[0]].split()) & {"courier", "parcel", "delivery", "shipment"}
    assert found.compared.excess[found.cells[0]] == found.compared.excess.max()
    assert Said(Summary(known, 1, shares=shares)(rows)).subjects.new == []


def test_nothing_is_new_because_one_unknown_author_wrote_much(reference, rows):
    """Public authors who wrote four letters each, all on one thing: what few of them chose is not rare for that."""
    told = Summary(reference, 50, shares={"subjects": 1})(rows)
    likely = np.maximum(told.subjects.values, 1) / np.maximum(told.subjects.values, 1).sum()
    rng = seeded_rng(31)
    new = Counter()
    for _ in range(40):
        written = 4 * rng.multinomial(60, likely)
        for who in (reference, by_known_authors(reference)):
            spaces = replace(told.by.spaces, reference=who, before=written)
            by = SimpleNamespace(strata=told.by.strata, spaces=spaces, documents_per_author=1)
            new[who is reference] += bool(Said(replace(told, by=by)).subjects.new)
    assert new[True] == 0
    assert new[False] > 0  # as if each letter were another author's


def test_no_theme_is_new_against_the_texts_that_themes_were_made_of(reference, rows):
    """However large its share: they fall into it as no other texts do. Subjects are, and themes in another summary."""
    known = by_known_authors(reference)
    parcels = [
        {**row, "author": f"{row['author']} {n}"}
        for row in rows
        if row["product"] == "parcel"
        for n in range(4)
    ]
    found = Said(Summary(known, 8, shares={"subjects": 0.5, "themes": 0.5})(parcels))
    assert found.subjects.new
    assert (found.themes.new, found.themes.gone) == ([], [])
    assert found.themes.compared.ratio.max() > 1.5


def test_nothing_is_new_because_more_of_an_author_is_counted_here_than_there(reference, rows):
    """Who writes much writes of something else: of one population its share is larger where five of his letters count.

    Public texts and letters are of 40,000 authors alike, of whom 4,000 wrote five letters each on subject 0; or all of
    the public texts are counted, and of each author here one, so that the others are larger.
    """
    told = Summary(reference, 50, 5, shares={"subjects": 1})(rows)
    known, size = by_known_authors(reference), reference.counted.subjects.size
    others = np.concatenate([np.full(size, 36_000 // size), [0]])
    first = np.arange(size + 1) == 0
    once, five = others + 4_000 * first, others + 20_000 * first
    for who, there, here, most in (
        (known, once, five, 5),
        (reference, five, once, 1),
        (reference, five, five, 5),
    ):
        counted = replace(who.counted, documents=int(there.sum()))
        source = {"public_words": {"authors": int(there.sum())}} if who is known else who.source
        spaces = replace(told.by.spaces, reference=replace(who, counted=counted, source=source), before=there)
        by = SimpleNamespace(strata=told.by.strata, spaces=spaces, documents_per_author=most)
        found = Said(replace(told, by=by, subjects=replace(told.subjects, values=here))).subjects
        assert found.new == []
        if most == 1 or who is known:
            assert found.compared.ratio.max() > 1.3, "which a comparison without regard for it calls new"


def test_an_earlier_summary_counts_as_many_documents_of_an_author(reference, home, file, tmp_path):
    reference.save(home / "references" / "letters")
    summary = Summary(reference, 8, by=BY)
    summarize(summary.corpus(file), summary, tmp_path / "first")
    of_two = Summary(reference, 8, 2, by=BY)
    with pytest.raises(UsageError, match=r"at most 1 of an author's documents and this summary will 2"):
        summarize(of_two.corpus(file), of_two, tmp_path / "second", compare=tmp_path / "first")
    assert not (tmp_path / "second").exists()


def test_an_earlier_summary_is_compared_with(reference, home, file, rows, tmp_path):
    reference.save(home / "references" / "letters")
    summary = Summary(reference, 8, by=BY)
    first, second = tmp_path / "first", tmp_path / "second"
    summarize(summary.corpus(file), summary, first)
    parcels = [row for row in rows if row["product"] == "parcel"]
    path = tmp_path / "later.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in parcels), encoding="utf-8")
    first = first.rename(tmp_path / "Ada Quill left us")
    finished = summarize(summary.corpus(path), summary, second, compare=first)
    assert finished.manifest["compared_with"] == "an earlier summary (epsilon 8)"
    assert "an earlier summary (epsilon 8)" in (second / "report.html").read_text(encoding="utf-8")
    assert not [each for each in second.iterdir() if "Quill" in each.read_text(encoding="utf-8")]
    assert finished.said.themes.new
    assert finished.said.themes.gone
    check_contents(second, read_manifest_of(second))
    assert any("compared again" in each for each in not_checked(finished.manifest))
    rewritten(second, lambda manifest: None, words=_other_order)  # the comparison excuses nothing else
    with pytest.raises(DataError, match=r"'words\.csv'"):
        check_contents(second, read_manifest_of(second))
    (first / "counts.csv").write_text("changed")
    with pytest.raises(DataError, match="other files"):
        summarize(summary.corpus(path), summary, tmp_path / "third", compare=first)


def test_shares_of_an_earlier_summary_are_of_all_its_documents(reference, rows, tmp_path):
    """Most are without words, then and now: shares of the others alone were larger before, and all themes gone."""
    summary, path = Summary(reference, 8), tmp_path / "scans.jsonl"
    scans = [row | {"text": "---"} if place % 4 else row for place, row in enumerate(rows)]
    path.write_text("".join(json.dumps(row) + "\n" for row in scans), encoding="utf-8")
    summarize(summary.corpus(path), summary, tmp_path / "first")
    for before in (earlier := open_earlier(tmp_path / "first", summary)).themes, earlier.subjects:
        assert before.documents[0] > 0.8 * len(rows) > before.counts.sum()
        assert before.documents[1] >= len(rows)
    found = summarize(
        summary.corpus(path), summary, tmp_path / "second", compare=tmp_path / "first"
    ).said.themes
    assert not found.gone
    assert found.before.sum() < 0.5


def _other_order(table):
    """The typical words of each stratum in the other order: public words all the same."""
    head, *rows = table.splitlines()
    told = (row.rsplit(",", 1) for row in rows)
    return "\n".join([head, *(f"{name},{' '.join(reversed(words.split()))}" for name, words in told)]) + "\n"


def rewritten(folder, change, **tables):
    """A summary with another manifest, and tables, that its digests are right for."""
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["files"]
    change(manifest)
    for name, edit in tables.items():
        path = folder / f"{name}.csv"
        path.write_text(edit(path.read_text()))
    (folder / "manifest.json").unlink()
    finish(folder, manifest)


def _tiny(manifest):
    """A part of epsilon so small that the scale of its noise is no float, and all else as it follows."""
    tables, epsilon = manifest["tables"], Fraction(manifest["epsilon_exactly"])
    tables["themes"].update(epsilon="2e-1000", scale="1e1000")
    manifest["shares"] = {name: float(Fraction(each["epsilon"]) / epsilon) for name, each in tables.items()}
    manifest["shares"]["themes"] = 0.0


def _long(table):
    head, row, *rows = table.splitlines()
    names = head.split(",")
    values = row.split(",")
    values[names.index("noisy")] = str(2**70)
    return "\n".join([head, ",".join(values), *rows]) + "\n"


@pytest.mark.parametrize(
    ("change", "tables"),
    [(lambda manifest: manifest.update(epsilon_exactly="1e1000"), {}), (_tiny, {}),
     (lambda manifest: [table.update(scale="1e1000") for table in manifest["tables"].values()], {}),
     (lambda manifest: manifest.update(strata=["card"]), {}), (lambda manifest: None, {"themes": _long})],
)  # fmt: skip
def test_a_damaged_earlier_summary_is_refused(reference, file, tmp_path, change, tables):
    summary, first = Summary(reference, 8, by=BY), tmp_path / "first"
    summarize(summary.corpus(file), summary, first)
    rewritten(first, change, **tables)
    with pytest.raises(DataError, match=r"damaged|contradicts itself|impossible"):
        open_earlier(first, summary)


# Signed for


@pytest.mark.parametrize(
    "change",
    [lambda manifest: manifest.update(strata={"x": ["a", "other"]}), lambda manifest: manifest.update(strata={}),
     lambda manifest: manifest.update(strata={"product": ["card", "parcel", "other"]})],
)  # fmt: skip
def test_strata_that_the_tables_contradict_are_not_signed_for(reference, file, publius, tmp_path, change):
    """Without totals: 24 cells can be those of 1, 2 or 3 strata, the rows say of which."""
    summary, folder = Summary(reference, 4, by=BY, shares="themes=0.5,subjects=0.5"), tmp_path / "summary"
    summarize(summary.corpus(file), summary, folder)
    page = tmp_path / "page.html"
    assert publius("signoff", folder, "--output", page)[0] == 0
    page.unlink()
    rewritten(folder, change)
    code, _, told = publius("signoff", folder, "--output", page)
    assert (code, page.exists()) == (65, False)
    assert "not of one summary" in told


def _spelled(manifest, name, how):
    """A fraction of a table in another spelling."""
    manifest["tables"]["themes"][name] = how(Fraction(manifest["tables"]["themes"][name]))


_OTHERWISE = (
    *(lambda manifest, name=name: manifest.pop(name)
      for name in ("manifest_version", "counted", "mechanism", "randomness", "versions", "subjects_sha256",
                   "author_field")),
    lambda manifest: manifest["versions"].pop("matplotlib"),
    lambda manifest: manifest.update(delta=0.0),
    lambda manifest: manifest.update(epsilon=float(manifest["epsilon"])),
    lambda manifest: manifest["shares"].update(themes=manifest["shares"]["themes"] + 1e-15),
    lambda manifest: manifest.update(epsilon_exactly="8/2"),
    lambda manifest: _spelled(manifest, "epsilon", lambda value: f"0{value}"),
    lambda manifest: _spelled(manifest, "scale", lambda value: f"{3 * value.numerator}/{3 * value.denominator}"),
    lambda manifest: manifest["strata"].update(product=["", *manifest["strata"]["product"][1:]]),
    lambda manifest: manifest["strata"].update(product=[*manifest["strata"]["product"][:-1], "rest"]),
    lambda manifest: manifest.update(strata={f"f{n}": [*map(str, range(50)), "other"] for n in range(6)}),
)  # fmt: skip


def _spelled(manifest, name, how):
    """A number of a table in another spelling."""
    table = manifest["tables"]["themes"]
    table[name] = how(Fraction(table[name]))


def test_a_summary_states_all_that_summaries_do_and_in_one_way(released):
    """Else whoever makes its digests anew says more, by what is left out or by how it is spelled."""
    folder, path = released[0], released[0] / "noisy.json"
    manifest = json.loads((folder / "manifest.json").read_text())
    check_statements(manifest)
    for number, change in enumerate(_OTHERWISE):
        changed = deepcopy(manifest)
        change(changed)
        try:
            check_statements(changed)
        except DataError:
            continue
        pytest.fail(f"change {number} was taken")
    strata, content = math.prod(map(len, manifest["strata"].values())), path.read_text()
    Drawn.read(folder, manifest, strata)
    for other in (f"{content}\n", content.replace(":", ": ", 1)):
        path.write_text(other)
        with pytest.raises(ValueError, match=r"^$"):
            Drawn.read(folder, manifest, strata)


def test_a_summary_is_signed_for_and_verified(released, publius, tmp_path):
    """The page binds every file; what is changed, or lies there beside, is found."""
    folder, page = released[0], tmp_path / "page.html"
    assert publius("signoff", folder, "--output", page)[0] == 0
    assert "whatever one author wrote, all of it" in page.read_text()
    assert publius("verify", folder, page)[0] == 0
    code, told, _ = publius("guarantee", "--manifest", folder, "--json")
    assert code == 0
    facts = json.loads(told)
    assert (facts["level"], facts["epsilon"], facts["delta"], facts["exponent"]) == ("author", 4, 0, 4)
    code, told, _ = publius("guarantee", "--manifest", folder)
    assert (code, "per unit of distance" in told) == (0, False)
    (folder / "counts.csv").write_text("stratum\n")
    assert publius("verify", folder, page)[0] == 65
    (folder / "notes.txt").write_text("more")
    assert "no part of a summary" in publius("signoff", folder, "--output", tmp_path / "other.html")[2]


@pytest.mark.parametrize("name", ["epsilon", "epsilon_added_or_left_out"])
def test_what_an_edited_summary_does_not_promise_is_not_said_of_it(released, publius, name):
    """The promise is made of one of its numbers, and the others may say something else."""
    path = released[0] / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: 0.5}))
    code, told, error = publius("guarantee", "--manifest", released[0])
    assert (code, told, "contradicts itself" in error) == (65, "", True)


def test_a_summary_states_nothing_that_none_states(released):
    manifest = read_manifest_of(released[0])
    check_statements(manifest)
    with pytest.raises(DataError, match="states 'empty', which no release states"):
        check_statements(in_order({**manifest, "empty": "Nobody can learn anything."}))


def test_typical_words_are_those_that_stand_out(reference):
    """A word of every theme, a little more frequent in one, is not typical of it: one that only this theme has is."""
    summary = Summary(reference, 1, by=BY, shares="themes=1")
    themes = summary.spaces.themes
    holding = np.zeros_like(themes.holding)
    holding[:, 0], holding[0, 0] = 0.85, 0.9
    holding[0, 1:11] = 0.04
    rows = np.zeros((3, themes.cells), np.int64)
    rows[0, 0] = rows[1, 1] = rows[2, 2] = 10**6
    summary.spaces = replace(summary.spaces, themes=replace(themes, holding=holding))
    told = Told(summary, None, NoisyTable(rows, summary.noise("themes")), None)
    assert Said(told).typical_words[0] == themes.vocabulary[1:11]


def test_rows_teach_what_the_table_says(released):
    """Of a stratum's rows each word comes as often as its themes have it, rounded: no noise is added by drawing."""
    said = released[1].said
    themes = said.told.by.spaces.themes
    found = np.zeros((3, len(themes.vocabulary)))
    for stratum, theme, bags in said.rows(seeded_rng(1)):
        np.add.at(found[stratum], bags.flat, 1)
        sizes = np.diff(bags.starts)
        assert sizes.max() - sizes.min() <= 1
        assert theme <= themes.size or not len(bags.flat)
    shares = np.concatenate([themes.words, themes.words.mean(axis=0, keepdims=True)])
    expected = BAG_WORDS * said.counts.contributed[:, :-1] @ shares
    assert np.abs(found - expected).max() <= 0.5 + 1e-6


def test_rows_take_no_more_memory_where_more_documents_share_a_cell(reference):
    """The words of a few hundred bags are sorted at once, not those of a cell: 150 words each, some 70 bytes a word."""
    summary = Summary(reference, 4, by=BY, shares="themes=1")

    def highest(documents):
        said = Said(summary.draw(np.zeros(documents, np.int64)))
        assert said.counts.contributed.sum() > 0.9 * documents
        tracemalloc.start()
        try:
            size = sum(map(len, row_lines(said, seeded_rng(1))))
            assert size > 300 * documents
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    highest(1_000)  # whatever is imported or made once
    assert highest(8_000) <= 1.2 * highest(1_000)


def test_the_command_says_what_counts_will_be_worth(publius):
    code, told, _ = publius(
        "summarize", "--accuracy", "--authors", 2000, "--cells", 400, "--epsilon", 1, "--json"
    )
    assert code == 0
    assert json.loads(told)["count_95"] == 6


def test_the_command_writes_a_summary(publius, file, reference, tmp_path):
    """What only the curator may know stands on standard error."""
    with file.open("a") as more:
        more.write(json.dumps({"author": "Author-7", "product": "car", "text": "the car"}) + "\n")
    arguments = (
        "summarize",
        file,
        "--author-field",
        "author",
        "--reference",
        reference.folder,
        "--epsilon",
        4,
    )
    code, told, beside = publius(
        *arguments, "--by", "product=card,loan", "--output", tmp_path / "out", "--json"
    )
    assert (code, json.loads(told)["kind"]) == (0, "summary")
    assert "looks like one person" in beside
    assert "author 7" not in (tmp_path / "out" / "READ-ME.txt").read_text().casefold()
    assert publius(*arguments, "--by", "product=card,loan", "--output", tmp_path / "out")[0] == 2
    assert publius(*arguments[:2], "--output", tmp_path / "other")[0] == 2


# Quoted


@pytest.fixture(scope="module")
def quotable(reference, tmp_path_factory):
    """The same reference, of texts that may be quoted: two sentences of each theme's most typical words."""
    themes = reference.counted.themes
    passages = tuple(
        tuple(f"{' '.join(themes.typical(theme, 10)[first::2])}.".capitalize() for first in (0, 1))
        for theme in range(themes.size)
    )
    counted = replace(reference.counted, passages=passages)
    stored = replace(reference, name="quotable", counted=counted, folder=None, _known_sha256=None)
    return stored.save(tmp_path_factory.mktemp("references") / "quotable")


def test_passages_are_public_sentences_and_say_so_on_every_row(quotable, file, publius, tmp_path):
    summary = Summary(quotable, 4, by=BY)
    finished = summarize(summary.corpus(file), summary, tmp_path / "out")
    rows = [json.loads(line) for line in (tmp_path / "out" / "passages.jsonl").read_text().splitlines()]
    assert {row["source"] for row in rows} == {SOURCE}
    assert SOURCE == "taken from the public texts, not from this collection"
    public = {sentence for some in quotable.counted.passages for sentence in some}
    assert {row["passage"] for row in rows} <= public
    for topic in STRATA[:2]:
        some = [row["passage"] for row in rows if row.get("product") == topic]
        words = [word for passage in some for word in passage.lower().rstrip(".").split()]
        assert sum(word in complaints.TOPICS[topic] for word in words) > len(words) / 2
    assert {row["theme"] for row in rows if "theme" in row} == {*finished.said.theme_labels[:6]}
    assert SOURCE in (tmp_path / "out" / "report.html").read_text()
    assert SOURCE in " ".join((tmp_path / "out" / "READ-ME.txt").read_text().split())
    assert publius("signoff", tmp_path / "out", "--output", tmp_path / "page.html")[0] == 0
    assert SOURCE in (tmp_path / "page.html").read_text()


def test_nothing_is_quoted_where_the_texts_may_not_be(released):
    folder, finished = released
    assert not (folder / "passages.jsonl").exists()
    assert "passages" not in finished.manifest
    assert "passages.jsonl" not in (folder / "READ-ME.txt").read_text()


def test_passages_depend_on_noisy_counts_and_public_texts_alone(quotable, rows):
    """Of another collection with the same noisy tables they are the same; a stratum without counts has none."""
    summary = Summary(quotable, 4, by=BY, shares="themes=1")
    table = NoisyTable(np.zeros((3, 8), np.int64), summary.noise("themes"))
    table.values[0, 0], table.values[1, 2] = 90, 90
    found = Said(Told(summary, None, table, None)).passages
    assert found.strata[2] == ()
    for stratum, theme in ((0, 0), (1, 2)):
        assert set(found.strata[stratum]) & set(quotable.counted.passages[theme])
    assert found.themes == quotable.counted.passages


# What is stated


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"epsilon": 0.01}, "epsilon"),
        ({"epsilon_exactly": "1/100"}, "epsilon"),
        ({"epsilon_added_or_left_out": 0.1}, "epsilon added or left out"),
        ({"delta": 0.3}, "delta|Nobody can sign"),
        ({"documents_per_author": 0}, "documents per author"),
        ({"author_field": "clerk"}, "promise"),
        ({"author_field": ["clerk"]}, "something impossible as its author field"),
        ({"promise": "Nothing."}, "promise"),
        ({"shares": {"totals": 5, "themes": 5, "subjects": 5}}, "shares"),
        ({"neighbours": "nobody"}, "neighbours"),
        ({"cells": 1}, "tables"),
        ("scale", "table of themes"),
        ("epsilon", "shares"),
    ],
)
def test_a_summary_that_states_what_is_not_so_is_not_signed(released, publius, tmp_path, changed, named):
    """Promise, shares and noise follow from epsilon and c: what does not is named."""
    folder = released[0]
    manifest = json.loads((folder / "manifest.json").read_text())
    if isinstance(changed, str):
        manifest["tables"]["themes"][changed] = "1/1000000" if changed == "scale" else "100"
    else:
        manifest |= changed
    state(folder, manifest)
    code, _, told = publius("signoff", folder, "--output", tmp_path / "page.html")
    assert code in (65, 77)
    assert re.search(named, told)
    assert not (tmp_path / "page.html").exists()


@pytest.fixture(scope="module")
def once(reference, rows, tmp_path_factory):
    """A folder that tests copy."""
    folder = tmp_path_factory.mktemp("once")
    path = folder / "letters.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    summary = Summary(reference, 8, by=BY)
    summarize(summary.corpus(path), summary, folder / "summary")
    return folder / "summary"


def _marked(text):
    first, *rest = text.splitlines(keepends=True)
    return json.dumps({**json.loads(first), "text": "PRIVATE"}) + "\n" + "".join(rest)


def _elsewhere(text):
    """Another lower limit of the ratio: what is new would be another."""
    head, first, *rest = text.splitlines(keepends=True)
    values, at = first.split(","), head.split(",").index("ratio_low")
    return head + ",".join([*values[:at], "50.0", *values[at + 1 :]]) + "".join(rest)


def _quotable(text):
    """A ratio where no difference is shown."""
    head, *rows = text.splitlines(keepends=True)
    at = head.split(",").index("ratio")
    place, values = next((n, row.split(",")) for n, row in enumerate(rows) if not row.split(",")[at])
    rows[place] = ",".join([*values[:at], "42.0", *values[at + 1 :]])
    return head + "".join(rows)


def _swapped(text):
    """Each stratum has the words of another."""
    head, *rows = (line.split(",") for line in text.splitlines())
    words = [row[1] for row in rows]
    return (
        "\n".join(map(",".join, [head, *zip([row[0] for row in rows], [*words[1:], words[0]], strict=True)]))
        + "\n"
    )


def _labelled_alike(text):
    """Each theme has the label of the first."""
    rows = list(csv.reader(io.StringIO(text)))
    for row in rows[2:]:
        row[-2] = rows[1][-2]
    return "".join(",".join(row) + "\n" for row in rows)


def _exact(text):
    head, first, *rest = text.splitlines(keepends=True)
    return head + first.rsplit(",", 3)[0] + ",7,7,7\n" + "".join(rest)


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("synthetic.jsonl", _marked),
        ("synthetic.jsonl", lambda text: text.split("\n", 1)[1]), ("words.csv", lambda text: text + "zeta,PRIVATE\n"),
        ("words.csv", lambda text: text.replace("stratum,", "ward,")), ("counts.csv", _exact),
        ("themes.csv", lambda text: _long(text)), ("passages.jsonl", lambda text: '{"passage": "PRIVATE"}\n'),
        ("counts.csv", lambda text: text.replace("none of these", "PRIVATE")),
        ("themes.csv", lambda text: text.replace("\n", "\nPRIVATE ", 1)),
        ("subjects.csv", lambda text: text.replace("\n", "\nPRIVATE ", 1)),
        ("subjects.csv", lambda text: text.replace("false", "true", 1)),
        ("themes.csv", lambda text: "".join([*text.splitlines(True)[:1], *text.splitlines(True)[:0:-1]])),
        ("themes.csv", _elsewhere), ("themes.csv", _quotable), ("words.csv", _swapped), ("strata.csv", _exact),
        ("themes.csv", lambda text: text.replace("noisy,theme,", "noisy,label,", 1)), ("themes.csv", _labelled_alike),
        ("noisy.json", lambda text: text.replace('"card"', '"Ada Quill"')),
        ("noisy.json", lambda text: text.replace('"names":{', '"names":{"note":["PRIVATE"],')),
        ("synthetic.jsonl", lambda text: text.replace('"bag": {', '"bag": {"PRIVATE": 1}, "bag": {', 1)),
        ("noisy.json", lambda text: text.replace("[[", '["PRIVATE",[')), ("noisy.json", lambda text: "{}"),
        ("noisy.json", lambda text: text.replace('{"themes"', '{"note":[],"themes"')),
    ],
)  # fmt: skip
def test_a_file_that_the_manifest_and_the_tables_contradict_is_named(
    reference, once, home, tmp_path, name, edit
):
    """Its digest is right for it; the reference is stored."""
    reference.save(home / "references" / "letters")
    folder = tmp_path / "out"
    shutil.copytree(once, folder)
    manifest = read_manifest_of(folder)
    check_contents(folder, manifest)
    path = folder / name
    path.write_text(edit(path.read_text() if path.exists() else ""))
    del manifest["files"]
    (folder / "manifest.json").unlink()
    with pytest.raises(DataError, match=f"{re.escape(name)}|damaged"):
        check_contents(folder, finish(folder, manifest))


def test_another_page_is_not_signed_for(reference, file, publius, tmp_path):
    """Its digest is right for it, and so are all tables."""
    summary, folder, page = Summary(reference, 8, by=BY), tmp_path / "out", tmp_path / "page.html"
    summarize(summary.corpus(file), summary, folder)
    for edit in (
        lambda text: text.replace("</main>", "<p>PRIVATE</p></main>"),
        lambda text: text.replace("</svg>", "<text>PRIVATE</text></svg>", 1),
    ):
        genuine = (folder / "report.html").read_text()
        (folder / "report.html").write_text(edit(genuine))
        rewritten(folder, lambda manifest: None)
        code, _, told = publius("signoff", folder, "--output", page)
        assert (code, page.exists()) == (65, False)
        assert "report.html" in told
        (folder / "report.html").write_text(genuine)
    rewritten(folder, lambda manifest: None)
    assert publius("signoff", folder, "--output", page)[0] == 0


def test_no_value_is_a_formula_for_a_spreadsheet(reference, file, tmp_path):
    summary = Summary(reference, 4, by=["product=card,=1+1,-2,@x"])
    summarize(summary.corpus(file), summary, tmp_path / "out")
    for name in ("counts.csv", "words.csv"):
        cells = [
            cell for row in csv.reader((tmp_path / "out" / name).read_text().splitlines()) for cell in row
        ]
        assert "'=1+1" in cells
        assert not [cell for cell in cells if re.match(r"[=+@]|-\D", cell)]


def test_a_summary_of_nobody_may_be_of_nobody(reference, file, tmp_path):
    """Where every budget is spent the limits of how many documents there are hold zero, or nearly, by chance."""
    ledger = Ledger.create(tmp_path / "ledger", budget=1, unit="bound")
    summary = Summary(reference, 4, by=BY)
    finished = summarize(summary.corpus(file), summary, tmp_path / "out", ledger=ledger)
    low, high = finished.said.size
    assert 0 <= low <= 20
    assert low <= high
    assert finished.left_out == 400


def test_words_of_a_stratum_are_said_to_be_a_guess(released):
    for name in ("READ-ME.txt", "report.html"):
        assert "noise may have chosen them" in " ".join((released[0] / name).read_text().split())


def test_public_texts_of_unknown_authors_are_said_to_be(released):
    """Nobody knows the authors of these public letters, so several of each are allowed for."""
    assert "authors are not known, so 5 of each are allowed for" in " ".join(
        (released[0] / "READ-ME.txt").read_text().split()
    )
    assert "authors are not known, so 5 of each are allowed for" in (released[0] / "report.html").read_text()


# What is seen


def test_what_leaves_follows_from_the_noisy_counts_alone(
    reference, quotable, file, rows, tmp_path, monkeypatch
):
    """Of other documents of another number of authors, with the same noisy counts, every byte is the same."""
    other = tmp_path / "other.jsonl"
    other.write_text(
        "".join(json.dumps({**row, "text": "wombat"}) + "\n" for row in rows[:123]), encoding="utf-8"
    )
    summary = Summary(quotable, 4, by=BY)
    told = summary(rows)
    monkeypatch.setattr(Summary, "draw", lambda self, cells: told)
    monkeypatch.setattr("publius.releases.summaries.folder.system_rng", lambda: seeded_rng(1))

    def seen(path, folder):
        summarize(summary.corpus(path), summary, folder)
        return {each.name: each.read_bytes() for each in sorted(folder.iterdir())}

    first = seen(file, tmp_path / "one")
    assert seen(other, tmp_path / "two") == first
    # A manifest that tells how many authors there are is caught.
    genuine = manifest_of
    counted = iter((400, 123))
    monkeypatch.setattr(
        "publius.releases.summaries.run.manifest_of",
        lambda *told: {**genuine(*told), "authors": next(counted)},
    )
    assert seen(file, tmp_path / "three") != seen(other, tmp_path / "four")


def test_an_error_names_places_alone(reference, rows, tmp_path):
    """No word of a document and no name."""
    summary = Summary(reference, "0.001", by=BY)
    path = tmp_path / "letters.jsonl"
    with path.open("w") as more:
        more.write(json.dumps({"author": ["wombat", "numbat"], "text": "quokka"}) + "\n")
    with pytest.raises(DataError) as refused:
        summarize(summary.corpus(path), summary, tmp_path / "out")
    assert not [word for word in ("wombat", "numbat", "quokka") if word in str(refused.value)]


# Older references


def test_an_older_reference_says_what_it_lacks(reference, file, publius, tmp_path):
    """Its prototypes are the themes; nothing is compared with its texts, nothing is quoted from them."""
    older = replace(reference, name="older", counted=None, folder=None, _known_sha256=None).save(
        tmp_path / "older"
    )
    code, _, told = publius(
        "summarize", file, "--author-field", "author", "--reference", older.folder, "--epsilon", 4, "--output",
        tmp_path / "out", "--workers", 1,
    )  # fmt: skip
    assert code == 0
    assert "lacks what summaries need" in told
    assert {row["new"] for row in table(tmp_path / "out" / "themes.csv")} == {"false"}
    assert not (tmp_path / "out" / "passages.jsonl").exists()


def test_against_a_reference_that_counted_its_texts_by_other_words_nothing_is_new(
    reference, file, publius, tmp_path
):
    """It counted the words of several authors alone, which a collection has less often than its own texts."""
    older = replace(
        reference,
        name="older",
        counted=replace(reference.counted, comparable=False),
        folder=None,
        _known_sha256=None,
    ).save(tmp_path / "older")
    code, _, told = publius(
        "summarize", file, "--author-field", "author", "--reference", older.folder, "--epsilon", 4, "--output",
        tmp_path / "out", "--workers", 1,
    )  # fmt: skip
    assert code == 0
    assert "no subject can be called new" in " ".join(told.split())
    assert {row["new"] for row in table(tmp_path / "out" / "subjects.csv")} == {"false"}


def test_private_authors_who_wrote_public_texts_are_told_of_to_the_curator(
    reference, file, publius, tmp_path
):
    """While both files are here; nothing of it stands in the folder, and the reference names nobody."""
    public = tmp_path / "public.jsonl"
    public.write_text(
        "".join(json.dumps({"who": f"Author {n} ", "text": "card"}) + "\n" for n in (3, 7, 1000))
    )
    known = replace(
        reference,
        name="known",
        folder=None,
        _known_sha256=None,
        source={**reference.source, "author_field": "who"},
    ).save(tmp_path / "known")
    remember_texts(known.folder, public, "text")
    arguments = ("summarize", file, "--author-field", "author", "--reference", known.folder, "--epsilon", 4)
    code, _, told = publius(*arguments, "--output", tmp_path / "out", "--workers", 1)
    assert code == 0
    assert "2 authors wrote public texts of the reference" in told
    whole = b"".join(each.read_bytes() for each in (tmp_path / "out").iterdir())
    assert b"author 7" not in whole.lower()
    public.unlink()
    code, _, told = publius(*arguments, "--output", tmp_path / "again", "--workers", 1)
    assert code == 0
    assert "nobody looked whose names stand in both" in told


def test_the_page_speaks_of_the_fields_that_were_named_and_of_no_ratio_that_nobody_knows(released):
    page = html.unescape((released[0] / "report.html").read_text(encoding="utf-8"))
    assert "Contributed documents by product" in page
    assert "by stratum" not in page
    assert [report._times(value) for value in (2.34, 250.0, 999.4, 1000.0, 1e6, np.inf)] == [
        "2.3", "250", "999", "over 1,000", "over 1,000", "no limit",
    ]  # fmt: skip


def test_no_words_are_said_of_a_stratum_that_does_not_stand_out(quotable, tmp_path):
    """What the noise alone says of it is no word of anybody; in the report, words.csv and passages alike."""
    summary = Summary(quotable, 4, by=BY, shares="themes=1")
    width = summary.noise("themes").half_width(0.95, cells=6)
    table = NoisyTable(np.zeros((3, 8), np.int64), summary.noise("themes"))

    def said(*rows):
        table.values[:] = 0
        for stratum, theme, count in rows:
            table.values[stratum, theme] = count
        told = Said(Told(summary, None, table, None))
        folder, manifest = tmp_path / f"{len([*tmp_path.iterdir()])}", manifest_of(summary)
        folder.mkdir()
        fill_folder(folder, told, manifest)
        quoted = report._quoted(folder, manifest)
        labels = [summary.strata.labels(place) for place in range(3)]
        card = [*report._strata(folder, manifest, told.drawn, labels, quoted)]
        assert [each["words"].replace(", ", " ") for each in card] == [
            told.words_of(place) for place in range(3)
        ]
        assert [bool(each["passages"]) for each in card] == [bool(each) for each in told.typical_words]
        return [told.words_of(place) for place in range(3)]

    card, loan, other = said((0, 0, 900), (1, 1, 1), (2, 2, 800))
    assert len(card.split()) == len(other.split()) == 10
    assert loan == TOO_FEW
    # The themes of all: too few where noise could hide another, none stands out where it could not.
    for count, told in ((3, TOO_FEW), (9000, LIKE_ALL)):
        assert said((0, 0, 9000), (1, 0, count), (1, 2, count), (2, 2, 9000))[1] == told
    # Other than all, and by far more than the noise, but by little.
    assert said((0, 0, 9000), (1, 0, 900), (1, 2, 1200), (2, 2, 9000))[1] == LIKE_ALL
    # A theme of its own, as much as noise may be, and more.
    rows = [(stratum, theme, 30) for stratum in (0, 1, 2) for theme in (0, 2)]
    assert said(*rows, (1, 5, 1))[1] == TOO_FEW
    assert "parcel" in said(*rows, (1, 5, 30 * width))[1].split()


def test_without_strata_no_words_are_typical(reference):
    summary = Summary(reference, 4, shares="themes=1")
    told = Told(summary, None, NoisyTable(np.full((1, 8), 90, np.int64), summary.noise("themes")), None)
    assert Said(told).words_of(0) == ALONE


def test_every_column_is_explained(released):
    """Where the reader has only the folder: in READ-ME.txt and in the report."""
    folder = released[0]
    readme = " ".join((folder / "READ-ME.txt").read_text().split())
    page = html.unescape(" ".join((folder / "report.html").read_text().split()))
    explained = {
        name
        for part, _ in columns(json.loads((folder / "manifest.json").read_text()))
        for name in part.split(", ")
    }
    for path in sorted(folder.glob("*.csv")):
        assert {*path.read_text().splitlines()[0].split(",")} <= explained
    for name, meaning in columns(json.loads((folder / "manifest.json").read_text())):
        assert f"{name}: {meaning}" in readme
        assert f"<dt>{name}</dt><dd>{meaning}</dd>" in page
    for special in (NONE_OF_THESE, NO_WORDS, OTHER, "inf", TOO_FEW, LIKE_ALL):
        assert f"'{special}'" in readme


@pytest.mark.parametrize("months", [1, 5, 12, 13, 60])
def test_few_months_are_named_below_a_trend(monkeypatch, months):
    """At most six labels stand beside each other, so that none covers the next."""
    monkeypatch.setattr(pictures, "svg", svg)
    names = [f"{2020 + month // 12}-{month % 12 + 1:02}" for month in range(months)]
    rows = np.ones((2, months), np.int64)
    picture = pictures.trend(names, ["card", "loan"], rows, rows, rows)
    assert 1 <= sum(f">{name}<" in picture for name in names) <= 6
