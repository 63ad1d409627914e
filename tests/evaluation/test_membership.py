"""Membership of an author in a summary, attacked by somebody who knows everything else, beside what epsilon allows."""

import json
import math
import shutil
from types import SimpleNamespace

import pytest

from publius.collections.tables import NoisyTable
from publius.errors import DataError
from publius.evaluation import membership as attacks
from publius.evaluation.membership import membership, of_release
from publius.noise.randomness import RunKey, seeded_rng
from publius.releases.summaries import summary as summaries
from publius.releases.summaries.run import summarize
from publius.releases.summaries.summary import Summary
from references import fitted, public_documents

ROWS = [
    {"author": f"author {place % 50}", "topic": topic, "text": " ".join(words)}
    for place, (words, topic) in enumerate(public_documents(150))
]


@pytest.fixture
def summary(embeddings, tmp_path):
    reference = fitted().save(tmp_path / "reference")
    vectors = embeddings.save(tmp_path / "vectors")
    return Summary(
        reference,
        1,
        2,
        {"topic": ["music", "court"]},
        "totals=0.3,themes=0.7",
        embeddings=str(vectors.folder),
    )


@pytest.fixture(autouse=True)
def draws_repeat(monkeypatch):
    """Chance decides nothing: an attack that may be right as often as the bound says is now and then above it."""
    key, noise, chosen = RunKey.seeded(2), seeded_rng(3), seeded_rng(5)
    monkeypatch.setattr(attacks, "RunKey", SimpleNamespace(fresh=lambda: key))
    monkeypatch.setattr(attacks, "system_rng", lambda: chosen)
    monkeypatch.setattr(summaries, "system_rng", lambda: noise)


def test_nobody_is_right_more_often_than_epsilon_allows(summary):
    """The attack finds something, and less than it may."""
    result = membership(summary, ROWS, attacks=300, rng=seeded_rng(4))
    assert result.bound == pytest.approx(math.e / (1 + math.e))
    assert 0.5 < result.success <= result.bound
    assert result.holds
    assert (result.attacks, result.authors) == (300, 50)
    assert f"{result.success:.3f}" in result.sentence
    assert "0.7311 at most" in result.sentence


def test_a_summary_without_noise_is_found_out(summary, monkeypatch):
    """The adversary is right nearly always, beyond the bound: two authors alike are the exception."""
    monkeypatch.setattr(
        summaries, "noisy_table", lambda counts, *, epsilon, per_author, rng: NoisyTable(counts, None)
    )
    result = membership(summary, ROWS, attacks=100, rng=seeded_rng(4))
    assert result.success > 0.95
    assert not result.holds


def test_one_author_is_too_few(summary):
    with pytest.raises(DataError, match="two at least"):
        membership(summary, ROWS[:1])


def test_a_released_summary_is_attacked_as_it_was_made(summary, publius, tmp_path):
    """Through the command: epsilon, shares, strata and reference are those of the manifest."""
    corpus = tmp_path / "public.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    made = Summary("themes", "1/3", by=["month=2026-01..2026-02"], shares="totals=1/3,themes=2/3")
    summarize(made.corpus(corpus), made, tmp_path / "out")
    again = of_release(tmp_path / "out")
    assert (again.epsilon, again.shares, again.cells) == (made.epsilon, made.shares, made.cells)
    assert again.strata == made.strata
    code, _, progress = publius(
        "evaluate", corpus, "--release", tmp_path / "out", "--output", tmp_path / "found"
    )
    facts = json.loads((tmp_path / "found" / "membership.json").read_text())
    assert (code, facts["holds"]) == (0, True)
    lines = [line for line in progress.splitlines() if "attacks" in line and "left" in line]
    assert len(lines) == 9  # a line for each tenth, and none for each attack
    assert facts["bound"] == pytest.approx(1 / (1 + math.exp(-1 / 3)))
    page = tmp_path / "page.html"
    code, _, told = publius("signoff", tmp_path / "out", "--evaluation", tmp_path / "found", "--output", page)
    assert (code, page.exists()) == (65, False)
    assert "is the evaluation of a summary" in told


def test_those_are_attacked_who_stand_in_the_named_field(publius, tmp_path):
    """And what has no part in the attack is refused, not passed over."""
    corpus, own, folder = tmp_path / "own.jsonl", [*ROWS], tmp_path / "out"
    clerks = [{"customer": row["author"], "body": row["text"], "author": "one", "text": ""} for row in own]
    corpus.write_text(
        "".join(json.dumps(row) + "\n" for row in [*clerks, {"body": "nobody's", "author": "two"}])
    )
    made = Summary(
        "themes",
        1,
        shares="themes=1",
        author_field="customer",
        text_field="body",
        leave_out_without_author=True,
    )
    summarize(made.corpus(corpus), made, folder)

    def evaluated(*more):
        return publius(
            "evaluate", corpus, "--release", folder, "--output", tmp_path / "found", "--json", *more
        )

    for named in (("--author-field", "customer"), ()):  # the summary says whose it is
        code, told, _ = evaluated("--text-field", "body", *named)
        assert (code, json.loads(told)["authors"]) == (0, len({row["author"] for row in own}))
        assert json.loads((tmp_path / "found" / "membership.json").read_text()) == json.loads(told)
        shutil.rmtree(tmp_path / "found")
    for more, wanted, said in (
        (("--author-field", "sender", "--text-field", "body"), 65, "two at least in the field 'sender'"),
        (("--author-field", "customer", "--text-field", "nosuch"), 65, "nosuch"),
        (("--topic-field", "x", "--repeats", 3), 2, "leave out --repeats, --topic-field"),
        (("--author-at-most", 0.5), 2, "leave out --author-at-most"),
    ):
        shutil.rmtree(tmp_path / "found", ignore_errors=True)
        code, _, error = evaluated(*more)
        assert (code, said in error) == (wanted, True), error
