"""An evaluation goes on only with the texts, labels and mechanism that it was begun with."""

import json
import os
import sys
from pathlib import Path

import pytest

from fences import Fence
from letters import rows, write
from publius.errors import UsageError
from publius.evaluation import runner
from publius.evaluation.prepare import prepared
from publius.evaluation.runner import EvaluationRequest
from publius.settings import EvaluationSettings, ExperimenterSettings
from released import toy_vectors

_OWN = """
from publius.mechanisms.kernels.laplace import Laplace

class Own(Laplace):
    name = "own"
"""


def _check(folder: Path) -> None:
    (folder / "own_mechanism.py").write_text(_OWN)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.delitem(sys.modules, "own_mechanism", raising=False)
        _compare(folder)


def _compare(folder: Path) -> None:
    toy_vectors().save(Path(os.environ["PUBLIUS_HOME"]) / "embeddings" / "toy")
    own = "python:own_mechanism:Own"
    request = EvaluationRequest.of(
        EvaluationSettings(
            mechanisms=(own,), embeddings="toy", epsilons=(2.0,), length=20, adversaries=("linear",)
        )
    )
    records = rows()

    def begin(name: str = "texts.jsonl") -> None:
        texts = write(folder / name, records)
        prepared(str(texts), request, ExperimenterSettings(), folder / "out")

    begin()
    begin()
    begin("moved.jsonl")  # where a text lies is in errors alone
    kept = json.loads((folder / "out" / "run.json").read_text())
    words = records[0]["text"].split()
    for change, said in (({"text": " ".join(sorted(words))}, "texts"), ({"topic": "court"}, "labels")):
        before, records[0] = records[0], {**records[0], **change}
        with pytest.raises(UsageError, match=rf"holds another evaluation.*{said}"):
            begin()
        records[0] = before
    (folder / "own_mechanism.py").write_text(f"{_OWN}    twice = 2.0\n")
    with pytest.raises(UsageError, match=r"holds another evaluation.*mechanism code"):
        begin()
    key = folder / "out" / "texts.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.read_bytes().hex() not in json.dumps(kept)


def _without(*facts: object) -> dict[str, object]:
    return {}


FENCES = (
    Fence(
        20, "another evaluation's cells are not averaged in", _check,
        lambda patch: patch.setattr(runner, "what_is_the_same", _without),
    ),
)  # fmt: skip
