"""SIGKILL at random instants of paid runs: what others can read then, and what the next run makes of it."""

import json
import shutil
import stat
import tempfile
from fractions import Fraction
from pathlib import Path

from audit.observable import InTurn
from publius.audit.outcomes import Findings, violations
from publius.documents.corpus import open_corpus
from publius.noise.randomness import seeded_rng
from publius.privacy.ledger import Ledger
from publius.releases.engines import protect_corpus
from publius.releases.engines.local import LocalEngine
from publius.releases.engines.run_folder import working_path
from torture import bench
from torture.children import run_child

_DOCUMENTS = 60
_WAYS = [
    *((LocalEngine, format, resume) for format in bench.FORMATS for resume in (False, True)),
    (InTurn, "parquet", False),
    (InTurn, "parquet", True),
]


def torture_observable(count, seed=1):
    """``count`` kills in turn over engines and formats; then the same run again, to its end."""
    rng = seeded_rng(seed)
    landed, trial, readable, unpaid, left = 0, 0, [], [], []
    with tempfile.TemporaryDirectory() as name:
        bench.warm(Path(name))
        corpus = bench.write_corpus(Path(name) / "corpus.jsonl", _DOCUMENTS)
        price = Fraction(bench.plan().guarantee.epsilon_total)
        while landed < count:
            way, trial = _WAYS[trial % len(_WAYS)], trial + 1
            folder = Path(name) / f"run{trial}"
            folder.mkdir()
            ledger = Ledger.create(folder / "ledger", budget=4 * price)
            killed, _ = run_child(_job(corpus, folder, way), kill_after=float(rng.random()) * 0.25)
            landed += bool(killed)
            placed, spent = (folder / "out" / "manifest.json").exists(), ledger.document("d0").spent
            said = f"{way[0].__name__}, {way[1]}, {'resumable' if way[2] else 'at once'}, {trial}"
            readable += [said] if _readable(folder, placed=placed) else []
            unpaid += [said] if placed and spent < price else []
            if not placed:
                ended, result = run_child(_job(corpus, folder, way))
                left += [f"{said}: {result}"] if ended or result[0] or not _whole(folder / "out") else []
                unpaid += [said] if ledger.document("d0").spent < price else []
            left += [said] if _others(folder) and not (placed and (way[2] or _bare(folder))) else []
            shutil.rmtree(folder)
    checks = (
        violations("kills: what others could read before its place", landed, len(readable)),
        violations("kills: unpaid releases", landed, len(unpaid)),
        violations("kills: leftovers after the next run", landed, len(left)),
    )
    return Findings(checks, {"kills of paid runs": landed, "problems": (readable + unpaid + left)[:20]})


def _whole(output):
    manifest = json.loads((output / "manifest.json").read_text(encoding="utf-8"))
    return manifest["documents"] == _DOCUMENTS and len(list(output.iterdir())) > 1


def _job(corpus, folder, way):
    engine, format, resume = way

    def job():
        protect_corpus(
            open_corpus(corpus), bench.plan(), folder / "out", format=format, engine=engine(), resume=resume,
            batch_size=5, ledger=Ledger(folder / "ledger"),
        )  # fmt: skip

    return job


def _readable(folder, *, placed):
    """What others could open, folder by folder from the top: a private folder hides what is in it."""
    found = []
    for path in folder.iterdir():
        if path.name.startswith("ledger") or (path.name == "out" and placed):
            continue
        if stat.S_IMODE(path.lstat().st_mode) & 0o077:
            found.append(path.name)
    return found


def _bare(folder):
    """Killed between placing the output and giving up its claim: an empty folder, of which nothing can be read."""
    claim = working_path(folder / "out")
    return _others(folder) == [claim.name] and not [
        entry for entry in claim.iterdir() if entry.stat().st_size
    ]


def _others(folder):
    return [
        path.name for path in folder.iterdir() if path.name != "out" and not path.name.startswith("ledger")
    ]
