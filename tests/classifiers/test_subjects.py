"""`Subjects`: clusters of public vectors, the one that stands out."""

import pickle

import numpy as np
import pytest

from public_posts import alone_and_beside
from publius.classifiers.subjects import Subjects, clustered
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError
from publius.noise.randomness import seeded_rng
from toy import WORDS


@pytest.fixture(scope="module")
def vectors():
    """60 words around six points."""
    rng = seeded_rng(3)
    centres = rng.standard_normal((6, 8)) * 3
    found = np.vstack([centres[k // 10] + 0.3 * rng.standard_normal(8) for k in range(60)])
    return Embeddings.from_arrays(WORDS, found, name="points", tokenizer="glove")


@pytest.fixture
def subjects(vectors):
    return Subjects(vectors, count=6, words=60)


def test_words_that_lie_together_are_a_subject(subjects):
    assert len(subjects.labels) == 7
    found = subjects.answers([" ".join(WORDS[10 * k : 10 * k + 10]) for k in range(6)])
    assert len(set(found.tolist())) == 6
    for label in subjects.labels[:-1]:
        places = {WORDS.index(word) // 10 for word in subjects.words(label)}
        assert len(places) == 1
        assert label.split() == list(subjects.words(label)[:3])


def test_it_stands_out_and_not_what_is_frequent(subjects):
    """Twice a rare word and once each of three frequent ones: the rare one's subject."""
    answer = subjects.predict(f"{WORDS[0]} {WORDS[1]} {WORDS[59]} {WORDS[59]}")
    assert WORDS[59] in subjects.words(answer)


def test_texts_without_a_word_are_other(subjects):
    assert subjects.predict(["", "zqx", "the and"]) == ["other"] * 3
    assert subjects.known("river zqx") == (2, 1)


def test_an_answer_depends_on_its_own_text_alone(subjects):
    alone, beside = alone_and_beside(subjects, [" ".join(WORDS[k::7]) for k in range(7)])
    assert alone == beside


def test_kept_and_made_again_they_are_the_same(subjects, vectors, home):
    assert [*(home / "computed").iterdir()]
    again = Subjects(vectors, count=6, words=60)
    assert (again.sha256, again.labels) == (subjects.sha256, subjects.labels)
    for path in (home / "computed").iterdir():
        path.write_bytes(b"damaged")
    assert Subjects(vectors, count=6, words=60).sha256 == subjects.sha256
    sent = pickle.loads(pickle.dumps(subjects))
    assert (sent.sha256, sent.predict(subjects.vocabulary)) == (subjects.sha256, subjects.predict(subjects.vocabulary))


def test_clusters_come_of_exact_arithmetic():
    """Another order of the numbers in each sum gives the same clusters."""
    rows = seeded_rng(5).standard_normal((400, 16))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert (clustered(rows, 20) == clustered(rows[:, ::-1], 20)).all()
    assert len(set(clustered(rows, 20).tolist())) == 20


def test_too_few_words_are_refused(vectors):
    with pytest.raises(DataError):
        Subjects(vectors, count=50)
    with pytest.raises(UsageError):
        Subjects(vectors, count=1)
