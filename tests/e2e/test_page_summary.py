"""The view of a summary: counts' limits move with epsilon, on public numbers alone; the page of one is opened."""

import json
from fractions import Fraction

import pytest
from browser import expect, settled, tile

from publius.collections.accuracy import accuracy


@pytest.fixture
def view(page):
    page.click("#tab-summary")
    expect(page.locator("#summary-card svg[role=img]")).to_have_count(2)
    settled(page)
    return page


def widths(page):
    """The lines of the four counts, in pixels."""
    lines = page.locator("#summary-card .interval").all()
    return [line.bounding_box()["width"] for line in lines]


def test_limits_move_with_epsilon_on_public_numbers_alone(view):
    asked = []
    view.on("request", lambda request: asked.append((request.url, request.post_data)))
    before = widths(view)
    assert len(before) == 4
    view.fill("#summary-epsilon-number", "0.25")
    width = accuracy(2000, 8 * 52, Fraction(1, 4)).all_95
    expect(view.locator("#summary-card .tiles")).to_contain_text(f"{width}")
    settled(view)
    after = widths(view)
    assert all(new > old for new, old in zip(after, before, strict=True))
    urls = {url.partition("/v1/")[2] for url, _ in asked}
    assert urls == {"accuracy"}
    sent = [json.loads(data) for _, data in asked]
    assert set(sent[-1]) == {"authors", "cells", "epsilon", "documents_per_author", "strata"}
    assert tile(view, "summary", "One count is off") == str(accuracy(2000, 416, Fraction(1, 4)).count_95)


def test_the_dial_and_the_number_are_one(view):
    view.fill("#summary-epsilon-number", "5")
    assert 150 < int(view.input_value("#summary-epsilon")) < 200
    view.evaluate(
        "const dial = document.getElementById('summary-epsilon'); dial.value = 0; "
        "dial.dispatchEvent(new Event('input'))"
    )
    assert view.input_value("#summary-epsilon-number") == "0.05"
    expect(view.locator("#summary-card .caution")).to_contain_text("would refuse")


def test_the_command_gives_the_same_figures(view):
    view.fill("#summary-authors", "5000")
    view.fill("#summary-c", "2")
    expect(view.locator("#summary-command")).to_have_text(
        "publius summarize --accuracy --authors 5000 --cells 416 --epsilon 1 --documents-per-author 2"
    )


def test_what_is_no_number_is_said_in_place(view):
    view.fill("#summary-authors", "0")
    expect(view.locator("#summary-problem")).to_contain_text("Whole numbers")
    assert view.get_attribute("#summary-authors", "aria-invalid") == "true"
    view.fill("#summary-authors", "20")
    expect(view.locator("#summary-problem")).to_be_hidden()


def test_the_page_of_a_summary_is_framed_without_script(view):
    expect(view.locator("#summary-id option")).to_have_count(1)
    view.click("#summary-show")
    frame = view.frame_locator("#summary-frame iframe")
    expect(frame.locator("h1")).to_contain_text("What a collection says")
    assert view.get_attribute("#summary-frame iframe", "sandbox") == ""


def test_the_page_opens_in_a_tab_of_its_own(view):
    with view.context.expect_page() as opened:
        view.click("#summary-tab")
    opened.value.wait_for_load_state()
    assert "contributed documents" in opened.value.inner_text("body")
