"""Of two runs with one output and one ledger the second is refused before it pays for anything."""

from contextlib import nullcontext
from pathlib import Path

import publius
from fences import Fence
from publius.errors import UsageError
from publius.releases.engines import protect_corpus, run
from released import toy_documents, toy_plan


def _check(folder: Path) -> None:
    corpus = publius.open_corpus(toy_documents(folder / "texts.jsonl"))
    ledger = publius.Ledger.create(folder / "budget", budget=100)
    output, seen = folder / "out", list[str]()

    def second(done: int) -> None:
        if not seen:
            seen.append("")
            try:
                protect_corpus(corpus, toy_plan(), output, ledger=ledger)
            except UsageError as error:
                seen.append(str(error))

    try:
        protect_corpus(corpus, toy_plan(), output, ledger=ledger, progress=second)
    except UsageError:
        seen.append("the first run lost")
    assert ledger.document("doc0").releases == 1
    assert seen[1:] == [f"another process is at work in '{output}.publius-run': wait for it"]
    assert (output / "manifest.json").exists()


FENCES = (
    Fence(
        17, "an output is claimed before anything is debited", _check,
        lambda patch: patch.setattr(run, "claimed", lambda output: nullcontext()),
    ),
)  # fmt: skip
