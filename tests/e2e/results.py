"""Result folders in the form of ``publius evaluate``."""

import json
from pathlib import Path


def write_result(folder: Path, mechanism: str, adversary: str) -> Path:
    """Rows of an unprotected text and of two epsilons, by two adversaries and a classifier, and a page."""
    folder.mkdir()
    rows = [_row("clean", None, "koppel", "author", 8), _row("clean", None, "linear", "topic", 10)]
    for epsilon, correct in ((5.0, 2), (10.0, 6)):
        rows += [
            _row(mechanism, epsilon, "koppel", "author", correct - 1),
            _row(mechanism, epsilon, adversary, "author", correct),
            _row(mechanism, epsilon, "linear", "topic", 9),
        ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "report.html").write_text(
        f"<!doctype html><title>report</title><h1>The letters</h1><p>{adversary}</p>"
        "<script>top.canary = 1; parent.canary = 1; alert(1)</script><img src=x onerror='top.canary=1'>",
        encoding="utf-8",
    )
    return folder


def _row(mechanism, epsilon, adversary, task, correct):
    return {
        "mechanism": mechanism, "epsilon": epsilon, "repeat": 0, "adversary": adversary, "task": task,
        "correct": correct, "total": 10, "accuracy": correct / 10, "low": max(0, correct / 10 - 0.2),
        "high": min(1, correct / 10 + 0.2), "chance": 0.1, "changed": 0.0 if epsilon is None else 0.5,
        "mean_distance": 0.0 if epsilon is None else 1.5, "hits": "1" * correct + "0" * (10 - correct),
    }  # fmt: skip
