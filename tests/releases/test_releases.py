"""R10 to R15, R21: what leaves, what never does, and what a release refuses."""

import dataclasses
import gc
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publius.documents.corpus import BadDocument, Document, open_corpus
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.mechanism import OrderedText
from publius.noise.randomness import RunKey
from publius.privacy.guarantee import Guarantee
from publius.releases.engines import protect_corpus
from publius.releases.plan import Experiment, Plan
from publius.releases.protect import protect, release
from publius.releases.release import Release
from publius.text.bag import UNKNOWN, Bag, Encoding
from publius.text.tokenizer import StopWords
from toy import WORDS, sentence

NONE = StopWords.load("none")


def plan_for(embeddings, *, length=20, unknown="unk", epsilon=2.0, **options):
    encoding = Encoding(length, unknown, NONE, embeddings.tokenizer)
    lifted = Lifted(Laplace(embeddings, epsilon=epsilon), length, ordered=options.pop("ordered", None))
    return Plan(lifted, encoding, **options)


def documents(count=6, words=30):
    return [Document(f"d{i}", sentence(i, words), {}, i + 1) for i in range(count)]


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=300), length=st.integers(1, 50), unknown=st.sampled_from(["unk", "drop"]))
def test_every_release_has_exactly_n_words_of_the_vocabulary(embeddings, text, length, unknown):
    mechanism = Laplace(embeddings, epsilon=1.0)
    made = release(text + " river", mechanism, length=length, unknown=unknown, stop_words="none")
    assert made.bag.size == length
    assert set(made.bag.counts) <= set(WORDS)


def test_short_documents_are_filled_up_with_public_words(embeddings):
    far = Laplace(embeddings, epsilon=1e6)  # no noise to speak of: what is drawn stands where it stands
    made = release("river river", far, length=30, stop_words="none")
    assert made.bag.size == 30
    assert made.bag.counts["river"] >= 2
    assert len(made.bag.counts) > 8  # 28 draws, not 28 times one token


def test_unknown_words_never_pass(embeddings):
    made = release(
        "zzcanary river qqcanary " * 10, Laplace(embeddings, epsilon=1e6), length=30, stop_words="none"
    )
    assert not [word for word in made.bag.counts if "canary" in word or word == UNKNOWN]


def test_dropped_words_leave_before_the_length_is_counted(embeddings):
    made = release(
        "zzz river zzz castle", Laplace(embeddings, epsilon=1e6), length=2, unknown="drop", stop_words="none"
    )
    assert made.bag == Bag(["river", "castle"])


def test_rejected_words_are_not_named(embeddings):
    with pytest.raises(DataError) as caught:
        release("river zzcanary", Laplace(embeddings, epsilon=1.0), length=2, unknown="reject")
    assert "canary" not in str(caught.value)


def test_order_of_the_words_changes_no_byte(embeddings):
    """R11: for equal noise the law is that of the bag; with hardly any noise the outputs are equal."""
    words = sentence(3).split()
    mechanism = Laplace(embeddings, epsilon=1e6)
    bags = {
        release(" ".join(order), mechanism, length=30, stop_words="none").bag
        for order in (words, sorted(words))
    }
    assert len(bags) == 1


def test_order_of_the_words_changes_no_law(embeddings):
    """The released counts of one word, over many draws, do not depend on where the word stood."""
    mechanism, rng = Laplace(embeddings, epsilon=1.0), RunKey.seeded(5)
    first = mechanism.indices(["river"] * 1 + ["castle"] * 9)
    means = []
    for words, seed in ((first, "a"), (first[::-1].copy(), "b")):
        noise = mechanism.noise(10 * 4000, rng.rng(seed))
        out = mechanism.apply(np.tile(words, 4000), noise)
        means.append(np.bincount(out, minlength=60) / 4000)
    assert np.abs(means[0] - means[1]).max() < 6 * np.sqrt(10 / 4000)


def again(key):
    """The same key for the same documents, as an engine takes it after a retry."""
    return RunKey(key.expose())


def test_same_noise_whatever_the_batch(embeddings):
    plan, key, docs = plan_for(embeddings), RunKey.fresh(), documents()
    whole, _ = protect(docs, plan, key)
    single = [protect([doc], plan, again(key))[0][0] for doc in docs]
    backwards, _ = protect(docs[::-1], plan, again(key))
    assert [r.bag for r in whole] == [r.bag for r in single] == [r.bag for r in backwards[::-1]]


def test_other_documents_change_nothing(embeddings):
    """R14: the law of a document does not depend on the documents beside it."""
    plan, key, docs = plan_for(embeddings), RunKey.fresh(), documents()
    alone = protect(docs[:1], plan, key)[0][0]
    assert protect(docs, plan, again(key))[0][0].bag == alone.bag


def test_two_documents_of_one_id_are_refused(embeddings):
    with pytest.raises(UsageError, match="same noise"):
        protect([*documents(1), *documents(1)], plan_for(embeddings), RunKey.fresh())


@pytest.mark.parametrize("name", ["epsilon", "metric", "embeddings"])
def test_a_mechanism_cannot_be_changed(embeddings, name):
    """Its guarantee was computed for what it was made with."""
    mechanism = Laplace(embeddings, epsilon=1e5)
    with pytest.raises(UsageError, match="make another"):
        setattr(mechanism, name, getattr(mechanism, name))


def test_an_id_must_be_text(embeddings):
    with pytest.raises(UsageError, match="UTF-8"):
        release("river", Laplace(embeddings, epsilon=1.0), length=1, id="\ud800")


def test_two_runs_never_repeat(embeddings):
    mechanism = Laplace(embeddings, epsilon=0.5)
    bags = {release(sentence(1), mechanism, length=30, stop_words="none").bag for _ in range(20)}
    assert len(bags) == 20


def test_seed_repeats_under_experiment_only(embeddings):
    mechanism = Laplace(embeddings, epsilon=0.5)
    first, second = (
        release(sentence(1), mechanism, length=30, stop_words="none", experiment=Experiment(seed=4))
        for _ in "ab"
    )
    assert first == second
    assert first.warning == "NOT PRIVATE: REPRODUCIBLE"
    assert first.guarantee is None


@pytest.mark.parametrize(
    ("experiment", "unknown", "ordered", "warning"),
    [
        (Experiment(), "unk", None, "NOT PRIVATE: EXPERIMENT"),
        (Experiment(seed=0), "unk", None, "NOT PRIVATE: REPRODUCIBLE"),
        (Experiment(), "keep", OrderedText(), "NOT PRIVATE: UNKNOWN WORDS PASS, ORDER KEPT"),
    ],
)
def test_an_experiment_says_what_makes_it_weaker(embeddings, experiment, unknown, ordered, warning):
    plan = plan_for(embeddings, unknown=unknown, experiment=experiment, ordered=ordered)
    manifest = plan.manifest(1)
    assert plan.warning == manifest["warning"] == warning
    assert manifest["private"] is False
    assert manifest["promise"].startswith("NOT PRIVATE")


def test_experiment_can_keep_order_and_unknown_words(embeddings):
    options = {"unknown": "keep", "experiment": Experiment(), "ordered": OrderedText()}
    plan = plan_for(embeddings, length=3, epsilon=1e6, **options)
    made = protect([Document("a", "castle zzz river", {}, 1)], plan, RunKey.fresh())[0][0]
    assert made.words == ("castle", "zzz", "river")


def test_keep_is_refused_without_experiment(embeddings):
    with pytest.raises(PolicyError, match="no guarantee"):
        plan_for(embeddings, unknown="keep")


def test_length_must_be_fixed(embeddings):
    with pytest.raises(UsageError, match="length"):
        release("river", Laplace(embeddings, epsilon=1.0))


class _Unproven(Kernel):
    name = "unproven"

    def __init__(self, embeddings):
        self.embeddings, self.metric, self.epsilon = embeddings, Laplace(embeddings, epsilon=1.0).metric, 1.0

    @property
    def guarantee(self):
        return Guarantee(1.0, "euclidean", "none")

    def noise(self, count, rng):
        return rng.random((count, 1))

    def apply(self, words, noise, *, threads=1):
        return words


def test_mechanism_without_a_guarantee_is_refused(embeddings):
    with pytest.raises(PolicyError, match="unproven"):
        release("river", _Unproven(embeddings), length=1)
    assert release("river", _Unproven(embeddings), length=1, experiment=Experiment()).warning.endswith(
        "NO GUARANTEE"
    )


@pytest.mark.parametrize("text", ["", " \n\t ", "the and of", "!!! ... ???"])
@pytest.mark.parametrize("unknown", ["unk", "drop"])
def test_text_without_words_is_released_as_unknown(embeddings, text, unknown):
    """R27: no private word decides whether an id appears."""
    made = release(text, Laplace(embeddings, epsilon=9.0), length=5, unknown=unknown)
    assert made.bag.size == 5
    assert set(made.bag.counts) <= set(embeddings.vocabulary)


def test_the_same_words_get_the_same_noise_however_they_stand(embeddings):
    """R23: with the run key fixed, texts of equal bags give equal bags."""
    plan, key = plan_for(embeddings, length=4, epsilon=0.5), RunKey.fresh()
    texts = ("river castle zzz garden", "zzq garden river castle")
    made = [protect([Document("a", text, {}, 1)], plan, again(key))[0][0].bag for text in texts]
    assert made[0] == made[1]


def test_a_seeded_key_releases_nothing(embeddings):
    document = Document("a", "river castle", {}, 1)
    with pytest.raises(PolicyError, match="seeded key"):
        protect([document], plan_for(embeddings), RunKey.seeded(1))
    marked = plan_for(embeddings, experiment=Experiment(seed=1))
    assert "NOT PRIVATE" in protect([document], marked, RunKey.seeded(1))[0][0].warning


@pytest.mark.parametrize("text", ["river castle", "castle garden"])
def test_a_key_is_one_runs(embeddings, text):
    """Another text would have the same noise, and the same text tells that it is the same."""
    plan, key = plan_for(embeddings), RunKey.fresh()
    protect([Document("a", "river castle", {}, 1), Document("b", "river", {}, 2)], plan, key)
    with pytest.raises(UsageError, match="key is one run's"):
        protect([Document("c", text, {}, 1), Document("a", text, {}, 2)], plan, key)


def test_a_bag_is_released_at_its_own_size(embeddings):
    made = release(Bag(["river", "river", "castle"]), Laplace(embeddings, epsilon=1.0))
    assert made.bag.size == made.guarantee.size == 3
    with pytest.raises(UsageError, match="own size"):
        release(Bag(["river"]), Laplace(embeddings, epsilon=1.0), length=2)
    with pytest.raises(UsageError, match="no order"):
        release(Bag(["river"]), Laplace(embeddings, epsilon=1.0), ordered=OrderedText())


def test_bag_with_words_outside_the_vocabulary_is_refused(embeddings):
    with pytest.raises(DataError) as caught:
        release(Bag(["river", "zzcanary"]), Laplace(embeddings, epsilon=1.0))
    assert "canary" not in str(caught.value)


def test_bad_documents_keep_their_place(embeddings):
    docs = [*documents(1), Document("unknown", "zzz", {}, 2), *documents(1)]
    docs[2] = dataclasses.replace(docs[2], id="other", position=3)
    results, tally = protect(docs, plan_for(embeddings, unknown="reject"), RunKey.fresh())
    assert [type(result) for result in results] == [Release, BadDocument, Release]
    assert tally.documents == 2


def test_tally_counts_unknown_words_and_padding(embeddings):
    _, tally = protect(
        [Document("a", "river zzz castle", {}, 1)], plan_for(embeddings, length=5), RunKey.fresh()
    )
    assert (tally.words, tally.seen, tally.unknown, tally.padding) == (5, 3, 1, 2)
    assert tally.unknown_share == pytest.approx(1 / 3)


def test_a_release_refers_to_no_document(embeddings):
    """R21: nothing reachable from a release is its document."""
    document = documents(1)[0]
    made = protect([document], plan_for(embeddings), RunKey.fresh())[0][0]
    seen, queue = set(), [made]
    while queue:
        thing = queue.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        assert thing is not document
        assert thing is not document.text
        queue += [other for other in gc.get_referents(thing) if not callable(other)]


def test_reprs_hold_no_word(embeddings):
    made = release("river castle", Laplace(embeddings, epsilon=1e6), length=2)
    shown = repr(made) + repr(made.bag) + repr(documents(1)[0])
    assert "river" not in shown
    assert "castle" not in shown


def test_manifest_says_everything_and_nothing_else(embeddings):
    manifest = plan_for(embeddings, epsilon=2.0).manifest(6)
    assert manifest["epsilon_total"] == 40.0
    assert manifest["delta"] == pytest.approx(20 * Laplace(embeddings, epsilon=2.0).guarantee.delta)
    assert manifest["vocabulary_sha256"] == embeddings.sha256
    assert manifest["size_from"] == "given"
    assert set(manifest) == set(
        "manifest_version publius_version kind private promise documents missing size size_from epsilon level bound "
        "preserve reference reference_sha256 reference_words "
        "epsilon_total delta evidence mechanism mechanism_parameters metric embeddings dimension vocabulary_size "
        "vocabulary_sha256 tokenizer stop_words stop_words_sha256 unknown unknown_token padding labels ordered "
        "randomness versions".split()
    )


def test_randomize_vectors_is_algorithm_one(embeddings):
    mechanism = Laplace(embeddings, epsilon=3.0)
    vectors = np.zeros((4000, 8))
    noise = mechanism.randomize_vectors(vectors, RunKey.seeded(1).rng("x"))
    assert noise.shape == (4000, 8)
    assert np.linalg.norm(noise, axis=1).mean() == pytest.approx(8 / 3, rel=0.05)


@pytest.mark.parametrize("array", [np.zeros(8), np.zeros((2, 7)), np.full((1, 8), np.inf)])
def test_randomize_vectors_refuses_what_does_not_fit(embeddings, array):
    with pytest.raises(DataError):
        Laplace(embeddings, epsilon=1.0).randomize_vectors(array)


class Drifting(Laplace):
    """From outside, and clumsy: what it states depends on what it saw."""

    name = "drifting"
    seen = 0

    def apply(self, words, noise, *, threads=1):
        self.seen += len(words)
        return super().apply(words, noise, threads=threads)

    @property
    def parameters(self):
        return {"rows_kept": self.seen}


class Cheapening(Drifting):
    """The same with a guarantee that shrinks."""

    @property
    def parameters(self):
        return {}

    @property
    def guarantee(self):
        stated = super().guarantee
        return dataclasses.replace(stated, epsilon=stated.epsilon / (1 + self.seen))


@pytest.mark.parametrize("kind", [Drifting, Cheapening])
def test_a_mechanism_from_outside_states_the_same_before_and_after(kind, embeddings, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "1", "text": sentence(1)}))
    plan = Plan(kind(embeddings, epsilon=3.0), Encoding(4, "unk", NONE, embeddings.tokenizer))
    with pytest.raises(PolicyError, match="states another guarantee or other parameters"):
        protect_corpus(open_corpus(path), plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()
