"""Values that are typed, and anybody's function."""

import pickle

import pytest

from public_posts import alone_and_beside
from publius.classifiers import load_classifier
from publius.classifiers.classifier import Python, Values
from publius.errors import UsageError


def test_a_value_counts_after_trimming_and_in_normal_form():
    values = Values(["open", "caf\u00e9"])
    assert values.labels == ("open", "caf\u00e9", "other")
    assert values.predict([" open ", "cafe\u0301", "OPEN", "", "lost"]) == [
        "open", "caf\u00e9", "other", "other", "other",
    ]  # fmt: skip


def test_a_declared_other_is_the_last_label_and_no_further_one():
    assert Values(["a", "other", "b"]).labels == ("a", "b", "other")


@pytest.mark.parametrize("labels", [[], ["other"], ["a", "a "], [""], ["a\nb"], ["x" * 300]])
def test_labels_that_cannot_be_are_refused(labels):
    with pytest.raises(UsageError):
        Values(labels)


def test_the_digest_is_that_of_the_labels():
    assert Values(["a", "b"]).sha256 == Values(["a", "b"]).sha256 != Values(["b", "a"]).sha256


MODULE = """
labels = ["long", "short"]
def size(text):
    if "boom" in text:
        raise RuntimeError(text)
    return "long" if len(text) > 5 else "short" if text else "neither"
size.labels = labels
class Made:
    labels = ["yes"]
    licence = "MIT"
    def predict(self, text):
        return "yes"
def unlabelled(text):
    return "x"
def broken(text):
    raise ValueError
broken.labels = ["x"]
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "own_classifier_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "python:own_classifier_module"


def test_anybodys_function_is_a_classifier(module):
    found = load_classifier(f"{module}:size")
    assert isinstance(found, Python)
    assert found.labels == ("long", "short", "other")
    assert found.predict(["longer text", "short", "", "boom"]) == ["long", "short", "other", "other"]
    alone, beside = alone_and_beside(found, ["a", "bbbbbbbbb"])
    assert alone == beside
    assert pickle.loads(pickle.dumps(found)).sha256 == found.sha256
    assert load_classifier(f"{module}:Made").public[0]["licence"] == "MIT"


@pytest.mark.parametrize("name", ["unlabelled", "broken", "nothing"])
def test_what_is_none_is_refused(module, name):
    with pytest.raises(UsageError):
        load_classifier(f"{module}:{name}")
