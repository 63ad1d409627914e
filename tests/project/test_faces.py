"""What people see of the command line: help of one screen, options counted, errors of one line."""

import re

import pytest

from publius.cli import COMMANDS, overview, run

GROUPS = {"models": "train import list show remove try".split(), "ledger": "init show".split()}
NAMES = [name for commands in COMMANDS.values() for name in commands]
EVERY = [(name, *([part] if part else [])) for name in NAMES for part in GROUPS.get(name, [""])]


def helped(capsys, command):
    run([*command, "--help"])
    return capsys.readouterr().out


def test_there_are_thirteen_commands():
    assert len(NAMES) == 13
    assert all(name in overview() for name in NAMES)


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_help_is_one_screen(command, capsys):
    lines = helped(capsys, command).rstrip().splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 80


def test_options_are_few(capsys):
    counted = {command: set(re.findall(r"--[a-z][a-z-]+", helped(capsys, command))) - {"--help"} for command in EVERY}
    assert sum(map(len, counted.values())) <= 300, {" ".join(name): len(found) for name, found in counted.items()}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [(["lable"], 2, "Did you mean label?"), (["label"], 2, "label --help"), (["label", "x.csv", "--nope"], 2, "--nope"),
     (["label", "nowhere.csv", "--labels", "a", "--field", "x", "--output", "o"], 74, "nowhere.csv"),
     (["obfuscate", "nowhere.csv", "--epsilon", "ten", "--output", "o"], 2, "ten"), (["ledger", "show", "nowhere"], 74, "nowhere"),
     (["start", "--yes", "--output", "o"], 2, "--demo"), (["explain"], 2, "--between")],
)  # fmt: skip
def test_errors_are_one_line_with_the_way_out(run, tmp_path, monkeypatch, arguments, code, said):
    monkeypatch.chdir(tmp_path)
    found, out, err = run(*arguments)
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert said in err
    assert list(tmp_path.iterdir()) == []
