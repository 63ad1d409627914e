"""Releases whose promise is about whole documents: every way out, every size of document, both constants stated."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from publius.documents.corpus import Document, open_corpus
from publius.errors import DataError, PolicyError, UsageError
from publius.files.reading import files_sha256
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.mechanisms.registry import make_document_mechanism
from publius.noise.randomness import RunKey
from publius.privacy.ledger import Ledger
from publius.releases.document_outcomes import outcomes_of
from publius.releases.engines import protect_corpus
from publius.releases.layout import Layout
from publius.releases.plan import Plan
from publius.releases.protect import protect, release
from publius.releases.tables import protect_table
from publius.settings import ReleaseSettings
from publius.text.bag import Bag, drawn_json, places_of_all
from publius.vectors.learning.aspects import LearningSettings as FitSettings
from publius.vectors.learning.fit_reference import fit_reference
from publius.vectors.learning.prototypes import NONE_OF_THESE
from publius.vectors.learning.reference import Reference

TOPICS = {
    "sea": "ship wave harbour sail storm anchor".split(),
    "farm": "cow field plough barn harvest hay".split(),
}
SHARED = "day night people work morning evening".split()


def public_texts(count=60):
    rng = np.random.Generator(np.random.PCG64(5))
    for number in range(count):
        topic = list(TOPICS)[number % 2]
        yield [*rng.choice(TOPICS[topic], 12), *rng.choice(SHARED, 8)], topic


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    made = fit_reference(list(public_texts()), name="tiny")
    folder = tmp_path_factory.mktemp("references") / "tiny"
    made.save(folder)
    return str(folder)


def plan_of(reference, **choices):
    return Plan.of(ReleaseSettings(**{"preserve": "topic", "reference": reference, "bound": 5.0, **choices}))


TEXTS = ["ship", "cow hay " * 500_000, "zzzz qqqq", "", "the of and", "Ship, storm; field! sail"]


@pytest.mark.parametrize(
    "choices", [{}, {"gamma": 0.0}, {"unknown": "unk"}, {"mechanism": "position"}, {"first": 3}]
)
def test_a_document_of_any_size_becomes_a_bag_of_the_public_size(reference, choices):
    extra = {"parameters": {"gamma": choices.pop("gamma")}} if "gamma" in choices else {}
    plan = plan_of(reference, length=17, **choices, **extra)
    documents = [Document(f"d{k}", text, {}, k + 1) for k, text in enumerate(TEXTS)]
    results, tally = protect(documents, plan, RunKey.fresh())
    assert [found.id for found in results] == [each.id for each in documents]
    assert {found.bag.size for found in results} == {17}
    assert all(set(found.bag.counts) <= set(plan.vocabulary.vocabulary) for found in results)
    assert all((found.prototype is None) == (plan.mechanism.name == "position") for found in results)
    assert tally.documents == len(TEXTS)
    assert tally.padding == 0


def test_the_manifest_states_level_and_both_constants(reference):
    manifest = plan_of(reference).manifest(3)
    assert manifest["level"] == "document"
    assert manifest["preserve"] == "topic"
    assert manifest["bound"] == 5.0
    assert manifest["size"] == 40
    assert manifest["reference_sha256"] == Reference.load(reference).sha256
    assert manifest["epsilon"] > 0
    sharp = plan_of(reference, parameters={"gamma": 0.0}).manifest(3)
    assert sharp["epsilon"] is None
    words = Plan.of(ReleaseSettings(epsilon=1.0, length=4)).manifest(1)
    assert (words["level"], words["preserve"], words["bound"], words["reference"]) == (
        "word",
        "words",
        None,
        None,
    )


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "mtx"])
@pytest.mark.parametrize("resume", [False, True])
def test_every_format_says_the_prototype(reference, tmp_path, format, resume):
    rows = tmp_path / "in.jsonl"
    rows.write_text(
        "".join(json.dumps({"id": str(k), "text": text}) + "\n" for k, text in enumerate(TEXTS) if text)
    )
    protect_corpus(open_corpus(rows), plan_of(reference), tmp_path / "out", format=format, resume=resume)
    name = {"mtx": "documents.jsonl"}.get(format, f"bags.{format}")
    text = (tmp_path / "out" / name).read_bytes()
    assert b"prototype" in text
    assert b"label" in text
    if format == "jsonl":
        records = [json.loads(line) for line in text.splitlines()]
        assert {record["label"] for record in records} <= {*TOPICS, NONE_OF_THESE}
        assert {record["size"] for record in records} == {40}


def test_outcomes_are_the_law(reference):
    plan = plan_of(reference)
    text = " ".join(
        [*TOPICS["sea"], *SHARED[:4]]
    )  # as public texts are: of others "none of these" may come first
    found = outcomes_of(text, plan)
    assert sum(each["probability"] for each in found["outcomes"]) == pytest.approx(1, abs=1e-12)
    assert found["outcomes"][0]["label"] == "sea"
    assert found["bound"] == 5.0
    key, names = RunKey.fresh(), []
    for k in range(400):
        results, _ = protect([Document(str(k), text, {}, 1)], plan, key)
        names.append(results[0].label)
    assert abs(names.count("sea") / 400 - found["outcomes"][0]["probability"]) < 0.07
    with pytest.raises(UsageError, match="no prototypes"):
        outcomes_of("ship", plan_of(reference, mechanism="position"))


def test_a_ledger_of_bounds_is_charged_the_bound(reference, tmp_path):
    plan = plan_of(reference)
    ledger = Ledger.create(tmp_path / "l.db", budget=11, unit="bound")
    assert [float(charge.amount) for charge in plan.charges(ledger, [("a", None)])] == [5.0]
    words = Ledger.create(tmp_path / "w.db", budget=11)
    with pytest.raises(PolicyError, match="--unit bound"):
        plan.charges(words, [("a", None)])
    with pytest.raises(PolicyError, match="epsilon-n"):
        Plan.of(ReleaseSettings(epsilon=1.0, length=4)).charges(ledger, [("a", None)])


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"reference": None}, "needs a public reference"),
        ({"bound": None}, "bound"),
        ({"order": True}, "no order"),
        ({"embeddings": "glove"}, "belongs to --preserve words"),
        ({"length": "shortest"}, "belongs to --preserve words"),
        ({"mechanism": "laplace"}, "replaces words"),
        ({"unknown": "reject"}, "choose drop"),
        ({"preserve": "words"}, "belongs to --preserve topic or meaning"),
    ],
)
def test_what_does_not_go_together_is_refused(reference, choices, says):
    with pytest.raises(UsageError, match=says):
        plan_of(**{"reference": reference, **choices})


def test_a_release_pickles_with_its_prototype(reference):
    import pickle

    results, _ = protect([Document("a", "ship", {}, 1)], plan_of(reference), RunKey.fresh())
    again = pickle.loads(pickle.dumps(results[0]))
    assert (again.prototype, again.label, again.bag) == (
        results[0].prototype,
        results[0].label,
        results[0].bag,
    )
    assert isinstance(again.bag, Bag)


def test_one_document_and_a_table_are_released_by_a_mechanism_that_is_made(reference):
    pa = pytest.importorskip("pyarrow")
    mechanism = make_document_mechanism("prototype", Reference.load(reference), bound=5.0, length=9)
    for given in ("ship storm", "", Bag(["ship", "cow"]), Bag()):
        found = release(given, mechanism)
        assert (found.bag.size, found.guarantee.bound) == (9, 5.0)
        assert found.label in {*TOPICS, NONE_OF_THESE}
    table = protect_table({"id": ["a", "b"], "text": ["ship", "zzzz"]}, mechanism)
    assert table.schema.field("prototype").type == pa.int64()
    assert json.loads(table.schema.metadata[b"publius"])["level"] == "document"
    with pytest.raises(UsageError, match="leave out the length"):
        release("ship", mechanism, length=4)


def test_the_estimator_makes_counts_of_the_public_size(reference):
    pytest.importorskip("sklearn")
    from publius.sklearn import BagPrivatizer

    made = BagPrivatizer(mechanism=plan_of(reference, length=11).mechanism).fit(TEXTS)
    counts = made.transform(TEXTS)
    assert counts.shape == (len(TEXTS), len(made.get_feature_names_out()))
    assert set(np.asarray(counts.sum(axis=1)).ravel().tolist()) == {11}
    assert made.guarantee_.bound == 5.0
    assert (made.transform(["ship"] * 50) != made.transform(["ship"] * 50)).nnz
    with pytest.raises(UsageError, match="has its epsilon"):
        BagPrivatizer(mechanism=made.mechanism, epsilon=3.0).fit(TEXTS)
    with pytest.raises(DataError, match="give a list of texts"):
        made.transform([[1, 2]])


def test_the_estimator_gives_the_labels_that_documents_may_become(reference):
    """Bound 30 prints another label than the document's own with a probability below 1e-11."""
    pytest.importorskip("sklearn")
    from sklearn.base import clone

    from publius.sklearn import BagPrivatizer

    mechanism = plan_of(reference, bound=30.0, parameters={"gamma": 0.0}).mechanism
    made = clone(BagPrivatizer(mechanism=mechanism, output="label")).fit(TEXTS)
    names = made.get_feature_names_out().tolist()
    outcomes = mechanism.outcomes
    assert names == [each.label for each in outcomes]
    assert names[-1] == NONE_OF_THESE
    rows = made.transform([*TEXTS, ""]).toarray()
    assert (rows.sum(axis=1) == 1).all()
    places = places_of_all([*TEXTS, ""], mechanism.reference, made.plan_.encoding).places
    likeliest = mechanism.law(places).argmax(axis=1)
    assert [names[k] for k in rows.argmax(axis=1)] == [outcomes[k].label for k in likeliest]
    with pytest.raises(UsageError, match="gives documents no labels"):
        BagPrivatizer(mechanism=plan_of(reference, mechanism="position").mechanism, output="label").fit(TEXTS)
    with pytest.raises(UsageError, match="'bag' or 'label'"):
        BagPrivatizer(mechanism=mechanism, output="words").fit(TEXTS)


@pytest.mark.parametrize("output", ["bag", "label"])
def test_the_estimator_releases_a_field_of_declared_values(output):
    pytest.importorskip("sklearn")
    from publius.sklearn import BagPrivatizer

    mechanism = RandomizedResponse("product", ["loans", "cards", "cash"], bound=30.0)
    made = BagPrivatizer(mechanism=mechanism, output=output).fit(["cards"])
    assert made.get_feature_names_out().tolist() == ["loans", "cards", "cash"]
    assert made.transform(["cards", "cash", "cards"]).toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0]]
    assert made.guarantee_.bound == 30.0
    with pytest.raises(DataError, match="1 of 2 documents has no declared value"):
        made.transform(["cards", "canary"])


def test_the_texts_that_a_reference_was_learned_from_are_not_released(reference, tmp_path):
    rows = tmp_path / "public.jsonl"
    rows.write_text('{"id": "a", "text": "ship"}\n')
    facts = {"corpus_sha256": files_sha256([str(rows)])}
    learned = fit_reference(list(public_texts()), name="own", facts=facts)
    plan = Plan.of(ReleaseSettings(), make_document_mechanism("prototype", learned, bound=5.0))
    with pytest.raises(PolicyError, match="learned from these very documents"):
        protect_corpus(open_corpus(rows), plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_reference_of_one_prototype(tmp_path):
    """It is the one prototype or none of these: what is told is which of two, within the bound."""
    fit_reference(list(public_texts()), name="one", settings=FitSettings(prototypes=1)).save(tmp_path / "one")
    plan = plan_of(str(tmp_path / "one"), preserve="meaning")
    outcomes = [outcomes_of(text, plan)["outcomes"] for text in TEXTS]
    shares = [{each["label"]: each["probability"] for each in found} for found in outcomes]
    assert all(len(found) == 2 and NONE_OF_THESE in found for found in shares)
    for label in shares[0]:
        likely = [found[label] for found in shares]
        assert max(likely) <= np.exp(5) * min(likely) * (1 + 1e-9)
    documents = [Document(f"d{k}", text, {}, k + 1) for k, text in enumerate(TEXTS)]
    assert {found.prototype for found in protect(documents, plan, RunKey.fresh())[0]} <= {0, 1}


@pytest.mark.parametrize("preserve", ["topic", "meaning"])
@pytest.mark.parametrize("gamma", [None, 0.0, 0.5])
def test_prototypes_that_coincide(tmp_path, preserve, gamma):
    """Two topics with the same public texts: their prototypes are one point, and the bound holds."""
    texts = list(public_texts())
    public = [*texts, *((text, "twin") for text, topic in texts if topic == "sea")]
    fit_reference(public, name="twins").save(tmp_path / "twins")
    parameters = {} if gamma is None else {"parameters": {"gamma": gamma}}
    plan = plan_of(str(tmp_path / "twins"), preserve=preserve, **parameters)
    indices = [plan.mechanism.indices(words) for words in (["ship"], ["cow", "hay"], [])]
    logs = np.log(plan.mechanism.law(indices))
    assert np.abs(logs[:, None] - logs[None]).max() <= 5 + 1e-12
    documents = [Document(f"d{k}", text, {}, k + 1) for k, text in enumerate(TEXTS)]
    assert len(protect(documents, plan, RunKey.fresh())[0]) == len(TEXTS)


def test_topics_that_are_all_one_are_refused():
    texts = [text for text, _ in public_texts(30)]
    with pytest.raises(DataError, match="cannot be told apart"):
        fit_reference([(text, topic) for text in texts for topic in "ab"], name="same")


def test_a_batch_drawn_together_is_a_sequence_of_its_releases(reference):
    plan = plan_of(reference)
    documents = [
        Document(str(number), text, {}, number + 1)
        for number, text in enumerate(["ship", "", "cow hay"] * 60)
    ]
    together, _ = protect(documents, plan, RunKey.fresh())
    every = list(together)
    assert [together[place] for place in range(len(together))] == every
    assert (together[-1], together[1:3]) == (every[-1], every[1:3])
    assert pickle.loads(pickle.dumps(together)) == every
    with pytest.raises(IndexError):
        together[len(every)]
    other = Layout(plan.vocabulary, labels=("topic",), prototypes=True)
    with pytest.raises(UsageError, match="other labels"):
        other.json_lines(together)


def test_a_document_is_never_filled_up(reference):
    plan = plan_of(reference)
    with pytest.raises(UsageError, match="never filled up"):
        replace(plan, encoding=replace(plan.encoding, length=5, padded=True))


@pytest.mark.parametrize("choices", [{}, {"mechanism": "position"}, {"experiment": True, "seed": 3}])
@pytest.mark.parametrize("labels", [(), ("topic",)])
def test_lines_are_what_json_makes_of_the_releases(reference, choices, labels):
    """Many documents together are written from pieces that are made once: not a byte is another."""
    plan = Plan.of(
        ReleaseSettings(**{"preserve": "topic", "reference": reference, "bound": 5.0, **choices}),
        labels=labels,
    )
    layout = Layout.of(plan)
    documents = [
        Document(f'é"{number}', text, dict.fromkeys(labels, "früh, 1"), number + 1)
        for number, text in enumerate(["ship wave", "cow", "night", "harvest hay sail", ""] * 60)
    ]
    results, _ = protect(documents, plan, plan.run_key())
    together = [layout.json_line(each) for each in results]
    assert layout.json_lines(results) == b"".join(together)
    alone = []
    for each in results:
        plain = Bag(each.bag.counts)
        record = layout.record(each)
        body = {name: record.pop(name) for name in (*layout.leading, "id", "size")}
        counts = {word: plain.counts[word] for word in plan.vocabulary.vocabulary if word in plain.counts}
        line = json.dumps({**body, "bag": counts, **record}, ensure_ascii=False)
        alone.append(line.encode() + b"\n")
    assert together == alone
    assert {drawn_json(each.bag, plan.vocabulary.vocabulary) is None for each in results} == {False}
