"""``publius reference``: fit, list, info, verify."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from homes import home_at
from publius.cli import app
from publius.evaluation.steps import learning
from publius.vectors.learning import reference as reference_store
from references import fitted, public_documents


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PUBLIUS_HOME", str(home_at(tmp_path / "home")))
    return tmp_path


def corpus(folder, documents=None, label="topic"):
    path = folder / "public.jsonl"
    rows = [
        {"id": str(i), "text": " ".join(words), label: topic}
        for i, (words, topic) in enumerate(documents or public_documents())
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["reference", *map(str, arguments)])


def fit(home, *options):
    return run("fit", corpus(home), "--label", "topic", "--features", "log-odds", "--name", "toy", *options)


def test_fit_info_list_and_verify_agree(home):
    made = fit(home, "--json")
    assert made.exit_code == 0, made.output
    facts = json.loads(made.stdout)
    assert facts["keeps"] == ["topic", "meaning"]
    assert facts["aspects"]["topic"]["prototypes"] == [3]
    assert facts["source"]["corpus"] == "public.jsonl"
    assert len(facts["source"]["corpus_sha256"]) == 64
    assert json.loads(run("info", "toy", "--json").stdout) == facts
    verified = json.loads(run("verify", "toy", "--json").stdout)
    assert verified == {"name": "toy", "verified": True, "sha256": facts["sha256"]}
    listed = json.loads(run("list", "--json").stdout)["references"]
    assert [entry["name"] for entry in listed] == ["themes", "toy"]
    assert listed[1]["sha256"] == facts["sha256"]


def test_people_get_a_table(home):
    shown = fit(home)
    assert shown.exit_code == 0
    assert "court (20), garden (20), music (20)" in shown.output
    assert "toy" in run("list").output


def test_the_number_of_prototypes_is_kept(home):
    facts = json.loads(fit(home, "--prototypes", "5", "--json").stdout)
    assert facts["aspects"]["meaning"]["prototypes"] == [5]


def test_a_taken_name_and_a_wrong_one_are_refused_before_anything_is_read(home):
    assert fit(home).exit_code == 0
    for name in ("toy", "themes", "No Name"):
        refused = run("fit", home / "absent.jsonl", "--label", "topic", "--name", name)
        assert refused.exception is not None
        assert refused.exception.exit_code == 2
    assert reference_store.stored_reference_names() == ["toy"]


def test_the_same_fit_again_is_done_and_another_one_is_refused(home):
    first = json.loads(fit(home, "--json").stdout)
    again = fit(home, "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout) == first
    other = fit(home, "--prototypes", "5")
    assert other.exception.exit_code == 2
    assert "publius reference remove toy" in str(other.exception)


def test_half_made_folders_are_no_references(home):
    """A reference that is being stored, or removed, beside this call."""
    (reference_store.references_root() / ".publius-1-0.tmp").mkdir(parents=True)
    (home / "home" / "references" / "toy").mkdir()
    assert reference_store.stored_reference_names() == ["toy"]
    refused = run("remove", "other")
    assert refused.exception is not None
    assert str(refused.exception).endswith("known are toy")


def test_two_at_once_end_with_one_reference_and_another_under_the_name_is_refused(home, monkeypatch):
    """The second finds the name taken only when it has learned: what two calls of ``start`` at once do."""
    fitted_by_one, calls = learning.fit_reference, []

    def meanwhile(documents, *others):
        def fits(*given, **named):
            calls.append(documents)
            if len(calls) == 1:
                assert run("fit", corpus(home, documents), *common, *others).exit_code == 0
                corpus(home)
            return fitted_by_one(*given, **named)

        monkeypatch.setattr(learning, "fit_reference", fits)
        return run("fit", corpus(home), *common, "--json")

    common = ("--label", "topic", "--features", "log-odds", "--name", "toy")
    both = meanwhile(public_documents())
    assert both.exit_code == 0, both.exception
    assert len(calls) == 2
    assert json.loads(both.stdout)["sha256"] == json.loads(run("info", "toy", "--json").stdout)["sha256"]
    for documents, others in (
        (public_documents()[:-6], ()),
        (public_documents(), ("--prototypes", "5")),
    ):
        assert run("remove", "toy").exit_code == 0
        calls.clear()
        refused = meanwhile(documents, *others)
        assert refused.exception is not None
        assert (refused.exception.exit_code, len(calls)) == (2, 2)
        assert "choose another name, or remove it with: publius reference remove toy" in str(
            refused.exception
        )


def test_a_document_without_its_label_is_refused_and_nothing_is_left(home):
    path = corpus(home)
    path.write_text(path.read_text() + json.dumps({"id": "x", "text": "secretword"}) + "\n")
    refused = run("fit", path, "--label", "topic", "--name", "toy")
    assert refused.exception.exit_code in (2, 65)
    assert "secretword" not in str(refused.exception)
    assert reference_store.stored_reference_names() == []


def test_a_damaged_reference_is_listed_as_such(home):
    fit(home)
    (reference_store.references_root() / "toy" / "reference.json").write_text("{}")
    listed = json.loads(run("list", "--json").stdout)["references"]
    assert "damaged" in listed[1]["kind"]
    assert run("verify", "toy").exception.exit_code == 65
    assert run("info", "nosuch").exception.exit_code == 2


def test_remove_takes_a_stored_name_only_and_leaves_nothing(home):
    fit(home)
    for name in ("themes", "nosuch", "../references/toy", str(home / "home" / "references" / "toy")):
        assert run("remove", name).exception.exit_code == 2
    assert reference_store.stored_reference_names() == ["toy"]
    assert json.loads(run("remove", "toy", "--json").stdout) == {"name": "toy", "removed": True}
    assert list(reference_store.references_root().iterdir()) == []
    assert run("remove", "toy").exception.exit_code == 2


def test_words_are_counted_by_the_authors_that_a_field_names(home):
    """One author writes 'meadowlark' in every text of his, six of twelve write 'harbourline'."""
    documents = [
        (
            [*words, *(["meadowlark"] if place % 12 == 0 else []), *(["harbourline"] if place % 2 else [])],
            topic,
        )
        for place, (words, topic) in enumerate(public_documents(120))
    ]
    path = corpus(home, documents)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**row, "author": f"a{int(row['id']) % 12}"}) + "\n" for row in rows))
    made = run("fit", path, "--label", "topic", "--features", "log-odds", "--author-field", "author",
               "--authors-at-least", "5", "--name", "counted")  # fmt: skip
    assert made.exit_code == 0, made.output
    assert "harbourline 6" in made.output
    assert "words that will be public" in made.output
    assert "meadowlark" not in made.output
    entry = json.loads(run("list", "--json").stdout)["references"][1]
    assert (entry["texts"], entry["authors"], entry["topics"], entry["counted_by"], entry["at_least"]) == (
        120, 12, 3, "authors", 5,
    )  # fmt: skip
    assert "sha256" not in run("list").output
    many = run(
        "fit",
        path,
        "--label",
        "topic",
        "--author-field",
        "author",
        "--authors-at-least",
        "13",
        "--name",
        "no",
    )
    assert many.exception.exit_code == 65
    assert "the public texts have 12 authors" in str(many.exception)


def test_a_reference_of_an_earlier_version_opens_and_says_what_it_lacks(home):
    earlier = fitted()
    source = {key: value for key, value in earlier.source.items() if key != "public_words"}
    replace(earlier, source=source).save(reference_store.references_root() / "toy")
    assert json.loads(run("verify", "toy", "--json").stdout)["verified"]
    entry = json.loads(run("list", "--json").stdout)["references"][1]
    assert (entry["counted_by"], entry["authors"]) == (None, None)
    assert "by an earlier version" in entry["words"]
    assert "by an earlier version" in run("info", "toy").output


def test_sentences_are_kept_only_where_the_texts_may_be_quoted(home):
    """They are part of what the digest binds, shown to whoever fits, and there again when it is opened."""
    rows = [(" ".join(words).capitalize() + ".", topic) for words, topic in public_documents()]
    documents = [([text], topic) for text, topic in rows]
    path = corpus(home, [([text[:200].rsplit(" ", 1)[0] + "."], topic) for [text], topic in documents])
    arguments = ("fit", path, "--label", "topic", "--features", "log-odds", "--json")
    plain = json.loads(run(*arguments, "--name", "plain").stdout)
    quoted = json.loads(run(*arguments, "--name", "quoted", "--quotable").stdout)
    assert "passages" not in plain
    assert quoted["passages"]
    assert plain["sha256"] != quoted["sha256"]
    stored = reference_store.Reference.load("quoted")
    stored.verify()
    assert [list(each) for each in stored.counted.passages] == quoted["passages"]
    texts = path.read_text()
    assert all(sentence in texts for each in quoted["passages"] for sentence in each)
    shown = run("info", "quoted")
    assert "sentences that may be quoted" in shown.output
