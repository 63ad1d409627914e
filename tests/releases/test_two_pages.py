"""Two pages from one evidence: the curator's, which is signed, and the receivers', which leaves."""

import html
import itertools
import json
import math
import re
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from publius.documents.corpus import open_corpus
from publius.errors import DataError
from publius.evaluation.releases_linked import linked_releases
from publius.mechanisms.prototype import Prototype, fidelity
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.noise.randomness import seeded_rng
from publius.privacy.guarantee import STATED, posterior_with_all_rows
from publius.releases import account
from publius.releases.account import About
from publius.releases.contents import SUMMARY
from publius.releases.digests import digest_of, file_digests
from publius.releases.engines import protect_corpus
from publius.releases.label_shares import LabelShares, TopicShare
from publius.releases.manifests import read_manifest_of
from publius.releases.measured import Budget, Finding, Measured, Share, Sources
from publius.releases.own_texts import AuthorCounts, OwnTexts, Subject
from publius.releases.plan import Plan
from publius.releases.signoff import evidence, sign_off, write_receivers
from publius.releases.signoff import judged as judged_as
from publius.releases.verification import verify
from publius.settings import ReleaseSettings
from references import fitted, public_documents
from released import command

jsonschema = pytest.importorskip("jsonschema")
pytest.importorskip("jinja2")

SCHEMA = json.loads(files("publius.releases").joinpath("evidence.schema.json").read_text())
MEASURED = Measured(
    (("texts attacked", "60"),),
    (
        Finding("author", "svm", Share(0.07, 0.05, 0.1), Share(0.27, 0.2, 0.3), 0.03),
        Finding("author", "adaptive", Share(0.08, 0.05, 0.1), None, 0.03),
        Finding("author", "originals", Share(0.09, 0.05, 0.12), Share(1.0, 1.0, 1.0), 0.03, Share(0.157, 0.136, 0.213)),
    ),
    ("People.",), {"rows.jsonl": "cd" * 32}, 60, 0.093, "PASS: nobody beyond the limit",
    LabelShares(60, 0.75, 0.4, (TopicShare("court", 40, 0.9), TopicShare("music", 20, 0.45)), 0, 0.7, 0.8),
    {"texts": 60, "named": 0.029, "chance": 1 / 60, "ceiling": 0.94}, {"documents": 13, "named": 0.9996, "most": 14},
    room="A narrow PASS: 0.2 of 5.0 points", set_by="The limit is the proposal",
    on_authors="PASS",
)  # fmt: skip
OWN = OwnTexts(
    64, 4, 9, 1, (Subject(("canary", "subject"), 0.14, 0.001),),
    LabelShares(60, 0.616161, 0.3, (TopicShare("rare-canary", 2, 0.1),)), AuthorCounts(31, 0, 17, 2, 0.5, 5.0),
)  # fmt: skip
ABOUT = About("To learn", "A newspaper", None, "2030-01-01")


def flat(page):
    """A page or a text without marks and line breaks."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.fixture
def release(tmp_path):
    rows = [
        {"id": f"r{n}", "text": " ".join(words)} for n, (words, _) in enumerate(public_documents(60, seed=9))
    ]
    source = tmp_path / "t.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = Plan.of(ReleaseSettings(), Prototype(fitted(), bound=5.0))
    protect_corpus(open_corpus(source, number=True), plan, tmp_path / "release")
    return tmp_path / "release"


def test_the_evidence_keeps_its_schema_with_everything_and_with_nothing(release):
    budget = Budget("bound", 20.0, 60, 10.0, 2, 35.0)
    for found in (
        evidence(release),
        evidence(release, Sources(measured=MEASURED, budget=budget, own=OWN, about=ABOUT)),
        {"output": None, **evidence(release, Sources(measured=MEASURED))},
    ):
        jsonschema.validate(json.loads(json.dumps(found)), SCHEMA)
    broken = {**evidence(release), "unit": "person"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA)
    assert found.keys() - {"output"} == SCHEMA["properties"].keys() - {"output"}, (
        "what is printed is described"
    )


def test_what_was_measured_on_the_private_texts_is_on_the_curators_page_alone(release, tmp_path):
    curator = sign_off(release, Sources(measured=MEASURED, own=OWN, about=ABOUT)).decode()
    assert "canary, subject" in curator
    assert "61.6 %" in curator
    assert "rare-canary" in curator
    worst = "17 documents (found; the promise of the crowd takes 1 at most); their bounds add up to 85 nats: empty, "
    worst += "which promises nothing."
    assert worst in curator.split("Signed</h2>")[0]
    write_receivers(release, Sources(measured=MEASURED, about=ABOUT))
    left = "".join((release / name).read_text() for name in ("receivers.html", "receivers.json"))
    for private in ("canary", "61.6", "0.616", "85 nats", "curator's eyes"):
        assert private not in left
    assert json.loads((release / "receivers.json").read_text())["own"] is None
    assert "Signature" in curator
    theirs = (release / "receivers.html").read_text()
    assert "Signature" not in theirs
    assert "This page is not signed" in theirs
    assert "This page is not signed" not in curator
    assert "stays with the curator" in curator
    assert "stays with the curator" not in theirs
    jsonschema.validate(json.loads((release / "receivers.json").read_text()), SCHEMA)


@pytest.mark.parametrize("own", [OWN, replace(OWN, hardly_known=59), None])
def test_a_pass_that_rests_on_the_private_texts_is_not_published_whatever_they_are(release, own):
    """The curator's figures can withdraw it; were it left out only then, receivers would learn that they did."""
    write_receivers(release, Sources(measured=MEASURED, about=ABOUT))
    left = "".join((release / name).read_text() for name in ("receivers.html", "receivers.json"))
    assert "PASS" not in left
    assert json.loads((release / "receivers.json").read_text())["verdict"] is None
    assert "judged on the curator's page, which does not leave" in left
    page = sign_off(release, Sources(measured=MEASURED, own=own, about=ABOUT)).decode()
    above = page.split("Signed</h2>")[0]
    assert ("<strong>NO EVIDENCE</strong>" in above) is (own is not None and own.hardly_known > 12)
    assert ("unlike the public texts that were attacked" in above) is ("NO EVIDENCE" in above)
    assert ("Nobody looked whether these documents are like the public texts." in above) is (own is None)
    assert ("A narrow PASS: 0.2" in above) is ("NO EVIDENCE" not in above)
    assert "The limit is the proposal" in above
    assert "A narrow" not in left
    assert "is the proposal" not in left
    failed = replace(MEASURED, verdict="FAIL: named", on_authors="FAIL")
    write_receivers(release, Sources(measured=failed))
    assert json.loads((release / "receivers.json").read_text())["verdict"] == "FAIL: named"


def test_the_page_for_receivers_is_bound_and_both_verify(release, tmp_path):
    write_receivers(release, Sources(measured=MEASURED))
    page = tmp_path / "signoff.html"
    page.write_bytes(sign_off(release, Sources(measured=MEASURED, own=OWN)))
    assert {"receivers.html", "receivers.json"} <= verify(release, page)["release"].keys()
    verify(release, release / "receivers.html")
    (release / "receivers.json").write_text("{}")
    with pytest.raises(DataError, match="changed"):
        verify(release, page)


def test_the_first_side_says_what_is_signed_and_the_annex_begins_a_new_one(release):
    text = sign_off(release, Sources(measured=MEASURED, own=OWN, about=ABOUT)).decode()
    first, annex = text.split('<h2 class="annex">')
    for said in ("To learn", "A newspaper", "In five points", "who is protected", "how strongly", "Not promised",
                 "Signature", "one row, as it leaves"):  # fmt: skip
        assert said in first
    assert first.count("<li>") >= 5
    assert "h2.annex { break-before: page" in first
    for said in ("Three questions", "Topics that labels tell worse", "withdrawal and errors",
                 "The numbers, made again", "2030-01-01", account.OPEN):  # fmt: skip
        assert said in annex


def test_the_first_side_says_each_number_in_words_first(release):
    """A head of office signs there: no Greek letter and no name of a program stands before what it means."""
    found = evidence(release, Sources(measured=MEASURED, own=OWN, about=ABOUT))
    crowd = {**found, "crowd": {"epsilon": 6.983, "delta": 1e-6, "documents_per_author": 1}}
    assert (
        "an author with one document is protected as a whole, too: whatever that author wrote, what is seen is at most "
        "1,080 times as probable, with an exception of at most 1 in 1,000,000 (epsilon 6.983, delta 1e-06)."
    ) in account.unit(crowd)
    assert 1_070 < math.exp(6.983) < 1_080
    assert "1 in 9,090 (" in account.unit(
        {**crowd, "crowd": {**crowd["crowd"], "delta": 1.02e-4}}
    )  # never more
    first = html.unescape(sign_off(release, Sources(measured=MEASURED, own=OWN, about=ABOUT)).decode())
    first = first.split("Signed</h2>")[0].split("<main>")[1]
    for jargon in ("svm", "mechanism ", "exp(", "prototype ·"):
        assert jargon not in first
    for key in found["sample_row"]:
        assert f"{key}: " in first, "each key of the row is explained beneath it"
    summary = {**found, "kind": SUMMARY, "bound": None, "epsilon": 2.0, "unit": "author"}
    assert "what is seen is at most 7.39 times as probable" in account.strength(summary)
    assert (
        f"at most {100 * math.exp(2) / (1 + math.exp(2)):.2f} %; where they wonder whether the author wrote anything "
        f"at all, at most 73.11 %" in next(itertools.islice(account.sentences(summary), 1, None))
    )
    words = {**found, "kind": "bag-of-words", "bound": None, "epsilon": 10.0, "probability_kept": None}
    assert "for those no useful limit is stated" in next(itertools.islice(account.sentences(words), 1, None))
    assert "no bound between any two is stated (epsilon 10 per word" in account.strength(words)
    assert any(
        each.startswith("A row tells the topic of its text on purpose") for each in account.how_to_read(found)
    )
    for labels, said in (
        (found["measurements"]["labels"], "Many labels are the topic"),
        (None, "A topic, which"),
    ):
        shown = {**words, "preserve": "words", "measurements": {**found["measurements"], "labels": labels}}
        assert any(each.startswith(said) for each in account.how_to_read(shown))


def test_what_readers_stumbled_on_is_said(release):
    """A head of office, a data protection officer and a journalist read pages and folder, and these misled them."""
    verdict = (
        "PASS: prototype, bound 7: authors named beyond those whom the topic names 0.023, from 0.010 to 0.048 allowing "
        "for chance, by whoever knows the topic and holds the originals; allowed 0.05 (named 0.112, topic alone 0.090, "
        "unprotected 0.291 by svm, told the topic)"
    )
    found = evidence(
        release, Sources(measured=replace(MEASURED, verdict=verdict, room=None), own=OWN, about=ABOUT)
    )
    assert found["verdict"] == verdict
    said = (
        "named 9.0 % of the authors without the rows and 11.2 % with them. Allowing for chance the rows add from 1.0 "
        "to 4.8 points; 5.0 were allowed."
    )
    assert said in account.added(found)
    near = {
        **found,
        "measurements": {**found["measurements"], "room": "A narrow PASS: 0.2 of the 5.0 points allowed"},
    }
    assert account.added(near).endswith("from 1.0 to 4.8 points."), "what is allowed is said once"
    other = verdict.replace("those whom the topic names", "the 0.095 that he names without the release")
    assert "named 9.5 % of the authors without the rows and 11.2 % with" in account.added(
        {**found, "verdict": other}
    )
    assert account.added({**found, "verdict": "NO EVIDENCE: undecided"}) is None
    page = sign_off(
        release, Sources(measured=replace(MEASURED, verdict=verdict, room=None), about=ABOUT)
    ).decode()
    first = page.split("Signed</h2>")[0]
    assert said in first
    labels = {json.loads(line)["label"] for line in (release / "bags.jsonl").read_text().splitlines()}
    assert all(f"{label} (" in first.split("labels that leave")[1].split("</dd>")[0] for label in labels)
    assert "Fields left out: all. No date leaves, so no change over time can be seen." in page
    assert "Rows left out: none. Every row" in page, "it read as if all had left"
    assert "whoever always says one name finds all of that author" in page
    assert found["leaves"].startswith("never")
    write_receivers(release, Sources(measured=replace(MEASURED, verdict=verdict, room=None), about=ABOUT))
    theirs = json.loads((release / "receivers.json").read_text())
    assert theirs["leaves"] == "with the release"
    assert "what a verdict judges" not in (release / "receivers.html").read_text()
    assert "release without these two pages" in (release / "receivers.html").read_text()
    text = " ".join((release / "READ-ME.txt").read_text().split())
    assert (
        "a label, the topic that the program found for the document, which may be wrong, or by chance" in text
    )
    assert "The share of documents that are really about it may lie outside these limits" in text
    assert "not that so many were about it" in text
    assert "Names of people may stand among them: no document need have mentioned these." in text
    assert "This folder states no licence" in text


def test_how_many_documents_an_author_has_is_found_or_declared_and_says_which(release):
    """The same 3 stood on both pages, found on one and declared on the other, and read as a leak."""
    crowd = {"epsilon": 15.0, "delta": 1e-6, "documents_per_author": 3}
    found = {**evidence(release), "crowd": crowd, "own": {"authors": {"most": 3}}}
    assert account.worst_author(found)[1].startswith(
        "3 documents (found; declared: 3 at most); their bounds add up"
    )
    theirs = {**found, "own": None}
    assert account.worst_author(theirs)[1].startswith(
        "3 documents (declared; what was found does not leave); their"
    )
    uncounted = {**found, "own": {"authors": None}}
    assert account.worst_author(uncounted)[1].startswith(
        "3 documents (declared; how many anybody has was not counted)"
    )
    assert "3 documents (found; none was declared);" in account.worst_author({**found, "crowd": None})[1]
    spent = {**found, "crowd": {**crowd, "epsilon": 21.0}}
    assert "An author with as many as 3 of them (declared) has hardly any protection" in account.unit(spent)
    page = sign_off(release, Sources(measured=MEASURED, own=OWN, about=ABOUT)).decode()
    assert "The author with most documents has 17 (found)" in page
    assert "the receivers' page has none of it, only what was declared" in flat(page)


def test_only_what_no_attacked_author_had_is_said_to_be_untested(release):
    """The author named most often had two documents, and fifty others who were attacked had four."""
    found = {**evidence(release, Sources(measured=MEASURED)), "own": {"authors": {"most": 4}}}
    for documents, most, untested in ((2, 4, False), (2, 3, True), (4, 4, False), (13, 14, False)):
        worst = {"documents": documents, "named": 0.9, "most": most}
        said = account.worst_author({**found, "measurements": {**found["measurements"], "worst": worst}})[1]
        assert ("with 4 it was not tested" in said) is untested


def test_texts_of_nobody_are_not_called_authors(release):
    """Each was attacked as of an author of its own, and sixty people had written the three hundred."""
    attacked = replace(
        MEASURED, about=(account.AUTHORS_UNKNOWN,), findings=MEASURED.findings[2:], worst=None,
        verdict="NO EVIDENCE: x", on_authors="NO EVIDENCE", adds_at_most=0.05, room=None,
    )  # fmt: skip
    page = flat(sign_off(release, Sources(measured=attacked)).decode())
    for said in (
        "Texts named",
        "always one text",
        "names 9.3 % of the texts",
        "named 15.7 % of the texts from their rows",
        "not known: each text counts as of an author of its own",
    ):
        assert said in page
    for unsaid in ("Authors named", "most frequent author", "of the authors", "How many authors an attacker"):
        assert unsaid not in page
    assert "60 texts of known authors or topics" in page
    no_topics = replace(attacked, floor=None)
    assert "60 texts, protected" in flat(sign_off(release, Sources(measured=no_topics)).decode())


def test_what_receivers_may_and_may_not_do_is_one_text_in_two_places(release):
    """It stood in READ-ME.txt alone, and an officer who read both pages found nothing forbidden."""
    write_receivers(release, Sources(measured=MEASURED, about=ABOUT))
    machine = json.loads((release / "receivers.json").read_text())
    read_me = flat((release / "READ-ME.txt").read_text())
    theirs, curators = (release / "receivers.html").read_text(), sign_off(release).decode()
    assert len(machine["may_and_may_not"]) == 3
    for said in machine["may_and_may_not"]:
        assert read_me.count(said) == flat(theirs).count(said) == flat(curators).count(said) == 1
    whole = " ".join(machine["may_and_may_not"])
    for said in ("not that so many were about it", "Do not try to find out whose documents these are",
                 "This folder states no licence: ask whoever sent it what you may do with it", "its words are not the",
                 "how many people there are"):  # fmt: skip
        assert said in whole
    assert theirs.index("What you may and may not do") < theirs.index('<h2 class="annex">')


def test_each_number_for_the_sureness_of_a_label_is_told_from_the_others(release):
    """0.9946, "at least 82 %", 91.5 % and "proves nothing" stood beside each other, and the largest was believed."""
    topics = replace(
        MEASURED, findings=(*MEASURED.findings, Finding("topic", "svm", Share(0.744, 0.7, 0.8), None, 0.4))
    )
    found = evidence(release, Sources(measured=topics, about=ABOUT))
    noise, left, right, guessed = found["how_sure"]
    kept = 100 * found["probability_kept"]
    assert kept <= float(noise.split(" %")[0]) < kept + 0.1
    assert "says of no row how sure that one is" in noise
    assert left.startswith("At least so many per cent (last column of READ-ME.txt)")
    assert "no share of right labels" in left
    assert "not drawn blindly" in (release / "READ-ME.txt").read_text()
    assert right.startswith("75.0 %: ")
    assert "no probability of any one row" in right
    assert guessed.startswith("74.4 %: ")
    assert "the two differ a little" in guessed
    page = flat(sign_off(release, Sources(measured=topics), for_receivers=True).decode())
    assert all(each in page for each in found["how_sure"])
    assert len(account.how_sure(evidence(release))) == 2
    assert account.how_sure({**found, "probability_kept": None}) == []


def test_the_errors_of_each_label_stand_in_the_text_of_the_page(release):
    topics = (TopicShare("court", 40, 0.9, 41.5), TopicShare("music", 20, 0.45))
    labels = replace(MEASURED.labels, topics=topics)
    page = flat(
        sign_off(release, Sources(measured=replace(MEASURED, labels=labels)), for_receivers=True).decode()
    )
    assert "Errors by label" in page
    assert "court 40 90.0 % 86.7 %" in page  # 36 of the 41.5 rows that say so
    assert "music 20 45.0 % –" in page
    many = replace(labels, topics=tuple(TopicShare(f"t{n}", 2, 0.5) for n in range(30)))
    page = flat(sign_off(release, Sources(measured=replace(MEASURED, labels=many))).decode())
    assert "6 more topics stand in the evidence." in page
    assert "Errors by label" not in sign_off(release).decode()


def test_what_a_recipient_holds_is_joined_with_what_was_tried(release):
    """A recipient "may hold any public post", and far from there stood "not tried: linkage"."""
    found = evidence(release, Sources(measured=MEASURED, about=ABOUT))
    page = flat(sign_off(release, Sources(measured=MEASURED, about=ABOUT)).decode())
    assert f"A newspaper {found['held_beside']}" in page
    assert found["held_beside"] == (
        "The limit under 'how strongly' holds whatever they hold. The programs of point 3 had learned from other texts "
        "of the same people; linking rows with anything else was not tried."
    )
    assert "what was not tried" not in account.held_beside(evidence(release))
    assert "with other texts of the same people was not tried" in account.held_beside(evidence(release))
    loose = {**found, "bound": None}
    assert account.held_beside(loose).startswith("No useful limit is proven for whoever holds much. The")


def test_a_comparison_has_one_attacker_on_both_sides(release):
    said = list(account.sentences(evidence(release, Sources(measured=MEASURED))))
    assert len(said) == 5
    assert (
        "Without protection the best of them named 27.0 %, and from rows protected in the same way 7.0 %. From such "
        "rows another one named 8.0 %." in said[2]
    )
    assert (
        "Whoever knows only what a text is about names 9.3 %, and whoever always says the same author names 3.0 %"
        in (said[2])
    )
    assert (
        "Whoever knows the topic, sees the row and holds the original texts names 15.7 %. These are averages"
        in said[2]
    )
    assert "of these less than half are right: music" in said[3]
    nothing = list(account.sentences(evidence(release)))
    assert "no evidence" in nothing[2]


def test_every_adversary_has_one_name_and_every_number_one_place(release):
    """The table has each adversary without and with the topic, and says what is named where nothing is read."""
    page = sign_off(release, Sources(measured=MEASURED, own=OWN, about=ABOUT)).decode()
    table = page.partition("Authors named")[2].partition("</table>")[0]
    (row,) = [line for line in table.split("<tr>") if "whoever holds the originals" in line]
    assert [row.index(each) for each in ("9.0", "15.7", "13.6", "21.3", "100.0")] == sorted(
        row.index(each) for each in ("9.0", "15.7", "13.6", "21.3", "100.0")
    )
    assert "whoever knows the topic only" in table
    assert "always the most frequent author" in table
    for vague in ("by chance<", "by guessing", "the holder of the originals names"):
        assert vague not in page


def test_people_who_are_mentioned_and_what_is_special_stand_above_the_signature(release):
    above = (
        sign_off(release, Sources(measured=MEASURED, own=OWN, about=ABOUT)).decode().split("Signed</h2>")[0]
    )
    assert (
        above.count("Whoever is mentioned in a text is protected with that text only, and not across texts.")
        == 1
    )
    assert "Health, opinions, faith and the like are protected no more than anything else in a text" in above
    receivers = sign_off(release, Sources(measured=MEASURED), for_receivers=True).decode()
    assert (
        "an author of several documents</dt><dd>5 documents (an example; what was found does not leave); their bounds "
        "add up to 25 nats" in receivers
    )
    assert "17 documents" not in receivers


def test_the_three_questions_have_success_chance_and_ceiling(release):
    found = evidence(release, Sources(measured=MEASURED))
    singling, linking, topic, author = account.risks(found)
    assert singling.measured.startswith("9.0 %")
    assert "15.7 % (13.6 % to 21.3 % allowing for chance), where he knows the topic, too" in singling.measured
    assert (
        singling.without == author.without == "3.0 %, always naming one author; 9.3 %, from the topic alone"
    )
    capacity = found["outcomes"] * found["probability_kept"]
    assert singling.average.startswith(f"{math.ceil(1000 * 0.03 * capacity) / 10:.1f} %, where 3.0 %")
    assert singling.worst == (
        "12.94 % seeing that row alone, 95.67 % seeing all, of 1,000 equally likely texts; more for an author of "
        "several of them"
    )
    assert "at most 12.94 % in the worst case" in found["sentences"][1]
    assert "can be surer of one: at most 95.67 %." in found["sentences"][1]
    assert linking.measured == "2.9 % of 60 rows, by whoever holds the originals"
    assert linking.without == "1.7 %, any row blindly"
    assert linking.worst == "71.56 % seeing the two rows alone, 99.74 % seeing all, of 60 equally likely rows"
    assert topic.measured == "75.0 % of the labels are right"
    assert topic.without == "40.0 %, always the most frequent topic"
    assert account.risks(evidence(release))[0].measured == "not measured"
    nobody_known = replace(
        MEASURED, findings=MEASURED.findings[2:]
    )  # each text stands for an author of its own
    texts, *_, author = account.risks(evidence(release, Sources(measured=nobody_known)))
    assert texts.question.endswith("names the text of a row")
    assert texts.without.startswith("3.0 %, always naming one text")
    assert (author.without, author.measured, author.average) == ("not measured",) * 2 + (
        "no useful one is proven",
    )


def test_nobody_names_more_on_average_than_is_said_and_sharp_rows_reach_it(release):
    """Whatever is known beforehand and guessed: against random laws of M outcomes, and the sharpest there can be."""
    rng = seeded_rng(11)
    for bound, outcomes, texts, authors in itertools.product((0.5, 2.0, 7.0), (2, 7, 20), (20, 60), (3, 20)):
        kept = fidelity(bound, outcomes)
        found = {"outcomes": outcomes, "probability_kept": kept, "evidence": "certified"}
        floor = 1 / (math.exp(bound) + outcomes - 1)
        for sharp in (True, False):
            scores = (
                np.eye(outcomes)[rng.integers(outcomes, size=texts)]
                if sharp
                else rng.random((texts, outcomes))
            )
            law = (1 + (math.exp(bound) - 1) * scores / scores.sum(axis=1, keepdims=True)) * floor
            prior, wrote = rng.random(texts), rng.integers(authors, size=texts)
            prior /= prior.sum()
            joint = np.zeros((authors, outcomes))
            np.add.at(joint, wrote, prior[:, None] * law)
            without = float(joint.sum(axis=1).max())
            assert joint.max(axis=0).sum() <= account.average_at_most(found, without) + 1e-12
        each = np.full((outcomes, outcomes), floor) + np.eye(outcomes) * (kept - floor)
        reached = float((each / outcomes).max(axis=0).sum())
        assert reached == pytest.approx(account.average_at_most(found, 1 / outcomes))
    stated = evidence(release)
    assert stated["outcomes"] == 4  # three topics, and "none of these"
    assert account.average_at_most({**stated, "evidence": STATED}, 0.1) is None
    assert account.average_at_most({**stated, "probability_kept": None}, 0.1) is None


IN_THIS_ORDER = (
    ("title", "What you receive", "Sign-off of a release"), ("date", "2", "2"), ("about", "To learn", "To learn"),
    (None, "A newspaper", "A newspaper"), ("sample_row", "one row, as it leaves", "one row, as it leaves"),
    ("sentences", "In five points", "In five points"),
    ("who_is_protected", "who is protected", "who is protected"),
    ("how_strongly", "how strongly", "how strongly"), ("trust", "(central)", "(central)"),
    ("worst_author", "worst case: an author of several", "worst case: the author with most"),
    ("budget", None, "with earlier releases"), ("not_promised", "Not promised", "Not promised"),
    ("sha256", None, "This is the release with the SHA-256 digest"),
    (None, None, "<div>Signature</div>"),
    ("questions", "Singling out", "Singling out"), (None, "Linking: two releases", "Linking: two releases"),
    (None, "Inference: what", "Inference: what"),
    ("average_and_worst", "Average and worst case", "Average and worst case"),
    ("served_worse", "Topics that labels tell worse", "Topics that labels tell worse"),
    ("left_out", "What was left out, and what was not tried", "What was left out, and what was not tried"),
    ("not_tried", "Not tried: ", "Not tried: "), ("randomness", "The software", "The software"),
    (None, "<dt>originals", "<dt>originals"), ("withdrawal", "withdrawal and errors", "withdrawal and errors"),
    ("look_again", "when to look again", "when to look again"), (None, "who signs", "who signs"),
    ("own", None, "Your own texts"), ("released", "What was released", "What was released"),
    ("promise", "What is promised", "What is promised"), ("measurements", "What was measured", "What was measured"),
    ("links", "Who can link what", "Who can link what"),
    ("commands", "The numbers, made again", "The numbers, made again"),
    ("files", "What this page belongs to", "What this page belongs to"),
)  # fmt: skip
"""What both pages hold, as the issue orders it: the key of the evidence, and how it is found on either page."""


def test_both_pages_and_the_evidence_hold_everything_in_its_order(release):
    sources = Sources(
        measured=MEASURED, budget=Budget("bound", 20.0, 60, 10.0, 2, 35.0), own=OWN, about=ABOUT
    )
    write_receivers(release, sources)
    curators = sign_off(release, sources).decode().split("<main>")[1]
    theirs = (release / "receivers.html").read_text().split("<main>")[1]
    for page, column in ((theirs, 1), (curators, 2)):
        place = 0
        for item in IN_THIS_ORDER:
            if item[column] is not None:
                assert item[column] in page[place:], item
                place = page.index(item[column], place)
    machine = json.loads((release / "receivers.json").read_text())
    for key, *_ in IN_THIS_ORDER:
        assert key is None or key in machine, key
        assert key in (None, "own", "budget") or machine[key], key
    assert machine["about"] == {**ABOUT.record()}
    told = evidence(release, sources)
    for words in (told["sentences"], told["not_promised"], told["average_and_worst"], told["served_worse"]):
        for each in words:
            assert html.escape(each).replace("&#x27;", "&#39;") in curators, each
    for each in told["questions"]:
        assert all(html.escape(said).replace("&#x27;", "&#39;") in curators for said in each.values())


def test_the_digest_above_the_signature_is_the_folders_and_verify_prints_it(release, tmp_path, publius):
    write_receivers(release, Sources(measured=MEASURED))
    page = tmp_path / "signoff.html"
    page.write_bytes(sign_off(release, Sources(measured=MEASURED, own=OWN)))
    above = page.read_text().split("Signature</div>")[0]
    digest = digest_of(file_digests(release))
    assert f"{digest}</code> of all 5 files of the release, the pages for receivers among them" in above
    for looked_at in (page, release / "receivers.html"):
        assert json.loads(publius("verify", release, looked_at, "--json")[1])["sha256"] == digest
        assert digest in publius("verify", release, looked_at)[1]
    theirs = (release / "receivers.html").read_text()
    assert "of 3 files of the release, without receivers.html and receivers.json" in theirs
    assert "3 files, and receivers.html and receivers.json beside them" in theirs
    assert "3 files, and receivers.html and receivers.json beside them" in page.read_text()


def test_what_nobody_said_is_open_on_one_page_and_asked_for_on_the_other(release):
    curators = sign_off(release).decode()
    assert curators.count(account.OPEN) == 5
    assert f"to receivers it says: {account.NOBODY_NAMED}" in curators
    theirs = sign_off(release, for_receivers=True).decode()
    assert account.OPEN not in theirs
    assert theirs.count("not stated: ask whoever sent this") == 4
    assert f"<dt>contact</dt><dd>{account.NOBODY_NAMED}</dd>" in theirs
    named = Sources(about=replace(ABOUT, contact="office@example.org"))
    for page in (sign_off(release, named), sign_off(release, named, for_receivers=True)):
        assert b"<dt>contact</dt><dd><bdi>office@example.org</bdi></dd>" in page
        assert account.NOBODY_NAMED.encode() not in page


def test_the_words_of_the_promise_are_explained_to_receivers(release):
    """ "Moderate" and "certified" have an owner: whoever receives the folder asks by whom."""
    manifest, text = (
        json.loads((release / "manifest.json").read_text()),
        (release / "READ-ME.txt").read_text(),
    )
    flat = " ".join(text.split())
    assert (manifest["strength"], manifest["evidence"]) == ("moderate", "certified")
    assert "'Moderate' is a word of Publius's own scale, whose limits stand beside it" in flat
    assert "moderate (strong up to 1, moderate up to 10, weak up to 20 nats, empty beyond)" in flat
    assert f"may be {math.e:.2f} times as probable" in flat
    by_whom = "by this software, which computed the promise exactly for what is public; no authority did"
    assert f"'Certified' means: {by_whom}." in flat
    page = sign_off(release).decode()
    assert f"<td>certified by Publius</td><td>{by_whom}</td>" in page
    assert (
        "moderate: what a row shows is at most 149 times as probable for its document as for any other"
        in page
    )
    assert (
        "Moderate is a word of Publius&#39;s own scale: strong up to 1, moderate up to 10, weak up to 20"
        in page
    )


@pytest.mark.parametrize("bound", [1.0, 5.0])
def test_two_releases_are_matched_as_often_as_the_law_says_and_never_beyond_the_ceiling(bound):
    mechanism = Prototype(fitted(), bound=bound)
    words = mechanism.reference.places
    documents = [[words[word] for word in text if word in words] for text, _ in public_documents(30, seed=4)]
    law = mechanism.law(documents)
    found = linked_releases(law, bound, seeded_rng(3))
    assert found["chance"] == 1 / 30
    assert found["ceiling"] == posterior_with_all_rows(bound, 30)
    assert 0 <= found["named"] <= found["ceiling"]
    if bound == 5.0:
        assert found["named"] > 1.5 / 30  # three topics of ten texts each: one in ten, less the noise
    alike = linked_releases(law[:1].repeat(30, axis=0), bound, seeded_rng(3))
    assert alike["named"] == pytest.approx(1 / 30, abs=0.02)


def test_the_page_of_a_field_says_that_values_leave(tmp_path):
    source = tmp_path / "t.jsonl"
    source.write_text("".join(json.dumps({"id": f"r{n}", "topic": "ab"[n % 2]}) + "\n" for n in range(40)))
    plan = Plan.of(ReleaseSettings(), RandomizedResponse("topic", ["a", "b"], bound=2.0))
    protect_corpus(open_corpus(source, text_field="topic", number=True), plan, tmp_path / "release")
    found = evidence(tmp_path / "release")
    assert found["released"]["documents"] == "40, each its declared value, or by chance another"
    assert (
        f"with a probability of {100 / (1 + math.exp(-2)):.1f} %, and else one of the others"
        in found["sentences"][3]
    )
    assert "words of each" not in found["released"]
    assert "declared values" in found["references"]
    assert not any("by its ids" in each for each in found["links"])
    assert found["stands_for_others"] is None


def test_a_value_that_stands_for_what_was_not_declared_is_said_to(tmp_path):
    """Its share is that of such documents, too, and a document's own value is nowhere to be seen."""
    source = tmp_path / "t.jsonl"
    source.write_text("".join(json.dumps({"id": f"r{n}", "topic": "abc"[n % 3]}) + "\n" for n in range(60)))
    plan = Plan.of(ReleaseSettings(), RandomizedResponse("topic", ["a", "b"], bound=2.0, other="b"))
    protect_corpus(open_corpus(source, text_field="topic", number=True), plan, tmp_path / "release")
    said = "The label 'b' stands for every value that was not declared, too"
    assert said in evidence(tmp_path / "release")["sentences"][3]
    assert said in " ".join((tmp_path / "release" / "READ-ME.txt").read_text().split())


def test_labels_that_several_outcomes_share_are_counted_with_all_their_floors(tmp_path):
    """Nobody wrote about music: its share and what is right of its rows is nothing, whatever the noise printed."""
    documents = [(words, topic) for words, topic in public_documents(3000, seed=5) if topic == "court"]
    source = tmp_path / "t.jsonl"
    source.write_text(
        "".join(
            json.dumps({"id": f"r{n}", "text": " ".join(words)}) + "\n"
            for n, (words, _) in enumerate(documents)
        )
    )
    plan = Plan.of(
        ReleaseSettings(), Prototype(fitted(prototypes=12), preserve="meaning", bound=3.0, prototypes=12)
    )
    assert plan.shared_labels["music"] > 1
    protect_corpus(open_corpus(source, number=True), plan, tmp_path / "release")
    lines = (tmp_path / "release/READ-ME.txt").read_text().splitlines()
    (music,) = [line for line in lines if line.endswith("  music")]
    assert "0.0% to" in music
    assert "not told from noise" in music
    assert (
        "of one outcome"
        in json.loads((tmp_path / "release/manifest.json").read_text())["probability_kept_is"]
    )


def test_limits_of_shares_are_rounded_outward():
    from publius.privacy.crowd import ShareEstimate
    from publius.releases.read_me import _interval

    assert _interval(ShareEstimate(0.5, 0.1, 0.12396, 0.87601)).split() == ["12.3%", "to", "87.7%"]


def test_a_page_for_receivers_that_nobody_signed_for_is_found(release, tmp_path):
    page = tmp_path / "page.html"
    page.write_bytes(sign_off(release, Sources(measured=MEASURED)))
    verify(release, page)
    for name in ("receivers.html", "receivers.json"):
        (release / name).write_text("<h1>Nobody can learn anything.</h1>")
        with pytest.raises(DataError, match=f"added: '{name}'"):
            verify(release, page)
        (release / name).unlink()
    (release / "somebody").mkdir()
    with pytest.raises(DataError, match="empty folders"):
        verify(release, page)


def test_what_people_type_turns_nothing_else_round(release):
    """Pasted text may hold marks that turn the direction of whatever follows."""
    page = sign_off(
        release, Sources(about=About("To \u202eread", review="in May\u202e", contact="a\nb"))
    ).decode()
    for said in ("To \u202eread", "in May\u202e", "a b"):
        assert f"<bdi>{said}</bdi>" in page


@pytest.mark.parametrize("nothing", ["", "   ", "\u200b", " \n\u2060\t"])
def test_what_shows_nothing_is_left_open(release, nothing):
    about = About(nothing, nothing, nothing, nothing, nothing)
    assert about == About()
    assert "<bdi>" not in sign_off(release, Sources(about=about)).decode()


@pytest.mark.parametrize("said", ["x" * 2_001, "caf\udce9"], ids=["long", "bytes"])
def test_what_no_page_can_show_is_refused_before_anything_is_removed(release, said):
    write_receivers(release, Sources(about=ABOUT))
    code, _, told = command("signoff", release, "--purpose", said, "--receivers", "--json")
    assert (code, "what is said as --purpose must be text" in told) == (2, True)
    assert (release / "receivers.html").exists()


@pytest.mark.parametrize("preserve", ["topic", "meaning", None])
def test_what_the_verdict_compares_is_said_as_the_release_has_it(preserve):
    """Only a release of topics releases the topic."""
    judged = {"verdict": "PASS: ...", "on_authors": "PASS", "in_all": False, "floor": 0.1}
    assert "no topics, so no attacker knew any" in account.compared(
        {"measurements": {**judged, "floor": None}}
    )
    said = account.compared({"preserve": preserve, "measurements": judged})
    assert ("the topic itself is released on purpose" in said) == (preserve == "topic")
    assert ("rows do not name the topic, and readers are taken to know it of each row" in said) == (
        preserve != "topic"
    )
    labelled = account.compared({"preserve": preserve, "measurements": {**judged, "labels": {}}})
    assert ("labels may be topics, and readers are taken to know it" in labelled) == (preserve != "topic")


def test_a_limit_on_all_authors_named_is_compared_with_nothing():
    judged = {"verdict": "PASS: ...", "on_authors": "PASS", "in_all": True}
    assert "It is a limit on all the authors named" in account.compared({"measurements": judged})
    assert account.compared({"measurements": {**judged, "on_authors": None}}) is None


@pytest.mark.parametrize(("verdict", "of_authors", "said"), [
    ("PASS", "PASS", "attackers named on average no more authors than the limit that was set allows"),
    ("PASS", None, "Nothing was asked of authors, so this is no evidence that they are hidden."),
    ("FAIL", "FAIL", "attackers named more authors than the limit that was set allows."),
    ("FAIL", "PASS", "does not hold on public texts protected in the same way. The limit on authors was kept."),
    ("FAIL", None, "Nothing was asked of authors"),
    ("FAIL", "NO EVIDENCE", "Of authors the test was undecided."),
    ("NO EVIDENCE", "NO EVIDENCE", "It shows neither that authors are hidden nor that they are found"),
    ("NO EVIDENCE", None, "Nothing was asked of authors"),
    ("NO EVIDENCE: about 40 % fit none, and an attack on public texts says nothing", "PASS", "are unlike the public"),
    ("NO EVIDENCE: the ids stand in the rows, and no attack on public texts was given", "PASS", "beside the result"),
])  # fmt: skip
def test_beside_the_verdict_stands_what_was_asked(verdict, of_authors, said):
    found = {"verdict": f"{verdict}: x", "evidence": "certified", "measurements": {"on_authors": of_authors}}
    assert said in account.verdict_said(found)


def test_rows_that_show_topics_need_attackers_who_were_told_some(release):
    """A verdict on texts without topics is none on rows that show them."""
    found = judged_as(replace(MEASURED, floor=None), read_manifest_of(release), release, None)
    assert found.verdict.startswith("NO EVIDENCE: the rows show topics")
    assert judged_as(MEASURED, read_manifest_of(release), release, None).verdict.startswith("PASS")


def test_what_is_said_of_authors_is_withdrawn_under_a_fail_of_the_topic_too(release):
    """Kept columns tell whatever the topic's test says, and receivers read nothing of it."""
    told = {**read_manifest_of(release), "labels": ["town"]}
    failed = replace(MEASURED, verdict="FAIL: topics named 0.4", on_authors="PASS")
    found = judged_as(failed, told, release, None)
    assert (found.verdict, found.on_authors) == ("FAIL: topics named 0.4", "NO EVIDENCE")
