"""The views of epsilon, words, two documents and a report, in a real browser against a real explorer."""

import pytest
from browser import expect, give, settled, tile, turn, unfold

from toy import WORDS, sentence


def open_view(page, name):
    page.click(f"#tab-{name}")
    assert page.locator(f"#view-{name}").is_visible()


@pytest.fixture
def curves(page):
    give(page, "document", sentence(1))
    open_view(page, "epsilon")
    give(page, "epsilon", sentence(2), which=1)
    expect(page.locator("#curves .chart")).to_have_count(4)
    settled(page)
    return page


def values(page, title):
    """The rows of the table below a chart: [mechanism, epsilon, value]."""
    chart = page.locator("#curves .chart", has_text=title)
    if chart.locator("table").count() == 0:
        chart.locator("summary").click()
        chart.locator("table").wait_for()
    rows = chart.locator("tbody tr").all()
    return [[cell.inner_text() for cell in row.locator("th, td").all()] for row in rows]


def test_more_words_stay_at_a_larger_epsilon(curves):
    stays = [float(value.split()[0].strip("<>") or 0) for _, _, value in values(curves, "Words that stay")]
    assert len(stays) >= 8
    assert stays[0] < 20
    assert stays[-1] > 60


def test_the_exponent_is_epsilon_times_n_times_the_distance(curves):
    rows = values(curves, "Formal exponent")
    numbers = [(float(epsilon), float(value.replace(",", ""))) for _, epsilon, value in rows]
    slopes = [exponent / epsilon for epsilon, exponent in numbers]
    assert max(slopes) == pytest.approx(min(slopes), rel=0.02)


def test_a_curve_for_each_mechanism_that_is_ticked(curves):
    curves.check("#curve-mechanisms input[value=exponential]")
    expect(curves.locator("#curves .chart").first.locator(".legend li")).to_have_count(2)
    settled(curves)
    assert {row[0] for row in values(curves, "Words that stay")} == {"laplace", "exponential"}
    curves.uncheck("#curve-mechanisms input[value=laplace]")
    expect(curves.locator("#curves .chart").first.locator(".legend li")).to_have_count(1)


def test_the_current_epsilon_is_marked_and_moves_without_a_question(curves):
    asked = []
    curves.on("request", lambda request: asked.append(request.url))
    turn(curves, 3.21)
    expect(curves.locator("#curves .mark text").first).to_have_text("epsilon 3.21")
    assert asked == []


def test_a_word_its_outputs_and_its_neighbors(page):
    open_view(page, "words")
    page.fill("#word", "river")
    page.press("#word", "Enter")
    page.wait_for_selector("#words-card table")
    outputs = page.locator("#words-card .block").first.locator("tbody tr").all()
    assert len(outputs) == 12
    assert page.locator("#words-card svg[role=img] .dot").count() >= 12
    assert tile(page, "words", "It stays").endswith("%")
    assert set(page.locator("#words-card .block button").all_inner_texts()) <= set(WORDS)


def test_a_neighbor_leads_on(page):
    open_view(page, "words")
    page.fill("#word", "river")
    page.click("#word-show")
    first = page.locator("#words-card .block").nth(1).locator("button").first
    name = first.inner_text()
    first.click()
    expect(page.locator("#words-title")).to_contain_text(name)


def test_a_word_that_is_not_known_is_refused_in_place(page):
    open_view(page, "words")
    page.fill("#word", "zanzibar")
    page.press("#word", "Enter")
    page.wait_for_selector("#words-card .error:visible")
    assert "not in the vocabulary" in page.inner_text("#words-card .error")
    assert page.locator("#words-body").is_hidden()


@pytest.fixture
def compared(page):
    page.fill("#length", "4")
    give(page, "document", "river river mountain guitar")
    open_view(page, "compare")
    give(page, "compare", "river valley valley guitar", which=1)
    page.wait_for_selector("#compare-card .move", state="attached")
    settled(page)
    return page


def test_the_plan_moves_what_differs(compared):
    assert tile(compared, "compare", "In both") == "2"
    unfold(compared, "#compare-card summary")
    rows = [row.inner_text().split() for row in compared.locator("#compare-card tbody tr").all()]
    assert {(row[0], row[1], row[2]) for row in rows} == {
        ("river", "valley", "1"),
        ("mountain", "valley", "1"),
    }


def test_the_plan_adds_up_to_the_distance(compared):
    unfold(compared, "#compare-card summary")
    work = [row.inner_text().split() for row in compared.locator("#compare-card tbody tr").all()]
    distance = sum(int(row[2]) * float(row[3]) for row in work) / 4
    assert float(tile(compared, "compare", "Earth Mover")) == pytest.approx(distance, abs=0.01)


def test_the_exponent_between_two_documents(compared):
    turn(compared, 2)
    expect(compared.locator("#compare-card .prose")).to_contain_text("at epsilon 2 is at most")
    settled(compared)
    distance = float(tile(compared, "compare", "Earth Mover"))
    exponent = float(tile(compared, "compare", "Exponent").replace(",", ""))
    assert exponent == pytest.approx(2 * 4 * distance, rel=1e-2)


def test_the_same_document_twice_needs_no_move(compared):
    give(compared, "compare", "guitar mountain river river", which=1)
    expect(compared.locator("#compare-body")).to_contain_text("Nothing has to move")
    assert tile(compared, "compare", "Earth Mover") == "0"


def test_each_view_shows_the_command_that_gives_its_figures(page):
    """What they give is compared in tests/web/test_web_views.py."""

    def shown(view):
        open_view(page, view)
        return " ".join(page.inner_text("#view-command-text").split())

    assert shown("epsilon").startswith("publius compare --mechanisms laplace --document A.txt --length 400")
    page.check("#curve-mechanisms input[value=vickrey]")
    assert "--mechanisms laplace,vickrey " in shown("epsilon")
    open_view(page, "words")
    page.fill("#word", "river")
    turn(page, 2)
    assert shown("words") == "publius words river --mechanism laplace --epsilon 2 --outputs 12"
    assert shown("compare") == (
        "publius distance A.txt B.txt --length 400 --plan "
        "publius guarantee --between A.txt B.txt --mechanism laplace --epsilon 2 --length 400"
    )
    assert shown("report") == "publius report FOLDER"


def test_a_report_is_summed_up(page):
    open_view(page, "report")
    page.wait_for_selector("#report-card table")
    rows = [row.inner_text().split() for row in page.locator("#report-card > .body > .scroll tbody tr").all()]
    assert [row[0] for row in rows] == ["unprotected", "laplace", "laplace"]
    assert [row[row.index("%") - 1] for row in rows] == ["80", "20", "60"]
    assert "informed" in rows[1]
    assert page.locator("#report-card svg[role=img]").count() == 2


def test_the_report_itself_is_framed_without_script(page):
    open_view(page, "report")
    page.click("#report-show")
    frame = page.frame_locator("#report-frame iframe")
    expect(frame.locator("h1")).to_have_text("The letters")
    assert page.get_attribute("#report-frame iframe", "sandbox") == ""
    page.watch.faults[:] = [fault for fault in page.watch.faults if not ours(fault)]


def ours(fault):
    """The browser says that it blocked the script and the image of the framed report: as it should."""
    return "Blocked script execution in" in fault or "Content Security Policy" in fault


def test_the_report_opens_in_a_tab_of_its_own(page):
    open_view(page, "report")
    page.wait_for_selector("#report-tab")
    with page.context.expect_page() as opened:
        page.click("#report-tab")
    opened.value.wait_for_load_state()
    assert opened.value.inner_text("h1") == "The letters"


def test_without_a_document_every_view_says_what_to_do(page):
    for name in ("document", "epsilon", "words", "compare"):
        open_view(page, name)
        expect(page.locator(f"#view-{name} .empty").first).to_be_visible()


WIDTHS = [320, 390, 768, 1024, 1280, 1920]


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    give(page, "document", sentence(1))
    for name in ("document", "epsilon", "words", "compare", "summary", "report"):
        open_view(page, name)
        if name == "words":
            page.fill("#word", "river")
            page.press("#word", "Enter")
        if name == "compare":
            give(page, "compare", sentence(2), which=1)
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_the_page_begins_while_other_mechanisms_are_prepared(page):
    held = []
    page.route(lambda url: url.endswith("/v1/mechanisms"), lambda route: held.append(route))
    page.reload()
    page.wait_for_selector("html[data-ready=true]")
    page.click("#tab-document")
    give(page, "document", sentence(1))
    expect(page.locator("#draw .bag-list li").first).to_be_visible()
    expect(page.locator("#preparing")).to_be_visible()
    assert page.locator("#mechanism option").all_inner_texts() == ["laplace"]
    held[0].continue_()
    expect(page.locator("#mechanism option")).to_have_count(9)
    assert page.input_value("#mechanism") == "laplace"
    expect(page.locator("#preparing")).to_be_hidden()


@pytest.mark.parametrize("mechanism", ["laplace", "exponential", "tight", "mahalanobis", "vickrey"])
def test_every_kind_of_mechanism_can_be_drawn(page, mechanism):
    give(page, "document", sentence(1))
    page.select_option("#mechanism", mechanism)
    page.fill("#epsilon-number", "30")  # tight exists where epsilon is large enough
    expect(page.locator("#draw .bag-list li").first).to_be_visible()
    settled(page)
    counts = [int(text) for text in page.locator(".bag-list .bag-count").all_inner_texts()]
    assert sum(counts) == 400
