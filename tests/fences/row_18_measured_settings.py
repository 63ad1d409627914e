"""A page states only what was measured at the release's own setting, and says which setting differs."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

import publius
from fences import Fence
from letters import AUTHORS, TOPICS, text, write
from made_scores import clean, facts, line
from publius.errors import PolicyError, PubliusError, UsageError
from publius.evaluation import prepare, signed, verdict
from publius.evaluation.runner import EvaluationRequest, Results
from publius.evaluation.steps.learning import learn
from publius.evaluation.steps.summarizing import SummaryWorkflow
from publius.settings import DOCUMENT_LENGTH, EvaluationSettings, ExperimenterSettings
from released import command


def _of(manifest: dict[str, object], size: int, **asked: object) -> None:
    request = {"parameters": {}, "first": None, "metric": "euclidean", **asked}
    signed._check_choices(manifest, Results({"request": request, "size": size}, (), (), None))


def _check(folder: Path) -> None:
    release = {
        "mechanism": "prototype",
        "mechanism_parameters": {"rule": "nearest"},
        "bound": 7.0,
        "size": 40,
        "first": None,
    }
    _of(release, 40)
    for size, asked, said in ((400, {}, "length 400 instead of 40"), (40, {"first": 50}, "first 50 instead of all"),
                              (40, {"parameters": {"rule": "other"}}, "rule other instead of nearest")):  # fmt: skip
        with pytest.raises(UsageError, match=said):
            _of(release, size, **asked)
    words = {"mechanism": "laplace", "mechanism_parameters": {}, "metric": "euclidean", "size": 40}
    _of(words, 40)
    with pytest.raises(UsageError, match="metric manhattan instead of euclidean"):
        _of(words, 40, metric="manhattan")


def _ordered(folder: Path) -> None:
    """Words that stand in their order, between stop words and marks, were seen by no adversary on bags."""
    with pytest.raises(PubliusError) as refused:
        signed.measured_for({"ordered": True}, folder)
    assert isinstance(refused.value, PolicyError), "it was looked for"


def _bags_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(signed, "check_kind", lambda manifest, what: None)


def _followed(folder: Path) -> None:
    """How many prototypes there are follows from the bound unless somebody says it: each is another mechanism."""
    (folder / "own.jsonl").write_text(
        "".join(json.dumps({"text": f"the judge crossed the bridge {n}"}) + "\n" for n in range(6))
    )
    rows = [
        {"id": f"{a}{n}", "author": a, "topic": "x", "text": f"the judge crossed the bridge {n} {a}",
         "role": "known" if n else "unknown"}
        for a in "abc" for n in range(3)
    ]  # fmt: skip
    (folder / "attacked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    setting = ("--preserve", "topic", "--reference", "themes", "--bound", 7)
    code, _, said = command(
        "evaluate", folder / "attacked.jsonl", *setting, "--adversaries", "originals", "--tasks", "author",
        "--workers", 1, "--output", folder / "measured",
    )  # fmt: skip
    assert code == 0, said
    for number, expected in ((), 0), (("--prototypes", 10), 2):
        release = folder / f"release{expected}"
        code, _, said = command(
            "obfuscate", folder / "own.jsonl", *setting, *number, "--number", "--output", release
        )
        assert code == 0, said
        code, _, said = command("signoff", release, "--evaluation", folder / "measured", "--json")
        assert (code, "prototypes 50 instead of 10" in said) == (expected, bool(expected)), said
    for cell in (folder / "measured" / "cells").glob("*.json"):  # as before they were compared
        found = json.loads(cell.read_text())
        cell.write_text(json.dumps({name: value for name, value in found.items() if name != "parameters"}))
    code, _, said = command("signoff", folder / "release0", "--evaluation", folder / "measured", "--json")
    assert (code, "does not say all of the setting" in said) == (65, True), said


def _default_length(folder: Path) -> None:
    asked = EvaluationSettings(mechanisms=("prototype",), reference="any", bounds=(7.0,))
    assert EvaluationRequest.of(asked).size == DOCUMENT_LENGTH


def _all_texts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("publius.evaluation.runner.LENGTH", None)


def _summary_again(folder: Path) -> None:
    """Whoever repeats a summary by the commands that are printed is charged for it, as he was for the first."""
    rows = [f"the judge crossed the bridge {n},author {n}" for n in range(40)]
    (folder / "own.csv").write_text("\n".join(["text,author", *rows]), encoding="utf-8")
    ledger = publius.Ledger.create(folder / "budget", budget=10, unit="bound")
    code, out, said = command(
        "start", folder / "own.csv", "--summary", "--author-field", "author", "--epsilon", 4, "--ledger",
        folder / "budget", "--output", folder / "one", "--yes", "--json",
    )  # fmt: skip
    assert (code, ledger.subject("author 7").spent) == (0, 4), said
    for printed in json.loads(out)["commands"]:
        words = [word.replace(str(folder / "one"), str(folder / "two")) for word in shlex.split(printed)]
        assert command(*words[1:])[0] == 0
    assert ledger.subject("author 7").spent == 8


def _uncharged(patch: pytest.MonkeyPatch) -> None:
    printed = SummaryWorkflow.commands
    patch.setattr(SummaryWorkflow, "commands", lambda flow, output, ledger=None: printed(flow, output))


def _learned_texts(folder: Path) -> None:
    """On texts that a reference was learned from it hardly errs, and by its errors authors are found.

    Three of each author's seven texts are among those that it learned from, one of them in capitals.
    """
    rows = [
        {"id": f"{author}{n}", "author": author, "topic": TOPICS[author], "text": text(author, n, 40)}
        for author in AUTHORS
        for n in range(17)
    ]
    before = [row for row in rows if int(row["id"][3:]) >= 4]
    public = write(folder / "public.jsonl", [{**row, "text": row["text"].upper()} for row in before])
    learn(public, "learned", label="topic")
    asked = write(folder / "asked.jsonl", [row for row in rows if int(row["id"][3:]) < 7])
    settings = EvaluationSettings(
        reference="learned", bounds=(5.0,), adversaries=("originals",), tasks=("author",), parts=2
    )

    def found(corpus: Path) -> dict[str, object]:
        place = folder / f"of {len(list(folder.iterdir()))}"
        return prepare.prepared(
            str(corpus), EvaluationRequest.of(settings), ExperimenterSettings(), place
        ).facts

    run = found(asked)
    assert (run["unknown_texts"], run["unlooked"]) == (4 * 4, None), "it was attacked on texts it has learned"
    assert "12 that the reference learned from are left out" in str(run["split"])
    with pytest.raises(UsageError, match="learned from these texts"):
        found(public)
    public.rename(folder / "moved.jsonl")
    assert str(found(asked)["unlooked"]).startswith("nobody could look whether the reference learned from")
    with pytest.raises(UsageError, match="learned from these texts"):
        found(folder / "moved.jsonl")


def _whatever_it_has_learned(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(prepare, "without_learned", lambda dataset, public, corpus, learned: dataset)


def _nobody_looked(folder: Path) -> None:
    """What would be a PASS is none where the attacked texts may be those that the reference was learned from."""
    lines = [clean(np.arange(1200) % 5 < 4, 0.26), line({"svm": (np.zeros(1200), 0.26)})]
    for about, expected in (({"documents": {}, "unlooked": None}, "PASS"), ({"documents": {}}, "NO EVIDENCE"),
                            ({"unlooked": "nobody could look"}, "NO EVIDENCE")):  # fmt: skip
        found = verdict.judge(lines, verdict.Limits(adds_at_most=0.05), facts(1200, 97, 0.26) | about)
        assert found is not None
        assert (found.answer, "nobody" in found.text) == (expected, expected != "PASS"), found.text


FENCES = (
    Fence(
        18, "an evaluation of other settings is refused by the name of each", _check,
        lambda patch: patch.setattr(signed, "_alike", lambda found, wanted: True),
    ),
    Fence(
        18, "what followed from the rest is compared, too", _followed,
        lambda patch: patch.setattr(signed, "_check_followed", lambda manifest, found, folder: None),
    ),
    Fence(
        18, "no text is attacked that the reference learned from", _learned_texts, _whatever_it_has_learned,
    ),
    Fence(
        18, "nothing passes where nobody could look what the reference learned from", _nobody_looked,
        lambda patch: patch.setattr(verdict, "unlooked_of", lambda facts: None),
    ),
    Fence(18, "an evaluation of bags is none of ordered text", _ordered, _bags_alone),
    Fence(18, "an evaluation measures the length of a release unless told otherwise", _default_length, _all_texts),
    Fence(18, "the commands that repeat a summary charge its ledger", _summary_again, _uncharged),
)  # fmt: skip
