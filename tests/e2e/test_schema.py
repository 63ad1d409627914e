"""Requests made from the OpenAPI document, by schemathesis: whatever is sent, never a 5xx.

PUBLIUS_SCHEMA_CASES says how many, 10,000 unless given.
"""

import os
from collections import Counter

import pytest
from explorer import explorer
from hypothesis import HealthCheck, Phase, given, seed, settings

schemathesis = pytest.importorskip("schemathesis", reason="a part of make e2e, which has its own environment")

CASES = int(os.environ.get("PUBLIUS_SCHEMA_CASES", "10000"))


def operations(running):
    """Every operation of the document, each with the headers that a friend sends."""
    headers = {"Authorization": f"Bearer {running.token}"}
    schema = schemathesis.openapi.from_url(f"http://{running.host}/v1/openapi.json", headers=headers)
    return [result.ok() for result in schema.get_all_operations()], headers


def try_one(operation, running, headers, count, mode, tally):
    """``count`` cases of one operation."""

    @seed(20191001)
    @settings(max_examples=count, deadline=None, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case):
        answer = case.call(base_url=f"http://{running.host}", headers=headers, timeout=120)
        tally[operation.label, answer.status_code] += 1
        assert answer.status_code < 500, f"{operation.label}: {answer.status_code} {answer.text[:300]}"

    check()


def test_no_case_gives_a_5xx(stored, tmp_path, capsys):
    tally = Counter()
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
    with explorer(tmp_path, "--embeddings", stored) as running:
        found, headers = operations(running)
        each = -(-CASES // (len(found) * 2))
        for operation in found:
            for mode in modes:
                try_one(operation, running, headers, each, mode, tally)
        status, _ = running.ask("GET", "/health")
    with capsys.disabled():
        print(f"\n{sum(tally.values())} cases over {len(found)} operations: {sorted(tally.items())}")
    assert status == 200
    assert {label for label, status in tally if status == 200} >= {"POST /v1/draw", "POST /v1/obfuscate"}
