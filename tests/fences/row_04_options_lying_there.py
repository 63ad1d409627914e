"""A file of options that merely lies in the working folder sets conveniences only."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from fences import Fence
from publius import option
from publius.cli import app, config, main
from publius.cli.config import ConfiguredCommand, conveniences, keys_of
from publius.option import Settings, declared
from toy import sentence


def _commands(group: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*names, name))
        else:
            yield (*names, name), command


def _ended(*arguments: str) -> tuple[int, str]:
    """Exit code and what was said."""
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["publius", *arguments])
        patch.setattr("publius.cli.say", lambda text, **_: said.append(text))
        with pytest.raises(SystemExit) as ended:
            main()
    return int(ended.value.code or 0), " ".join(said)


def _every_promise(folder: Path) -> None:
    """Each option of each command that does not say it is a convenience is refused, by name."""
    checked = 0
    for names, command in _commands(get_command(app)):
        allowed = conveniences(command)
        ctx = typer.Context(command, info_name=names[-1], obj=None)
        found = {key: each for key, each in keys_of(command, ctx).items() if key not in config.TYPED}
        section = dict.fromkeys(found, 1)
        given = config.Configuration(Path(config.FILE), False, {}, {})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(config.Configuration, "section", lambda self, ctx, said=section: dict(said))
            ctx.obj = given
            promises = {key for key, each in found.items() if each.name not in allowed}
            try:
                ConfiguredCommand._refuse_unnamed(command, ctx, found)
                refused: set[str] = set()
            except Exception as error:
                text = str(error)
                refused = {key for key in found if f"--{key.replace('_', '-')}," in text.replace(":", ",")}
        assert promises <= refused, f"{' '.join(names)} takes from a file: {sorted(promises - refused)}"
        assert not (refused - promises), f"{' '.join(names)} refuses a convenience"
        checked += len(promises)
    assert checked > 200


def _nothing_leaves(folder: Path) -> None:
    """What was planted once: nothing of it is done, and the answer says how to do it."""
    rows = [{"id": f"d{i}", "text": sentence(i), "note": "n"} for i in range(3)]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    planted = {
        "obfuscate": {"keep": '["note"]', "order": "true", "keep_between": '"all"', "stop_words": '"file:x"',
                      "bound": "30"},
        "start": {"publish_ids": "true", "without_evidence": "true"},
        "write": {"remote_ok": "true", "writer": '"llm:http://192.0.2.1/v1#m"'},
    }  # fmt: skip
    calls = {
        "obfuscate": ("texts.jsonl", "--output", "out", "--epsilon", "2", "--length", "20"),
        "start": ("texts.jsonl", "--output", "out", "--yes"),
        "write": ("out", "--output", "written.jsonl"),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command, keys in planted.items():
            for key, value in keys.items():
                Path("publius.toml").write_text(f"[{command}]\n{key} = {value}\n", encoding="utf-8")
                code, said = _ended(command, *calls[command])
                assert (code, "lies in the working folder" in said) == (2, True), (command, key, said)
                assert f"--{key.replace('_', '-')}" in said
                assert "publius --config" in said
                assert sorted(path.name for path in folder.iterdir()) == ["publius.toml", "texts.jsonl"]


def _nothing_is_looked_up(folder: Path) -> None:
    """A mechanism may be code: what an unnamed file calls one is imported by no command, its own or another."""
    installed = folder / "installed"
    installed.mkdir()
    (installed / "lying_there.py").write_text(
        "open('ran', 'w').close()\nclass Code: pass\n", encoding="utf-8"
    )
    (folder / "texts.jsonl").write_text(json.dumps({"id": "d", "text": sentence(1)}) + "\n", encoding="utf-8")
    chosen = [
        names
        for names, command in _commands(get_command(app))
        if "mechanism" in keys_of(command, typer.Context(command, info_name=names[-1], obj=None))
    ]
    assert len(chosen) > 3
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(installed))  # the folder itself is taken out of the path
        sections = {
            names: f"[{'.'.join(names)}]\nmechanism = 'python:lying_there:Code'\n" for names in chosen
        }
        calls = [(names, (names,), section) for names, section in sections.items()]
        others = {("inspect", "texts.jsonl"), ("doctor",)}
        assert not {call[0] for call in others} & {names[0] for names in chosen}
        for names, called, text in (*calls, (None, others, "".join(sections.values()))):
            Path("publius.toml").write_text(text, encoding="utf-8")
            for call in called:
                code, said = _ended(*call)
                sys.modules.pop("lying_there", None)
                assert not (folder / "ran").exists(), (names, call)
                told = (code, "lies in the working folder" in said) == (2, True)
                assert call != names or told, (names, said)


def _stated_means_promise(folder: Path) -> None:
    """What a release states of itself cannot be declared a convenience, and silence is no declaration."""
    with pytest.raises(ValueError, match="no convenience"):
        option.Option("Of the bags.", public=True, convenience=True)
    for kind in _settings_classes(Settings):
        for each in declared(kind):
            assert each.option.convenience is False or not each.option.public


def _settings_classes(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from _settings_classes(each)


def _anything_goes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConfiguredCommand, "_refuse_unnamed", lambda self, ctx, known: None)


def _everything_is_a_convenience(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(config, "conveniences", lambda command: {each.name for each in command.params})


def _no_guard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(option.Option, "__post_init__", lambda self: None)


FENCES = (
    Fence(
        4, "options that say nothing of themselves are refused", _every_promise, _everything_is_a_convenience
    ),
    Fence(4, "a planted file of options keeps, publishes and sends nothing", _nothing_leaves, _anything_goes),
    Fence(4, "what a planted file of options names is not imported", _nothing_is_looked_up, _anything_goes),
    Fence(4, "what a release states is no convenience", _stated_means_promise, _no_guard),
)
