"""Pages and charts: escaped, without script or anything from outside, true to their numbers, heard as well as seen."""

import base64
import hashlib
import re

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from html_pages import HOSTILE, Balanced
from publius.pages.page import TEMPLATES, at, columns, cut, render, ticks, write_page

PAGE = """{% extends "base.html" %}{% import "charts.html" as charts %}
{% block title %}A page of {{ what }}{% endblock %}{% block lead %}{{ what }}{% endblock %}
{% block side %}CHART{% endblock %}"""


def page(tmp_path, chart="", **facts):
    template = tmp_path / f"page{abs(hash(chart))}.html"
    template.write_text(PAGE.replace("CHART", chart))
    return render(template, {"what": "charts", "warning": None} | facts)


def test_what_is_said_is_escaped_and_has_no_control_characters(tmp_path):
    text = page(tmp_path, what=HOSTILE)
    assert "<script" not in text
    assert "<img" not in text
    assert "5439" not in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028]", text)
    assert "&lt;script&gt;" in text


def test_charts_escape_their_labels_too(tmp_path):
    chart = """{{ charts.bars("b", what, [{"label": what, "value": 0.5}], names=700) }}
    {{ charts.dots("d", what, [{"label": what, "marks": [{"value": 0.5, "tone": "a"}]}], [("a", what)], names=700) }}"""
    text = page(tmp_path, chart, what=HOSTILE)
    assert "<script" not in text
    assert "<img" not in text


def test_a_name_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(jinja2.UndefinedError):
        page(tmp_path, "{{ nobody }}")


def test_the_policy_allows_our_style_and_nothing_else(tmp_path):
    text = page(tmp_path)
    style = re.search("<style>(.*?)</style>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = re.search('http-equiv="Content-Security-Policy" content="(.*?)"', text)[1]
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert style == (TEMPLATES / "style.css").read_text()
    assert "url(" not in style
    assert "@import" not in style


CHARTS = {
    "bars": 'bars("c", "Shares", [{"label": "plays", "value": 0.25, "low": 0.2, "high": 0.5, "before": 0.75}])',
    "signed bars": 'bars("c", "Gain", [{"label": "a", "value": -0.5, "low": -0.9, "high": 0.1}], signed=true)',
    "meter": 'meter("c", "Known", [{"label": "One of 2", "guess": 0.5, "most": 0.99331}])',
    "dots": (
        'dots("c", "Found", [{"label": "style", "marks": [{"value": 0.5, "low": 0.4, "high": 0.6, "tone": "b"}, '
        '{"value": 0.1, "tone": "c"}]}], [("b", "protected"), ("c", "baseline")])'
    ),
    "decades": (
        'dots("c", "Exponents", [{"label": "x", "under": "y", "marks": [{"value": 100, "tone": "d"}]}], percent=false, '
        'log=(-1, 3), zones=[(0.1, 1, "d", "strong")])'
    ),
    "lines": (
        'lines("c", "Found", [{"name": "author", "tone": "a", "points": [{"x": 1, "y": 0.1, "low": 0.05, "high": 0.2}, '
        '{"x": 10, "y": 0.9, "said": "10"}]}], x="epsilon", log=true)'
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_an_image_with_a_title_and_its_numbers_in_words(tmp_path, name):
    text = page(tmp_path, "{{ charts." + CHARTS[name] + " }}")
    found = Balanced(text)
    assert found.open == []
    assert found.wrong == []
    assert not [each for each in found.attributes if each[1] in ("style", "src", "href") or each[1].startswith("on")]
    svg = re.search("<svg.*?</svg>", text, re.DOTALL)[0]
    assert 'role="img" aria-labelledby="c-t c-d"' in svg
    assert re.search('<title id="c-t">.+</title><desc id="c-d">.*[0-9].*</desc>', svg)


def test_bars_are_as_long_as_their_values_and_intervals_lie_where_they_are(tmp_path):
    svg = page(tmp_path, "{{ charts." + CHARTS["bars"] + " }}")
    room = 360 - 130 - 62
    assert f'class="a" x="130" y="5" width="{room * 0.25}"' in svg
    assert f'class="before" d="M{130 + room * 0.75:.1f} 3v16"' in svg
    assert f'd="M{130 + room * 0.2:.1f} 7.5v7M{130 + room * 0.2:.1f} 11H{130 + room * 0.5:.1f}' in svg
    assert "plays: 25 % (20 % to 50 %), 75 % before noise" in svg


def test_the_meter_begins_where_guessing_ends(tmp_path):
    svg = page(tmp_path, "{{ charts." + CHARTS["meter"] + " }}")
    assert f'class="a" x="180.0" y="19" width="{(0.99331 - 0.5) * 360:.1f}"' in svg
    assert "at most 99.34 %" in svg


def test_lines_over_decades(tmp_path):
    svg = page(tmp_path, "{{ charts." + CHARTS["lines"] + " }}")
    points = re.search('class="line la" d="M(46.?0?) ([0-9.]+)L(706.?0?) ([0-9.]+)"', svg)
    bottom, top = 260, 44
    assert float(points[2]) == pytest.approx(bottom - 0.1 * (bottom - top), abs=0.1)
    assert float(points[4]) == pytest.approx(bottom - 0.9 * (bottom - top), abs=0.1)


def test_a_zone_is_shaded_from_end_to_end_and_named(tmp_path):
    svg = page(tmp_path, "{{ charts." + CHARTS["decades"] + " }}")
    room = 360 - 130 - 28
    assert f'class="zone zd" x="130.0" y="18" width="{room / 4:.1f}"' in svg
    assert ">strong</text>" in svg
    assert "x (y): " in svg


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_even_and_inside(low, width):
    found = ticks(low, low + width)
    assert 1 <= len(found) <= 8
    assert all(low - 1e-6 * width <= each <= low + width * (1 + 1e-6) for each in found)


@given(st.floats(allow_nan=False), st.floats(1e-6, 1e6))
def test_nothing_lies_outside_of_a_chart(value, most):
    assert 0 <= at(value, most) <= 1
    assert 0 <= at(value, most, (-1, 3)) <= 1


def test_small_things():
    assert at(10, 1, (-1, 3)) == 0.5
    assert cut("a long label", 7) == "a long…"
    assert columns([["label", "from"], ["x", 10]]) == "label  from\nx        10"


def test_a_page_is_written_in_one_step_with_its_mode(tmp_path):
    template = tmp_path / "page.html"
    template.write_text(PAGE)
    write_page(tmp_path / "out.html", template, {"what": "x", "warning": "NOT PRIVATE"}, mode=0o600)
    text = (tmp_path / "out.html").read_text()
    assert text.index("NOT PRIVATE") < text.index("<h1")
    assert (tmp_path / "out.html").stat().st_mode & 0o777 == 0o600
