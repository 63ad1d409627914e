"""README, promise, page to sign and help: each sentence with a number or a quantifier is tied to what shows it."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from publius.cli import app
from publius.evaluation import report
from publius.evaluation.statistics import Interval
from publius.evaluation.steps import measuring
from publius.evaluation.steps.kept import bound_in_words
from publius.evaluation.verdict import _between
from publius.mechanisms.prototype import fidelity
from publius.privacy.guarantee import Guarantee, posterior_at_most
from publius.privacy.promise import promise
from publius.releases.signoff import NOT_TRIED, percent_down, percent_up
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


def sentences(text):
    """Those of a piece of text that claim something."""
    parts = re.split(r"(?<=[.:])\s+(?=[A-Z])", " ".join(text.split()))
    return [each for each in parts if _CLAIM.search(each)]


WORDS = Guarantee(10.0, "euclidean", "proven", 1e-9).lifted(20)
KEPT = ("none", "stop-words", "punctuation", "all")


def promised():
    """Of every kind of promise, at settings of no importance."""
    whole = Guarantee(1.5, "euclidean", "proven", 1e-9, 40, bound=7.0, bound_delta=1e-12, preserve="topic")
    texts = [
        promise(WORDS, private=True, labels=["a"]),
        promise(WORDS, private=True, labels=["a", "b"]),
        *(promise(WORDS.in_order(kept), private=True) for kept in KEPT),
        promise(whole, private=True),
        promise(replace(whole, epsilon=None), private=True),
        promise(WORDS, private=False),
    ]
    return dict.fromkeys(each for text in texts for each in sentences(text))


def on_the_page():
    """What the page to sign says whatever was released: its template and the sentences that are always there."""
    text = (ROOT / "src" / "publius" / "releases" / "templates" / "signoff.html").read_text(encoding="utf-8")
    text = re.sub(r"\{%.*?%\}", " ", text[text.index("<main>") :], flags=re.DOTALL)
    text = re.sub(r"\{\{.*?\}\}", "\N{HORIZONTAL ELLIPSIS}", text, flags=re.DOTALL)
    blocks = re.split(r"</?(?:p|li|h\d|dt|dd|th|td|summary|div)[^>]*>", text)
    plain = [re.sub(r"<[^>]*>", "", block) for block in blocks]
    return dict.fromkeys(each for text in (*plain, *NOT_TRIED) for each in sentences(text))


def helped(group=app):
    """The first paragraph of every command's help."""
    found = {}
    for command in group.registered_commands:
        summary = (command.callback.__doc__ or "").strip().split("\n\n")[0]
        found |= dict.fromkeys(sentences(summary))
    for inner in group.registered_groups:
        found |= helped(inner.typer_instance)
    return found


def up(value, digits):
    return math.ceil(value * 10**digits) / 10**digits


SPOKEN = {
    "README": lambda: dict.fromkeys(claims((ROOT / "README.md").read_text(encoding="utf-8"))),
    "promise": promised,
    "page": on_the_page,
    "help": helped,
}


@pytest.mark.parametrize("place", SPOKEN)
def test_every_sentence_with_a_number_or_a_quantifier_is_in_the_table(place):
    found = list(SPOKEN[place]())
    assert [each for each in found if each not in TABLE[place]] == []
    assert [each for each in TABLE[place] if each not in found] == []
    missing = [target for target in TABLE[place].values() if not shown(target)]
    assert missing == [], "a file, or a file and a test in it"


def shown(target):
    """Whether there is such a file, and such a test in it."""
    name, _, test = target.partition("::")
    path = ROOT / name
    return path.is_file() and (not test or f"def {test}(" in path.read_text(encoding="utf-8"))


def test_the_numbers_of_a_promise_are_those_of_the_guarantee_and_rounded_up():
    said = promise(WORDS, private=True)
    assert float(re.search(r"exp\(([\d.]+) \* E\)", said)[1]) >= 200
    assert float(re.search(r"probability of ([\d.e-]+) for", said)[1]) >= WORDS.delta
    whole = Guarantee(None, "euclidean", "proven", 0.0, 40, bound=7.0, preserve="topic")
    said = promise(whole, private=True)
    times, one, two = (
        float(re.search(pattern, said)[1].replace(",", ""))
        for pattern in (r"at most ([\d,.]+) times", r"of at most (\d\.\d+);", r"two documents, (\d\.\d+)\.")
    )
    assert times >= math.exp(7)
    assert (one, two) == (up(posterior_at_most(7.0, 1000), 4), up(posterior_at_most(7.0, 2), 4))


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
