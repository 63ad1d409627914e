"""Publius inside other libraries, with the libraries themselves: those that are missing are for `make ecosystem`."""

import importlib
import json
import sys
import warnings

import pytest

from publius.errors import BudgetError, DataError, DocumentError, UsageError
from publius.mechanisms.kernels.laplace import Laplace
from publius.privacy.ledger import Ledger
from publius.releases.plugins.task import protect_files
from publius.releases.plugins.texts import Texts
from spark_session import end_of_java
from toy import WORDS, sentence

CANARY = "zzcanary"
TEXTS = [f"{sentence(i)} {CANARY}" for i in range(5)]


def plugin(name, library=None):
    """Our module for a library, if the library is here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(library or name, reason=f"{library or name} is not installed: make ecosystem")
        return importlib.import_module(f"publius.releases.plugins.{name}")


@pytest.fixture
def mechanism(embeddings):
    return Laplace(embeddings, epsilon=2.0)


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "ledger", budget=60)  # a release of 20 words costs 40


def is_bag(counts):
    return sum(counts.values()) == 20 and set(counts) <= {*WORDS}


# What all stand on


def test_texts_become_bags(mechanism):
    texts = Texts.of(mechanism, length=20, stop_words="none")
    made = texts.release(TEXTS)
    assert all(is_bag(each.bag.counts) and each.guarantee.epsilon_total == 40 for each in made)
    assert texts.release(TEXTS)[0].bag != made[0].bag  # another draw
    assert texts.manifest(5)["private"] is True


def test_equal_texts_and_ids_never_share_noise(mechanism):
    made = Texts.of(mechanism, length=20).release(["river castle " * 10] * 5, ["same"] * 5)
    assert len({tuple(each.bag.counts.items()) for each in made}) == 5


@pytest.mark.parametrize("name", ["seed", "experiment", "order"])
def test_what_is_weaker_is_not_offered(mechanism, name):
    with pytest.raises(UsageError, match="not offered"):
        Texts.of(mechanism, length=20, **{name: 1})


def test_a_length_is_asked_for(mechanism):
    with pytest.raises(UsageError, match="length"):
        Texts.of(mechanism)


def test_a_ledger_is_debited_before_the_draw(mechanism, ledger):
    texts = Texts.of(mechanism, ledger, length=20)
    texts.release(TEXTS[:2], ["a", "b"])
    assert ledger.document("a").spent == 40
    with pytest.raises(BudgetError):
        texts.release(TEXTS[:2], ["c", "a"])
    assert ledger.document("c").spent == 0
    for some in (None, [], ["x", "y"]):
        with pytest.raises(UsageError, match="ids"):
            texts.release(TEXTS[:1], some)
    assert ledger.document("x").spent == 0


def test_what_is_no_text_is_refused_without_its_content(mechanism):
    with pytest.raises(DocumentError) as caught:
        Texts.of(mechanism, length=20).release([TEXTS[0], {"canary": CANARY}])
    assert CANARY not in str(caught.value)


# Tables


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(library, mechanism):
    plugin(library)
    frames = importlib.import_module(library)
    frame = frames.DataFrame({"id": list("abcde"), "text": TEXTS, "topic": list("xyxyx")})
    table, manifest = frame.publius.protect(mechanism, length=20, stop_words="none", keep=["topic"])
    assert type(table) is type(frame)
    assert list(table.columns) == ["id", "size", "topic", "words", "counts"]
    assert [sum(counts) for counts in table["counts"]] == [20] * 5
    assert (manifest["documents"], manifest["epsilon_total"]) == (5, 40)


def test_datasets(mechanism, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    datasets = importlib.import_module("datasets") if plugin("datasets") else None
    datasets.disable_progress_bars()
    monkeypatch.setattr(importlib.import_module("tqdm").tqdm, "monitor_interval", 0)  # else a thread stays
    source = datasets.Dataset.from_dict({"id": list("abcde"), "text": TEXTS})
    protect = plugin("datasets").protect_dataset
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made, manifest = protect(source, mechanism, length=20, stop_words="none", batch_size=2)
        again, _ = protect(source, mechanism, length=20, stop_words="none", batch_size=2)
    assert made.column_names == ["id", "size", "words", "counts"]
    assert made["id"][:] == list("abcde")
    assert made["words"][:] != again["words"][:]  # nothing comes out of a cache
    assert (manifest["documents"], manifest["private"]) == (5, True)
    features = datasets.Features(
        id=datasets.Value("string"),
        text=datasets.Value("string"),
        topic=datasets.ClassLabel(names=["a", "b", CANARY]),
    )
    described = datasets.DatasetInfo(description=CANARY, citation=CANARY, features=features)
    rows = {"id": list("abcde"), "text": TEXTS, "topic": [0, 1, None, 1, -1]}
    labelled = datasets.Dataset.from_dict(rows, features=features, info=described)
    kept, _ = protect(labelled, mechanism, length=20, stop_words="none", keep="topic")
    assert kept["topic"][:] == ["a", "b", None, "b", None]
    sized = datasets.Dataset.from_dict(
        {**rows, "size": [0, 1, 1, 0, 1]}, features=datasets.Features({**features, "size": datasets.ClassLabel(
            names=[CANARY, *(f"{CANARY}{number}" for number in range(2000))]
        )})
    )  # fmt: skip
    counted, _ = protect(sized, mechanism, length=20, stop_words="none")
    assert {type(size) for size in counted["size"][:]} == {int}  # a column of ours has no names of theirs
    beyond = datasets.Dataset(labelled.data.table, info=datasets.DatasetInfo(features=datasets.Features(
        {**features, "topic": datasets.ClassLabel(names=["a"])}
    )))  # fmt: skip
    with pytest.raises(DataError, match="none of its 1 classes"):
        protect(beyond, mechanism, length=20, stop_words="none", keep="topic")
    kept.save_to_disk(tmp_path / "saved")
    assert [each for each in (tmp_path / "saved").rglob("*") if CANARY.encode() in each.read_bytes()] == []
    assert datasets.load_from_disk(tmp_path / "saved")["topic"][:] == kept["topic"][:]


def test_a_dataset_is_one_release_however_it_is_cut(mechanism, ledger, tmp_path, monkeypatch):
    """Each batch was charged, checked and numbered as if it were a table of its own."""
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    datasets = importlib.import_module("datasets") if plugin("datasets") else None
    datasets.disable_progress_bars()
    monkeypatch.setattr(importlib.import_module("tqdm").tqdm, "monitor_interval", 0)  # else a thread stays
    protect = plugin("datasets").protect_dataset
    settings = {"length": 20, "stop_words": "none", "batch_size": 2}

    def source(ids, texts):
        return datasets.Dataset.from_dict({"id": ids, "text": texts})

    numbered, _ = protect(source([*"abcde"], TEXTS), mechanism, number=True, **settings)
    assert numbered["id"][:] == ["1", "2", "3", "4", "5"]
    with pytest.raises(DocumentError, match="document 5"):
        protect(source([*"abcde"], [*TEXTS[:4], None]), mechanism, ledger=ledger, **settings)
    with pytest.raises(DocumentError, match="document 5"):  # has the id of the first
        protect(source([*"abcda"], TEXTS), mechanism, ledger=ledger, **settings)
    assert [*ledger.accounts()] == []
    protect(source(["e"], TEXTS[:1]), mechanism, ledger=ledger, **settings)
    with pytest.raises(BudgetError, match="nothing debited"):
        protect(source([*"abcde"], TEXTS), mechanism, ledger=ledger, **settings)
    assert [ledger.document(each).releases for each in "e"] == [1]
    assert len([*ledger.accounts()]) == 1
    with pytest.raises(UsageError, match="no option 'lenght': its own are id_field, keep, length"):
        protect(source([*"xy"], TEXTS[:2]), mechanism, ledger=ledger, lenght=20, **settings)
    for wrong, told in (
        ({"keep": "words"}, "cannot be called 'words'"),
        ({"num_proc": -1}, "at least one process"),
        ({"num_proc": 2.5}, "at least one process"),
    ):
        labelled = source([*"xy"], TEXTS[:2]).add_column("words", ["a", "b"])
        with pytest.raises(UsageError, match=told):
            protect(labelled, mechanism, ledger=ledger, **wrong, **settings)
    assert len([*ledger.accounts()]) == 1
    for size in (None, -1, 0):  # all rows in one batch, as `datasets` has it
        whole, _ = protect(source([*"xy"], TEXTS[:2]), mechanism, **{**settings, "batch_size": size})
        assert whole["id"][:] == ["x", "y"]
    with pytest.raises(UsageError, match="give one split"):
        protect(datasets.DatasetDict(train=source([*"ab"], TEXTS[:2])), mechanism, **settings)


# Queries


def test_duckdb(mechanism, ledger):
    duckdb = importlib.import_module("duckdb") if plugin("duckdb") else None
    connection = duckdb.connect()
    connection.execute("CREATE TABLE texts (id VARCHAR, text VARCHAR, topic VARCHAR)")
    connection.executemany(
        "INSERT INTO texts VALUES (?, ?, ?)", [(f"d{i}", text, "ab"[i % 2]) for i, text in enumerate(TEXTS)]
    )
    manifest = plugin("duckdb").register(connection, mechanism, ledger=ledger, length=20, stop_words="none")
    connection.execute("CREATE TABLE bags AS SELECT id, topic, publius(id, text) AS bag FROM texts")
    rows = connection.execute("SELECT id, topic, bag FROM bags ORDER BY id").fetchall()
    assert [row[:2] for row in rows] == [("d0", "a"), ("d1", "b"), ("d2", "a"), ("d3", "b"), ("d4", "a")]
    assert all(is_bag(row[2]) for row in rows)
    assert [ledger.document(f"d{i}").releases for i in range(5)] == [1] * 5  # no row was drawn twice
    assert manifest["epsilon_total"] == 40
    with pytest.raises(duckdb.Error, match="budget") as caught:
        connection.execute("SELECT publius(id, text) FROM texts").fetchall()
    assert CANARY not in str(caught.value)


def test_duckdb_draws_for_every_row_of_equal_texts(mechanism):
    duckdb = importlib.import_module("duckdb") if plugin("duckdb") else None
    connection = duckdb.connect()
    plugin("duckdb").register(connection, mechanism, length=20)
    rows = connection.execute("SELECT publius('a', 'river castle garden') FROM range(6)").fetchall()
    assert len({str(row) for row in rows}) == 6


def test_duckdb_refuses_missing_texts(mechanism):
    duckdb = importlib.import_module("duckdb") if plugin("duckdb") else None
    connection = duckdb.connect()
    plugin("duckdb").register(connection, mechanism, length=20)
    with pytest.raises(duckdb.Error, match="give a string"):
        connection.execute("SELECT publius('a', NULL::VARCHAR)").fetchall()


# spaCy


@pytest.fixture
def nlp(stored):
    if plugin("spacy"):
        import spacy

        return spacy.blank("en")
    return None


def settings(**more):
    return {"settings": {"embeddings": "toy", "epsilon": 2.0, "length": 20, "stop_words": "none"}, **more}


def test_spacy_pipe(nlp):
    nlp.add_pipe("publius", config=settings())
    docs = list(nlp.pipe(TEXTS, batch_size=2))
    assert [doc.text for doc in docs] == TEXTS
    assert all(is_bag(doc._.publius.bag.counts) for doc in docs)
    assert nlp(TEXTS[0])._.publius.guarantee.epsilon_total == 40


def test_spacy_ledger(nlp, ledger):
    nlp.add_pipe("publius", config=settings(ledger=str(ledger.path)))
    with pytest.raises(UsageError, match="by their ids"):
        nlp(TEXTS[0])
    doc = nlp.make_doc(TEXTS[0])
    doc._.publius_id = "a"
    nlp.get_pipe("publius")(doc)
    assert ledger.document("a").releases == 1


def test_spacy_gives_what_is_charged_from_processes_and_files_too(nlp, ledger):
    """spaCy writes what its documents carry, between its processes as into files: a release is read as it was."""
    from spacy.tokens import Doc, DocBin

    nlp.add_pipe("publius", config=settings(ledger=str(ledger.path)))
    docs = [nlp.make_doc(text) for text in TEXTS]
    for place, doc in enumerate(docs):
        doc._.publius_id = f"d{place}"
    made = list(nlp.pipe(docs, n_process=2, batch_size=2))
    assert [doc.text for doc in made] == TEXTS
    assert all(
        is_bag(doc._.publius.bag.counts) and doc._.publius.guarantee.epsilon_total == 40 for doc in made
    )
    assert [ledger.document(f"d{place}").releases for place in range(5)] == [1] * 5
    assert len({doc._.publius.bag for doc in made}) == 5  # another draw in each process
    again = Doc(nlp.vocab).from_bytes(made[0].to_bytes())
    assert again._.publius == made[0]._.publius
    (kept,) = DocBin(docs=made[:1], store_user_data=True).get_docs(nlp.vocab)
    assert kept._.publius == made[0]._.publius


def test_spacy_keeps_its_settings_in_the_configuration(nlp, tmp_path):
    import spacy

    nlp.add_pipe("publius", config=settings())
    nlp.to_disk(tmp_path / "model")
    assert is_bag(spacy.load(tmp_path / "model")(TEXTS[0])._.publius.bag.counts)


# Spark


def test_spark(mechanism, monkeypatch):
    plugin("spark", "pyspark")
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        try:
            function, manifest = plugin("spark", "pyspark").protected(mechanism, length=20, stop_words="none")
            session.udf.register("publius", function)
            session.createDataFrame([(text,) for text in TEXTS], ["text"]).createOrReplaceTempView("texts")
            rows = session.sql("SELECT publius(text) AS bag FROM texts").collect()
        finally:
            session.stop()
            end_of_java()
    assert all(is_bag(row.bag) for row in rows)
    assert len(rows) == 5
    assert manifest["epsilon_total"] == 40


# A task


def test_a_task_says_what_it_did_in_json(stored, corpus_file, tmp_path, ledger):
    chosen = {"embeddings": stored, "epsilon": 2.0, "length": 20}
    output = str(tmp_path / "out")
    made = protect_files(
        str(corpus_file), output, settings=chosen, ledger=str(ledger.path), reading={"keep": ("topic",)}
    )
    assert json.loads(json.dumps(made)) == made
    assert (made["output"], made["documents"], made["manifest"]["labels"]) == (output, 12, ["topic"])
    assert ledger.document("doc0").releases == 1
    with pytest.raises(UsageError, match="not empty"):
        protect_files(str(corpus_file), output, settings=chosen, ledger=str(ledger.path))
    assert ledger.document("doc0").releases == 1
    with pytest.raises(UsageError, match="not offered"):
        protect_files(str(corpus_file), output, settings={**chosen, "seed": 1})


def test_a_task_releases_the_field_and_not_the_text_beside_it(tmp_path):
    rows = [{"id": str(n), "product": ("loans", None)[n == 3], "text": "I lost my card"} for n in range(4)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = {
        "preserve": "field:product", "values": ("loans", "cards", "other"), "other": "other", "bound": 20.0,
    }  # fmt: skip
    assert protect_files(str(path), str(tmp_path / "out"), settings=settings)["documents"] == 4
    bags = (tmp_path / "out" / "bags.jsonl").read_text().splitlines()
    assert [json.loads(line)["label"] for line in bags] == ["loans", "loans", "loans", "other"]


# First Presidio, then Publius


def test_presidio_first(mechanism, nlp):
    presidio = pytest.importorskip("presidio_analyzer", reason="presidio is not installed: make ecosystem")
    recognizer = presidio.PatternRecognizer(
        "CASE_NUMBER", patterns=[presidio.Pattern("case", r"\b[A-Z]{2}-\d{4}\b", 0.9)]
    )
    text = f"castle AB-1234 river {sentence(3)}"
    found = recognizer.analyze(text, ["CASE_NUMBER"], None)
    for each in sorted(found, key=lambda each: -each.start):
        text = text[: each.start] + text[each.end :]
    assert len(found) == 1
    assert "1234" not in text
    (made,) = Texts.of(mechanism, length=20, stop_words="none").release([text])
    assert is_bag(made.bag.counts)
