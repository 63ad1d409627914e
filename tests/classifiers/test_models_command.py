"""``publius models`` from train to remove."""

import csv
import hashlib
import json

import pytest

from public_posts import posts
from publius.classifiers import load_classifier

FOREIGN = """
def by_first_word(text):
    return "river" if text.split()[:1] == ["river"] else "rest"
by_first_word.labels = ["river", "rest"]
"""


@pytest.fixture
def public(tmp_path):
    with (tmp_path / "public.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "topic", "who"])
        writer.writerows(zip(*posts(), strict=True))
    return tmp_path / "public.csv"


def test_topics_from_training_to_removal(run, public):
    code, out, err = run("models", "train", public, "--label", "topic", "--name", "made", "--author-field", "who")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == "Trained made (topics) on 160 public texts of 12 authors."
    assert "words become public" in lines[1]
    assert lines[2].startswith("Right for ")
    assert "95 % CI" in lines[2]
    assert "nature" in out
    found = load_classifier("made")
    assert found.trained_on == (hashlib.sha256(public.read_bytes()).hexdigest(),)

    listed = json.loads(run("models", "list", "--json")[1])
    (entry,) = [each for each in listed["classifiers"] if each["name"] == "made"]
    assert (entry["kind"], entry["labels"][-1]) == ("topics", "other")
    assert entry["accuracy"]["texts"] == 160
    assert [each["kind"] for each in listed["encoder"]] == ["encoder"]
    assert "made" in run("models", "list")[1]

    shown = json.loads(run("models", "show", "made", "--json")[1])
    assert "sparrow" in shown["words"]["nature"]
    assert "sparrow" in run("models", "show", "made")[1] or "eagle" in run("models", "show", "made")[1]

    tried = json.loads(run("models", "try", public, "--classifier", "made", "--label", "topic", "--json")[1])
    assert len(tried["texts"]) == 20
    assert tried["agreement"] > 0.9

    assert run("models", "train", public, "--label", "topic", "--name", "made")[0] == 2
    assert run("models", "remove", "made")[0] == 0
    assert run("models", "remove", "made")[0] == 2
    assert not [
        each for each in json.loads(run("models", "list", "--json")[1])["classifiers"] if each["name"] == "made"
    ]


def test_clusters_and_metric(run, public):
    code, out, err = run("models", "train", public, "--kind", "clusters", "--clusters", 4, "--name", "c", "--json")
    assert code == 0, err
    assert len(json.loads(out)["labels"]) == 5
    code, out, err = run("models", "train", public, "--kind", "metric", "--label", "topic", "--name", "m")
    assert code == 0, err
    assert "--embeddings m" in out
    assert json.loads(run("models", "show", "m", "--json")[1])["kind"] == "embeddings"
    assert run("models", "remove", "m")[0] == 0


def test_a_classifier_taught_by_another(run, public, tmp_path, monkeypatch):
    (tmp_path / "teacher_module.py").write_text(FOREIGN)
    monkeypatch.syspath_prepend(str(tmp_path))
    code, out, err = run("models", "train", public, "--like", "python:teacher_module:by_first_word", "--name", "taught")
    assert code == 0, err
    assert "Agrees with python:teacher_module:by_first_word" in out
    assert load_classifier("taught").labels == ("rest", "river", "other")


def test_nothing_is_released_with_what_it_taught(run, public, tmp_path):
    more = tmp_path / "more.csv"
    more.write_text(public.read_text() + "one more,nature,w\n")
    for asked in (
        (public, "--kind", "metric", "--label", "topic", "--name", "m"), (public, "--label", "topic", "--name", "first"),
        (more, "--like", "first", "--name", "second"),
    ):  # fmt: skip
        assert run("models", "train", *asked)[0] == 0
    out = ("--epsilon", 5, "--output", tmp_path / "out")
    for asked in (
        ("obfuscate", public, "--embeddings", "m", "--length", 5),
        ("label", public, "--classifier", "second"),
    ):
        code, _, err = run(*asked, *out)
        assert (code, "made from" in err, (tmp_path / "out").exists()) == (77, True, False)
    assert run("label", public, "--classifier", "first", *out, "--experiment")[0] == 0


def test_nothing_is_taught_by_a_released_file(run, public, tmp_path):
    (tmp_path / "new.csv").write_text("text\nan eagle\n")
    train = ("models", "train", public, "--label", "topic", "--name")
    use = ("label", tmp_path / "new.csv", "--classifier", "before", "--output")
    assert run(*train, "before")[0] == 0
    assert run(*use, tmp_path / "used")[0] == 0
    released = ("label", public, "--field", "topic", "--labels", "nature,food", "--output", tmp_path / "out")
    assert run(*released)[0] == 0
    for asked in ((*train, "after"), (*use, tmp_path / "again")):
        code, _, err = run(*asked)
        assert (code, "was released here" in err) == (77, True)


def test_own_words_and_vectors(run, public, tmp_path):
    (tmp_path / "words.txt").write_text("zqx0k\n")
    asked = ("models", "train", public, "--label", "topic", "--name", "own", "--words", tmp_path / "words.txt")
    assert run(*asked)[0] == 0
    assert any("zqx0k" in load_classifier("own").words(label) for label in load_classifier("own").labels)
    (tmp_path / "v.txt").write_text("tea 1 2 3\nmilk 2 3 4\nriver 0 0 1\n")
    code, out, err = run("models", "import", tmp_path / "v.txt", "--name", "v")
    assert code == 0, err
    assert out == "Stored v: 3 words, 3 dimensions.\n"


@pytest.mark.parametrize(
    "arguments", [(), ("--label", "topic", "--like", "made"), ("--kind", "clusters", "--label", "topic")]
)
def test_what_is_learned_is_said_once(run, public, arguments):
    assert run("models", "train", public, "--name", "x", *arguments)[0] == 2


def test_unknown_columns_and_names(run, public):
    code, _, err = run("models", "train", public, "--label", "subject", "--name", "x")
    assert (code, "Found: text, topic, who" in err) == (65, True)
    assert run("models", "show", "nobody")[0] == 2
    assert run("models", "try", public)[0] == 2


@pytest.mark.parametrize("kind", [("--label", "topic"), ("--kind", "clusters", "--clusters", 4)])
def test_an_estimate_says_time_and_memory_and_keeps_nothing(run, public, kind):
    code, out, err = run("models", "train", public, *kind, "--name", "made", "--estimate", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["documents"], told["workers"]) == (160, 1)
    assert 0 < told["seconds"] < 600
    assert told["bytes"] > 2**20
    assert run("models", "show", "made")[0] == 2
    assert run("models", "train", public, *kind, "--name", "made", "--estimate")[1].startswith("160 documents: about ")


def test_an_estimate_of_what_cannot_be_trained_says_why(run, tmp_path):
    (tmp_path / "one.csv").write_text("text,topic\n" + "the river bends,water\n" * 200)
    code, _, err = run("models", "train", tmp_path / "one.csv", "--label", "topic", "--name", "made", "--estimate")
    assert (code, "at least two are needed" in err) == (65, True), err
