"""Two hundred sound mechanisms of eight families, each with parameters of its own and what it rightly claims."""

import math
import random
import sys
from dataclasses import dataclass
from types import SimpleNamespace

_ALPHABET = ["oak", "elm", "ash", "yew", "fir", "bay", "box", "fig"]


@dataclass(frozen=True)
class Sound:
    """A callable of this module by its name, its claim, and the key of the claim that it nearly reaches, if it does."""

    name: str
    claim: dict
    tight: str | None = None


def _world(rng):
    words = _ALPHABET[: rng.randint(3, 6)]
    vectors = [[round(rng.uniform(-2, 2), 3), round(rng.uniform(-2, 2), 3)] for _ in words]
    return words, vectors


def _weights(words, vectors, epsilon):
    """The exponential mechanism's with epsilon/2, rows by word."""
    return {
        word: [math.exp(-epsilon / 2 * math.dist(x, y)) for y in vectors]
        for word, x in zip(words, vectors, strict=True)
    }


def _exponential(number, rng):
    words, vectors = _world(rng)
    epsilon = round(rng.uniform(0.3, 4), 2)
    rows = _weights(words, vectors, epsilon)

    def call(word, seed):
        return random.Random(seed).choices(words, rows[word])[0]

    if number % 2:
        call.probabilities = lambda word: {
            other: weight / sum(rows[word]) for other, weight in zip(words, rows[word], strict=True)
        }
    return call, {"vocabulary": words, "vectors": vectors, "epsilon": epsilon}, None


def _randomized_response(number, rng):
    words, _ = _world(rng)
    bound = round(rng.uniform(0.2, 3), 2)

    def call(word, seed):
        weights = [math.exp(bound) if other == word else 1.0 for other in words]
        return random.Random(seed).choices(words, weights)[0]

    return call, {"vocabulary": words, "bound": bound}, "bound"


def _geometric(number, rng):
    """Whole numbers and two-sided geometric noise: nothing in the low bits."""
    words = _ALPHABET[: rng.randint(3, 6)]
    places = {word: rng.randint(0, 4) for word in words}
    epsilon = round(rng.uniform(0.3, 2), 2)

    def call(word, seed):
        drawn = random.Random(seed)
        noise = [math.floor(math.log(1 - drawn.random()) / -epsilon) for _ in range(2)]
        return places[word] + noise[0] - noise[1]

    vectors = [[float(places[word])] for word in words]
    return call, {"vocabulary": words, "vectors": vectors, "epsilon": epsilon}, None


def _bag(number, rng):
    words, vectors = _world(rng)
    epsilon = round(rng.uniform(0.3, 3), 2)
    rows = _weights(words, vectors, epsilon)

    def call(given, seed):
        drawn = random.Random(seed)
        return [drawn.choices(words, rows[word])[0] for word in sorted(given)]

    claim = {"unit": "bag", "size": rng.randint(2, 4)}
    return call, {**claim, "vocabulary": words, "vectors": vectors, "epsilon": epsilon}, None


def _sequence(number, rng):
    _, claim, _ = _bag(number, rng)
    rows = _weights(claim["vocabulary"], claim["vectors"], claim["epsilon"])

    def ordered(given, seed):
        drawn = random.Random(seed)
        return [drawn.choices(claim["vocabulary"], rows[word])[0] for word in given]

    return ordered, {**claim, "unit": "sequence"}, None


def _topic(number, rng):
    """The commonest word of a text, whatever it is, through randomized response; as many words whatever the length."""
    words, _ = _world(rng)
    bound, size = round(rng.uniform(0.5, 4), 2), rng.randint(1, 3)

    def call(text, seed):
        drawn = random.Random(seed)
        known = [word for word in text.split() if word in words] or words[:1]
        topic = max(words, key=known.count)
        found = drawn.choices(words, [math.exp(bound) if word == topic else 1.0 for word in words])[0]
        return " ".join([found, *drawn.choices(words, k=size)])

    return call, {"unit": "document", "vocabulary": words, "bound": bound, "size": 3}, None


def _counts(number, rng):
    """Each author's first document counts once, in one cell; an author who is replaced changes two cells."""
    words = _ALPHABET[: rng.randint(2, 4)]
    epsilon = round(rng.uniform(0.3, 2), 2)
    removed = number % 2 == 1
    scale = epsilon if removed else epsilon / 2

    def call(rows, seed):
        drawn = random.Random(seed)
        cells = {}
        for row in sorted(rows, key=lambda row: (row["author"], row["text"])):
            first = next((word for word in row["text"].split() if word in words), words[-1])
            cells.setdefault(row["author"], first)
        noise = [[math.floor(math.log(1 - drawn.random()) / -scale) for _ in range(2)] for _ in words]
        counts = [list(cells.values()).count(word) for word in words]
        return {word: count + one - two for word, count, (one, two) in zip(words, counts, noise, strict=True)}

    claim = {"unit": "author", "vocabulary": words, "epsilon": epsilon, "size": 4}
    return call, {**claim, "neighbors": "removed" if removed else "replaced"}, None


def _with_delta(number, rng):
    """The word itself with probability delta, randomized response otherwise."""
    call, claim, _ = _randomized_response(number, rng)
    delta = round(rng.uniform(0.001, 0.05), 3)

    def rarely(word, seed):
        known = word in claim["vocabulary"]
        return word if known and random.Random(seed + 7).random() < delta else call(word, seed)

    return rarely, {**claim, "delta": delta}, None


_FAMILIES = (_exponential, _randomized_response, _geometric, _bag, _sequence, _topic, _counts, _with_delta)
made = SimpleNamespace()
SOUND = []
for _number in range(200):
    _family = _FAMILIES[_number % len(_FAMILIES)]
    _call, _claim, _tight = _family(_number // len(_FAMILIES), random.Random(_number))
    _name = f"{_family.__name__.strip('_')}_{_number}"
    setattr(made, _name, _call)
    setattr(sys.modules[__name__], _name, _call)
    SOUND.append(Sound(_name, _claim, _tight))
