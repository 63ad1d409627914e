"""Requests made from the OpenAPI document, by schemathesis: whatever is sent, never a 5xx.

PUBLIUS_SCHEMA_CASES says how many, 10,000 unless given.
"""

import json
import os
import time
from collections import Counter
from contextlib import suppress

import pytest
from explorer import explorer
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

from publius.cli.console import duration
from references import fitted
from toy import WORDS, sentence

schemathesis = pytest.importorskip("schemathesis", reason="a part of make e2e, which has its own environment")

LINES = "application/x-ndjson"


def streamed():
    """Bodies of a stream: a choice and documents as lines, or anything."""
    objects = st.dictionaries(
        st.sampled_from(["id", "text", "subject", "epsilon", "length", "batch", "unknown", "other"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()),
    )
    documents = st.fixed_dictionaries({"id": st.text(max_size=20), "text": st.text()})
    choices = st.fixed_dictionaries({}, optional={"length": st.integers(1, 60), "batch": st.integers(1, 5)})
    lines = st.builds(lambda first, rest: [first, *rest], objects | choices, st.lists(objects | documents))
    return st.binary() | lines.map(lambda found: "\n".join(map(json.dumps, found)).encode())


schemathesis.openapi.media_type(LINES, streamed())


@schemathesis.serializer(LINES)
def as_it_is(context, value):
    """The lines are bytes already."""
    return value


CASES = int(os.environ.get("PUBLIUS_SCHEMA_CASES", "10000"))


def operations(running):
    """Every operation of the document, each with the headers that a friend sends."""
    headers = {"Authorization": f"Bearer {running.token}"}
    schema = schemathesis.openapi.from_url(f"http://{running.host}/v1/openapi.json", headers=headers)
    return [result.ok() for result in schema.get_all_operations()], headers


def friendlier(case, number):
    """Every second body with words of the vocabulary, so that what lies behind the first checks is tried too."""
    if number % 2 and isinstance(case.body, dict):
        for name in ("text", "other", "a", "b"):
            if isinstance(case.body.get(name), str):
                case.body[name] = sentence(number % 97)
        if isinstance(case.body.get("word"), str):
            case.body["word"] = WORDS[number % len(WORDS)]
        if case.operation.label == "POST /v1/outcomes":
            case.body.update(preserve=("topic", "meaning")[number // 2 % 2], reference="letters", bound=5)
        documents = case.body.get("documents")
        for document in documents if isinstance(documents, list) else ():
            if isinstance(document, dict) and isinstance(document.get("text"), str):
                document["text"] = sentence(number % 97)
    return case


def try_one(operation, running, headers, count, mode, round, tally):
    """At most ``count`` cases of one operation."""

    @seed(round)
    @settings(max_examples=count, deadline=None, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case):
        answer = friendlier(case, tally.total()).call(
            base_url=f"http://{running.host}", headers=headers, timeout=120
        )
        tally[operation.label, answer.status_code] += 1
        assert answer.status_code < 500, f"{operation.label}: {answer.status_code} {answer.text[:300]}"

    with suppress(Unsatisfiable):  # what takes no input has no wrong one
        check()


def so_far(done, started):
    """For who waits some minutes."""
    left = duration((time.monotonic() - started) / done * (CASES - done)) if done else "some minutes"
    return f"generated requests: {done:,} of {CASES:,}, {left} left"


def test_no_case_gives_a_5xx(stored, home, tmp_path, capsys):
    fitted("letters").save(home / "references" / "letters")
    tally = Counter()
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
    with explorer(tmp_path, "--embeddings", stored) as running:
        found, headers = operations(running)
        started = time.monotonic()
        for round in range(100):
            left = CASES - tally.total()
            for operation in found if left > 0 else ():
                with capsys.disabled():
                    print(f"\n{so_far(tally.total(), started)}; {operation.label}", flush=True)
                for mode in modes:
                    try_one(operation, running, headers, max(1, left // (2 * len(found))), mode, round, tally)
        status, _ = running.ask("GET", "/health")
    with capsys.disabled():
        print(f"\n{tally.total()} cases over {len(found)} operations: {sorted(tally.items())}")
    assert tally.total() >= CASES
    assert status == 200
    assert {label for label, status in tally if status == 200} >= {
        "POST /v1/accuracy",
        "POST /v1/draw",
        "POST /v1/obfuscate",
        "POST /v1/outcomes",
        "POST /v1/words",
    }
