"""Texts made to take long: what stands in a row in them can be put together in many ways."""

from publius.noise.randomness import seeded_rng

HOSTILE = {
    "marks": "\u0301\u0323", "one mark": "\u0301", "marks after letters": "Σ" + "\u0301\u0323" * 15,
    "marks that come apart": "\u0f73", "marks of two": "\u0344", "spacing marks": "\u093e", "joiners": "a\u200d",
    "jamo": "\u1100\u1161\u11a8", "vowel jamo": "\u1161", "one word": "a", "accents": "É", "sigmas": "Σ",
    "half characters": "\ud800", "nulls": "\0", "emoji": "\U0001f469\u200d\U0001f467",
    "right to left": "\u05d0\u05b0\u202e",
    "blanks": "\xa0", "apostrophes": "a\u2019", "hyphens": "é-", "soft hyphens": "a\xad", "digits": "1.",
    "growing": "\ufb2c", "growing in lower case": "İ", "no word": "…", "unassigned": "\u0378",
    "commas": "é,", "dashes": "-- ",
}  # fmt: skip


def unspaced():
    """The same for scripts without spaces, 16,384 characters each."""
    rng = seeded_rng(2)
    drawn = ("".join(map(chr, rng.integers(*ends, 2**14).tolist())) for ends in ((0x4E00, 0x9FFF), (0x0E01, 0x0E4E)))
    return *drawn, *(each * (2**14 // len(each)) for each in ("道", "ア", "け", "𠮷", "道a", "道，", "道 "))
