"""How a file is named on a command line. A way is one line in `WAYS`: it gives the arguments and how many documents."""

import io
import sys

from formats import FORMATS, ROWS, WHOLE


def _one(folder, format, name="data"):
    suffix, write = FORMATS[format]
    path = folder / f"{name}{suffix}"
    write(path, ROWS)
    return path, 1 if format in WHOLE else len(ROWS)


def path(folder, format, monkeypatch):
    file, count = _one(folder, format)
    return [str(file)], count


def relative(folder, format, monkeypatch):
    file, count = _one(folder, format)
    monkeypatch.chdir(folder)
    return [file.name], count


def tilde(folder, format, monkeypatch):
    file, count = _one(folder, format)
    monkeypatch.setenv("HOME", str(folder))
    return [f"~/{file.name}"], count


def link(folder, format, monkeypatch):
    file, count = _one(folder, format)
    (folder / "links").mkdir()
    made = folder / "links" / file.name
    made.symlink_to(file)
    return [str(made)], count


def spaces(folder, format, monkeypatch):
    (folder / "my files, März").mkdir()
    file, count = _one(folder / "my files, März", format, "data 1 (copy)")
    return [str(file)], count


def in_folder(folder, format, monkeypatch):
    _, one = _one(folder, format, "a")
    _, two = _one(folder, format, "b")
    (folder / ".hidden").write_text("no document")
    return [str(folder)], one + two


def several(folder, format, monkeypatch):
    first, one = _one(folder, format, "a")
    second, two = _one(folder, format, "b")
    return [str(first), str(second)], one + two


def standard_input(folder, format, monkeypatch):
    file, count = _one(folder, format)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes()), "utf-8"))
    return ["-"], count


WAYS = {
    "path": path, "relative": relative, "~": tilde, "link": link, "spaces": spaces, "folder": in_folder,
    "several": several, "stdin": standard_input,
}  # fmt: skip
