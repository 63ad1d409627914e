"""The trial of a newcomer in a terminal, from a file to a verified sign-off; what the bags tell of length."""

import json
import os
import shlex
import shutil
import sys

import numpy as np
import pytest

import complaints
from guessed_length import PREDICTORS, chance, excess
from homes import home_at
from publius.noise.randomness import seeded_rng
from released import completed

pytest.importorskip("sklearn", reason="the evaluation needs the extra evaluation")

pytestmark = pytest.mark.usefixtures("one_processor")
MOST_ANSWERS = 10
VERDICTS = {0: "PASS", 1: "FAIL", 3: "NO EVIDENCE"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trial")
    return {
        "complaints": complaints.store(folder / "complaints.csv", complaints.complaints()),
        "older": complaints.store(
            folder / "older.csv", complaints.older(120), delimiter=",", encoding="utf-8"
        ),
        "home": home_at(folder / "home"),
        "folder": folder,
    }


def publius(files, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PUBLIUS_HOME", str(files["home"]))
        return completed(*arguments)


@pytest.fixture(scope="module")
def walked(files):
    """What a newcomer does at a terminal; how many answers it took, and what was seen."""
    pexpect = pytest.importorskip("pexpect", reason="a terminal is played by pexpect, which is not installed")
    output = files["folder"] / "out"
    environment = {**os.environ, "PUBLIUS_HOME": str(files["home"]), "COLUMNS": "200"}
    arguments = ["-m", "publius", "start", str(files["complaints"]), "--output", str(output)]
    terminal = pexpect.spawn(
        sys.executable,
        arguments,
        encoding="utf-8",
        env=environment,
        timeout=1_800,
        dimensions=(50, 400),
    )
    questions = {
        "What readers need": "rows", "The table is not in UTF-8": "",
        "Public or older texts": str(files["older"]),
        "Which column of the public texts says who wrote them": "customer",
        "What to keep": "", "Bound between": "", "Go on": "",
        "Rare words to leave out": "none",
        "Another number": "release", "or what is to stand there": "",
    }  # fmt: skip
    answers, seen = 0, ""
    # To the end of what came: the last blank of a question comes by itself, and there is ": " in the middle of some.
    patterns = [rf"{question}[^\r\n]*: $" for question in questions]
    unknown = r"\[[^\r\n\[\]]*\]: $"  # a question that nobody here answers would be waited for
    while (which := terminal.expect([*patterns, pexpect.EOF, unknown])) < len(patterns):
        seen += terminal.before + terminal.after
        answers += 1
        assert answers <= MOST_ANSWERS
        terminal.sendline([*questions.values()][which])
    seen += terminal.before
    terminal.close(force=True)
    assert which == len(patterns), seen
    return {"output": output, "answers": answers, "seen": seen, "code": terminal.exitstatus}  # fmt: skip


@pytest.mark.long  # in process: tests/cli/test_start.py
def test_from_nothing_to_a_verified_sign_off(files, walked):
    assert walked["code"] in VERDICTS, walked["seen"]
    assert walked["answers"] <= MOST_ANSWERS
    checked = publius(
        files, "verify", walked["output"] / "release", walked["output"] / "signoff.html", "--evaluation",
        walked["output"] / "evaluation",
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr
    assert f"{VERDICTS[walked['code']]}: of " in walked["seen"]


@pytest.mark.long  # in process: tests/cli/test_start.py
def test_what_is_odd_in_the_file_is_said_and_nobody_is_lost(walked):
    seen = walked["seen"]
    assert "Read as iso-8859-1, fields separated by semicolons." in seen
    assert "3 rows without text (empty)" in seen
    assert "1 row far longer than the others" in seen
    assert "another language (fr)" in seen
    assert "another language (de)" in seen
    bags = released(walked["output"] / "release")
    assert [bag["id"] for bag in bags] == [str(number) for number in range(1, complaints.ALL + 1)]


@pytest.mark.long  # in process: tests/cli/test_start.py
def test_real_words_are_shown_before_and_after_and_the_bound_is_in_words(walked):
    assert "before: " in walked["seen"]
    assert "after: [" in walked["seen"]
    assert "7 (moderate): whoever knows the exact text of 1,000 documents" in walked["seen"]


@pytest.mark.long  # in process: tests/cli/test_start.py
def test_the_commands_at_the_end_make_the_same(files, walked, tmp_path):
    """The fit apart, whose reference is in the store: the manifests are equal."""
    lines = [line.strip() for line in walked["seen"].splitlines() if line.strip().startswith("publius ")]
    names = [line.split()[1] for line in lines]
    assert names == ["reference", "evaluate", "obfuscate", "inspect", "signoff"]
    shutil.copytree(walked["output"] / "public", tmp_path / "public")
    for line in lines[1:]:
        again = [part.replace(str(walked["output"]), str(tmp_path)) for part in shlex.split(line)[1:]]
        done = publius(files, *again, "--json")
        assert done.returncode in VERDICTS, done.stderr
    ours, theirs = (
        json.loads((folder / "release" / "manifest.json").read_text())
        for folder in (walked["output"], tmp_path)
    )
    ours["files"], theirs["files"] = ([*found["files"]] for found in (ours, theirs))  # the noise is fresh
    assert ours == theirs
    checked = publius(files, "verify", tmp_path / "release", tmp_path / "signoff.html")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.long  # in process: tests/cli/test_start.py
def test_the_answers_again_from_the_file_of_answers(files, walked, tmp_path):
    shutil.copy(walked["output"] / "publius.toml", tmp_path / "publius.toml")
    done = publius(
        files, "start", files["complaints"], "--config", tmp_path / "publius.toml", "--yes", "--json", "--output",
        tmp_path / "again",
    )  # fmt: skip
    assert done.returncode in VERDICTS, done.stderr
    result = json.loads(done.stdout)
    assert result["choices"]["bound"] == 7
    assert result["verdict"] == VERDICTS[done.returncode]


# What the bags tell of length -----------------------------------------------------------------------------


def released(folder):
    return [json.loads(line) for line in (folder / "bags.jsonl").read_text(encoding="utf-8").splitlines()]


def counts(bags):
    words = sorted({word for bag in bags for word in bag["bag"]})
    place = {word: number for number, word in enumerate(words)}
    table = np.zeros((len(bags), len(words)))
    for row, bag in enumerate(bags):
        for word, count in bag["bag"].items():
            table[row, place[word]] = count
    return table


def lengths():
    """Ranks of the lengths: one text is of 1 MB, which would be all that a mean sees."""
    found = [len(row["complaint"].split()) for row in complaints.complaints()]
    return np.argsort(np.argsort(found)).astype(float)


@pytest.mark.long  # what words keep is the harder case
@pytest.mark.parametrize(("predictor", "permutations"), PREDICTORS)
def test_bags_that_keep_the_topic_tell_nothing_of_length(walked, predictor, permutations):
    table = counts(released(walked["output"] / "release"))
    assert excess(table, lengths(), predictor, permutations) < chance(permutations)


@pytest.fixture(scope="module")
def words(files):
    """The release that keeps words; nothing is measured here, for that takes its time and is no matter of length."""
    output = files["folder"] / "words"
    done = publius(
        files, "start", files["complaints"], "--public", "none", "--preserve", "words", "--epsilon", "2",
        "--length", "150", "--encoding", "iso-8859-1", "--without-evidence", "--yes", "--json", "--output", output,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] is None
    return released(output / "release")


@pytest.mark.long  # the audit asks of the bytes; this is who would guess
@pytest.mark.parametrize(("predictor", "permutations"), PREDICTORS)
def test_bags_that_keep_words_tell_nothing_of_length(words, predictor, permutations):
    assert len({bag["size"] for bag in words}) == 1
    assert excess(counts(words), lengths(), predictor, permutations) < chance(permutations)


@pytest.mark.parametrize(("predictor", "permutations"), PREDICTORS)
def test_the_predictor_sees_the_one_token_that_filled_short_texts_up_before(predictor, permutations):
    """Made bags, always the same, with a column of the padding that a length of 150 words took."""
    bags = seeded_rng(1).poisson(0.05, (complaints.ALL, 1_500))
    padding = [max(0, 150 - len(row["complaint"].split())) for row in complaints.complaints()]
    found = excess(np.column_stack([bags, padding]), lengths(), predictor, permutations)
    assert found > chance(permutations) > excess(bags.astype(float), lengths(), predictor, permutations)
