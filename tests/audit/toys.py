"""Mechanisms on four words, as a user would bring them: sound ones and broken ones. No part of Publius is used."""

import math
import random

WORDS = ["north", "east", "south", "west"]
VECTORS = [[0.0], [0.5], [1.0], [3.0]]
EPSILON = 2.0
_fixed = random.Random(1)
_here = random.Random()
_own = {}


def _row(word, epsilon=EPSILON, stays=0.0):
    """The exponential mechanism with epsilon/2, made here; the input passes with a further probability."""
    place = VECTORS[WORDS.index(word)][0]
    weights = [math.exp(-epsilon / 2 * abs(place - other[0])) for other in VECTORS]
    row = [(1 - stays) * weight / sum(weights) for weight in weights]
    row[WORDS.index(word)] += stays
    return row


def sound(word, seed):
    return random.Random(seed).choices(WORDS, _row(word))[0]


def sound_bag(words, seed):
    return [sound(word, 2**32 * place + seed) for place, word in enumerate(words)]


def sound_mapping(words, seed):
    drawn = sound_bag(words, seed)
    return {word: drawn.count(word) for word in drawn}


def sound_text(text, seed):
    return " ".join(sorted(sound_bag(text.split(), seed)))


def text_whose_length_stays(text, seed):
    rng = random.Random(seed)
    return " ".join(rng.choices(WORDS, k=len(text.split())))


def number_with_holes(word, seed):
    """Floating-point noise is added to a place: the last bits tell which."""
    rng = random.Random(seed)
    return VECTORS[WORDS.index(word)][0] + rng.expovariate(EPSILON) - rng.expovariate(EPSILON)


def scale_off_by_three(word, seed):
    return random.Random(seed).choices(WORDS, _row(word, 3 * EPSILON))[0]


def unknown_words_pass(word, seed):
    return sound(word, seed) if word in WORDS else word


def input_passes_more_often(word, seed):
    return random.Random(seed).choices(WORDS, _row(word, stays=0.6))[0]


def support_fault(word, seed):
    """One word in ten is marked, of one input only."""
    rng = random.Random(seed)
    return "marked" if word == "north" and rng.random() < 0.1 else rng.choices(WORDS, _row(word))[0]


def fixed_seed(word):
    return _fixed.choices(WORDS, _row(word))[0]


def remembers(word):
    """It draws once, in each process anew, and repeats that."""
    return _own.setdefault(word, sound(word, None))


def tells_of_the_word_before(word):
    before, _own["before"] = _own.get("before"), word
    return before if before in WORDS and before != word and random.random() < 0.95 else sound(word, None)


def repeats_where_it_is_forked(word):
    return _here.choices(WORDS, _row(word))[0]


def bag_that_keeps_a_word(words, seed):
    return [words[0], *(sound(word, 2**32 * place + seed) for place, word in enumerate(words[1:]))]


def refuses(word):
    raise KeyError(word)
