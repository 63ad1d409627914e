"""No process of ours imports what lies in the working folder or what the environment names."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from publius.documents.corpus import Document
from publius.errors import PubliusError
from publius.evaluation import experiment, of_release
from publius.evaluation.runner import EvaluationRequest
from publius.files import tasks, workers
from publius.mechanisms.registry import make_mechanism, parameters_of
from publius.noise.randomness import RunKey, seeded_rng
from publius.releases import manifests
from publius.releases.engines import worker_pool
from publius.releases.plan import Encoding, Plan
from publius.vectors.embeddings import Embeddings
from publius.web import run as web_run
from released import command, toy_vectors
from source_imports import FILES, imports_of, tree_of
from toy import WORDS, sentence

_CALL = (sys.executable, "-m", "publius")
_INSTALLED = "publius.__main__"


@cache
def imported_names() -> set[str]:
    """Top-level names of all that the package imports, and of what is imported before it to start a process."""
    found = {name.partition(".")[0] for path in FILES for name in imports_of(tree_of(path))}
    return (found | {"sitecustomize", "usercustomize", "__mp_main__"}) - {"", "publius"}


def planted(folder: Path, but: frozenset[str] = frozenset()) -> Path:
    """A folder with a module of every name, each of which leaves a mark and fails."""
    place = folder / "planted"
    place.mkdir()
    for name in imported_names() - but:
        mark = json.dumps(str(folder / f"ran-{name}"))
        (place / f"{name}.py").write_text(
            f"open({mark}, 'w').close()\nraise ImportError({name!r})\n", encoding="utf-8"
        )
    return place


def _corpus(folder: Path) -> Path:
    path = folder / "texts.jsonl"
    lines = [json.dumps({"id": str(i), "text": sentence(i)}) + "\n" for i in range(4)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _in_planted_folder(folder: Path, work: object, *, environment: bool) -> None:
    """Call ``work`` where modules are planted; nobody may have run one."""
    place = planted(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        if environment:
            patch.setenv("PYTHONPATH", os.pathsep.join([str(place), ""]))
        fault = None
        try:
            work()  # type: ignore[operator]
        except Exception as error:  # a process that ran a planted module fails, and more is known of it below
            fault = error
    ran = sorted(path.name for path in folder.glob("ran-*"))
    assert not ran, f"a planted module was imported: {ran}"
    assert fault is None, f"{type(fault).__name__}: {fault}"


def _workers(folder: Path) -> None:
    vectors = seeded_rng(20).standard_normal((len(WORDS), 8), np.float32)
    embeddings = Embeddings.from_arrays(WORDS, vectors, name="toy", tokenizer="word2vec")
    plan = Plan(
        make_mechanism("laplace", embeddings, epsilon=5.0), Encoding.of(embeddings.tokenizer, length=4)
    )
    batches = [[Document(f"{i}{j}", sentence(j), {}, 2 * i + j) for j in range(2)] for i in range(3)]

    def work() -> None:
        with worker_pool.LocalRunner(plan, 2) as runner:
            found = [*runner.run(batches, RunKey.fresh())]
        assert len(found) == 3

    _in_planted_folder(folder, work, environment=True)


def rows_of(corpus: Path, listener: object) -> int:
    """What an explorer's process does here: it imports as much as a command."""
    from publius.documents.inspection import inspect

    return inspect(corpus).rows


def _explorer(folder: Path) -> None:
    corpus = _corpus(folder)

    def work() -> None:
        run = web_run.WorkflowProcess("look", [], {}, rows_of, (corpus,))
        run.wait()
        assert run.result == {"returned": 4}, run.fault

    _in_planted_folder(folder, work, environment=True)


def _before_us() -> frozenset[str]:
    """What ``python -m`` itself imports, from the working folder too: who fears that starts with ``publius``."""
    loaded = [sys.executable, "-I", "-c", "import runpy, sys; print(*sys.modules)"]
    names = subprocess.run(loaded, capture_output=True, text=True, check=True).stdout.split()
    return frozenset(name.partition(".")[0] for name in names)


def _with_m(folder: Path) -> None:
    _command(folder, planted(folder, but=_before_us()), _CALL)


def _installed(folder: Path) -> None:
    """The command as it is installed, where ``PYTHONPATH`` has an empty entry, which is the working folder.

    Python's own modules are Python's to find, a ``sitecustomize`` too, before any program can say otherwise.
    """
    of_python = sys.stdlib_module_names | {"sitecustomize", "usercustomize"}
    call = (sys.executable, "-P", "-c", f"import sys; from {_INSTALLED} import main; sys.exit(main())")
    _command(folder, planted(folder, but=frozenset(of_python)), call, PYTHONPATH=os.pathsep)


def _command(folder: Path, place: Path, call: Sequence[str], **more: str) -> None:
    corpus = _corpus(folder)
    told = {name: value for name, value in os.environ.items() if name[:6] != "PYTHON"}
    done = subprocess.run(
        [*call, "inspect", str(corpus), "--json"], cwd=place, capture_output=True,
        text=True, check=False, env={**told, **more},
    )  # fmt: skip
    ran = sorted(path.name for path in folder.glob("ran-*"))
    assert not ran, f"a planted module was imported: {ran}"
    assert done.returncode == 0, done.stderr


_NAMED = "python:planted_class:Coin"


def _named_by_files(names: set[str], folder: Path) -> None:
    """Whoever sends a release or an evaluation chooses no module that is imported here: only the user names one."""
    mark = json.dumps(str(folder / "ran-planted_class"))
    (folder / "planted_class.py").write_text(f"open({mark}, 'w').close()\n", encoding="utf-8")
    rows = [
        {"id": f"{a}{n}", "author": a, "topic": "x", "text": sentence(seed), "role": "known" if n else "unknown"}
        for seed, (a, n) in enumerate((a, n) for a in "abc" for n in range(3))
    ]  # fmt: skip
    toy_vectors().save(Path(os.environ["PUBLIUS_HOME"], "embeddings", "toy"))
    texts, release, measured = folder / "texts.jsonl", folder / "release", folder / "measured"
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    setting = ("--epsilon", 3, "--length", 5, "--embeddings", "toy")
    code, _, said = command("obfuscate", texts, *setting, "--number", "--output", release)
    assert code == 0, said
    code, _, said = command(
        "evaluate", texts, *setting, "--adversaries", "sr-nearest", "--tasks", "author", "--workers", 1, "--output",
        measured,
    )  # fmt: skip
    assert code == 0, said
    calls = (
        ("guarantee", release),
        ("guarantee", release, "--between", "river", "castle", "--words"),
        ("signoff", release, "--json"),
        ("signoff", release, "--evaluation", measured, "--json"),
        ("inspect", texts, "--release", release),
        ("evaluate", texts, "--release", release, "--workers", 1, "--output", folder / "again"),
        ("evaluate", texts, *setting, "--workers", 1, "--output", measured),
        ("report", measured),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for path, within in ((release / "manifest.json", None), (measured / "run.json", "request")):
            kept = path.read_text(encoding="utf-8")
            stated = json.loads(kept)
            part = stated if within is None else stated[within]
            for name in part.keys() & names:
                forged = {**part, name: [_NAMED] if isinstance(part[name], list) else _NAMED}
                path.write_text(json.dumps(forged if within is None else {**stated, within: forged}))
                for call in calls:
                    command(*call)
                    sys.modules.pop("planted_class", None)
                    assert not (folder / "ran-planted_class").exists(), f"{name} was imported by {call[0]}"
            path.write_text(kept, encoding="utf-8")


_BEFORE = ""
"""Done in the command's own process before it begins."""

_WATCHED = """
import io, os, sys
from unittest import mock
here, looked = os.getcwd(), set()
def noting(real):
    def noted(path, *more, **named):
        if isinstance(path, (str, bytes, os.PathLike)):
            name = os.path.abspath(os.fsdecode(path))
            if os.getcwd() == here and os.path.dirname(name) == here:
                looked.add(os.path.basename(name))
        return real(path, *more, **named)
    return noted
from publius.cli import main
sys.argv = ["publius", *sys.argv[1:]]
kept = io.open
with mock.patch("os.stat", noting(os.stat)), mock.patch("os.open", noting(os.open)), \
     mock.patch("io.open", noting(kept)), mock.patch("builtins.open", noting(kept)):
    try:
        main()
    except SystemExit as end:
        code = end.code
print(*sorted(looked), code, file=sys.stderr)
"""


def _settings_lying_there(folder: Path) -> None:
    """A file of settings beside the documents, which matplotlib would take, changes nothing that is drawn."""
    pytest.importorskip("matplotlib")
    code = (
        f"{_BEFORE}from publius.releases import drawing\nprint(drawing.library().rcParams['text.latex.preamble'])\n"
        "with drawing.drawing() as plt:\n    print(drawing.svg(plt.subplots()[0]))"
    )
    drawn = []
    for name, said in (
        ("bare", ""),
        ("set", "text.latex.preamble: \\\\input{x}\nlines.linewidth: 9\naxes.grid: True\n"),
    ):
        place = folder / name
        place.mkdir()
        (place / "matplotlibrc").write_text(said, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=place, capture_output=True, text=True, check=True
        )
        drawn.append(done.stdout)
    assert drawn[0] == drawn[1]


def _looked_for(folder: Path) -> None:
    """A command looks in the working folder for what it was told, and for ``publius.toml``; no library of it does."""
    pytest.importorskip("matplotlib")
    rows = [
        {"id": f"r{n}", "text": sentence(n), "author": f"a{n % 20}", "kind": "xy"[n % 2]} for n in range(60)
    ]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    calls = (
        ("summarize", "texts.jsonl", "--author-field", "author", "--by", "kind=x,y", "--output", "counts"),
        (
            "compare",
            "--embeddings",
            "toy",
            "--mechanisms",
            "laplace",
            "--unchanged",
            "0.5",
            "--plot",
            "curves.svg",
        ),
    )
    toy_vectors().save(Path(os.environ["PUBLIUS_HOME"], "embeddings", "toy"))
    for call in calls:
        done = subprocess.run(
            [sys.executable, "-c", _BEFORE + _WATCHED, *call],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        *looked, code = done.stderr.splitlines()[-1].split()
        named = {"publius.toml", *(each for each in looked if each.startswith((*call, ".publius-")))}
        assert (code, {*looked} - named) == ("0", set()), done.stderr


def _shown_by_name(folder: Path) -> None:
    """A table of results shows the mechanisms of their cells by name and imports none of them."""
    mark = json.dumps(str(folder / "ran-planted_cell"))
    (folder / "planted_cell.py").write_text(f"open({mark}, 'w').close()\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        with suppress(PubliusError):
            shown = experiment.shown_cell("python:planted_cell:Mechanism", 1.0, 7.0)
            assert "bound 7" in shown
    assert not (folder / "ran-planted_cell").exists()


def _imported_to_show(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(experiment, "PYTHON", "nothing:")


def _library_settings(patch: pytest.MonkeyPatch) -> None:
    """Libraries are imported where the documents are, and drawn in whatever style they found."""
    broken = "from contextlib import nullcontext\nfrom publius.releases import drawing\ndrawing.away = nullcontext\n"
    patch.setattr(sys.modules[__name__], "_BEFORE", broken)


def _vanilla_workers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(worker_pool, "spawning", lambda: multiprocessing.get_context("spawn"))


def _inherited_path(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(workers, "SEARCH", "NO_SUCH_VARIABLE")


def _vanilla_task(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tasks, "spawning", lambda: multiprocessing.get_context("spawn"))


def _libraries_first(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys.modules[__name__], "_INSTALLED", "publius.cli")


def _start_that_looks_here(patch: pytest.MonkeyPatch) -> None:
    """What ``python -m publius`` does if the working folder stays on its path."""
    code = "import sys; sys.path.insert(0, ''); import publius.cli; publius.cli.main()"
    patch.setattr(sys.modules[__name__], "_CALL", (sys.executable, "-c", code))


def _imported_from_manifests(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(manifests, "check_no_code", lambda manifest, what: None)


def _metric_of_a_manifest(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(of_release, "_check_named", lambda stated, named, release: None)


def _imported_to_read_results(patch: pytest.MonkeyPatch) -> None:
    made = EvaluationRequest.__post_init__

    def known(request: EvaluationRequest) -> None:
        made(request)
        for name in request.names:
            parameters_of(name)

    patch.setattr(EvaluationRequest, "__post_init__", known)


FENCES = (
    Fence(3, "a worker imports nothing from the working folder", _workers, _vanilla_workers),
    Fence(3, "a worker imports nothing that the environment names", _workers, _inherited_path),
    Fence(3, "a run of the explorer imports nothing from either", _explorer, _vanilla_task),
    Fence(3, "python -m publius imports nothing from the working folder", _with_m, _start_that_looks_here),
    Fence(
        3, "nor does the command as installed, with an empty PYTHONPATH entry", _installed, _libraries_first
    ),
    Fence(
        3, "no settings of a library that lie beside the documents count", _settings_lying_there,
        _library_settings,
    ),
    Fence(3, "no library looks there for any", _looked_for, _library_settings),
    Fence(
        3, "no mechanism that only a manifest names is imported", partial(_named_by_files, {"mechanism"}),
        _imported_from_manifests,
    ),
    Fence(3, "no metric either", partial(_named_by_files, {"metric"}), _metric_of_a_manifest),
    Fence(
        3, "nor what only the record of an evaluation names",
        partial(_named_by_files, {"mechanisms", "adversaries"}), _imported_to_read_results,
    ),
    Fence(3, "nor what a table of results names", _shown_by_name, _imported_to_show),
)  # fmt: skip
