"""Canaries: words, file names and ids that must turn up nowhere, looked for in every sink of the command line.

Sinks: every file released, its name, standard output and error, log records, warnings, what is left in the temporary
and home folders, the ledger.
"""

import contextlib
import gzip
import io
import itertools
import json
import logging
import os
import sys
import tempfile
import warnings
from pathlib import Path

from publius.audit.outcomes import Findings, violations
from publius.cli import main
from torture import bench

WORD, NAME, IDENTITY, FIELD = "zzcanaryword", "zzcanaryfile", "zzcanaryid", "zzcanaryfield"
INPUTS = ("txt", "jsonl", "csv", "parquet", "jsonl.gz")
POLICIES = ("unk", "drop", "reject")
PLACES = (
    "text",
    "every word",
    "bad row",
    "other field",
    "ledger",
    "stop words",
    "huge epsilon",
    "not UTF-8",
    "failing",
    "ordered",
)


def rows(place):
    """Documents whose texts hold the canary word, with canaries for id and for a field that is not kept."""
    vocabulary = bench.EMBEDDINGS.vocabulary
    for index in range(3):
        known = " ".join(vocabulary[index : index + 8])
        text = WORD if place == "every word" else f"{known} {WORD} {known} {WORD}{index}"
        yield {"id": f"{IDENTITY}{index}", "text": text, "author": f"{FIELD}{index}"}


def write_input(folder: Path, kind: str, place: str) -> Path:
    """The input of a scenario; file names below the path that is given hold a canary too."""
    if kind == "txt":
        path = folder / "texts"
        path.mkdir()
        for index, row in enumerate(rows(place)):
            (path / f"{NAME}{index}.txt").write_bytes(_spoil(row["text"].encode(), place, index))
        return path
    path = folder / f"corpus.{kind}"
    if kind == "parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows(place))), path)
        return path
    if kind == "csv":
        lines = [f'{row["id"]},"{row["text"]}",{row["author"]}'.encode() for row in rows(place)]
        spoiled = [_spoil(line, place, index) for index, line in enumerate(lines)]
        path.write_bytes(b"id,text,author\r\n" + b"\r\n".join(spoiled) + b"\r\n")
        return path
    lines = [json.dumps(row).encode() for row in rows(place)]
    content = b"\n".join(_spoil(line, place, index) for index, line in enumerate(lines)) + b"\n"
    path.write_bytes(gzip.compress(content) if kind.endswith("gz") else content)
    return path


def _spoil(content, place, index):
    """The second document of some places is no document at all."""
    if index != 1:
        return content
    if place == "bad row":
        return content[: len(content) - 3] + b"\x00\xff"
    return content.replace(WORD.encode(), WORD.encode() + b"\xff\xfe") if place == "not UTF-8" else content


def command(folder: Path, source: Path, policy: str, format: str, place: str) -> list[str]:
    """The command line of a scenario."""
    arguments = ["obfuscate", str(source), "--output", str(folder / "out"), "--embeddings", "canaries"]
    arguments += ["--epsilon", "1e6" if place == "huge epsilon" else "2", "--length", "12", "--workers", "1"]
    arguments += ["--unknown", policy, "--format", format]
    if place == "stop words":
        (folder / "stop").write_text(f"{WORD}9\nthe\n", encoding="utf-8")
        arguments += ["--stop-words", f"file:{folder / 'stop'}"]
    if place == "ledger":
        run(["ledger", "init", str(folder / "ledger"), "--budget", "100"])
        return [*arguments, "--ledger", str(folder / "ledger"), "--skip-bad"]
    arguments += ["--order", "--keep-between", "all"] if place == "ordered" else []
    arguments += [] if place == "failing" else ["--number"]
    if place == "failing":
        arguments += ["--text-field", FIELD]
    return [*arguments, *(["--skip-bad", "--accept-loss"] if place in ("bad row", "not UTF-8") else [])]


def run(arguments):
    """(exit code, standard output, standard error, log records and warnings) of the command line, in this process."""
    out, err, log = io.StringIO(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    argv, sys.argv = sys.argv, ["publius", *arguments]
    code = 0
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            main()
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.argv = argv
        logging.getLogger().removeHandler(handler)
    return (
        code,
        out.getvalue(),
        err.getvalue(),
        log.getvalue() + "".join(str(item.message) for item in warned),
    )


def contents(folder: Path) -> str:
    """Names and contents of every file under ``folder``, Parquet decoded."""
    found = []
    for path in sorted(folder.rglob("*")):
        found.append(str(path.relative_to(folder)))
        if path.suffix == ".parquet":
            import pyarrow.parquet

            found += [
                str(pyarrow.parquet.read_table(path).to_pylist()),
                str(pyarrow.parquet.read_schema(path)),
            ]
        if path.is_file():
            found.append(path.read_bytes().decode("utf-8", "replace"))
    return "\n".join(found)


def torture_canaries(count):
    """``count`` scenarios, or all of them when there are fewer."""
    scenarios = list(itertools.product(INPUTS, POLICIES, bench.FORMATS, PLACES))
    step = max(1, len(scenarios) // count)
    hits, strange, released = [], [], 0
    with tempfile.TemporaryDirectory() as home, _environment(PUBLIUS_HOME=home):
        bench.EMBEDDINGS.save(Path(home) / "embeddings" / "canaries")
        chosen = scenarios[::step]
        for scenario in chosen:
            with tempfile.TemporaryDirectory() as name, _environment(TMPDIR=name):
                found = _scenario(Path(name), *scenario)
            released += found.released
            hits += [f"{' / '.join(scenario)}: {hit}" for hit in found.hits]
            strange += (
                [] if found.code in (0, 2, 65, 77) else [f"{' / '.join(scenario)}: exit code {found.code}"]
            )
        home_text = contents(Path(home))
        hits += [f"home: {canary}" for canary in (WORD, NAME, IDENTITY, FIELD) if canary in home_text]
    checks = (
        violations("canaries: found in a sink", len(chosen), len(hits)),
        violations("canaries: other exit codes than those of refusals", len(chosen), len(strange)),
        violations(
            "canaries: scenarios that released nothing", len(chosen), int(released < len(chosen) // 3)
        ),
    )
    figures = {"canary scenarios": len(chosen), "of them released": released}
    return Findings(checks, {**figures, "problems": (hits + strange)[:20]})


class _Found:
    def __init__(self, code, hits, released):
        self.code, self.hits, self.released = code, hits, released


def _scenario(folder, kind, policy, format, place):
    source = write_input(folder, kind, place)
    ours = set(folder.rglob("*"))
    arguments = command(folder, source, policy, format, place)
    code, out, err, log = run(arguments)
    made = folder / "out"
    sinks = {
        "release": contents(made) if made.exists() else "",
        "standard output": out,
        "standard error": err,
        "log": log,
        "temporary files": "\n".join(
            str(p) for p in folder.rglob("*") if p not in ours and "stop" not in p.name
        ),
    }
    return _Found(code, list(_hits(sinks, place, str(folder))), made.exists())


def _hits(sinks, place, folder):
    """Ids are the user's own where they are released with the bags or charged to a ledger, or name a bad document."""
    canaries = [WORD, NAME, FIELD, IDENTITY]
    if place in ("ledger", "failing"):
        canaries.remove(IDENTITY)
    for sink, text in sinks.items():
        for canary in canaries:
            named_by_user = place == "failing" and canary == FIELD and sink == "standard error"
            if canary in text and not named_by_user:
                yield f"{canary} in {sink}"


@contextlib.contextmanager
def _environment(**values):
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
