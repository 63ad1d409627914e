"""What is signed in tests."""

import pytest

from releases.signing import private_at, values_in, words_in


@pytest.fixture
def values(tmp_path):
    return values_in(tmp_path / "values")


@pytest.fixture
def private(tmp_path):
    return private_at(tmp_path / "private.jsonl")


@pytest.fixture
def words(tmp_path):
    return words_in(tmp_path / "words")
