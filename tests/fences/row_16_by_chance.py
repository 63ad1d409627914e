"""What chance alone misses at the floor is no FAIL, and what adds nothing can pass."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fences import Fence
from made_scores import clean, facts, line
from publius.documents.inspection import inspect
from publius.evaluation import own_data, verdict
from publius.evaluation.data import LabeledText
from publius.evaluation.encoding import EncodedText
from publius.evaluation.hindsight import originals_row
from publius.evaluation.originals import exact_success
from publius.evaluation.protectors import Originals, Protector
from publius.evaluation.rows import Protection
from publius.evaluation.statistics import Interval
from publius.evaluation.steps import older as steps
from publius.evaluation.summary import AdversaryResult, SummaryLine
from publius.evaluation.verdict import Limits, authors_of, judge
from publius.noise.randomness import seeded_rng
from publius.releases import own_texts, signoff
from publius.releases.measured import Measured
from publius.releases.own_texts import OwnTexts
from publius.releases.plan import SHUFFLED
from publius.text.author_names import Spellings


def _nothing_added(folder: Path) -> None:
    for texts, expected in ((61, "NO EVIDENCE"), (1200, "PASS")):
        every, bare = np.arange(texts) * 7 % 50 < 13, np.arange(texts) * 7 % 50 < 40
        found = judge(
            [clean(bare, 0.26), line({"svm": (every, 0.26)})],
            Limits(adds_at_most=0.05),
            facts(texts, 97, 0.26),
        )
        assert found is not None
        assert found.answer == expected, found.text


def _upper_end_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: whatever may be above the limit by chance is a FAIL."""

    def before(authors: verdict.Authors) -> str:
        return "PASS" if authors.worst.judged.high <= authors.limit else "FAIL"

    monkeypatch.setattr(verdict.Authors, "answer", property(before))


def _few_authors_are_no_pass(folder: Path) -> None:
    """Of a kind of author as frequent as what is allowed there may be none among forty, whatever was found."""
    for authors, expected in ((40, "NO EVIDENCE"), (80, "PASS")):
        texts = 20 * authors
        found = judge(
            [clean(np.arange(texts) % 10 < 8, 0.26), line({"svm": (np.zeros(texts), 0.26)})],
            Limits(adds_at_most=0.05),
            facts(texts, authors, 0.26),
        )
        assert found is not None
        assert found.answer == expected, found.text


def _however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict.Authors, "enough", True)


def _what_the_originals_tell_alone_is_not_added(folder: Path) -> None:
    """Of 320 authors of one to four texts on 20 topics: at 0.01 nats nobody learns a thing, whoever he is.

    Who holds the originals knows how often they write, with a release and without one.
    """
    rng = seeded_rng(3)
    topics = rng.integers(20, size=400)
    authors = np.array([f"a{topic:02}-{min(rng.geometric(0.12), 40):02}" for topic in topics])
    outcomes = np.log(rng.random((400, 20)) + 0.5)
    for bound, answer in ((0.01, "NO EVIDENCE or PASS"), (12.0, "FAIL")):
        law = np.exp(bound * (outcomes - outcomes.min()) / np.ptp(outcomes))
        law /= law.sum(axis=1, keepdims=True)
        texts = [
            EncodedText(str(at), author, f"t{topic}", (), np.zeros(0, np.int64))
            for at, (author, topic) in enumerate(zip(authors, topics, strict=True))
        ]
        found = Originals(exact_success(law, authors.tolist()), np.zeros((400, 400)), law)
        protection = Protection("prototype", None, bound, 0, None, None)
        row = originals_row(protection, texts, found, 1 / len(set(authors)), rng)
        numbers = np.unique(authors, return_inverse=True)[1].tolist()
        given = {
            "anyway": [0.03] * 400,
            "author_numbers": numbers,
            "topic_numbers": topics.tolist(),
            "topics": ["a", "b"],
        }
        shown = AdversaryResult(
            "originals", "author", row.accuracy, 400 * row.accuracy, 400, {}, tuple(row.extra["shares"]),
            tuple(row.extra["blind"]), tuple(row.extra["told"]), tuple(row.extra["told_blind"]),
        )  # fmt: skip
        protected = SummaryLine(
            "prototype", None, bound, 1, None, None, 0.0, {("originals", "author"): shown}, None, None, None
        )
        bare = line({"svm": (np.arange(400) % 10 < 8, 0.0)}, mechanism="clean", bound=None)
        judged = authors_of(protected, bare, given, 0.05)
        assert judged.answer in answer, judged.text
        (gain,) = judged.gains
        assert "that he names without the release" in judged.text
        if bound < 1:
            assert abs(gain.judged.value) < 0.005, "0.01 nats add next to nothing"
            assert gain.named > 0.1 > 0.03 + 0.05, "compared with the topic alone this is beyond the limit"


def _a_letter_of_many(folder: Path) -> None:
    """A campaign beside four authors who write on their own: its senders can be named by nobody."""
    texts = [
        *(LabeledText(f"{author}{n}", f"{author} word{chr(97 + n)}", author, None, "unknown")
          for author in "abcd" for n in range(2)),
        *(LabeledText(f"s{n}", f"The same letter{'.' * n}", f"sender {n // 2}", None, "unknown") for n in range(99)),
    ]  # fmt: skip
    kept, said = own_data.once(texts)
    assert len(kept) == 8 + 1
    assert said.startswith("; 98 texts")


def _each_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_data, "plain_letters", lambda text: text)


def _nobodys_texts_are_not_attacked(folder: Path) -> None:
    """Of a busy "author" who is none the habit of naming him is right: it hid in the intervals who was found."""
    signed = [(author, n) for author in (*"abcd", "Anonymous", "N/A") for n in range(6)]
    path = folder / "rows.jsonl"
    path.write_text(
        "".join(json.dumps({"author": author, "text": f"{author} wrote {n}"}) + "\n" for author, n in signed)
    )
    found = own_data.read_rows(path, parts=3)
    assert {text.author for text in found.texts if text.role == "unknown"} == {*"abcd"}
    older = list(steps._rows(path, inspect(path), "author", None))
    assert {row["author"] for row in older} == {*"abcd"}


class _Amplified:
    """Releases one "word" that lies at five times the place of its document, 3 apart: as `Position` amplifies."""

    def __init__(self) -> None:
        rng = np.random.default_rng(8)
        self.places = rng.uniform(-1, 1, (100, 2))
        self.shown = 5 * self.places[:, None] + 3 + rng.normal(0, 0.05, (100, 4, 2))

    def draw(self, documents: list[Any], generators: list[Any]) -> list[Any]:
        found = [
            4 * int(one[0]) + int(rng.integers(4)) for one, rng in zip(documents, generators, strict=True)
        ]
        return [
            SimpleNamespace(bag=SimpleNamespace(words=lambda each=each: [f"{100 + each}"])) for each in found
        ]

    def indices(self, words: tuple[str, ...]) -> Any:
        return np.array([int(word) for word in words])

    def positions(self, documents: list[Any]) -> Any:
        every = np.vstack([self.places, self.shown.reshape(-1, 2)])
        return np.array([every[one].mean(axis=0) for one in documents])

    centres = positions


def _a_bag_is_looked_for_where_it_lies(folder: Path) -> None:
    """Not where its document does: the holder of the originals found less with a weaker protection, and all passed."""
    holder = Protector.__new__(Protector)
    mechanism = _Amplified()
    holder.mechanism, holder.epsilon = mechanism, 1.0  # type: ignore[assignment]
    documents = [np.array([place]) for place in range(100)]
    drawn = mechanism.draw(documents, [seeded_rng(place) for place in range(100)])
    seen = [mechanism.indices(tuple(each.bag.words())) for each in drawn]
    found = holder._likely(seen, documents, seeded_rng(2)).argmax(axis=1)
    assert (found == np.arange(100)).mean() > 0.9


def _where_the_document_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Protector, "_likely", lambda holder, seen, documents, rng: -holder._gaps(seen, documents)
    )


def _a_pass_holds_for_texts_that_tell_no_more(folder: Path) -> None:
    """What attacks on public texts found says nothing of texts on other subjects: these may tell who wrote them."""
    rng = seeded_rng(4)
    law = rng.random((60, 9)) ** 8
    law /= law.sum(axis=1, keepdims=True)
    signed = [(f"t{at % 3}", f"a{at % 7}") for at in range(60)]
    holder = own_texts._Holder()
    for (topic, author), row in zip(signed, law, strict=True):
        holder.add(topic, (), author, row)
    found = holder.naming(told=True)
    assert found is not None
    groups = [[at for at in range(60) if signed[at][0] == topic] for topic in ("t0", "t1", "t2")]
    exact = [exact_success(law[group], [signed[at][1] for at in group]).sum() for group in groups]
    assert found.named == pytest.approx(sum(exact) / 60)
    assert found.without == pytest.approx(9 / 60)
    (folder / "bags.jsonl").touch()
    assert holder.naming(told=False) != found
    own = OwnTexts(60, 0, 0, naming=found)
    for limit, expected in ((found.named - found.without + 0.01, "PASS"), (0.05, "NO EVIDENCE")):
        passed = Measured((), (), (), {}, 100, 0.2, "PASS: so", on_authors="PASS", adds_at_most=limit)
        verdict = signoff.judged(passed, {"kind": "bags", "numbers": SHUFFLED}, folder, own)
        assert verdict is not None
        assert str(verdict.verdict).startswith(expected)
        assert verdict.on_authors == expected
        untold = OwnTexts(60, 0, 0, untold=found)
        assert (untold.no_evidence(limit, topics=False) is None) is (expected == "PASS")
        assert "rows add to that was not computed" in (untold.no_evidence(limit, topics=True) or ""), (
            "the attackers were told topics"
        )


def _a_topic_of_few_is_told_to_nobody(folder: Path) -> None:
    """Who would be told the number of a ticket is told who wrote it, and a row would add nothing to that."""
    law = np.eye(3)[
        [at % 3 for at in range(60)]
    ]  # what a text is about, which three kinds of authors differ by
    for topics in (
        [f"ticket {at}" for at in range(60)],
        [f"a{at % 3}" for at in range(60)],
        [None] * 60,
        ["praise" if at >= 50 else None for at in range(60)],
    ):
        holder = own_texts._Holder()
        for at, topic in enumerate(topics):
            holder.add(topic, (), f"a{at % 3}", law[at])
        found = holder.naming(told=True)
        assert found is not None
        assert (found.texts, found.named, found.without) == (60, pytest.approx(1), pytest.approx(20 / 60))
        assert OwnTexts(60, 0, 0, naming=found).no_evidence(0.05) is not None


def _no_column_hides_what_rows_tell(folder: Path) -> None:
    """Sixty texts that their rows tell apart: a column of authors that names nobody, or who typed them, hides none."""
    law = np.eye(6)[[at % 6 for at in range(60)]]
    for others in (60, 30, 6, 0):
        for name in (None, "desk"):
            holder, authors = own_texts._Holder(), Counter[str | None]()
            for at, row in enumerate(law):
                author = name if at >= 60 - others else f"a{at}"
                authors[author] += 1
                holder.add(None, (), author, row)
            found = holder.ways(authors, told=False)
            assert found
            worst = max(found, key=lambda each: each.added)
            assert (worst.named, worst.without) == (pytest.approx(6 / 60), pytest.approx(1 / 60))
            assert OwnTexts(60, 0, 0, untold=worst).no_evidence(0.05) is not None
            assert holder.ways(authors, told=True) == [], "no topic is known"
    (folder / "rows").touch()


def _as_the_column_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def ways(
        holder: own_texts._Holder, authors: dict[str | None, int], *, told: bool
    ) -> list[own_texts.Naming]:
        found = holder.naming(told=told) if len(authors.keys() - {None}) > 1 else None
        return [] if found is None else [found]

    monkeypatch.setattr(own_texts._Holder, "ways", ways)


def _topics_are_of_authors(folder: Path) -> None:
    """Of twelve authors none may write of a topic in the words of another, though 15 of 100 do."""
    (folder / "rows").touch()
    for authors, expected in ((5, "NO EVIDENCE"), (12, "NO EVIDENCE"), (100, "PASS")):
        texts = 20 * authors
        shares = (1.0,) * texts
        topic = AdversaryResult(
            "linear", "topic", Interval(1.0, 0.99, 1.0), texts, texts, {"exact": False}, shares
        )
        given = facts(texts, authors, 0.1)
        found = line({"originals": (np.ones(texts), 0.1)})
        found = replace(found, findings={("linear", "topic"): topic})
        judged = judge([clean(np.ones(texts), 0.1), found], Limits(topic_at_least=0.92), given)
        assert judged is not None
        assert judged.answer == expected, judged.text


def _topics_are_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    by_authors = verdict.grouped_mean
    monkeypatch.setattr(
        verdict,
        "grouped_mean",
        lambda shares, authors, *more: by_authors(shares, np.arange(len(shares)), *more),
    )


def _what_is_kept_is_part_of_a_row(folder: Path) -> None:
    """A label and a kept value may tell together what neither tells alone."""
    (folder / "rows").touch()
    holder = own_texts._Holder()
    for at in range(120):
        author = at % 12
        holder.add(None, (f"office {author // 3}",), f"a{author}", np.eye(3)[author % 3])
    found = holder.naming(told=False)
    assert found is not None
    assert found.named == pytest.approx(1)
    assert OwnTexts(120, 0, 0, untold=found).no_evidence(0.9) is not None


def _by_their_labels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    add = own_texts._Holder.add
    monkeypatch.setattr(
        own_texts._Holder, "add", lambda holder, topic, kept, author, law: add(holder, topic, (), author, law)
    )


def _every_topic_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_texts, "SHARED", 1)


def _whatever_they_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_texts.Naming, "above", lambda naming, *limits: None)


def _however_they_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spellings, "label", lambda names, name: name)


def _beside_the_topic_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "_without", lambda finding, facts: float(np.mean(facts["anyway"])))


FENCES = (
    Fence(
        16,
        "the holder of the originals looks where bags lie",
        _a_bag_is_looked_for_where_it_lies,
        _where_the_document_lies,
    ),
    Fence(16, "chance at the floor is no failure", _nothing_added, _upper_end_decides),
    Fence(
        16,
        "what the originals tell without a release is not what it adds",
        _what_the_originals_tell_alone_is_not_added,
        _beside_the_topic_alone,
    ),
    Fence(16, "a letter that many send is attacked once", _a_letter_of_many, _each_copy),
    Fence(16, "nobody is no author who is found", _nobodys_texts_are_not_attacked, _however_they_sign),
    Fence(
        16,
        "a pass holds for texts that tell no more than the attacked ones",
        _a_pass_holds_for_texts_that_tell_no_more,
        _whatever_they_tell,
    ),
    Fence(
        16,
        "a topic of few, or none, is told to nobody",
        _a_topic_of_few_is_told_to_nobody,
        _every_topic_is_told,
    ),
    Fence(
        16,
        "topics, too, are judged with authors as what is sampled",
        _topics_are_of_authors,
        _topics_are_of_texts,
    ),
    Fence(
        16,
        "no column of authors hides what rows tell",
        _no_column_hides_what_rows_tell,
        _as_the_column_says,
    ),
    Fence(16, "what is kept is part of a row", _what_is_kept_is_part_of_a_row, _by_their_labels_alone),
    Fence(16, "few authors give no pass", _few_authors_are_no_pass, _however_few),
)
