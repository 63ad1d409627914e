"""What the page of a release says in numbers, from its manifest alone: its templates make the sentences."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from publius.privacy.guarantee import posterior_at_most
from publius.privacy.promise import (
    label_kept,
    meaning,
    on_average,
    percent,
    rounded_up,
    shuffled_unit,
    word_pairs,
    yardstick,
)

CANDIDATES: Final = (2, 100, 1000)
"""How many texts an attacker holds, of which one is behind a row, in the picture of what epsilon means."""
_BEST, _WORST = 4, 5
"""Labels whose accuracy is drawn, of more than these together."""
_REPLACED: Final = 0.05
"""Share of words left unchanged below which nearly all are said to be replaced."""
_WORDS: Final = 4
_CELL: Final = 60
_LABELS_TYPED: Final = 13


def facts_of(manifest: Any, row: Mapping[str, Any] | None, table: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Everything that ``release.html`` and ``README.txt`` say of a release of any kind."""
    kind, warning = manifest.__struct_config__.tag, (manifest.warning or "NOT PRIVATE").rstrip(".")
    found = {
        "manifest": manifest, "kind": kind, "meaning": meaning(manifest),
        "warning": None if manifest.private else f"{warning}. This is an experiment; nothing is promised.",
        "yardstick": yardstick(manifest) if manifest.private else None, "files": [*manifest.files, "manifest.json"],
        "signed": None, "row": None if row is None else _row(row),
        "table": [{k: v if k == "label" else int(v) for k, v in each.items()} for each in table or ()],
        "command": command_of(manifest), "twice": _twice(manifest) if manifest.private else None,
        "kept": getattr(manifest, "kept", ()), "ids": getattr(manifest, "ids", False),
    }  # fmt: skip
    if kind == "summary":
        meter = [{"label": "One of 2 texts", "guess": 0.5, "most": posterior_at_most(manifest.epsilon, 2)}]
        return found | {"counts": [], "of": "subjects", "shares": shares_of(manifest), "meter": meter}
    return found | (_of_labels if kind == "labels" else _of_words)(manifest)


def _twice(manifest: Any) -> str | None:
    """The most that can be known from two such releases of the same, twice epsilon, beside that from one."""
    kind = manifest.__struct_config__.tag
    if kind == "words":
        pairs = word_pairs(manifest)
        if not pairs:
            return None
        name, exponent = pairs[0]
        first, second = rounded_up(exponent), rounded_up(2 * exponent)
        return f"The exponent for {name} is at most {first} with one release, {second} with two."
    declared = kind == "labels" and manifest.classifier.kind == "values"
    of = 2 if kind == "summary" else len(manifest.labels) if declared else CANDIDATES[-1]
    first, second = (percent(posterior_at_most(times * manifest.epsilon, of), up=True) for times in (1, 2))
    who = f"Somebody who looks for the right one of {of:,} {'values' if declared else 'texts'}"
    return f"{who} finds it at most {first} of the time with one release, {second} with two."


def _of_labels(manifest: Any) -> dict[str, Any]:
    answers = len(manifest.labels)
    stays = label_kept(manifest.epsilon, answers)
    taken = (1 - stays) / (answers - 1) if answers > 1 else 0.0
    accuracy = manifest.classifier.accuracy
    shares = sorted(accuracy.by_label.items(), key=lambda each: -each[1]) if accuracy else []
    drawn = shares if len(shares) <= _BEST + _WORST else [*shares[:_BEST], *shares[-_WORST:]]

    def released(share: float) -> float:
        """How often a *released* label is right: kept and right, or drawn by the noise."""
        return share * stays + (1 - share) * taken

    rows = [{"label": name, "value": released(share), "before": share} for name, share in drawn]
    if accuracy:
        ends = {"low": released(accuracy.low), "high": released(accuracy.high)}
        rows.insert(0, {"label": "all labels", "value": released(accuracy.share), "before": accuracy.share} | ends)
    declared = manifest.classifier.kind == "values"
    meter = [
        {
            "label": f"One of {k:,} {'values' if declared else 'texts'}", "guess": 1 / k,
            "most": posterior_at_most(manifest.epsilon, k), "average": on_average(manifest.epsilon, answers, k),
        }
        for k in (sorted({2, answers}) if declared else CANDIDATES)
    ]  # fmt: skip
    return {
        "stays": stays, "changed": 1 - stays, "taken": taken, "factor": math.exp(manifest.epsilon),
        "meter": meter, "accuracy": accuracy, "accuracy_bars": rows, "shares": shares,
        "released": released, "drawn_of": len(shares) if len(drawn) < len(shares) else 0,
        "best": _BEST, "worst": _WORST,
        "unmeasured": [name for name in manifest.labels if accuracy and accuracy.by_label and name not in accuracy.by_label],
        "declared": declared, "shuffled_unit": shuffled_unit(manifest),
    }  # fmt: skip


def _of_words(manifest: Any) -> dict[str, Any]:
    stated = [(f"1 of {manifest.length:,} words", name, value) for name, value in word_pairs(manifest)]
    if manifest.typical_pair is not None and manifest.length > 1:
        every = manifest.typical_pair * manifest.length
        stated.append((f"all {manifest.length:,} words", stated[-1][1], every))
    most = max((value for _, _, value in stated), default=1.0)
    return {
        "exponents": [
            {"label": name, "under": under, "marks": [{"value": value, "tone": "a"}]} for name, under, value in stated
        ],
        "decades": max(2, math.ceil(math.log10(most))),
        "at_one": posterior_at_most(1, 2),
        "exponents_said": "; ".join(f"{name} ({under}): {rounded_up(value)}" for name, under, value in stated),
        "unchanged": manifest.unchanged,
        "replaced": manifest.unchanged is not None and manifest.unchanged < _REPLACED,
    }


def _row(row: Mapping[str, Any]) -> str:
    """One row as JSON; what is long is cut, and says so."""
    more = "\N{HORIZONTAL ELLIPSIS}"

    def short(value: Any) -> Any:
        if isinstance(value, str) and len(value) > _CELL:
            return value[:_CELL] + more
        if isinstance(value, Mapping) and len(value) > _WORDS:
            shown = sorted(value.items(), key=lambda each: not each[0].isalpha())[:_WORDS]  # numbers look like codes
            return dict(shown) | {more: len(value) - _WORDS}
        return [*value[: 2 * _WORDS], more] if isinstance(value, list | tuple) and len(value) > 2 * _WORDS else value

    said = json.dumps({name: short(value) for name, value in row.items()}, ensure_ascii=False, default=str)
    return re.sub(f'"{more}": (\\d+)', f"{more} \\1 more words", said)


def shares_of(manifest: Any) -> dict[str, Fraction]:
    """What share of epsilon each table of a summary has, as it was asked for: manifests round its product up."""
    return {
        name: (Fraction(each) / Fraction(manifest.epsilon)).limit_denominator(10**6)
        for name, each in manifest.epsilons.items()
    }


def command_of(manifest: Any) -> str:
    """The command that draws such a release anew, from the curator's file."""
    kind = manifest.__struct_config__.tag
    if kind == "summary":
        parts = ["summarize", "FILE", "--author-field", "COLUMN"]
        if manifest.classifier is not None:
            parts += ["--classifier", manifest.classifier.name]
        for name, values in manifest.by.items():
            parts += ["--by", f"{name}={_typed(values)}"]
        if manifest.statements:
            parts += ["--ask", "@STATEMENTS", "--statements-per-author", str(manifest.statements_per_author)]
        parts += ["--compare", "EARLIER"] * (manifest.compared_with is not None)
    elif kind == "labels":
        parts = ["label", "FILE"]
        typed = "@LABELS" if len(manifest.labels) > _LABELS_TYPED else _typed(manifest.labels)
        if manifest.classifier.kind == "values":
            parts += ["--field", manifest.field or "COLUMN", "--labels", typed]
        elif manifest.classifier.kind == "names":
            parts += ["--labels", typed, *["--labels-after-texts"] * manifest.labels_after_texts]
        else:
            parts += ["--classifier", manifest.classifier.name]
    else:
        from publius.mechanisms.registry import KERNELS, kernel_class  # for which labels and summaries need not wait
        from publius.option import declared

        parts = ["obfuscate", "FILE", "--length", str(manifest.length), "--mechanism", manifest.mechanism]
        stated = manifest.mechanism_parameters
        takes = declared(kernel_class(manifest.mechanism).Parameters) if manifest.mechanism in KERNELS else stated
        for name in sorted(takes.keys() & stated.keys() - {"source"}):  # the rest of what is stated follows from these
            parts += ["--set", f"{name}={stated[name]}"]
        parts += ["--ordered"] * manifest.ordered
    parts += ["--epsilon", repr(manifest.epsilon).removesuffix(".0")]
    if kind == "labels" and manifest.bag is not None:
        parts += ["--bag", str(manifest.bag)]
    parts += ["--ids"] * getattr(manifest, "ids", False)
    for name in getattr(manifest, "kept", ()):
        parts += ["--keep", name]
    if kind == "summary":
        parts += ["--documents-per-author", str(manifest.documents_per_author)]
        parts += ["--share", ",".join(f"{name}={share}" for name, share in shares_of(manifest).items())]
    elif manifest.author is not None:
        parts += ["--author-field", "COLUMN", "--documents-per-author", str(manifest.author.documents)]
    return shlex.join(["publius", *parts, "--output", "FOLDER"])


def _typed(values: Sequence[str]) -> str:
    """Values as they are typed into one option: comma-separated, quoted as in a table; "other" is always there."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([value for value in values if value != "other"])
    return line.getvalue()
