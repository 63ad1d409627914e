"""``publius sign`` and ``publius verify``: what was made here, whole; what was counted stays with the curator."""

import hashlib
import json
import shutil

import pytest

from manifests import drawn, labels_of, values_of
from publius.classifiers.values import Values
from publius.documents.corpus import open_corpus
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.releases.run import protect_corpus
from publius.releases.sign import sign, verify
from publius.settings import Reading
from releases.signing import ROWS, STATED, evaluation, private_at, values_in, words_in


@pytest.fixture
def values(tmp_path):
    return values_in(tmp_path / "values")


@pytest.fixture
def private(tmp_path):
    return private_at(tmp_path / "private.jsonl")


@pytest.fixture
def words(tmp_path):
    return words_in(tmp_path / "words")


def test_no_page_shows_what_was_measured_of_a_released_file(tmp_path, words, private):
    found = evaluation(tmp_path / "found", data={"sha256": [hashlib.sha256(private.read_bytes()).hexdigest()]})
    with pytest.raises(PolicyError, match="attacked a file that was released"):
        sign(words, tmp_path / "one.html", evaluation=found, texts=private, reading=Reading(text_field="status"))
    sign(words, tmp_path / "two.html", evaluation=found)  # as far as this home can tell, it is public
    protect_corpus(
        open_corpus(private, Reading(text_field="status")), RandomizedResponse(Values(["open"])), tmp_path / "r"
    )
    with pytest.raises(PolicyError, match="attacked a file that was released"):
        sign(words, tmp_path / "three.html", evaluation=found)


def test_a_file_that_was_not_released_is_refused(tmp_path, values, private):
    private.write_text("\n".join(private.read_text().splitlines()[:3]))
    with pytest.raises(DataError, match="3 documents and the release 12 rows"):
        sign(values, tmp_path / "sign.html", texts=private)
    assert not (tmp_path / "sign.html").exists()


def test_a_classifier_that_has_changed_is_refused(tmp_path, private):
    other = drawn(tmp_path / "other", values_of(), ROWS)
    with pytest.raises(DataError, match="is not the one that answered"):
        sign(other, tmp_path / "sign.html", texts=private)


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"as_is": True}, PolicyError, "private texts as they are"),
        ({"attackers": []}, DataError, "no attack on authors at epsilon 10"),
        ({"attackers": 3}, DataError, "is no evaluation"),
        ({"kind": "labels"}, DataError, "kind, classifier differ"),
        ({"facts": {"stated": [STATED | {"length": 5}]}}, DataError, ": length differ"),
        (
            {"facts": {"stated": [STATED | {"mechanism_parameters": {"project": 2}}]}},
            DataError,
            "mechanism_parameters differ",
        ),
        ({"facts": {"stated": [STATED | {"stop_words_sha256": "f" * 64}]}}, DataError, "stop_words_sha256 differ"),
        ({"facts": {"stated": [STATED | {"mechanism": "vickrey"}]}}, DataError, "mechanism differ"),
        ({"facts": {}}, DataError, "mechanism differ"),
        ({"public": [], "facts": {}}, DataError, "vocabulary_sha256, mechanism differ"),
    ],
)
def test_evaluations_that_no_page_may_show(tmp_path, words, more, error, said):
    with pytest.raises(error, match=said):
        sign(words, tmp_path / "sign.html", evaluation=evaluation(tmp_path / "found", **more))


def test_what_was_not_made_here_is_refused(tmp_path, words, monkeypatch):
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(PolicyError, match="was not made by this installation, or was changed"):
        sign(words, tmp_path / "sign.html")
    assert verify(words).here is False


@pytest.mark.parametrize("change", ["other bytes", "one file more", "one file less", "an empty folder more"])
def test_a_folder_that_was_changed_is_refused(tmp_path, words, change):
    if change == "other bytes":
        (words / "bags.jsonl").write_text("{}\n")
    elif change == "one file more":
        (words / "note.txt").write_text("")
    elif change == "one file less":
        (words / "README.txt").unlink()
    else:
        (words / "folder").mkdir()
    for work in (lambda: verify(words), lambda: sign(words, tmp_path / "sign.html")):
        with pytest.raises(DataError):
            work()


def test_a_page_does_not_make_the_folder_another(tmp_path, words):
    for output in (words / "sign.html", words / "deeper" / "sign.html"):
        with pytest.raises(UsageError, match="lies in the release"):
            sign(words, output)
    with pytest.raises(UsageError, match="lies in the release"):
        sign(words, tmp_path / "sign.html", public_page=words / "public.html")
    with pytest.raises(UsageError, match="two names"):
        sign(words, tmp_path / "sign.html", public_page=tmp_path / "sign.html")
    with pytest.raises(UsageError, match="at most 240"):
        sign(words, tmp_path / "sign.html", purpose="x" * 241)
    for review in ("next year", "2027-13-01", "20271231", "2027-W01-1"):
        with pytest.raises(UsageError, match="--review is a date as 2027-12-31"):
            sign(words, tmp_path / "sign.html", review=review)
    assert not (tmp_path / "sign.html").exists()
    assert verify(words).files == 4


def test_a_page_that_may_be_signed_is_not_written_over(tmp_path, words):
    page, public = tmp_path / "sign.html", tmp_path / "public.html"
    sign(words, page)
    before = page.read_bytes()
    for given in ({"output": page}, {"output": tmp_path / "new.html", "public_page": page}):
        with pytest.raises(UsageError, match="is there already: name a new file, or remove it"):
            sign(words, **given)
    page.rename(public)
    page.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="is there already"):
        sign(words, page)
    assert public.read_bytes() == before
    assert {*tmp_path.iterdir()} == {page, public, words}


def test_the_command_line(tmp_path, run, words):
    page = tmp_path / "sign.html"
    code, out, err = run("sign", words, "--output", page, "--purpose", "research")
    assert code == 0
    assert "for you only" in out
    assert "To be completed: --recipient, --contact, --review." in err
    assert run("verify", words)[0] == 0
    code, out, _ = run("verify", words, page, "--json")
    assert code == 0
    assert json.loads(out) == {
        "files": 4, "here": True, "page": True, "as_signed": True, "promise": verify(words).promise,
    }  # fmt: skip
    changed = tmp_path / "changed.html"
    changed.write_text(page.read_text().replace("research", "selling"))
    assert run("verify", words, changed)[0] == 1
    other = drawn(tmp_path / "other", labels_of(3), [{"id": "1", "label": "other"}])
    assert run("verify", other, page)[0] == 1
    assert run("verify", words, words / "release.html")[0] == 65
    copy = shutil.copytree(words, tmp_path / "copy")
    assert run("verify", copy, page)[0] == 0
    (copy / "bags.jsonl").write_text("")
    assert run("verify", copy, page)[0] == 65
    assert run("sign", copy, "--output", page)[0] == 65
    assert run("verify", tmp_path, page)[0] == 65
    for command in ("sign", "verify"):
        assert len(run(command, "--help")[1].splitlines()) <= 50
