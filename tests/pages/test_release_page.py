"""``release.html`` and ``README.txt``: short, true to the manifest, unprotected things first, the same every time."""

import json
import math
import re
import shutil
import subprocess
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from html_pages import HOSTILE, Balanced
from manifests import BAG, EXPERIMENT, MADE, labels_of, summary_of, table_of, values_of, words_of
from publius.pages.facts import command_of, facts_of, shares_of
from publius.pages.page import render, write_release_pages
from publius.privacy.promise import (
    between,
    factor_text,
    label_kept,
    meaning,
    on_average,
    outward,
    percent,
    promise,
    rounded_up,
    yardstick,
)
from publius.releases.manifest import AuthorFacts

FOLDED = '<section class="folded"'


def pages(folder, manifest, row):
    table = table_of(manifest) if hasattr(manifest, "labels") else None
    folder.mkdir(exist_ok=True)
    write_release_pages(folder, manifest, row=row, table=table)
    return (folder / "release.html").read_text(), (folder / "README.txt").read_text()


def side_of(page):
    """What is read on the printed side: pictures by the text in them."""
    assert re.search(r"<main>\s*<section", page)
    side = page[page.index("<section") : page.index(FOLDED)]
    side = re.sub("<desc.*?</desc>|<title.*?</title>", " ", side, flags=re.DOTALL)
    return " ".join(re.sub("<[^>]+>", " ", side).split())


@pytest.mark.parametrize("name", MADE)
def test_pages_are_short(tmp_path, name):
    page, read_me = pages(tmp_path, *MADE[name])
    assert len(side_of(page).split()) < 600
    assert len(read_me.split("DOCUMENTS BY LABEL")[0].split()) < 250
    found = Balanced(page)
    assert (found.open, found.wrong) == ([], [])


@pytest.mark.parametrize("name", MADE)
def test_pages_say_what_stands_in_the_manifest(tmp_path, name):
    manifest, row = MADE[name]
    page, read_me = pages(tmp_path, manifest, row)
    side = side_of(page)
    assert f"epsilon = {manifest.epsilon:g}" in side
    assert f"{manifest.documents:,} documents" in side
    assert f"{manifest.documents:,} DOCUMENTS" in read_me
    assert manifest.promise in page
    for each in manifest.public:
        assert each.sha256 in page
    assert manifest.publius_version in page
    if manifest.private:
        assert meaning(manifest) in read_me.replace("\n", " ")
        assert yardstick(manifest) in read_me
        assert yardstick(manifest) in side


@pytest.mark.parametrize("name", MADE)
def test_the_same_manifest_makes_the_same_bytes(tmp_path, name):
    assert pages(tmp_path / "a", *MADE[name]) == pages(tmp_path / "b", *MADE[name])


def test_what_is_unprotected_stands_first(tmp_path):
    page, read_me = pages(tmp_path, *MADE["ids and kept"])
    side = side_of(page)
    first = side.index("Not protected")
    assert first < side.index("epsilon =")
    assert "own ids" in side[first:]
    assert "district , year" in side or "district, year" in side
    assert "chosen after looking at the texts" in side
    assert read_me.index("NOT PROTECTED") < read_me.index("WHAT IT PROMISES")
    assert "Not protected" not in side_of(pages(tmp_path, *MADE["3 labels"])[0])


def test_an_experiment_says_so_before_all(tmp_path):
    page, read_me = pages(tmp_path, *MADE["experiment"])
    assert side_of(page).startswith("NOT PRIVATE")
    assert "Nobody: this is an experiment" in page
    assert read_me.startswith("NOT PRIVATE")
    assert facts_of(labels_of(3, private=False), None, None)["warning"].startswith("NOT PRIVATE. ")
    assert promise(labels_of(3, **EXPERIMENT)) == "NOT PRIVATE: REPRODUCIBLE. Nothing is promised."


def test_a_real_row_is_shown_and_long_ones_are_cut(tmp_path):
    row = MADE["100 labels"][1]
    assert '"bag": {"about": 5' in facts_of(labels_of(3), row, None)["row"]
    assert "… 4 more words" in facts_of(labels_of(3), row, None)["row"]
    assert json.loads(facts_of(labels_of(3), {"id": "1", "label": "x"}, None)["row"]) == {"id": "1", "label": "x"}
    assert len(facts_of(labels_of(3), {"id": "1", "text": "x" * 1000}, None)["row"]) < 100


def test_limits_are_rounded_outward(tmp_path):
    assert (between(0.2068, 0.4959), percent(0.4959, down=True)) == ("20 % to 50 %", "49 %")
    assert outward(-0.3, 0.12, 1) == (-0.3, 0.2)
    manifest = labels_of(3, documents=237)
    table = [{"label": "a", "rows": 61, "low": 49, "high": 66}]  # 49 of 237 is 20.68 %
    write_release_pages(tmp_path, manifest, row=None, table=table)
    for name in ("release.html", "README.txt"):
        assert "put 20 % to 28 % of these 237 documents under" in (tmp_path / name).read_text()


def test_words_that_noise_replaced_nearly_all_are_said_to_be(tmp_path):
    near, random = (pages(tmp_path / str(share), words_of(unchanged=share), BAG) for share in (0.4, 0.005))
    for page, said in (
        (near, "some of them by other words with a similar meaning"),
        (random, "Noise replaced nearly all of them by other words."),
    ):
        assert said in page[0]
        assert ("similar meaning" in page[1]) == (page is near)
        assert "Topics can be seen" in page[1]  # whatever is replaced: a bag tells more than its words one by one
    assert "0.5 %" in side_of(random[0])
    assert "0.5 %" in random[1]


def test_the_command_of_a_summary_draws_the_same_tables():
    shares = {"totals": 0.133334, "topics": 1 / 3, "subjects": 0.2, "statements": 0.333334}
    shares = {name: math.nextafter(float(Fraction(each).limit_denominator(20)), 1) for name, each in shares.items()}
    manifest = summary_of(epsilons=shares, statements=4, statements_per_author=2, compared_with="an earlier summary")
    assert [*shares_of(manifest).values()] == [Fraction(2, 15), Fraction(1, 3), Fraction(1, 5), Fraction(1, 3)]
    said = command_of(manifest)
    assert "--ask @STATEMENTS --statements-per-author 2 --compare EARLIER" in said
    assert "--share totals=2/15,topics=1/3,subjects=1/5,statements=1/3" in said


def test_what_authors_wrote_is_escaped(tmp_path):
    manifest = labels_of(3, ids=True, kept=(HOSTILE,), labels=(HOSTILE, "b", "other"))
    page, read_me = pages(tmp_path, manifest, {"id": HOSTILE, "label": HOSTILE})
    assert "<script" not in page
    assert "<img" not in page
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028]", page + read_me)


def test_the_picture_of_accuracy_has_the_released_share_and_names_best_and_worst(tmp_path):
    manifest, row = MADE["21 labels"]
    kept = label_kept(5.0, 21)
    facts = facts_of(manifest, row, None)
    first = facts["accuracy_bars"][0]
    assert first["label"] == "all labels"
    assert first["value"] == pytest.approx(0.75 * kept + 0.25 * (1 - kept) / 20)
    assert first["low"] < first["value"] < first["high"] < first["before"]
    assert [each["label"] for each in facts["accuracy_bars"][1:]] == [
        *(f"subject {n}" for n in range(4)), *(f"subject {n}" for n in range(16, 20)), "other",
    ]  # fmt: skip
    page = pages(tmp_path, manifest, row)[0]
    for name, share in manifest.classifier.accuracy.by_label.items():
        assert re.search(f'{name}</bdi></td><td class="n">{percent(share)}', page)


def test_without_an_author_column_the_page_says_what_five_documents_mean(tmp_path):
    assert "For 5 documents, epsilon is 25" in side_of(pages(tmp_path, *MADE["3 labels"])[0])
    five = labels_of(3, author=AuthorFacts(documents=5, epsilon=25.0))
    side = side_of(pages(tmp_path, five, None)[0])
    assert "at most 5 documents leave" in side
    assert "Authors of 5 documents: epsilon is 25" in side
    assert "Here epsilon is 5 per document, 25 per author: it may be weak." in side


@given(st.floats(0.01, 20), st.integers(2, 400), st.integers(2, 2000))
def test_what_epsilon_means_by_brute_force(epsilon, labels, candidates):
    """Candidates whose answers are spread over the labels: the best guess from a row, over all rows and texts."""
    kept, other = label_kept(epsilon, labels), (1 - label_kept(epsilon, labels)) / (labels - 1)
    there = min(candidates, labels)
    right = there * kept / candidates + (labels - there) * other / candidates
    assert on_average(epsilon, labels, candidates) == pytest.approx(min(right, 1), rel=1e-9)
    assert kept + (labels - 1) * other == pytest.approx(1)


def test_meaning_in_one_line_of_each_kind():
    assert meaning(labels_of(21)) == (
        "Noise changes 12 % of labels (about 147 of 1,234). Suppose somebody has two texts, and a row made from "
        "one of them. They pick the right one at most 99.34 % of the time (by guessing: 50 %)."
    )
    assert meaning(summary_of()).endswith("they pick the right one at most 74 % of the time (by guessing: 50 %).")
    assert meaning(words_of()).endswith(
        "The exponent is at most 2.31 if one says nurse and the other says doctor, and 61.7 if one says nurse and the other says river."
    )
    assert "400 times the distance of the two" in meaning(words_of(nearest_pair=None, typical_pair=None))
    assert "no proof" in meaning(words_of(evidence="none"))
    assert "declared values" in meaning(values_of())


@pytest.mark.parametrize("name", [name for name in MADE if name != "experiment"])
def test_the_promise_names_its_unit_and_what_is_added(name):
    said = promise(MADE[name][0])
    assert "further release of a document adds" in said
    assert ("Not protected" in said) == (name in ("ids and kept", "ordered"))


def test_numbers_are_rounded_to_the_safe_side():
    assert rounded_up(2.9101) == "2.92"
    assert percent(0.12941, up=True) == "13 %"
    assert percent(0.9933072, up=True) == "99.34 %"
    assert percent(1) == "100 %"
    assert factor_text(5.0) == "149"
    assert factor_text(800.0) == "exp(800)"


@given(st.floats(1e-9, 1e12), st.integers(1, 6))
def test_a_limit_is_never_rounded_down(value, digits):
    assert float(rounded_up(value, digits).replace(",", "")) >= value
    assert float(rounded_up(value, digits).replace(",", "")) <= value * (1 + 10.0 ** (1 - digits)) * (1 + 1e-9)


def test_commands_repeat_the_settings():
    assert command_of(values_of(kept=("a b",))) == (
        "publius label FILE --field status --labels open,closed --epsilon 7 --keep 'a b' --output FOLDER"
    )
    named = labels_of(
        3, labels=("a,b", "c", "other"), classifier=msgspec.structs.replace(labels_of(3).classifier, kind="names")
    )
    assert "--labels '\"a,b\",c'" in command_of(named)
    assert "--length 40 --mechanism laplace --epsilon 10" in command_of(words_of())
    stated = {"project": 7, "scale": 2.5, "epsilon_certified": 9.99}
    projected = words_of(mechanism="projected-exponential", mechanism_parameters=stated)
    assert "--mechanism projected-exponential --set project=7 --epsilon 10" in command_of(projected)
    assert "--by district=North,South --epsilon 1" in command_of(summary_of())


def test_words_show_exponents_between_zones_and_how_often_a_word_stays(tmp_path):
    page = pages(tmp_path, words_of(unchanged=0.63), None)[0]
    assert "1 of 40 words (similar words (nurse, doctor)):" in page
    assert "all 40 words (other words (nurse, river)): 2,470" in page  # 2,468, up, as in the text
    assert 'class="zone zd"' in page
    assert 'class="zone zb"' in page
    assert "unchanged: 63 %." in page
    assert "Not computed for this release" in side_of(pages(tmp_path, words_of(), None)[0])
    assert "This page was written before any test of who can be identified." in side_of(page)


def test_a_declared_value_is_nobody_s_answer(tmp_path):
    page = pages(tmp_path, values_of(), {"id": "1", "label": "open"})[0]
    assert "if k is the declared value, else 1)" in page


def test_accuracy_is_said_before_and_after_noise(tmp_path):
    page, read_me = pages(tmp_path, *MADE["21 labels"])
    said = re.search(
        r"Before noise \(thick stroke\), 75 % got the right label\. After noise \(bar\), 66 % did\. This is not exact: it may be (\d+) % to (\d+) % \(thin line: 95 % interval\)\.",
        side_of(page),
    )
    assert int(said[1]) < 66 < int(said[2])
    assert "The classifier was right for 75 % of public texts" in read_me
    assert "Even before noise, 25 % of public texts got a wrong label (" in side_of(page)
    accuracy = msgspec.structs.replace(labels_of(3).classifier.accuracy, by_label={"subject 0": 0.9, "subject 1": 0.6})
    facts = msgspec.structs.replace(labels_of(3).classifier, accuracy=accuracy)
    assert "The label &ldquo;other&rdquo; was not tested" in side_of(
        pages(tmp_path, labels_of(3, classifier=facts), None)[0]
    )


def test_accuracy_by_label_is_said_as_what_it_is(tmp_path):
    manifest, row = MADE["21 labels"]
    page = pages(tmp_path, manifest, row)[0]
    (name, share), kept = (
        max(manifest.classifier.accuracy.by_label.items(), key=lambda each: each[1]),
        label_kept(5.0, 21),
    )
    after = percent(share * kept + (1 - share) * (1 - kept) / 20)
    said = f"Of &ldquo;{name}&rdquo; texts, {after} get that label. The reverse was not measured: how many texts with that label really are &ldquo;{name}&rdquo;."
    assert said in side_of(page)
    assert "so many are labelled X" in page


@pytest.mark.parametrize(("name", "of", "times"), [("21 labels", 1000, 5.0), ("values", 3, 7.0)])
def test_what_a_second_release_adds_is_a_number(tmp_path, name, of, times):
    page, read_me = pages(tmp_path, *MADE[name])
    first, second = (percent(1 / (1 + (of - 1) * math.exp(-epsilon)), up=True) for epsilon in (times, 2 * times))
    said = (
        f"{'texts' if of > 3 else 'values'} finds it at most {first} of the time with one release, {second} with two."
    )
    assert f"the right one of {of:,} {said}" in side_of(page)
    assert "another release, its epsilon is added" in read_me


def test_a_second_release_of_words_doubles_the_exponent(tmp_path):
    page = pages(tmp_path, *MADE["words"])[0]
    assert "The exponent for similar words (nurse, doctor) is at most 2.31 with one release, 4.62 with two." in side_of(
        page
    )
    assert "with two." not in pages(tmp_path, *MADE["python"])[0]
    assert "with two." not in pages(tmp_path, *MADE["experiment"])[0]


@pytest.mark.parametrize("name", MADE)
def test_the_glossary_has_words_of_this_page_alone(tmp_path, name):
    manifest, row = MADE[name]
    page = pages(tmp_path, manifest, row)[0]
    there = {*re.findall("<dt>(.*?)</dt><dd>", page)}
    words = hasattr(manifest, "length")
    assert ("bag" in there) == (words or manifest.bag is not None)
    assert {"baseline", "exponent"} & there == ({"baseline", "exponent"} if words else set())


@pytest.mark.long
@pytest.mark.skipif(
    shutil.which("chromium") is None or shutil.which("pdfinfo") is None, reason="needs chromium, pdfinfo"
)
@pytest.mark.parametrize("name", MADE)
def test_a_page_prints_on_one_side(tmp_path, name):
    pages(tmp_path, *MADE[name])
    pdf = tmp_path / "page.pdf"
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/home",
         "--no-pdf-header-footer", f"--print-to-pdf={pdf}", f"file://{tmp_path}/release.html"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    said = subprocess.run(["pdfinfo", str(pdf)], check=True, capture_output=True, text=True).stdout
    assert re.search("Pages: +1\n", said)


def test_a_summary_has_a_side_for_the_page_to_sign():
    signed = {
        "curator": True, "purpose": None, "recipient": None, "contact": None, "review": None, "evaluation": None,
        "counted": None, "digest": "f" * 64,
    }  # fmt: skip
    page = render("release.html", facts_of(summary_of(), None, None) | {"signed": signed})
    side = side_of(page)
    assert "2,000 authors" in side
    assert "(to be completed)" in side
    assert len(side.split()) < 600


def test_a_release_of_no_rows_has_its_pages(tmp_path):
    table = [{"label": "a", "rows": 0, "low": 0, "high": 0}]
    manifest = labels_of(3, documents=0)
    write_release_pages(tmp_path, manifest, row=None, table=table)
    assert "so many" in (tmp_path / "README.txt").read_text()


def test_words_promise_no_more_than_the_exponent_of_one_word(tmp_path):
    side = side_of(pages(tmp_path / "near", words_of(nearest_pair=0.5), BAG)[0])
    protected, not_protected = side.split("Who is protected")[1].split("Who is not")
    assert "a row hardly shows which of them it was made from" in protected
    assert "If they differ in more words, it shows more." in protected
    assert "how short" not in protected
    assert "one can see how short they are" in not_protected
    assert "a row may show which of them it was made from" in side_of(
        pages(tmp_path / "far", words_of(nearest_pair=31.3), BAG)[0]
    )
