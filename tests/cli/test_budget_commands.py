"""``publius distance``, ``nearest``, ``guarantee``, ``utility``, ``ledger``, and ``obfuscate --ledger``."""

import json

import pytest
from typer.testing import CliRunner

from publius.cli import app
from publius.errors import PubliusError
from publius.privacy.ledger import Ledger
from publius.vectors.catalogue import new_stored_folder
from publius.vectors.embeddings import Embeddings
from toy import WORDS, sentence

TOY = ("--embeddings", "toy")


def run(*arguments):
    """Exit code, standard output and message, as `publius.cli.main` would give them."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, PubliusError):
        return result.exception.exit_code, result.stdout, str(result.exception)
    return result.exit_code, result.stdout, result.stderr


def run_json(*arguments):
    code, out, message = run(*arguments, "--json")
    assert code == 0, message
    return json.loads(out)


@pytest.fixture(autouse=True)
def _stored(stored):
    """Every test here finds the toy vectors in the store."""


@pytest.fixture
def ledger(tmp_path):
    assert run("ledger", "init", tmp_path / "ledger", "--budget", "100")[0] == 0
    return tmp_path / "ledger"


@pytest.fixture
def authors(tmp_path):
    """Six documents by three authors."""
    path = tmp_path / "authors.jsonl"
    rows = [{"id": f"doc{i}", "text": sentence(i), "author": f"author{i % 3}"} for i in range(6)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def obfuscate(corpus, output, *more, epsilon="2", length="20"):
    return run("obfuscate", corpus, "--epsilon", epsilon, "--length", length, "--output", output, *TOY, *more)


def test_distance_of_texts():
    facts = run_json("distance", "--text", "the river and a lake", "forest bridge!", *TOY, "--plan")
    assert (facts["size_a"], facts["size_b"], facts["unknown_a"], facts["unknown_b"]) == (2, 2, 1, 0)
    assert facts["metric"] == "euclidean"
    assert sum(move["mass"] * move["distance"] for move in facts["plan"]) == pytest.approx(facts["distance"])
    assert {move["from"] for move in facts["plan"]} == {"river", "<unk>"}


def test_distance_of_files(tmp_path):
    for name, text in (("a.txt", "river river forest"), ("b.txt", "meadow")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    facts = run_json("distance", tmp_path / "a.txt", tmp_path / "b.txt", *TOY, "--length", "3")
    assert (facts["size_a"], facts["size_b"]) == (3, 3)
    assert "plan" not in facts
    assert run_json("distance", tmp_path / "a.txt", tmp_path / "a.txt", *TOY)["distance"] == 0


def test_distance_at_the_shorter_length():
    facts = run_json("distance", "--text", sentence(1, 9), sentence(2, 5), *TOY, "--length", "shortest")
    assert (facts["size_a"], facts["size_b"]) == (5, 5)


def test_distance_for_people():
    _, out, _ = run("distance", "--text", "river forest", "meadow", *TOY, "--plan")
    assert out.startswith("Earth Mover's distance ")
    assert "A: 2 words, 0 of them unknown" in out
    assert "mass*distance" in out


def test_words_as_they_stand(tmp_path, home):
    Embeddings.from_arrays(["Chicago", "of"], [[0.0], [2.0]], name="cased").save(
        home / "embeddings" / "cased"
    )
    facts = run_json("distance", "--words", "Chicago", "of chicago", "--embeddings", "cased")
    assert (facts["size_b"], facts["unknown_b"]) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [(("--text", "the of", "river"), 65, "first document has no word left"),
     (("--text", "river", "lemon", "--metric", "cosine"), 2, "cosine"),
     (("--text", "river", "lemon", "--length", "many"), 2, "'shortest' or 'all'"),
     (("nowhere.txt", "river.txt"), 74, "nowhere.txt")],
)  # fmt: skip
def test_distances_that_cannot_be(arguments, code, message):
    got, _, said = run("distance", *arguments, *TOY)
    assert got == code
    assert message in said


def test_a_corpus_is_not_one_document(corpus_file):
    code, _, message = run("distance", corpus_file, corpus_file, *TOY)
    assert code == 2
    assert "several documents" in message


def test_nearest_documents(corpus_file):
    facts = run_json("nearest", "--text", sentence(4), corpus_file, *TOY, "-k", "3")
    assert (facts["documents"], facts["size"]) == (12, 30)
    assert facts["nearest"][0] == {"id": "doc4", "distance": 0.0}
    distances = [row["distance"] for row in facts["nearest"]]
    assert distances == sorted(distances)
    assert len(distances) == 3


def test_what_an_experiment_kept_counts_for_no_distance(corpus_file):
    """Kept words have no vector: `--unknown keep` is taken, and is drop."""
    query = f"{sentence(4)} Zorgon"
    kept = run_json("nearest", "--text", query, corpus_file, *TOY, "--unknown", "keep")
    assert kept == run_json("nearest", "--text", query, corpus_file, *TOY, "--unknown", "drop")
    assert kept["nearest"][0]["distance"] == 0.0


@pytest.mark.parametrize(("epsilon", "exponent", "factor"), [(0.0625, 0.704, 2.02), (0.03125, 0.352, 1.42)])
def test_the_guarantee_of_the_worked_example(epsilon, exponent, factor):
    facts = run_json("guarantee", "--epsilon", epsilon, "--length", "4", "--distance", "2.816")
    assert facts["exponent"] == exponent
    assert round(facts["factor"], 2) == factor
    assert facts["log10_factor"] == pytest.approx(exponent / 2.302585093)
    assert 0 < facts["delta"] < 1e-32


def test_the_guarantee_between_two_texts():
    facts = run_json(
        "guarantee", "--epsilon", "2", "--length", "10", "--between", sentence(1), sentence(2), "--text", *TOY
    )
    plain = run_json("distance", "--text", sentence(1), sentence(2), *TOY, "--length", "10")
    assert facts["distance"] == pytest.approx(plain["distance"], rel=1e-12)
    assert facts["exponent"] >= 20 * plain["distance"]


def test_the_guarantee_between_words_as_the_vocabulary_has_them(tmp_path):
    """The worked example of the paper has names: a text is lower-cased, and they would be unknown."""
    with pytest.warns(UserWarning, match="capital"):
        named = Embeddings.from_arrays(["Chicago", "Illinois", "meets"], [[0.0], [2.0], [9.0]], name="named")
    named.save(new_stored_folder("named"))
    asked = (
        "guarantee",
        "--epsilon",
        "0.5",
        "--between",
        "Chicago meets",
        "Illinois meets",
        "--embeddings",
        "named",
    )
    literal = run_json(*asked, "--length", "2", "--words")
    assert (literal["distance"], literal["exponent"]) == pytest.approx((1.0, 1.0))
    assert (literal["unknown_a"], literal["unknown_b"]) == (0, 0)
    assert run_json(*asked, "--words") == literal  # N is how many they are
    lowered = run_json(*asked, "--length", "2", "--text")
    assert (lowered["distance"], lowered["unknown_a"], lowered["unknown_b"]) == (0.0, 1, 1)
    assert "unknown words" in run(*asked, "--length", "2", "--text")[1]
    assert "unknown words" not in run(*asked, "--words")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("--between", "river", "lemon", "--words", "--text"), "one of them"),
     (("--distance", "1", "--words"), "--between"),
     (("--between", "river", "lemon river", "--words"), "--length")],
)  # fmt: skip
def test_words_that_cannot_be_compared(arguments, message):
    code, _, said = run("guarantee", "--epsilon", "1", *arguments, *TOY)
    assert code == 2
    assert message in said


def test_the_factor_says_that_it_is_rounded_up():
    out = run("guarantee", "--epsilon", "0.0625", "--length", "4", "--distance", "2.816")[1]
    assert "2.03, rounded up" in out


def test_releases_and_candidates():
    case = ("guarantee", "--epsilon", "0.5", "--length", "2", "--distance", "1")
    once, twice = run_json(*case), run_json(*case, "--releases", "2", "--candidates", "5")
    assert twice["exponent"] == 2 * once["exponent"]
    assert twice["delta"] == 2 * once["delta"]
    assert twice["prior"] == 0.2
    assert twice["posterior_at_most"] == pytest.approx(1 / (1 + 4 * 2.718281828459045**-2))


LONG = ("guarantee", "--epsilon", "20", "--length", "400", "--distance", "2.5")


def test_a_guarantee_beyond_float64():
    facts = run_json(*LONG)
    assert facts["factor"] is None
    assert facts["log10_factor"] == pytest.approx(8685.9, abs=0.1)
    assert "bounds nothing in practice" in run(*LONG)[1]


def test_no_word_moves_farther_than_the_vocabulary_is_wide():
    assert run_json(*LONG, "--dimension", "50")["delta"] == 1.0
    assert run_json(*LONG, *TOY)["delta"] < 1e-100


def test_a_dimension_is_for_vectors_that_are_not_at_hand():
    code, _, message = run("guarantee", "--epsilon", "2", "--length", "4", "--dimension", "50")
    assert code == 2
    assert "--distance" in message


@pytest.mark.parametrize(
    "arguments",
    [
        ("--distance", "1", "--between", "a", "b"),
        ("--distance", "1", "--public", "a"),
        ("--distance", "nan"),
        ("--distance", "-1"),
        ("--distance", "inf"),
    ],
)
def test_guarantees_that_cannot_be(arguments):
    assert run("guarantee", "--epsilon", "1", "--length", "4", *arguments)[0] == 2


def test_utility():
    facts = run_json("utility", "--epsilon", "1", "--length", "2", "--dimension", "1", "--distance", "0.15")
    assert round(facts["paper_bound"], 3) == 0.259
    assert round(facts["lower_bound"], 3) == 0.037
    assert facts["lower_bound_after_nearest"] < facts["lower_bound"]
    assert facts["paper_bound_applies"] is facts["paper_bound_refuted"] is True
    assert facts["mean_noise_norm"] == 1.0


def test_the_bound_of_the_paper_is_exact_for_one_word():
    """Refuted is what fails: at N = 1 it does not."""
    case = ("utility", "--epsilon", "1", "--dimension", "3", "--distance", "0.7")
    one, two = run_json(*case, "--length", "1"), run_json(*case, "--length", "2")
    assert (one["paper_bound_refuted"], two["paper_bound_refuted"]) == (False, True)
    assert one["paper_bound"] == one["lower_bound"]
    assert one["paper_bound_geometric"] == pytest.approx(one["lower_bound"])
    assert two["paper_bound_geometric"] <= two["lower_bound"] < two["paper_bound"]
    assert two["density_times_volume"] == pytest.approx(1.4**3 / 6)
    assert "exact for one word" in run(*case, "--length", "1")[1]
    assert "geometric factor" in run(*case, "--length", "2")[1]


def test_utility_for_people_says_which_bound_is_false():
    _, out, _ = run("utility", "--epsilon", "1", "--length", "2", "--dimension", "1", "--distance", "0.15")
    assert "refuted for N >= 2" in out


def test_a_release_is_debited(authors, ledger, tmp_path):
    assert obfuscate(authors, tmp_path / "out", "--ledger", ledger, "--subject-field", "author")[0] == 0
    facts = run_json("ledger", "show", ledger)
    assert (facts["documents"], facts["subjects"], facts["debits"]) == (6, 3, 1)
    spent = {row["id"]: row["spent"] for row in facts["accounts"]}
    assert (spent["doc0"], spent["author0"]) == (40.0, 80.0)
    assert run_json("ledger", "check", ledger)["ok"] is True


def test_nothing_of_the_subject_is_released(authors, ledger, tmp_path):
    obfuscate(authors, tmp_path / "out", "--ledger", ledger, "--subject-field", "author")
    for file in (tmp_path / "out").iterdir():
        assert b"author1" not in file.read_bytes()


def test_an_overspent_budget_releases_nothing(authors, ledger, tmp_path):
    """An author's two documents cost 80 of 100; a second run would cost 80 more."""
    obfuscate(authors, tmp_path / "one", "--ledger", ledger, "--subject-field", "author")
    before = ledger.read_bytes()
    code, _, message = obfuscate(authors, tmp_path / "two", "--ledger", ledger, "--subject-field", "author")
    assert code == 77
    assert "has 20 of its budget of 100" in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["authors.jsonl", "ledger", "one"]
    assert ledger.read_bytes() == before


def test_runs_up_to_the_budget_exactly(authors, tmp_path):
    """0.2 is not a float64, and yet 5 * 0.2 * 20 are exactly 20."""
    Ledger.create(tmp_path / "ledger", budget=20)
    codes = [
        obfuscate(authors, tmp_path / f"out{i}", "--ledger", tmp_path / "ledger", epsilon="0.2")[0]
        for i in range(6)
    ]
    assert codes == [0, 0, 0, 0, 0, 77]


def test_text_files_are_charged_by_name(ledger, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("b.txt", "c.txt"):
        (folder / name).write_text(sentence(1), encoding="utf-8")
    assert obfuscate(folder, tmp_path / "one", "--ledger", ledger)[0] == 0
    (folder / "a.txt").write_text(sentence(2), encoding="utf-8")
    assert obfuscate(folder, tmp_path / "two", "--ledger", ledger)[0] == 0
    spent = {row["id"]: row["spent"] for row in run_json("ledger", "show", ledger)["accounts"]}
    assert spent == {"a.txt": 40.0, "b.txt": 80.0, "c.txt": 80.0}


def test_documents_left_out_cost_nothing(ledger, tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id": "good", "text": "river"}\n{"id": "bad", "text": 7}\n', encoding="utf-8")
    allowed = ("--skip-bad", "--allow-padding", "--accept-loss")
    assert obfuscate(path, tmp_path / "out", "--ledger", ledger, *allowed)[0] == 0
    assert [row["id"] for row in run_json("ledger", "show", ledger)["accounts"]] == ["good"]


def test_a_failed_run_is_not_charged_before_its_release(authors, ledger, tmp_path):
    """A bad last document stops the run before the debit."""
    with authors.open("a", encoding="utf-8") as file:
        file.write('{"id": "bad", "text": 7, "author": "author0"}\n')
    assert obfuscate(authors, tmp_path / "out", "--ledger", ledger)[0] == 65
    assert run_json("ledger", "show", ledger)["documents"] == 0


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [(("--experiment",), 77, "NOT PRIVATE"), (("--number",), 2, "name an id field"),
     (("--subject-field", "writer"), 65, "writer"), (("--subject-field", "text"), 77, "private text")],
)  # fmt: skip
def test_runs_a_ledger_cannot_cover(more, code, message, authors, ledger, tmp_path):
    got, _, said = obfuscate(authors, tmp_path / "out", "--ledger", ledger, *more)
    assert got == code
    assert message in said
    assert not (tmp_path / "out").exists()


def test_the_debit_comes_before_the_release(authors, ledger, tmp_path, monkeypatch):
    """When the folder cannot take its name after all, the budget is gone and nothing was released."""

    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("publius.files.folders._named", fail)
    assert obfuscate(authors, tmp_path / "out", "--ledger", ledger)[0] == 74
    assert run_json("ledger", "show", ledger)["documents"] == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["authors.jsonl", "ledger"]


def test_a_subject_needs_a_ledger(authors, tmp_path):
    assert obfuscate(authors, tmp_path / "out", "--subject-field", "author")[0] == 2


def test_a_foreign_ledger_is_refused(authors, tmp_path):
    code, _, message = obfuscate(authors, tmp_path / "out", "--ledger", authors)
    assert code == 65
    assert "is not a ledger" in message


@pytest.mark.parametrize("budget", ["nan", "inf", "-1", "0", "1e-320", "ten", ""])
def test_budgets_that_are_none(budget, tmp_path):
    assert run("ledger", "init", tmp_path / "ledger", f"--budget={budget}")[0] == 2
    assert not (tmp_path / "ledger").exists()


def test_the_other_unit_and_hidden_ids(authors, tmp_path):
    run("ledger", "init", tmp_path / "ledger", "--budget", "0.3", "--unit", "epsilon", "--hide-ids")
    assert obfuscate(authors, tmp_path / "out", "--ledger", tmp_path / "ledger", epsilon="0.3")[0] == 0
    facts = run_json("ledger", "show", tmp_path / "ledger", "--document", "doc1")
    assert [(row["spent"], row["remaining"], row["releases"]) for row in facts["accounts"]] == [(0.3, 0.0, 1)]
    assert "doc1" not in json.dumps(facts)


def test_a_unit_that_is_none(tmp_path):
    assert run("ledger", "init", tmp_path / "ledger", "--budget", "1", "--unit", "pounds")[0] == 2


def test_show_for_people(authors, ledger, tmp_path):
    obfuscate(authors, tmp_path / "out", "--ledger", ledger)
    _, out, _ = run("ledger", "show", ledger)
    assert "subject budget  100" in out
    assert "doc5" in out


def test_a_library_release_is_debited_first(embeddings, tmp_path):
    import publius

    book = publius.Ledger.create(tmp_path / "ledger", budget=30)
    mechanism = publius.Laplace(embeddings, epsilon=1.0)
    publius.release("river forest", mechanism, length=20, id="a", ledger=book, subject="ann")
    with pytest.raises(publius.BudgetError):
        publius.release(publius.Bag(WORDS[:20]), mechanism, id="a", ledger=book)
    assert (book.document("a").spent, book.subject("ann").spent) == (20, 20)
