"""README, promise, page, help and `start`: each sentence with a number or a quantifier is tied to what shows it."""

import ast
import json
import math
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from publius.cli import app
from publius.errors import DataError, PolicyError, PubliusError, StorageError, UsageError
from publius.evaluation import report
from publius.evaluation.statistics import Interval
from publius.evaluation.steps import measuring
from publius.evaluation.steps.kept import WordsKept, bound_in_words
from publius.evaluation.verdict import Authors, Gain, _between
from publius.mechanisms.prototype import fidelity
from publius.mechanisms.registry import make_mechanism
from publius.noise.randomness import seeded_rng
from publius.option import declared
from publius.privacy.guarantee import STATED, Guarantee, posterior_at_most
from publius.privacy.promise import promise
from publius.releases.page_parts import percent_down, percent_up
from publius.releases.signoff import NOT_TRIED
from publius.settings import MechanismSettings, ReleaseSettings
from publius.vectors.catalogue import package_installed
from publius.vectors.embeddings import Embeddings

ROOT = Path(__file__).parents[2]
TABLE = json.loads((ROOT / "tests" / "project" / "sentences.json").read_text(encoding="utf-8"))
"""Each sentence with the test, or the page with the definition, that it rests on."""

_CLAIM = re.compile(
    r"\d|\b(any|no|never|all|every|each|always|at most|at least|only|both|whatever|whoever|hardly|nobody|nothing"
    r"|none)\b",
    re.IGNORECASE,
)
_QUIET = re.compile(r"(Error|Argument|Option|compile)$")
"""Calls whose texts are no statements: errors of the moment, help of options, patterns."""


def claims(text):
    """The sentences of a page that have a number or a quantifier, tables and lists included, examples left out."""
    body = re.sub(r"```.*?```|<!--.*?-->", " ", text, flags=re.DOTALL)
    body = re.sub(r"^#.*$|^\|[-|]+\|$", "", re.sub(r"\]\([^)]*\)", "]", body), flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?=- )|\n(?=\|)|\s\|\s", body):
        flat = " ".join(block.replace("**", "").replace("|", " ").split()).removeprefix("- ")
        yield from (each for each in re.split(r"(?<=[.:])\s+(?=[A-Z])", flat) if _CLAIM.search(each))


def sentences(text):
    """Those of a piece of text that claim something."""
    parts = re.split(r"(?<=[.:])\s+(?=[A-Z])", " ".join(text.split()))
    return [each for each in parts if _CLAIM.search(each)]


def spoken(path):
    """The sentences that a module says and that claim something, each place that is filled in as an ellipsis."""
    tree = ast.parse((ROOT / "src" / "publius" / path).read_text(encoding="utf-8"))
    quiet = set()
    for node in ast.walk(tree):
        called = isinstance(node, ast.Call) and _QUIET.search(ast.unparse(node.func))
        alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        way_out = isinstance(node, ast.keyword) and node.arg == "otherwise"
        if called or alone or way_out or isinstance(node, ast.Raise):
            quiet |= {id(each) for each in ast.walk(node)}
        elif isinstance(node, ast.JoinedStr):
            quiet |= {id(each) for each in node.values}
    found = []
    for node in ast.walk(tree):
        if id(node) in quiet:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = [
                each.value if isinstance(each, ast.Constant) else "\N{HORIZONTAL ELLIPSIS}"
                for each in node.values
            ]
            found += sentences("".join(parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += sentences(node.value)
    return [each for each in found if len(re.findall(r"[a-z]+", each)) >= 4]


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
        promise(replace(whole, epsilon=None, evidence=STATED), private=True),
        promise(replace(WORDS, metric="python:own:far", evidence=STATED), private=True),
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
    written = (each for text in (*plain, *NOT_TRIED) for each in sentences(text))
    said = dict.fromkeys(each for each in written if len(re.findall(r"[a-z]+", each)) >= 3)
    return said | dict.fromkeys(each for path in PAGE for each in spoken(path))


PAGE = (
    *(f"releases/{name}.py" for name in ("signoff", "account", "page_parts", "manifests", "measured", "verification")),
    "releases/read_me.py",
    "evaluation/signed.py", "evaluation/of_release.py", "evaluation/own_data.py",
)  # fmt: skip
"""What fills the page to sign in."""

START = (
    *(
        f"cli/start/{name}.py"
        for name in ("__init__", "asking", "texts", "protection", "attacks", "releasing")
    ),
    "evaluation/verdict.py",
    *(f"evaluation/steps/{name}.py" for name in ("kept", "learning", "measuring", "older", "questions")),
    *(f"evaluation/steps/{name}.py" for name in ("commands", "looking", "showing", "walk", "workflow")),
)
"""What `publius start` prints, and the page of the explorer that walks the same way."""


def started():
    """What it says on its way, whatever the texts are."""
    return dict.fromkeys(each for path in START for each in spoken(path))


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
    "start": started,
}


@pytest.mark.parametrize("place", SPOKEN)
def test_every_sentence_with_a_number_or_a_quantifier_is_in_the_table(place):
    found = list(SPOKEN[place]())
    assert [each for each in found if each not in TABLE[place]] == []
    assert [each for each in TABLE[place] if each not in found] == []
    missing = [target for target in TABLE[place].values() if not shown(target)]
    assert missing == [], "a test in a file, or a section of a page that defines it"


def shown(target):
    """Whether there is such a test, or such a section of a page; a whole file shows nothing."""
    name, _, test = target.partition("::")
    page, _, section = name.partition("#")
    if not (ROOT / page).is_file():
        return False
    text = (ROOT / page).read_text(encoding="utf-8")
    if test:
        return f"def {test}(" in text
    return page.endswith(".md") and re.search(rf"^#+ {re.escape(section)}$", text, re.MULTILINE) is not None


@pytest.mark.parametrize(
    ("target", "is_shown"),
    [
        ("tests/project/test_sentences.py::test_a_new_sentence_is_found", True), ("docs/guarantee.md#Conditions", True),
        ("tests/project/test_sentences.py", False), ("tests/project/test_sentences.py::test_of_nothing", False),
        ("docs/guarantee.md", False), ("docs/guarantee.md#Nothing", False), ("docs/none.md#Conditions", False),
    ],
)  # fmt: skip
def test_what_shows_a_sentence_is_a_test_or_a_section(target, is_shown):
    assert shown(target) == is_shown


def test_what_is_needed_is_what_the_project_says():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (project["requires-python"], project["license"]) == (">=3.11", "Apache-2.0")
    pinned = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    packages = re.findall(r"^[a-z0-9_.\-]+(\[[^]]*\])?(==)?", pinned, re.MULTILINE | re.IGNORECASE)
    assert len(packages) > 50
    assert all(pin == "==" for _, pin in packages)
    assert pinned.count("--hash=sha256:") >= len(packages)


def test_the_exit_codes_are_those_of_the_errors():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    said = dict(
        re.findall(r"(\d+) (usage|data|a bug|input/output|refused)", text[text.index("Exit codes:") :])
    )
    kinds = {
        UsageError: "usage",
        DataError: "data",
        PubliusError: "a bug",
        StorageError: "input/output",
        PolicyError: "refused",
    }
    assert said == {str(kind.exit_code): name for kind, name in kinds.items()}


def test_how_many_words_stay_where_each_is_replaced():
    """By the mechanism that `start` takes, on the packaged vectors, of the 2,000 words most frequent in them."""
    if not package_installed():
        pytest.skip("the packaged vectors are not installed")
    embeddings, rng = Embeddings.load(), seeded_rng(1)
    words = np.arange(1, 2_001, 5)
    stay = {}
    for epsilon in (5.0, 10.0):
        kernel = make_mechanism(MechanismSettings.mechanism, embeddings, epsilon=epsilon)
        stay[epsilon] = float((kernel.apply(words, kernel.noise(len(words), rng)) == words).mean())
    assert 0.05 < stay[5.0] < 0.2
    assert 0.6 < stay[10.0] < 0.8
    said = "at 5 about one word in ten stays as it is, at 10 seven in ten"
    assert said in WordsKept().before_asking(None)[0]


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
    text = "It is hardly different at all. It is good.\n\n- At 3 nats it holds.\n"
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
    assert (report._down(low), report._up(high)) == ("25.0 %", "27.0 %")
    assert (measuring._down(low), measuring._up(high)) == ("25 %", "27 %")
    assert measuring._up(0.05) == "5 %", "what is asked for is printed as it was asked"


@pytest.mark.parametrize("authors", [10, 59, 312])
def test_a_kind_of_authors_that_may_be_missing_is_as_large_as_is_said(authors):
    """None of so many authors is of a kind whose share is p with probability (1 - p)^n: 2.5 % at the share said."""
    clear = Gain("svm", 1.0, Interval(0.9, 0.9, 0.9), Interval(0.9, 0.9, 0.9))
    found = Authors(
        0.5, False, 2 * authors, np.full(authors, 2.0), True, 0.1, (), (clear,), 0.95, holder=True
    )
    said = float(re.search(r"rarer than ([\d.]+) %", found._unseen)[1]) / 100
    assert (1 - said) ** authors <= 0.0251 < (1 - said + 0.001) ** authors
