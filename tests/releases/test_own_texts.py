"""What the curator learns of the texts to be released, and what of it decides the verdict."""

import json
import math
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest

from publius.collections.authors import check_documents_per_author
from publius.documents.corpus import open_corpus
from publius.errors import DataError, UsageError
from publius.evaluation.originals import exact_success
from publius.evaluation.steps.answers import Choices
from publius.evaluation.steps.commands import commands_by_step
from publius.evaluation.steps.looking import looked_at
from publius.evaluation.steps.walk import Walk
from publius.evaluation.verdict import ADDS
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.prototype import Prototype
from publius.noise.randomness import seeded_rng
from publius.privacy.promise import percent
from publius.releases import account, own_texts, read_me
from publius.releases.account import own_sentences
from publius.releases.digests import file_digest
from publius.releases.engines import protect_corpus
from publius.releases.manifests import read_manifest_of
from publius.releases.measured import Measured, Sources
from publius.releases.own_texts import (
    CURATOR_ONLY,
    FORMAT,
    AuthorCounts,
    Naming,
    OwnTexts,
    TakenFor,
    examine,
    unfit_sentence,
    unsigned_sentence,
)
from publius.releases.plan import AS_READ, Plan
from publius.releases.preflight import language_of_words, look
from publius.releases.signoff import evidence, judged, sign_off, write_receivers
from publius.settings import ReleaseSettings
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.fit_reference import fit_reference
from publius.vectors.learning.prototypes import NONE_OF_THESE
from references import SHARED, TOPICS, fitted, public_documents
from released import command

GERMAN = "der patient klagte gestern abend wieder sehr heftig".split()


def store(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def plan():
    return Plan.of(ReleaseSettings(), Prototype(fitted(), bound=5.0))


def rows(count, *, blank=0, german=0):
    known = [
        {"id": f"r{n}", "text": " ".join(words), "topic": topic, "author": f"a{n // 3}"}
        for n, (words, topic) in enumerate(public_documents(count, seed=9))
    ]
    empty = [{"id": f"b{n}", "text": "  ", "topic": "court", "author": f"b{n}"} for n in range(blank)]
    foreign = [
        {"id": f"g{n}", "text": " ".join(GERMAN), "topic": "court", "author": f"g{n}"} for n in range(german)
    ]
    return [*known, *empty, *foreign]


def corpus_of(path, **fields):
    return open_corpus(path, **{"number": True, **fields})


def test_rows_without_text_and_texts_that_fit_nothing_are_counted_and_told(tmp_path, plan):
    corpus = corpus_of(store(tmp_path / "t.jsonl", rows(90, blank=7, german=12)))
    found = examine(corpus, plan)
    assert (found.documents, found.without_text) == (109, 7)
    assert found.fit_none is not None
    assert found.fit_none + found.hardly_known >= 12
    said = " ".join(found.warnings())
    assert "7 of 109 rows have no text" in said
    counted = f"{found.fit_none} of 102 texts fit nothing public"
    assert counted in said
    assert any(counted in each for each in own_sentences(found.record()))
    some = replace(found, fit_none=5, hardly_known=3)
    assert "5 of 102 texts fit nothing public" in unfit_sentence(5, 3, 102)
    assert (
        "3 more are in another language, or hardly a word of theirs is known (7.8 % altogether)"
        in unfit_sentence(5, 3, 102)
    )
    assert unfit_sentence(5, 3, 102) in [*some.warnings()]
    assert unfit_sentence(5, 3, 102) + "." in [*own_sentences(some.record())]
    first = " ".join(look(corpus, plan).warnings())
    assert "7 of 109 rows have no text" in first
    assert "klagte" not in said + first


def test_every_row_leaves_also_one_without_text_and_nothing_tells_how_many_there_were(tmp_path, plan):
    corpus = corpus_of(store(tmp_path / "t.jsonl", rows(60, blank=20)))
    released = protect_corpus(corpus, plan, tmp_path / "out")
    assert released.manifest["documents"] == 80
    labels = [json.loads(line)["label"] for line in (tmp_path / "out/bags.jsonl").read_text().splitlines()]
    assert len(labels) == 80
    assert labels.count("none of these") >= 10
    readme = (tmp_path / "out/READ-ME.txt").read_text()
    assert "a document without text" in readme.replace("\n", " ")
    assert not {"without_text", "fit_none", "unfit"} & set(released.manifest)


def test_labels_are_measured_by_exact_probabilities_beside_the_majority(tmp_path, plan):
    corpus = corpus_of(store(tmp_path / "t.jsonl", rows(90)), keep=["topic", "author"])
    found = examine(corpus, plan, "topic", "author")
    assert found.labels is not None
    assert 0.5 < found.labels.right <= plan.mechanism.probability_kept
    assert found.labels.majority == pytest.approx(1 / 3)
    assert {each.topic: each.texts for each in found.labels.topics} == dict.fromkeys(TOPICS, 30)
    drawn = protect_corpus(corpus_of(tmp_path / "t.jsonl", keep=["topic"]),
                           replace(plan, labels=("topic",)), tmp_path / "out")  # fmt: skip
    assert drawn.manifest["documents"] == 90
    lines = [json.loads(line) for line in (tmp_path / "out/bags.jsonl").read_text().splitlines()]
    share = sum(line["label"] == line["topic"] for line in lines) / 90
    assert share == pytest.approx(found.labels.right, abs=0.2)
    assert found.authors is not None
    assert (found.authors.most, found.authors.median, found.authors.worst) == (3, 3, 15.0)
    assert found.authors.several == 1.0


def test_it_is_kept_for_the_curator_and_read_again(tmp_path, plan):
    corpus = corpus_of(store(tmp_path / "t.jsonl", rows(30)), keep=["topic", "author"])
    found = examine(corpus, plan, "topic", "author")
    path = tmp_path / "own.json"
    path.write_text(json.dumps(found.record()))
    assert OwnTexts.read(path) == found
    assert found.record()["notice"] == CURATOR_ONLY
    assert not any(word in path.read_text() for word in SHARED)
    before = {name: value for name, value in found.record().items() if name != "format"}
    naming = before["untold"] or {}
    for changed in ({"told": 7}, {"named": "0.1"}, {"without": None}, {"texts": 1e400}, {"named": math.nan}):
        path.write_text(json.dumps({**found.record(), "untold": {**naming, **changed}}))
        with pytest.raises(DataError, match=r"finds with --release now: make it anew"):
            OwnTexts.read(path)
    for other in ({}, before, {**before, "format": FORMAT - 1}, {**before, "format": FORMAT + 1}):
        path.write_text(json.dumps(other))
        with pytest.raises(DataError, match=r"finds with --release now: make it anew"):
            OwnTexts.read(path)


def measured(verdict):
    return Measured((), (), (), {}, 100, None, verdict)


def test_what_the_rows_tell_whoever_holds_the_texts_is_computed_on_them(tmp_path, plan, monkeypatch):
    texts = rows(60)
    corpus = corpus_of(store(tmp_path / "t.jsonl", texts), keep=["topic", "author"])
    own = examine(corpus, plan, topic_field="topic", author_field="author")
    law = plan.mechanism.law(own_texts._places([row["text"] for row in texts], plan, None)[0])
    named, without = 0.0, 0
    for topic in TOPICS:
        places = [at for at, row in enumerate(texts) if row["topic"] == topic]
        signed = [texts[at]["author"] for at in places]
        named += exact_success(law[places], signed).sum() if places else 0
        without += max(Counter(signed).values(), default=0)
    assert own.naming == Naming(
        pytest.approx(named / 60),
        pytest.approx(without / 60),
        60,
        told=True,
        topics=3,
        even=pytest.approx(3, abs=0.2),
    )
    assert own.naming.named > own.naming.without
    alone = exact_success(law, [row["author"] for row in texts]).mean()
    most = max(Counter(row["author"] for row in texts).values()) / 60
    assert own.untold == Naming(pytest.approx(alone), pytest.approx(most), 60, told=False)
    said, untold = [each for each in own_sentences(own.record()) if each.startswith("Computed on 60 of")]
    unlooked = "What the rows tell of the authors of these very texts was not computed"
    assert not any(unlooked in each for each in own_sentences(own.record()))
    assert any(unlooked in each for each in own_sentences(replace(own, naming=None, untold=None).record()))
    assert f"is told no topic names the author of {percent(alone)}" in untold
    assert f"{percent(named / 60)} of them from one row, and of {percent(without / 60)} without it" in said
    assert OwnTexts.read(store_record(tmp_path, own)) == own
    assert examine(corpus, plan, author_field="author").naming is not None, "told the likeliest label"
    alone = examine(corpus, plan, topic_field="topic")
    for told, groups in ((alone.naming, [row["topic"] for row in texts]), (alone.untold, [""] * 60)):
        each = sum(
            law[[at for at in range(60) if groups[at] == group]].max(axis=0).sum() for group in {*groups}
        )
        assert told.named == pytest.approx(each / 60), "without authors each text is of one of its own"
        assert told.without == pytest.approx(len({*groups}) / 60)
        assert "names the text of a row" in told.sentence
    monkeypatch.setattr(Prototype, "shows_topics", False)  # as where the meaning is preserved
    guessed = examine(corpus, plan, author_field="author")
    assert guessed.untold == own.untold
    assert guessed.naming.told, "whoever holds a text knows its topic without a column"
    assert guessed.naming.named == pytest.approx(own.naming.named, abs=0.01), "the topics are told well here"
    reference = plan.vocabulary
    monkeypatch.setattr(type(reference), "keeps", ("meaning",))
    unnamed = examine(corpus, plan, author_field="author")
    assert (unnamed.naming, unnamed.untold) == (None, own.untold), "a label is no topic that anybody was told"


@pytest.mark.parametrize("author", [None, "", "Anonymous", "Front desk"])
@pytest.mark.parametrize("shows_topics", [False, True])
def test_an_author_whom_nobody_tells_from_others_leaves_each_text_its_own(
    tmp_path, plan, monkeypatch, author, shows_topics
):
    monkeypatch.setattr(Prototype, "shows_topics", shows_topics)
    texts = [row | {"author": author} for row in rows(60)]
    corpus = replace(corpus_of(store(tmp_path / "t.jsonl", texts)), beside=("author",))
    bare, found = examine(corpus, plan), examine(corpus, plan, author_field="author")
    assert (found.naming, found.untold) == (bare.naming, bare.untold)
    assert bare.untold.added > 0.02
    assert not bare.untold.authors


def test_who_wrote_most_texts_may_be_who_typed_them(tmp_path, plan):
    """Whoever always names the desk is right for 40 of 60 texts; the texts themselves are told apart all the same."""
    texts = [row | ({"author": "desk"} if n < 40 else {}) for n, row in enumerate(rows(60))]
    corpus = corpus_of(store(tmp_path / "t.jsonl", texts), keep=["author"])
    found, bare = examine(corpus, plan, author_field="author"), examine(corpus, plan)
    assert {bare.naming, bare.untold} <= {found.naming, found.untold, *found.otherwise}
    assert found.naming.added >= bare.naming.added
    assert found.no_evidence(bare.naming.added - 0.01) is not None
    several = examine(
        corpus_of(store(tmp_path / "s.jsonl", rows(60)), keep=["author"]), plan, author_field="author"
    )
    assert all(each.authors for each in (several.naming, several.untold, *several.otherwise))


@pytest.mark.parametrize("named", [0, 7, 29, 30])
def test_where_the_topics_of_most_texts_are_not_known_nothing_tells_what_rows_add_to_them(
    tmp_path, plan, monkeypatch, named
):
    """As where there is no column: what is found without topics is no answer for whoever knows them."""
    monkeypatch.setattr(Prototype, "shows_topics", False)
    monkeypatch.setattr(type(plan.vocabulary), "keeps", ("meaning",))
    texts = [row | {"topic": row["topic"] if n < named else ""} for n, row in enumerate(rows(60))]
    corpus = corpus_of(store(tmp_path / "t.jsonl", texts), keep=["topic", "author"])
    found = examine(corpus, plan, "topic", "author")
    assert (found.naming is None) is (named < 30)
    assert ("rows add to that was not computed" in (found.no_evidence(1.0, topics=True) or "")) is (
        named < 30
    )
    assert found.no_evidence(1.0, topics=False) is None
    if named == 30:
        told = [row for row in texts if row["topic"]]
        alone = corpus_of(store(tmp_path / "told.jsonl", told), keep=["topic", "author"])
        only = examine(alone, plan, "topic", "author").naming
        ways = (found.naming, *found.otherwise)
        assert max(each.added for each in ways if each.told) == pytest.approx(only.added)


@pytest.mark.parametrize(("column", "told"), [(0, False), (1, False), (2, False), (3, True), (4, True)])
def test_a_column_of_far_fewer_topics_than_attackers_were_told_tells_less(column, told):
    """One value in all rows, or yes and no, says less of a text than whoever knows its topic knows."""
    naming = None if not column else Naming(0.03, 0.003, 300, told=True, topics=column, even=column)
    own = OwnTexts(300, 0, 0, naming=naming, untold=Naming(0.03, 0.003, 300, told=False))
    assert ("rows add to that was not computed" not in (own.no_evidence(0.05, topics=4) or "")) is told
    assert own.no_evidence(0.05, topics=0) is None
    if (why := own.no_evidence(0.05, topics=4)) is not None:
        found = {
            "verdict": f"NO EVIDENCE: {why}",
            "measurements": {"on_authors": "NO EVIDENCE"},
            "evidence": "proven",
        }
        assert account.verdict_said(found).startswith(
            "what the rows add for readers who know what these documents"
        )
    for of_reference, enough in ((2, False), (3, True)):
        guess = Naming(0.03, 0.003, 300, told=True, topics=of_reference, guessed=True, even=of_reference)
        found = replace(own, otherwise=(guess,)).no_evidence(0.05, topics=4)
        assert (found is None) is (told or enough)


@pytest.mark.parametrize(
    ("column", "even", "taken", "told"),
    [
        (10, 4.7, TakenFor(9, 4.9, 9.8), True),  # ten wards of which one has most texts are ten all the same
        (10, 1.3, TakenFor(9, 4.9, 9.8), False),
        (10, 4.7, None, False),
        (2, 2.0, TakenFor(2, 2.0, 9.8), True),  # a month's texts to two of ten wards
        (1, 1.0, TakenFor(2, 2.0, 9.8), False),
        (2, 2.0, TakenFor(4, 3.9, 9.8), False),
        (2, 2.0, TakenFor(2, 2.0, 1.3), False),  # most of its public texts have one label: it tells nothing
    ],
)
def test_a_column_need_not_tell_topics_that_the_texts_do_not_have(column, even, taken, told):
    named = Naming(0.03, 0.003, 300, told=True, topics=column, even=even)
    guess = () if taken is None else (replace(named, topics=10, even=taken.even, guessed=True),)
    untold = Naming(0.03, 0.003, 300, told=False)
    own = OwnTexts(300, 0, 0, naming=named, untold=untold, otherwise=guess, taken=taken)
    assert (own.no_evidence(1.0, topics=10) is None) is told
    assert guess == () or replace(own, naming=guess[0], otherwise=()).no_evidence(1.0, topics=10) is not None


@pytest.mark.parametrize(("column", "told"), [("topic", True), ("desk", False)])
def test_what_texts_are_about_is_compared_with_what_the_reference_finds(tmp_path, plan, column, told):
    """Of two of its three topics, one four times as common, and one row of the third, which is none."""
    of = {topic: [row for row in rows(240) if row["topic"] == topic] for topic in TOPICS}
    texts = [
        row for topic, count in zip(sorted(TOPICS), (48, 12, 1), strict=True) for row in of[topic][:count]
    ]
    texts = [row | {"desk": "all", "author": f"a{n % 20}"} for n, row in enumerate(texts)]
    corpus = corpus_of(store(tmp_path / "t.jsonl", texts), keep=["topic", "desk", "author"])
    own = replace(examine(corpus, plan, column, "author"), fit_none=0, hardly_known=0)
    assert own.taken == TakenFor(2, pytest.approx(1.8, abs=0.1), pytest.approx(3, abs=0.2))
    assert ("rows add to that was not computed" not in (own.no_evidence(1.0, topics=4) or "")) is told
    assert examine(corpus, plan, None, "author").taken is None


def test_what_attackers_were_told_is_said_where_some_were_told():
    """Before a release of texts whose verdict no topic had a part in, and where none was looked at."""
    own = OwnTexts(300, 0, 0, untold=Naming(0.03, 0.003, 300, told=False))
    assert not [each for each in own.warnings() if "attackers on public texts were told" in each]
    assert [
        each
        for each in own.warnings(topics=4)
        if "or the topics that were named have fewer than 5 authors each" in each
    ]
    few = replace(own, naming=Naming(0.03, 0.003, 300, told=True, topics=3, even=1.3))
    assert "by 3 topics, worth as much as 1.3 equally common ones" in few.no_evidence(topics=10)


def test_a_column_that_says_nearly_always_the_same_tells_less(tmp_path, plan):
    """What a column tells is not how many values it has, nor need these be as common as elsewhere."""
    for counts, told in (((54, 3, 3), False), ((20, 20, 20), True), ((45, 9, 6), True)):
        values = [value for value, count in zip("abc", counts, strict=True) for _ in range(count)]
        texts = [
            {**row, "topic": value, "author": f"{value}{n}"}
            for n, (row, value) in enumerate(zip(rows(60), values, strict=True))
        ]
        corpus = corpus_of(store(tmp_path / f"{counts[0]}.jsonl", texts), keep=["topic", "author"])
        own = replace(examine(corpus, plan, "topic", "author"), fit_none=0, hardly_known=0, otherwise=())
        assert ("rows add to that was not computed" not in (own.no_evidence(1.0, topics=3) or "")) is told


@pytest.mark.parametrize("every", [1, 2, 3])
def test_who_is_named_in_some_rows_is_looked_at_by_these(every):
    """Rows that name nobody are as of one author each, which is milder; those that are named tell of their authors."""
    holder, authors = own_texts._Holder(), Counter()
    for at in range(240):
        author = f"a{at % 40}" if at // 40 % every == 0 else None
        authors[author] += 1
        holder.add(None, (), author, np.eye(20)[at % 20])
    ways = holder.ways(authors, told=False)
    assert max(each.added for each in ways) >= 0.8 * (0.5 - 1 / 40)
    assert len(ways) == 1 + (every > 1)
    assert all(each.authors for each in ways) is (every < 3)


@pytest.mark.parametrize("column", ["blank", "space", "alone", "few", "some", "all"])
def test_what_a_column_of_topics_does_not_tell_the_reference_does(tmp_path, plan, monkeypatch, column):
    """Whoever holds a text knows what it is about, whatever stands in a column of it."""
    monkeypatch.setattr(Prototype, "shows_topics", False)
    told = {"blank": "", "space": " ", "alone": "t{0}", "few": "t{1}", "all": "t"}
    texts = [
        row
        | ({} if column == "some" and n % 20 else {"topic": told.get(column, row["topic"]).format(n, n // 3)})
        for n, row in enumerate(rows(60))
    ]
    corpus = replace(corpus_of(store(tmp_path / "t.jsonl", texts)), beside=("topic", "author"))
    bare = examine(corpus, plan, author_field="author").naming
    found = examine(corpus, plan, "topic", "author")
    assert bare in {found.naming, *found.otherwise}
    assert found.naming.added >= bare.added > 0
    assert found.no_evidence(bare.added - 0.001) is not None
    assert OwnTexts.read(store_record(tmp_path, found)) == found


def test_what_the_rows_tell_is_told_by_all_that_stands_in_them(tmp_path, plan):
    """Five offices of twelve authors each tell little alone; with the topic that readers know they may tell all."""
    texts = [row | {"author": f"a{n}", "office": f"o{n % 5}"} for n, row in enumerate(rows(60))]
    texts += [row | {"id": f"{row['id']} again"} for row in texts]
    corpus = corpus_of(store(tmp_path / "t.jsonl", texts), keep=["topic", "author", "office"])
    own = examine(corpus, plan, topic_field="topic", author_field="author", kept=["office"])
    law = plan.mechanism.law(own_texts._places([row["text"] for row in texts], plan, None)[0])
    for found, fields in ((own.naming, ("topic", "office")), (own.untold, ("office",))):
        groups = {tuple(row[name] for name in fields) for row in texts}
        named = 0.0
        for group in groups:
            places = [at for at, row in enumerate(texts) if tuple(row[name] for name in fields) == group]
            named += exact_success(law[places], [texts[at]["author"] for at in places]).sum()
        assert found.named == pytest.approx(named / 120)
        bare = examine(corpus, plan, topic_field="topic", author_field="author")
        assert found.named > 1.5 * (bare.naming if found.told else bare.untold).named
    alone = replace(
        own, telling=()
    )  # a topic that readers know is none of what is looked at with a kept column
    assert alone.no_evidence(own.naming.named - own.naming.without - 0.01) is not None
    assert alone.no_evidence(1.0) is None


def test_what_rows_tell_of_authors_beyond_what_a_verdict_asks_stands_beside_it(plan):
    """Where one author has most of a topic its label names them, on purpose: no verdict says so."""
    own = OwnTexts(
        60, 0, 0, naming=Naming(0.873, 0.869, 60, told=True), untold=Naming(0.869, 0.073, 60, told=False),
        authors=AuthorCounts(10, 0, 6, 6, 1.0, 5.0),
    )  # fmt: skip
    said = "is told no topic names the author of 86.9 % of them from one row, and of 7.3 %"
    assert own.no_evidence(0.05) is None
    assert [said in each for each in own.warnings()] == [True]
    assert said in account._own_naming({"own": own.record()})
    several = Naming(0.022, 0.002, 60, told=False, apart=True)
    apart = replace(own, naming=None, untold=several, otherwise=(own.naming, own.untold))
    lines = " ".join(account.own_sentences(apart.record()))
    assert lines.index(said) < lines.index("of 2.2 % of them from one row")
    assert "counts as of an author of its own." in lines
    assert said in " ".join(apart.warnings())
    assert said in account._own_naming({"own": apart.record()})
    less = replace(own, untold=Naming(0.12, 0.07, 60, told=False))
    assert not [*less.warnings()]
    assert not account._own_naming({"own": less.record()})
    assert not account._own_naming({"own": None})
    counted = AuthorCounts(10, 0, 6, 6, 1.0, 5.0)
    for found, which in (
        (replace(own, authors=counted), None),
        (replace(own, authors=replace(counted, unnamed=3)), None),
        (replace(own, authors=replace(counted, unnamed=4)), "4 of your own texts"),
        (
            replace(own, authors=None, untold=Naming(0.05, 0.02, 60, told=False, authors=False)),
            "your own texts",
        ),
    ):
        said = unsigned_sentence(60 if found.authors is None else found.authors.unnamed, 60)
        assert said == found.unsigned
        assert (said is None) is (which is None)
        assert which is None or which in said
        for told in (account._own_naming({"own": found.record()}), " ".join(found.warnings())):
            assert ("Nobody said who wrote" in told) is (which is not None)
        attacked = account._attacked({"measurements": None, "own": found.record()})
        assert ("Nobody said who wrote" in attacked) is (which is not None)


def test_of_many_texts_those_are_looked_at_that_stand_anywhere(monkeypatch):
    """The first thousands of a file that is sorted may all be one author's."""
    monkeypatch.setattr(own_texts, "_MOST_NUMBERS", 11 * 400)
    monkeypatch.setattr(own_texts, "_MANY", 40)
    monkeypatch.setattr(own_texts, "_BESIDE", 0)
    holder = own_texts._Holder()
    for place in range(2_000):
        desk = place < 1_000
        outcome = 0 if desk else 1 + place % 10
        holder.add("all", (), "desk" if desk else f"a{place % 10}", np.eye(11)[outcome])
    found = holder.naming(told=True)
    assert 100 < found.texts <= 400
    assert found.named == pytest.approx(1.0)
    assert 0.2 < found.without < 0.8  # six deviations of chance


def test_of_many_texts_topics_are_looked_at_whole_and_counted_over_all(monkeypatch):
    """Of a topic with five texts a part tells nothing: each of three topics of five has another outcome."""

    def named(numbers):
        monkeypatch.setattr(own_texts, "_MOST_NUMBERS", numbers)
        monkeypatch.setattr(own_texts, "_BESIDE", 0)
        holder = own_texts._Holder()
        for place in range(6_000):
            topic, author = divmod(place, 5)
            holder.add(f"topic {topic}", (), f"a{place}", np.eye(5)[author if topic % 3 else 0])
        return holder.naming(told=True), holder.naming(told=False)

    (whole, untold), (part, apart) = named(10**9), named(5 * 2_000)
    assert whole.texts == 6_000
    assert whole.named == pytest.approx((2 * 1 + 0.2) / 3)
    assert whole.without == pytest.approx(0.2)
    assert 500 < part.texts < 2_000
    assert part.texts % 5 == 0
    assert abs(part.named - whole.named) < 0.25  # of 100 topics and more: six deviations
    assert part.without == pytest.approx(0.2)
    assert untold.texts == 6_000
    assert apart.named >= untold.named, "on the safe side"


def test_of_texts_that_are_drawn_each_kind_stands_for_all_of_its_own(monkeypatch):
    """Two topics of many texts, one of which names its authors, and texts without topic that name nobody."""
    monkeypatch.setattr(own_texts, "_MOST_NUMBERS", 6 * 2_000)
    monkeypatch.setattr(own_texts, "_MANY", 200)
    monkeypatch.setattr(own_texts, "_BESIDE", 0)
    holder = own_texts._Holder()
    for place in range(9_000):
        topic, author = ("tells", "not", None)[place % 3], place // 3 % 6
        holder.add(topic, (), f"a{author}", np.eye(6)[author if topic == "tells" else 0])
    found = holder.naming(told=True)
    assert found.texts <= 2_000
    assert abs(found.named - (1 + 2 / 6) / 3) < 0.1  # of 330 texts each and more: six deviations
    assert abs(found.without - 1 / 6) < 0.1


@pytest.mark.parametrize("known", [True, False])
def test_above_a_fifth_the_verdict_is_no_evidence(tmp_path, plan, known):
    corpus = corpus_of(store(tmp_path / "t.jsonl", rows(60, german=60)))
    protect_corpus(corpus, plan, tmp_path / "out")
    own = examine(corpus, plan)
    assert own.unfit == pytest.approx(0.5, abs=0.1)
    found = evidence(
        tmp_path / "out", Sources(measured=measured("PASS: nobody was named"), own=own if known else None)
    )
    assert found["verdict"].startswith("NO EVIDENCE")
    fits = corpus_of(store(tmp_path / "f.jsonl", rows(120)))
    protect_corpus(fits, plan, tmp_path / "fits")
    passed = Sources(measured=measured("PASS: nobody was named"))
    assert evidence(tmp_path / "fits", passed)["verdict"].startswith("PASS")
    failed = evidence(tmp_path / "out", Sources(measured=measured("FAIL: named"), own=own))
    assert failed["verdict"].startswith("FAIL")


ENGLISH = """the court and the lawyer were there in the morning when the judge came to the window and he said that
it was not the letter which they had written to the witness of the castle for the paper in the street""".split()
FRENCH = """le patient avait longtemps attendu devant la porte des maisons voisines avant que les gens ne soient venus
dans la rue pour parler avec eux""".split()
LOANED = "le la les des dans pour que avec ne".split()


@pytest.mark.parametrize(("texts", "foreign"), [(FRENCH, True), (ENGLISH + GERMAN, False)])
def test_a_related_language_shares_words_and_is_foreign_all_the_same(tmp_path, texts, foreign):
    """400 French pages had three known words of ten among English ones: PASS, and every one got some topic."""
    pytest.importorskip("py3langid")
    rng = seeded_rng(3)
    public = [
        (rng.permutation([*ENGLISH, *words, LOANED[place % 9], LOANED[place % 7]]).tolist(), topic)
        for place, (words, topic) in enumerate(public_documents(90))
    ]
    reference = fit_reference(public, name="english", settings=LearningSettings(features="log-odds"))
    made = Plan.of(ReleaseSettings(), Prototype(reference, bound=5.0))
    assert language_of_words(made.vocabulary) == "en"
    lines = [{"id": f"r{n}", "text": " ".join(texts)} for n in range(30)]
    found = examine(corpus_of(store(tmp_path / "t.jsonl", lines)), made)
    known = [word in reference.vocabulary for word in texts]
    assert sum(known) / len(known) > 0.2, "else hardly a word is known, whatever the language"
    assert found.hardly_known + (found.fit_none or 0) == (30 if foreign else 0)
    assert (found.no_evidence() is not None) is foreign


def test_the_rows_count_beside_what_was_found_in_the_texts(tmp_path, plan):
    """What is said of the texts may be of others: rows that fit nothing leave no PASS all the same."""
    protect_corpus(corpus_of(store(tmp_path / "t.jsonl", rows(60, german=60))), plan, tmp_path / "out")
    fine = OwnTexts(120, 0, 0)
    found = evidence(tmp_path / "out", Sources(measured=measured("PASS: nobody was named"), own=fine))
    assert found["verdict"].startswith("NO EVIDENCE: by the labels of the rows")


def test_noise_alone_says_of_no_texts_that_they_fit_nothing(tmp_path):
    """At a small bound every label comes out often: six of a hundred such pages said NO EVIDENCE for it."""
    plan = Plan.of(ReleaseSettings(), Prototype(fitted(), bound=1.0))
    protect_corpus(corpus_of(store(tmp_path / "t.jsonl", rows(60))), plan, tmp_path / "out")
    manifest = read_manifest_of(tmp_path / "out")
    rng, size = seeded_rng(6), len(plan.mechanism.outcomes)
    most = 1 / (math.e + size - 1)
    said = [
        read_me.unfit_share(manifest, {NONE_OF_THESE: int(found), "others": 150 - int(found)})
        for found in rng.binomial(150, most, 400)
    ]
    assert max(said) <= own_texts.TOO_MANY
    fits = read_me.unfit_share(manifest, {NONE_OF_THESE: 75, "others": 75})
    assert fits > own_texts.TOO_MANY, "what is beyond noise counts"


def test_what_was_found_in_other_texts_is_refused(tmp_path, plan):
    """It turned NO EVIDENCE into PASS, and stated the bound of another release."""
    protect_corpus(corpus_of(store(tmp_path / "t.jsonl", rows(60))), plan, tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    known = replace(OwnTexts(60, 0, 0), release=file_digest(manifest))
    signing = ("signoff", tmp_path / "out", "--json", "--own", tmp_path / "own.json")
    for own, wanted in ((known, 0), (replace(known, release="0" * 64), 2), (replace(known, release=None), 2),
                        (replace(known, documents=59), 2)):  # fmt: skip
        (tmp_path / "own.json").write_text(json.dumps(own.record()))
        code, _, said = command(*signing)
        assert code == wanted, said
        assert ("of another release, or of fewer texts" in said) == (wanted == 2)


def test_how_many_documents_an_author_has_is_said_or_that_nobody_counted(monkeypatch, capsys):
    """What start says of authors: with a column, with several documents, and without a column."""
    from types import SimpleNamespace

    from publius.cli.start.protection import tell_authors
    from publius.releases.own_texts import AuthorCounts

    def said(counts, declared=None):
        own = OwnTexts(40, 0, 0, authors=counts)
        walk = SimpleNamespace(choices=SimpleNamespace(documents_per_author=declared))
        tell_authors(SimpleNamespace(own=lambda: own, walk=walk))
        return " ".join(capsys.readouterr().out.split())

    assert "an author of five documents can lose five times as much" in said(None)
    nobody = said(AuthorCounts(12, 9, 9, 2, 0.7, 7.0))
    assert (
        "9 documents name no author. Those may be by one, who then has 9: together they are within 63 nats"
        in nobody
    )
    several = said(AuthorCounts(12, 0, 9, 2, 0.7, 7.0))
    assert "One author has 9: together they are within 63 nats" in several
    assert "--documents-per-author 9" in several
    assert "--documents-per-author" not in said(AuthorCounts(12, 0, 9, 2, 0.7, 7.0), declared=9)
    assert "--documents-per-author" not in said(AuthorCounts(12, 0, 9, 2, 0.7, None))


def test_a_kept_column_whose_values_few_authors_share_leaves_no_verdict(tmp_path, plan):
    """Its values stand in the rows as they are, and no attack on public texts was given them."""
    dated = [
        {**row, "day": f"2026-01-{n % 6:02}", "time": str(n), "half": str(n % 2)}
        for n, row in enumerate(rows(90))
    ]
    corpus = corpus_of(store(tmp_path / "t.jsonl", dated), keep=("author", "day", "time", "half"))
    assert examine(corpus, plan, author_field="author", kept=["half"]).no_evidence() is None
    assert examine(corpus, plan, author_field="author", kept=["day"]).no_evidence() is None
    assert examine(corpus, plan, kept=["time"]).telling == ("time",)
    both = examine(corpus, plan, author_field="author", kept=["half", "day", "time"])
    assert (
        "values of what was kept (half, day, time), or these with what stands beside them in more than 5%"
        in both.no_evidence()
    )
    assert "2026-01" not in both.no_evidence()
    assert OwnTexts.read(store_record(tmp_path, both)).no_evidence() == both.no_evidence()
    one = [{**row, "place": "x" if row["author"] == "a3" else "y"} for row in dated]
    corpus = corpus_of(store(tmp_path / "one.jsonl", one * 4), keep=("author", "place"))
    assert examine(corpus, plan, author_field="author", kept=["place"]).telling == ("place",)


def test_kept_columns_may_tell_of_as_many_rows_as_a_release_may_name_authors():
    assert own_texts.FEW_ROWS == ADDS


def test_a_kept_column_is_looked_at_with_what_stands_beside_it(tmp_path, plan, embeddings):
    """Six authors share a place, and two of them a topic there; words say more than a label."""
    seen, crossed = Counter(), []
    for row in rows(90):
        seen[row["topic"]] += 1
        number = seen[row["topic"]] % 4
        crossed.append({**row, "author": row["topic"] + "abcd"[number], "place": "xy"[number // 2]})
    corpus = corpus_of(store(tmp_path / "t.jsonl", crossed), keep=("author", "place"))
    sharing = {}
    for row in crossed:
        sharing.setdefault(row["place"], set()).add(row["author"])
    assert min(map(len, sharing.values())) == 6
    assert examine(corpus, plan, author_field="author", kept=["place"]).telling == ("place",)
    shared = [
        {**row, "place": "one", "author": row["author"] + "efg"[n // 12 % 3]} for n, row in enumerate(crossed)
    ]
    corpus = corpus_of(store(tmp_path / "one.jsonl", shared), keep=("author", "place"))
    assert examine(corpus, plan, author_field="author", kept=["place"]).telling == ()
    words = Plan.of(
        ReleaseSettings(epsilon=5.0, length=4), Laplace(embeddings, epsilon=5.0), labels=["place"]
    )
    assert examine(corpus, words, author_field="author", kept=["place"]).telling == ("place",)


def test_a_kept_column_that_names_more_authors_beside_a_label_leaves_no_verdict(tmp_path, plan):
    """Five write as much on a topic in each place: named there one in five, by the topic alone one in fifteen."""
    seen, crossed, anywhere = Counter(), [], []
    for row in rows(540):
        turn, place = divmod(seen[row["topic"]], 3)
        seen[row["topic"]] += 1
        writer = row["topic"] + "abcde"[turn % 5]
        crossed.append({**row, "author": writer + "xyz"[place], "place": "xyz"[place]})
        anywhere.append({**row, "author": writer + "xyz"[turn % 3], "place": "xyz"[place]})
    corpus = corpus_of(store(tmp_path / "t.jsonl", crossed), keep=("author", "place"))
    assert examine(corpus, plan, author_field="author", kept=["place"]).telling == ("place",)
    corpus = corpus_of(store(tmp_path / "anywhere.jsonl", anywhere), keep=("author", "place"))
    assert examine(corpus, plan, author_field="author", kept=["place"]).telling == ()


def test_a_kept_column_is_not_told_of_who_wrote_much_in_all_places(tmp_path, plan):
    """Of 72 rows of each place: as many here as there, a few more, or plainly more."""
    for here, there, telling in ((36, 36, ()), (30, 42, ()), (10, 50, ("place",))):
        found = [{**row, "place": "xy"[n % 2], "author": f"w{n // 2 % 7}"} for n, row in enumerate(rows(144))]
        for row in (*found[0 : 2 * here : 2], *found[1 : 2 * there : 2]):
            row["author"] = "busy"
        corpus = corpus_of(store(tmp_path / "t.jsonl", found), keep=("author", "place"))
        assert examine(corpus, plan, author_field="author", kept=["place"]).telling == telling


def test_a_kept_column_is_told_of_behind_a_name_that_many_rows_have(tmp_path, plan):
    """Of 240 rows 30 % say "Name withheld"; each place is that of two of the others, who are told by it."""
    found = []
    for n, row in enumerate(rows(240)):
        writer = "Name withheld" if n % 10 < 3 else f"w{n % 8}"
        found.append({**row, "place": f"p{n % 4}", "author": writer})
    corpus = corpus_of(store(tmp_path / "t.jsonl", found), keep=("author", "place"))
    assert examine(corpus, plan, author_field="author", kept=["place"]).telling == ("place",)


def test_a_look_against_a_release_reads_a_folder_as_its_release_did(tmp_path, plan, home):
    """The command that start prints is a look at the same rows, or nobody could sign for what it finds."""
    fitted().save(home / "references" / "toy")
    folder, outside = tmp_path / "own", tmp_path / "outside.txt"
    (folder / "more").mkdir(parents=True)
    outside.write_text("le colis est arriv\xe9", encoding="iso-8859-1")
    for number, row in enumerate(rows(6)):
        path = folder / "more" if number % 2 else folder
        (path / f"t{number}.txt").write_text(row["text"])
    (folder / "more" / "link.txt").symlink_to(outside)
    choices = Choices(
        preserve="topic", bound=7.0, without_evidence=True, subfolders=True, follow_links=True, reading_seconds=9.0,
        encoding="iso-8859-1", accept_loss=True,
    )  # fmt: skip
    walk = Walk(folder, looked_at(folder, choices), None, choices)
    protect_corpus(walk.corpus, plan, tmp_path / "out" / "release")
    steps = commands_by_step(walk, tmp_path / "out")
    asked = ["--subfolders", "--follow-links", "--reading-seconds", "9", "--encoding", "iso-8859-1"]
    for step in ("release", "own"):
        at = steps[step].index("--subfolders")
        assert steps[step][at : at + len(asked)] == asked
    assert "--accept-loss" in steps["release"]
    code, _, said = command(*steps["own"])
    assert code == 0, said
    manifest = tmp_path / "out" / "release" / "manifest.json"
    found = OwnTexts.read(steps["own"][-1])
    assert found.documents == 7
    found.check_release(json.loads(manifest.read_text()), file_digest(manifest))


SPELLINGS = ["Zoe Smith", "Smith, Zoe", "ZOE SMITH", "Zoe  Smith", "Zoë Smith", "zoe smith <z@x.org>"]


@pytest.mark.parametrize(
    ("names", "unnamed", "most"),
    [([None] * 6, 6, 6), (["", "unknown", "N/A", None, "nobody knows", "-"], 5, 5), (SPELLINGS, 0, 6),
     (["R-1", "R-2", "R-3", "1-12", "11-2", "12"], 0, 1), (["C-12", "c12", "C 012", "C/12", "C.12", " c-0012"], 0, 6),
     (["00123", "123", "0123", 123, "123.", "#123"], 0, 6)],
    ids=["null", "words for nobody", "spellings", "identifiers", "one identifier", "a spreadsheet's zeros"],
)  # fmt: skip
def test_the_most_that_may_be_of_one_author_is_found(tmp_path, plan, names, unnamed, most):
    """Many must not look like few: who is not named may be one, and a name that is written in six ways is one."""
    given = [{**row, "author": name} for row, name in zip(rows(6), names, strict=True)]
    corpus = replace(corpus_of(store(tmp_path / "t.jsonl", given)), beside=("author",))
    found = examine(corpus, plan, author_field="author").authors
    assert (found.unnamed, found.most) == (unnamed, most)
    told = {
        "unit": "document",
        "bound": 2.0,
        "own": {"authors": asdict(found)},
        "crowd": None,
        "measurements": None,
    }
    who_loses, _ = account.worst_author(told)
    assert ("name no author" in who_loses) == (unnamed == most > 1)
    check_documents_per_author(names, most)
    if most > 1:
        with pytest.raises(
            DataError, match="name no author, and may all be by one" if unnamed else "1 of 1 authors has"
        ):
            check_documents_per_author(names, most - 1)


def test_rows_that_name_nobody_may_be_one_authors(tmp_path, plan):
    """Few must not look like many: six rows without an author share a value no more than one author does.

    One beside four that are named may be one of theirs.
    """
    for names in ([None] * 6, ["a", "b", "c", "d", None, "a"]):
        found = [{**row, "place": "alone" if n < 6 else "here"} for n, row in enumerate(rows(90))]
        for row, name in zip(found, names, strict=False):
            row["author"] = name
        corpus = replace(corpus_of(store(tmp_path / "t.jsonl", found), keep=["place"]), beside=("author",))
        assert examine(corpus, plan, author_field="author", kept=["place"]).telling == ("place",)
    assert "who wrote the texts is not known" in examine(corpus, plan, kept=["place"]).no_evidence()


@pytest.mark.parametrize(
    "names",
    [
        ("Zoe Smith", "Smith, Zoe", "ZOE SMITH", "Zoe  Smith", "Zo\u00eb Smith", "zoe smith <z@x.org>"),
        ("x", "unknown", "N/A", "Anonymous", "nobody", "-"),
    ],
    ids=["one, written in six ways", "nobody"],
)
def test_one_author_however_written_is_not_many(tmp_path, plan, names):
    found = [{**row, "place": "alone" if n < 6 else "here"} for n, row in enumerate(rows(90))]
    for number, name in enumerate(names):
        found[number]["author"] = name
    corpus = replace(corpus_of(store(tmp_path / "t.jsonl", found), keep=["place"]), beside=("author",))
    assert examine(corpus, plan, author_field="author", kept=["place"]).telling == ("place",)


def test_kept_columns_that_nobody_looked_at_leave_no_verdict(tmp_path):
    kept = Plan.of(ReleaseSettings(), Prototype(fitted(), bound=5.0), labels=("half",))
    halves = [{**row, "half": str(n % 2)} for n, row in enumerate(rows(120))]
    corpus = corpus_of(store(tmp_path / "t.jsonl", halves), keep=("half",))
    protect_corpus(corpus, kept, tmp_path / "out")
    passed = measured("PASS: nobody was named")
    unseen = evidence(tmp_path / "out", Sources(measured=passed))["verdict"]
    assert unseen.startswith("NO EVIDENCE: the kept columns (half) stand in the rows")
    looked = examine(replace(corpus, beside=("author",)), kept, author_field="author", kept=kept.labels)
    assert evidence(tmp_path / "out", Sources(measured=passed, own=looked))["verdict"].startswith("PASS")
    nobody = examine(corpus, kept, kept=kept.labels)
    found = evidence(tmp_path / "out", Sources(measured=passed, own=nobody))
    assert found["verdict"].startswith("NO EVIDENCE: who wrote the texts is not known")
    told = replace(looked, telling=("half",))
    page = sign_off(tmp_path / "out", Sources(measured=passed, own=told)).decode()
    assert "columns that were kept, ids or their order, may say who wrote them" in page
    for own in (None, looked, told):
        write_receivers(tmp_path / "out", Sources(measured=passed, own=own))
        page = (tmp_path / "out" / "receivers.html").read_text()
        assert "is judged on the curator's page" in " ".join(page.split())
        assert not any(said in page for said in ("undecided", "not looked at", "NO EVIDENCE", "PASS"))
    found = evidence(tmp_path / "out", Sources(measured=passed, own=told))
    assert found["verdict"].startswith("NO EVIDENCE: values of what was kept")


def test_ids_and_an_order_of_their_own_leave_no_verdict(tmp_path, plan):
    """What an id tells cannot be looked up, and rows that stand as they were read may stand author by author."""
    path = store(tmp_path / "t.jsonl", [{**row, "id": f"case {n}"} for n, row in enumerate(rows(120))])
    passed = Sources(measured=measured("PASS: nobody was named"))
    protect_corpus(corpus_of(path), plan, tmp_path / "numbered")
    assert evidence(tmp_path / "numbered", passed)["verdict"].startswith("PASS")
    corpus = corpus_of(path, number=False)
    protect_corpus(corpus, plan, tmp_path / "out")
    looked = examine(replace(corpus, beside=("author",)), plan, author_field="author")
    assert (looked.placed, looked.telling) == (True, ())
    for sources in (passed, replace(passed, own=looked), replace(passed, own=replace(looked, placed=False))):
        found = evidence(tmp_path / "out", sources)["verdict"]
        assert found.startswith("NO EVIDENCE: the rows have ids of their own, or stand in the order")
    manifest = read_manifest_of(tmp_path / "numbered")
    read = judged(passed.measured, {**manifest, "numbers": AS_READ}, tmp_path / "numbered", None)
    assert read.verdict.startswith("NO EVIDENCE: the rows have ids of their own, or stand in the order")


def test_shares_of_labels_are_stated_of_the_law_that_they_are_computed_for(plan):
    """Of a class of somebody's own nobody knows the law: it may keep labels less often than its bound allows."""
    manifest, counts = plan.manifest(90), {"court": 60, "garden": 20, "music": 10}
    assert any("court" in line for line in read_me._labels(manifest, counts))
    assert read_me.unfit_share(manifest, counts) is not None
    other = {**manifest, "mechanism_source": {}}
    assert [*read_me._labels(other, counts)] == []
    assert read_me.unfit_share(other, counts) is None


ODD = [
    "Smith,\nJohn",
    "x" * 300,
    "\ud800",
    ["anna"],
    "anna, bert",
    17.0,
    float("nan"),
    None,
    True,
    "\ufdfa" * 200,
]


def test_every_row_that_is_released_is_looked_at_whatever_its_author_or_topic_is_called(tmp_path, plan):
    """A name that can be no label is an author's all the same; else others alone are looked at."""
    found = [{**row, "place": "here"} for row in rows(60)]
    for number, odd in enumerate(ODD):
        found[number] |= {"author": odd, "topic": odd, "place": f"only here, {number // 2}"}
    found[20]["author"] = "anna"
    path = store(tmp_path / "t.jsonl", found)
    beside = examine(
        replace(corpus_of(path, keep=["place"]), beside=("topic", "author")),
        plan,
        "topic",
        "author",
        ["place"],
    )
    assert beside.documents == len([*corpus_of(path, keep=["place"])]) == 60
    assert beside.telling == ("place",)
    assert beside.authors is not None
    assert beside.authors.unnamed == 2  # not a number, and null
    clean = examine(replace(corpus_of(path), beside=("author",)), plan, author_field="author")
    assert clean.authors == beside.authors
    assert beside.authors.authors == len({f"a{n // 3}" for n in range(10, 60)}) + 8
    assert "\n" not in str(beside)


def test_the_sign_off_of_a_walk_takes_what_was_looked_at_of_every_row(tmp_path, home):
    """`Walk.sign` asks as ``signoff --own`` does: rows that came after the look would have no word on the page."""
    from publius.documents.inspection import inspect
    from publius.evaluation.steps.walk import Walk
    from publius.settings import StartSettings

    fitted("letters").save(home / "references" / "letters")
    path = store(tmp_path / "t.jsonl", rows(30))
    choices = StartSettings(preserve="topic", bound=5.0, reference="letters", without_evidence=True)
    walk = Walk(path, inspect(path), None, choices)
    own = walk.examine(walk.plan())
    store(path, rows(31))
    walk = Walk(path, inspect(path), None, choices)  # the walk of before refuses the file that was changed
    walk.release(tmp_path, walk.plan(), lambda count: None)
    with pytest.raises(UsageError, match="of fewer texts than it has rows"):
        walk.sign(tmp_path, own=own)
    assert not (tmp_path / "signoff.html").exists()
    walk.sign(tmp_path, own=walk.examine(walk.plan()))
    assert (tmp_path / "signoff.html").exists()


def test_whoever_releases_a_walk_counts_the_documents_of_its_authors(tmp_path, home):
    from publius.documents.inspection import inspect
    from publius.evaluation.steps.walk import Walk
    from publius.settings import StartSettings

    fitted("letters").save(home / "references" / "letters")
    path = store(tmp_path / "t.jsonl", [{**row, "author": "one\nperson"} for row in rows(30)])
    choices = StartSettings(
        preserve="topic", bound=5.0, reference="letters", without_evidence=True, documents_per_author=29
    )
    walk = Walk(path, inspect(path), None, choices)
    with pytest.raises(DataError, match="1 of 1 authors has more than 29 documents"):
        walk.release(tmp_path, walk.plan(), lambda count: None)
    assert not (tmp_path / "release").exists()
    walk = replace(walk, choices=replace(choices, documents_per_author=30))
    assert walk.release(tmp_path, walk.plan(), lambda count: None).manifest["documents"] == 30


def store_record(folder, own):
    path = folder / "own.json"
    path.write_text(json.dumps(own.record()), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["alice", ""])
def test_rows_that_name_nobody_may_all_be_the_busiest_authors(name):
    """Who often leaves the field empty has no value that is nearly hers alone."""
    value = Counter({"alice": 45, "b": 1, "c": 1, "d": 1, "e": 1})
    value[name] += 45
    whole = value + Counter({f"w{n}": 10 for n in range(200)})
    assert own_texts._far_above(value, whole) > 0.05 * value.total()
    half = Counter({"": 60, **{f"w{n}": 4 for n in range(10)}})
    assert own_texts._far_above(half, half + half) == 0
