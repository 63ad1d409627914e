"""A mechanism that Publius has never heard of, by its place: found, checked, made, released, told apart."""

import pickle
import sys

import numpy as np
import pytest

from publius.embeddings.embeddings import Embeddings
from publius.errors import PolicyError, UsageError
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.registry import kernel_class, make_kernel, parse_set
from publius.noise.randomness import RunKey
from toy import WORDS, sentence

_MODULE = '''
from dataclasses import dataclass

import numpy as np

import publius
from publius.option import Settings, option
from publius.privacy.guarantee import Guarantee


@dataclass(frozen=True, kw_only=True)
class CoinParameters(Settings):
    """Of the coin."""

    edge: float = option(0.5, above=0, at_most=1)


class Coin(publius.Kernel):
    """Tells the word with some probability and any word of the vocabulary otherwise."""

    name = "coin"
    Parameters = CoinParameters

    @property
    def guarantee(self):
        return Guarantee(self.epsilon, self.metric.name, "proven", delta=2.0**-30)

    def noise(self, count, rng):
        return rng.random((count, 2))

    def apply(self, words, noise, *, threads=1):
        drawn = np.minimum((noise[:, 1] * self.embeddings.size).astype(np.int64), self.embeddings.size - 1)
        return np.where(noise[:, 0] < 0.01 * self.chosen.edge, words, drawn)


class Mute(Coin):
    name = "mute"
    evidence = "none"

    @property
    def guarantee(self):
        return Guarantee(self.epsilon, self.metric.name, "none")


class Torn(Coin):
    name = "torn"

    @property
    def guarantee(self):
        return 1 / 0


class Unmade(Coin):
    name = "unmade"

    def __init__(self, embeddings, **given):
        super().__init__(embeddings, **given)
        self.first = [][0]


class Shapeless(Coin):
    name = "shapeless"

    @property
    def guarantee(self):
        return 1.0


class Generous(Coin):
    name = "generous"

    @property
    def guarantee(self):
        return Guarantee(2 * self.epsilon, self.metric.name, "proven")


class Thief(Coin):
    name = "thief"

    def draw(self, batch, rngs, *, threads=None):
        return list(batch)


class Loud(Coin):
    name = "loud"

    def apply(self, words, noise, *, threads=1):
        seen = [self.embeddings.word(word) for word in words.tolist()]
        if "castle" in seen:
            raise SystemExit(f"I saw {seen}")
        return super().apply(words, noise, threads=threads)


class Outsider(Coin):
    name = "outsider"

    def apply(self, words, noise, *, threads=1):
        return words + self.embeddings.size


class Unfinished(publius.Kernel):
    name = "unfinished"


nothing = 3
'''


@pytest.fixture
def coins(tmp_path, monkeypatch):
    """The package's name; forgotten afterwards."""
    (tmp_path / "toypkg").mkdir()
    (tmp_path / "toypkg" / "__init__.py").touch()
    (tmp_path / "toypkg" / "coins.py").write_text(_MODULE)
    (tmp_path / "toypkg" / "needy.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "python:toypkg.coins"
    for name in [name for name in sys.modules if name.startswith("toypkg")]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def words():
    vectors = np.stack([np.arange(len(WORDS)), np.arange(len(WORDS)) % 7], axis=1).astype(np.float32)
    return Embeddings.from_arrays(WORDS, vectors, name="toy")


def test_it_releases_and_the_manifest_says_whose_word_it_is(coins, words):
    kind = kernel_class(f"{coins}:Coin")
    kernel = make_kernel(f"{coins}:Coin", words, epsilon=3.0, parameters=parse_set(kind, ["edge=0.9"]))
    assert Lifted(kernel, 3).guarantee.evidence == "stated"
    mechanism = Lifted(kernel, 20)
    facts = mechanism.facts()
    assert (facts["mechanism"], facts["evidence"]) == ("coin", "stated")
    assert facts["mechanism_parameters"]["edge"] == 0.9
    assert "toypkg.coins" in facts["mechanism_parameters"]["source"]
    copy = pickle.loads(pickle.dumps(mechanism))
    texts, key = [sentence(row) for row in range(6)], RunKey.seeded(1)
    assert copy.protect(texts, range(6), key) == mechanism.protect(texts, range(6), key)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("Torn", "cannot state its guarantee: it raised ZeroDivisionError at coins.py:"),
     ("Shapeless", "it gives a float, not a publius.Guarantee"), ("Generous", "more than the 3.0 asked for"),
     ("Unfinished", "does not define apply, guarantee, noise"), ("Thief", "replaces draw"),
     ("nothing", "is no mechanism"), ("Unmade", "cannot be made: it raised IndexError at coins.py:")],
)  # fmt: skip
def test_it_is_refused_with_the_reason(coins, words, name, reason):
    with pytest.raises(PolicyError, match=reason):
        make_kernel(f"{coins}:{name}", words, epsilon=3.0)


def test_what_promises_nothing_says_so(coins, words):
    assert Lifted(make_kernel(f"{coins}:Mute", words, epsilon=3.0), 5).facts()["evidence"] == "none"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("python:gone.coins:Coin", "PYTHONPATH"), ("python:toypkg.needy:Coin", "needs the module nowhere_to_be_found"),
     ("python:toypkg.coins", "has no name after it"), ("python:toypkg.coins:Missing", "has no Missing"),
     ("coin", "laplace")],
)  # fmt: skip
def test_what_cannot_be_found_is_told_by_what_is_missing(coins, name, reason):
    with pytest.raises(UsageError, match=reason):
        kernel_class(name)


def test_what_it_raises_is_not_heard(coins, words):
    """No document's word in an error."""
    mechanism = Lifted(make_kernel(f"{coins}:Loud", words, epsilon=3.0), 3)
    mechanism.protect(["river bridge"], [0], RunKey.seeded(1))
    with pytest.raises(PolicyError, match=r"the mechanism loud failed: SystemExit at coins\.py:") as error:
        mechanism.protect(["castle bridge river"], [0], RunKey.seeded(1))
    assert "castle" not in str(error.value)


def test_an_output_that_is_no_word_is_refused(coins, words):
    with pytest.raises(PolicyError, match="outside the vocabulary"):
        Lifted(make_kernel(f"{coins}:Outsider", words, epsilon=3.0), 3).protect(["river"], [0], RunKey.seeded(1))


@pytest.mark.parametrize(
    ("asked", "reason"),
    [("edge=7", "edge"), ("edge", "NAME=VALUE"), ("rim=1", "takes edge"), ("edge=x", "takes a value of float")],
)
def test_a_parameter_that_it_does_not_take_is_refused(coins, words, asked, reason):
    kind = kernel_class(f"{coins}:Coin")
    with pytest.raises(UsageError, match=reason):
        make_kernel(f"{coins}:Coin", words, epsilon=1.0, parameters=parse_set(kind, [asked]))
