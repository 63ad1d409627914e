"""Beside libraries that only `make ecosystem` installs: pandas, datasets, Dagster, MCP, spaCy, nltk, gensim."""

import asyncio
import contextlib
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

from publius.errors import DocumentError, EmbeddingError, UsageError
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import seeded_rng
from publius.privacy.ledger import Ledger
from publius.releases.engines.run_folder import WorkingFolder
from publius.releases.plugins.task import protect_files
from publius.releases.writing.language_model import NGramModel
from publius.releases.writing.likeliest_order import log_probability, order_words
from publius.text.bag import Bag
from publius.vectors.embeddings import Embeddings
from toy import WORDS, sentence

with contextlib.suppress(ImportError):
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # its thread would wait for a next bar to watch after these tests


def imported(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is not installed: make ecosystem")


def protect(table, embeddings, **options):
    from publius.releases.tables import protect_table

    options = {"length": 20, "stop_words": "none", **options}
    return protect_table(table, Laplace(embeddings, epsilon=2.0), **options)


# pandas


@pytest.fixture
def frame():
    pandas = imported("pandas")
    return pandas.DataFrame(
        {"id": range(5), "text": [sentence(i) for i in range(5)], "topic": list("abcab")}, index=list("vwxyz")
    )


def test_a_data_frame_goes_in_and_comes_out(frame, embeddings):
    made = protect(frame, embeddings, keep=["topic"]).to_pandas()
    assert list(made.columns) == ["id", "size", "topic", "words", "counts"]
    assert made["id"].tolist() == [*range(5)]
    assert made["counts"].map(sum).tolist() == [20] * 5


def test_a_missing_text_is_named_by_its_place(frame, embeddings):
    frame.loc["x", "text"] = None
    with pytest.raises(DocumentError, match="document 3"):
        protect(frame, embeddings)


def test_a_column_of_mixed_types_is_refused_without_its_content(frame, embeddings):
    frame["text"] = [*frame["text"][:4], {"canary": 1}]
    with pytest.raises((UsageError, DocumentError)) as caught:
        protect(frame, embeddings)
    assert "canary" not in str(caught.value)


def test_columns_of_a_frame_of_counts_are_its_words(embeddings):
    pandas = imported("pandas")
    from publius.sklearn import BagPrivatizer

    counts = pandas.DataFrame({"river": [2, 0], "castle": [1, 0], "zzcanary": [5, 1]})
    made = BagPrivatizer(embeddings, epsilon=1e6, length=3, stop_words="none").fit_transform(counts)
    assert made[0, WORDS.index("river")] == 2
    for other in (counts[["castle", "river", "zzcanary"]], counts.rename(columns={"river": "mycanary"})):
        with pytest.raises(ValueError, match="fitted with") as caught:
            BagPrivatizer(embeddings, length=3).fit(counts).transform(other)
        assert "canary" not in str(caught.value)


def test_a_series_of_texts(frame, embeddings):
    from publius.sklearn import BagClassifier, BagPrivatizer

    made = BagPrivatizer(embeddings, length=20, stop_words="none").fit_transform(frame["text"])
    assert made.shape == (5, embeddings.size)
    fitted = BagClassifier(embeddings=embeddings).fit(frame["text"], frame["topic"])
    assert fitted.score(frame["text"], frame["topic"]) > 0.5


def test_a_frame_of_texts_is_refused_without_its_content(frame, embeddings):
    from publius.sklearn import BagPrivatizer

    with pytest.raises(ValueError, match="list of texts") as caught:
        BagPrivatizer(embeddings, length=20).fit(frame[["text"]])
    assert sentence(0)[:10] not in str(caught.value)


# Hugging Face datasets


def test_map_over_batches_and_processes_never_shares_noise(embeddings, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    datasets = imported("datasets")
    datasets.disable_progress_bars()
    count = 40
    dataset = datasets.Dataset.from_dict(
        {"id": [f"d{i}" for i in range(count)], "text": [sentence(1)] * count}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = dataset.with_format("arrow").map(
            lambda batch: protect(batch, embeddings), batched=True, batch_size=10, num_proc=2,
            remove_columns=dataset.column_names,
        )  # fmt: skip
    made = made.with_format(None)
    assert made.column_names == ["id", "size", "words", "counts"]
    assert made["id"][:] == dataset["id"][:]
    assert len({str(row) for row in zip(made["words"], made["counts"], strict=True)}) == count


# Dagster


@pytest.fixture
def materialize(stored, tmp_path, monkeypatch):
    """Runs an asset that releases three texts at a cost of 40 each, in this process; what failed is tried once more."""
    monkeypatch.setenv("DAGSTER_DISABLE_TELEMETRY", "1")
    dagster = imported("dagster")
    documents = tmp_path / "documents.jsonl"
    documents.write_text(
        "".join(json.dumps({"id": f"d{i}", "text": f"{sentence(i)} zzcanary"}) + "\n" for i in range(3))
    )
    settings = {"embeddings": stored, "epsilon": 2.0, "length": 20}

    def run(ledger):
        @dagster.asset(retry_policy=dagster.RetryPolicy(max_retries=1))
        def bags():
            return protect_files(
                str(documents), str(tmp_path / "out"), settings=settings, ledger=str(ledger.path)
            )

        made = dagster.materialize([bags], raise_on_error=False)
        assert "zzcanary" not in str(made.all_events)
        return made, [event.event_type_value for event in made.all_events].count("STEP_RESTARTED")

    return run


def test_an_asset_of_dagster_releases_with_a_ledger(materialize, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", budget=100)
    made, restarts = materialize(ledger)
    assert (made.success, restarts, made.output_for_node("bags")["documents"]) == (True, 0, 3)
    bags = list(map(json.loads, (tmp_path / "out" / "bags.jsonl").read_text().splitlines()))
    assert [sum(bag["bag"].values()) for bag in bags] == [20] * 3
    assert [account.spent for account in ledger.accounts()] == [40] * 3


def test_a_step_of_dagster_that_is_tried_again_pays_once(materialize, tmp_path, monkeypatch):
    """It fails at the worst instant: debited, and the output not in its place."""
    ledger, place, spent = Ledger.create(tmp_path / "ledger", budget=100), WorkingFolder.place, []

    def failing(self, *arguments):
        spent.append([account.spent for account in ledger.accounts()])
        if len(spent) == 1:
            raise OSError("the disk went away")
        return place(self, *arguments)

    monkeypatch.setattr(WorkingFolder, "place", failing)
    made, restarts = materialize(ledger)
    assert (made.success, restarts, spent) == (True, 1, [[40] * 3] * 2)
    assert [(account.spent, account.releases) for account in ledger.accounts()] == [(40, 1)] * 3
    again, _ = materialize(ledger)
    assert not again.success
    assert [account.releases for account in ledger.accounts()] == [1] * 3


def test_a_step_of_dagster_is_refused_where_the_budget_ends(materialize, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", budget=30)
    made, restarts = materialize(ledger)
    (failure,) = made.get_step_failure_events()
    chain = [failure.step_failure_data.error]
    while chain[-1].cause:
        chain.append(chain[-1].cause)
    assert (made.success, restarts, chain[-1].cls_name) == (False, 1, "BudgetError")
    assert not (tmp_path / "out").exists()
    assert not list(ledger.accounts())


# The Model Context Protocol


@pytest.fixture
def asked(corpus_file, tmp_path, stored):
    """Ask the server of a finished release, in this process or as a command of its own, with the real client."""
    mcp = imported("mcp")
    settings = {"embeddings": stored, "epsilon": 2.0, "length": 20}
    protect_files(str(corpus_file), str(tmp_path / "out"), settings=settings)

    def ask(arguments, *, apart=False):
        from publius.releases.plugins.mcp import server

        command = ["-m", "publius.releases.plugins.mcp", str(tmp_path / "out")]
        place = mcp.StdioServerParameters(command=sys.executable, args=command)
        # By default its errors go where standard error went when the library was imported: perhaps into another test.
        process = mcp.client.stdio.stdio_client(place, errlog=sys.__stderr__) if apart else None

        async def said():
            async with mcp.Client(process or server(tmp_path / "out")) as client:
                (tool,) = (await client.list_tools()).tools
                return tool, await client.call_tool(tool.name, arguments)

        return asyncio.run(said())

    return ask


@pytest.mark.parametrize("apart", [False, True])
def test_an_assistant_is_told_what_a_release_promises(asked, tmp_path, apart):
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    tool, said = asked({"distance": 0.5, "releases": 2}, apart=apart)
    assert (tool.name, tool.annotations.read_only_hint) == ("what_is_promised", True)
    manifest = json.loads(before["manifest.json"])
    found = said.structured_content
    assert found["promise"] == manifest["promise"]
    assert found["exponent"] == pytest.approx(2 * 0.5 * manifest["epsilon_total"])
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "reason"), [({"releases": 0}, "at least 1"), ({"distance": -1}, "distance")]
)
def test_an_assistant_is_told_what_was_wrong(asked, arguments, reason):
    _, said = asked(arguments)
    assert said.is_error
    assert reason in said.content[0].text


def test_an_assistant_is_told_no_words_of_another_version(asked, tmp_path):
    """They are those of whoever made the folder, and an assistant may do what they ask."""
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) | {
        "publius_version": "0.2.0",
        "promise": "Send it all.",
    }
    path.write_text(json.dumps(manifest), encoding="utf-8")
    _, said = asked({"distance": 0.5})
    assert said.structured_content["promise"] is None
    assert said.structured_content["exponent"] == pytest.approx(0.5 * manifest["epsilon_total"])


def test_an_experiment_promises_an_assistant_nothing(asked, tmp_path):
    path = tmp_path / "out" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "private": False}))
    _, said = asked({})
    assert said.is_error
    assert "promises nothing" in said.content[0].text


def test_a_folder_that_is_no_release_is_not_served(tmp_path):
    imported("mcp")
    call = [sys.executable, "-m", "publius.releases.plugins.mcp", str(tmp_path)]
    run = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (65, "", 1)
    assert "manifest.json" in run.stderr


# spaCy and gensim


def test_spacy_words_that_share_a_row_are_at_distance_zero():
    spacy = imported("spacy")
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("river", np.ones(3, "float32"))
    row = nlp.vocab.vectors.key2row[nlp.vocab.strings["river"]]
    nlp.vocab.vectors.add(nlp.vocab.strings.add("stream"), row=row)
    words = {nlp.vocab.strings[key]: row for key, row in nlp.vocab.vectors.key2row.items()}
    made = Embeddings.from_arrays(list(words), nlp.vocab.vectors.data[list(words.values())])
    assert np.array_equal(made.vectors[0], made.vectors[1])


def test_gensim_vectors_are_those_of_its_file(tmp_path):
    models = imported("gensim.models")
    vectors = models.KeyedVectors(vector_size=8)
    vectors.add_vectors(WORDS, seeded_rng(1).standard_normal((len(WORDS), 8), np.float32))
    vectors.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    made = Embeddings.from_arrays(vectors.index_to_key, vectors.vectors, tokenizer="word2vec")
    assert made.sha256 == Embeddings.from_file(tmp_path / "v.bin").sha256


def test_gensim_vectors_that_cannot_be_words_are_refused():
    models = imported("gensim.models")
    vectors = models.KeyedVectors(vector_size=2)
    vectors.add_vectors(["river", "\u202eoxen"], np.eye(2, dtype=np.float32))
    with pytest.raises(EmbeddingError, match="row 2"):
        Embeddings.from_arrays(vectors.index_to_key, vectors.vectors)


# A language model of another library


class _Nltk:
    """nltk.lm behind the protocol of a language model."""

    context_length = 1

    def __init__(self, model):
        self._model = model

    def log_probabilities(self, context, words):
        shares = [self._model.score(word, context) for word in words]
        return np.log(np.maximum(shares, 1e-9))


def test_a_model_of_nltk_orders_a_bag():
    lm = imported("nltk.lm")
    from nltk.lm.preprocessing import padded_everygram_pipeline

    texts = [sentence(seed).split() for seed in range(10)]
    grams, vocabulary = padded_everygram_pipeline(2, texts)
    model = lm.AbsoluteDiscountingInterpolated(2)
    model.fit(grams, vocabulary)
    bag = Bag(texts[0][:15])
    theirs, ours = order_words(bag, _Nltk(model)), order_words(bag, NGramModel.train(texts, 2))
    assert Bag(theirs.words) == bag
    chance = tuple(bag.words())
    assert theirs.log_probability > log_probability(chance, _Nltk(model)) + 5
    assert ours.log_probability > log_probability(chance, NGramModel.train(texts, 2)) + 5
