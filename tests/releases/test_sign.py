"""``publius sign`` and ``publius verify``: what was made here, whole; what was counted stays with the curator."""

import hashlib
import json
import os
import shutil
from types import SimpleNamespace

import pytest

from manifests import BAG, drawn, labels_of, summary_of, values_of, words_of
from publius.classifiers.classifier import Values
from publius.documents.corpus import open_corpus
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.pages.page import write_page
from publius.releases.manifest import AuthorFacts, ClassifierFacts
from publius.releases.run import protect_corpus
from publius.releases.sign import Counted, _classifier, sign, verify
from publius.settings import People, Reading
from releases.signing import ROWS, STATED, WORDS, evaluation, values_in


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


def test_a_classifier_that_has_changed_is_refused(tmp_path, private):
    other = drawn(tmp_path / "other", values_of(), ROWS)
    with pytest.raises(DataError, match="is not the one that answered"):
        sign(other, tmp_path / "sign.html", texts=private)


@pytest.mark.parametrize("kind", ["values", "names", "topics"])
def test_the_classifier_that_answered_is_made_again_by_its_kind(monkeypatch, kind):
    made, asked = SimpleNamespace(sha256="c" * 64), []
    for name in ("classifier.Values", "classifier.Names", "encoder.load_encoder", "load_classifier"):
        monkeypatch.setattr(
            f"publius.classifiers.{name}", lambda *given, name=name: asked.append((name, *given)) or made
        )
    facts = ClassifierFacts(name="posts", kind=kind, sha256="c" * 64)
    assert _classifier(values_of(classifier=facts)) is made
    labels = ("open", "closed")
    assert asked == {
        "values": [("classifier.Values", labels)], "topics": [("load_classifier", "posts")],
        "names": [("encoder.load_encoder", "packaged"), ("classifier.Names", labels, made)],
    }[kind]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"as_is": True}, PolicyError, "private texts as they are"), ({"attackers": 3}, DataError, "is no evaluation"),
        ({"attackers": []}, DataError, "no attack on authors at epsilon 10"),
        ({"kind": "labels"}, DataError, "kind, classifier differ"), ({"facts": {}}, DataError, "mechanism differ"),
        ({"public": [], "facts": {}}, DataError, "vocabulary_sha256, mechanism differ"),
        *(({"facts": {"stated": [STATED | {name: value}]}}, DataError, f": {name} differ") for name, value in (
            ("length", 5), ("mechanism_parameters", {"n": 2}), ("stop_words_sha256", "f" * 64), ("tokenizer", "x"),
        )),
        ({"facts": {"stated": [STATED | {"mechanism": "vickrey"}]}}, DataError, "mechanism differ"),
    ],
)  # fmt: skip
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
    sign(words, tmp_path / "sign.html", purpose="x" * 240)


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


@pytest.fixture
def shown(monkeypatch):
    """What each page is given to say, by its path: the facts that only signing adds."""
    given = {}

    def writing(path, template, facts, *, mode):
        given[path] = facts | facts["signed"]
        write_page(path, template, facts, mode=mode)

    monkeypatch.setattr("publius.releases.sign.write_page", writing)
    return given


def told_of(folder, page, shown, **more):
    sign(folder, page, **more)
    return shown[page]


def rows_at(path, *rows):
    """A private file of (author, status, district, how many)."""
    path.write_text("".join(
        json.dumps({"author": author, "status": status, "district": district}) + "\n" for author, status, district, count in rows
        for _ in range(count)
    ))  # fmt: skip
    return {"texts": path, "people": People(author_field="author")}


def test_who_wrote_how_much_and_which_cells_few_share_is_counted_for_the_curator_alone(tmp_path, shown):
    """Of a, b, c, d, e and f (1, 2, 5, 6, 20 and 21 documents) five share the cell (open, North), one is alone in South."""
    wrote = {"a": 1, "b": 2, "c": 5, "d": 6, "e": 20, "f": 21}
    rows = [(name, "open", "South" if name == "f" else "North", count) for name, count in wrote.items()]
    given = rows_at(tmp_path / "private.jsonl", *rows, ("A ", "closed", "North", 1), (None, "closed", "North", 1))
    release = values_in(tmp_path / "values", documents=57)
    page, public = tmp_path / "sign.html", tmp_path / "public.html"
    counted = told_of(release, page, shown, public_page=public, **given)["counted"]
    by = (("2 to 5 documents", 3), ("6 to 20 documents", 2), ("more documents", 1))
    assert counted == Counted(57, 6, by, 21, (("district", 3, 2),))
    assert shown[public]["counted"] is None
    assert (shown[page]["curator"], shown[public]["curator"]) == (True, False)


@pytest.mark.parametrize(
    ("kept", "cells"),
    [(("district",), (("district", 2, 1),)), (("author", "district"), (("author", 6, 6), ("district", 2, 1))), ((), ())],
)  # fmt: skip
def test_cells_are_of_kept_columns_and_of_labels_where_these_leave(tmp_path, shown, kept, cells):
    """Five authors share North, four South; of a release of labels alone the cells are its labels."""
    rows = [(name, "open", "North", 1) for name in "abcde"] + [(name, "closed", "South", 1) for name in "bcdf"]
    given = rows_at(tmp_path / "private.jsonl", *rows)
    given["reading"] = Reading(text_field="status")
    release = drawn(tmp_path / "words", words_of(documents=9, kept=kept), [BAG])
    assert told_of(release, tmp_path / "a.html", shown, **given)["counted"].cells == cells
    if not kept:
        labels = values_in(tmp_path / "values", documents=9, kept=())
        assert told_of(labels, tmp_path / "b.html", shown, **given)["counted"].cells == (("", 2, 1),)


@pytest.mark.parametrize("author_field", ["author", None])
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize(("documents", "fits"), [(13, True), (12, None), (14, False)])
def test_a_file_has_the_rows_that_left_and_more_only_where_authors_were_limited(
    tmp_path, values, private, author_field, limited, documents, fits
):
    limit = AuthorFacts(documents=8, epsilon=56.0) if limited else None
    release = values_in(tmp_path / "limited", documents=documents, author=limit)
    page, people = tmp_path / "sign.html", People(author_field=author_field)
    if fits or (fits is None and (limited or author_field)):
        sign(release, page, texts=private, people=people)
    else:
        with pytest.raises(DataError, match=f"13 documents and the release {documents} rows"):
            sign(release, page, texts=private, people=people)
        assert not page.exists()


def test_the_authors_of_a_summary_are_counted_and_no_cell(tmp_path, shown):
    given = rows_at(tmp_path / "private.jsonl", ("a", "open", "North", 3), ("b", "open", "North", 1))
    release = drawn(tmp_path / "summary", summary_of(), [{"id": "1"}])
    given["reading"] = Reading(text_field="status")
    by = (("1 document", 1), ("2 to 5 documents", 1))
    assert told_of(release, tmp_path / "a.html", shown, **given)["counted"] == Counted(4, 2, by, 3, ())
    given = rows_at(tmp_path / "nobody.jsonl", (None, "open", "North", 3)) | {"reading": given["reading"]}
    assert told_of(release, tmp_path / "b.html", shown, **given)["counted"] == Counted(3, 0, (), 1, ())


def attack(name, share, *told, epsilon=10.0, task="author", clear=True, **more):
    part = {"share": share, "low": 0.0, "high": 1.0}
    return {
        "attacker": name, "mechanism": WORDS.mechanism, "knows": "", "task": task, "told": [*told], "epsilon": epsilon,
        "identified": part, "baseline": part | {"share": 0.1}, "clear": part | {"share": 0.7} if clear else None, **more,
    }  # fmt: skip


def test_the_best_attacks_of_the_release_are_in_the_picture_and_all_in_the_table(tmp_path, shown, words):
    """The best of each knowledge, then the next best; the best first, four. Another task, mechanism, epsilon is none."""
    attacks = [
        attack("style", 0.12), attack("letters", 0.5), attack("words", 0.23), attack("authors", 0.3, "texts", clear=False),
        attack("rank", 0.4), attack("worst", 0.9, "originals"), attack("topics", 0.05, "texts", "topic", candidates=7.0),
        attack("topic", 0.99, task="topic"), attack("other", 0.99, mechanism="vickrey"), attack("far", 0.99, epsilon=20.0),
        attack("both", 0.99, "originals", "topic"),
    ]  # fmt: skip
    found = told_of(words, tmp_path / "a.html", shown, evaluation=evaluation(tmp_path / "a", attackers=attacks))[
        "evaluation"
    ]
    names = ["worst", "letters", "rank", "authors", "words", "style", "topics"]
    assert [each["attacker"] for each in found["attackers"]] == names
    assert [(row["label"], row["under"]) for row in found["rows"]] == [
        ("worst, 50 authors", "knows the originals"), ("letters, 50 authors", ""), ("authors, 50 authors", "knows other texts"),
        ("topics, 7 authors", "knows other texts and topics"),
    ]  # fmt: skip
    assert [[(mark["tone"], mark["value"]) for mark in row["marks"]] for row in found["rows"][1:3]] == [
        [("b", 0.7), ("a", 0.5), ("c", 0.1)], [("a", 0.3), ("c", 0.1)],
    ]  # fmt: skip
    assert found["candidates"] == "7 or 50"
    assert (found["other"]["attacker"], found["topic_known"]) == ("authors", False)


@pytest.mark.parametrize(
    ("told", "known"), [((), None), (("originals",), None), (("texts", "originals"), None), (("texts",), False), (("texts", "topic"), True)]
)  # fmt: skip
def test_who_has_other_texts_by_an_author_is_told_apart(tmp_path, shown, words, told, known):
    found = evaluation(tmp_path / "found", attackers=[attack("words", 0.5, *told), attack("style", 0.4)])
    found = told_of(words, tmp_path / "sign.html", shown, evaluation=found)["evaluation"]
    assert found["topic_known"] == bool(known)
    assert (found["other"] or {}).get("attacker") == (None if known is None else "words")
    assert [row["label"] for row in found["rows"]] == ["words", "style"]
    assert found["candidates"] == "50"


def test_what_epsilons_were_tried_is_said(tmp_path, words):
    tried = [attack("a", 0.1, epsilon=epsilon) for epsilon in (20.0, None, 5.0, 20.0)]
    with pytest.raises(DataError, match=r"at epsilon 10\.0 \(tried: 5, 20\)"):
        sign(words, tmp_path / "sign.html", evaluation=evaluation(tmp_path / "found", attackers=tried))


def test_labels_were_attacked_by_the_classifier_that_answered(tmp_path, shown):
    classifier = ClassifierFacts(name="posts", kind="topics", sha256="c" * 64)
    release = drawn(tmp_path / "labels", labels_of(3, classifier=classifier), [{"id": "1", "label": "other"}])
    made = attack("words", 0.2, epsilon=5.0, mechanism=None)
    for sha256, error in (("c", None), ("d", "classifier differ")):
        found = evaluation(
            tmp_path / sha256, attackers=[made], kind="labels", public=[{"sha256": sha256 * 64}], facts={}
        )
        if error is None:
            page = told_of(release, tmp_path / "sign.html", shown, evaluation=found)
            assert page["evaluation"]["command"] == "publius evaluate FILE"
        else:
            with pytest.raises(DataError, match=error):
                sign(release, tmp_path / "other.html", evaluation=found)


def test_the_counts_of_a_summary_that_noise_does_not_hide_are_shown_the_largest_first(tmp_path, shown):
    head = {"subjects": "words,documents,low,high,share,label", "statements": "statement,authors,low,high,share"}
    rows = {
        "subjects": ["w,30,1,59,0.1,few", "w,50,21,79,0.1,many", "w,29,0,58,0.1,none", "w,40,11,69,0.1,some"],
        "statements": ["yes,7,2,12,0.1", "no,3,-2,8,0.1"],
    }
    expected = {
        "subjects": [("many", 50, 21, 79), ("some", 40, 11, 69), ("few", 30, 1, 59)], "statements": [("yes", 7, 2, 12)],
    }  # fmt: skip
    for of in ("subjects", "statements"):  # statements come first
        tables = {name: "\r\n".join([head[name], *rows[name], ""]) for name in head if of == name or of == "statements"}
        asked = {"statements": 2, "statements_per_author": 1} if of == "statements" else {}
        release = drawn(tmp_path / of, summary_of(**asked), [{"id": "1"}], tables=tables)
        facts = told_of(release, tmp_path / f"{of}.html", shown)
        assert (facts["of"], [tuple(each.values()) for each in facts["counts"]]) == (of, expected[of])


def test_the_curators_page_is_the_curators_and_the_recipients_anybodys(tmp_path, words):
    before = os.umask(0)
    try:
        sign(words, tmp_path / "sign.html", public_page=tmp_path / "public.html")
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("sign.html", "public.html")] == [0o600, 0o666]
    assert verify(words, tmp_path / "public.html").as_signed
