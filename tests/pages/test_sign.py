"""``publius sign`` and ``publius verify``: what was made here, whole; what was counted stays with the curator."""

import hashlib
import json
import re
import shutil

import pytest

from html_pages import HOSTILE, Balanced
from manifests import BAG, MADE, drawn, labels_of, summary_of, values_of, words_of
from publius.classifiers.values import Values
from publius.documents.corpus import open_corpus
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.releases.manifest import ClassifierFacts
from publius.releases.run import protect_corpus
from publius.releases.sign import sign, verify
from publius.settings import People, Reading

WORDS = words_of()
STATED = {name: getattr(WORDS, name) for name in (
    "epsilon", "mechanism", "mechanism_parameters", "length", "metric", "unknown", "stop_words", "stop_words_sha256", "tokenizer",
)}  # fmt: skip
ROWS = [{"id": str(number), "label": "open"} for number in range(1, 13)]


def side_of(path):
    page = path.read_text()
    side = page[page.index("<section") : page.index('<section class="folded"')]
    side = re.sub("<desc.*?</desc>|<title.*?</title>", " ", side, flags=re.DOTALL)
    return " ".join(re.sub("<[^>]+>", " ", side).split())


@pytest.fixture
def values(tmp_path):
    """12 documents of a declared column, with a kept one."""
    classifier = ClassifierFacts(name="status", kind="values", sha256=Values(["open", "closed"]).sha256)
    return drawn(tmp_path / "values", values_of(kept=("district",), classifier=classifier), ROWS)


@pytest.fixture
def private(tmp_path):
    """Author a1 wrote 8 documents, b1 two, three others one each; "closed" was written by two."""
    rows = [{"status": "open", "author": "a1", "district": "North"}] * 7
    rows += [{"status": "open", "author": f"b{n}", "district": "North"} for n in range(4)]
    rows += [{"status": "closed", "author": name, "district": "North"} for name in ("A1 ", "b1")]
    path = tmp_path / "private.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def words(tmp_path):
    return drawn(tmp_path / "words", words_of(), [BAG])


def evaluation(folder, **more):
    def interval(share):
        return {"share": share, "low": round(share - 0.05, 9), "high": round(share + 0.05, 9)}

    def attack(name, found, epsilon=10.0, task="author"):
        return {
            "attacker": name, "mechanism": WORDS.mechanism, "knows": "other texts of the authors", "task": task, "epsilon": epsilon, "authors": 120,
            "identified": interval(found), "baseline": interval(0.1), "clear": interval(0.7), "more": "is ignored",
        }  # fmt: skip

    attacks = [
        attack("style", 0.12),
        attack("words", 0.23),
        attack("words", 0.99, epsilon=20.0),
        attack("topic", 0.9, task="topic"),
    ]
    folder.mkdir()
    facts = {
        "as_is": False,
        "candidates": 50.0,
        "command": "publius evaluate FILE",
        "attackers": attacks,
        "kind": "words",
        "public": [{"sha256": WORDS.vocabulary_sha256}],
        "facts": {"stated": [STATED, STATED | {"epsilon": 20.0}]},
    }
    (folder / "results.json").write_text(json.dumps(facts | more))
    return folder


def test_no_page_shows_what_was_measured_of_a_released_file(tmp_path, words, private):
    found = evaluation(tmp_path / "found", data={"sha256": [hashlib.sha256(private.read_bytes()).hexdigest()]})
    with pytest.raises(PolicyError, match="attacked a file that was released"):
        sign(words, tmp_path / "one.html", evaluation=found, texts=private, reading=Reading(text_field="status"))
    sign(words, tmp_path / "two.html", evaluation=found)  # as far as this home can tell, it is public
    protect_corpus(
        open_corpus(private, Reading(text_field="status")), RandomizedResponse(Values(["open"])), tmp_path / "r"
    )
    with pytest.raises(PolicyError, match="attacked a file that was released"):
        sign(words, tmp_path / "three.html", evaluation=found)


SAID = {"purpose": "research", "recipient": "an institute", "contact": "a@example.org", "review": "2027-12-01"}


def test_the_curators_page_and_the_recipients(tmp_path, values, private):
    curator, public = tmp_path / "sign.html", tmp_path / "public.html"
    sign(values, curator, texts=private, people=People(author_field="author"), public_page=public, **SAID)
    mine, theirs = side_of(curator), side_of(public)
    assert "authors 5" in mine
    assert "with 1 document 3" in mine
    assert "with 2 to 5 documents 1" in mine
    assert "with 6 to 20 documents 1" in mine
    assert "cells with fewer than five authors &nbsp; label and district 1 of 2" in mine
    assert "Signature" in mine
    for said in SAID.values():
        assert said in mine
    assert "Counted" not in public.read_text()
    assert "fewer than five" not in public.read_text()
    assert "Signature" not in theirs
    assert "For 8 documents, epsilon is 56 in all" in mine  # of the author with most, whom recipients are not told of
    assert "For 5 documents, epsilon is 35 in all" in theirs
    assert "2027-12-01" not in theirs
    assert "a@example.org" in theirs
    for page in (curator, public):
        assert len(side_of(page).split()) < 600
        found = Balanced(page.read_text())
        assert (found.open, found.wrong) == ([], [])
        assert verify(values, page).page is True
    assert curator.stat().st_mode & 0o777 == 0o600


def test_without_an_author_column_each_document_counts(tmp_path, values, private):
    with pytest.raises(DataError, match="13 documents and the release 12 rows"):
        sign(values, tmp_path / "sign.html", texts=private)
    private.write_text("\n".join(private.read_text().splitlines()[:12]))
    sign(values, tmp_path / "sign.html", texts=private)
    said = side_of(tmp_path / "sign.html")
    assert "documents 12" in said
    assert "1 of 2" in said
    assert "(to be completed)" in said


def test_a_file_that_was_not_released_is_refused(tmp_path, values, private):
    private.write_text("\n".join(private.read_text().splitlines()[:3]))
    with pytest.raises(DataError, match="3 documents and the release 12 rows"):
        sign(values, tmp_path / "sign.html", texts=private)
    assert not (tmp_path / "sign.html").exists()


def test_a_classifier_that_has_changed_is_refused(tmp_path, private):
    other = drawn(tmp_path / "other", values_of(), ROWS)
    with pytest.raises(DataError, match="is not the one that answered"):
        sign(other, tmp_path / "sign.html", texts=private)


def test_who_was_identified_stands_on_both_pages(tmp_path, words):
    found = evaluation(tmp_path / "found")
    curator, public = tmp_path / "sign.html", tmp_path / "public.html"
    sign(words, curator, evaluation=found, public_page=public)
    for page in (curator, public):
        text = page.read_text()
        assert (
            "words: without noise 70 % (65 % to 75 %), with noise 23 % (18 % to 28 %), without row 10 % (5 % to 15 %)"
            in text
        )
        assert "99 %" not in text.split("Who was identified")[1].split("</figure>")[0]
        assert "right one of 50 authors" in side_of(page)
        assert len(side_of(page).split()) < 600
    assert "This was not measured" not in side_of(curator)
    assert "publius verify FOLDER PAGE" in side_of(public)
    assert "Files: bags.jsonl, manifest.json, README.txt, release.html." in side_of(public)
    assert side_of(public).startswith("For recipients")
    assert side_of(curator).startswith("For the curator: read, complete, sign")
    curator.unlink()
    sign(words, curator)
    assert "This was not measured" in side_of(curator)


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"as_is": True}, PolicyError, "private texts as they are"),
        ({"attackers": []}, DataError, "no attack on authors at epsilon 10"),
        ({"attackers": 3}, DataError, "is no evaluation"),
        ({"kind": "labels"}, DataError, "kind, classifier differ"),
        ({"facts": {"stated": [STATED | {"length": 5}]}}, DataError, ": length differ"),
        (
            {"facts": {"stated": [STATED | {"mechanism_parameters": {"project": 2}}]}},
            DataError,
            "mechanism_parameters differ",
        ),
        ({"facts": {"stated": [STATED | {"stop_words_sha256": "f" * 64}]}}, DataError, "stop_words_sha256 differ"),
        ({"facts": {"stated": [STATED | {"mechanism": "vickrey"}]}}, DataError, "mechanism differ"),
        ({"facts": {}}, DataError, "mechanism differ"),
        ({"public": [], "facts": {}}, DataError, "vocabulary_sha256, mechanism differ"),
    ],
)
def test_evaluations_that_no_page_may_show(tmp_path, words, more, error, said):
    with pytest.raises(error, match=said):
        sign(words, tmp_path / "sign.html", evaluation=evaluation(tmp_path / "found", **more))


def test_each_kind_of_knowledge_has_its_best_attacker_and_what_other_texts_tell_is_said(tmp_path, words):
    def attack(name, told, found):
        part = {"share": found, "low": 0.0, "high": 1.0}
        return {"attacker": name, "mechanism": WORDS.mechanism, "knows": "", "task": "author", "told": told, "epsilon": 10.0, "identified": part,
                "baseline": part | {"share": 0.34}, "clear": part | {"share": 0.78}}  # fmt: skip

    attacks = [
        attack("worst-case", ["originals", "mechanism"], 1.0), attack("worst-case", ["topic", "originals"], 1.0),
        attack("words", ["texts", "topic"], 0.72), attack("letters", ["texts", "topic"], 0.7),
        attack("words", ["texts"], 0.63),
    ]  # fmt: skip
    for each in attacks:
        each["candidates"] = 3.0 if "topic" in each["told"] else 50.0
    page = tmp_path / "sign.html"
    sign(
        words, page, evaluation=evaluation(tmp_path / "found", attackers=attacks), recipient="a lab", purpose="teaching"
    )
    said = page.read_text()
    assert "how often a program picked the right one of 3 or 50 authors" in side_of(page)
    assert [f"{name} ({knows}):" in said for name, knows in (
        ("worst-case, 50 authors", "knows the originals"), ("worst-case, 3 authors", "knows the originals and topics"),
        ("words, 3 authors", "knows other texts and topics"), ("words, 50 authors", "knows other texts"),
        ("letters, 3 authors", "knows other texts and topics"),
    )] == [True, False, True, True, True]  # fmt: skip
    assert "other texts by them and knows the topic. In the test, 72 % were recognised." in side_of(page)
    assert "I release these files to a lab for this purpose: teaching ." in side_of(page)


def test_labels_need_no_attack(tmp_path):
    release = drawn(tmp_path / "labels", *[MADE["3 labels"][0]], [MADE["3 labels"][1]])
    sign(release, tmp_path / "sign.html")
    assert (
        "No attack was run. It is proven that, whatever the method, nobody picks the right one of 2 texts more than 99.34 % of the time."
        in side_of(tmp_path / "sign.html")
    )


def test_a_summary_is_signed_and_verified(tmp_path):
    release = drawn(tmp_path / "summary", summary_of(), [{"id": "1"}])
    sign(release, tmp_path / "sign.html", purpose="a report")
    said = side_of(tmp_path / "sign.html")
    assert "2,000 authors" in said
    assert "Noise hides every count: none is listed." in said
    assert "the right one of 2 texts finds it at most 74 % of the time with one release, 89 % with two." in said
    assert verify(release, tmp_path / "sign.html").page is True


def test_the_page_to_sign_of_a_summary_shows_its_largest_counts(tmp_path):
    rows = [f"words {n},{100 - n},{90 - n if n < 7 else 0},{110 - n},0.1,subject {n}\r\n" for n in range(9)]
    tables = {"subjects": "words,documents,low,high,share,label\r\n" + "".join(rows)}
    release = drawn(tmp_path / "summary", summary_of(), [{"id": "1"}], tables=tables)
    sign(release, tmp_path / "sign.html", public_page=tmp_path / "public.html")
    for name in ("sign.html", "public.html"):
        page = (tmp_path / name).read_text()
        assert "subject 0: 100 (90 to 110). subject 1: 99 (89 to 109). " in page
        assert "subject 5: " not in page
        assert '<bdi>subject 6</bdi></td><td class="n">94</td><td class="n">84</td><td class="n">104</td>' in page
        assert "subject 7" not in page
        said = side_of(tmp_path / name)
        assert (
            "How many documents each subject has. Typical words name a subject. Lines and numbers are 95 % limits. Shown: 5 of 7 subjects. The files also count by district ."
            in said
        )
        assert len(said.split()) < 600
    asked = drawn(tmp_path / "asked", summary_of(statements=2, statements_per_author=2), [{"id": "1"}], tables=tables)
    sign(asked, tmp_path / "asked.html")
    assert "The files also count by" in side_of(tmp_path / "asked.html")
    assert "drawn by lot; for statements, all documents." in side_of(tmp_path / "asked.html")


def test_what_is_typed_is_escaped(tmp_path, words):
    sign(words, tmp_path / "sign.html", purpose=HOSTILE, recipient=HOSTILE, contact=HOSTILE)
    text = (tmp_path / "sign.html").read_text()
    assert text.count("<script") == 1
    assert "<img" not in text
    assert verify(words, tmp_path / "sign.html").page is True
    forged = '</dd><script type="application/json" id="publius">{"manifest_sha256": "00"}</script>'
    sign(words, tmp_path / "forged.html", purpose=forged)
    assert verify(words, tmp_path / "forged.html").page is True


def test_what_was_not_made_here_is_refused(tmp_path, words, monkeypatch):
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(PolicyError, match="was not made by this installation, or was changed"):
        sign(words, tmp_path / "sign.html")
    assert verify(words).here is False


@pytest.mark.parametrize("change", ["other bytes", "one file more", "one file less", "an empty folder more"])
def test_a_folder_that_was_changed_is_refused(tmp_path, words, change):
    if change == "other bytes":
        (words / "bags.jsonl").write_text("{}\n")
    elif change == "one file more":
        (words / "note.txt").write_text("")
    elif change == "one file less":
        (words / "README.txt").unlink()
    else:
        (words / "folder").mkdir()
    for work in (lambda: verify(words), lambda: sign(words, tmp_path / "sign.html")):
        with pytest.raises(DataError):
            work()


def test_a_page_does_not_make_the_folder_another(tmp_path, words):
    for output in (words / "sign.html", words / "deeper" / "sign.html"):
        with pytest.raises(UsageError, match="lies in the release"):
            sign(words, output)
    with pytest.raises(UsageError, match="lies in the release"):
        sign(words, tmp_path / "sign.html", public_page=words / "public.html")
    with pytest.raises(UsageError, match="two names"):
        sign(words, tmp_path / "sign.html", public_page=tmp_path / "sign.html")
    with pytest.raises(UsageError, match="at most 240"):
        sign(words, tmp_path / "sign.html", purpose="x" * 241)
    for review in ("next year", "2027-13-01", "20271231", "2027-W01-1"):
        with pytest.raises(UsageError, match="--review is a date as 2027-12-31"):
            sign(words, tmp_path / "sign.html", review=review)
    assert not (tmp_path / "sign.html").exists()
    assert verify(words).files == 4


def test_a_page_that_may_be_signed_is_not_written_over(tmp_path, words):
    page, public = tmp_path / "sign.html", tmp_path / "public.html"
    sign(words, page)
    before = page.read_bytes()
    for given in ({"output": page}, {"output": tmp_path / "new.html", "public_page": page}):
        with pytest.raises(UsageError, match="is there already: name a new file, or remove it"):
            sign(words, **given)
    page.rename(public)
    page.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="is there already"):
        sign(words, page)
    assert public.read_bytes() == before
    assert {*tmp_path.iterdir()} == {page, public, words}


def test_the_command_line(tmp_path, run, words):
    page = tmp_path / "sign.html"
    code, out, err = run("sign", words, "--output", page, "--purpose", "research")
    assert code == 0
    assert "for you only" in out
    assert "To be completed: --recipient, --contact, --review." in err
    assert run("verify", words)[0] == 0
    code, out, _ = run("verify", words, page, "--json")
    assert code == 0
    assert json.loads(out) == {
        "files": 4, "here": True, "page": True, "as_signed": True, "promise": verify(words).promise,
    }  # fmt: skip
    changed = tmp_path / "changed.html"
    changed.write_text(page.read_text().replace("research", "selling"))
    assert run("verify", words, changed)[0] == 1
    other = drawn(tmp_path / "other", labels_of(3), [{"id": "1", "label": "other"}])
    assert run("verify", other, page)[0] == 1
    assert run("verify", words, words / "release.html")[0] == 65
    copy = shutil.copytree(words, tmp_path / "copy")
    assert run("verify", copy, page)[0] == 0
    (copy / "bags.jsonl").write_text("")
    assert run("verify", copy, page)[0] == 65
    assert run("sign", copy, "--output", page)[0] == 65
    assert run("verify", tmp_path, page)[0] == 65
    for command in ("sign", "verify"):
        assert len(run(command, "--help")[1].splitlines()) <= 50
