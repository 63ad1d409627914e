"""A document as a release would read it, and a draw to look at."""

from __future__ import annotations

import operator
import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from publius.arrays import IndexArray
from publius.distances import earth_movers_distance
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import entropy, system_rng
from publius.text.bag import Bag, Encoding, words_of
from publius.text.marked_text import Token, count_words, tokens_of
from publius.text.pads import BYTES, drawn_pads
from publius.text.tokenizer import Unknown
from publius.web import answers, requests
from publius.web.guards.limits import LONGEST_COMPARED
from publius.web.state import State
from publius.web.views.public import stated

WARNING: Final = (
    "For the curator's eyes. This draw stands beside the original, word by word: it is not a release, nothing of it "
    "is saved and nothing is charged."
)
_BINS: Final = 24


def tokens(state: State, asked: requests.Tokens) -> answers.Tokens:
    """The text cut into tokens, and how many words of each kind a release would meet."""
    encoding = state.encoding(asked)
    found = list(tokens_of(asked.text, state.embeddings, encoding))
    encoded = words_of(asked.text, state.embeddings, encoding)
    counts = answers.Counts(
        words=len(encoded.words) - encoded.padding,
        unknown=encoded.unknown,
        stop=sum(token.kind == "stop" for token in found),
        padding=encoded.padding,
        beyond=sum(count_words(token.text) for token in found if token.kind == "beyond"),
    )
    return answers.Tokens(tokens=[_marked(token, encoding) for token in found], counts=counts)


def _marked(token: Token, encoding: Encoding) -> answers.Token:
    """Its text and kind; of words also how many places of the bag they take, so that a draw can be laid beside."""
    if token.kind not in ("word", "unknown"):
        return answers.Token(text=token.text, kind=token.kind)
    taken = [word for word in token.words if type(word) is not Unknown or encoding.unknown != "drop"]
    return answers.Token(text=token.text, kind=token.kind, words=len(taken))


def draw(state: State, asked: requests.Draw) -> answers.Draw:
    """A bag drawn from the text with fresh randomness, word by word beside it.

    For the curator's eyes alone: the numbers are made from the document and carry no guarantee.
    """
    started = time.perf_counter()
    mechanism = state.mechanism(asked)
    encoded = state.encoded(asked.text, asked)
    real = len(encoded.words) - encoded.padding
    words = encoded.words[:real]
    stops, bits = state.encoding(asked).stop_words, entropy(BYTES * encoded.padding)
    pads = drawn_pads(state.embeddings, stops, bits)
    before = np.concatenate([mechanism.indices(list(words)), pads])
    rng = system_rng()
    kernel_started = time.perf_counter()
    after = mechanism.draw([before], [rng])[0]
    kernel = time.perf_counter() - kernel_started
    found = _drawn(mechanism, words, before, after) | stated(mechanism, asked.length)
    seconds = answers.Seconds(kernel=kernel, total=time.perf_counter() - started)
    return answers.Draw.of(warning=WARNING, **found, seconds=seconds)


def prepare(state: State) -> None:
    """Make and load what the first draw needs, with a public word: the index of words, the search, the solver."""
    word = state.embeddings.word(0)
    draw(state, requests.Draw(text=word, length=2, stop_words="none"))


def _drawn(mechanism: Kernel, words: Sequence[str], before: IndexArray, after: IndexArray) -> dict[str, Any]:
    """``words`` are the real ones, which come first in ``before``; pads are in the bag and counted, nothing else."""
    vectors, vocabulary = mechanism.embeddings.vectors, mechanism.embeddings.vocabulary
    real = len(words)
    distances = mechanism.metric.paired(vectors[before[:real]], vectors[after[:real]])
    longest = float(distances.max(initial=0.0)) or 1.0
    counts, edges = np.histogram(distances, bins=_BINS, range=(0.0, longest))
    bag = mechanism.bag(after)
    drawn = [vocabulary[to] for to in after[:real].tolist()]
    near = len(before) <= LONGEST_COMPARED
    return {
        "size": len(before),
        "padding": len(before) - real,
        "unchanged": sum(map(operator.eq, words, drawn)) / real if real else 0.0,  # no unknown word stays
        "words": [
            {"in": word, "out": other, "distance": distance}
            for word, other, distance in zip(words, drawn, distances.tolist(), strict=True)
        ],
        "bag": list(bag.counts.items()),
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
        "mean_distance": float(distances.mean()) if real else 0.0,
        "distance": moved_distance(mechanism, [vocabulary[at] for at in before], bag) if near else None,
    }


def moved_distance(mechanism: Kernel, words: Sequence[str], bag: Bag) -> float:
    """The Earth Mover's distance between the words of a document and a bag drawn from them."""
    return earth_movers_distance(Bag(words), bag, mechanism.embeddings, mechanism.metric)
