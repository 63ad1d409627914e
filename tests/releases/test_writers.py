"""The files of a release, read back by the libraries their readers use."""

import csv
import io
import itertools
import json
import pickle

import pytest

from publius.documents.corpus import Document
from publius.errors import UsageError
from publius.mechanisms import lifted
from publius.mechanisms.kernels.exponential import Exponential
from publius.mechanisms.lifted import Lifted
from publius.noise.randomness import RunKey
from publius.releases.layout import RESERVED, Layout
from publius.releases.plan import Plan
from publius.releases.protect import protect
from publius.releases.read_me import label_counts
from publius.releases.release import Release, ReleasedTogether
from publius.releases.writers import WRITERS, spreadsheet_safe, unmarked
from publius.settings import ReleaseSettings
from publius.text.bag import Bag
from publius.text.drawn_bags import ENOUGH
from publius.vectors.embeddings import Embeddings
from toy import WORDS, sentence


def write(format, folder, embeddings, releases, labels=(), warning=None):
    with WRITERS[format](folder, Layout(embeddings, tuple(labels), warning)) as writer:
        for release in releases:
            writer.write(release)


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def releases():
    return [
        Release("one", Bag(["river", "river", "castle"]), None, {"topic": "water"}),
        Release("=two", Bag(["engine"]), None, {"topic": "-cmd"}),
    ]


def test_jsonl_has_words_in_vocabulary_order(tmp_path, embeddings, releases):
    write("jsonl", tmp_path, embeddings, releases, ["topic"])
    first, second = (json.loads(line) for line in lines(tmp_path / "bags.jsonl"))
    assert first == {"id": "one", "size": 3, "bag": {"river": 2, "castle": 1}, "topic": "water"}
    assert list(first["bag"]) == sorted(first["bag"], key=WORDS.index)
    assert second["size"] == 1


def test_csv_has_a_row_a_word_and_escapes_formulas(tmp_path, embeddings, releases):
    write("csv", tmp_path, embeddings, releases, ["topic"])
    rows = list(csv.DictReader(io.StringIO((tmp_path / "bags.csv").read_bytes().decode(), newline="")))
    assert rows[0] == {"id": "one", "size": "3", "topic": "water", "word": "river", "count": "2"}
    assert rows[2] == {"id": "'=two", "size": "1", "topic": "'-cmd", "word": "engine", "count": "1"}


def test_no_part_of_a_value_is_a_formula_whatever_separates_the_cells(tmp_path, embeddings):
    """A spreadsheet that expects semicolons or tabs splits at them, and takes no account of quotation marks there."""
    values = ["".join(each) for each in itertools.product("a;\t =-\uff1d\"'", repeat=4)]
    found = [
        Release(str(place), Bag(["river"]), None, {"topic": value}) for place, value in enumerate(values)
    ]
    write("csv", tmp_path, embeddings, found, ["topic"])
    text = (tmp_path / "bags.csv").read_bytes().decode()
    for separator in ",;\t":
        cells = itertools.chain(*csv.reader(io.StringIO(text, newline=""), delimiter=separator))
        assert not [cell for cell in cells if cell.strip(' "')[:1] in [*"=-\uff1d"]]
    read = [row["topic"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert [unmarked(cell) for cell in read] == values
    assert read[values.index("a=-a")] == "a=-a"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_csv_escapes_every_formula_start(tmp_path, start):
    word = "x" if start in "\t\r" else f"{start}word"  # a vocabulary admits no control characters
    embeddings = Embeddings.from_arrays(["plain", word], [[0.0], [1.0]], name="toy")
    write("csv", tmp_path, embeddings, [Release(f"{start}id", Bag([embeddings.word(1)]), None)])
    row = next(csv.DictReader(io.StringIO((tmp_path / "bags.csv").read_bytes().decode(), newline="")))
    assert row["id"] == f"'{start}id"
    assert not row["word"].startswith(start)


def test_parquet(tmp_path, embeddings, releases):
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    write("parquet", tmp_path, embeddings, releases, ["topic"])
    first = pq.read_table(tmp_path / "bags.parquet").to_pylist()[0]
    assert first == {"id": "one", "size": 3, "topic": "water", "words": ["river", "castle"], "counts": [2, 1]}


def test_matrix_market(tmp_path, embeddings, releases):
    from scipy.io import mmread

    write("mtx", tmp_path, embeddings, releases, ["topic"])
    matrix = mmread(tmp_path / "bags.mtx").tocsr()
    assert matrix.shape == (2, embeddings.size)
    assert matrix[0, WORDS.index("river")] == 2
    assert matrix.sum() == 4
    assert (tmp_path / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1] == WORDS
    ids = [json.loads(line)["id"] for line in lines(tmp_path / "documents.jsonl")]
    assert ids == ["one", "=two"]


@pytest.mark.parametrize("format", WRITERS)
def test_an_experiment_is_marked_in_every_file(tmp_path, embeddings, format):
    """R10: golden marks of each exporter."""
    warning = "NOT PRIVATE: REPRODUCIBLE"
    write(format, tmp_path, embeddings, [Release("one", Bag(["river"]), None, {}, warning)], warning=warning)
    for path in tmp_path.iterdir():
        if path.name != "vocabulary.txt":  # public, the same for every run
            assert warning.encode() in path.read_bytes(), path.name


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("label", RESERVED)
def test_kept_fields_cannot_hide_the_releases_own(tmp_path, embeddings, format, label):
    with pytest.raises(UsageError, match=label):
        write(format, tmp_path, embeddings, [], [label])


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("labels", [{"bag": "mine"}, {"topic": "a", "more": "b"}, {}])
def test_labels_that_were_not_asked_for_are_refused(tmp_path, embeddings, format, labels):
    with pytest.raises(UsageError, match="labels"):
        write(format, tmp_path, embeddings, [Release("one", Bag(["river"]), None, labels)], ["topic"])


@pytest.mark.parametrize("format", WRITERS)
def test_equal_releases_make_equal_bytes(tmp_path, embeddings, releases, format):
    """R11: nothing of time, order or environment enters a file."""
    for name in "ab":
        (tmp_path / name).mkdir()
        write(format, tmp_path / name, embeddings, releases, ["topic"])
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_matrix_market_refuses_words_without_a_column(tmp_path, embeddings):
    with pytest.raises(UsageError, match="vocabulary only"):
        write("mtx", tmp_path, embeddings, [Release("one", Bag(["elsewhere"]), None)])


@pytest.mark.parametrize("format", sorted(WRITERS))
@pytest.mark.parametrize("cuts", [[7], [1] * 40, [1500, 3, 600, 2000, 1]])
def test_what_workers_encode_is_joined_without_a_seam(embeddings, tmp_path, format, cuts):
    """However a run was cut, whatever came by pickle: the bytes are those of one release after the other."""
    count = sum(cuts)
    releases = [
        Release(str(i), Bag.from_counts({"river": 1 + i % 3, "castle": 1}), None) for i in range(count)
    ]
    layout = Layout(embeddings)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
    with WRITERS[format](whole, layout) as writer:
        for each in releases:
            writer.write(each)
    with WRITERS[format](parts, layout) as writer:
        start = 0
        for cut in cuts:
            part = writer.encoded(layout, releases[start : start + cut])
            writer.add(pickle.loads(pickle.dumps(part)))
            start += cut
    for path in sorted(whole.iterdir()):
        assert path.read_bytes() == (parts / path.name).read_bytes()


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("options", [{}, {"experiment": True, "seed": 3}])
@pytest.mark.parametrize("labels", [(), ("topic",)])
def test_words_of_many_documents_are_written_as_those_of_each(
    embeddings, tmp_path, monkeypatch, format, options, labels
):
    """Short texts are filled up and unknown words replaced; not a byte follows from how many are drawn together."""
    settings = ReleaseSettings(mechanism="exponential", epsilon=4.0, length=9, preserve="words", **options)
    plan = Plan.of(settings, Lifted(Exponential(embeddings, epsilon=4.0), 9), labels=labels)
    documents = [
        Document(f'é"{number}', text, dict.fromkeys(labels, "früh, 1"), number + 1)
        for number, text in enumerate(["", sentence(1), "river zebra", sentence(2, 5), "river " * 20] * 60)
    ]
    key, files = plan.run_key(), []
    for at_least in (ENOUGH, len(documents) + 1):
        monkeypatch.setattr(lifted, "ENOUGH", at_least)
        results, tally = protect(documents, plan, RunKey(key.expose(), seeded_run=key.seeded_run))
        assert isinstance(results, ReleasedTogether) == (at_least == ENOUGH)
        folder = tmp_path / str(at_least)
        folder.mkdir()
        with WRITERS[format](folder, Layout.of(plan)) as writer:
            writer.write_all(results)
        files.append((tally, {path.name: path.read_bytes() for path in folder.iterdir()}))
    assert files[0] == files[1]
    assert any(map(len, files[0][1].values()))


@pytest.mark.parametrize("label", ["-loans", "=1+1", "+more", "@home", "loans"])
def test_labels_of_a_table_are_counted_as_the_mechanism_prints_them(tmp_path, label):
    """READ-ME is made again from them before a release is signed."""
    table = f"label,probability_kept,id,word,count\n{spreadsheet_safe(label)},0.9,1,a,2\n"
    (tmp_path / "bags.csv").write_text(table, encoding="utf-8")
    assert label_counts(tmp_path) == {label: 1}
