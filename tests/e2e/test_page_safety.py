"""300 payload words as text, as words of the vocabulary and as what a report says: in no view does anything run."""

import re

import pytest
from browser import expect, give, opened, settled, turn, unfold
from explorer import explorer
from payloads import PAYLOADS
from results import write_result

from publius.noise.randomness import seeded_rng
from publius.privacy.ledger import Ledger
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.fit_reference import fit_reference
from references import TOPICS, public_documents
from toy import WORDS, sentence

MADE = "main :is(script, iframe:not(#report-frame iframe), object, embed, base, [onerror], [onload], [style], a[href])"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """An explorer whose vocabulary is mostly payloads, at one place each near an ordinary word; so is its report."""
    folder = tmp_path_factory.mktemp("hostile")
    words = [*WORDS, *PAYLOADS]
    rng = seeded_rng(8)
    places = rng.standard_normal((len(WORDS), 8))[[at % len(WORDS) for at in range(len(words))]]
    vectors = places + 0.2 * rng.standard_normal((len(words), 8))
    Embeddings.from_arrays(words, vectors, name="payloads", tokenizer="word2vec").save(folder / "vectors")
    labels = dict(zip(TOPICS, (PAYLOADS[0], PAYLOADS[60], PAYLOADS[-1]), strict=True))
    labelled = [(words, labels[topic]) for words, topic in public_documents()]
    learned = fit_reference(labelled, name="payloads", settings=LearningSettings(features="log-odds"))
    learned.save(folder / "home" / "references" / "payloads")
    Ledger.create(folder / "budget.ledger", budget=1e6)
    report = write_result(folder / "<img src=x onerror=top.canary=1>", PAYLOADS[0], PAYLOADS[60])
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PUBLIUS_HOME", str(folder / "home"))
        options = ["--embeddings", str(folder / "vectors"), "--ledger", str(folder / "budget.ledger")]
        with explorer(folder, *options, "--report", str(report)) as running:
            yield running


@pytest.fixture
def page(chromium_browser, hostile):
    with opened(chromium_browser, hostile) as found:
        yield found
        assert found.locator(MADE).count() == 0


def test_there_are_300_different_payloads():
    assert len(set(PAYLOADS)) == 300


def test_payloads_as_a_document(page):
    text = "\n".join(PAYLOADS)
    page.fill("#length", "4000")
    give(page, "document", text)
    expect(page.locator("#tokens .tokens")).to_contain_text("onerror")
    settled(page)
    assert page.inner_text("#tokens .tokens") == text
    unfold(page, "summary:text('Word by word')")


def test_payloads_as_words_of_the_bag(page):
    give(page, "document", " ".join(WORDS * 7))
    turn(page, 6)
    shown = set()
    for _ in range(12):
        with page.expect_response("**/v1/draw"):
            page.click("#redraw")
        settled(page)
        shown |= set(page.locator(".bag-list .bag-word").all_inner_texts())
    page.click(".switch button:text('Count')")
    unfold(page, "summary:text('Word by word')")
    assert len(shown & set(PAYLOADS)) > 250


def test_payloads_as_public_words(page):
    page.click("#tab-words")
    page.select_option("#word-count", "30")
    refused = 0
    for payload in PAYLOADS:
        page.fill("#word", payload)
        with page.expect_response("**/v1/words") as answer:
            page.press("#word", "Enter")
        refused += not answer.value.ok
    expect(page.locator("#words-title q")).to_have_text(PAYLOADS[-1])
    assert refused == 0


def test_payloads_in_curves_and_plans(page):
    page.fill("#length", "1000")
    give(page, "document", "\n".join(PAYLOADS[:150]))
    page.click("#tab-epsilon")
    give(page, "epsilon", "\n".join(PAYLOADS[150:]), which=1)
    page.wait_for_selector("#curves .chart")
    settled(page)
    page.click("#tab-compare")
    page.wait_for_selector("#compare-card .move", state="attached")
    for summary in page.locator("#view-compare summary").all():
        summary.click()


def test_payloads_as_prototypes(page):
    page.click("#tab-outcomes")
    give(page, "outcomes", "judge lawyer\n" + "\n".join(PAYLOADS))
    settled(page)
    page.fill("#bound-number", "1")
    settled(page)
    page.click("#outcomes-card button:has-text('Show all')")
    shown = page.locator("#outcomes-card tbody th").evaluate_all(
        "all => all.map((one) => one.firstChild.textContent)"
    )
    assert sorted(shown) == sorted([PAYLOADS[0], PAYLOADS[60], PAYLOADS[-1], "none of these"])
    page.select_option("#preserve", "meaning")
    settled(page)


def test_payloads_as_id_and_author_of_a_release(page, hostile):
    give(page, "document", sentence(1))
    for payload in (PAYLOADS[0], PAYLOADS[60], PAYLOADS[-1]):
        page.fill("#release-id", payload[:100])
        page.fill("#release-subject", payload[:100])
        page.click("#release-open")
        page.click("#confirm-release")
        page.wait_for_selector("#release-result .done")
    assert len(list(hostile.releases.iterdir())) == 3


def test_payloads_in_a_report_and_its_name(page):
    page.click("#tab-report")
    page.wait_for_selector("#report-card table")
    assert page.inner_text("#report-title") == "Evaluation: <img src=x onerror=top.canary=1>"
    page.click("#report-show")
    expect(page.frame_locator("#report-frame iframe").locator("h1")).to_have_text("The letters")
    page.wait_for_timeout(300)
    blocked = [each for each in page.watch.faults if "Blocked script" in each or "Content Security" in each]
    assert blocked
    page.watch.faults[:] = [fault for fault in page.watch.faults if fault not in blocked]


@pytest.mark.parametrize(
    "path",
    ["session", "mechanisms", "draw", "tokens", "words", "distance", "release", "references", "outcomes"],
)
def test_payloads_in_every_text_that_the_service_could_say(page, path):
    """Answers in which every text is a payload, even where ours never would be."""
    give(page, "document", sentence(1))
    page.route(re.compile(f"/v1/{path}"), spoil)
    if path in ("session", "mechanisms"):
        page.reload()
        page.wait_for_timeout(800)
        return
    turn(page, 3)
    settled(page)
    if path == "words":
        page.click("#tab-words")
        page.fill("#word", "river")
        page.press("#word", "Enter")
    if path == "distance":
        page.click("#tab-compare")
        give(page, "compare", sentence(2), which=1)
    if path in ("references", "outcomes"):
        page.click("#tab-outcomes")
        settled(page)
        page.click("#outcomes-redraw", force=True)
    if path == "release":
        page.click("#release-open")
        page.click("#confirm-release")
    settled(page)


def spoil(route):
    answer = route.fetch()
    payloads = iter(PAYLOADS * 100)
    route.fulfill(response=answer, json=spoiled(answer.json(), payloads))


def spoiled(value, payloads):
    if isinstance(value, dict):
        kept = ("kind", "name", "evidence", "metrics", "id")
        return {key: each if key in kept else spoiled(each, payloads) for key, each in value.items()}
    if isinstance(value, list):
        return [spoiled(each, payloads) for each in value]
    return next(payloads) if isinstance(value, str) else value
