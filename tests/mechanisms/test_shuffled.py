"""`Shuffled`: what rows without ids promise, and which mechanisms it is not for."""

import pytest

import publius
from publius.errors import PolicyError, UsageError
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.lifted import Lifted
from publius.privacy.shuffling import Shuffling


def labels(epsilon=3.0):
    return publius.RandomizedResponse(publius.Values(["a", "b", "c"]), epsilon)


def test_it_counts_every_label_and_other():
    found = publius.Shuffled(labels(), documents=1000, delta=1e-6).guarantee
    assert (found.epsilon, found.delta) == (Shuffling(3.0, 4, 1000).epsilon_at(1e-6), 1e-6)
    assert 0 < found.epsilon < 3


def test_the_default_delta_and_several_documents_of_an_author():
    assert publius.Shuffled(labels(), documents=200).guarantee.delta == 1e-6
    found = publius.Shuffled(labels(), documents=11_000, documents_per_author=2).guarantee
    assert found.delta == 1 / 1_100_000
    assert found.epsilon == Shuffling(3.0, 4, 11_000).epsilon_at(1 / 1_100_000, documents_per_author=2)


def test_words_are_refused_with_the_reason(embeddings):
    for mechanism in (Laplace(embeddings, epsilon=1.0), Lifted(Laplace(embeddings, epsilon=1.0), length=5)):
        with pytest.raises(PolicyError, match="as good as an id"):
            publius.Shuffled(mechanism, documents=100)


@pytest.mark.parametrize("wrong", [{"documents": 0}, {"delta": 1.0}, {"documents_per_author": 101}, {"delta": -1}])
def test_numbers_that_do_not_exist_are_refused(wrong):
    with pytest.raises(UsageError):
        publius.Shuffled(labels(), **{"documents": 100} | wrong)
