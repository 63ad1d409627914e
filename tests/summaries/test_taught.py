"""A summary of public clusters leaves a classifier of each group's labels, made of noisy counts alone."""

import pytest
from made_collection import TOPICS, made_rows, written

from publius.documents.corpus import open_corpus
from publius.errors import MissingExtraError
from publius.noise.randomness import seeded_rng
from publius.summaries.run import summarize_corpus
from publius.summaries.summary import Summary


@pytest.fixture(scope="module")
def clusters():
    from publius.classifiers.clusters import Clusters

    rng = seeded_rng(21)
    texts = [" ".join(words[int(at)] for at in rng.integers(0, 4, 3)) for words in TOPICS.values() for _ in range(60)]
    try:
        return Clusters.train(texts, clusters=6)
    except MissingExtraError as error:
        pytest.skip(str(error))


def test_each_field_has_a_classifier(clusters, tmp_path):
    from publius.classifiers import load_classifier

    rows = [{**row, "year": "2026" if at % 2 else "2025", "a/b": "x"} for at, row in enumerate(made_rows(600, 22))]
    corpus = open_corpus(
        written(tmp_path / "in.jsonl", rows), author_field="author", fields=("district", "year", "a/b")
    )
    by = {"district": ["north", "south"], "year": ["2025", "2026"], "a/b": ["x"]}
    of = Summary(clusters, epsilon=8, by=by, shares="topics=1")
    summarize_corpus(corpus, of, tmp_path / "out", workers=1)
    homes = {path.name for path in (tmp_path / "out" / "classifier").iterdir()}
    assert homes == {"district", "year", "field 3"}
    taught = load_classifier(str(tmp_path / "out" / "classifier" / "district"))
    assert taught.labels == ("north", "south", "other")
    assert taught.predict("bus tram driver bus") == "north"
    assert taught.predict("heating landlord rent") == "south"
    assert "classifier/" in (tmp_path / "out" / "README.txt").read_text()


def test_one_field_is_found_by_the_summary(clusters, tmp_path, run):
    from publius.classifiers import load_classifier

    corpus = open_corpus(written(tmp_path / "in.jsonl", made_rows(400)), author_field="author", fields=("district",))
    of = Summary(clusters, epsilon=4, by={"district": ["north", "south"]}, shares="totals=0.2,topics=0.8")
    summarize_corpus(corpus, of, tmp_path / "out", workers=1)
    assert load_classifier(str(tmp_path / "out")).labels == ("north", "south", "other")
    public = written(tmp_path / "new.jsonl", [{"text": "bus tram"}, {"text": "rent boiler"}])
    code, _, err = run(
        "label", public, "--classifier", tmp_path / "out", "--epsilon", 5, "--output", tmp_path / "labels"
    )
    assert code == 0, err
    meta = tmp_path / "out" / "classifier" / "district" / "meta.json"
    meta.write_text(meta.read_text().replace('"district"', '"other"'))
    code, _, err = run("label", public, "--classifier", tmp_path / "out", "--output", "-")
    assert (code, "it was changed" in err) == (65, True)
