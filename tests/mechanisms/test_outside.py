"""A mechanism in a package that Publius has never heard of: listed, explained, checked, run, evaluated and drawn."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from publius.errors import UsageError
from publius.mechanisms.registry import mechanism_class
from publius.embeddings.embeddings import Embeddings
from source_imports import ROOT
from toy import WORDS, sentence

pytest.importorskip("fastapi", reason="the explorer needs publius[explorer]")

_MODULE = '''
from dataclasses import dataclass

import numpy as np

import publius
from publius.privacy.guarantee import Guarantee
from publius.option import Settings, option


@dataclass(frozen=True, kw_only=True)
class CoinParameters(Settings):
    """Of the coin."""

    edge: float = option(0.5, help="Share of the truth that is told.", above=0, at_most=1)


class Coin(publius.Kernel):
    """Tells the word with some probability and any word of the vocabulary otherwise.

    More is said here.
    """

    name = "coin"
    Parameters = CoinParameters

    @property
    def guarantee(self):
        return Guarantee(self.epsilon, self.metric.name, "proven", delta=2.0**-30)

    def noise(self, count, rng):
        return rng.random((count, 2))

    def apply(self, words, noise, *, threads=1):
        distances = self.metric.pairwise(self.embeddings.vectors, self.embeddings.vectors)
        gap = distances[~np.eye(self.embeddings.size, dtype=bool)].min()
        odds = np.expm1(0.999 * min(self.epsilon * gap, 10)) / self.embeddings.size
        drawn = np.minimum((noise[:, 1] * self.embeddings.size).astype(np.int64), self.embeddings.size - 1)
        return np.where(noise[:, 0] < self.chosen.edge * odds / (1 + odds), words, drawn)


class Mute(Coin):
    """Promises nothing."""

    name = "mute"
    evidence = "none"

    @property
    def guarantee(self):
        return Guarantee(self.epsilon, self.metric.name, "none")


class Torn(Coin):
    """Cannot say what it promises."""

    name = "torn"

    @property
    def guarantee(self):
        return 1 / 0


class Unmade(Coin):
    """Cannot be made."""

    name = "unmade"

    def __init__(self, embeddings, **given):
        super().__init__(embeddings, **given)
        self.first = [][0]


class Shapeless(Coin):
    """Gives a number for a guarantee."""

    name = "shapeless"

    @property
    def guarantee(self):
        return 1.0


class Liar(Coin):
    """Tells the word nine times in ten, whatever it promises."""

    name = "liar"

    def apply(self, words, noise, *, threads=1):
        return np.where(noise[:, 0] < 0.9, words, super().apply(words, noise))


class Thief(Coin):
    """Takes the verb that is Publius's."""

    name = "thief"

    def draw(self, batch, rngs, *, threads=None):
        return list(batch)


class Loud(Coin):
    """Prints what it sees, and ends where a document has a certain word; neither on vocabularies of a check."""

    name = "loud"

    def apply(self, words, noise, *, threads=1):
        if self.embeddings.name == "toy":
            seen = [self.embeddings.word(word) for word in words.tolist()]
            print("I saw", *seen, flush=True)
            if "castle" in seen and self.chosen.edge > 0.5:
                raise SystemExit(f"I saw {seen}")
        return super().apply(words, noise, threads=threads)


class Unfinished(publius.Kernel):
    name = "unfinished"


class Laplace(Coin):
    name = "laplace"


nothing = 3
'''
_WHOLES = '''
from publius.mechanisms.prototype import Prototype


class First(Prototype):
    """Ours by another name."""

    name = "first"
'''
_POINTS = """[publius.mechanisms]
coin = toypkg.coins:Coin
laplace = toypkg.coins:Laplace
first = toypkg.wholes:First
gone = toypkg.coins:Gone
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the package, its metadata, the toy vectors and a corpus of two authors."""
    folder = tmp_path_factory.mktemp("outside")
    site = folder / "site"
    (site / "toypkg").mkdir(parents=True)
    (site / "toypkg" / "__init__.py").touch()
    (site / "toypkg" / "coins.py").write_text(_MODULE)
    (site / "toypkg" / "wholes.py").write_text(_WHOLES)
    about = site / "toypkg-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toypkg\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(_POINTS)
    (about / "top_level.txt").write_text("toypkg\n")
    vectors = np.stack([np.arange(len(WORDS)), np.arange(len(WORDS)) % 7], axis=1).astype(np.float32)
    Embeddings.from_arrays(WORDS, vectors, name="toy").save(folder / "home" / "embeddings" / "toy")
    texts = [
        {"id": f"{author}{number}", "author": author, "topic": "a", "text": sentence(seed), "role": split}
        for seed, (author, number, split) in enumerate(
            (author, number, "known" if number else "unknown") for author in "AB" for number in range(3)
        )
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in texts))
    return folder


_WAITING = """
import json, os, site, sys
import publius.cli, publius.mechanisms.registry, publius.releases.engines, publius.releases.preflight
site.addsitedir(sys.argv[1])
sys.path += sys.argv[2:]
for line in sys.stdin:
    arguments, said = json.loads(line)
    if not (child := os.fork()):
        for number, name in enumerate(("stdin", "out", "err")):
            opened = os.open(os.path.join(said, name) if number else os.devnull, os.O_RDWR | os.O_CREAT, 0o600)
            os.dup2(opened, number)
        sys.argv = ["publius", *arguments]
        if arguments[0] == "-c":
            exec(arguments[1])
        else:
            publius.cli.main()
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


@pytest.fixture(scope="module")
def waiting(place):
    """A process in which the package is installed and our command line imported: each call is a fork of it."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    paths = [place / "site", ROOT / "src", ROOT / "tests"]
    with subprocess.Popen(
        [sys.executable, "-c", _WAITING, *map(str, paths)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env={**os.environ, "PUBLIUS_HOME": str(place / "home")}, cwd=place,
    ) as process:  # fmt: skip
        yield process
        process.stdin.close()
        assert process.wait() == 0


@pytest.fixture
def run(place, waiting, tmp_path):
    def publius(*arguments, code=0):
        waiting.stdin.write(json.dumps([[*map(str, arguments)], str(tmp_path)]) + "\n")
        waiting.stdin.flush()
        ended = int(waiting.stdout.readline())
        out, err = ((tmp_path / name).read_text() for name in ("out", "err"))
        for name in ("out", "err"):
            (tmp_path / name).unlink()
        assert ended == code, err
        return out if code in (0, 1) else err

    return publius


VECTORS = ("--embeddings", "toy")


def test_it_is_listed_with_its_parameters(run):
    text = " ".join(run("obfuscate", "--help").split())
    assert "coin Tells the word with some probability and any word of the vocabulary otherwise." in text
    assert "--edge" in text
    assert "Share of the truth that is told. (coin) Above 0." in text
    assert "gone Cannot be used: importing it raised AttributeError." in text
    assert "another mechanism has this name" in text


@pytest.mark.parametrize("name", [pytest.param("coin", marks=pytest.mark.long), "python:toypkg.coins:Coin"])
def test_it_is_explained(run, name):
    found = json.loads(run("words", "river", "--mechanism", name, "--epsilon", "3", *VECTORS, "--json"))
    assert found["word"] == "river"
    assert found["draws"]
    rows = json.loads(
        run("compare", "--mechanisms", f"laplace,{name}", "--unchanged", "0.3", *VECTORS, "--json")
    )
    assert [row["mechanism"] for row in rows["rows"]] == ["laplace", name]
    assert rows["rows"][1]["unchanged"] == pytest.approx(0.3, abs=0.05)


def test_where_nothing_is_computed_there_is_no_certificate_and_it_says_why(run):
    assert "no certificate" in run("certify", "--mechanism", "coin", "--epsilon", "3", *VECTORS)
    told = run(
        "-c",
        f"""
import contextlib, io
from publius.cli import main
said = io.StringIO()
sys.argv = ["publius", "certify", "--mechanism", "coin", "--epsilon", "3", *{VECTORS!r}]
with contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
    main()
print(" ".join(said.getvalue().split()))
""",
    )
    assert "does not derive from AbstractExact of publius.mechanisms.kernel" in told
    assert "1,000 words" not in told


def test_a_command_for_words_lists_no_mechanism_on_documents(run):
    text = run("certify", "--help")
    assert "coin " in text
    assert "prototype" not in text
    assert "prototype" in run("obfuscate", "--help")


def test_it_is_certified_or_refused_by_the_laws(run):
    report = json.loads(run("check-mechanism", "python:toypkg.coins:Coin", "--samples", "2000", "--json"))
    assert report["passed"] is True
    digest = report["source"].pop("sha256")
    assert report["source"] == {
        "module": "toypkg.coins", "class": "Coin", "distribution": "toypkg", "version": "1.2",
    }  # fmt: skip
    assert len(bytes.fromhex(digest)) == 32
    told = run("check-mechanism", "python:toypkg.coins:Liar", "--edge", "0.5", code=1)
    assert "FAIL  output probabilities differ by at most epsilon*d" in told
    assert "Clopper-Pearson" in told
    assert "Invalid value for '--edge'" in run(
        "check-mechanism", "python:toypkg.coins:Coin", "--edge", "7", code=2
    )
    assert "No such option: --rim" in run("check-mechanism", "python:toypkg.coins:Coin", "--rim", "7", code=2)
    assert "coin takes no share" in run("check-mechanism", "coin", "--share", "1", code=2)


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [("Mute", 77, "no guarantee that can be stated"),
     ("Torn", 77, "cannot state its guarantee: it raised ZeroDivisionError at coins.py:"),
     ("Shapeless", 77, "it gives a float, not a publius.Guarantee"),
     ("Unfinished", 77, "does not define apply, guarantee, noise"),
     ("Laplace", 77, "named 'laplace', which is a mechanism of Publius: give the class another name"),
     ("Thief", 77, "replaces draw"), ("nothing", 77, "is no mechanism"),
     ("Missing", 2, "toypkg.coins was found, and has no Missing"),
     ("Unmade", 77, "cannot be made: it raised IndexError at coins.py:")],
)  # fmt: skip
def test_it_is_refused_with_the_reason(run, place, name, code, reason):
    text = run(
        "obfuscate", "corpus.jsonl", "--epsilon", "3", "--output", f"no-{name}", "--mechanism",
        f"python:toypkg.coins:{name}", *VECTORS, code=code,
    )  # fmt: skip
    assert reason in text
    assert not (place / f"no-{name}").exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [("gone.coins:Coin", "is it on PYTHONPATH?"), ("toypkg.needy:Coin", "needs the module nowhere_to_be_found"),
     ("toypkg.coins", "the module toypkg.coins was found, and has no name after it")],
)  # fmt: skip
def test_what_cannot_be_imported_is_told_by_what_is_missing(place, monkeypatch, name, reason):
    (place / "site" / "toypkg" / "needy.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(str(place / "site"))
    with pytest.raises(UsageError, match=re.escape(reason)):
        mechanism_class(f"python:{name}")


def test_it_releases_in_worker_processes_and_the_manifest_says_where_it_comes_from(run, place):
    run(
        "obfuscate", "corpus.jsonl", "--epsilon", "3", "--length", "20", "--output", "out", "--mechanism", "coin",
        "--edge", "0.9", "--workers", "2", "--batch-size", "2", *VECTORS,
    )  # fmt: skip
    manifest = json.loads(Path(place, "out", "manifest.json").read_text())
    assert manifest["mechanism"] == "coin"
    assert manifest["mechanism_parameters"] == {"edge": 0.9}
    assert manifest["mechanism_source"]["distribution"] == "toypkg"
    assert len(Path(place, "out", "bags.jsonl").read_text().splitlines()) == 6


@pytest.mark.parametrize(("edge", "code"), [("0.5", 0), ("0.9", 77)])
def test_what_it_prints_and_raises_in_worker_processes_is_not_heard(run, place, edge, code):
    told = run(
        "obfuscate", "corpus.jsonl", "--epsilon", "3", "--length", "20", "--output", f"loud{code}", "--mechanism",
        "python:toypkg.coins:Loud", "--edge", edge, "--workers", "2", "--batch-size", "2", *VECTORS, code=code,
    )  # fmt: skip
    assert "I saw" not in told
    assert not any(word in told for word in WORDS if word in sentence(0))
    assert (place / f"loud{code}" / "bags.jsonl").exists() == (code == 0)
    if code:
        assert "the mechanism loud failed: SystemExit at coins.py:" in told


def test_it_is_evaluated(run, place):
    run(
        "evaluate", "corpus.jsonl", "--epsilon", "3", "--mechanism", "coin,laplace", "--output", "evaluation",
        "--adversaries", "sr-nearest", "--tasks", "author", "--workers", "1", *VECTORS,
    )  # fmt: skip
    rows = [json.loads(line) for line in Path(place, "evaluation", "rows.jsonl").read_text().splitlines()]
    assert {row["mechanism"] for row in rows} >= {"coin", "laplace"}


_DRAWN = """
import json, sys, tempfile
from pathlib import Path
from publius.embeddings.embeddings import Embeddings
from web_service import TEXT, service

with tempfile.TemporaryDirectory() as folder, service(Embeddings.load("toy"), Path(folder)) as client:
    listed = {row["name"]: row for row in client.get("/v1/mechanisms").json()["mechanisms"]}
    asked = {"text": TEXT, "mechanism": "coin", "epsilon": 2.0, "length": 20}
    drawn = client.post("/v1/draw", json=asked)
    curve = client.post("/v1/curve", json={**asked, "mechanisms": ["coin"]})
    whole = client.post("/v1/guarantee", json={
        "preserve": "topic", "mechanism": "first", "reference": "themes", "bound": 7
    })
    promised = client.post("/v1/guarantee", json={"mechanism": "coin", "epsilon": 2.0, "length": 20, "distance": 1.0})
    print(json.dumps([listed["coin"], drawn.json(), curve.json(), promised.json(), whole.json()]))
"""


@pytest.mark.long
def test_it_is_drawn_by_the_explorers_service(run):
    listed, drawn, curve, promised, whole = json.loads(run("-c", _DRAWN))
    assert (whole["mechanism"], whole["bound"]) == ("first", 7)
    assert listed["summary"].startswith("Tells the word with some probability")
    assert listed["available"] is listed["quick"] is True
    assert listed["evidence"] == "stated by its author, nothing computed"
    assert drawn["size"] == 20
    assert "promise" in drawn
    assert curve["curves"][0]["mechanism"] == "coin"
    assert len(curve["curves"][0]["points"]) == 12
    assert promised["exponent"] == pytest.approx(40)
