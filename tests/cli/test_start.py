"""`publius start`: from a file of complaints to a verified sign-off."""

import csv
import io
import json
import random
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from complaints import one_thing_each
from homes import home_at
from publius.cli.start import protection
from publius.errors import DataError, PolicyError, UsageError
from publius.evaluation import signed
from publius.evaluation.signed import measured_for
from publius.evaluation.steps import older as older_texts
from publius.evaluation.steps.answers import Choices, config_text, read_config, together
from publius.evaluation.steps.looking import looked_at
from publius.evaluation.steps.older import PublicCorpus
from publius.evaluation.steps.walk import Walk
from publius.evaluation.steps.workflow import folder_for, learn_apart, release_apart
from publius.noise.randomness import seeded_rng
from publius.vectors.learning import public_words
from publius.vectors.learning.reference import Reference, remembered_texts
from released import completed as publius
from toy import WORDS

pytestmark = pytest.mark.usefixtures("one_processor", "undrawn")
TOPICS = {
    "card": "card payment charged refund statement bank fee interest balance credit limit purchase merchant".split(),
    "loan": "loan mortgage house monthly rate application approved officer income closing lender term".split(),
}
COMMON = "nobody answered letter called manager office waited weeks wrote again promised told problem service".split()


def rows(count, seed, authors=5):
    rng = seeded_rng(seed)
    for number in range(count):
        topic = ["card", "loan"][number // authors % 2]
        own = COMMON[number % authors % 5 * 3 :][:4]
        size = int(rng.integers(20, 60))
        words = [
            (TOPICS[topic] if pick < 0.6 else own)[
                int(place * (len(TOPICS[topic]) if pick < 0.6 else len(own)))
            ]
            for pick, place in rng.random((size, 2)).tolist()
        ]
        yield {
            "id": f"r{number}",
            "author": f"a{number % authors}",
            "topic": topic,
            "complaint": " ".join(words),
        }


def store(path, records, *, delimiter=";", encoding="utf-8"):
    records = list(records)
    sheet = io.StringIO()
    writer = csv.DictWriter(sheet, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    path.write_bytes(sheet.getvalue().encode(encoding))
    return path


@pytest.fixture
def private(tmp_path):
    return of_texts(tmp_path)


def of_texts(folder, encoding="utf-8"):
    """Texts to be released, of which one is empty, one far too long and one French."""
    found = list(rows(40, 1))
    found[3]["complaint"] = ""
    found[7]["complaint"] = "card " * 5_000
    found[9]["complaint"] = "le colis est arrivé abîmé et personne ne répond à mes messages depuis hier"
    return store(
        folder / "complaints.csv",
        [{"id": each["id"], "complaint": each["complaint"]} for each in found],
        encoding=encoding,
    )


@pytest.fixture
def older(tmp_path):
    return store(tmp_path / "older.csv", rows(60, 2))


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """The folder of one walk by options alone, and how it ended."""
    pytest.importorskip("sklearn")
    place = tmp_path_factory.mktemp("walked")
    complaints, older = of_texts(place), store(place / "older.csv", rows(60, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PUBLIUS_HOME", str(home_at(place / "home")))
        done = publius("start", complaints, "--public", older, "--preserve", "topic", "--bound", "7", "--yes",
                       "--output", place / "out", "--json")  # fmt: skip
    return place, done


@pytest.mark.parametrize("answers", [None, "rows\n{older}\n\n\n\nrelease\nTo learn\n\n\n\n\n\n"])
def test_from_nothing_to_a_verified_sign_off(walked, private, older, tmp_path, answers):
    pytest.importorskip("sklearn")
    if answers is None:
        tmp_path, done = walked
        output = tmp_path / "out"
        result = json.loads(done.stdout)
        assert (result["verdict"], done.returncode) in {("PASS", 0), ("FAIL", 1), ("NO EVIDENCE", 3)}
        assert result["inspection"]["delimiter"] == ";"
    else:  # what readers need, the public texts, what to keep, rare words to leave out, the bound; after a FAIL; go on
        output = tmp_path / "out"
        done = publius("start", private, "--output", output, said=answers.format(older=older))
        assert "The same by single commands:" in done.stdout
        assert "What is the release for (open, or what is to stand there)" in done.stdout
        assert "originals, review, contact. Another run, or signoff, takes" in done.stdout
        for page in (output / "signoff.html", output / "release" / "receivers.html"):
            assert "<dd><bdi>To learn" in page.read_text()
            assert "of authors whom it does not know a label is right less often" in page.read_text()
    assert done.returncode in (0, 1, 3), done.stderr
    assert {path.name for path in output.iterdir()} == {
        "release", "evaluation", "signoff.html", "publius.toml", "public", "own-texts.json",
    }  # fmt: skip
    manifest = json.loads((output / "release" / "manifest.json").read_text())
    assert (manifest["level"], manifest["preserve"], manifest["bound"]) == ("document", "topic", 7.0)
    bags = [json.loads(line) for line in (output / "release" / "bags.jsonl").read_text().splitlines()]
    assert [bag["id"] for bag in bags] == [str(number) for number in range(1, 41)]  # numbered, none missing
    assert {sum(bag["bag"].values()) for bag in bags} == {manifest["size"]}  # no length is to be seen
    checked = publius(
        "verify", output / "release", output / "signoff.html", "--evaluation", output / "evaluation"
    )
    assert checked.returncode == 0, checked.stderr
    kept = [output / "public", *(output / "public").iterdir()]
    kept += [output / "evaluation", *(output / "evaluation").iterdir()]  # and what was measured on them
    assert {path.stat().st_mode & 0o077 for path in kept} == {0}
    assert read_config(output / "publius.toml").bound == 7
    assert str(tmp_path / ".publius") not in done.stdout  # the commands name the folder that there is


@pytest.mark.parametrize("way", ["terminal", "page"])
def test_where_the_texts_lie_that_a_walk_learned_from_is_remembered(
    walked, private, older, tmp_path, monkeypatch, way
):
    """The texts lie in a temporary folder while they are learned from; the page even learns before it releases."""
    pytest.importorskip("sklearn")
    if way == "terminal":
        place, _ = walked
        monkeypatch.setenv("PUBLIUS_HOME", str(place / "home"))
        output = place / "out"
        reference = Reference.load(
            json.loads((output / "release" / "manifest.json").read_text())["reference"]
        )
    else:
        monkeypatch.setenv("PUBLIUS_HOME", str(home_at(tmp_path / "home")))
        answers = Choices(public=str(older), preserve="topic", bound=7.0, text_field="complaint")
        walk = Walk(private, looked_at(private, answers), PublicCorpus.read(answers), answers)
        learn_apart(walk, tmp_path, lambda event: None)
        output = tmp_path / "out"
        with folder_for(output, walk):
            pass
        reference = Reference.load(walk.reference)
    learned = output / "public" / "learned.jsonl"
    assert reference.folder is not None
    assert remembered_texts(reference.folder) == (learned, "text")
    if way == "terminal":  # a writer quotes them where somebody says that they are public, and else says so
        written = [
            "write",
            output / "release",
            "--writer",
            "exemplar",
            "--output",
            tmp_path / "written.jsonl",
        ]
        unnamed = publius(*written)
        assert (unnamed.returncode, "with --public" in unnamed.stderr) == (2, True), unnamed.stderr
        named = publius(*written, "--public", learned)
        assert (named.returncode, ".tmp" in named.stdout + named.stderr) == (0, False), named.stderr


def refused(private, older, tmp_path, *arguments, code, message):
    done = publius(
        "start",
        private,
        "--output",
        tmp_path / "out",
        "--yes",
        *(["--public", older] if older else []),
        *arguments,
    )
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_what_is_wrong_is_one_clear_sentence_and_nothing_is_written(private, older, tmp_path):
    refused(private, None, tmp_path, code=2, message="name them with --public")
    refused(private, older, tmp_path, "--text-field", "canary", code=65, message="no column 'canary'")
    refused(
        private, older, tmp_path, "--preserve", "form", code=2, message="no thing to keep is called 'form'"
    )
    refused(private, older, tmp_path, "--preserve", "words", "--bound", "7", code=2, message="give --epsilon")
    few = store(tmp_path / "few.csv", rows(10, 3))
    refused(private, few, tmp_path, code=65, message="too few to learn from")


def labelled(tmp_path, name, change):
    """The older texts with each row changed."""
    return store(tmp_path / f"{name}.csv", map(change, rows(60, 4)))


def test_one_author_is_no_evidence(private, tmp_path):
    alone = labelled(tmp_path, "alone", lambda row: {**row, "author": "a1"})
    refused(
        private,
        alone,
        tmp_path,
        code=77,
        message="all the public texts have one author in the column 'author'",
    )


@pytest.mark.parametrize("preserve", ["topic", "words"])
def test_texts_of_one_author_each_are_attacked_as_they_can_be(private, tmp_path, monkeypatch, preserve):
    """No attack can name an author of whom there is one text; topics are found, and originals are told apart."""
    pytest.importorskip("sklearn")
    monkeypatch.setenv("PUBLIUS_HOME", str(home_at(tmp_path / "home")))
    each = store(tmp_path / "each.csv", ({**row, "author": f"w{n}"} for n, row in enumerate(rows(60, 2))))
    done = publius("start", private, "--public", each, "--preserve", preserve, "--yes", "--output",
                   tmp_path / "out")  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert (
        "NO EVIDENCE that authors are hidden: no two authors of the public texts have two of them"
        in done.stdout
    )
    assert "of the 30 texts attacked, in clear text for " in done.stdout
    assert "always saying the most frequent one is right for 50.0 %." in done.stdout
    assert "Whoever holds 30 public texts and sees the row of one" in done.stdout
    assert "whoever picks a text blindly, 3.3 %." in done.stdout
    assert (tmp_path / "out").exists() == (
        preserve == "topic"
    )  # words have no bound that stands all the same
    if preserve == "topic":
        page = (tmp_path / "out" / "signoff.html").read_text(encoding="utf-8")
        assert "Nobody tried to find out who wrote the texts" in page
        assert "PASS" not in page
        for part in done.stdout.partition("The same by single commands:")[2].splitlines():
            if part.startswith("  publius evaluate"):
                assert "adds-at-most" not in part


def test_a_wrong_answer_is_asked_again_and_nothing_is_lost(private, tmp_path):
    """Columns, a file and a kind that are none, and no number."""
    renamed = labelled(
        tmp_path,
        "renamed",
        lambda row: {"complaint": row["complaint"], "who": row["author"], "what": row["topic"]},
    )
    answers = ("rows", "narrative", "complaint", "nowhere.csv", renamed, "whom", "who", "about", "what", "form",
               "topic", "", "much", "7")  # fmt: skip
    said = "\n".join(map(str, answers)) + "\n"
    done = publius("start", private, "--text-field", "canary", "--output", tmp_path / "out", said=said)
    for each in ("no column 'canary'", "no such file or folder", "none of the answers: who, what, none",
                 "on 2 topics", "The names of their topics become public: ",
                 "none of the answers: topic, meaning, words", "5. Attacks"):  # fmt: skip
        assert each in done.stdout
    assert done.returncode == 1  # nobody was there to say whether to go on
    assert not (tmp_path / "out").exists()


def test_none_is_an_answer_on_the_command_line_too_and_what_is_proposed_is_said(private, tmp_path):
    refused(private, None, tmp_path, "--public", "none", code=77, message="--without-evidence")
    unlabelled = labelled(
        tmp_path, "plain", lambda row: {"complaint": row["complaint"], "author": row["author"]}
    )
    done = publius("start", private, "--public", unlabelled, "--yes", "--authors-at-least", "99", "--output",
                   tmp_path / "out")  # fmt: skip
    assert "What to keep: meaning, because the public texts have no column of topics" in done.stdout
    assert done.returncode == 65  # there are not so many authors


def test_texts_that_are_all_alike_are_another_column_or_file(private, older, tmp_path):
    alike = store(
        tmp_path / "alike.csv", ({**each, "complaint": "the same words in all"} for each in rows(30, 5))
    )
    refused(alike, older, tmp_path, code=65, message="all texts in the column that was found are alike")
    same = labelled(tmp_path, "same", lambda row: {**row, "complaint": "the same card and the same loan"})
    refused(private, same, tmp_path, code=65, message="1 public texts that differ can be used")


def test_a_column_of_something_else(private, older, tmp_path):
    refused(private, older, tmp_path, "--text-field", "id", code=65, message="the column 'id' holds no texts")


def test_how_a_table_that_is_not_utf8_is_read_is_said_by_somebody(older, tmp_path):
    """The letters of one text propose it; without an answer they decide nothing."""
    latin = of_texts(tmp_path, "iso-8859-1")
    refused(latin, older, tmp_path, code=2, message="so say it: --encoding iso-8859-1")
    done = publius("start", latin, "--output", tmp_path / "out", said=f"rows\n\n{older}\n")
    assert "The table is not in UTF-8; which encoding is it in [iso-8859-1]:" in done.stdout
    assert "Read as iso-8859-1" in done.stdout
    assert not (tmp_path / "out").exists()


def test_a_column_that_the_texts_alone_tell_is_said_by_somebody(older, tmp_path):
    """One author's text would decide which column of everybody is released: the longer one of two."""
    for length, longest in (2, "said"), (400, "asked"):
        records = [
            {"author": row["author"], "asked": "hello world", "said": row["complaint"]} for row in rows(40, 1)
        ]
        records[5]["asked"] = "river " * length * 40
        table = store(tmp_path / "odd.csv", records)
        refused(table, older, tmp_path, code=2, message="name it with --text-field; publius inspect")
        refused(
            table, None, tmp_path, "--summary", "--author-field", "author", code=2, message="--text-field"
        )
        done = publius("start", table, "--output", tmp_path / "out", said=f"rows\n\n\nnone\n{older}\n")
        assert f"Which column holds the texts (author, asked, said) [{longest}]:" in done.stdout
        assert f"40 rows with texts in the column '{longest}'" in done.stdout
        assert not (tmp_path / "out").exists()


def test_a_quotation_mark_that_stays_open_is_asked_about(older, tmp_path):
    """Two texts of one author would take the rows of others between them."""
    records = [{"author": row["author"], "complaint": row["complaint"]} for row in rows(40, 1)]
    lines = ["author;complaint", *(f"{row['author']};{row['complaint']}" for row in records)]
    lines[5], lines[30] = 'zz;"' + lines[5].partition(";")[2], lines[30] + '"'
    table = tmp_path / "odd.csv"
    table.write_text("\n".join(lines) + "\n")
    refused(table, older, tmp_path, code=2, message="--quotes fields where")
    refused(
        table,
        None,
        tmp_path,
        "--summary",
        "--author-field",
        "author",
        code=2,
        message="--quotes fields where",
    )
    done = publius("start", table, "--text-field", "complaint", "--output", tmp_path / "out",
                   said="rows\nletters\n\nnone\n")  # fmt: skip
    assert "In this table" in done.stdout
    assert "Read as utf-8, fields separated by semicolons, a row a line." in done.stdout
    assert "40 rows with texts in the column 'complaint'" in done.stdout
    assert not (tmp_path / "out").exists()


def test_the_page_of_start_has_the_verdict_of_the_page_to_sign(older, tmp_path, monkeypatch):
    """In a browser texts of another language passed, and the page that was written said NO EVIDENCE."""
    pytest.importorskip("sklearn")
    words = "der brief kam am montag und niemand hat seitdem geantwortet trotz vieler anrufe beim amt".split()
    private = store(
        tmp_path / "german.csv",
        [{"id": f"g{n}", "complaint": " ".join(words[n % 5 :] * 3)} for n in range(40)],
    )

    def passing(manifest, folder):
        found = measured_for(manifest, folder)
        return replace(found, verdict="PASS: nobody beyond the limit", room="A narrow PASS")

    monkeypatch.setattr(signed, "measured_for", passing)
    choices = Choices(
        text_field="complaint", public=str(older), author_field="author", topic_field="topic", preserve="topic",
        bound=7.0, authors_at_least=2, leave_out="none",
    )  # fmt: skip
    walk = Walk(private, looked_at(private, choices), PublicCorpus.read(choices, ()), choices)
    made = release_apart(walk, tmp_path / "out", choices, None, True, lambda event: None)
    assert made.measured.verdict.startswith("NO EVIDENCE")
    assert made.measured.room is None
    assert "<strong>NO EVIDENCE</strong>" in (tmp_path / "out" / "signoff.html").read_text()


def test_a_wrong_delimiter_or_encoding(older, tmp_path):
    private = of_texts(tmp_path, "iso-8859-1")
    refused(
        private,
        older,
        tmp_path,
        "--delimiter",
        ",",
        code=65,
        message="it seems to be ';' that separates them",
    )
    assert (
        looked_at(private, Choices(encoding="utf-8")).unread == 1
    )  # of forty: it stops nobody else's release
    french = [{"complaint": "le colis est arrivé abîmé hier"}] * 3
    plain = [{"complaint": "the parcel came in late and nobody answered"}] * 37
    many = store(tmp_path / "many.csv", [*plain, *french], encoding="iso-8859-1")
    refused(
        many, older, tmp_path, "--encoding", "utf-8", code=65, message="3 of 40 rows cannot be read as utf-8"
    )
    one = store(tmp_path / "one.csv", [*plain, *french[:1]], encoding="utf-8")
    assert looked_at(one, Choices(encoding="cp1252")).unread == 0
    other = store(
        tmp_path / "other.csv", [{"complaint": "le colis est arrivé abîmé hier"}] * 2, encoding="utf-8"
    )
    refused(
        other, older, tmp_path, "--encoding", "iso-8859-1", code=65, message="the table is written in UTF-8"
    )


@pytest.mark.parametrize("limit", [5_000, 25_000])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(private, older, tmp_path, limit):
    """While the public texts are written, and while the reference is; a file that may not grow stands for the disk."""
    resource = pytest.importorskip("resource", reason="this system limits no sizes of files")

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    # No bytecode: Python does not see that a file of it was cut short, and the next to import it fails.
    call = [sys.executable, "-B", "-m", "publius", "start", str(private), "--public", str(older), "--preserve", "topic",
            "--bound", "7", "--yes", "--output", str(tmp_path / "out")]  # fmt: skip
    done = subprocess.run(call, capture_output=True, text=True, check=False, preexec_fn=full)
    assert done.returncode == 74, done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"complaints.csv", "older.csv"}


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_and_continued(private, older, tmp_path, number):
    pytest.importorskip("sklearn")
    arguments = ["start", str(private), "--public", str(older), "--preserve", "topic", "--bound", "7", "--yes",
                 "--output", str(tmp_path / "out")]  # fmt: skip
    call = [sys.executable, "-u", "-m", "publius", *arguments]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        next(line for line in run.stdout if line.startswith("5. Attacks"))
        run.send_signal(number)
        _, said = run.communicate()
    assert not (tmp_path / "out").exists()
    if number == signal.SIGINT:
        assert (run.returncode, said) == (
            130,
            "publius: interrupted; nothing was released under the final name\n",
        )
        assert {path.name for path in tmp_path.iterdir()} == {"complaints.csv", "older.csv"}
        return
    again = publius(*arguments)
    assert again.returncode in (0, 1, 3), again.stderr
    assert "Learned from the same public texts before." in again.stdout
    assert "which a run that was stopped left behind" in again.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"complaints.csv", "older.csv", "out"}


@pytest.mark.long  # the explorer's start is the same workflow, and is tried
def test_a_bound_that_was_only_proposed_is_not_released_after_a_fail(private, tmp_path):
    pytest.importorskip("sklearn")
    told = store(tmp_path / "told.csv", one_thing_each(80))
    arguments = [
        "start",
        private,
        "--public",
        told,
        "--preserve",
        "meaning",
        "--authors-at-least",  # nobody else writes the words of an author here
        1,
        "--yes",
        "--output",
        tmp_path / "out",
    ]
    done = publius(*arguments, "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["verdict"], result["release"]) == (1, "FAIL", None)
    assert not (tmp_path / "out").exists()
    stated = publius(*arguments, "--bound", "7")
    assert stated.returncode == 1
    assert "keep the meaning, bound 1: " in stated.stdout
    assert "Released all the same, as you asked for it; the page to sign says FAIL." in stated.stdout
    assert "FAIL" in (tmp_path / "out" / "signoff.html").read_text(encoding="utf-8")


def test_without_public_texts_it_takes_themes_and_says_that_nothing_was_measured(private, tmp_path):
    done = publius("start", private, "--public", "none", "--without-evidence", "--preserve", "topic", "--yes",
                   "--output", tmp_path / "out")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "There is no evidence that authors are hidden: nothing was measured." in done.stdout
    assert json.loads((tmp_path / "out" / "release" / "manifest.json").read_text())["reference"] == "themes"


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A reference of the user's own, learned from texts that are neither released nor attacked."""
    monkeypatch.setenv("PUBLIUS_HOME", str(home_at(tmp_path / "home")))
    store(tmp_path / "others.csv", rows(80, 5), delimiter=",", encoding="utf-8")
    done = publius(
        "reference",
        "fit",
        tmp_path / "others.csv",
        "--label",
        "topic",
        "--text-field",
        "complaint",
        "--name",
        "mine",
    )
    assert done.returncode == 0, done.stderr
    return "mine"


def test_a_stored_reference_is_used_in_place_of_one_that_is_learned(private, older, mine, tmp_path):
    pytest.importorskip("sklearn")
    done = publius("start", private, "--public", older, "--reference", mine, "--preserve", "topic", "--bound", "7",
                   "--yes", "--output", tmp_path / "out", "--json")  # fmt: skip
    assert done.returncode in (0, 1, 3), done.stderr
    result = json.loads(done.stdout)
    assert [each.split()[1] for each in result["commands"]] == ["evaluate", "obfuscate", "inspect", "signoff"]
    assert all("--reference mine" in each for each in result["commands"][:2])
    assert json.loads((tmp_path / "out" / "release" / "manifest.json").read_text())["reference"] == mine
    assert read_config(tmp_path / "out" / "publius.toml").reference == mine
    assert [path.name for path in (tmp_path / "home" / "references").iterdir()] == [
        mine
    ]  # nothing was learned
    checked = publius("verify", tmp_path / "out" / "release", tmp_path / "out" / "signoff.html")
    assert checked.returncode == 0, checked.stderr


def test_a_stored_reference_that_does_not_suit_is_refused(private, older, mine, tmp_path):
    def asked(*arguments, code, message, public=older):
        refused(private, public, tmp_path, "--reference", *arguments, code=code, message=message)

    asked(
        "nobody",
        "--preserve",
        "topic",
        code=2,
        message="no reference of this name is stored: known are themes, mine",
    )
    asked(str(tmp_path), "--preserve", "topic", code=2, message="no reference of this name is stored")
    asked(mine, "--preserve", "words", code=2, message="--reference belongs to --preserve topic or meaning")
    asked(mine, "--preserve", "topic", code=2, message="learned from all of these public texts",
          public=tmp_path / "others.csv")  # fmt: skip
    record = tmp_path / "home" / "references" / mine / "reference.json"
    found = json.loads(record.read_text())
    found["aspects"] = [each for each in found["aspects"] if each["name"] == "topic"]
    record.write_text(json.dumps(found))
    asked(mine, "--preserve", "meaning", code=2, message="this reference keeps topic, not meaning")


@pytest.mark.parametrize("what", ["attacked", "released"])
def test_a_reference_that_learned_from_texts_of_this_run_is_refused_whatever_its_file_was(
    private, older, mine, tmp_path, what
):
    """One line more, and its digest is another; the labels on attacked texts that it knows would be too good."""
    again = [*rows(80, 5), *([*rows(60, 2)][-20:] if what == "attacked" else [*rows(40, 1)][10:19])]
    store(tmp_path / "more.csv", again, delimiter=",", encoding="utf-8")
    columns = ("--label", "topic", "--text-field", "complaint", "--author-field", "author")
    done = publius("reference", "fit", tmp_path / "more.csv", *columns, "--name", "more")
    assert done.returncode == 0, done.stderr
    code, message = {
        "attacked": (2, "was learned from 10 of the 30 public texts that are to be attacked"),
        "released": (77, "are among those that the reference was learned from"),
    }[what]
    refused(
        private, older, tmp_path, "--reference", "more", "--preserve", "topic", code=code, message=message
    )


def told_of(tmp_path, name, change, count=60):
    """Older texts of twelve authors, each row changed."""
    return store(tmp_path / f"{name}.csv", map(change, rows(count, 2, authors=12)))


def started(private, public, tmp_path, *arguments, **options):
    return publius("start", private, "--public", public, "--preserve", "topic", "--bound", "7", "--output",
                   tmp_path / "out", *arguments, **options)  # fmt: skip


@pytest.fixture
def one_home(tmp_path, monkeypatch):
    monkeypatch.setenv("PUBLIUS_HOME", str(home_at(tmp_path / "home")))
    return tmp_path / "home"


def test_rare_words_are_shown_and_asked_about_and_said_to_become_public(private, one_home, tmp_path):
    """Six authors write a name: a person who is asked sees it, and what is left out is nowhere below the release."""
    pytest.importorskip("sklearn")

    def named(row):
        names = " and Quarnwick knows" if int(row["author"][1:]) < 6 else ""
        return {**row, "complaint": row["complaint"] + names}

    public = told_of(tmp_path, "named", named)
    done = started(private, public, tmp_path, said="\nrelease\n\n\n\n\n\n")  # the second is for after a FAIL
    assert done.returncode in (0, 1, 3), done.stderr
    assert "quarnwick 6" in done.stdout
    assert "The rare words that you do not leave out will be public." in done.stdout
    assert not any(
        b"quarnwick" in path.read_bytes() for path in one_home.rglob("references/*/*") if path.is_file()
    )
    config = tmp_path / "out" / "publius.toml"
    assert read_config(config).leave_out == "names"
    assert config.stat().st_mode & 0o077 == 0
    kept = publius(
        "start", private, "--config", config, "--leave-out", "zzqvist", "--yes", "--output", tmp_path / "two"
    )
    assert "None of the public words, so perhaps misspelt: 1 word." in kept.stdout
    assert "quarnwick" not in kept.stdout  # a log is no place for it
    vocabularies = [path.read_text() for path in one_home.rglob("words.txt") if "references" in path.parts]
    assert sorted("quarnwick" in each for each in vocabularies) == [False, True]


def test_without_authors_the_count_is_by_text_and_every_page_says_so(private, one_home, tmp_path):
    unsigned = told_of(tmp_path, "unsigned", lambda row: {k: v for k, v in row.items() if k != "author"})
    done = started(private, unsigned, tmp_path, "--without-evidence", "--yes")
    assert done.returncode == 0, done.stderr
    assert "Whoever holds 30 public texts and sees the row of one" in done.stdout
    assert (tmp_path / "out" / "evaluation" / "run.json").exists()
    assert "There is no evidence that authors are hidden: no attack could name one." in done.stdout
    assert "a word that one person wrote in several texts can" in done.stdout
    said = "counted by texts because no author is known"
    assert said in json.loads((tmp_path / "out" / "release" / "manifest.json").read_text())["reference_words"]
    assert said in (tmp_path / "out" / "signoff.html").read_text(encoding="utf-8")
    assert said in publius("reference", "list").stdout


def test_fewer_authors_than_a_word_needs_is_refused_with_the_way_out(private, one_home, tmp_path):
    three = told_of(tmp_path, "three", lambda row: {**row, "author": f"a{int(row['author'][1:]) % 3}"})
    refused(
        private, three, tmp_path, "--preserve", "topic", code=65, message="the public texts have 3 authors"
    )
    refused(private, three, tmp_path, "--preserve", "topic", code=65, message="a smaller --authors-at-least")


def test_the_name_of_what_was_learned_tells_nobody_else_of_the_texts(
    private, older, one_home, tmp_path, monkeypatch
):
    """It is published: on another machine the same texts have another name, here the same."""
    names = []
    for home in (one_home, one_home, tmp_path / "other"):
        monkeypatch.setenv("PUBLIUS_HOME", str(home))
        choices = Choices(public=str(older), preserve="topic", text_field="complaint")
        names.append(
            Walk(private, looked_at(private, choices), PublicCorpus.read(choices), choices).reference
        )
    assert names[0] == names[1] != names[2]
    assert (one_home / "names.key").stat().st_mode & 0o077 == 0


def test_texts_that_are_learned_from_are_not_released(private, older, tmp_path):
    """One of them among the public ones is enough, whatever the file's digest, format and white space."""
    theirs = next(iter(rows(1, 2)))["complaint"]
    mine = [{"id": each["id"], "complaint": each["complaint"]} for each in rows(40, 1)]
    mine[5]["complaint"] = theirs.replace(" ", "  ")
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text("".join(json.dumps(each) + "\n" for each in mine))
    refused(mixed, older, tmp_path, "--preserve", "topic", code=77, message="1 of the texts to be released")


def test_without_authors_it_goes_no_further_than_a_stated_choice(private, tmp_path):
    unknown = store(
        tmp_path / "unknown.csv", ({k: v for k, v in each.items() if k != "author"} for each in rows(60, 4))
    )
    refused(private, unknown, tmp_path, code=77, message="no evidence that authors are hidden")


def test_half_of_the_public_texts_are_learned_from_and_the_others_attacked(older):
    halves = PublicCorpus.read(Choices(public=str(older), preserve="topic"))
    learned, attacked = ({row["id"] for row in half} for half in (halves.learned, halves.attacked))
    assert not learned & attacked
    assert abs(len(learned) - len(attacked)) <= 8
    assert (halves.authors, halves.topics) == ("author", "topic")
    assert 0.2 <= halves.floor <= 0.25


def test_public_authors_under_several_spellings_are_one_each(tmp_path):
    def spelled(row):
        return {**row, "author": row["author"] + ("", ".", "\u00ad")[int(row["id"][-1]) % 3]}

    one = PublicCorpus.read(Choices(public=str(told_of(tmp_path, "one", dict)), preserve="topic"))
    several = PublicCorpus.read(Choices(public=str(told_of(tmp_path, "several", spelled)), preserve="topic"))
    assert sorted(several.judged) == sorted(one.judged)
    assert several.floor == one.floor
    assert len({row["author"] for row in (*several.learned, *several.attacked)}) == 12


_WRITTEN_OTHERWISE = {
    "case": str.upper, "a mark": lambda text: text + ".", "unseen": lambda text: text.replace("e", "e\u200b", 1),
    "white space": lambda text: text.replace(" ", "\u00a0\n"), "accents": lambda text: text.replace("e", "e\u0301"),
    "full width": lambda text: text.replace("a", "\uff41"),
}  # fmt: skip


@pytest.mark.parametrize("change", _WRITTEN_OTHERWISE.values(), ids=_WRITTEN_OTHERWISE)
def test_a_private_text_among_the_public_ones_is_found_however_it_is_written(older, change):
    read = PublicCorpus.read(Choices(public=str(older), preserve="topic"))
    public = read.attacked[3]["text"]
    assert change(public) != public
    with pytest.raises(PolicyError, match="1 of the texts to be released are among"):
        read.check_apart(["another text of more than eight words that nobody published", change(public)])


def test_the_same_short_texts_on_both_sides_are_refused(tmp_path):
    """No answer of few words is said to be somebody's; that most of a file's are in the other is no chance."""
    answers = [
        f"the {kind} was {how} on day {n}"
        for n in range(20)
        for kind in ("card", "loan")
        for how in ("late", "lost")
    ]
    rows = [{"text": text, "topic": "ab"[n % 2], "author": f"a{n % 30}"} for n, text in enumerate(answers)]
    read = PublicCorpus.read(Choices(public=str(store(tmp_path / "short.csv", rows)), preserve="topic"))
    others = [f"the {kind} was closed by night {n}" for n in range(50) for kind in ("branch", "bank")]
    read.check_apart([*answers[:20], *others, *["yes", "none"] * 90])
    letters = [f"this is letter {n} of somebody who wrote more than a few words" for n in range(90)]
    read.check_apart([*letters, *answers[:20]])  # stock phrases among letters
    for copied in (answers, answers[::2], answers[:15], [*answers, *others], [*answers[:40], *others]):
        with pytest.raises(PolicyError, match="of the texts to be released are among"):
            read.check_apart(copied)


def test_short_texts_that_different_people_write_by_chance_are_no_copies(tmp_path):
    """What many write stands in any two files; all of a file's in the other is more than that."""
    draw = random.Random(3)

    def answers(count):
        how, what = (
            ("very", "really", "not"),
            ("good", "kind", "slow", "late", "clean", "busy", "safe", "cold"),
        )
        return [
            f"{draw.choice(how)} {draw.choice(what)} and {draw.choice(how)} {draw.choice(what)}"
            for _ in range(count)
        ]

    rows = [
        {"text": text, "topic": "ab"[n % 2], "author": f"a{n % 90}"} for n, text in enumerate(answers(900))
    ]
    read = PublicCorpus.read(Choices(public=str(store(tmp_path / "short.csv", rows)), preserve="topic"))
    own, known = set(answers(200)), {row["text"] for row in rows}
    assert len(own & known) > len(own) / 3
    read.check_apart(own)
    again = [row | {"text": f" {row['text'].title()}.", "author": row["author"].upper()} for row in rows]
    unsigned = [{name: each for name, each in row.items() if name != "author"} for row in rows[:600]]
    files = {
        "twice": [row for row in rows for _ in "12"], "written otherwise": [*rows, *again], "unsigned": unsigned,
        "unsigned twice": [*unsigned, *unsigned],
    }  # fmt: skip
    for name, each in files.items():  # a file that stands twice in another was not written twice
        file = store(tmp_path / f"{name}.csv", each)
        other = PublicCorpus.read(Choices(public=str(file), preserve="topic", without_evidence=True))
        other.check_apart(own)
        with pytest.raises(PolicyError, match="more than by chance"):
            other.check_apart([row["text"] for row in rows[:200]])
    with pytest.raises(PolicyError, match="more than by chance"):
        read.check_apart([row["text"] for row in rows[:200]])


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("a;b;c,d", 4), ("yes/no", 2), ("don’t e\u200bat été", 3), ("服务很好", 2),
     ("服务很好and good", 4), ("บริการดีมาก" * 9, 8),
     ("a b c d e f g h i", 8)],
)  # fmt: skip
def test_words_are_counted_whatever_stands_between_them(text, words):
    """By blanks alone answers joined by ";" and Chinese ones had one word, and were compared with nothing."""
    assert older_texts._words_up_to(text, 8) == words


def test_copies_without_blanks_are_found(tmp_path):
    answers = [f"card{n};late;branch{n % 7};closed;staff;rude;queue;{n}" for n in range(80)]
    chinese = ["".join(chr(0x4E00 + (n * 97 + k * 31) % 900) for k in range(16)) for n in range(80)]
    rows = [
        {"text": text, "topic": "ab"[n % 2], "author": f"a{n % 30}"}
        for n, text in enumerate([*answers, *(f"bank card {text}" for text in chinese)])
    ]
    read = PublicCorpus.read(Choices(public=str(store(tmp_path / "joined.csv", rows)), preserve="topic"))
    for copied in (answers[3], f"bank card {chinese[3]}"):
        with pytest.raises(PolicyError, match="1 of the texts to be released are among"):
            read.check_apart([copied])


def test_short_texts_that_a_reference_learned_from_are_not_released(private, older, mine, tmp_path):
    """However they lie in its file, and whatever that calls its columns."""
    texts = [
        f"{WORDS[n % 9]} {WORDS[n % 7 + 9]} {WORDS[n % 11 + 16]} {WORDS[n % 13 + 27]}" for n in range(90)
    ]
    answers = [{"said": text, "topic": "ab"[n % 2], "who": f"a{n % 30}"} for n, text in enumerate(texts)]
    fitted = ("--label", "topic", "--text-field", "said", "--author-field", "who", "--name", "short")
    done = publius(
        "reference", "fit", store(tmp_path / "short.csv", reversed(answers), delimiter=","), *fitted
    )
    assert done.returncode == 0, done.stderr
    own = store(tmp_path / "own.csv", [{"complaint": text} for text in texts])
    refused(
        own,
        older,
        tmp_path,
        "--reference",
        "short",
        "--preserve",
        "topic",
        code=77,
        message="more than by chance",
    )


def test_where_many_words_are_left_out_it_is_said():
    """Only where texts are counted: of authors only rare words are left out."""
    assert "30 of 80 words are left out" in public_words.many_left_out(30, 50, "texts")
    assert public_words.many_left_out(20, 60, "texts", 0.09) is None
    assert "15 of 95 words, 17% of their uses, are" in public_words.many_left_out(15, 80, "texts", 0.17)
    assert public_words.many_left_out(30, 50, "authors") is None


def test_one_file_on_both_sides_is_refused_however_short_its_texts_are(tmp_path):
    rows = [{"text": f"bad {WORDS[n % 40]}", "topic": "ab"[n % 2], "author": f"a{n % 30}"} for n in range(90)]
    path = store(tmp_path / "both.csv", rows)
    done = publius(
        "start", path, "--public", path, "--preserve", "topic", "--yes", "--output", tmp_path / "out"
    )
    assert (done.returncode, "byte for byte" in done.stderr) == (77, True), done.stderr
    assert not (tmp_path / "out").exists()


def test_texts_that_quote_a_public_one_are_not_among_the_public_ones(older):
    read = PublicCorpus.read(Choices(public=str(older), preserve="topic"))
    quoted = read.learned[0]["text"]
    read.check_apart([f"You wrote: {quoted} I do not think so.", quoted[: len(quoted) // 2], "yes."])


def test_a_text_that_is_written_in_two_ways_does_not_stand_in_both_halves(tmp_path):
    texts = list(rows(60, 2, authors=12))
    twice = store(
        tmp_path / "twice.csv",
        [
            *texts,
            *(
                {**row, "id": f"again {row['id']}", "complaint": row["complaint"].upper() + "!"}
                for row in texts
            ),
        ],
    )
    assert PublicCorpus.read(Choices(public=str(twice), preserve="topic")).count == 60


def test_answers_are_kept_and_read_again(tmp_path):
    choices = Choices(public='o"lder.csv', preserve="topic", bound=3.5, publish_ids=True)
    path = tmp_path / "publius.toml"
    path.write_text(config_text(choices))
    assert read_config(path) == choices
    assert together(Choices(bound=1.0), choices).bound == 1.0
    for text, error in (("bound = ", DataError), ("bound = 'x'", UsageError), ("canary = 1", UsageError)):
        path.write_text(text)
        with pytest.raises(error):
            read_config(path)


def test_the_commands_that_the_pages_print_make_their_numbers_again(walked, tmp_path, monkeypatch):
    """Those of the receivers' page, with the curator's own names for what stands in capital letters."""
    place, _ = walked
    out = place / "out"
    monkeypatch.setenv("PUBLIUS_HOME", str(place / "home"))
    told = json.loads((out / "release" / "receivers.json").read_text())
    mine = {"PUBLIC": out / "public" / "attacked.jsonl", "EVALUATION": tmp_path / "evaluation", "COLUMN": "topic",
            "TEXTS": tmp_path / "none"}  # fmt: skip
    made = {}
    for line in told["commands"]:
        words = [str(mine.get(word, word)) for word in shlex.split(line)]
        words = [
            word.replace("release", str(out / "release"), 1) if word.startswith("release") else word
            for word in words
        ]
        if words[1] in ("guarantee", "evaluate", "signoff"):
            made[words[1]] = publius(*words[1:])
            assert made[words[1]].returncode in (0, 1, 3), made[words[1]].stderr  # the verdict of so few
    assert made.keys() == {"guarantee", "evaluate", "signoff"}
    assert told["promise"] in " ".join(made["guarantee"].stdout.split())
    again = json.loads(made["signoff"].stdout)
    for name in (
        "promise",
        "constants",
        "bound",
        "crowd",
        "outcomes",
        "probability_kept",
        "sample_row",
        "released",
    ):
        assert again[name] == told[name], name
    for name in ("texts", "floor", "options"):
        assert again["measurements"][name] == told["measurements"][name], name
    assert again["questions"][2]["without"] == told["questions"][2]["without"]
    before, now = (
        json.loads((folder / "run.json").read_text())["request"]
        for folder in (out / "evaluation", mine["EVALUATION"])
    )
    assert now == before, "the very same attack"


def test_the_commands_that_it_prints_do_the_same(walked, tmp_path, monkeypatch):
    """Typed on a machine that knows nothing yet but the public texts. The last one: they replace what was walked."""
    place, done = walked
    out = place / "out"
    kept = ("release/manifest.json", "evaluation/run.json")
    manifest, run = (json.loads((out / name).read_text()) for name in kept)
    for made in ("release", "evaluation"):
        shutil.rmtree(out / made)
    (out / "signoff.html").unlink()
    monkeypatch.setenv("PUBLIUS_HOME", str(home_at(tmp_path / "another-home")))
    for command in json.loads(done.stdout)["commands"]:
        ended = publius(*shlex.split(command)[1:])
        assert ended.returncode in (0, 1, 3), ended.stderr  # the verdict may be FAIL or NO EVIDENCE
    again, measured = (json.loads((out / name).read_text()) for name in kept)
    assert {**again, "files": None} == {**manifest, "files": None}
    for name in ("size", "documents", "known_texts", "unknown_texts", "chance", "floor"):
        assert measured[name] == run[name]
    told, asked = ({**facts["request"], "parameters": {}} for facts in (run, measured))
    assert told == asked  # the walk tells what the parameters are that the command leaves to the mechanism
    assert publius("verify", out / "release", out / "signoff.html").returncode == 0


@pytest.mark.parametrize(
    ("length", "said"), [(None, "as the lengths of the public texts suggest"), (9, "as you chose")]
)
def test_the_words_of_a_bag_are_as_chosen_or_as_the_public_texts_suggest(length, said):
    assert protection._chosen_by(SimpleNamespace(choices=SimpleNamespace(length=length))) == said


def test_a_further_field_of_one_row_does_not_take_the_authors_from_what_is_checked(older, tmp_path):
    """In JSON lines each row names its own fields: one with another that authors are called by decides for nobody."""
    records = [{"author": f"w{n % 7}", "text": row["complaint"]} for n, row in enumerate(rows(40, 1))]
    records[3]["user"] = "x"
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in records))
    said = "several fields are called as those of authors are ('author', 'user')"
    refused(path, older, tmp_path, code=2, message=said)
    declared = ("--documents-per-author", "2")
    refused(
        path, older, tmp_path, *declared, "--author-field", "author", code=65, message="more than 2 documents"
    )
    found = looked_at(path, Choices())
    walk = Walk(path, found, None, Choices(preserve="topic", without_evidence=True, documents_per_author=2))
    with pytest.raises(
        UsageError, match="one row must not decide which it is"
    ):  # a person who named none, too
        walk.check_authors()


def test_what_is_released_is_what_was_looked_at(tmp_path):
    """A file that an export writes anew while somebody reads: other rows than were judged would leave."""
    path = store(tmp_path / "complaints.csv", rows(40, 1))
    found = looked_at(path, Choices(text_field="complaint"))
    walk = Walk(path, found, None, Choices(preserve="words", epsilon=5, length=20, without_evidence=True))
    store(path, rows(40, 2))  # as many rows
    for step in (
        walk.check_unchanged,
        lambda: walk.examine(walk.plan()),
        lambda: walk.release(tmp_path, walk.plan(), lambda done: None),
    ):
        with pytest.raises(DataError, match="the input was changed"):
            step()
    assert [each.name for each in tmp_path.iterdir()] == ["complaints.csv"]
