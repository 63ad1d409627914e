"""What the README promises: each sentence with a number or a quantifier is tied to what computes or defines it."""

import json
import math
import re
from pathlib import Path

from publius.evaluation import report
from publius.evaluation.statistics import Interval
from publius.evaluation.steps import measuring
from publius.evaluation.steps.showing import bound_in_words
from publius.evaluation.verdict import _between
from publius.mechanisms.prototype import fidelity
from publius.privacy.guarantee import posterior_at_most
from publius.releases.signoff import percent_down, percent_up
from publius.settings import ReleaseSettings, declared

ROOT = Path(__file__).parents[2]
TABLE = json.loads((ROOT / "tests" / "project" / "sentences.json").read_text(encoding="utf-8"))
"""Each sentence with the test, or the page with the definition, that it rests on."""

_CLAIM = re.compile(
    r"\d|\b(any|no|never|all|every|at most|at least|only|both|whatever|whoever|hardly)\b", re.IGNORECASE
)


def claims(text):
    """The sentences of the two sections on promises that have a number or a quantifier."""
    body = text[text.index("## What it promises") : text.index("## More")]
    body = re.sub(r"^#.*$", "", re.sub(r"\]\([^)]*\)", "]", body), flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?=- )", body):
        flat = " ".join(block.replace("**", "").split()).removeprefix("- ")
        yield from (each for each in re.split(r"(?<=[.:])\s+(?=[A-Z])", flat) if _CLAIM.search(each))


def up(value, digits):
    return math.ceil(value * 10**digits) / 10**digits


def test_every_sentence_with_a_number_or_a_quantifier_is_in_the_table():
    found = list(claims((ROOT / "README.md").read_text(encoding="utf-8")))
    assert [each for each in found if each not in TABLE] == []
    assert [each for each in TABLE if each not in found] == []
    assert [place for place in TABLE.values() if not (ROOT / place).is_file()] == []


def test_a_new_sentence_is_found():
    text = "## What it promises\n\nIt is hardly different at all. It is good.\n\n- At 3 nats it holds.\n\n## More\n"
    assert list(claims(text)) == ["It is hardly different at all.", "At 3 nats it holds."]


def test_the_probability_of_one_in_a_thousand_is_rounded_up_wherever_it_stands():
    said = f"at most {up(posterior_at_most(7.0, 1000), 2)}"
    assert said == "at most 0.53"
    for page in ("README.md", "docs/index.md"):
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        assert f"a probability of {said}" in text
        assert "equally likely" in text
    assert said in bound_in_words(7)


def test_the_table_of_strengths_is_computed_and_rounded_up():
    text = (ROOT / "docs" / "guarantee.md").read_text(encoding="utf-8")
    for name, largest in (("strong", 1.0), ("moderate", 10.0), ("weak", 20.0)):
        row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
        two, thousand = re.findall(r"\d\.\d{3}", row)
        assert (float(two), float(thousand)) == tuple(
            up(posterior_at_most(largest, count), 3) for count in (2, 1000)
        )


def test_the_share_of_topics_in_the_help_is_the_computed_limit():
    told = next(each.option.help for each in declared(ReleaseSettings) if each.name == "bound")
    assert f"at most {up(100 * fidelity(7.0, 20), 1)} %" in told


def test_what_is_printed_as_a_limit_is_on_the_safe_side():
    low, high = 0.25049, 0.26951
    interval = Interval(0.26, low, high)
    assert _between(interval) == "from 0.250 to 0.270"
    assert (percent_down(low), percent_up(high)) == ("25.0\N{NO-BREAK SPACE}%", "27.0\N{NO-BREAK SPACE}%")
    assert (report._down(low), report._up(high)) == ("25 %", "27 %")
    assert (measuring._down(low), measuring._up(high)) == ("25 %", "27 %")
    assert measuring._up(0.05) == "5 %", "what is asked for is printed as it was asked"
