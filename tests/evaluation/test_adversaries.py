"""Adversaries by name: with parameters, and those of other people."""

import own_adversary  # on the path, as a user's module would be
import pytest

from publius.errors import PolicyError, UsageError
from publius.evaluation.adversaries import choose_adversaries, kind_of
from publius.text.bag import Bag

OWN = "python:own_adversary:SharedWords"
AUTHORS = ["ada", "ben", "cyd"]
KNOWN = [Bag(words.split()) for words in ("river castle", "river engine", "judge lawyer")]


def test_an_adversary_of_ones_own_is_loaded():
    kind = kind_of(OWN)
    assert kind.tasks == ("author",)
    made = kind.make("author", None, 17).fit(KNOWN, AUTHORS)
    assert made.seed == 17
    assert made.predict(KNOWN) == AUTHORS
    assert kind_of("adaptive-" + OWN).tasks == ("author",)


def test_names_with_parameters_and_of_others_come_last():
    chosen = choose_adversaries([OWN, "likelihood", "koppel:least_words=400", "sr-nearest"])
    assert chosen == ("sr-nearest", "likelihood", OWN, "koppel:least_words=400")
    assert choose_adversaries(["all", OWN])[-1] == OWN


def test_parameters_reach_the_adversary():
    assert kind_of("koppel:least_words=400:rounds=9").make("author", None, 3).least_words == 400
    made = kind_of("fasttext:dimension=50:subwords=3-6:validation=0.1").make("topic", None, 3)
    assert (made.dimension, made.subwords, made.validation, made.seed) == (50, (3, 6), 0.1, 3)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [("nobody", UsageError, "nobody"), ("koppel:words=400", UsageError, "least_words"),
     ("koppel:least_words=many", UsageError, "least_words"), ("svm:words=3", UsageError, "svm"),
     ("fasttext:subwords=3", UsageError, "subwords"), ("fasttext:validation=2", UsageError, "validation"),
     ("python:own_adversary:Nothing", UsageError, "has no Nothing"),
     ("python:own_adversary:Unfinished", PolicyError, "_learn"),
     ("python:own_adversary:np", PolicyError, "derive")],
)  # fmt: skip
def test_what_is_no_adversary(name, error, message):
    with pytest.raises(error, match=message):
        choose_adversaries([name])


def test_what_an_own_adversary_says_of_a_text_is_not_heard(capfd):
    attacker = own_adversary.Loud().fit([Bag(["castle"]), Bag(["river"])], ["A", "B"])
    with pytest.raises(
        PolicyError, match=r"^the adversary Loud failed: DataError at own_adversary\.py:\d+; "
    ) as found:
        attacker.predict([Bag(["mountain"])])
    assert "mountain" not in str(found.value)
    assert capfd.readouterr() == ("", "")
