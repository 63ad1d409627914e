"""Anybody's mechanism through ``publius audit --target``: the verdict, the case, and its replay."""

import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

import audit.target_toys as toys
import publius.audit.case as cases
import publius.audit.judge as judging
from publius.audit.claim import Claim
from publius.audit.judge import judge
from publius.audit.outputs import plain, value
from publius.audit.pairs import pairs
from publius.audit.target import target_named
from publius.cli import app
from publius.errors import DataError, UsageError
from publius.noise.randomness import seeded_rng

KEYS = ["verdict", "confidence", "lower_bound", "claimed", "draws", "case", "refused", "scope"]
DRAWS = 8_000


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    """Processes of their own find the toys as they find a user's module."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


def claim_file(folder, **more):
    values = {
        "unit": "word",
        "epsilon": toys.EPSILON,
        "vocabulary": toys.WORDS,
        "vectors": toys.VECTORS,
        **more,
    }
    path = folder / "claim.toml"
    path.write_text(
        "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items() if value is not None)
    )
    return path


def audited(folder, name, **more):
    arguments = [
        "audit",
        "--target",
        f"python:audit.target_toys:{name}",
        "--claim",
        str(claim_file(folder, **more)),
    ]
    return ran(
        [*arguments, "--draws", str(DRAWS), "--seed", "5", "--output", str(folder / "found"), "--json"]
    )


def ran(arguments):
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, json.loads(result.stdout) if result.stdout else None, result


@pytest.mark.parametrize(
    ("name", "more"),
    [("seeded", {}), *(pytest.param(*each, marks=pytest.mark.long) for each in (
        ("laplace", {}), ("sound", {}), ("our_bag", {"unit": "bag"}), ("input_passes_more_often", {"delta": 0.61}),
        ("sound", {"epsilon": None, "bound": 6.0})))],
)  # fmt: skip
def test_sound_ones_are_not_refuted(tmp_path, name, more):
    code, found, _ = audited(tmp_path, name, **more)
    assert (code, list(found), found["verdict"], found["case"]) == (0, KEYS, "not-refuted", None)
    assert found["scope"] is None
    assert found["confidence"] == 0.999
    assert found["lower_bound"] <= found["claimed"]


@pytest.mark.parametrize(
    ("name", "kind", "more"),
    [("scale_off_by_three", "ratio", {}), ("unknown_words_pass", "unknown", {}),
     ("input_passes_more_often", "ratio", {}), ("support_fault", "ratio", {}),
     pytest.param("fixed_seed", "state", {}, marks=pytest.mark.long),
     ("bag_that_keeps_a_word", "ratio", {"unit": "bag", "epsilon": 0.5}), ("states_too_much", "exact", {}),
     ("states_too_much", "exact", {"delta": 0.01}), ("states_another_law", "stated", {}),
     ("sound", "ratio", {"epsilon": None, "bound": 0.5}), ("input_passes_more_often", "ratio", {"delta": 0.2})],
)  # fmt: skip
def test_broken_ones_are_refuted_and_replayed(tmp_path, name, kind, more):
    code, found, _ = audited(tmp_path, name, **more)
    assert (code, list(found), found["verdict"]) == (1, KEYS, "refuted")
    case = json.loads(Path(found["case"]).read_text())
    assert case["kind"] == kind
    sure = {"ratio": 0.999, "stated": 0.999, "state": 0.9999}
    assert found["confidence"] == case["confidence"] == sure.get(kind, 1.0)
    if kind in ("ratio", "exact"):
        assert found["lower_bound"] > found["claimed"]
    code, again, _ = ran(["audit", "--replay", found["case"], "--json"])
    assert (code, list(again), again["verdict"]) == (1, KEYS, "refuted")


@pytest.mark.parametrize(
    ("name", "sound"),
    [("scale_off_by_three", "sound"), pytest.param("fixed_seed", "sound", marks=pytest.mark.long),
     ("states_too_much", "exponential"), ("unknown_words_pass", "seeded")],
)  # fmt: skip
def test_a_case_does_not_refute_a_sound_target(tmp_path, name, sound):
    """The replay judges: it does not repeat what the case says."""
    place = Path(audited(tmp_path, name)[1]["case"])
    assert ran(["audit", "--replay", str(place), "--json"])[0] == 1
    named = f"python:audit.target_toys:{sound}"
    if name == "unknown_words_pass":  # it is refused there, so there is nothing to judge
        assert ran(["audit", "--replay", str(place), "--target", named])[2].exception.exit_code == 65
        return
    code, again, _ = ran(["audit", "--replay", str(place), "--target", named, "--json"])
    assert (code, again["verdict"], again["case"]) == (0, "not-refuted", None)


def test_no_false_alarm_on_sound_ones(tmp_path):
    """Eight seeds of draws that the seed determines; one alarm in a thousand audits is allowed."""
    claim = Claim.read(claim_file(tmp_path, epsilon=toys.EPSILON))
    with target_named("python:audit.target_toys:seeded", "word") as target:
        assert [judge(target, claim, 4000, seed).verdict for seed in range(8)] == ["not-refuted"] * 8


def test_the_judge_spends_its_level_and_no_more(tmp_path, monkeypatch):
    """One in a thousand for all tests of an audit: with more the sound are accused, with none nobody is refuted."""
    shared = cases.EVENTS + 5 * cases.OTHER
    assert shared == pytest.approx(1e-3)
    spent, bound = [], cases.lower_bound

    def noted(x, y, event, alpha, delta):
        spent.append(alpha)
        return bound(x, y, event, alpha, delta)

    monkeypatch.setattr(judging, "lower_bound", noted)
    assert audited(tmp_path, "seeded")[1]["verdict"] == "not-refuted"
    assert 0.5e-3 <= sum(spent) <= 1e-3
    spent.clear()
    refuted = audited(tmp_path, "scale_off_by_three")[1]
    assert 0.3e-3 <= sum(spent) <= 1e-3
    spent.clear()
    monkeypatch.setattr(cases, "lower_bound", noted)
    assert ran(["audit", "--replay", refuted["case"], "--json"])[1]["verdict"] == "refuted"
    assert spent == [1e-3]


def test_not_refuted_says_how_far_the_draws_see(tmp_path):
    """Of the pairs that are tried it reports the one of which most is seen, so that half the claim would not stand."""
    found = audited(tmp_path, "seeded")[1]
    assert 0.5 <= found["lower_bound"] / found["claimed"] <= 1
    assert audited(tmp_path, "seeded", epsilon=toys.EPSILON / 2)[1]["verdict"] == "refuted"


def test_two_inputs_of_no_pair_that_was_chosen_are_compared_too(tmp_path):
    """Their outputs are there, drawn for the pairs of others."""
    place = claim_file(tmp_path, vocabulary=toys.SCATTERED, vectors=toys.PLACES, epsilon=1.0)
    claim, told = Claim.read(place), {(toys.SCATTERED[0],), (toys.SCATTERED[1],)}
    untold = [
        seed for seed in range(40)
        if all({pair.x, pair.y} != told for pair in pairs(claim, 6, seeded_rng(seed)))
        and told <= {each for pair in pairs(claim, 6, seeded_rng(seed)) for each in (pair.x, pair.y)}
    ]  # fmt: skip
    with target_named("python:audit.target_toys:two_of_many", "word") as target:
        found = judge(target, claim, 40_000, untold[0])
    assert found.verdict == "refuted"
    assert {*found.case.inputs} == told
    assert found.case.event == ("marked",)


@pytest.mark.parametrize(
    ("name", "kind", "more", "seen"),
    [("support_fault", "ratio", {}, ["claimed: no output is more than", "as probable for the first"]),
     ("states_too_much", "exact", {}, ["claimed: no output is more than", "the output"]),
     ("unknown_words_pass", "unknown", {}, ["the input", "a word of no vocabulary comes back"]),
     ("states_another_law", "stated", {}, ["the input", "the draws are not what is stated"])],
)  # fmt: skip
def test_three_lines_say_what_was_seen(tmp_path, name, kind, more, seen):
    """The fault, what was put in, what was seen: in words, of the case that is stored."""
    claim, place = claim_file(tmp_path, **more), tmp_path / "found"
    arguments = [
        "audit",
        "--target",
        f"python:audit.target_toys:{name}",
        "--claim",
        str(claim),
        "--seed",
        "5",
    ]
    result = CliRunner().invoke(app, [*arguments, "--draws", str(DRAWS), "--output", str(place)])
    fault, tried, found, again = result.stdout.splitlines()
    case = json.loads((place / "case.json").read_text())
    assert (result.exit_code, case["kind"]) == (1, kind)
    assert fault.startswith("refuted: ")
    assert tried.startswith("tried: ")
    assert found.startswith("seen: ")
    assert seen[0] in tried
    assert seen[1] in found
    assert all(
        json.dumps(each[0]) in tried for each in case["inputs"][: 2 if kind in ("ratio", "exact") else 1]
    )
    assert all(json.dumps(each) in found for each in case["event"])
    assert again == f"try it again: publius audit --replay {place / 'case.json'}"


def test_a_refusal_is_reported_and_no_fault(tmp_path):
    code, found, result = audited(
        tmp_path, "seeded", vocabulary=[*toys.WORDS, "up"], vectors=[*toys.VECTORS, [9.0]]
    )
    assert (code, found["verdict"]) == (0, "not-refuted")
    assert "refused: " in result.stderr
    with (
        target_named("python:audit.target_toys:refuses", "word") as target,
        pytest.raises(DataError, match=r"refused every input, last by \w+ at target_toys.py:\d+"),
    ):
        judge(target, Claim.read(claim_file(tmp_path)), 1000, 1)


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [("refuses", 65, "refused every input, last by KeyError at target_toys.py:"),
     ("gives_nothing", 65, "answer that is None"), ("exits", 65, "last by SystemExit at target_toys.py:"),
     ("takes_nothing", 2, "cannot be called with one input")],
)  # fmt: skip
def test_where_nothing_was_tried_there_is_no_verdict(tmp_path, name, code, said):
    raised = audited(tmp_path, name)[2].exception
    assert (raised.exit_code, said in str(raised)) == (code, True)


def test_what_a_target_prints_is_no_part_of_the_verdict(tmp_path, capfd):
    code, found, _ = audited(tmp_path, "prints")
    assert (code, found["verdict"]) == (0, "not-refuted")
    printed = capfd.readouterr()
    assert "what a tool prints: north" in printed.err
    assert "what a tool prints" not in printed.out


def test_a_call_that_does_not_return_is_ended(tmp_path, monkeypatch):
    """With what it has started."""
    monkeypatch.setattr("publius.audit.lines.SECONDS", 1.0)
    raised = audited(tmp_path, "hangs")[2].exception
    assert (raised.exit_code, "gave no answer within 1 s" in str(raised)) == (65, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [("x = = 1", "is no Python"), ("raise SystemExit", "SystemExit"), ("raise RuntimeError('secret')", "RuntimeError"),
     ("import json; json.no", "AttributeError")],
)  # fmt: skip
def test_a_module_that_cannot_be_imported(tmp_path, monkeypatch, text, said):
    name = f"court_toy_{''.join(filter(str.isalpha, said))}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    arguments = ["audit", "--target", f"python:{name}:draw", "--claim", str(claim_file(tmp_path))]
    raised = ran(arguments)[2].exception
    assert (raised.exit_code, f"{said} at {name}.py:1" in str(raised)) == (2, True)
    assert "secret" not in str(raised)


def test_what_is_stated_for_some_inputs_or_is_not_what_one_draws_is_not_exact(tmp_path):
    """One states nothing for most of its words and returns them; one of two hundred words is not drawn as stated."""
    for name, words, claim in (
        ("states_half", toys.WORDS, {"epsilon": None, "bound": 1.0, "vectors": None}),
        ("one_lie", toys.MANY, {"epsilon": None, "bound": 1.0, "vectors": None}),
    ):
        code, found, _ = audited(tmp_path, name, vocabulary=words, **claim)
        assert (code, found["verdict"]) == (1, "refuted"), name


@pytest.mark.parametrize(
    ("name", "claim", "verdict", "refused"),
    [("mostly_refuses", {}, "refuted", 0), ("states_half_and_refuses", {}, "not-refuted", 2),
     ("states_and_refuses", {}, "not-refuted", 2), ("leaks_and_refuses", {}, "refuted", 1)],
)  # fmt: skip
def test_what_refuses_its_own_words_is_not_exact(tmp_path, name, claim, verdict, refused):
    """Some of four words are always refused, or nearly always and returned else; what is said counts them."""
    claim = {"epsilon": None, "bound": 0.1, "vectors": None, **claim}
    _, found, _ = audited(tmp_path, name, **claim)
    assert (found["verdict"], found["refused"]) == (verdict, refused)
    said = f"{refused} input{'s' * (refused > 1)} refused"
    files = ["--junit", str(tmp_path / "junit.xml"), "--badge", str(tmp_path / "badge.svg")]
    result = CliRunner().invoke(app, [
        "audit", "--target", f"python:audit.target_toys:{name}", "--claim", str(claim_file(tmp_path, **claim)),
        "--draws", str(DRAWS), "--seed", "5", "--output", str(tmp_path / "again"), *files,
    ])  # fmt: skip
    for text in (result.stdout, *(Path(each).read_text() for each in files[1::2])):
        assert (said in text) == (refused > 0)


@pytest.mark.parametrize(
    ("name", "unit", "size"),
    [
        ("tells_other_orders", "document", 5),
        ("tells_long_ones", "document", 5),
        ("tells_other_orders", "bag", 3),
    ],
)
def test_what_is_not_in_a_list_of_inputs_is_tried_too(tmp_path, name, unit, size):
    """Of texts no list is whole: the target states what it does with other ones, too; a bag comes as a list."""
    claim = {
        "unit": unit,
        "size": size,
        "epsilon": None,
        "bound": 1.0,
        "vectors": None,
        "vocabulary": toys.WORDS[:2],
    }
    code, found, _ = audited(tmp_path, name, **claim)
    assert (code, found["verdict"]) == (1, "refuted")
    code, found, result = audited(tmp_path, "tells_nothing", **claim)
    assert (code, found["verdict"]) == (0, "exact")
    listed = {
        "document": "21 texts of at most 5 words, each in one order, and",
        "bag": "all 8 lists of 3 words of the vocabulary",
    }
    assert found["scope"].startswith(listed[unit])
    assert f"exact for {found['scope']}; nothing is said of other inputs" in result.stderr


@pytest.mark.long
def test_what_each_word_hides_all_show_together(tmp_path):
    """A law over two hundred words is stated; each word comes back a little more often than that."""
    claim = {"epsilon": None, "bound": 0.0, "vectors": None, "vocabulary": toys.MANY}
    code, found, _ = audited(tmp_path, "leaks_a_little", **claim)
    assert (code, found["verdict"]) == (1, "refuted")
    assert json.loads(Path(found["case"]).read_text())["kind"] == "pooled"
    assert ran(["audit", "--replay", found["case"], "--json"])[1]["verdict"] == "refuted"
    code, found, _ = audited(tmp_path, "flat_among_many", **claim)
    assert (code, found["verdict"], found["scope"]) == (0, "exact", "all 200 words of the vocabulary")


def test_a_vocabulary_in_a_file_has_one_word_a_line(tmp_path):
    path = claim_file(tmp_path, vocabulary="words.txt", vectors=None, epsilon=None, bound=1.0)
    (tmp_path / "words.txt").write_bytes("\ufeffnorth\r\nnew york\n\ncafé\n".encode())
    assert Claim.read(path).vocabulary == ("north", "new york", "café")
    (tmp_path / "words.txt").write_bytes("north\ncafé\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"words.txt is not UTF-8 at byte 9"):
        Claim.read(path)


def test_a_target_in_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "court_toy_here.py").write_text("def same(word, seed):\n    return 'ab'[seed % 2]\n")
    monkeypatch.chdir(tmp_path)
    arguments = [
        "audit",
        "--target",
        "python:court_toy_here:same",
        "--claim",
        str(claim_file(tmp_path)),
        "--json",
    ]
    assert ran([*arguments, "--draws", "1000"])[0] == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [({"bound": 1.0}, "either epsilon"), ({"epsilon": None}, "either epsilon"), ({"unit": "crowd"}, "unit"),
     ({"vectors": None}, "needs vectors"), ({"vectors": [[1.0]]}, "one list"), ({"epsilom": 1}, "none of"),
     ({"epsilon": -1}, "from 0"), ({"metric": "cosine"}, "metric: no metric is called"),
     ({"vocabulary": None}, "no vocabulary: vocabulary ="),
     ({"vocabulary": ["a", "a", "b", "c"]}, "each once"), ({"delta": 1.0}, "below 1")],
)  # fmt: skip
def test_a_claim_that_cannot_be_is_an_error(tmp_path, more, said):
    with pytest.raises(DataError, match=said):
        Claim.read(claim_file(tmp_path, **more))


SOUND = "python:audit.target_toys:sound"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--target", SOUND], 2), (["--claim", "x.toml"], 2),
     (["--target", "audit.target_toys:sound", "--claim", "CLAIM"], 2),
     (["--target", "python:audit.target_toys:WORDS", "--claim", "CLAIM"], 2),
     (["--target", "python:publius:Laplace", "--claim", "CLAIM"], 2), (["--replay", "CLAIM"], 65),
     (["--target", SOUND, "--claim", "CLAIM", "--mechanism", "exponential"], 2),
     (["--target", SOUND, "--claim", "CLAIM", "--level", "full"], 2),
     (["--replay", "CLAIM", "--epsilon", "3"], 2), (["--draws", "2000"], 2), (["--junit", "x.xml"], 2)],
)  # fmt: skip
def test_bad_calls_have_their_exit_codes(tmp_path, arguments, code):
    claim = str(claim_file(tmp_path))
    result = ran(["audit", *(claim if each == "CLAIM" else each for each in arguments)])[2]
    assert getattr(result.exception, "exit_code", None) == code


def test_what_would_be_of_no_effect_is_named(tmp_path):
    claim = str(claim_file(tmp_path))
    result = ran(["audit", "--target", SOUND, "--claim", claim, "--mechanism", "tight", "--page", "x"])[2]
    assert "--mechanism, --page tell how this installation is audited" in str(result.exception)


@pytest.mark.parametrize(
    ("name", "way"),
    [("Laplace", "with --mechanism python:publius:Laplace, which needs no claim"),
     ("Prototype", "publius check-mechanism python:publius:Prototype")],
)  # fmt: skip
def test_the_class_of_a_mechanism_is_sent_to_what_takes_it(name, way):
    with pytest.raises(UsageError, match=way):
        target_named(f"python:publius:{name}", "word")


# Targets that do not want to be judged -----------------------------------------------------------------


SPOILING = ("ends_at_once", "answers_something_else", "answers_no_json", "says_why_not")


@pytest.mark.parametrize("name", [
    "replaces_the_judge", "ends_with_success", "says_so_itself", "is_equal_to_all", "changes_what_json_says",
    *("answers_twice", *SPOILING),
])  # fmt: skip
def test_a_target_cannot_change_the_verdict(tmp_path, name):
    """All return the word, which refutes; where they spoil their answers there is no verdict, and never another one."""
    arguments = [
        "audit",
        "--target",
        f"python:audit.target_attacks:{name}",
        "--claim",
        str(claim_file(tmp_path)),
    ]
    arguments += ["--draws", "1000", "--seed", "5", "--output", str(tmp_path / "found"), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "publius", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    spoilt = name in SPOILING or (
        name == "answers_twice" and done.returncode == 65
    )  # two answers meet, or do not
    assert done.returncode == (65 if spoilt else 1), done.stderr
    assert "\x1b" not in done.stderr
    assert spoilt == (not done.stdout)
    if not spoilt:
        assert json.loads(done.stdout)["verdict"] == "refuted"


def test_a_target_is_imported_in_a_process_of_its_own(tmp_path, monkeypatch):
    """It alone finds what lies on PYTHONPATH and in the working folder."""
    (tmp_path / "court_toy_apart.py").write_text(
        "import os\ndef draw(word):\n    return [os.getpid(), os.getcwd()]\n"
    )
    monkeypatch.chdir(tmp_path)
    before = [*sys.path]
    with target_named("python:court_toy_apart:draw", "word") as target:
        process, folder = target.draws(("north",), 1, seeded_rng(1))[0]
    assert int(process) != os.getpid()
    assert folder == str(tmp_path)
    assert sys.path == before
    assert "court_toy_apart" not in sys.modules


# Outputs that look alike ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "unit"),
    [("number_or_text", "word"), ("true_or_text", "word"), ("nothing_or_text", "word"), ("named_or_listed", "word"),
     ("text_or_list", "word"), ("zeros_of_its_own", "bag")],
)  # fmt: skip
def test_outputs_that_differ_in_json_are_different_outputs(tmp_path, name, unit):
    """One input is told by the kind of a value, or by words that come no times: that is certain, and refutes."""
    code, found, _ = audited(tmp_path, name, unit=unit, epsilon=None, bound=1.0, vectors=None)
    assert (code, found["verdict"]) == (1, "refuted")
    assert ran(["audit", "--replay", found["case"], "--json"])[0] == 1


VALUES = [
    "", "north", "1", 1, 1.0, "1.0", "true", True, "null", "NaN", math.nan, math.inf, '"north"', "[1]", [1], ["1"],
    [True], ["north"], ["a=1"], {"a": 1}, {"a": "1"}, {"a": None}, {"a=b": "c"}, {"a": "b=c"}, ['"a=1"'], "a=1", " 1",
    ["north", "north"], {"north": 2}, {"north": 2, "east": 0}, {"north": 2.0}, ["north", "north", "east=0"], [[]],
    "[" * 10_000, "\x00", "no", "-", "{", [None], ["null"], [{"a": "b=c"}], {'{"a": "b': 'c"}'}, {"1": 1}, [], {}, "{}",
    {"a": 1, "b": 2}, {"a": '1", "b": 2'}, {'"a"': 1}, {'"a': '"'}, ['"a="'],
]  # fmt: skip


@pytest.mark.parametrize("unit", ["word", "sequence", "bag"])
def test_what_json_tells_apart_stays_apart(unit):
    """But for the counts of a bag and the list of its words, which are the same bag."""
    same = {'{"north": 2}': '["north", "north"]', '{"1": 1}': '["1"]', '{"a": 1}': '["a"]', "{}": "[]"}
    said = {}
    for each in VALUES:
        text = json.dumps(each)
        said.setdefault(plain(each, unit), []).append(same.get(text, text) if unit == "bag" else text)
    assert [texts for texts in said.values() if len(set(texts)) > 1] == []
    assert all(value(plain(each, unit)) == each for each in VALUES if isinstance(each, str))


def test_of_what_is_not_stated_nothing_is_exact(tmp_path):
    """Four in ten million of a row are missing, in which anything may come."""
    raised = audited(tmp_path, "little_is_unsaid")[2].exception
    assert (raised.exit_code, "sum to 0.9999996, not to 1" in str(raised)) == (65, True)


# Other targets --------------------------------------------------------------------------------------------

ANSWERS = """
import json, math, random, sys
places = {"north": 0.0, "east": 0.5, "south": 1.0, "west": 3.0}
for line in sys.stdin:
    asked = json.loads(line)
    word, rng = asked["input"], random.Random(asked.get("seed"))
    if asked.get("probabilities") or word not in places:
        print(json.dumps({"refused": "no"}), flush=True)
        continue
    rows = [math.exp(-SCALE * abs(places[word] - each)) for each in places.values()]
    print(json.dumps({"outputs": rng.choices(list(places), rows, k=asked["count"])}), flush=True)
"""


def command(folder, scale):
    (folder / "answers.py").write_text(ANSWERS.replace("SCALE", str(scale)))
    return f"command: {sys.executable} {folder / 'answers.py'}"


def judged(folder, target, *more):
    arguments = ["audit", "--target", target, "--claim", str(claim_file(folder)), "--draws", str(DRAWS)]
    return ran([*arguments, "--seed", "5", "--output", str(folder / "found"), "--json", *more])


def test_a_command_that_answers_json_lines(tmp_path):
    """A case of one starts nothing unless the user names the command again."""
    assert judged(tmp_path, command(tmp_path, 1.0))[1]["verdict"] == "not-refuted"
    broken = command(tmp_path, 6.0)
    code, found, _ = judged(tmp_path, broken)
    assert (code, found["verdict"]) == (1, "refuted")
    assert found["lower_bound"] > found["claimed"]
    result = ran(["audit", "--replay", found["case"]])[2]
    assert result.exception.exit_code == 2
    assert ran(["audit", "--replay", found["case"], "--target", broken, "--json"])[0] == 1
    assert ran(["audit", "--replay", found["case"], "--target", command(tmp_path, 1.0), "--json"])[0] == 0


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [("import sys; sys.exit(3)", 65, "ended with the code 3"),
     ("input(); print('no json', flush=True)", 65, "no line of JSON"),
     ("input(); print('{\"outputs\": [\"x\"]}', flush=True)", 65, "gave 1 outputs where 20 were asked for"),
     ("input(); print('{\"outputs\": \"x\"}', flush=True)", 65, "gave no list of outputs"),
     (None, 2, "cannot be started")],
)  # fmt: skip
def test_a_command_that_does_not_answer(tmp_path, script, code, said):
    (tmp_path / "x.py").write_text(script or "")
    name = f"command: {sys.executable if script else tmp_path / 'missing'} {tmp_path / 'x.py'}"
    raised = judged(tmp_path, name)[2].exception
    assert (raised.exit_code, said in str(raised)) == (code, True)


def recorded(folder, epsilon, count=2000, numbers=False):
    """Draws of the toys' law in a file, as lists or as numbers of each output; the same ones each time."""
    lines, rng = [], random.Random(3)
    for word in toys.WORDS:
        outputs = rng.choices(toys.WORDS, toys._row(word, epsilon), k=count)
        kept = {each: outputs.count(each) for each in set(outputs)} if numbers else outputs
        lines.append(json.dumps({"input": word, "outputs": kept}) + "\n")
    (folder / "draws.jsonl").write_text("".join(lines))
    return f"recorded:{folder / 'draws.jsonl'}"


@pytest.mark.parametrize("numbers", [False, True])
def test_recorded_outputs(tmp_path, numbers):
    """What was recorded is judged like what is drawn, and a case is replayed on draws that did not choose it."""
    assert judged(tmp_path, recorded(tmp_path, toys.EPSILON, numbers=numbers))[1]["verdict"] == "not-refuted"
    code, found, _ = judged(tmp_path, recorded(tmp_path, 3 * toys.EPSILON, numbers=numbers))
    assert (code, found["verdict"]) == (1, "refuted")
    assert ran(["audit", "--replay", found["case"], "--json"])[0] == 1
    recorded(tmp_path, toys.EPSILON, numbers=numbers)
    assert ran(["audit", "--replay", found["case"], "--json"])[0] == 0


def test_recorded_outputs_that_are_all_refusals(tmp_path):
    """Of every input there is nothing to judge; of some they are counted."""
    for refused, code in ((4, 65), (2, 0)):
        (tmp_path / "draws.jsonl").write_text("".join(
            json.dumps({"input": word, "outputs": [None] * 99 if place < refused else ["a", "b", None] * 33}) + "\n"
            for place, word in enumerate(toys.WORDS)
        ))  # fmt: skip
        got, found, result = judged(tmp_path, f"recorded:{tmp_path / 'draws.jsonl'}")
        if code:
            assert (result.exception.exit_code, "refused every input" in str(result.exception)) == (65, True)
        else:
            assert (got, found["verdict"], found["refused"]) == (0, "not-refuted", refused)


@pytest.mark.parametrize("line", ["", "{}", "[1]", "not json", '{"input": ["a"], "outputs": ["b"]}'])
def test_what_is_no_record_is_refused(tmp_path, line):
    (tmp_path / "draws.jsonl").write_text(line)
    assert judged(tmp_path, f"recorded:{tmp_path / 'draws.jsonl'}")[2].exception.exit_code == 65


def test_what_recorded_outputs_state_is_no_proof(tmp_path):
    """Few draws under any statement are few draws; a case about statements has nothing to judge there."""
    for count in (1, 14):
        lines = [
            json.dumps(
                {"input": word, "outputs": [word] * count, "probabilities": [["north", 0.5], ["east", 0.5]]}
            )
            for word in ("north", "east")
        ]
        (tmp_path / "draws.jsonl").write_text("\n".join(lines))
        badge = tmp_path / "badge.svg"
        code, found, result = judged(tmp_path, f"recorded:{tmp_path / 'draws.jsonl'}", "--badge", str(badge))
        if count == 1:
            assert (result.exception.exit_code, "at least 4" in str(result.exception)) == (65, True)
            continue
        assert (code, found["verdict"], found["confidence"], found["draws"] <= 28) == (
            0,
            "not-refuted",
            0.999,
            True,
        )
        assert "exact" not in badge.read_text()
    place = audited(tmp_path, "states_another_law")[1]["case"]
    target = recorded(tmp_path, toys.EPSILON)
    assert ran(["audit", "--replay", place, "--target", target])[2].exception.exit_code == 65


# Somebody else's cases ------------------------------------------------------------------------------------


def case_of(folder, target, *inputs, **more):
    """A case as anybody can write it."""
    values = {
        "kind": "ratio", "target": target, "unit": "word", "inputs": [[each] for each in inputs], "look": ["output"],
        "event": ["0"], "claimed": 0.1, "delta": 0.0, "lower_bound": 1.0, "confidence": 0.999, "draws": 1, "seed": 1,
        **more,
    }  # fmt: skip
    path = folder / "somebody.json"
    path.write_text(json.dumps(values))
    return str(path)


@pytest.mark.parametrize("seal", [{}, {"seal": ""}, {"seal": "0" * 64}])
def test_a_case_of_somebody_else_runs_nothing(tmp_path, monkeypatch, seal):
    """Neither the standard library nor what lies in the working folder or on `PYTHONPATH`, the user's own too."""
    here, made = tmp_path / "here", tmp_path / "made"
    here.mkdir()
    (here / "lies_here.py").write_text(
        "import os\nfrom os import system\ndef run(word): return os.system(word)\n"
    )
    (tmp_path / "own_court_toy.py").write_text("from os import system\n")
    (tmp_path / "own_court_shell.py").write_text("import os\ndef run(word): os.system(word)\n")
    installed = tmp_path / "libraries"
    (installed / "some-1.dist-info").mkdir(parents=True)
    (installed / "some_library.py").write_text(f"open({str(made)!r}, 'w')\ndef run(word): open(word, 'w')\n")
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", f"{here}:{tmp_path}:{installed}:")
    targets = (
        "python:os:system", "python:builtins:exec", "python:lies_here:run", "python:publius.files:shown",
        "python:own_court_toy:system", "python:own_court_shell:run", "python:here.lies_here:run",
        "python:some_library:run", "python::x", "recorded:lies_here.py",
    )  # fmt: skip
    for target in targets:
        place = case_of(
            tmp_path,
            target,
            "true",
            f"open({str(made)!r}, 'w')",
            f"touch {made}",
            **{"kind": "carry", **seal},
        )
        raised = ran(["audit", "--replay", place])[2].exception
        assert (raised.exit_code, "--target" in str(raised), made.exists()) == (2, True, False), target
    assert ran(["audit", "--replay", place, "--target", "python:lies_here:run", "--json"])[0] == 0
    assert made.exists()


def test_a_case_is_sealed_by_the_installation_that_stored_it(tmp_path, monkeypatch, home):
    """The way of an honest case, and that a changed one, or that of another installation, is anybody's."""
    (tmp_path / "court_toy_mine.py").write_text("def same(word):\n    return word\n")
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.chdir(tmp_path)
    code, found, _ = judged(tmp_path, "python:court_toy_mine:same", "--draws", "1000")
    assert code == 1
    assert (home / "cases.key").stat().st_mode & 0o777 == 0o600
    place, key = Path(found["case"]), (home / "cases.key").read_bytes()
    assert ran(["audit", "--replay", str(place), "--json"])[0] == 1
    told = place.read_text()
    place.write_text(told.replace("court_toy_mine:same", "court_toy_mine:other"))
    assert ran(["audit", "--replay", str(place)])[2].exception.exit_code == 2
    place.write_text(told)
    for other in (bytes(32), b""):
        (home / "cases.key").write_bytes(other)
        assert ran(["audit", "--replay", str(place)])[2].exception.exit_code == 2
        assert (
            ran(["audit", "--replay", str(place), "--target", "python:court_toy_mine:same", "--json"])[0] == 1
        )
    (home / "cases.key").write_bytes(key)
    assert ran(["audit", "--replay", str(place), "--json"])[0] == 1


def test_a_case_that_cannot_be_sealed_is_stored(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "file" / "home"))
    found = audited(tmp_path, "scale_off_by_three")[1]
    assert json.loads(Path(found["case"]).read_text())["seal"] == ""


# Collections, and what is written -------------------------------------------------------------------------


def author_claim(**more):
    return Claim("author", 3, tuple(toys.WORDS), None, "euclidean", None, 1.0, 0.0, **more)


def test_neighbors_differ_in_all_documents_of_one_author():
    one, other = (("a", "north"), ("b", "east")), (("a", "south"), ("a", "west"), ("b", "east"))
    assert author_claim().claimed(one, other) == 1.0
    assert author_claim(neighbors="removed").claimed(one, other) is None
    assert author_claim(neighbors="removed").claimed(one, one[1:]) == 1.0
    assert author_claim().claimed(one, (("a", "south"), ("b", "west"))) is None


def test_distances_between_sequences_bags_and_texts(tmp_path):
    """Place by place, by the best matching, and nothing where a word or the length is another."""
    for unit, two in (("sequence", 4.0), ("bag", 0.0), ("document", 0.0)):
        claim = Claim.read(claim_file(tmp_path, unit=unit, size=2))
        text = (lambda *words: (" ".join(words),)) if unit == "document" else lambda *words: words
        assert claim.claimed(text("north", "south"), text("south", "north")) == two
        assert claim.claimed(text("north", "south"), text("west", "south")) == 6.0
        assert claim.claimed(text("north", "up"), text("west", "south")) is None
        assert claim.claimed(text("north"), text("west", "south")) is None


def test_junit_and_badge_say_what_was_tested(tmp_path):
    files = ["--junit", str(tmp_path / "junit.xml"), "--badge", str(tmp_path / "badge.svg")]
    assert judged(tmp_path, "python:audit.target_toys:seeded", *files)[0] == 0
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite[0].find("failure")) == ("1", "0", None)
    said = "".join(ElementTree.parse(tmp_path / "badge.svg").getroot().itertext())
    assert "epsilon 2 (euclidean) per word: not refuted, " in said
    code, found, _ = judged(tmp_path, "python:audit.target_toys:scale_off_by_three", *files)
    assert code == 1
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()[0]
    assert (suite.get("failures"), suite[0].get("name")) == ("1", "epsilon 2 (euclidean) per word")
    assert "an event is more probable than claimed" in suite[0].find("failure").get("message")
    assert "refuted" in "".join(ElementTree.parse(tmp_path / "badge.svg").getroot().itertext())
    exact = judged(tmp_path, "python:audit.target_toys:exponential", "--draws", "1000", *files)
    assert exact[0] == 0
    for name in ("junit.xml", "badge.svg"):
        said = "".join(ElementTree.parse(tmp_path / name).getroot().itertext())
        assert "exact, by its stated probabilities, for all 4 words of the vocabulary" in said
    again = ["audit", "--replay", found["case"], "--json", "--junit", str(tmp_path / "again.xml")]
    assert ran(again)[0] == 1
    assert ElementTree.parse(tmp_path / "again.xml").getroot()[0].get("failures") == "1"


def test_junit_without_a_target_is_a_usage_error(tmp_path):
    result = ran(["audit", "--junit", str(tmp_path / "x.xml")])[2]
    assert result.exception.exit_code == 2
