"""The counting script finds what its head defines, and nothing that only looks like it."""

import ast
import json
from pathlib import Path

import pytest

from project import counts


@pytest.mark.parametrize(
    "line",
    ["isinstance(plan.mechanism, Mechanism)", "issubclass(kind, Laplace)",
     "type(each) is DocumentGuarantee", 'plan.level == "word"', 'manifest.get("level") != "document"',
     'facts["level"] == level', "preserve in kept", "name in DOCUMENT_MECHANISMS", "held.word_mechanism",
     "plan.names_prototypes and x", "walk.keeps_words and x", 'ledger.unit == "bound"'],
)  # fmt: skip
def test_a_question_of_kind_is_found(line):
    assert counts.questions(ast.parse(line)) == {1}


@pytest.mark.parametrize(
    "line",
    ["isinstance(x, Bag)", "0 < level < 1", "choices.preserve is None", "plan.level", 'unit == "epsilon"',
     "plan.mechanism.draw(x)", "def f(x: Kernel): ...", 'print("level")'],
)  # fmt: skip
def test_what_asks_nothing_is_not(line):
    assert counts.questions(ast.parse(line)) == set()


def test_several_in_a_line_count_once_and_annotations_apart():
    tree = ast.parse('if a.level == "word" and b.names_prototypes: pass\nx: Kernel | DocumentMechanism = y')
    assert counts.questions(tree) == {1}
    assert counts.unions(tree) == {2}


@pytest.mark.long
def test_what_did_not_fall_has_a_reason_and_questions_of_kind_stay_few():
    before = json.loads(Path(counts.__file__).with_name("counts_0_2.json").read_text(encoding="utf-8"))
    now = counts.source_counts(counts.HERE)
    numbers = {name: count for name, count in now.items() if not isinstance(count, dict)}
    assert [name for name, count in numbers.items() if count >= before[name] and name not in counts.WHY] == []
    assert numbers["questions_of_kind"] <= 10
    assert set(counts.WHY) <= set(before)
