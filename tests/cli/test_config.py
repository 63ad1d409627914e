"""Options that are not typed, what commands say on standard error, and what a shell proposes."""

import json
import logging

import pytest
from typer import Context
from typer.main import get_command

from publius.cli import app
from publius.evaluation.steps.answers import Choices, config_text, read_config
from toy import sentence

CANARY = "zzcanary"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def quiet_again():
    """The log is the process's own: what a test asks of it ends with the test."""
    logger = logging.getLogger("publius")
    before = logger.handlers, logger.level, logger.propagate
    yield
    logger.handlers, logger.propagate = before[0], before[2]
    logger.setLevel(before[1])


def config(text, name="publius.toml"):
    from pathlib import Path

    Path(name).write_text(text, encoding="utf-8")
    return name


def test_typed_then_environment_then_file_then_default(publius, monkeypatch):
    """The law of precedence, one layer after the other taken away."""
    monkeypatch.setenv("PUBLIUS_CONFIG", config("[ledger.init]\nbudget = 30\nunit = 'epsilon'\n"))
    monkeypatch.setenv("PUBLIUS_BUDGET", "20")

    def made(name, *arguments):
        code, out, err = publius("ledger", "init", name, "--json", *arguments)
        assert code == 0, err
        facts = json.loads(out)
        return float(facts["budget"]), facts["unit"]

    assert made("a", "--budget", "10") == (10, "epsilon")
    assert made("b") == (20, "epsilon")
    monkeypatch.delenv("PUBLIUS_BUDGET")
    assert made("c") == (30, "epsilon")
    config("")
    assert made("d", "--budget", "10") == (10, "epsilon-n")
    assert publius("ledger", "init", "e")[0] == 2  # there is no default for the budget


def test_the_file_can_be_named(publius, monkeypatch):
    other = config("[ledger.init]\nbudget = 5\n", "other.toml")
    assert publius("--config", other, "ledger", "init", "a")[0] == 0
    monkeypatch.setenv("PUBLIUS_CONFIG", other)
    assert publius("ledger", "init", "b")[0] == 0
    monkeypatch.setenv("PUBLIUS_CONFIG", "absent.toml")
    code, _, err = publius("ledger", "init", "c")
    assert (code, "absent.toml" in err) == (74, True)


def test_conveniences_may_lie_there(publius, stored, corpus_file):
    config("[obfuscate]\nworkers = 1\nformat = 'csv'\njson = true\n")
    call = (
        "obfuscate",
        corpus_file,
        "--epsilon",
        "2",
        "--length",
        "20",
        "--embeddings",
        stored,
        "--output",
        "out",
    )
    code, out, err = publius(*call)
    assert (code, json.loads(out)["documents"]) == (0, 12)
    assert "from 'publius.toml', where nothing else is typed: --workers, --format, --json" in err


def test_what_was_not_typed_is_said(publius, monkeypatch):
    monkeypatch.setenv("PUBLIUS_CONFIG", config("[ledger.init]\nbudget = 5\n"))
    monkeypatch.setenv("PUBLIUS_UNIT", "epsilon")
    err = publius("ledger", "init", "a")[2]
    assert "from 'publius.toml', where nothing else is typed: --budget" in err
    assert "from the environment, where nothing else is typed: --unit" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [("[ledger.init]\nbudgets = 5", "'budgets' below [ledger.init]"), ("[ledgers.init]\nbudget = 5", "'ledgers'"),
     ("[ledger]\nbudget = 5", "'ledger.budget'"), ("[obfuscate]\nseed = 5", "only typed"),
     ("[obfuscate]\nexperiment = true", "only typed"), ("[obfuscate]\nepsilon = {a = 1}", "'epsilon'"),
     ("canary = 1", "'canary' below [start]"), ("[obfuscate\n", "is invalid TOML"),
     (f"a{'.a' * 9000} = 1", "is invalid TOML"), ("a = " + "[" * 9000, "is invalid TOML")],
)  # fmt: skip
def test_what_a_file_cannot_say_is_refused(publius, text, said):
    config(text)
    code, _, err = publius("ledger", "init", "a", "--budget", "5")
    assert code in (2, 65)
    assert said in err


def test_a_seed_in_the_environment_is_not_taken(publius, monkeypatch, stored, corpus_file):
    monkeypatch.setenv("PUBLIUS_SEED", "1")
    monkeypatch.setenv("PUBLIUS_EXPERIMENT", "1")
    monkeypatch.setenv("PUBLIUS_EPSILON", "2")
    monkeypatch.setenv("PUBLIUS_KEEP", "topic")
    code, out, err = publius(
        "obfuscate", corpus_file, "--output", "out", "--embeddings", stored, "--length", "20", "--json"
    )
    assert code == 0, err
    manifest = json.loads(out)
    assert (manifest["private"], manifest["epsilon"], manifest["labels"]) == (True, 2.0, ["topic"])
    assert manifest["randomness"] == "ChaCha20 keyed by the operating system"


def test_options_of_every_kind(publius, stored, corpus_file):
    """A list, a number for an option that is text, a flag, and a parameter that a mechanism declares."""
    named = config(
        "[obfuscate]\nepsilon = 2\nlength = 20\nkeep = ['topic']\nresume = true\nmechanism = 'tight'\n"
        f"embeddings = '{stored}'\nstop-words = 'none'\n"
    )
    code, out, err = publius("--config", named, "obfuscate", corpus_file, "--output", "out", "--json")
    assert code == 0, err
    manifest = json.loads(out)
    assert (manifest["size"], manifest["labels"], manifest["mechanism"]) == (20, ["topic"], "tight")
    assert manifest["stop_words"] == "none"
    assert "--resume" in err


def test_the_answers_of_start_are_a_section_of_the_same_file(publius, corpus_file):
    choices = Choices(public="older.csv", preserve="topic", bound=3.5)
    for text in (config_text(choices), config_text(choices).replace("[start]\n", "")):
        assert read_config(__import__("pathlib").Path(config(text))) == choices
        code, _, err = publius("--config", "publius.toml", "start", corpus_file, "--output", "out", "--yes")
        assert (code, "--public, --preserve, --bound" in err, "older.csv" in err) == (74, True, True)


# What is said


def test_json_lines_hold_no_word_of_a_document(publius, stored, here):
    rows = [{"id": f"d{i}", "text": f"{sentence(i)} {CANARY}{i}", "author": CANARY} for i in range(3)]
    source = here / "texts.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows) + CANARY + "\n", encoding="utf-8")
    publius("ledger", "init", "l", "--budget", "1000")
    code, out, err = publius(
        "-vv", "--log-format", "json", "obfuscate", source, "--epsilon", "2", "--length", "20", "--embeddings",
        stored, "--output", "out", "--ledger", "l", "--skip-bad", "--accept-loss",
    )  # fmt: skip
    assert code == 0, err
    said = [json.loads(line) for line in err.splitlines()]
    assert {"time", "level", "logger", "message"} <= set.intersection(*map(set, said))
    steps = [each for each in said if each["logger"] == "publius.releases"]
    assert [each["message"].split(":")[0] for each in steps] == [
        "all documents are drawn", "the ledger is debited", "the release has its place",
    ]  # fmt: skip
    assert all((each["documents"], each["left_out"]) == (3, 1) for each in steps)
    assert CANARY not in out + err


def test_steps_are_said_when_asked_for_only(publius, stored, corpus_file):
    call = ("obfuscate", corpus_file, "--epsilon", "2", "--length", "20", "--embeddings", stored, "--json")
    assert publius(*call, "--output", "a")[2] == ""
    assert "publius: the release has its place: 12 documents" in publius("-v", *call, "--output", "b")[2]


def test_an_error_is_a_json_line_too(publius):
    code, _, err = publius("--log-format", "json", "ledger", "show", "absent")
    assert (code, json.loads(err)["level"]) == (74, "error")


WRONG = {
    "no such option": ("obfuscate", "texts.jsonl", "--epsilom", "2"),
    "no such command": ("obfuscat",),
    "no value": ("obfuscate", "texts.jsonl", "--epsilon"),
    "a text as a number": ("obfuscate", "texts.jsonl", "--output", "out", "--epsilon", "many"),
    "an argument is missing": ("obfuscate",),
    "no such option of all": ("--verbos",),
    "no command": (),
    "no command of a group": ("ledger",),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("way", ["typed", "typed with =", "environment"])
def test_what_is_wrong_with_a_call_is_a_json_line_too(publius, here, monkeypatch, case, way):
    """One object, and of the documents nothing."""
    (here / "texts.jsonl").write_text(json.dumps({"id": CANARY, "text": CANARY}) + "\n", encoding="utf-8")
    typed = {"typed": ("--log-format", "json"), "typed with =": ("--log-format=json",), "environment": ()}[
        way
    ]
    if way == "environment":
        monkeypatch.setenv("PUBLIUS_LOG_FORMAT", "json")
    code, out, err = publius(*typed, *WRONG[case])
    said = json.loads(err)
    assert (code, out, said["level"], said["logger"]) == (2, "", "error", "publius")
    assert "--help" in said["message"]
    assert CANARY not in err


def test_as_text_the_usage_is_shown(publius):
    code, _, err = publius("obfuscate", "texts.jsonl", "--epsilom", "2")
    assert (code, err.startswith("Usage: "), "--epsilom" in err) == (2, True, True)


# What a shell proposes


def commands(group, names=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*names, name))
        else:
            yield " ".join((*names, name)), command


@pytest.mark.parametrize(("name", "command"), list(commands(get_command(app))))
def test_every_option_is_proposed(name, command):
    ctx = Context(command, info_name=name)
    flags = {max(each.opts, key=len) for each in command.get_params(ctx) if each.param_type_name == "option"}
    assert flags <= {item.value for item in command.shell_complete(ctx, "--")}
    assert flags


def test_choices_are_proposed():
    command = get_command(app).commands["obfuscate"]
    ctx = Context(command, info_name="obfuscate")
    (metric,) = [each for each in command.get_params(ctx) if each.name == "metric"]
    assert [item.value for item in metric.shell_complete(ctx, "man")] == ["manhattan"]
