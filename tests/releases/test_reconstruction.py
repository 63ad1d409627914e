"""Reconstruction: the model is a probability, the search finds what reads best, and nothing but the release is seen."""

import ast
import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest

from publius.errors import DataError, UsageError
from publius.noise.randomness import seeded_rng
from publius.releases.writing.language_model import NGramModel
from publius.releases.writing.likeliest_order import NOTE, log_probability, order_words
from publius.text.bag import Bag
from source_imports import PACKAGE, imports_of
from toy import WORDS

TEXTS = ["a b c a b d a b c".split(), "b c a a d b c e".split()]


def walk(seed, count, words=WORDS[:30]):
    """Public text with an order to learn: after each word one of three."""
    rng, text = seeded_rng(seed), [words[0]]
    for step in rng.integers(0, 3, count - 1).tolist():
        text.append(words[(7 * words.index(text[-1]) + step + 1) % len(words)])
    return text


@pytest.fixture(scope="module")
def model():
    return NGramModel.train([walk(seed, 400) for seed in range(4)])


# The model


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_add_up_to_one(order):
    """Over the words it knows and one place for all others, after every context, met or not."""
    made = NGramModel.train(TEXTS, order)
    words = (*"abcde", "unknown")
    for length in range(order):
        for context in itertools.product("abx", repeat=length):
            assert np.exp(made.log_probabilities(context, words)).sum() == pytest.approx(1)


def by_definition(texts, context, word):
    """Interpolated Kneser-Ney for bigrams as Chen and Goodman write it, count by count."""
    pairs = Counter((a, b) for text in texts for a, b in itertools.pairwise(text))
    before = Counter(b for _, b in pairs)

    def discount(counts):
        once, twice = (sum(c == n for c in counts.values()) for n in (1, 2))
        return min(0.95, once / (once + 2 * twice)) if once else 0.475

    d1, d2 = discount(before), discount(pairs)
    alone = max(before[word] - d1, 0) / before.total() + d1 * len(before) / before.total() / (len(before) + 1)
    total = sum(count for (a, _), count in pairs.items() if a == context)
    if not total:
        return alone
    different = sum(a == context for a, _ in pairs)
    return max(pairs[context, word] - d2, 0) / total + d2 * different / total * alone


@pytest.mark.parametrize("context", ["a", "c", "e", "nowhere"])
def test_bigrams_by_definition(context):
    made = NGramModel.train(TEXTS, 2)
    words = (*"abcde", "unknown")
    expected = [by_definition(TEXTS, context, word) for word in words]
    assert np.exp(made.log_probabilities((context,), words)) == pytest.approx(expected)


def test_repeated_words_and_other_lists_are_answered_alike(model):
    one = model.log_probabilities(("river",), ("castle", "castle", "zzz"))
    assert one[0] == one[1] == model.log_probabilities(("river",), ("castle",))[0]


def test_no_run_goes_across_texts():
    made = NGramModel.train([["a", "b"], ["c", "d"]], 2)
    words = ("a", "b", "c", "d")
    assert np.array_equal(made.log_probabilities(("b",), words), made.log_probabilities((), words))


@pytest.mark.parametrize(("texts", "order"), [([], 3), ([["a"]], 2), (TEXTS, 0), (TEXTS, 6), (TEXTS, True)])
def test_what_cannot_be_learned_is_refused(texts, order):
    with pytest.raises((DataError, UsageError)):
        NGramModel.train(texts, order)


# The search


@pytest.mark.parametrize("seed", range(5))
def test_a_wide_beam_finds_the_best_of_all_orderings(model, seed):
    words = walk(100 + seed, 6)
    best = max(log_probability(order, model) for order in set(itertools.permutations(words)))
    assert order_words(Bag(words), model, 5000).log_probability == pytest.approx(best)


def test_it_reads_better_than_chance_and_near_the_original(model):
    words = tuple(walk(77, 120))
    found = order_words(Bag(words), model)
    shuffled = [tuple(words[i] for i in seeded_rng(seed).permutation(120)) for seed in range(20)]
    assert found.log_probability > max(log_probability(order, model) for order in shuffled) + 100
    assert found.log_probability > log_probability(words, model) - 60
    assert found.perplexity == pytest.approx(math.exp(-found.log_probability / 120))


def test_the_words_are_those_of_the_bag_and_the_answer_is_the_same(model):
    bag = Bag([*walk(3, 40), "unknown-to-the-model", "river", "river"])
    found = order_words(bag, model)
    assert Bag(found.words) == bag
    assert found == order_words(Bag(reversed(list(bag.words()))), model)


class _Alphabet:
    """A model of the user's own: each word wants to follow the one before it in the alphabet."""

    context_length = 1

    def log_probabilities(self, context, words):
        return np.array([0.0 if context and word > context[0] else -5.0 for word in words])


def test_any_model_will_do():
    assert order_words(Bag(["c", "a", "d", "b"]), _Alphabet()).words == ("a", "b", "c", "d")


@pytest.mark.parametrize("answer", [[np.nan, 0.0], [-np.inf, 0.0], [0.0]])
def test_a_model_that_answers_nonsense_is_refused(answer):
    broken = _Alphabet()
    broken.log_probabilities = lambda context, words: np.array(answer)
    with pytest.raises(DataError, match="language model"):
        order_words(Bag(["a", "b"]), broken)


# It sees only the release


def _closure(module):
    """Every module of Publius that ``module`` can import, directly or not, also inside functions."""
    seen, queue = set(), [module]
    while queue:
        name = queue.pop()
        path = PACKAGE.joinpath(*name.split(".")[1:])
        files = [found for found in (path.with_suffix(".py"), path / "__init__.py") if found.exists()]
        if name in seen or not files:
            continue
        seen.add(name)
        found = imports_of(ast.parse(files[0].read_text(encoding="utf-8")))
        queue += [other for other in found if other.startswith("publius.")]
    return seen


def test_it_imports_nothing_that_reads_documents():
    private = (
        "documents.corpus",
        "documents.row_readers",
        "documents.separated",
        "documents.shards",
        "releases.protect",
        "releases.engines",
        "evaluation",
        "sklearn",
    )
    reads = tuple(f"publius.{room}" for room in private)
    for module in (
        "publius.releases.writing.likeliest_order",
        "publius.releases.writing.language_model",
    ):
        seen = _closure(module)
        assert len(seen) > 2
        assert not [name for name in seen if name.startswith(reads)], module


def test_the_closure_is_no_empty_promise():
    assert {"publius.documents.corpus", "publius.documents.row_readers"} <= _closure("publius.cli.obfuscate")


# The writer


@pytest.fixture
def release(publius, stored, corpus_file, tmp_path):
    """A release of twelve bags with a kept topic; the documents are gone."""
    given = ("--epsilon", "2", "--length", "20", "--embeddings", "toy", "--keep", "topic")
    assert publius("obfuscate", corpus_file, *given, "--output", tmp_path / "released")[0] == 0
    corpus_file.unlink()
    return tmp_path / "released"


@pytest.fixture
def public(tmp_path):
    (tmp_path / "public").mkdir()
    path = tmp_path / "public" / "public.txt"
    path.write_text(" ".join(walk(1, 500, WORDS)), encoding="utf-8")
    return path


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_texts_are_marked_and_keep_the_bags(publius, release, public, tmp_path):
    given = ("--writer", "ngram", "--public", public, "--output", tmp_path / "texts.jsonl")
    code, out, err = publius("write", release, *given)
    assert code == 0, err
    assert "not the author's" in out
    for text, bag in zip(lines_of(tmp_path / "texts.jsonl"), lines_of(release / "bags.jsonl"), strict=True):
        assert (text["id"], text["note"]) == (bag["id"], NOTE)
        assert Counter(text["text"].split()) == bag["bag"]
        assert text["source"]["perplexity"] > 1


def test_the_length_of_runs_can_be_said(publius, release, public, tmp_path):
    sources = {}
    for writer in ("ngram", "ngram:1", "ngram:3"):
        output = tmp_path / f"{writer.replace(':', '-')}.jsonl"
        code, _, err = publius("write", release, "--writer", writer, "--public", public, "--output", output)
        assert code == 0, err
        sources[writer] = [text["source"] for text in lines_of(output)]
    assert [each["model"] for each in sources["ngram:1"]] == ["1-grams"] * 12
    assert sources["ngram"] == sources["ngram:3"]
    assert sources["ngram:1"] != sources["ngram"]


@pytest.mark.parametrize("writer", ["ngram:0", "ngram:many", "ngram:9"])
def test_a_length_that_is_none_is_refused(publius, release, public, tmp_path, writer):
    code, _, err = publius(
        "write", release, "--writer", writer, "--public", public, "--output", tmp_path / "t.jsonl"
    )
    assert (code, "1 to 5" in err or "a number from 1" in err) == (2, True), err
    assert not (tmp_path / "t.jsonl").exists()
