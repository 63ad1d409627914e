"""The documentation site: built without a warning, from nothing outside."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import site_words

pytestmark = pytest.mark.long  # .ci/run has a step for what is long in tests/project

ROOT = Path(__file__).parents[2]
RESOURCES = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "object": "data",
    "video": "src",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for name in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    folder = tmp_path_factory.mktemp("site")
    options = ["-b", "html", "-W", "--keep-going", "-n", "-q", "-d", str(folder / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


class Page(HTMLParser):
    """The resources, links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.resources, self.links, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.add(found.get("id"))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        canonical = tag == "link" and found.get("rel") in {
            "canonical",
            "author",
            "next",
            "prev",
            "index",
            "search",
        }
        if tag in RESOURCES and found.get(RESOURCES[tag]) and not canonical:
            self.resources.append(found[RESOURCES[tag]])


def outside(address):
    return re.match(r"(https?:)?//", address)


def test_every_resource_is_in_the_site(site):
    for path in site.rglob("*.html"):
        for resource in Page(path).resources:
            assert not outside(resource), f"{path.name}: {resource}"
            assert (
                resource.startswith("data:") or (path.parent / resource.split("?")[0].split("#")[0]).exists()
            ), resource


def test_no_style_or_script_loads_from_outside(site):
    for path in [*site.rglob("*.css"), *site.rglob("*.js")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"@import\s|url\(\s*['\"]?(https?:)?//", text), path
        assert not re.search(r"(fetch|importScripts|src\s*=)\s*\(?\s*['\"`]https?://", text), path


def test_every_link_of_the_built_site_leads_somewhere(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            place, _, anchor = link.partition("#")
            target = (path.parent / place).resolve() if place else path
            assert target.exists(), f"{path.name}: {link}"
            if anchor and target in pages:
                assert anchor in pages[target].anchors, f"{path.name}: {link}"


def test_the_reference_holds_every_public_name(site):
    import publius

    page = Page(site / "reference" / "python.html")
    for name in publius.__all__:
        if name != "__version__":
            assert any(anchor and anchor.split(".")[-1] == name for anchor in page.anchors), name


VISIBLE = 17_000
"""Words that a reader of the site sees before he opens anything; the rest is behind a "More"."""
ALL = 30_000
"""Words of all pages but those that programs write for looking things up."""


def test_the_site_can_be_read(site):
    """What is new is short, or folded away: tests/site_words.py SITE says which page has how many."""
    shown = site_words.shown(site)
    assert shown <= VISIBLE, shown
    told = [words for name, words in site_words.counted(site).items() if name not in site_words.LOOKED_UP]
    words = sum(each.shown + each.folded for each in told)
    assert words <= ALL, words


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_what_is_folded_away_is_closed_and_can_be_found(page):
    """Each fold ends in the section where it begins, so that a link to a heading never leads into a closed one."""
    open_now = False
    code = False
    for line in page.read_text(encoding="utf-8").splitlines():
        code ^= line.startswith("```")
        if code:
            assert not line.startswith(("<details", "</details")), line
            continue
        if line.startswith("<details"):
            assert re.fullmatch(r"<details><summary>More: .+</summary>", line), line
            assert not open_now
            open_now = True
        elif line == "</details>":
            assert open_now
            open_now = False
        assert not (open_now and line.startswith("#")), line
    assert not open_now
