"""Faults of mechanisms that others might write: each a small callable with what it claims and what must be found.

Each is named for what is wrong with it. The world is four words on a line; draws come from the system, or from the
seed where a callable takes one.
"""

import math
import random
from dataclasses import dataclass, field
from functools import cache

WORDS = ["north", "east", "south", "west"]
PLACES = {"north": 0.0, "east": 0.5, "south": 1.0, "west": 3.0}
METRIC = {"vectors": [[0.0], [0.5], [1.0], [3.0]], "epsilon": 2.0}
TWINS = {"vocabulary": ["one", "other", "third"], "vectors": [[0.0], [0.0], [1.0]], "epsilon": 2.0}
_system = random.SystemRandom()


def nearest(value):
    return min(WORDS, key=lambda word: abs(PLACES[word] - value))


def laplace(rng, scale):
    return rng.choice((-1, 1)) * rng.expovariate(1 / scale)


def sound(word, rng=_system, epsilon=2.0):
    """The Laplace mechanism and the nearest word."""
    return nearest(PLACES[word] + laplace(rng, 1 / epsilon))


def any_word(word, rng=_system):
    """The nearest known word of whatever comes, by its first letter; nothing of it passes."""
    lowered = word.lower()
    known = lowered if lowered in PLACES else WORDS[len(lowered) % 4]
    return sound(known, rng)


# Words ----------------------------------------------------------------------------------------------------


def stop_words_pass(word, seed):
    return word if word == "south" else sound(word, random.Random(seed))


def never_the_input(word, seed):
    """Draws again where the noisy word is the input: the second price."""
    rng = random.Random(seed)
    while (found := sound(word, rng)) == word:
        pass
    return found


def squared_distance(word, seed):
    rng = random.Random(seed)
    weights = [math.exp(-2.0 * (PLACES[word] - PLACES[other]) ** 2) for other in WORDS]
    return rng.choices(WORDS, weights)[0]


def unknown_in_capitals(word, seed):
    return sound(word, random.Random(seed)) if word in PLACES else word.upper()


def largest_passes(word, seed):
    """Clipped to a ball of radius 1 before the noise, by leaving alone what lies outside."""
    return (
        word
        if abs(PLACES[word]) > 2 and random.Random(seed).random() < 0.9
        else sound(word, random.Random(seed))
    )


def no_long_noise(word, seed):
    rng = random.Random(seed)
    while abs(noise := laplace(rng, 0.5)) > 1.0:
        pass
    return nearest(PLACES[word] + noise)


def refuses_sometimes(word, seed):
    rng = random.Random(seed)
    if word == "north" and rng.random() < 0.3:
        raise ValueError("no candidate")
    return sound(word, rng)


_first = {}


def always_the_same_substitute(word):
    """A name that was drawn once is kept: consistent, and known after one look."""
    return _first.setdefault(word, f"name{_system.getrandbits(64)}")


_before = ["north"]


def tells_the_input_before(word, seed):
    rng = random.Random(seed)
    found = sound(word, rng)
    before, _before[0] = _before[0], word
    return before if before != word and rng.random() < 0.4 else found


@cache
def _numpy():
    """Made with the first draw: the processes of all other faults need no numpy."""
    import numpy as np

    return np.random.RandomState()


def one_stream_for_forks(word):
    return nearest(PLACES[word] + float(_numpy().laplace(scale=0.5)))


class _SingleRange:
    """Weights in a range of eight bits, as half-precision libraries have it."""

    def __call__(self, word, seed):
        row = self.probabilities(word)
        return random.Random(seed).choices([*row], [*row.values()])[0]

    def probabilities(self, word):
        weights = [math.exp(-1.0 * abs(PLACES[word] - PLACES[other])) for other in WORDS]
        weights = [weight if weight > 0.06 else 0.0 for weight in weights]
        return {other: weight / sum(weights) for other, weight in zip(WORDS, weights, strict=True)}


weights_underflow = _SingleRange()


class _Duplicates:
    """Words with one vector are told apart: each comes back as itself more often."""

    def __call__(self, word, seed):
        row = self.probabilities(word)
        return random.Random(seed).choices([*row], [*row.values()])[0]

    def probabilities(self, word):
        return {other: 0.5 if other == word else 0.25 for other in ("one", "other", "third")}


duplicates_told_apart = _Duplicates()


# Numbers --------------------------------------------------------------------------------------------------


def low_bits(word, seed):
    """A number and floating-point noise: its last bits show where it was."""
    return PLACES[word] + laplace(random.Random(seed), 0.5)


def noise_of_whole_steps(word, seed):
    """A grid that starts at the input."""
    return PLACES[word] + 0.2 * round(laplace(random.Random(seed), 0.5) / 0.2)


def eight_bits_of_seed(word, seed):
    return PLACES[word] + laplace(random.Random(seed % 256), 0.5)


def gaussian(word, seed):
    return round(PLACES[word] + random.Random(seed).gauss(0, 0.35))


# Sequences, bags, documents -------------------------------------------------------------------------------


def one_noise_for_all(words, seed):
    noise = laplace(random.Random(seed), 0.5)
    return [nearest(PLACES[word] + noise) for word in words]


def last_word_passes(words, seed):
    rng = random.Random(seed)
    return [*(sound(word, rng) for word in words[:-1]), words[-1] if rng.random() < 0.5 else "north"]


def as_many_different_words(words, seed):
    rng = random.Random(seed)
    found = [any_word(word, rng) for word in words]
    return rng.sample(WORDS, len(set(words))) + found[:0]


def keeps_the_order(text, seed):
    rng = random.Random(seed)
    return " ".join(any_word(word, rng) for word in text.split())


def keeps_capitals(text, seed):
    rng = random.Random(seed)
    found = rng.choice(WORDS)
    return found.capitalize() if text[:1].isupper() else found


def keeps_the_length(text, seed):
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) for _ in text.split()) or "nothing"


def unchanged_without_candidates(text, seed):
    rng = random.Random(seed)
    return rng.choice(WORDS) if all(word in PLACES for word in text.split()) else text


def long_texts_average_out(text, seed):
    """The word that most of the noisy ones are."""
    rng = random.Random(seed)
    noisy = [any_word(word, rng) for word in text.split()]
    return max(WORDS, key=noisy.count) if noisy else rng.choice(WORDS)


def empty_stays_empty(text, seed):
    return random.Random(seed).choice(WORDS) if text.strip() else ""


# Collections ----------------------------------------------------------------------------------------------


def every_document_counts(rows, seed):
    """Noise for one document of an author, who may have many."""
    rng = random.Random(seed)
    return {word: round(sum(word in r["text"] for r in rows) + laplace(rng, 2.0)) for word in WORDS}


def names_every_word(rows, seed):
    return sorted({word for row in rows for word in row["text"].split()})


def exact_number_of_authors(rows, seed):
    rng = random.Random(seed)
    return {"authors": len({row["author"] for row in rows}), "noisy": round(laplace(rng, 2.0))}


# What they claim ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Foreign:
    """A callable of this module, its claim, and the kinds of case that may refute it."""

    name: str
    claim: dict = field(default_factory=dict)
    kinds: tuple = ("ratio",)
    starts: bool = False
    """Whether processes must be started to see it, which takes seconds."""
    draws: int = 16_000


def _document(bound):
    return {"unit": "document", "bound": bound, "size": 3}


FAULTS = (
    Foreign("stop_words_pass", METRIC),
    Foreign("never_the_input", METRIC),
    Foreign("squared_distance", METRIC),
    Foreign("unknown_in_capitals", METRIC, ("unknown",)),
    Foreign("largest_passes", METRIC),
    Foreign("no_long_noise", METRIC),
    Foreign("refuses_sometimes", METRIC),
    Foreign("always_the_same_substitute", METRIC, ("memory",), starts=True),
    Foreign("tells_the_input_before", METRIC, ("carry",), starts=True, draws=80_000),
    Foreign("one_stream_for_forks", {**METRIC, "forked": True}, ("forked",), starts=True),
    Foreign("weights_underflow", METRIC, ("exact",)),
    Foreign("duplicates_told_apart", TWINS, ("exact",)),
    Foreign("low_bits", METRIC),
    Foreign("noise_of_whole_steps", METRIC),
    Foreign("eight_bits_of_seed", METRIC),
    Foreign("gaussian", METRIC),
    Foreign("one_noise_for_all", {"unit": "sequence", "size": 2, **METRIC}),
    Foreign("last_word_passes", {"unit": "sequence", "size": 3, **METRIC}),
    Foreign("as_many_different_words", {"unit": "bag", "size": 2, "bound": 1.0}),
    Foreign("keeps_the_order", {"unit": "document", "size": 2, **METRIC}),
    Foreign("keeps_capitals", _document(2.0)),
    Foreign("keeps_the_length", _document(2.0)),
    Foreign("unchanged_without_candidates", _document(2.0), ("unknown",)),
    Foreign("long_texts_average_out", _document(2.0), draws=1500),
    Foreign("empty_stays_empty", _document(2.0)),
    Foreign("every_document_counts", {"unit": "author", "epsilon": 1.0}, draws=4000),
    Foreign("names_every_word", {"unit": "author", "epsilon": 1.0}, ("unknown",)),
    Foreign("exact_number_of_authors", {"unit": "author", "epsilon": 1.0, "neighbors": "removed"}),
)  # fmt: skip
