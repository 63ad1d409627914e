"""What counts as something like a statement: the public threshold, on packaged texts and the packaged encoder."""

import json
from pathlib import Path

import numpy as np
import pytest

import publius.start
from publius.classifiers.encoder import load_encoder
from publius.errors import MissingExtraError
from publius.summaries.contributions import NEAR, Statements

CONCERNS = Path(publius.start.__file__).with_name("concerns.json")
STATEMENTS = [
    "The bus comes too late", "The heating in my flat is broken", "The school needs more teachers",
    "The doctor has no time for patients", "The street is full of holes", "Somebody should take the rubbish away",
    "The internet does not work", "The trees in the park need water", "There is too much noise at night",
    "I cannot understand the letters of the tax office",
]  # fmt: skip


@pytest.fixture(scope="module")
def asked():
    try:
        return Statements(STATEMENTS, load_encoder())
    except MissingExtraError:
        pytest.skip("the extra encoder is not installed")


def answers():
    """Four answers to each concern, in order."""
    for concern, parts in enumerate(json.loads(CONCERNS.read_bytes())):
        for at in range(4):
            who, what, wish = (parts[name][at % len(parts[name])] for name in ("what", "happened", "wish"))
            yield concern, f"{who} {what}. {wish}."


def test_at_most_one_answer_in_a_hundred_is_near_to_a_statement_about_something_else(asked):
    near = np.zeros((len(STATEMENTS), len(STATEMENTS)))
    for concern, text in answers():
        for statement, cosine in asked.near(text):
            assert cosine > NEAR
            near[concern, statement] += 1 / 4
    others = near[~np.eye(len(STATEMENTS), dtype=bool)]
    assert others.mean() <= 0.01
    assert np.diag(near).mean() >= 0.45
    assert (near.argmax(axis=1) == np.arange(len(STATEMENTS)))[np.diag(near) > 0].all()


def test_a_text_without_words_is_near_to_nothing(asked):
    assert asked.near("") == asked.near(" ... ") == []


def test_a_statement_is_near_to_itself_whatever_stands_beside(asked):
    for place, text in enumerate(STATEMENTS):
        found = dict(asked.near(text))
        assert found[place] == pytest.approx(1)
        assert max(found, key=found.get) == place
