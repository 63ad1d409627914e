"""scikit-learn's own checks, and that its estimators make releases."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from public_posts import posts
from publius.classifiers.classifier import Values
from publius.classifiers.clusters import Clusters, from_counts
from publius.classifiers.topics import TopicClassifier
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.registry import make_kernel
from publius.noise.randomness import seeded_rng
from publius.sklearn import BagPrivatizer, LabelPrivatizer, SummaryClassifier
from toy import WORDS, sentence

TEXTS, TOPICS, AUTHORS = posts()
SOME = [sentence(seed) for seed in range(12)]
RANDOM = "compares two calls of transform: each draws fresh noise by design, and there is no seed"
ONE_DIMENSION = "check_fit1d"
FAILS = {
    "check_estimators_pickle": RANDOM, "check_fit_idempotent": RANDOM,
    ONE_DIMENSION: "what has one dimension is texts, and a number is one",
}  # fmt: skip
REAL = "does not hold counts"


@pytest.fixture(scope="module")
def wide():
    """200 words: as wide as the widest matrix of the checks."""
    vectors = seeded_rng(20).standard_normal((200, 8), np.float32)
    return Embeddings.from_arrays([f"w{i}" for i in range(200)], vectors, name="wide", tokenizer="word2vec")


def checked(estimator, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check_estimator(estimator, on_fail=None, on_skip=None, **options)


def test_check_estimator_on_whole_numbers(wide, monkeypatch):
    """The checks draw real numbers unless told that input is categorical: then whole ones, as counts are."""
    tags = BagPrivatizer.__sklearn_tags__

    def whole(self):
        changed = tags(self)
        changed.input_tags.categorical = True
        return changed

    monkeypatch.setattr(BagPrivatizer, "__sklearn_tags__", whole)
    estimator = BagPrivatizer(epsilon=0.5, length=5, embeddings=wide, feature_names="vocabulary")
    found = checked(estimator, expected_failed_checks=FAILS)
    assert [result["check_name"] for result in found if result["status"] == "failed"] == []
    assert {result["check_name"] for result in found if result["status"] == "xfail"} == set(FAILS)
    assert sum(result["status"] == "passed" for result in found) >= 35


def test_check_estimator_fails_only_where_it_gives_real_numbers(wide):
    def refused(error):
        return error is not None and (REAL in str(error) or refused(error.__cause__) or refused(error.__context__))

    estimator = BagPrivatizer(epsilon=0.5, length=5, embeddings=wide, feature_names="vocabulary")
    failed = [result for result in checked(estimator) if result["status"] == "failed"]
    assert [result["check_name"] for result in failed if not refused(result["exception"])] == [ONE_DIMENSION]


@pytest.mark.parametrize("estimator", [LabelPrivatizer(Values(["a", "b"])), SummaryClassifier("nowhere")])
def test_check_estimator_of_those_that_take_texts_alone(estimator):
    assert [result["check_name"] for result in checked(estimator) if result["status"] == "failed"] == []
    assert clone(estimator).get_params() == estimator.get_params()


def test_bags_have_n_words_each_and_are_drawn_anew(embeddings):
    fitted = BagPrivatizer(embeddings=embeddings, length=20).fit(SOME)
    made = fitted.transform(SOME)
    assert made.shape == (12, embeddings.size)
    assert set(made.sum(axis=1).A1) == {20}
    assert any((made != fitted.transform(SOME)).nnz for _ in range(20))
    assert fitted.get_feature_names_out().tolist() == list(embeddings.vocabulary)
    assert fitted.mechanism_.guarantee.epsilon_total == 200
    assert fitted.transform([]).shape == (0, embeddings.size)


def test_without_noise_texts_and_counts_come_out_as_they_are(embeddings):
    vectorizer = CountVectorizer(vocabulary=list(embeddings.vocabulary))
    counts = vectorizer.transform([" ".join(text.split()[:10]) for text in SOME])
    names = vectorizer.get_feature_names_out()
    quiet = BagPrivatizer(
        mechanism="exponential", epsilon=300, length=10, embeddings=embeddings, feature_names=names, stop_words="none"
    )
    assert (quiet.fit_transform(counts) != counts).nnz == 0
    assert (quiet.fit_transform([" ".join(text.split()[:10]) for text in SOME]) != counts).nnz == 0


def test_counts_have_one_public_order_whatever_the_columns_are(embeddings):
    counts = np.ones((1, embeddings.size), np.int64)
    names = list(embeddings.vocabulary)
    quiet = {"mechanism": "exponential", "epsilon": 300, "length": 10, "embeddings": embeddings, "stop_words": "none"}
    one = BagPrivatizer(**quiet, feature_names=names).fit_transform(counts)
    other = BagPrivatizer(**quiet, feature_names=names[::-1]).fit_transform(counts)
    assert (one != other).nnz == 0


def test_a_made_mechanism_and_a_pipeline(embeddings):
    lifted = Lifted(make_kernel("laplace", embeddings, epsilon=50), 20)
    fitted = BagPrivatizer(lifted).fit(SOME)
    assert fitted.mechanism_ is lifted
    assert clone(fitted).mechanism is lifted
    pipeline = make_pipeline(BagPrivatizer(lifted), LogisticRegression())
    assert cross_val_score(pipeline, TEXTS, TOPICS, cv=2).mean() > 0.5


def test_labels(home):
    topics = TopicClassifier.train(TEXTS, TOPICS, authors=AUTHORS)
    fitted = LabelPrivatizer(topics, epsilon=20).fit(TEXTS)
    made = fitted.transform(TEXTS)
    assert made.shape == (160, 5)
    assert set(made.sum(axis=1).A1) == {1}
    assert (topics.answers(TEXTS) == made.argmax(axis=1).A1).mean() > 0.99
    assert fitted.get_feature_names_out().tolist() == list(topics.labels)
    topics.save(home / "classifiers" / "stored")
    assert LabelPrivatizer("stored").fit([]).released_ == topics.labels


def test_a_summary_is_a_classifier(tmp_path):
    clusters = Clusters.train(TEXTS, authors=AUTHORS, clusters=5)
    groups = (*sorted(set(TOPICS)), "other")
    counts = np.zeros((5, 6), np.int64)
    np.add.at(counts, ([groups.index(topic) for topic in TOPICS], clusters.answers(TEXTS)), 1)
    from_counts(clusters, "topic", groups, counts, 1.0).save(tmp_path / "classifier" / "topic")
    found = SummaryClassifier(tmp_path)
    chances = found.predict_proba(["river valley", "??"])
    assert chances.sum(axis=1) == pytest.approx(1)
    assert found.classes_.tolist() == list(groups)
    assert (found.classes_[chances.argmax(axis=1)] == found.predict(["river valley", "??"])).all()
    assert found.predict(["??"]) == ["other"]
    assert found.score(TEXTS, TOPICS) > 0.7
    with pytest.raises(DataError):
        found.predict(np.ones((2, 2)))


@pytest.mark.parametrize("given", ["one text", np.ones((1, 2)) / 2, [["a"]]])
def test_what_is_neither_texts_nor_counts_is_refused(embeddings, given):
    fitted = BagPrivatizer(embeddings=embeddings, feature_names="vocabulary")
    with pytest.raises((DataError, UsageError)):
        fitted.fit(given).transform(given)


def test_no_error_holds_a_word(embeddings):
    fitted = BagPrivatizer(embeddings=embeddings).fit(SOME)
    with pytest.raises((DataError, UsageError)) as caught:
        fitted.transform(np.array([["canary"]]))
    assert not any(word in str(caught.value) for word in (*WORDS, "canary"))


def test_no_estimator_takes_a_seed():
    for kind in (BagPrivatizer, LabelPrivatizer):
        assert not {"seed", "random_state", "rng", "key"} & set(inspect.signature(kind).parameters)
