"""What people wrote is normalized in a time linear in it, in one place."""

import ast
import sys
import unicodedata
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import publius
from publius.text import normal_form
from publius.text.normal_form import author_key, compared
from publius.text.tokenizer import normalize

PACKAGE = Path(publius.__file__).parent
MARKS = "a" + "\u0315\u0300" * 40_000
# A mark may be several in another form, so that a run of 30 is some more.
SORTED = regex.compile(r"(?V1)[\p{M}--\u034f]{100}")


@pytest.fixture
def watched(monkeypatch):
    """Every text that is normalized: a run of marks in it would take the square of its length."""
    seen = []

    class Watching:
        @staticmethod
        def normalize(form, text):
            assert SORTED.search(unicodedata.normalize(form, text[:1_000])) is None
            assert SORTED.search(text) is None
            seen.append(len(text))
            return unicodedata.normalize(form, text)

    monkeypatch.setattr(normal_form, "unicodedata", Watching)
    return seen


@pytest.mark.parametrize("work", [compared, author_key, normalize])
@pytest.mark.parametrize("text", [MARKS, "\u0344" * 40_000, "a\u0300\u0344" * 40_000, "\u0300\uff9e" * 40_000])
def test_a_long_run_of_marks_is_broken_before_it_is_sorted(watched, work, text):
    work(text)
    assert sum(watched) < 40 * len(text)


@pytest.mark.parametrize("form", ["NFC", "NFKC", "NFKD"])
def test_no_other_character_begins_with_a_mark_in_a_normal_form(form):
    """Else marks that nothing told as such would stand in one run: `\uff9e` is a letter, and a mark once normalized."""
    mark = regex.compile(rf"(?V1){normal_form._MARK}|{normal_form._BREAK}")
    found = {
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.combining(unicodedata.normalize(form, character)[0]) and not mark.match(character)
    }
    assert found == (set() if form == "NFC" else {chr(place) for place in normal_form._HALF_WIDTH})
    for character in found:
        changed = character.translate(normal_form._HALF_WIDTH)
        assert unicodedata.normalize(form, character) == unicodedata.normalize(form, changed) == changed


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.sampled_from(["NFC", "NFKC", "NFKD"]))
def test_what_people_write_has_the_normal_form_of_unicode(text, form):
    """No orthography has 31 marks in a row."""
    assert normal_form.broken(text) != text or normal_form.normal_form(form, text) == unicodedata.normalize(form, text)


def test_nothing_else_normalizes():
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "normalize" in (text := path.read_text(encoding="utf-8")) or "unicodedata" in text
        for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.Attribute) and node.attr == "normalize" and ast.unparse(node.value) == "unicodedata")
        or (isinstance(node, ast.ImportFrom) and node.module == "unicodedata")
    }
    assert found == {"text/normal_form.py"}
