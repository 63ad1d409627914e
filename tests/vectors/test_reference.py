"""References: learned from public texts, stored, verified, refused when damaged."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from publius.errors import DataError, EmbeddingError, UsageError
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning import aspects
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.clusters import clusters
from publius.vectors.learning.fit_reference import fit_reference
from publius.vectors.learning.prototypes import GRID, nearest_with_gap, on_grid
from publius.vectors.learning.reference import Reference, make_themes, new_reference_folder, open_reference
from publius.vectors.learning.typical_words import drawable, tilt
from references import TOPICS, fitted, made, public_documents
from vector_files import npy, npy_of_shape


@pytest.mark.parametrize("features", ["log-odds", "discriminants"])
def test_the_topic_of_new_documents_is_the_nearest_prototype(features):
    reference = fitted(features=features)
    aspect = reference.aspect("topic")
    documents = [
        np.array([reference.index(w) for w in words if w in reference])
        for words, _ in public_documents(seed=9)
    ]
    nearest = np.linalg.norm(
        aspect.positions(documents)[:, None] - aspect.sets[0].points[None], axis=2
    ).argmin(1)
    named = [aspect.sets[0].labels[k] for k in nearest]
    assert (
        np.mean([name == topic for name, (_, topic) in zip(named, public_documents(seed=9), strict=True)])
        > 0.95
    )


def test_the_words_of_a_prototype_are_those_of_its_topic():
    reference = fitted()
    found = reference.aspect("topic").sets[0]
    for k, label in enumerate(found.labels):
        typical = {reference.vocabulary[i] for i in found.typical(k, 5)}
        assert typical <= set(TOPICS[label])


def test_it_comes_back_from_the_store_as_it_was(tmp_path):
    reference = fitted()
    stored = reference.save(tmp_path / "toy")
    assert stored.sha256 == reference.sha256
    stored.verify()
    again = pickle.loads(pickle.dumps(stored))  # our own bytes
    assert again.sha256 == reference.sha256
    memory = pickle.loads(pickle.dumps(reference))  # our own bytes
    assert memory.sha256 == reference.sha256
    assert reference.places  # what is kept for speed does not travel
    assert pickle.loads(pickle.dumps(reference)).places == reference.places  # our own bytes
    for (name, one), (other, two) in zip(reference.arrays(), stored.arrays(), strict=True):
        assert name == other
        assert (one == two).all()


def test_a_change_of_one_number_is_found(tmp_path):
    stored = fitted().save(tmp_path / "toy")
    path = tmp_path / "toy" / "topic.3.weights.npy"
    data = bytearray(path.read_bytes())
    data[-8], data[-16] = data[-8] ^ 1, data[-16] ^ 1
    path.write_bytes(bytes(data))
    with pytest.raises(EmbeddingError):
        open_reference(tmp_path / "toy").verify()
    del stored


@pytest.mark.parametrize("damage", ["features", "words", "record", "link", "shape", "huge", "header", "json"])
def test_a_damaged_folder_is_refused(tmp_path, damage):
    folder = tmp_path / "toy"
    fitted().save(folder)
    record = json.loads((folder / "reference.json").read_text())
    if damage == "features":
        (folder / "topic.features.npy").unlink()
    elif damage == "words":
        (folder / "words.txt").write_text("a\nb\n")
    elif damage == "record":
        record["aspects"][0]["rule"] = "random"
        (folder / "reference.json").write_text(json.dumps(record))
    elif damage == "link":
        (folder / "background.npy").rename(tmp_path / "elsewhere.npy")
        (folder / "background.npy").symlink_to(tmp_path / "elsewhere.npy")
    elif damage == "shape":
        np.save(folder / "topic.box.npy", np.zeros((2, 7)))
    elif damage == "huge":
        (folder / "topic.box.npy").write_bytes(npy_of_shape((10**20, 7)))
    elif damage == "header":
        (folder / "topic.box.npy").write_bytes(npy(np.zeros((2, 7))).replace(b"'descr'", b"'descr "))
    else:
        (folder / "reference.json").write_text("{")
    with pytest.raises(EmbeddingError):
        open_reference(folder)


@pytest.mark.parametrize("word", ["", " a", "a\x07", "a" * 10_000])
def test_words_that_are_not_admitted_are_named_as_the_reason(tmp_path, word):
    folder = tmp_path / "toy"
    fitted().save(folder)
    _, *others = (folder / "words.txt").read_text(encoding="utf-8").split("\n")
    (folder / "words.txt").write_text("\n".join([word, *others]), encoding="utf-8")
    with pytest.raises(EmbeddingError, match="a word that is not admitted"):
        open_reference(folder)


def test_pickled_arrays_are_never_read(tmp_path):
    folder = tmp_path / "toy"
    fitted().save(folder)
    np.save(folder / "background.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(EmbeddingError):
        open_reference(folder)


def test_the_same_texts_give_the_same_reference():
    assert fitted().sha256 == fitted().sha256


def test_where_it_comes_from_is_said():
    source = fitted().source
    assert source["documents"] == 60
    assert source["topics"] == {"court": 20, "garden": 20, "music": 20}
    assert "public" in source["notice"]
    assert source["choices"]["topic"]["nearest_is_its_topic"] > 0.9


@pytest.mark.parametrize(
    "documents",
    [
        [],
        [(["tea"], "a")],
        [(["tea", "milk"], "a")] * 9,
        [(["tea", "milk"], "a")] * 9 + [(["tea", "milk"], None)],
        [(["tea", "milk"], "a")] * 9 + [(["tea", "milk"], "b")],
        [(["tea", "milk"], "a")] * 9 + [(["tea", "milk"], "b\x00")] * 9,
        [([], "a")] * 9 + [([], "b")] * 9,
    ],
)
def test_too_little_to_learn_from_is_refused(documents):
    with pytest.raises(DataError):
        fit_reference(documents, name="toy")


@pytest.mark.parametrize("settings", [{"features": "magic"}, {"dimension": 0}, {"saturation": float("nan")}])
def test_settings_that_do_not_exist_are_refused(settings):
    with pytest.raises(UsageError):
        LearningSettings(**settings)


def test_texts_without_labels_keep_the_meaning_only():
    documents = [(words, None) for words, _ in public_documents()]
    words = sorted({word for found, _ in documents for word in found})
    vectors = np.random.default_rng(0).normal(size=(len(words), 8))
    embeddings = Embeddings.from_arrays(words, vectors)
    reference = fit_reference(documents, name="toy", embeddings=embeddings)
    assert reference.keeps == ("meaning",)
    assert reference.aspect("meaning").kind == "embedding"
    with pytest.raises(UsageError, match="meaning"):
        reference.aspect("topic")
    with pytest.raises(UsageError, match="word vectors"):
        fit_reference(documents, name="toy")


def test_hardly_a_text_that_was_learned_from_fits_nothing(monkeypatch):
    """Also where prototypes that were learned from fewer texts happen to stand right among those held out."""
    apart = aspects._positions_apart

    def right_there(*arguments):
        known, _ = apart(*arguments)
        return known, aspects._cluster_points(known, 8)[0]

    monkeypatch.setattr(aspects, "_positions_apart", right_there)
    found = fitted(prototypes=8)
    meaning = found.aspect("meaning")
    places = [
        np.array([found.index(word) for word in words if word in found]) for words, *_ in public_documents()
    ]
    positions = meaning.positions([each for each in places if len(each)])
    for each in meaning.sets:
        gaps = nearest_with_gap("cosine", positions, each.points)[1]
        assert (gaps > each.farthest["cosine"] + 1e-9).mean() <= 0.02


def test_words_of_strange_characters_are_left_out():
    documents = [([*words, "bad\x1bword", "<unk>"], topic) for words, topic in public_documents()]
    assert not {"bad\x1bword", "<unk>"} & set(fit_reference(documents, name="toy").vocabulary)


def test_sums_of_features_are_exact():
    features = on_grid(np.random.default_rng(1).normal(size=(50, 3)) * 100)
    assert (np.abs(features) < 64).all()
    assert (features / GRID == np.round(features / GRID)).all()
    order = np.random.default_rng(2).integers(0, 50, 10_000)
    assert (features[order].sum(axis=0) == features[np.sort(order)].sum(axis=0)).all()


def test_features_that_are_no_numbers_are_refused():
    with pytest.raises(DataError):
        made([[np.nan], [1.0]], [[0.0]])
    with pytest.raises(DataError):
        made([[0.0], [1.0]], [[np.inf]])


def test_a_document_of_foreign_indices_is_refused():
    aspect = made([[0.0], [1.0]], [[0.0]]).aspect("topic")
    with pytest.raises(DataError):
        aspect.positions([np.array([3])])
    with pytest.raises(DataError):
        aspect.positions([np.array([-1])])


def test_no_cluster_is_empty_and_too_many_are_refused():
    points = np.random.default_rng(0).normal(size=(30, 4))
    assert np.bincount(clusters(points, 12), minlength=12).min() > 0
    with pytest.raises(DataError):
        clusters(np.ones((5, 2)), 2)


def test_a_tilt_brings_the_mean_near_the_target():
    features = np.random.default_rng(0).normal(size=(200, 2))
    chances = tilt(np.full(200, 1 / 200), features, np.array([0.5, -0.3]), 1e-6)
    assert chances @ features == pytest.approx([0.5, -0.3], abs=1e-3)
    assert chances.sum() == pytest.approx(1)


def test_word_weights_are_whole_and_sum_exactly():
    _, weights = drawable(np.random.default_rng(0).dirichlet(np.ones(50), 7), 20)
    assert (weights.sum(axis=1) == 2**32).all()


def test_names_that_are_taken_or_none_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path))
    fitted().save(new_reference_folder("toy"))
    assert Reference.load("toy").name == "toy"
    for name in ("toy", "themes", "../x", ""):
        with pytest.raises(UsageError):
            new_reference_folder(name)
    with pytest.raises(UsageError, match="known are themes, toy"):
        Reference.load("other")
    fitted().save(tmp_path / "beside")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"named by its path: \./beside"):
        Reference.load("beside")
    assert Reference.load("./beside").sha256 == Reference.load(Path("beside")).sha256 == fitted().sha256


def test_themes_need_no_corpus():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 10)) * 4
    words = [a + b + c for a in "bcdfghklmnprst" for b in "aeiou" for c in ("la", "ne", "ro", "ti")]
    vectors = centres[np.arange(len(words)) % 4] + rng.normal(size=(len(words), 10))
    themes = make_themes(Embeddings.from_arrays(words, vectors))
    assert themes.keeps == ("topic", "meaning")
    assert themes.aspect("topic").sets[0].size == 10
    assert all(label.count(", ") == 2 for label in themes.aspect("topic").sets[0].labels)
