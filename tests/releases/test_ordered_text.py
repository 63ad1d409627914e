"""Ordered text: what stands where, what may be kept, the bound that holds, and that it never passes for a bag."""

import csv
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publius.distances import earth_movers_distance, word_by_word_distance
from publius.documents.corpus import Document, open_corpus
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.kernels.exponential import Exponential
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.mechanism import OrderedText
from publius.noise.randomness import RunKey, seeded_rng
from publius.privacy.guarantee import Guarantee
from publius.privacy.ledger import Ledger
from publius.privacy.promise import promise
from publius.releases.engines import protect_corpus
from publius.releases.measured import Sources
from publius.releases.page_parts import row_in_words, sample_row
from publius.releases.plan import Experiment, Plan
from publius.releases.protect import protect, release
from publius.releases.signoff import evidence
from publius.text.bag import UNKNOWN, Bag, Encoding, words_of
from publius.text.tokenizer import StopWords, joined, lookup
from toy import WORDS
from vocabularies import vocabulary

TEXT = "The river (and the castle) rose: isn't it zzcanary?  A marble bridge… \u201cgolden\u201d, no!"
ENGLISH = StopWords.load("english")
CHOICES = ["none", "stop-words", "punctuation", "all"]


def ordered_plan(embeddings, keep="none", *, length=5, epsilon=1e6, **options):
    encoding = Encoding(length, "unk", ENGLISH, embeddings.tokenizer)
    lifted = Lifted(Laplace(embeddings, epsilon=epsilon), length, ordered=OrderedText(keep))
    return Plan(lifted, encoding, **options)


def released(text, plan):
    return protect([Document("a", text, {}, 1)], plan, RunKey.fresh())[0][0]


@pytest.mark.parametrize(
    ("keep", "between"),
    [
        ("none", []),
        ("stop-words", ["the", "and", "the", "isn't", "it", "a"]),
        ("punctuation", ["(", ")", ":", "?", "...", '"']),
        ("all", ["the", "(", "and", "the", ")", ":", "isn't", "it", "?", "a", "...", '"']),
    ],
)
def test_what_is_kept_stands_between_the_words(embeddings, keep, between):
    made = released(TEXT, ordered_plan(embeddings, keep, length=7))
    assert [made.words[place] for place in made.kept] == between
    protected = [word for place, word in enumerate(made.words) if place not in made.kept]
    unknown = embeddings.word(embeddings.unknown_index)
    rose = unknown if "rose" not in WORDS else "rose"
    assert protected == ["river", "castle", rose, unknown, "marble", "bridge", "golden"]


def test_a_kept_text_reads_like_one(embeddings):
    made = released("The river (and the castle), a garden.", ordered_plan(embeddings, "all", length=3))
    assert joined(made.words) == "the river (and the castle), a garden"


@pytest.mark.parametrize("keep", CHOICES)
def test_pages_and_read_me_say_what_is_kept(embeddings, tmp_path, keep):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"id": f"d{n}", "text": TEXT}) + "\n" for n in range(3)))
    plan = ordered_plan(embeddings, keep, epsilon=2.0)
    protect_corpus(open_corpus(path), plan, tmp_path / "out", format="jsonl")
    found = evidence(tmp_path / "out", Sources())
    read_me = (tmp_path / "out" / "READ-ME.txt").read_text()
    row = next(each for each in read_me.split("\n\n") if "Each row is a text" in " ".join(each.split()))
    for told in (row, " ".join(found["sentences"]), " ".join(found["not_promised"])):
        said = " ".join(told.split())
        assert "order of a text is not hidden" in said or "in the order of the document" in said, said
        assert ("the stop words" in said) == (keep in ("stop-words", "all"))
        assert ("the punctuation" in said) == (keep in ("punctuation", "all"))
        assert ("stand as in the document" in said) == (keep != "none")
    assert "near those of the document" not in str(found["sentences"])
    assert ("stands in a row; what is kept unprotected apart" in " ".join(read_me.split())) == (
        keep != "none"
    )
    assert found["not_promised"][0] == "What a row tells is not hidden: it is what is released."
    keys = row_in_words(sample_row(tmp_path / "out"))
    assert "words, text: the same in their order" in keys
    assert "kept: the places of what stands as in the document." in keys


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=200), keep=st.sampled_from(CHOICES))
def test_nothing_passes_but_public_words_and_marks(embeddings, text, keep):
    """R13: what stands unprotected is of the public stop list or of a fixed set of marks, whatever the text."""
    made = released(f"river {text} The zzcanary's: don't", ordered_plan(embeddings, keep, length=9))
    public = {"none": set(), "stop-words": ENGLISH.words, "punctuation": set(".,;:!?()-\"'") | {"..."}}
    allowed = public["stop-words"] | public["punctuation"] if keep == "all" else public[keep]
    assert {made.words[place] for place in made.kept} <= allowed
    assert {word for place, word in enumerate(made.words) if place not in made.kept} <= set(WORDS)
    assert len(made.words) - len(made.kept) == made.bag.size == 9


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("ab's-. theriv,"), max_size=80), keep=st.sampled_from(CHOICES))
@pytest.mark.parametrize("profile", ["glove", "word2vec"])
def test_keeping_changes_no_word(profile, text, keep):
    encoding = Encoding(None, "keep", ENGLISH, profile)
    public = {"river", "a", "b", "the-river"}
    assert words_of(text, public, encoding, keep).words == words_of(text, public, encoding).words


def test_kept_things_have_no_text_in_their_repr():
    found = list(lookup("The river!", {"river"}, profile="glove", stop_words=ENGLISH, keep="all"))
    assert repr(found) == "[Kept(), 'river', Kept()]"


def test_the_bag_is_that_of_the_protected_words(embeddings):
    made = released("castle river castle", ordered_plan(embeddings, "all", length=3))
    assert made.bag == Bag(["castle", "castle", "river"])


# The guarantee


def log_probabilities(mechanism, words, out):
    table = mechanism.log_probabilities()
    return sum(table[word, other] for word, other in zip(words, out, strict=True))


def worst_ratios(mechanism, length):
    """The largest ln P(out | x) - ln P(out | x') for each pair of sequences of indices."""
    table = mechanism.log_probabilities()
    step = (table[:, None, :] - table[None, :, :]).max(axis=2)  # each position alone
    sequences = list(itertools.product(range(len(table)), repeat=length))
    return sequences, {
        (x, y): sum(step[a, b] for a, b in zip(x, y, strict=True)) for x in sequences for y in sequences
    }


@pytest.fixture(scope="module")
def finite():
    return Exponential(vocabulary(n=2, size=4), epsilon=1.5)


def test_the_bound_holds_for_all_sequences_and_outputs(finite):
    """docs/theory.md section 2, vectors: epsilon times the sum of the distances, for every pair, exactly."""
    guarantee = finite.guarantee.lifted(2).in_order()
    vectors = finite.embeddings.vectors
    distances = finite.metric.pairwise(vectors, vectors)
    _, worst = worst_ratios(finite, 2)
    for (x, y), ratio in worst.items():
        total = float(sum(distances[a, b] for a, b in zip(x, y, strict=True)))
        assert ratio <= guarantee.privacy_map(total) + 1e-9


def test_it_is_not_earth_movers_privacy(finite):
    """Texts of the same words in another order are at Earth Mover's distance 0, and can be told apart."""
    _, worst = worst_ratios(finite, 2)
    assert worst[(0, 1), (1, 0)] > 1.0


@pytest.mark.parametrize("keep", CHOICES)
def test_the_promise_claims_no_more_than_holds(keep):
    said = promise(Guarantee(2.0, "euclidean", "proven", 1e-12).lifted(100).in_order(keep), private=True)
    assert said.startswith("ORDERED TEXT: this is not a bag-of-words and has no Earth Mover's privacy.")
    assert "exp(2 * S)" in said
    assert ("NOTHING is promised" in said) == (keep != "none")
    assert ("nothing of the style in them is hidden" in said) == (keep in ("stop-words", "all"))
    assert ("how long the document is" in said) == (keep != "none")


@settings(max_examples=30, deadline=None)
@given(a=st.lists(st.sampled_from([*WORDS[:20], UNKNOWN]), min_size=1, max_size=8), seed=st.integers(0, 99))
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_its_distance_is_exact_rounded_up_and_no_less_than_the_bags(embeddings, metric, a, seed):
    b = [WORDS[place] for place in seeded_rng(seed).integers(0, 20, len(a)).tolist()]
    total = word_by_word_distance(a, b, embeddings, metric)
    x, y = ([WORDS[embeddings.unknown_index] if w == UNKNOWN else w for w in words] for words in (a, b))
    exact = sum(
        np.linalg.norm(embeddings.vectors[WORDS.index(v)].astype(float) - embeddings.vectors[WORDS.index(w)],
                       {"euclidean": 2, "manhattan": 1}[metric])
        for v, w in zip(x, y, strict=True)
    )  # fmt: skip
    assert exact <= total <= exact * (1 + 1e-8)
    assert total >= len(a) * earth_movers_distance(Bag(a), Bag(b), embeddings, metric) - 1e-9


def test_its_distance_refuses_what_has_none(embeddings):
    with pytest.raises(PolicyError, match="one length"):
        word_by_word_distance(["river"], ["river", "castle"], embeddings)
    with pytest.raises(DataError) as caught:
        word_by_word_distance(["river"], ["zzcanary"], embeddings)
    assert "canary" not in str(caught.value)


def test_guarantees_of_different_kinds_do_not_compose():
    from publius.privacy.guarantee import compose

    bag = Guarantee(1.0, "euclidean", "proven").lifted(10)
    for other in (bag.in_order(), bag.in_order("all")):
        with pytest.raises(PolicyError, match="orders"):
            compose([bag, other], same_vectors=True)


def test_manifest_says_what_it_is(embeddings):
    manifest = ordered_plan(embeddings, "punctuation").manifest(1)
    assert manifest["kind"] == "ordered-text"
    assert manifest["ordered"] is True
    assert manifest["kept_between"] == "punctuation"
    assert manifest["private"] is True
    assert (
        ordered_plan(embeddings, "none", experiment=Experiment()).manifest(1)["warning"]
        == "NOT PRIVATE: ORDER KEPT"
    )


def test_what_cannot_be_kept_is_refused():
    with pytest.raises(UsageError, match="stop-words"):
        OrderedText("numbers")


# The ledger


def test_no_amount_of_a_bags_ledger_covers_ordered_text(embeddings, tmp_path):
    for unit in ("epsilon-n", "epsilon"):
        ledger = Ledger.create(tmp_path / unit, budget=10**9, unit=unit)
        with pytest.raises(PolicyError, match="epsilon-n-ordered"):
            release("river", Laplace(embeddings, epsilon=1.0), length=2, ordered=OrderedText(), ledger=ledger)
        assert ledger.counts() == (0, 0, 0)


def test_a_ledger_of_ordered_text_covers_both_kinds(embeddings, tmp_path):
    ledger = Ledger.create(tmp_path / "book", budget=10, unit="epsilon-n-ordered")
    for ordered in (OrderedText("all"), None):
        release("river", Laplace(embeddings, epsilon=1.0), length=4, ordered=ordered, ledger=ledger)
    assert ledger.document("document").spent == 8


# Files and engines


def corpus(tmp_path, count=30):
    path = tmp_path / "corpus.jsonl"
    rows = [{"id": f"d{i}", "text": f"The {WORDS[i]}, and {WORDS[i + 1]}."} for i in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return open_corpus(path)


def lines(folder):
    return [json.loads(line) for line in (folder / "bags.jsonl").read_text(encoding="utf-8").splitlines()]


def test_json_lines_are_marked(embeddings, tmp_path):
    protect_corpus(corpus(tmp_path), ordered_plan(embeddings, "all", length=2), tmp_path / "out")
    first = lines(tmp_path / "out")[0]
    assert list(first) == ["id", "size", "bag", "kind", "words", "kept", "text"]
    assert (first["kind"], first["kept"]) == ("ordered-text", [0, 2, 3])
    assert first["words"] == ["the", WORDS[0], ",", "and", WORDS[1]]
    assert first["text"] == f"the {WORDS[0]}, and {WORDS[1]}"


def test_csv_has_a_row_a_place(embeddings, tmp_path):
    plan = ordered_plan(embeddings, "stop-words", length=2)
    protect_corpus(corpus(tmp_path, 1), plan, tmp_path / "out", format="csv")
    with open(tmp_path / "out" / "bags.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["id", "size", "kind", "position", "word", "kept"]
    assert [row[3:] for row in rows[1:3]] == [["1", "the", "1"], ["2", WORDS[0], "0"]]


@pytest.mark.parametrize("resume", [False, True])
def test_a_matrix_is_refused_before_any_work(embeddings, tmp_path, resume):
    with pytest.raises(UsageError, match="no order"):
        protect_corpus(
            corpus(tmp_path), ordered_plan(embeddings), tmp_path / "out", format="mtx", resume=resume
        )
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_a_resumed_run_is_the_same_as_one_in_one_go(embeddings, tmp_path, format):
    documents = corpus(tmp_path)
    plan = ordered_plan(embeddings, "all", epsilon=1.0, experiment=Experiment(seed=3))
    stopped = iter(range(3))
    with pytest.raises(StopIteration):
        protect_corpus(documents, plan, tmp_path / "out", format=format, resume=True, batch_size=7,
                       progress=lambda done: next(stopped))  # fmt: skip
    for name, options in (("out", {"resume": True}), ("whole", {})):
        protect_corpus(documents, plan, tmp_path / name, format=format, **options)
    (one,), (other,) = ((path for path in (tmp_path / name).glob("bags.*")) for name in ("out", "whole"))
    assert one.read_bytes() == other.read_bytes()


def test_a_cluster_writes_the_words_in_order(embeddings, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    from toy_engine import ToyEngine

    plan = ordered_plan(embeddings, "all", length=2)
    protect_corpus(corpus(tmp_path), plan, tmp_path / "out", engine=ToyEngine(twice=True), batch_size=5)
    table = parquet.read_table(tmp_path / "out" / "bags.parquet")
    assert table.column_names == ["id", "size", "kind", "words", "kept", "text"]
    row = {row["id"]: row for row in table.to_pylist()}["d7"]
    assert row["words"] == ["the", WORDS[7], ",", "and", WORDS[8]]
    assert row["kept"] == [0, 2, 3]


def obfuscate(publius, source, output, *options):
    given = ("--epsilon", "1", "--length", "4", "--embeddings", "toy", "--output", output, *options)
    return publius("obfuscate", source.path, *given)


def test_the_command_keeps_order_without_an_experiment(publius, stored, tmp_path):
    code, out, err = obfuscate(
        publius, corpus(tmp_path), tmp_path / "out", "--order", "--keep-between", "all", "--allow-padding"
    )
    assert code == 0, err
    assert "ORDERED TEXT" in out
    assert "NOTHING is promised" in out
    manifest = json.loads(Path(tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["kind"], manifest["private"]) == ("ordered-text", True)


@pytest.mark.parametrize("options", [("--keep-between", "all"), ("--order", "--keep-between", "names")])
def test_the_command_refuses_what_does_not_fit(publius, stored, tmp_path, options):
    code, _, err = obfuscate(publius, corpus(tmp_path), tmp_path / "out", *options)
    assert code == 2
    assert "--order" in err or "stop-words" in err
    assert not (tmp_path / "out").exists()


def test_noise_is_fresh_in_every_release(embeddings):
    plan = ordered_plan(embeddings, epsilon=0.5, length=9)
    assert len({released(" ".join(WORDS[:9]), plan).words for _ in range(20)}) == 20


def test_every_position_has_noise_of_its_own(embeddings):
    plan = ordered_plan(embeddings, epsilon=0.5, length=400)
    words = released("river " * 400, plan).words
    assert len(set(words)) > 10
    assert np.unique([words[i : i + 2] for i in range(399)], axis=0).shape[0] > 50
