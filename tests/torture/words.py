"""Random and hostile strings: many texts looked up at once give exactly the words of the tokenizer, one by one."""

import sys
import unicodedata

from publius.audit.outcomes import Findings, violations
from publius.noise.randomness import seeded_rng
from publius.text.bag import Encoding, words_of_all
from publius.text.tokenizer import PROFILES, StopWords, Unknown, lookup

WORDS = [
    *"tea milk do n't don't well well-known 1.5 2 # 's rock u.s straße σας σασ ß ẗ i̇ é a͏ हिन्दी 日本".split(),
    *(f"{a}{b}" for a in "bgkmsz" for b in "aeiou"),
]  # fmt: skip
STOPS = StopWords("few", frozenset({"the", "a", "it", "το"}))
# What the rules of Unicode, case, joints and capping hang on, and what only looks like it.
HOSTILE = [
    *"'-.,:;!\"#^`_~<=>|/\\()\x00\x1c\x1f\x7f\t\n\r ",
    *"\u00a0\u2028\u3000\u200b\u200c\u200d\u00ad\u034f\ufeff\u2019\u02bc\u2010\u2011\u2026\u00b7\u0387\u0345",
    *"\u0301\u0307\u0308\u0323\u0338\u0331\u1ab0\u0f71\U0001d165\u3099",
    *"ΣΑσςΆIİıKÅTßẞǅΩµΐﬁﬀ½²٣५ⅷ\u1100\u1161\u11a8\uac00\ud800\udfff\U00016d40\U00016d67\U0010ffff\u0378",
    "'s", "n't", "N'T", "The", "well-known", "don’t", "1.5,2", "ΣΑΣ", "T\u0308", "I\u0307", "\u0301" * 31,
    "\u0308" + "\u0323" * 29 + "\u00ad", "x" * 23, "é" * 12, "y" * 65, "z-" * 70, ". ", ", ", "' ", "tea", "milk",
]  # fmt: skip
_AT_ONCE = 2000


class EveryWord:
    """A vocabulary of all words but those that ``without`` says: each has a place once it was asked for."""

    unknown_index = 0
    vocabulary = ()

    def __init__(self, without):
        self.without, self.places = without, {}

    def index(self, word):
        return None if self.without(word) else self.places.setdefault(word, len(self.places) + 1)

    def __contains__(self, word):
        return not self.without(word)


VOCABULARIES = (
    EveryWord(lambda word: False),
    EveryWord(lambda word: len(word) % 3 == 2),
    EveryWord(lambda word: "'" in word or "-" in word or word not in WORDS),
)


def torture_words(strings, seed=5):
    """``strings`` texts in both profiles, with and without unknown words and a length; any difference is a failure."""
    rng = seeded_rng(seed)
    wrong = done = beyond_ascii = 0
    while done < strings:
        texts = [_text(rng) for _ in range(min(_AT_ONCE, strings - done))]
        vocabulary = VOCABULARIES[int(rng.integers(len(VOCABULARIES)))]
        profile = sorted(PROFILES)[int(rng.integers(2))]
        length = [None, 1, 3, 20][int(rng.integers(4))]
        drop = bool(rng.integers(2))
        encoding = Encoding(length, "drop" if drop else "unk", STOPS, profile, padded=False)
        for text, found in zip(texts, words_of_all(texts, vocabulary, encoding), strict=True):
            words = [
                word
                for stretch in text.split()
                for word in lookup(stretch, vocabulary, profile=profile, stop_words=STOPS)
            ]
            taken = [0 if type(word) is Unknown else vocabulary.index(word) for word in words]
            expected = [place for place in taken if place or not drop][:length]
            wrong += found.places.tolist() != expected
            beyond_ascii += not text.isascii()
        done += len(texts)
    checks = (violations("texts whose words differ from the tokenizer's", done, wrong),)
    return Findings(checks, {"texts": done, "of them beyond ASCII": beyond_ascii})


def _text(rng):
    kind = int(rng.integers(4))
    pieces = []
    for pick, code in zip(rng.random(int(rng.integers(1, 25))), rng.integers(0, 2**20, 25), strict=False):
        if kind == 0 or pick < 0.25:
            pieces.append(WORDS[code % len(WORDS)] + (" " if code % 3 else ""))
        elif kind == 1:
            pieces.append(chr(code % 128))
        elif pick < 0.8 or kind == 2:
            pieces.append(HOSTILE[code % len(HOSTILE)])
        else:
            pieces.append(_any_character(int(code)))
    return "".join(pieces)


def _any_character(code):
    """A character of any plane that is used, more often than not one that Unicode names."""
    for place in (code % (sys.maxunicode + 1), code % 0x30000, code % 0x2000):
        if unicodedata.category(chr(place)) != "Cn":
            return chr(place)
    return "?"
