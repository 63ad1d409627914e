"""Where today differs from 0.2 on purpose: each difference by its key, with what it was, what it is and why.

A change names the answers it is about (a pattern of ``group/case``), the key (a pattern of the path within), and what
stands there today, as a value or as a function of what 0.2 said. A difference that no change tells fails the golden
test, and so does a change that tells of nothing. `ABSENT` stands for a key that is not there.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

OF_IDS: Final = (
    " What is said here is of what was drawn for a row, not of its id."
    " Whoever knows an id knows whose row it is."
)


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


@dataclass(frozen=True)
class Change:
    """One deliberate difference.

    Attributes:
        answers: pattern of ``group/case``, as for files: ``seeded/*``.
        key: pattern of the key's path within the answer: ``manifest/delta``, ``exit``.
        now: what stands there today: a value, or a test of what 0.2 gave, what is there, and 0.2's whole answer.
        why: in a sentence.

    """

    answers: str
    key: str
    now: Any | Callable[[Any, Any, Any], bool]
    why: str

    def explains(self, was: Any, now: Any, answer: Any) -> bool:
        """Whether this change makes ``now`` of ``was``, in what is ``answer`` otherwise."""
        return bool(self.now(was, now, answer)) if callable(self.now) else same(self.now, now)


def same(was: Any, now: Any) -> bool:
    """Equal; numbers to the last digits only, which processors round differently."""
    if isinstance(was, float) and isinstance(now, float):
        return abs(was - now) <= 1e-9 * max(abs(was), abs(now))
    return type(was) is type(now) and bool(was == now)


def _digests_of_the_same_files(was: Any, now: Any, answer: Any) -> bool:
    """Every file by name with its SHA-256; those of text can be computed from what 0.2 wrote."""
    now = {name: digest for name, digest in now.items() if name != READ_ME}
    if was is not ABSENT or {*now} != {*answer["files"]}:
        return False
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in answer["files"].items()
               if isinstance(text, str)}  # fmt: skip
    if any("label" in text for text in answer["files"].values() if isinstance(text, str)):
        digests = {}  # the rows lead with the label today, which `_led_by_the_label` compares
    return all(now[name] == digest for name, digest in digests.items()) and all(
        re.fullmatch("[0-9a-f]{64}", digest) for digest in now.values()
    )


def _digests_of_bags(was: Any, now: Any, _: Any) -> bool:
    """Of an unseeded release: its one file, and a SHA-256."""
    return (
        was is ABSENT
        and [*now] == [READ_ME, "bags.jsonl"]
        and bool(re.fullmatch("[0-9a-f]{64}", now["bags.jsonl"]))
    )


def _led_by_the_label(was: Any, now: Any, _: Any) -> bool:
    """Every row of JSON begins with its label and one constant, and holds what it held; as CSV likewise."""

    def rows(text: str) -> list[dict[str, Any]]:
        if text.startswith("{"):
            return [json.loads(line) for line in text.split("\n") if line]
        return [*csv.DictReader(io.StringIO(text))]

    if not (isinstance(was, str) and isinstance(now, str)):
        return False
    try:
        before, after = rows(was), rows(now)
    except ValueError:
        return False
    heads = {tuple([*row][:3]) for row in after}
    constants = {row.pop("probability_kept", None) for row in after}
    none = {row["id"] for row in after if row.get("label") == "none of these"}  # the document without words
    before, after = ([row for row in each if row["id"] not in none] for each in (before, after))
    led = heads == {("label", "probability_kept", "id")} and len(constants) == 1
    return led and len(none) <= 2 and before == after


def _a_probability(was: Any, now: Any, _: Any) -> bool:
    return was is ABSENT and isinstance(now, float) and 0 < now <= 1


def _several_of_each(was: Any, now: Any, _: Any) -> bool:
    return was is ABSENT and min(now.values()) > 1


def _for_receivers(was: Any, now: Any, _: Any) -> bool:
    return was is ABSENT and "What must not be concluded" in now


def _the_same_bags_under_other_numbers(was: Any, now: Any, _: Any) -> bool:
    """As lines of JSON: each bag is there, and the numbers from 1, whichever stands before which."""

    def parts(text: str) -> tuple[list[str], list[str]]:
        rows = [json.loads(line) for line in text.split("\n") if line]
        lines = [json.dumps({**row, "id": "", "probability_kept": 0}, sort_keys=True) for row in rows]
        return sorted(lines), re.findall(r'"id": "(\d+)"', text)

    return was != now and parts(was) == parts(now)


def _labels_but_for_none(was: Any, now: Any, _: Any) -> bool:
    """Rows by their number: at most two become "none of these", and of the others the labels are as they were."""
    if not (isinstance(was, str) and isinstance(now, str)):
        return False
    before, after = (
        {row["id"]: row["label"] for row in map(json.loads, filter(None, text.split("\n")))}
        for text in (was, now)
    )
    other = [label for id, label in after.items() if label != "none of these" and label != before.get(id)]
    return before.keys() == after.keys() and not other


def _a_bag_for_each(was: Any, now: Any, _: Any) -> bool:
    return isinstance(now, str) and was.count("\n") == now.count("\n") and "none of these" in now


def _counted_in_m(was: Any, now: Any, _: Any) -> bool:
    """What rounding can add to a probability grows with the number of outcomes, by one here."""
    return isinstance(was, float) and isinstance(now, float) and was < now < 2 * was


def _but_for_numbers(was: Any, now: Any, _: Any) -> bool:
    def words(text: str) -> str:
        return re.sub(r"[0-9][0-9.e-]*", "", text)

    return isinstance(was, str) and isinstance(now, str) and was != now and words(was) == words(now)


def _and_of_ids(was: Any, now: Any, answer: Any) -> bool:
    """A promise says of what it is: of what was drawn for a row, not of its id."""
    if not (isinstance(now, str) and isinstance(was, str) and now.endswith(OF_IDS)):
        return _but_for_numbers(was, now, answer)
    said = now.removesuffix(OF_IDS)
    return said == was or _but_for_numbers(was, said, answer)


def _a_little_other(was: Any, now: Any, _: Any) -> bool:
    return (
        isinstance(was, float) and isinstance(now, float) and abs(was - now) < 0.1 * max(abs(was), abs(now))
    )


def _a_digest(was: Any, now: Any, _: Any) -> bool:
    return was is ABSENT and all(re.fullmatch("[0-9a-f]{64}", digest) for digest in now.values())


def _a_little_more(was: Any, now: Any, _: Any) -> bool:
    return isinstance(was, float) and isinstance(now, float) and was < now < was * (1 + 1e-8)


def _each_word_counted(was: Any, now: Any, _: Any) -> bool:
    return was is ABSENT and isinstance(now, str) and now.startswith("each in at least 5 public texts")


def _another_digest(was: Any, now: Any, _: Any) -> bool:
    return was != now and all(re.fullmatch("[0-9a-f]{64}", digest) for digest in (was, now))


def _a_date_or_none(was: Any, now: Any, _: Any) -> bool:
    return was is ABSENT and (now is None or bool(re.fullmatch(r"\d{4}-\d\d-\d\d", now)))


def _too_few_texts(was: Any, now: Any, _: Any) -> bool:
    return was != now and now.endswith("only 4 texts were attacked, and fewer than 20 show nothing")


def _the_same_keys(was: Any, now: Any, _: Any) -> bool:
    return bool(sorted(was) == sorted(now))


COUNTED_BY_TEXTS: Final = (
    "counted by texts, not by authors, by an earlier version, so a word of one person can be among them: fit it again "
    "with --author-field"
)
WORDS: Final = (
    "what becomes public of the older texts is counted by authors, and is said wherever a reference is named"
)
LISTED: Final = "a list of references says what was learned from what"
LOST: Final = "losing more than 5 % of the documents has to be agreed to, with --accept-loss"
JUDGED: Final = (
    "a verdict judges what the release adds to what is kept anyway, which cells of 0.2 did not measure"
)
FEWER: Final = "fewer than 20 judged texts show nothing, whatever the limits"
ONE_STATEMENT: Final = "one statement of a guarantee for words and documents alike"

READ_ME: Final = "READ-ME.txt"
RECEIVERS: Final = "those who receive a release read in it what it is"
NONE: Final = "what fits nothing, and a document without words, has an outcome of its own, which counts in M"
ROWS: Final = "a row leads with what is released and how far it can be believed"
NUMBERS: Final = "numbers are given in a secret random order, so that none tells a line of the input"

CHANGES: tuple[Change, ...] = (
    Change(
        "commands/inspect*",
        "json/guessed",
        [],
        "what the texts alone tell of how they are read is said to be a guess",
    ),
    Change("commands/inspect*", "json/quotes", None, "what quotation marks of a table do is said"),
    *(
        Change(
            answers,
            f"json/table/*/{column}_{end}",
            lambda was, now, _: was is ABSENT,
            "every column of the paper's table has its interval",
        )
        for answers in ("commands/evaluate, *", "reading/evaluate the old release")
        for column in ("SRauth", "SRtopic", "DRauth", "DRtopic")
        for end in ("low", "high")
    ),
    Change(
        "commands/compare",
        "json/evaluate",
        lambda was, now, _: was is ABSENT,
        "the strengths as evaluate takes them",
    ),
    *(
        Change(
            "reading/signoff of *", key, now, "earlier versions bound neither rows nor promise: release anew"
        )
        for key, now in (("exit", 77), ("json", None))
    ),
    *(
        Change(
            f"commands/signoff, {name}", "exit", 77, "who wrote a release is asked before what else is wrong"
        )
        for name in ("inside", "the wrong ledger")
    ),
    Change(
        "reading/verify *",
        "json/not_bound",
        lambda was, now, _: was is ABSENT and "'0.2.0'" in now,
        "verify says what a sign-off of then does not bind",
    ),
    Change(
        "reading/verify *",
        "json/sha256",
        lambda was, now, _: was is ABSENT and re.fullmatch("[0-9a-f]{64}", now) is not None,
        "verify prints the digest of all files, to be compared with the one on the signed paper",
    ),
    *(
        Change(
            "commands/guarantee of a position", f"json/{name}", words, "unknown words are counted and said"
        )
        for name, words in (("unknown_a", 15), ("unknown_b", 13))
    ),
    Change(
        "seeded/*", "manifest/reference_words", lambda was, now, _: now in (None, COUNTED_BY_TEXTS), WORDS
    ),
    Change("seeded/*", "json/reference_words", "as in the manifest", WORDS),
    *(
        Change(answers, key, COUNTED_BY_TEXTS, WORDS)
        for answers, key in (
            ("reading/reference info *", "json/words"),
            ("reading/a release on *", "json/reference_words"),
            ("commands/obfuscate, topic", "json/reference_words"),
            ("commands/reference list", "json/references/[23]/words"),
        )
    ),
    Change("commands/obfuscate", "json/reference_words", None, WORDS),
    Change("commands/reference fit", "json/words", _each_word_counted, WORDS),
    Change(
        "commands/reference fit",
        "json/source/public_words",
        {"counted_by": "texts", "at_least": 5, "authors": None, "left_out": 0},
        WORDS,
    ),
    Change("commands/reference fit", "json/source/author_field", None, WORDS),
    Change("commands/reference fit", "json/source/rare_words", {}, WORDS),
    *(
        Change(f"commands/{noun} fit", "json/source/least_documents", ABSENT, WORDS)
        for noun in ("reference", "embeddings")
    ),
    *(
        Change("commands/embeddings fit", f"json/source/{key}", now, WORDS)
        for key, now in (
            ("author_field", None),
            ("public_words", {"counted_by": "texts", "at_least": 5, "authors": None, "left_out": 0}),
            ("rare_words", {}),
        )
    ),
    Change("commands/reference fit", "json/source/made", _a_date_or_none, LISTED),
    Change(
        "commands/reference fit",
        "json/source/notice",
        "learned from these texts: its words, and what it tells of their topics, are public",
        WORDS,
    ),
    Change("commands/reference fit", "json/sha256", _another_digest, "it holds what was decided about words"),
    Change("commands/reference list", "json/references/1/sha256", _another_digest, "as of the fit"),
    Change("commands/reference list", "json/references/0/words", "words of general public text", WORDS),
    Change("commands/reference list", "json/references/1/words", _each_word_counted, WORDS),
    *(
        Change("commands/reference list", f"json/references/{key}", now, LISTED)
        for key, now in (
            ("[123]/from", "public.jsonl"),
            ("[123]/texts", 60),
            ("[123]/authors", None),
            ("[13]/topics", 3),
            ("2/topics", None),
            ("1/counted_by", "texts"),
            ("[23]/counted_by", None),
            ("1/at_least", 5),
            ("[23]/at_least", None),
            ("[123]/made", _a_date_or_none),
        )
    ),
    *(
        Change(f"seeded/{name}", key, now, LOST)
        for name in ("words, unknown ones leave out", "a bad line left out")
        for key, now in (("exit", 65), ("json", None), ("manifest", ABSENT), ("files", ABSENT))
    ),
    *(
        Change(f"reading/{name}", key, now, JUDGED)
        for name, code in (("signoff with all", 77), ("report", 65))
        for key, now in (("exit", code), ("json", None))
    ),
    Change("reading/evaluate the old release", "json/verdict", None, "always there: null without limits"),
    Change("reading/evaluate the old release", "json/reason", None, "always there: null without limits"),
    *(
        Change(f"commands/evaluate, {name}", key, now, FEWER)
        for name in ("passes", "fails")
        for key, now in (("exit", 3), ("json/verdict", "NO EVIDENCE"), ("json/reason", _too_few_texts))
    ),
    Change(
        "commands/reconstruct no release",
        "exit",
        2,
        "no such command: it is the writer ngram of publius write",
    ),
    Change(
        "commands/evaluate, fails",
        "json/size",
        40,
        "without --length a bag has the words that a release has by default, and not 400",
    ),
    Change(
        "commands/evaluate, fails",
        "json/table/1/earth_movers_distance",
        2.317482,
        "of the bags of 40 words",
    ),
    Change(
        "reading/write from the old release",
        "json/held",
        lambda was, now, _: was is ABSENT and {*now} <= {"files", "ports", "calls"},
        "a writer apart says what the kernel held it to",
    ),
    Change(
        "commands/guarantee of a topic",
        "json/delta",
        lambda was, now, _: was < now < 1e-11,
        "of both releases, and of the bound between any two documents, which is what is stated there",
    ),
    *(
        Change(f"commands/guarantee{name}", key, now, ONE_STATEMENT)
        for name, keys in (
            (", releases and candidates", (("json/reference", None), ("json/releases", 1))),
            (" for typical pairs", (("json/reference", None), ("json/releases", 1))),
            (" of a position", ()),
        )
        for key, now in (*keys, ("json/order of keys", _the_same_keys))
    ),
    Change(
        "seeded/*",
        "manifest/files",
        _digests_of_the_same_files,
        "a manifest states every file of the release",
    ),
    Change("*", f"files/{READ_ME}", _for_receivers, RECEIVERS),
    Change("*", "*/probability_kept", _a_probability, ROWS),
    Change("seeded/*", "json/probability_kept", "as in the manifest", ROWS),
    Change("seeded/*", "json/probability_kept_is", "as in the manifest", ROWS),
    Change("*", "*/probability_kept_is", "an upper limit", ROWS),
    Change("*", "*/probability_kept_is", "exact, but for rounding up", ROWS),
    Change(
        "seeded/*meaning*",
        "*/probability_kept_is",
        "of one outcome: a label that several outcomes share is printed more often",
        ROWS,
    ),
    Change("seeded/*meaning*", "manifest/outcomes_of_label", _several_of_each, ROWS),
    Change("seeded/*meaning*", "json/outcomes_of_label", "as in the manifest", ROWS),
    Change("seeded/*", "files/bags.jsonl", _led_by_the_label, ROWS),
    Change("seeded/*", "files/bags.csv", _led_by_the_label, ROWS),
    Change("seeded/*", "files/documents.jsonl", _led_by_the_label, ROWS),
    Change("*topic*", "files/bags.parquet/*schema/*", lambda *_: True, ROWS),
    Change("*topic*", "files/bags.parquet/*rows/*/order of keys", lambda *_: True, ROWS),
    Change("*", "*/mechanism_parameters/none_of_these", True, NONE),
    Change("seeded/*topic*", "*/delta", _counted_in_m, NONE),
    Change("commands/*topic*", "*/delta", _counted_in_m, NONE),
    Change("reading/a release on *", "*/delta", _counted_in_m, NONE),
    Change("commands/*topic*", "*/promise", _and_of_ids, NONE),
    Change("reading/a release on *", "*/promise", _and_of_ids, NONE),
    Change("commands/obfuscate", "*/promise", _and_of_ids, OF_IDS),
    Change("commands/outcomes", "json/outcomes/[012]/probability", _a_little_other, NONE),
    Change("commands/outcomes", "json/outcomes/3", lambda was, now, _: now["label"] == "none of these", NONE),
    Change("*topic*", "files/bags.parquet/*rows/[45]/*", lambda *_: True, NONE),
    *(
        Change("commands/evaluate, fails", f"json/table/1/{key}", _a_little_other, NONE)
        for key in ("exponent_same_topic_typical", "exponent_same_topic", "exponent_nearest")
    ),
    Change("seeded/topic, numbered", "files/bags.jsonl", _a_bag_for_each, NONE),
    Change("seeded/topic, epsilon", "files/bags.jsonl", _labels_but_for_none, NONE),
    Change("seeded/topic, unknown ones at a point", "files/bags.jsonl", _labels_but_for_none, NONE),
    Change("seeded/topic as mtx", "files/bags.mtx", lambda *_: True, NONE),
    Change("seeded/*", "json/files", "as in the manifest", "what is printed holds the manifest"),
    Change("*", "json/files", _digests_of_bags, "what is printed holds the manifest"),
    Change(
        "*", "*/delta", _a_little_more, "delta covers whichever two words: a rounding more on the safe side"
    ),
    Change("*", "*/bound_delta", _a_little_more, "the same: tails are summed here, and rounded up by more"),
    Change(
        "seeded/words, manhattan",
        "manifest/delta",
        5.688823478649386e-294,
        "delta was counted as if every coordinate could move by the whole distance",
    ),
    Change(
        "commands/guarantee between",
        "json/delta",
        8.105173024348191e-293,
        "delta is that of whichever two words, as in the manifest, and not of this distance",
    ),
    *(
        Change(
            case,
            f"json/{key}",
            lambda was, now, answer: was is ABSENT and now >= 0,
            "a comparison of two texts says how many of their words are unknown",
        )
        for case in ("commands/guarantee between", "commands/guarantee of a position")
        for key in ("unknown_a", "unknown_b")
    ),
    *(
        Change(
            "commands/utility",
            f"json/{key}",
            lambda was, now, answer: was is ABSENT and now >= 0,
            "the bound of the paper with its geometric factor, which is true",
        )
        for key in ("paper_bound_geometric", "density_times_volume")
    ),
    *(
        change
        for numbered in ("seeded/*, numbered", "seeded/* from folder")
        for change in (
            Change(numbered, "files/bags.jsonl", _the_same_bags_under_other_numbers, NUMBERS),
            Change(numbered, "manifest/numbers", "in a secret random order", NUMBERS),
            Change(numbered, "json/numbers", "as in the manifest", NUMBERS),
            Change(numbered, "manifest/files", _a_digest, "of the files under other numbers"),
        )
    ),
)
