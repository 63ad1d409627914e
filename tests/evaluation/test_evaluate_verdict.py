"""``publius evaluate`` as a judge: PASS or FAIL, of a release and of nothing else, of one's own rows, of documents."""

import csv
import json
import shutil

import pytest
from typer.testing import CliRunner

from letters import AUTHORS, rows, text, write
from publius.cli import app
from publius.errors import DocumentError, PolicyError, UsageError
from publius.evaluation.report import render
from publius.evaluation.runner import read_results
from publius.evaluation.summary import summarize
from publius.evaluation.verdict import Verdict
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.fit_reference import fit_reference

for module in ("sklearn", "matplotlib", "jinja2"):
    pytest.importorskip(module, reason="extra evaluation is not installed")

pytestmark = pytest.mark.usefixtures("undrawn")  # drawn in test_evaluate.py
FEW = ["--adversaries", "likelihood,informed,originals", "--workers", "1", "--seed", "1"]


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def place(tmp_path_factory, embeddings):
    folder = tmp_path_factory.mktemp("verdict")
    write(folder / "corpus.jsonl", rows())
    embeddings.save(folder / "vectors")
    return folder


@pytest.fixture(scope="module")
def setting(place):
    return [
        place / "corpus.jsonl", "--embeddings", place / "vectors", *FEW, "--length", "shortest", "--mechanism",
        "exponential",
    ]  # fmt: skip


def records(folder):
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]


def table(folder):
    with (folder / "table.csv").open() as file:
        return list(csv.DictReader(file))


def test_pass_and_fail_by_exit_code_and_first_line(place, setting):
    command = ["evaluate", *setting, "--epsilon", "0.1", "--output", place / "out"]
    passed = run(*command, "--topic-at-least", "0")
    assert (passed.exit_code, passed.stdout.split(":")[0]) == (0, "PASS")
    nothing = run(
        *command, "--adds-at-most", "0.05"
    )  # the cells are there already: only the verdict is another
    assert (nothing.exit_code, nothing.stdout.split(":")[0]) == (3, "NO EVIDENCE")
    assert "only 4 texts were attacked" in nothing.stdout
    assert "<strong>NO EVIDENCE</strong>" in (place / "out" / "report.html").read_text()
    assert "and nobody chose another limit" in (place / "out" / "report.html").read_text()
    results = read_results(place / "out")
    passing = Verdict(
        "PASS", "PASS: of made-up figures", (), "A narrow PASS: 0.2 of the 5.0 points", "Set by nobody"
    )
    page = render(results, summarize(results), passing)
    assert "<p>A narrow PASS: 0.2 of the 5.0 points. Set by nobody.</p>" in page
    failed = run(*command, "--bound-at-most", "0.001")
    assert (failed.exit_code, failed.stdout.split(":")[0]) == (1, "FAIL")
    page = (place / "out" / "report.html").read_text()
    assert page.index('<p class="verdict fail"><strong>FAIL</strong>') < page.index("<h1>")
    again = run("report", place / "out", "--json")
    assert (again.exit_code, json.loads(again.stdout)["verdict"]) == (1, "FAIL")
    bound = run(*command, "--bound-at-most", "0.001", "--json")
    assert (bound.exit_code, json.loads(bound.stdout)["reason"].split(":")[0]) == (1, "FAIL")
    assert run(*command).exit_code == 0


@pytest.fixture(scope="module")
def release(place):
    folder = place / "release"
    done = run(
        "obfuscate", place / "corpus.jsonl", "--mechanism", "exponential", "--epsilon", "3", "--length", "30",
        "--embeddings", place / "vectors", "--unknown", "drop", "--output", folder,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return folder


def test_a_release_says_what_is_evaluated(tmp_path, place, release):
    vectors = ["--embeddings", place / "vectors"]
    done = run(
        "evaluate",
        place / "corpus.jsonl",
        "--release",
        release,
        *FEW,
        *vectors,
        "--output",
        tmp_path / "out",
        "--json",
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["size"] == 30
    assert {(r["mechanism"], r["epsilon"]) for r in records(tmp_path / "out")} == {
        ("clean", None), ("exponential", 3.0),
    }  # fmt: skip
    request = json.loads((tmp_path / "out" / "run.json").read_text())["request"]
    assert request["unknown"] == "drop"
    page = tmp_path / "page.html"
    signed = run("signoff", release, "--evaluation", tmp_path / "out", "--output", page)
    assert signed.exit_code == 0, signed.output
    assert "informed" in page.read_text()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--epsilon", "2"], "--epsilon"),
        (["--mechanism", "laplace"], "--mechanism"),
        (["--length", "40"], "--length"),
        (["--unknown", "unk"], "--unknown"),
        (["--metric", "manhattan"], "--metric"),
    ],
)
def test_another_setting_is_not_judged_in_its_place(tmp_path, place, release, option, said):
    vectors = ["--embeddings", place / "vectors"]
    with pytest.raises(UsageError, match=f"{said} asks for another setting than that of the release"):
        run(
            "evaluate",
            place / "corpus.jsonl",
            "--release",
            release,
            *FEW,
            *vectors,
            "--output",
            tmp_path / "out",
            *option,
        )


def test_other_vectors_are_not_the_release_s(tmp_path, place, release, embeddings):
    from publius.vectors.embeddings import Embeddings

    other = Embeddings.from_arrays(embeddings.vocabulary, embeddings.vectors * 2, tokenizer="word2vec")
    other.save(tmp_path / "vectors")
    with pytest.raises(UsageError, match="vocabulary_sha256"):
        run(
            "evaluate", place / "corpus.jsonl", "--release", release, *FEW, "--embeddings", tmp_path / "vectors",
            "--output", tmp_path / "out",
        )  # fmt: skip


def test_a_release_that_bags_say_nothing_about(tmp_path, place, release):
    shutil.copytree(release, tmp_path / "release")
    path = tmp_path / "release" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "ordered": True}))
    with pytest.raises(PolicyError):
        run("evaluate", place / "corpus.jsonl", "--release", path.parent, *FEW, "--output", tmp_path / "out")


def test_nothing_to_protect_with(tmp_path, setting):
    with pytest.raises(UsageError, match="say how strongly"):
        run("evaluate", *setting, "--output", tmp_path / "out")


@pytest.fixture(scope="module")
def reference(place):
    folder = place / "reference"
    public = [
        (text(author, 100 + n).split(), "sea" if author in ("ada", "ben") else "court")
        for author in AUTHORS
        for n in range(15)
    ]
    fit_reference(public, name="toy", settings=LearningSettings(prototypes=2)).save(folder)
    return folder


def test_document_mechanisms_are_exact(tmp_path, place, reference):
    """The holder of the originals is computed, within what the bound allows, and decides the verdict."""
    done = run(
        "evaluate", place / "corpus.jsonl", "--embeddings", place / "vectors", "--reference", reference, "--bound",
        "4,1", *FEW, "--output", tmp_path / "out", "--author-at-most", "0.6",
    )  # fmt: skip
    found = {r["bound"]: r for r in records(tmp_path / "out") if r["adversary"] == "originals" and r["bound"]}
    assert set(found) == {4.0, 1.0}
    for row in found.values():
        assert row["exact"] is True
        assert 0.25 <= row["accuracy"] <= row["at_most"] < 1
    assert done.exit_code == 3  # four texts show nothing
    nats = {float(line["bound"]): line for line in table(tmp_path / "out") if line["bound"]}
    assert all(0 <= float(line["exponent_same_topic"]) <= bound for bound, line in nats.items())
    page = (tmp_path / "out" / "report.html").read_text()
    assert ("about any two documents" in page, "at epsilon a word" in page) == (True, False)
    assert all(
        float(line["exponent_nearest"]) <= float(line["exponent_same_topic"]) for line in nats.values()
    )
    topics = {
        (r["bound"], r["adversary"]): r["accuracy"] for r in records(tmp_path / "out") if r["task"] == "topic"
    }
    assert topics[4.0, "informed"] >= 0.75
    assert all(r["mechanism"] in ("clean", "prototype") for r in records(tmp_path / "out"))


def test_rows_with_topics_and_without_authors_have_a_report(tmp_path, place, reference):
    notes = write(tmp_path / "notes.jsonl", [
        {"text": text(author, n, 60), "topic": "sea" if author in "ada ben" else "court"}
        for author in AUTHORS for n in range(4)
    ])  # fmt: skip
    done = run(
        "evaluate", notes, "--embeddings", place / "vectors", "--reference", reference, "--bound", 4,
        "--adversaries", "likelihood,originals,linkage", "--output", tmp_path / "out",
    )  # fmt: skip
    assert (done.exit_code, (tmp_path / "out" / "report.html").is_file()) == (0, True)


def test_a_document_mechanism_needs_a_reference(tmp_path, setting):
    with pytest.raises(UsageError, match="give --reference"):
        run("evaluate", *setting[:-1], "prototype", "--bound", "3", "--output", tmp_path / "out")


def test_rows_without_authors(tmp_path, place):
    """Only the text itself can be looked for; it is said that nobody's authorship was."""
    records_ = [{"id": str(at), "text": row["text"]} for at, row in enumerate(rows())]
    done = run(
        "evaluate", write(tmp_path / "notes.jsonl", records_), "--embeddings", place / "vectors", "--epsilon", "3",
        *FEW, "--output", tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "every text is its own candidate" in done.stdout
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "whose authors nobody gave" in page
    assert "candidate authors" not in page
    assert "names the author of" not in page
    assert {(r["adversary"], r["task"]) for r in records(tmp_path / "out")} == {("originals", "author")}


def test_a_sensitive_field_is_inferred_and_hidden(tmp_path, place):
    """Chance, unprotected and released stand side by side, for a field of any name."""
    records_ = [{**row, "native_language": "x" if row["author"] in ("ada", "cyd") else "y"} for row in rows()]
    done = run(
        "evaluate", write(tmp_path / "corpus.jsonl", records_), "--embeddings", place / "vectors", "--epsilon", "0.01",
        "--sensitive", "native_language", "--length", "60", *FEW, "--repeats", "5", "--json",
        "--output", tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["chance"]["sensitive"] == 0.5
    found = [r for r in records(tmp_path / "out") if r["task"] == "sensitive"]
    assert {r["adversary"] for r in found} == {"likelihood", "informed"}
    clean = [r["accuracy"] for r in found if r["mechanism"] == "clean"]
    noisy = [r["accuracy"] for r in found if r["mechanism"] != "clean"]
    assert min(clean) == 1.0
    assert sum(noisy) / len(noisy) <= 0.85
    assert "native_language" in (tmp_path / "out" / "report.html").read_text()
    with pytest.raises(DocumentError, match="--sensitive FIELD"):
        run(
            "evaluate", place / "corpus.jsonl", "--embeddings", place / "vectors", "--epsilon", "1", *FEW, "--tasks",
            "sensitive", "--output", tmp_path / "other",
        )  # fmt: skip


@pytest.mark.parametrize(
    "how",
    [["--bound", "3", "--gamma", "0"], ["--bound", "3", "--unknown", "unk"], ["--epsilon", "2"],
     ["--bound", "4", "--mechanism", "position"], ["--epsilon", "0.5", "--mechanism", "position"],
     ["--bound", "4", "--prototypes", "2", "--first", "20"]],
)  # fmt: skip
def test_a_release_of_documents_is_judged_as_it_was_made(tmp_path, place, reference, how):
    made = run(
        "obfuscate", place / "corpus.jsonl", "--preserve", "topic", "--reference", reference, *how, "--output",
        tmp_path / "release",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    done = run(
        "evaluate", place / "corpus.jsonl", "--embeddings", place / "vectors", "--reference", reference, *FEW,
        "--release", tmp_path / "release", "--output", tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    stated = {(r["mechanism"], r["epsilon"], r["bound"]) for r in records(tmp_path / "out")} - {
        ("clean", None, None)
    }
    [(mechanism, epsilon, bound)] = stated
    assert mechanism == manifest["mechanism"]
    assert bound == pytest.approx(manifest["bound"], rel=1e-12)
    assert epsilon == manifest["epsilon"] or epsilon == pytest.approx(manifest["epsilon"], rel=1e-12)
    signed = run(
        "signoff", tmp_path / "release", "--evaluation", tmp_path / "out", "--output", tmp_path / "page.html"
    )
    assert signed.exit_code == 0, signed.output
    page = (tmp_path / "page.html").read_text()
    assert "Nobody could look whether the reference learned from these texts" in page, (
        "none of its texts is known"
    )
    assert "A label is right for" not in page


def test_what_stands_beside_the_bags_of_a_release_is_named_as_not_judged(tmp_path, place):
    """Who asks for the exit code reads what no attack was given."""
    dated = [{**row, "day": "Monday"} for row in rows()]
    write(tmp_path / "dated.jsonl", dated)
    made = [
        "--mechanism",
        "exponential",
        "--epsilon",
        "3",
        "--length",
        "30",
        "--embeddings",
        place / "vectors",
    ]
    judged = ["--embeddings", place / "vectors", *FEW, "--topic-at-least", "0"]
    said = {}
    for name, more in {"kept": ["--keep", "day"], "ids": [], "numbers": ["--number"]}.items():
        released = run("obfuscate", tmp_path / "dated.jsonl", *made, *more, "--output", tmp_path / name)
        assert released.exit_code == 0, released.output
        out = tmp_path / f"{name}-out"
        done = run(
            "evaluate", tmp_path / "dated.jsonl", "--release", tmp_path / name, *judged, "--output", out
        )
        said[name] = done.stdout.splitlines()[0]
        assert ("not judged with it" in (out / "report.html").read_text()) is (name != "numbers")
    assert said["kept"].endswith(
        "; not judged with it: the kept columns (day) and the ids or the order of the rows."
    )
    assert said["ids"].endswith("; not judged with it: the ids or the order of the rows.")
    assert "not judged" not in said["numbers"]


def test_a_release_that_rejects_unknown_words(tmp_path, place):
    """Texts that it would have refused are not attacked, and it is said; where too few are left, that is the reason."""
    covered = rows()
    attacked = [row for row in covered if row["role"] == "unknown"]
    strange = [{**row, "id": f"{row['id']}-2", "text": f"zyzzogeton {row['text']}"} for row in attacked]
    write(tmp_path / "covered.jsonl", covered)
    write(tmp_path / "both.jsonl", [*covered, *strange])
    write(tmp_path / "strange.jsonl", [*(row for row in covered if row["role"] == "known"), *strange])
    made = run(
        "obfuscate", tmp_path / "covered.jsonl", "--mechanism", "exponential", "--epsilon", "3", "--length", "30",
        "--embeddings", place / "vectors", "--unknown", "reject", "--output", tmp_path / "release",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    judged = (
        "--embeddings",
        place / "vectors",
        "--release",
        tmp_path / "release",
        *FEW,
        "--output",
        tmp_path / "out",
    )
    done = run("evaluate", tmp_path / "both.jsonl", *judged)
    assert done.exit_code == 0, done.output
    assert "4 texts with words outside the vocabulary are left out" in done.stdout
    assert {row["total"] for row in records(tmp_path / "out")} == {4}
    with pytest.raises(DocumentError, match="4 of 4 attacked texts have words outside the vocabulary"):
        run("evaluate", tmp_path / "strange.jsonl", *judged[:-1], tmp_path / "other")


def test_a_document_mechanism_by_epsilon_and_its_parameters(tmp_path, place, reference):
    """Nothing that was asked for is passed over."""
    common = (place / "corpus.jsonl", "--embeddings", place / "vectors", "--reference", reference, *FEW)
    done = run("evaluate", *common, "--mechanism", "prototype", "--epsilon", "2", "--output", tmp_path / "a")
    assert done.exit_code == 0, done.output
    assert {r["mechanism"] for r in records(tmp_path / "a")} == {"clean", "prototype"}
    with pytest.raises(UsageError, match="laplace replaces words: give --epsilon"):
        run(
            "evaluate",
            *common,
            "--mechanism",
            "laplace,prototype",
            "--bound",
            "2",
            "--output",
            tmp_path / "b",
        )
    sharp, soft = (tmp_path / name for name in ("sharp", "soft"))
    for folder, gamma in ((sharp, "0"), (soft, "5")):
        run("evaluate", *common, "--bound", "3", "--gamma", gamma, "--output", folder)
        assert json.loads((folder / "run.json").read_text())["request"]["parameters"] == {
            "gamma": float(gamma)
        }
    exact = [
        next(r["accuracy"] for r in records(folder) if r["adversary"] == "originals" and r["bound"])
        for folder in (sharp, soft)
    ]
    assert exact[0] != exact[1]


def test_an_evaluation_of_bags_is_none_of_ordered_text(tmp_path, place, setting):
    """Its stop words and marks stand where they stood, and no adversary saw them."""
    done = run("evaluate", *setting, "--epsilon", "3", "--output", tmp_path / "out", "--topic-at-least", "0")
    assert done.exit_code == 0, done.output
    made = run(
        "obfuscate", place / "corpus.jsonl", "--mechanism", "exponential", "--epsilon", "3", "--length", "30",
        "--embeddings", place / "vectors", "--order", "--keep-between", "all", "--output", tmp_path / "release",
        "--allow-padding",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    with pytest.raises(PolicyError, match="holds ordered text, and the adversaries here see bags"):
        run(
            "signoff",
            tmp_path / "release",
            "--evaluation",
            tmp_path / "out",
            "--output",
            tmp_path / "page.html",
        )
    assert not (tmp_path / "page.html").exists()
