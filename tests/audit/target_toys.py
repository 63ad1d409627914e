"""Mechanisms on four words, as a user would bring them: sound ones of ours and of other making, and broken ones."""

import math
import os
import random
import sys
import threading
from functools import cache

WORDS = ["north", "east", "south", "west"]
VECTORS = [[0.0], [0.5], [1.0], [3.0]]
EPSILON = 2.0
_system = (
    random.SystemRandom()
)  # most take the seed that they are given, so that no verdict depends on chance
_fixed = random.Random(1)


@cache
def _kernel(name):
    """With its vectors, made in a process that asks for it: most start for toys that need nothing of Publius."""
    import publius

    vectors = publius.Embeddings.from_arrays(WORDS, VECTORS, name="toy")
    return publius.make_mechanism(name, vectors, epsilon=EPSILON), vectors


class Ours:
    """A kernel of Publius through the door; its probabilities where it can compute them."""

    def __init__(self, name):
        self.name = name
        if name == "exponential":
            self.probabilities = self._probabilities

    def _made(self, word):
        from publius.mechanisms.kernel import word_indices

        kernel, vectors = _kernel(self.name)
        return kernel, word_indices([word], vectors)

    def __call__(self, word, seed):
        from publius.noise.randomness import seeded_rng

        kernel, indices = self._made(word)
        return WORDS[kernel.draw([indices], [seeded_rng(seed)], threads=1)[0][0]]

    def _probabilities(self, word):
        kernel, indices = self._made(word)
        row = kernel.log_probabilities(indices)[0]
        return dict(zip(WORDS, (math.exp(each) for each in row), strict=True))


laplace = Ours("laplace")
exponential = Ours("exponential")


def our_bag(words, seed):
    return [laplace(word, 2**32 * place + seed) for place, word in enumerate(words)]


def _row(word, epsilon=EPSILON, stays=0.0):
    """The exponential mechanism with epsilon/2, made here; the input passes with a further probability."""
    place = VECTORS[WORDS.index(word)][0]
    weights = [math.exp(-epsilon / 2 * abs(place - other[0])) for other in VECTORS]
    row = [(1 - stays) * weight / sum(weights) for weight in weights]
    row[WORDS.index(word)] += stays
    return row


def sound(word):
    return _system.choices(WORDS, _row(word))[0]


def seeded(word, seed):
    return random.Random(seed).choices(WORDS, _row(word))[0]


def scale_off_by_three(word, seed):
    return random.Random(seed).choices(WORDS, _row(word, 3 * EPSILON))[0]


def unknown_words_pass(word):
    return sound(word) if word in WORDS else word


def input_passes_more_often(word, seed):
    return random.Random(seed).choices(WORDS, _row(word, stays=0.6))[0]


def support_fault(word, seed):
    """One word in ten is marked, of one input only."""
    rng = random.Random(seed)
    return "marked" if word == "north" and rng.random() < 0.1 else rng.choices(WORDS, _row(word))[0]


def fixed_seed(word):
    return _fixed.choices(WORDS, _row(word))[0]


def bag_that_keeps_a_word(words, seed):
    return [words[0], *(seeded(word, 2**32 * place + seed) for place, word in enumerate(words[1:]))]


def refuses(word):
    raise KeyError(word)


def prints(word, seed):
    print("what a tool prints:", word)
    return seeded(word, seed)


def gives_nothing(word, seed):
    seeded(word, seed)


def exits(word):
    sys.exit(0)


def takes_nothing():
    return WORDS[0]


def hangs(word):
    """In a process of its own, too, which keeps what it was left."""
    os.fork()
    threading.Event().wait()


class _States:
    """Probabilities of one law, draws of another."""

    def __init__(self, stated, drawn):
        self.stated, self.drawn = stated, drawn

    def __call__(self, word, seed):
        return random.Random(seed).choices(WORDS, _row(word, self.drawn))[0]

    def probabilities(self, word):
        return dict(zip(WORDS, _row(word, self.stated), strict=True))


states_too_much = _States(3 * EPSILON, 3 * EPSILON)
states_another_law = _States(EPSILON, EPSILON / 4)


MANY = [f"word{number}" for number in range(200)]


class _StatesHalf:
    """States a flat law for two words and returns the others, of which it states nothing."""

    def __call__(self, word, seed=None):
        return random.Random(seed).choice(WORDS) if word in WORDS[:2] or word not in WORDS else word

    def probabilities(self, word):
        if word not in WORDS[:2]:
            raise KeyError
        return {each: 1 / len(WORDS) for each in WORDS}


class _OneLie:
    """States a flat law for all words and returns one of them as it is."""

    def __call__(self, word, seed=None):
        return word if word == MANY[77] else random.Random(seed).choice(MANY)

    def probabilities(self, word):
        return {each: 1 / len(MANY) for each in MANY}


states_half, one_lie = _StatesHalf(), _OneLie()


def mostly_refuses(word, seed):
    """Two words are refused nearly always, and come back otherwise."""
    rng = random.Random(seed)
    if word in WORDS[:2]:
        return rng.choice(WORDS)
    if word not in WORDS or rng.random() < 0.9:
        raise ValueError
    return word


def _flat(words, refuses=(), states=None, own=0.0):
    class Flat:
        def __call__(self, word, seed):
            rng = random.Random(seed)
            if word in refuses or word not in words:
                raise ValueError
            return word if rng.random() < own else rng.choice(words)

        def probabilities(self, word):
            if word not in (words if states is None else states):
                raise KeyError
            return dict.fromkeys(words, 1 / len(words))

    return Flat()


states_half_and_refuses = _flat(WORDS, refuses=WORDS[2:], states=WORDS[:2])
states_and_refuses = _flat(WORDS, refuses=WORDS[2:])
leaks_a_little = _flat(MANY, own=0.03)
flat_among_many = _flat(MANY)
leaks_and_refuses = _flat(WORDS, refuses=WORDS[3:], states=(), own=0.9)


class _TellsOthers:
    """Flat for what ``listed`` takes, the input itself else; states that honestly where it is asked."""

    def __init__(self, listed):
        self.listed = listed

    def __call__(self, given, seed):
        return random.Random(seed).choices(*zip(*self.probabilities(given).items(), strict=True))[0]

    def probabilities(self, given):
        words = given.split() if isinstance(given, str) else list(given)
        flat = not all(word in WORDS for word in words) or self.listed(words)
        return dict.fromkeys(WORDS, 1 / len(WORDS)) if flat else {" ".join(words): 1.0}


tells_other_orders = _TellsOthers(lambda words: [*map(WORDS.index, words)] == sorted(map(WORDS.index, words)))
tells_long_ones = _TellsOthers(lambda words: len(words) <= 5)
tells_nothing = _TellsOthers(lambda words: True)


# Outputs that look alike, one input's and all others' -------------------------------------------------------


def number_or_text(word):
    drawn = _system.randrange(4)
    return drawn if word == "north" else str(drawn)


def true_or_text(word):
    drawn = _system.random() < 0.5
    return drawn if word == "north" else str(drawn).lower()


def nothing_or_text(word):
    return {"x": _system.choice(WORDS), "y": None if word == "north" else "null"}


def named_or_listed(word):
    drawn = str(_system.choice(WORDS))
    return {drawn: 1} if word == "north" else [f"{drawn}=1"]


def text_or_list(word):
    drawn = _system.choice(WORDS)
    return drawn if word == "north" else [drawn]


def zeros_of_its_own(words):
    """A noisy count of each word, flat but for this: the input's own stand there also where it is 0."""
    drawn = {word: _system.randrange(2) for word in WORDS}
    return {word: count for word, count in drawn.items() if count or word in words}


def _states_nearly(word):
    return dict.fromkeys(WORDS, (1 - 4e-7) / 4 if word == "north" else 0.25)


def little_is_unsaid(word, seed):
    return random.Random(seed).choice(WORDS)


little_is_unsaid.probabilities = _states_nearly


# Two words of many tell more of each other than is claimed; of each with any other nothing is wrong --------------

SCATTERED = [f"place{number}" for number in range(12)]
PLACES = [
    *([9.0, 0.0], [10.2, 0.0], [9.6, 2.0], [9.6, 2.1], [9.6, -2.0], [9.6, -2.1]),
    *([12.0, 1.0], [12.0, 1.1], [12.0, -1.0], [12.0, -1.1], [7.0, 0.0], [7.0, 0.1]),
]
_MARKS = {SCATTERED[0]: 0.27, SCATTERED[1]: 0.27 * math.exp(-2)}


def two_of_many(word, seed):
    """Marked are 27 %, 3.7 % of the one and 10 % of all others: 2 nats where epsilon 1 claims 1.2, and 1 elsewhere."""
    if word not in SCATTERED:
        raise ValueError
    rng = random.Random(seed)
    return "marked" if rng.random() < _MARKS.get(word, 0.27 * math.exp(-1)) else rng.choice(SCATTERED)
