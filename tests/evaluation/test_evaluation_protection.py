"""Texts through a mechanism for an experiment, and what the informed adversary makes of it."""

from types import SimpleNamespace

import numpy as np
import pytest

from letters import AUTHORS, rows, text, write
from publius.distances.metrics import Euclidean
from publius.errors import DocumentError
from publius.evaluation.adversaries import PRESETS
from publius.evaluation.attackers.informed import Informed
from publius.evaluation.attackers.koppel import Koppel
from publius.evaluation.dataset_files import open_dataset
from publius.evaluation.encoding import OUTSIDE, EncodedText, encode_dataset
from publius.evaluation.neighborhood import MOST_TEXTS, neighborhood
from publius.evaluation.protection import displacement, protect_texts
from publius.evaluation.protectors import Protector, Unprotected
from publius.evaluation.readings import Reading
from publius.evaluation.transition import EstimatedTransition, ExactTransition, transition_of
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.registry import make_document_mechanism
from publius.noise.randomness import RunKey, seeded_rng
from publius.releases.label_shares import LabelShares, TopicShare
from publius.text.bag import UNKNOWN, Bag, Encoding
from publius.text.tokenizer import StopWords
from references import fitted, public_documents


@pytest.fixture
def data(tmp_path):
    return open_dataset(write(tmp_path / "corpus.jsonl", rows()))


def encoded(data, embeddings, length=None, unknown="unk", training="same"):
    encoding = Encoding(length, unknown, StopWords.load("english"), embeddings.tokenizer)
    return encode_dataset(data, embeddings, encoding, training)


def test_texts_are_cut_to_the_shortest(data, embeddings):
    found = encoded(data, embeddings)
    assert {len(t.words) for t in (*found.known, *found.unknown)} == {found.size} == {120}
    assert {len(t.words) for t in encoded(data, embeddings, 50, training="all").known} == {120}
    padded = encoded(data, embeddings, 130).unknown[0]
    assert UNKNOWN not in padded.words[120:]
    assert [embeddings.vocabulary[place] for place in padded.indices[120:]] == list(padded.words[120:])
    assert padded.words == encoded(data, embeddings, 130).unknown[0].words


def test_what_fills_a_text_up_is_not_its_own(data, embeddings):
    short, full = encoded(data, embeddings, 130), encoded(data, embeddings, 120)
    for filled, own in zip((*short.known, *short.unknown), (*full.known, *full.unknown), strict=True):
        assert (filled.real, filled.filled.size, filled.bag) == (120, 130, own.bag)
        assert (filled.guessed[:120] == own.indices).all()
    assert any((filled.guessed[120:] != filled.indices[120:]).any() for filled in short.unknown)
    clean = Unprotected().protect(short.unknown, RunKey.seeded(5), "a")
    assert [(item.bag, item.words) for item in clean] == [(own.bag, own.words) for own in full.unknown]


def test_a_text_without_words_is_refused(tmp_path, embeddings):
    records = [*rows()[:-1], {**rows()[-1], "text": "the of and"}]
    data = open_dataset(write(tmp_path / "corpus.jsonl", records))
    with pytest.raises(DocumentError, match=r"corpus\.jsonl', document 8 is empty") as refused:
        encoded(data, embeddings)
    assert refused.value.id == "dot-unknown"


def test_noise_is_paired_and_independent_of_company(data, embeddings):
    texts = encoded(data, embeddings).unknown
    key = RunKey.seeded(5)
    mechanism = Laplace(embeddings, epsilon=3.0)
    together = protect_texts(texts, mechanism, key, "a")
    alone = [protect_texts([text], mechanism, key, "a")[0] for text in texts]
    other = protect_texts(texts, mechanism, key, "b")
    assert [item.words for item in together] == [item.words for item in alone]
    assert all(a.words != b.words for a, b in zip(together, other, strict=True))


def test_kept_words_pass_in_place(tmp_path, embeddings):
    records = rows()
    records[1]["text"] = "hermione " + records[1]["text"]
    data = open_dataset(write(tmp_path / "corpus.jsonl", records))
    found = encoded(data, embeddings, unknown="keep")
    released = protect_texts(found.unknown, Laplace(embeddings, epsilon=0.1), RunKey.seeded(1), "a")
    assert released[0].words[0] == "hermione"
    assert released[0].outputs[0] == OUTSIDE
    assert set(released[0].words[1:]) <= set(embeddings.vocabulary)


def test_the_rows_that_say_a_topic_are_counted_exactly():
    """Of a journalist's rows that say "court" so many are of it: the mean over the noise, and not one draw of it."""
    mechanism = make_document_mechanism("prototype", fitted(), bound=3.0)
    protector = Protector(
        mechanism, Reading(mechanism.reference, mechanism.length, "drop"), metric="euclidean"
    )
    texts = [
        EncodedText(str(place), f"a{place % 7}", topic, (), mechanism.indices(words))
        for place, (words, topic) in enumerate(public_documents(40, seed=8))
    ]
    found = LabelShares.of_record(protector.labels(texts))
    copies = 400
    rows = [row for copy in range(copies) for row in protector.protect(texts, RunKey.seeded(3), str(copy))]
    names = [mechanism.outcomes[row.prototype].label for row in rows]
    for each in found.topics:
        counted = names.count(each.topic)
        good = sum(name == text.topic == each.topic for name, text in zip(names, texts * copies, strict=True))
        slack = 6 * (len(rows) * 0.25) ** 0.5  # six standard deviations: 2e-9 a look
        assert abs(counted - copies * each.printed) <= slack
        assert abs(good - copies * each.texts * each.right) <= slack
        assert each.right_of_printed == pytest.approx(each.texts * each.right / each.printed)
        assert each.right_of_printed == pytest.approx(good / counted, abs=0.05)
    assert TopicShare("court", 4, 0.5).right_of_printed is None


def test_displacement_counts_words_of_the_vocabulary(data, embeddings):
    texts = encoded(data, embeddings, 200).unknown  # 80 of 200 fill up, and do not count
    mechanism = Laplace(embeddings, epsilon=2.0)
    released = protect_texts(texts, mechanism, RunKey.seeded(2), "a")
    pairs = [
        (a, b) for item in released for a, b in zip(item.text.words[:120], item.words[:120], strict=True)
    ]
    vector = {
        word: embeddings.vectors[embeddings.index(word)].astype(float) for word in embeddings.vocabulary
    }
    found = displacement(released, mechanism)
    assert found.changed == pytest.approx(np.mean([a != b for a, b in pairs]))
    assert found.mean_distance == pytest.approx(
        np.mean([np.linalg.norm(vector[a] - vector[b]) for a, b in pairs])
    )


def exponential(embeddings, scale):
    """A mechanism with exact rows, by hand: probabilities proportional to exp(-scale d)."""
    distances = Euclidean().pairwise(embeddings.vectors, embeddings.vectors)
    logs = -scale * distances
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return SimpleNamespace(
        embeddings=embeddings,
        log_probabilities=lambda words: logs[words],
        draw=lambda words, rng: np.array([rng.choice(len(logs), p=np.exp(logs[word])) for word in words]),
    )


def test_push_is_the_mixture_of_rows(embeddings):
    mechanism = exponential(embeddings, 1.0)
    shares = seeded_rng(4).dirichlet(np.ones(7), 3)
    words = np.array([5, 9, 5, 30, 31, 59, 0])  # a word may stand there twice
    expected = sum(
        np.outer(shares[:, at], np.exp(mechanism.log_probabilities(word))) for at, word in enumerate(words)
    )
    transition = transition_of(mechanism, seeded_rng(1))
    assert isinstance(transition, ExactTransition)
    assert np.allclose(transition.push(shares, words), expected, atol=1e-14)


def test_estimated_push_converges_to_frequencies(embeddings):
    mechanism = Laplace(embeddings, epsilon=3.0)
    transition = transition_of(mechanism, seeded_rng(1))
    assert isinstance(transition, EstimatedTransition)
    found = transition.push(np.ones((1, 40)) / 40, np.zeros(40, np.int64))
    draws = mechanism.apply(np.zeros(20_000, np.int64), mechanism.noise(20_000, seeded_rng(2)))
    assert np.abs(found[0] - np.bincount(draws, minlength=embeddings.size) / 20_000).max() < 0.03
    assert found.sum() == pytest.approx(1.0)


def test_informed_beats_koppel_where_theory_says_so(embeddings):
    """A mechanism that never keeps a word: its outputs share no letters with the author's, but their law is known."""
    size, rng = embeddings.size, seeded_rng(6)
    rows = 0.7 * np.roll(np.eye(size), 20, axis=1) + 0.3 / size
    known = [Bag(text(author, 0, 400).split()) for author in AUTHORS]
    truth = [author for author in AUTHORS for _ in range(10)]
    released = []
    for seed, author in enumerate(truth, start=1):
        words = [embeddings.index(word) for word in text(author, seed, 60).split()]
        released.append(Bag([embeddings.vocabulary[rng.choice(size, p=rows[word])] for word in words]))
    informed = Informed(ExactTransition(lambda words: np.log(rows[words]), size), embeddings).fit(
        known, AUTHORS
    )
    assert informed.score(released, truth) >= 0.9
    assert Koppel().fit(known, AUTHORS).score(released, truth) <= 0.5


def test_informed_uses_words_that_passed(embeddings):
    known = [Bag([*text(author, 0).split(), *[f"name{author}"] * 5]) for author in AUTHORS]
    transition = transition_of(exponential(embeddings, 0.0), seeded_rng(1))
    attacker = Informed(transition, embeddings).fit(known, AUTHORS)
    released = [Bag([*WORDS_ANY, f"name{author}"]) for author in AUTHORS]
    assert attacker.predict(released) == list(AUTHORS)
    assert np.isfinite(attacker.decision_function([Bag(["never-seen"])])).all()


WORDS_ANY = ("river", "judge", "engine")


@pytest.mark.parametrize(("texts", "asked", "compared"), [(201, 80, 80), (200, 80, 200), (210, 200, 200)])
def test_of_a_large_corpus_a_sample_is_compared(monkeypatch, embeddings, texts, asked, compared):
    """The quick preset looks at fewer; up to 200 texts are all compared, and only then the table is kept."""
    from publius import distances

    def between(bags, embeddings, metric):
        return [[abs(i - j) / 7 for j in range(len(bags))] for i in range(len(bags))]

    monkeypatch.setattr(distances, "pairwise_distances", between)
    word = embeddings.vocabulary[0]
    found = neighborhood(
        [EncodedText(f"d{i}", f"a{i}", "t", (word,), np.zeros(1, np.int64)) for i in range(texts)],
        embeddings, "euclidean", asked,
    )  # fmt: skip
    assert len(found.nearest) == compared
    assert len(found.table) == (compared if texts <= 200 else 0)


def test_the_quick_preset_compares_fewer_texts():
    assert PRESETS["quick"].compared < PRESETS["thorough"].compared == MOST_TEXTS
