"""The page that a curator signs and that of the recipients: what each says, and in how many words."""

import re

import pytest

from html_pages import HOSTILE, Balanced
from manifests import MADE, drawn, summary_of
from publius.errors import DataError
from publius.releases.sign import sign, verify
from publius.settings import People
from releases.signing import WORDS, evaluation

SAID = {"purpose": "research", "recipient": "an institute", "contact": "a@example.org", "review": "2027-12-01"}


def side_of(path):
    page = path.read_text()
    side = page[page.index("<section") : page.index('<section class="folded"')]
    side = re.sub("<desc.*?</desc>|<title.*?</title>", " ", side, flags=re.DOTALL)
    return " ".join(re.sub("<[^>]+>", " ", side).split())


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
    assert "other texts by them and knows the topic. In the test, 72 % of rows were recognised." in side_of(page)
    assert "I release these files to a lab for this purpose: teaching ." in side_of(page)


def test_labels_need_no_attack(tmp_path):
    release = drawn(tmp_path / "labels", *[MADE["3 labels"][0]], [MADE["3 labels"][1]])
    sign(release, tmp_path / "sign.html")
    assert (
        "This was not tested by attacks. It is proven that, whatever the method, nobody picks the right one of 2 texts more than 99.34 % of the time."
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
            "How many documents each subject has. The names of subjects are words from public lists. The count without noise lies between the two numbers (95 % limits, the ends of the line). In 95 of 100 such releases, this is right for all counts. Shown: 5 of 7 subjects. The files also count by district ."
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
