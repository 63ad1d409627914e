"""`publius start` on made worlds whose truth is known: PASS, FAIL and NO EVIDENCE, by exit code.

It is started with its defaults, but for the share of authors that may be named where nothing is added: with the
default of 5 points chance alone decides one draw of some hundreds.
"""

import json

import pytest
from typer.testing import CliRunner

from homes import home_at
from publius.cli import app
from publius.noise.randomness import seeded_rng

SUBJECTS = {
    "card": "card payment charged refund statement bank fee interest balance credit limit purchase".split(),
    "loan": "loan mortgage house monthly rate application approved officer income closing lender term".split(),
    "river": "river mountain valley forest meadow storm lake island harbour field garden snow".split(),
    "music": "violin singer guitar music dancer concert piano opera choir drum melody rhythm".split(),
}
COMMON = (
    "answered letter called manager office waited weeks wrote again promised told problem service".split()
)


def texts(rng, count, authors, *, topics=True):
    """Rows by authors who each like some words; they write of two subjects alike, or each of one of four."""
    for number in range(count):
        author = number % authors
        topic = ["card", "loan"][number // authors % 2] if topics else [*SUBJECTS][author % 4]
        liked = seeded_rng(author).choice(COMMON, 3, replace=False).tolist()
        words = [*rng.choice(SUBJECTS[topic], 25).tolist(), *rng.choice(liked, 12).tolist()]
        row = {"author": f"a{author}", "complaint": " ".join(rng.permutation(words).tolist())}
        yield {**row, "topic": topic} if topics else row


def stored(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


WORLDS = {
    "adds nothing": ("PASS", 0, 1_600, 100, True, ["--author-at-most", "0.1"]),
    "adds much": ("FAIL", 1, 320, 20, False, []),
    "too little data": ("NO EVIDENCE", 3, 60, 6, True, []),
}


@pytest.mark.long  # a release has no seed, so a verdict is right in most runs: test_made_worlds has the rule itself
@pytest.mark.parametrize("world", WORLDS)
def test_the_verdict_is_the_truth(world, tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setenv("PUBLIUS_HOME", str(home_at(tmp_path / "home")))
    verdict, code, count, authors, topics, given = WORLDS[world]
    rng = seeded_rng(7)
    own = stored(tmp_path / "own.jsonl", ({"complaint": row["complaint"]} for row in texts(rng, 30, authors)))
    older = stored(tmp_path / "older.jsonl", texts(rng, count, authors, topics=topics))
    done = CliRunner().invoke(
        app,
        [
            "start",
            str(own),
            "--public",
            str(older),
            "--yes",
            "--json",
            "--output",
            str(tmp_path / "out"),
            *given,
        ],
    )
    assert done.stdout, done.exception
    result = json.loads(done.stdout)
    assert (result["verdict"], done.exit_code) == (verdict, code), result["reason"]
    page = tmp_path / "out" / "signoff.html"
    assert page.exists() == (verdict != "FAIL"), "what was only proposed is not released after a FAIL"
    if verdict == "NO EVIDENCE":
        assert "Only the proof stands" in page.read_text(encoding="utf-8")
