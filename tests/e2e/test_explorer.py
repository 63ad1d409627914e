"""What only a browser can show: typing, keyboard, narrow screens, and that a text stays a text."""

import pytest

HOSTILE = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
VIEWS = ("start", "document", "word", "epsilon", "compare", "folders")


def shown(page, view):
    page.click(f"nav [data-view={view}]")
    page.wait_for_selector(f"nav [data-view={view}][aria-current]")
    page.wait_for_function("name => document.querySelector('h1').textContent.toLowerCase() === name", arg=view)


def test_typing_draws_anew_and_keeps_the_caret(page, embeddings):
    shown(page, "document")
    page.fill("#text", "")
    page.locator("#text").press_sequentially(" ".join(embeddings.word(place) for place in range(1, 6)))
    page.wait_for_function("() => document.querySelectorAll('#result .text span[class^=far]').length === 5")
    assert page.evaluate("document.activeElement.id") == "text"
    shown(page, "compare")
    assert page.input_value("#text").startswith(embeddings.word(1))


def test_a_slider_moves_its_number(page):
    shown(page, "document")
    page.fill("#epsilon", "100")
    assert page.input_value("[data-for=epsilon]") == "100"
    page.focus("[data-for=epsilon]")
    page.keyboard.press("Home")
    assert page.input_value("#epsilon") == "1"


def test_the_keyboard_reaches_every_view(page):
    page.focus("nav button")
    for view in VIEWS:
        page.keyboard.press("Enter")
        page.wait_for_function("name => document.querySelector('h1').textContent.toLowerCase() === name", arg=view)
        page.keyboard.press("Tab")


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_scrolls_in_one_direction(page, view):
    page.set_viewport_size({"width": 390, "height": 800})
    shown(page, view)
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_text_stays_a_text(page):
    shown(page, "document")
    page.fill("#text", HOSTILE)
    page.wait_for_function("() => document.querySelector('#result .text')?.textContent.includes('onerror')")
    assert page.title() == "Publius explorer"
    assert page.locator("main img, main script").count() == 0
    assert "onerror" not in page.url


def test_without_the_token_nothing_is_shown(browser, explorer):
    address, _ = explorer
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address.split("#")[0])
        page.wait_for_function("() => document.getElementById('status').textContent.includes('token')")
        page.goto("about:blank")
        page.goto(address[:-1] + "!")
        page.wait_for_function("() => document.getElementById('status').textContent.includes('token')")
        assert page.locator("main h1").count() == 0


def test_start_asks_and_keeps_the_focus(page, explorer):
    _, folder = explorer
    (folder / "letters.jsonl").write_text('{"text": "one", "author": "a"}\n')
    page.fill("#file", "letters.jsonl")
    page.keyboard.press("Tab")
    page.wait_for_selector("#q-epsilon")
    assert page.evaluate("document.activeElement.id") == "public"
    page.check("#q-release-words")
    page.wait_for_selector("#q-length")
    assert page.is_enabled("#run")
