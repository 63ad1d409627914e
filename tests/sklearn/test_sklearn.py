"""Publius in scikit-learn: pipelines, clones, sparse counts, what is refused, and scikit-learn's own checks."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn", reason="the extra sklearn is not installed")

from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import letters
from guessed_length import boosting, chance, excess, ridge
from publius.errors import DataError, PolicyError, UnknownWordError, UsageError
from publius.noise.randomness import seeded_rng
from publius.sklearn import BagClassifier, BagPrivatizer
from publius.text.bag import Bag, Encoding
from publius.text.pads import BYTES, drawn_pads
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings
from toy import WORDS

NOISELESS = 1e6
TEXTS = [letters.text(author, seed) for author in letters.AUTHORS for seed in range(6)]
AUTHORS = [author for author in letters.AUTHORS for _ in range(6)]


def privatizer(embeddings, **options):
    return BagPrivatizer(embeddings, **{"epsilon": 2.0, "length": 20, "stop_words": "none", **options})


def counts(rows, names):
    """A CSR matrix of bags given as mappings, with the columns ``names``."""
    return csr_matrix([[row.get(name, 0) for name in names] for row in rows])


def as_bag(row, embeddings):
    return Bag({embeddings.word(i): int(n) for i, n in zip(row.indices, row.data, strict=True)})


# What comes out


def test_every_row_has_exactly_n_words_of_the_vocabulary(embeddings):
    made = privatizer(embeddings).fit_transform([*TEXTS, "", "zzcanary", "river"])
    assert made.format == "csr"
    assert made.shape == (len(TEXTS) + 3, embeddings.size)
    assert set(made.sum(axis=1).A1.tolist()) == {20}


def test_texts_are_encoded_as_in_a_release(embeddings):
    text = "The river isn't zzcanary, it is a castle: river!"
    made = privatizer(embeddings, epsilon=NOISELESS, length=4, stop_words="english").fit_transform([text])
    stand_in = embeddings.word(embeddings.unknown_index)
    assert as_bag(made[0], embeddings) == Bag(["river", stand_in, "castle", "river"])


def test_a_count_matrix_gives_the_same_as_its_text(embeddings):
    names = ["castle", "zzcanary", "river", "the"]
    matrix = counts([{"river": 2, "castle": 1, "zzcanary": 3, "the": 9}], names)
    options = {"epsilon": NOISELESS, "length": 6, "stop_words": "english", "feature_names": names}
    made = privatizer(embeddings, **options).fit_transform(matrix)
    stand_in = embeddings.word(embeddings.unknown_index)
    assert as_bag(made[0], embeddings) == Bag(["river", "river", "castle", *[stand_in] * 3])


def test_feature_names_out_are_the_vocabulary(embeddings):
    fitted = privatizer(embeddings).fit(TEXTS)
    assert list(fitted.get_feature_names_out()) == WORDS
    pipeline = make_pipeline(fitted, TfidfTransformer()).fit(TEXTS)
    assert list(pipeline.get_feature_names_out()) == WORDS


def test_each_transform_draws_anew(embeddings):
    """R6: there is no seed to give, and two calls never agree."""
    fitted = privatizer(embeddings, epsilon=0.5).fit(TEXTS)
    assert "random_state" not in fitted.get_params()
    assert len({fitted.transform(TEXTS[:1]).toarray().tobytes() for _ in range(20)}) == 20


def test_rows_do_not_share_noise(embeddings):
    made = privatizer(embeddings, epsilon=0.5, length=40).fit_transform(["river " * 40] * 30).toarray()
    assert len(np.unique(made, axis=0)) == 30


def test_the_law_of_a_row_is_the_mechanisms(embeddings):
    """The counts of outputs of one repeated word against draws of the mechanism itself."""
    fitted = privatizer(embeddings, length=100).fit(["river"])
    made = fitted.transform(["river " * 100] * 200).sum(axis=0).A1 / 20_000
    mechanism = fitted.plan_.mechanism.kernel
    drawn = [mechanism.randomize(Bag({"river": 100})).counts for _ in range(200)]
    other = np.array([sum(bag.get(word, 0) for bag in drawn) for word in WORDS]) / 20_000
    assert np.abs(made - other).max() < 6 * np.sqrt(0.5 / 20_000)


def test_texts_can_be_any_iterable(embeddings):
    made = privatizer(embeddings).fit_transform(text for text in TEXTS[:3])
    assert made.sum(axis=1).A1.tolist() == [20, 20, 20]
    assert privatizer(embeddings).fit_transform(np.array(TEXTS[:3], object)).shape == (3, embeddings.size)
    assert privatizer(embeddings).fit_transform(tuple(TEXTS[:3])).shape == (3, embeddings.size)


# What fills short documents up


@pytest.fixture(scope="module")
def prior():
    """300 words, and documents of 4 to 40 that are drawn as pads are: only the padding could tell their lengths."""
    vectors = seeded_rng(21).standard_normal((300, 8), np.float32)
    names = [f"{a}{b}{c}" for a in "bdfgklmnpr" for b in "aeiou" for c in "lmnrst"]
    embeddings = Embeddings.from_arrays(names, vectors, name="prior", tokenizer="glove")
    rng = seeded_rng(22)
    lengths = rng.integers(4, 41, 250)
    bits = [rng.bytes(BYTES * int(length)) for length in lengths]
    drawn = [drawn_pads(embeddings, StopWords.load("none"), each) for each in bits]
    return embeddings, lengths.astype(float), [[names[place] for place in places] for places in drawn]


def given_as(kind, documents, names):
    if kind == "texts":
        return [" ".join(words) for words in documents]
    return counts([Bag(words).counts for words in documents], names)


@pytest.mark.parametrize(
    ("kind", "predictor", "permutations"),
    [("texts", ridge, 20), ("texts", boosting, 20), ("counts", ridge, 20)],
)
def test_padding_tells_nothing_of_length(prior, kind, predictor, permutations):
    embeddings, lengths, documents = prior
    names = list(embeddings.vocabulary)
    fitted = privatizer(embeddings, epsilon=NOISELESS, length=40, unknown="drop", feature_names=names)
    made = fitted.fit_transform(given_as(kind, documents, names)).toarray()
    # A row of counts is short or whole, so nothing is cut by the public order here.
    assert set(made.sum(axis=1)) == {40}
    assert excess(made.astype(float), lengths, predictor, permutations) < chance(permutations)


def test_the_predictor_would_see_one_token_that_fills_up(prior):
    embeddings, lengths, documents = prior
    filled = [[*words, *["<pad>"] * (40 - len(words))] for words in documents]
    table = counts([Bag(words).counts for words in filled], [*embeddings.vocabulary, "<pad>"]).toarray()
    assert excess(table.astype(float), lengths, ridge, 20) > chance(20, 1e-8)


def test_pads_are_drawn_for_each_row_and_each_call(embeddings):
    fitted = privatizer(embeddings, epsilon=NOISELESS, length=20).fit(TEXTS)
    made = fitted.transform([""] * 20).toarray()
    assert len(np.unique(made, axis=0)) > 15
    assert not np.array_equal(made, fitted.transform([""] * 20).toarray())


def test_dropped_words_of_a_row_leave_no_token(embeddings):
    names = ["river", "zzcanary"]
    matrix = counts([{"river": 2, "zzcanary": 30}], names)
    options = {"epsilon": NOISELESS, "length": 30, "feature_names": names}
    stand_in = embeddings.word(embeddings.unknown_index)
    kept, dropped = (
        as_bag(privatizer(embeddings, unknown=unknown, **options).fit_transform(matrix)[0], embeddings)
        for unknown in ("unk", "drop")
    )
    assert kept.counts[stand_in] >= 28
    assert dropped.counts.get(stand_in, 0) < 28


# Which words of a row count

ROW = st.dictionaries(st.sampled_from(WORDS[:12]), st.integers(1, 4), min_size=1)


def chosen(row, length, embeddings, names=WORDS):
    names = list(names)
    made = privatizer(embeddings, epsilon=NOISELESS, length=length, feature_names=names)
    return as_bag(made.fit_transform(counts([row], names))[0], embeddings)


@settings(max_examples=40, deadline=None)
@given(row=ROW, old=st.integers(0, 40), new=st.sampled_from(WORDS[:12]), length=st.integers(1, 12))
def test_one_word_changed_changes_at_most_one(embeddings, row, old, new, length):
    """Documents that differ in one word stay neighbours: the choice spreads no change."""
    words = list(Bag(row).words())
    assume(len(words) >= length)  # pads are drawn anew each time
    words[old % len(words)] = new
    a, b = chosen(row, length, embeddings), chosen(dict(Bag(words).counts), length, embeddings)
    common = sum(min(count, b.counts.get(word, 0)) for word, count in a.counts.items())
    assert common >= length - 1


@settings(max_examples=20, deadline=None)
@given(row=ROW, length=st.integers(1, 12), order=st.permutations(WORDS))
def test_the_order_of_the_columns_changes_nothing(embeddings, row, length, order):
    assume(sum(row.values()) >= length)
    assert chosen(row, length, embeddings) == chosen(row, length, embeddings, order)


def test_other_documents_change_nothing(embeddings):
    """R14: fitted beside other rows, or on other data, a row is encoded alike."""
    rows = [{"river": 9, "castle": 9}, dict.fromkeys(WORDS, 1)]
    one = privatizer(embeddings, epsilon=NOISELESS, length=7, feature_names=WORDS)
    matrix = counts(rows, WORDS)
    alone = one.fit(matrix[:1]).transform(matrix[:1])
    beside = one.fit(matrix[1:]).transform(matrix)
    assert (alone[0] != beside[0]).nnz == 0


def test_a_huge_count_costs_no_memory(embeddings):
    made = privatizer(embeddings, feature_names=["river"]).fit_transform(csr_matrix([[2**60]]))
    assert made.sum() == 20


# What is refused


@pytest.mark.parametrize("matrix", [[[0.5, 1.0]], csr_array([[0.25, 0]]), [[-1, 2]], [[np.nan, 1]]])
def test_what_is_no_count_is_refused(embeddings, matrix):
    with pytest.raises(ValueError):
        privatizer(embeddings, feature_names=["river", "castle"]).fit(matrix)


@pytest.mark.parametrize(
    "X",
    [
        [["a canary text"]],
        [["canary", 1]],
        ["fine", 3],
        [b"canary"],
        [],
        [3, "canary"],
        [7, 8],
        "canary",
        [None, "x"],
    ],
)
def test_what_is_no_list_of_texts_is_refused_without_its_content(embeddings, X):
    """R17."""
    with pytest.raises(ValueError) as caught:
        privatizer(embeddings, feature_names=["river"]).fit_transform(X)
    assert "canary" not in str(caught.value)


def test_columns_without_names_are_refused(embeddings):
    with pytest.raises(UsageError, match="get_feature_names_out"):
        privatizer(embeddings).fit(csr_matrix([[1, 2]]))


def test_rejected_words_are_refused_unnamed(embeddings):
    strict = privatizer(embeddings, unknown="reject", feature_names=["river", "zzcanary"])
    for X in (["river zzcanary"], csr_matrix([[1, 1]])):
        with pytest.raises(UnknownWordError) as caught:
            strict.fit(X).transform(X)
        assert "canary" not in str(caught.value)


def test_words_that_pass_are_refused(embeddings):
    with pytest.raises(PolicyError):
        privatizer(embeddings, unknown="keep").fit(TEXTS)


@pytest.mark.parametrize("wrong", [{"length": 0}, {"length": None}, {"mechanism": "magic"}, {"unknown": "vanish"},
                                   {"epsilon": -1.0}, {"feature_names": "river"}])  # fmt: skip
def test_wrong_parameters_are_refused_in_fit(embeddings, wrong):
    estimator = privatizer(embeddings, **wrong)
    with pytest.raises(UsageError):
        estimator.fit(csr_matrix([[1]]))


def test_unfitted(embeddings):
    with pytest.raises(NotFittedError):
        privatizer(embeddings).transform(TEXTS)


def test_fitted_on_texts_takes_no_matrix(embeddings):
    with pytest.raises(UsageError, match="fit on a matrix"):
        privatizer(embeddings).fit(TEXTS).transform(csr_matrix([[1]]))


# At home


def test_clone_and_parameters(embeddings):
    copy = clone(privatizer(embeddings, epsilon=3.0))
    assert copy.get_params()["epsilon"] == 3.0
    assert copy.set_params(length=9).fit_transform(TEXTS).sum(axis=1).max() == 9


def test_guarantee_and_promise_are_those_of_a_release(embeddings):
    fitted = privatizer(embeddings, epsilon=2.0, length=20).fit(TEXTS)
    assert (fitted.guarantee_.epsilon_total, fitted.guarantee_.size) == (40.0, 20)
    assert fitted.promise_ == fitted.plan_.manifest(len(TEXTS))["promise"]
    assert "any two documents of 20 words" in fitted.promise_


def test_pickle_holds_no_key(embeddings):
    fitted = privatizer(embeddings).fit(TEXTS)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.transform(TEXTS).shape == (24, embeddings.size)


def test_pipeline_of_the_worked_example(embeddings):
    vectorizer = CountVectorizer(vocabulary=WORDS)
    names = vectorizer.get_feature_names_out()
    protected = make_pipeline(
        vectorizer, privatizer(embeddings, epsilon=8.0, length=60, feature_names=names), TfidfTransformer(),
        LogisticRegression(),
    )  # fmt: skip
    topics = [letters.TOPICS[author] for author in AUTHORS]
    assert cross_val_score(protected, TEXTS, topics, cv=3).mean() > 0.75


def test_a_grid_over_epsilon(embeddings):
    pipeline = make_pipeline(privatizer(embeddings, length=60), BagClassifier(embeddings=embeddings))
    search = GridSearchCV(pipeline, {"bagprivatizer__epsilon": [0.01, 20.0]}, cv=3).fit(TEXTS, AUTHORS)
    assert search.best_params_ == {"bagprivatizer__epsilon": 20.0}


def test_mechanism_parameters(embeddings):
    fitted = privatizer(embeddings, mechanism="projected-laplace", parameters={"project": 3}).fit(TEXTS)
    assert fitted.plan_.manifest(1)["mechanism"] == "projected-laplace"


# Adversaries


@pytest.mark.parametrize("kind", ["likelihood", "koppel", "delta", "svm", "linear", "sr-nearest"])
def test_adversaries_find_authors_of_clean_texts(embeddings, kind):
    pytest.importorskip("ot", reason="the extra transport is not installed") if kind == "sr-nearest" else None
    score = cross_val_score(BagClassifier(kind, embeddings=embeddings), TEXTS, AUTHORS, cv=3).mean()
    assert score > 0.5


def test_texts_bags_and_counts_are_one(embeddings):
    bags = [Bag.from_text(text, embeddings, stop_words="none") for text in TEXTS]
    matrix = counts([bag.counts for bag in bags], WORDS)
    scores = [
        BagClassifier(embeddings=embeddings).fit(X, AUTHORS).decision_function(X)
        for X in (TEXTS, bags, matrix)
    ]
    assert np.allclose(scores[0], scores[1])
    assert np.allclose(scores[0], scores[2])


def test_the_informed_adversary_knows_the_mechanism(embeddings):
    protection = privatizer(embeddings, mechanism="exponential", epsilon=1.5, length=100)
    protected = protection.fit(TEXTS).transform(TEXTS)
    informed = BagClassifier("informed", privatizer=protection, embeddings=embeddings).fit(TEXTS, AUTHORS)
    assert informed.score(protected, AUTHORS) > 0.4
    with pytest.raises(UsageError, match="privatizer"):
        BagClassifier("informed").fit(TEXTS, AUTHORS)


@pytest.mark.parametrize("labels", [[3, 7], ["b", "a"], [True, False]])
def test_labels_of_any_kind_and_two_classes(embeddings, labels):
    y = [labels[author == "ada"] for author in AUTHORS]
    fitted = BagClassifier(embeddings=embeddings).fit(TEXTS, y)
    assert list(fitted.classes_) == sorted(labels)
    assert fitted.decision_function(TEXTS).shape == (24,)
    assert np.array_equal(fitted.predict(TEXTS) == fitted.classes_[1], fitted.decision_function(TEXTS) > 0)


@pytest.mark.parametrize("y", [None, ["a"] * 24, ["a", "b"]])
def test_labels_that_do_not_fit_are_refused(y):
    with pytest.raises(UsageError):
        BagClassifier().fit(TEXTS, y)


def test_an_unknown_kind_is_refused():
    with pytest.raises(UsageError, match="likelihood"):
        BagClassifier("oracle").fit(TEXTS, AUTHORS)


# scikit-learn's own checks

RANDOM = "compares two calls of transform: each draws fresh noise by design, and there is no seed (R6)"
PRIVATIZER_FAILS = {"check_estimators_pickle": RANDOM, "check_fit_idempotent": RANDOM}
REAL = "the matrix does not hold counts"


@pytest.fixture(scope="module")
def wide():
    """A vocabulary of 200 words: as wide as the widest matrix of the checks."""
    vectors = seeded_rng(20).standard_normal((200, 8), np.float32)
    return Embeddings.from_arrays([f"w{i}" for i in range(200)], vectors, name="wide", tokenizer="word2vec")


def estimators(wide):
    return {
        "BagPrivatizer": BagPrivatizer(
            wide, epsilon=0.5, length=5, feature_names="vocabulary"
        ),  # never twice alike
        "BagClassifier": BagClassifier(embeddings=wide, feature_names="vocabulary"),
    }


def results(estimator, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check_estimator(estimator, on_fail=None, on_skip=None, **options)


@pytest.mark.parametrize(("name", "failing"), [("BagPrivatizer", PRIVATIZER_FAILS), ("BagClassifier", {})])
def test_check_estimator_on_whole_numbers(wide, monkeypatch, name, failing):
    """The checks draw real numbers unless told that input is categorical: then whole ones, as counts are."""
    estimator = estimators(wide)[name]
    tags = type(estimator).__sklearn_tags__

    def whole(self):
        changed = tags(self)
        changed.input_tags.categorical = True
        return changed

    monkeypatch.setattr(type(estimator), "__sklearn_tags__", whole)
    found = results(estimator, expected_failed_checks=failing)
    assert [result["check_name"] for result in found if result["status"] == "failed"] == []
    assert {result["check_name"] for result in found if result["status"] == "xfail"} == set(failing)
    assert sum(result["status"] == "passed" for result in found) >= 35


@pytest.mark.parametrize("name", ["BagPrivatizer", "BagClassifier"])
def test_check_estimator_as_it_is_fails_only_where_it_gives_real_numbers(wide, name):
    def refused(error):
        return error is not None and (
            REAL in str(error) or refused(error.__cause__) or refused(error.__context__)
        )

    failed = [result for result in results(estimators(wide)[name]) if result["status"] == "failed"]
    assert failed
    assert [result["check_name"] for result in failed if not refused(result["exception"])] == []


def test_no_estimator_takes_a_seed_for_a_release():
    assert not {"seed", "random_state", "rng", "key"} & set(inspect.signature(BagPrivatizer).parameters)


def test_the_encoding_is_that_of_a_release(embeddings):
    fitted = BagPrivatizer(embeddings, length=7).fit(TEXTS)
    assert fitted.plan_.encoding == Encoding(7, "unk", StopWords.load("english"), embeddings.tokenizer)


def test_errors_are_typed(embeddings):
    with pytest.raises(DataError):
        privatizer(embeddings, feature_names=["river"]).fit(csr_matrix([[0.5]]))
