"""What each address of the explorer's service answers."""

import json
from statistics import fmean

import numpy as np
import pytest
from typer.testing import CliRunner

from publius.cli import app as command
from publius.distances import earth_movers_distance
from publius.errors import UsageError
from publius.mechanisms.kernel import AbstractExact
from publius.mechanisms.registry import MECHANISMS, make_mechanism
from publius.noise.randomness import seeded_rng
from publius.text.bag import Bag
from publius.web import answers
from publius.web.mechanism_cache import MechanismCache
from toy import WORDS
from web_service import OTHER, TEXT, service


@pytest.fixture(scope="module")
def client(embeddings, tmp_path_factory):
    with service(embeddings, tmp_path_factory.mktemp("web")) as client:
        yield client


FORMS = {
    "tokens": answers.Tokens, "draw": answers.Draw, "guarantee": answers.Guarantee, "curve": answers.Curves,
    "words": answers.Words, "distance": answers.Distance,
}  # fmt: skip


def ask(client, path, **body):
    """An answer, which has the form that the OpenAPI document says."""
    answer = client.post(f"/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    FORMS[path].model_validate_json(answer.text)
    return answer.json()


def test_a_mechanism_takes_its_parameters(client):
    choice = {"text": TEXT, "epsilon": 2.0, "mechanism": "vickrey"}
    manifest = client.post(
        "/v1/obfuscate",
        json={
            "documents": [{"id": "a", "text": TEXT}],
            "mechanism": "vickrey",
            "length": 10,
            "parameters": {"share": 0.25},
        },
    ).json()["manifest"]
    assert manifest["mechanism_parameters"] == {"t": 0.25}
    for wrong in ({"beta": 0.1}, {"share": 2.0}, {"share": "much"}, {"prior": "/etc/passwd"}):
        refused = client.post("/v1/draw", json={**choice, "parameters": wrong})
        assert refused.status_code == 400
        assert "passwd" not in refused.text


def test_health_needs_no_token(client):
    found = client.get("/health", headers={"Authorization": ""})
    assert found.json()["status"] == "ok"
    assert client.get("/v1/health").json() == found.json()


def test_every_mechanism_is_listed_with_a_range(client):
    found = client.get("/v1/mechanisms")
    answers.Mechanisms.model_validate_json(found.text)
    rows = found.json()["mechanisms"]
    assert [row["name"] for row in rows] == list(MECHANISMS)
    for row in rows:
        assert row["available"]
        assert 0 < row["epsilon_low"] <= row["epsilon_default"] <= row["epsilon_high"]
        assert row["exact"] == issubclass(MECHANISMS[row["name"]], AbstractExact)
        assert row["exact"] or row["evidence"] != "certified"
        assert row["summary"]


def test_the_range_is_where_words_begin_and_cease_to_stay(client, embeddings):
    row = next(row for row in client.get("/v1/mechanisms").json()["mechanisms"] if row["name"] == "laplace")
    stays = []
    for epsilon in (row["epsilon_low"], row["epsilon_high"]):
        mechanism = make_mechanism("laplace", embeddings, epsilon=epsilon)
        words = np.tile(np.arange(60), 50)
        stays.append(np.mean(mechanism.apply(words, mechanism.noise(len(words), seeded_rng(1))) == words))
    assert stays[0] < 0.1
    assert stays[1] > 0.9


def test_embeddings_and_session(client, embeddings):
    answers.Embeddings.model_validate_json(client.get("/v1/embeddings").text)
    current = client.get("/v1/embeddings").json()["embeddings"][0]
    assert current["current"]
    assert (current["size"], current["sha256"]) == (60, embeddings.sha256)
    session = client.get("/v1/session").json()
    assert session["embeddings"] == "toy"
    assert session["ledger"] is None
    assert (
        "not a release" in session["promise_note"] or "Nothing here is a release" in session["promise_note"]
    )


def test_samples_can_be_read(client):
    samples = client.get("/v1/session").json()["samples"]
    if not samples:
        pytest.skip("the extra demo is not installed")
    found = client.get(f"/v1/samples/{samples[9]['id']}").json()
    assert found["title"] == "Federalist No. 10"
    assert "faction" in found["text"]


def test_tokens_are_the_text(client):
    found = ask(client, "tokens", text=TEXT, length=40, stop_words="english")
    assert "".join(token["text"] for token in found["tokens"]) == TEXT
    kinds = {token["text"]: token["kind"] for token in found["tokens"]}
    assert kinds["zebra"] == "unknown"
    assert kinds["the"] == "stop"
    assert found["counts"] == {"words": 40, "unknown": 1, "stop": 1, "padding": 0, "beyond": 21}


def test_a_draw_is_consistent_with_itself(client, embeddings):
    found = ask(client, "draw", text=TEXT, length=70, epsilon=3.0)
    words = found["words"]
    assert (len(words), found["padding"], found["size"]) == (61, 9, 70)
    drawn = Bag([word["out"] for word in words])
    assert sum(count for _, count in found["bag"]) == 70
    assert all(count <= dict(found["bag"])[word] for word, count in drawn.counts.items())
    assert sum(found["histogram"]["counts"]) == 61  # pads are counted apart
    assert found["mean_distance"] == pytest.approx(np.mean([word["distance"] for word in words]))
    assert found["unchanged"] == pytest.approx(np.mean([word["in"] == word["out"] for word in words]))
    assert (
        ask(client, "draw", text="qqzzq " * 9, length=9, epsilon=1e3)["unchanged"] == 0
    )  # no unknown word stays
    assert ask(client, "draw", text="the", length=5)["padding"] == 5
    assert "not a release" in found["warning"]
    assert found["guarantee"]["epsilon_total"] == 210


def test_a_whole_text_is_moved_as_far_as_its_words_allow(client, embeddings):
    found = ask(client, "draw", text=TEXT, length=61, epsilon=3.0)
    before, drawn = (Bag([word[side] for word in found["words"]]) for side in ("in", "out"))
    assert found["bag"] == [[word, count] for word, count in drawn.counts.items()]
    assert found["distance"] == pytest.approx(earth_movers_distance(before, drawn, embeddings))
    assert found["distance"] <= found["mean_distance"] + 1e-9
    assert 0 < found["seconds"]["kernel"] <= found["seconds"]["total"]


@pytest.mark.parametrize("mechanism", list(MECHANISMS))
def test_every_mechanism_draws_fresh_each_time(client, mechanism):
    first, second = (
        ask(client, "draw", text=TEXT, epsilon=1.5, mechanism=mechanism)["bag"] for _ in range(2)
    )
    assert first != second
    assert {word for word, _ in first} <= set(WORDS)


def test_distances_are_in_the_metric_that_was_asked_for(client):
    found = [ask(client, "draw", text=TEXT, epsilon=1.0, metric="manhattan", length=400) for _ in range(9)]
    plain = [ask(client, "draw", text=TEXT, epsilon=1.0, length=400) for _ in range(9)]
    assert found[0]["guarantee"]["metric"] == "manhattan"
    far, near = (fmean(each["mean_distance"] for each in draws) for draws in (found, plain))
    assert far > near  # by nine deviations of their difference: of one draw each it is three


def test_guarantee_is_the_commands(client, stored):
    arguments = (
        "guarantee --epsilon 2 --length 400 --distance 1.5 --releases 3 --candidates 10 --json".split()
    )
    result = CliRunner().invoke(command, [*arguments, "--embeddings", stored])
    printed = json.loads(result.stdout)
    found = ask(client, "guarantee", epsilon=2.0, length=400, distance=1.5, releases=3, candidates=10)
    assert {key: found[key] for key in printed} == printed
    assert "exp(800 * E)" in found["promise"]


@pytest.fixture
def printed(stored, tmp_path):
    """What a command that a view shows prints as JSON, with the two documents in files."""
    (tmp_path / "A.txt").write_text(TEXT)
    (tmp_path / "B.txt").write_text(OTHER)

    def run(line):
        arguments = [
            str(tmp_path / part) if part in ("A.txt", "B.txt") else part for part in line.split()[1:]
        ]
        result = CliRunner().invoke(command, [*arguments, "--embeddings", stored, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run


@pytest.mark.parametrize("changed", [
    {"unknown": "drop", "stop_words": "none"},
    *(pytest.param(each, marks=pytest.mark.long) for each in ({}, {"metric": "manhattan"})),
])  # fmt: skip
def test_the_command_of_the_epsilon_view_gives_its_figures(client, printed, changed):
    others = "".join(f" --{name.replace('_', '-')} {value}" for name, value in changed.items())
    names = ("exponential", "laplace", "vickrey")
    shown = (
        f"publius compare --mechanisms {','.join(names)} --document A.txt --other B.txt --length 30{others}"
    )
    found = printed(shown)
    for name, curve in zip(names, found["curves"], strict=True):
        asked = {
            "text": TEXT,
            "other": OTHER,
            "length": 30,
            "mechanism": name,
            "mechanisms": [name],
            **changed,
        }
        view = ask(client, "curve", **asked)
        assert (found["size"], found["distance_to_other"]) == (view["size"], view["distance_to_other"])
        assert (curve["utility"], curve["exponent"]) == (view["utility"], view["exponent"])
        ours, theirs = curve["points"], view["curves"][0]["points"]
        assert [each["epsilon"] for each in ours] == [each["epsilon"] for each in theirs]
        if curve["exact"]:
            assert ours == theirs
        for mine, other in zip(ours, theirs, strict=True):  # fresh draws: intervals of 99 % that meet
            slack = 0 if curve["exact"] else 0.05
            assert mine["unchanged_low"] <= other["unchanged_high"] + slack
            assert other["unchanged_low"] <= mine["unchanged_high"] + slack


def test_curves_are_of_the_words_of_a_document_without_what_fills_it_up(client, printed):
    asked = {"mechanism": "exponential", "mechanisms": ["exponential"]}
    alone = ask(client, "curve", text="river castle", length=2, **asked)["curves"]
    assert ask(client, "curve", text="river castle", length=30, **asked)["curves"] == alone


def test_the_curves_of_a_document_pass_over_no_option(stored, tmp_path):
    (tmp_path / "A.txt").write_text(TEXT)
    document = ["--document", str(tmp_path / "A.txt")]
    for arguments in (
        [*document, "--unchanged", "0.5"],
        [*document, "--plot", "x.svg"],
        [*document, "--draws", "5"],
        [*document, "--project", "3"],
        ["--unchanged", "0.5", "--other", str(tmp_path / "A.txt")],
        ["--unchanged", "0.5", "--length", "30"],
    ):
        call = ["compare", "--mechanisms", "laplace,projected-laplace", *arguments, "--embeddings", stored]
        assert isinstance(CliRunner().invoke(command, call).exception, UsageError), arguments


def test_the_commands_of_the_compare_view_give_its_figures(client, printed):
    options = "--length 30 --unknown drop --metric manhattan"
    view = client.post(
        "/v1/distance",
        json={"a": TEXT, "b": OTHER, "length": 30, "unknown": "drop", "metric": "manhattan", "epsilon": 2.0},
    ).json()
    found = printed(f"publius distance A.txt B.txt {options} --plan")
    assert found["distance"] == view["distance"]
    moves = {(each["from"], each["to"]): each["distance"] for each in found["plan"] if each["distance"]}
    assert moves == {
        (each["from"], each["to"]): each["distance"] for each in view["moves"] if each["distance"]
    }
    between = "publius guarantee --between A.txt B.txt --mechanism laplace --epsilon 2"
    assert printed(f"{between} {options}")["exponent"] == pytest.approx(view["exponent"])


def test_the_command_of_the_words_view_gives_its_figures(client, printed):
    view = ask(client, "words", word="river", mechanism="exponential", epsilon=2.0, count=6)
    found = printed("publius words river --mechanism exponential --epsilon 2 --outputs 6")

    def plain(rows):
        return [{name: value for name, value in row.items() if name not in "xy"} for row in rows]

    assert found["outputs"] == plain(view["outputs"])
    assert found["neighbors"] == plain(view["neighbors"])
    assert {name: found[name] for name in ("stay", "support", "expected_distance")} == {
        name: view[name] for name in ("stay", "support", "expected_distance")
    }


def test_guarantee_without_a_distance_has_no_exponent(client):
    found = ask(client, "guarantee", epsilon=2.0)
    assert "exponent" not in found
    assert found["epsilon_total"] == 800


def test_exact_curves_rise_and_are_exact(client, embeddings):
    found = ask(client, "curve", text=TEXT, length=30, mechanisms=["exponential"])["curves"][0]
    assert found["exact"]
    shares = [point["unchanged"] for point in found["points"]]
    assert shares == sorted(shares)
    point = found["points"][3]
    mechanism = make_mechanism("exponential", embeddings, epsilon=point["epsilon"])
    words = mechanism.indices(TEXT.split()[:30])
    stays = np.exp(mechanism.log_probabilities(words))[np.arange(30), words]
    assert point["unchanged"] == pytest.approx(stays.mean(), rel=1e-3)


@pytest.mark.parametrize("name", ["projected-exponential", "truncated-exponential", "repaired-tight"])
def test_exact_points_are_those_of_the_mechanism(client, embeddings, name):
    """At the scale of a rung, with one word."""
    found = ask(client, "curve", text="river", length=1, mechanisms=[name])["curves"][0]
    mechanisms = MechanismCache(embeddings).ladder(name, "euclidean")
    assert len(found["points"]) == len(mechanisms)
    for point, mechanism in zip(found["points"], mechanisms, strict=True):
        rows = np.exp(mechanism.log_probabilities(np.array([0])))[0]
        apart = np.linalg.norm(np.float64(embeddings.vectors) - embeddings.vectors[0], axis=1)
        assert point["epsilon"] == mechanism.epsilon
        assert point["unchanged"] == pytest.approx(rows[0])
        assert point["mean_distance"] == pytest.approx(rows @ apart)


def test_drawn_curves_have_intervals_and_the_size_of_the_sample(client):
    found = ask(client, "curve", text=TEXT, other=OTHER, length=30, epsilon=2.0)
    curve = found["curves"][0]
    assert not curve["exact"]
    for point in curve["points"]:
        assert point["unchanged_low"] <= point["unchanged"] <= point["unchanged_high"]
        assert point["draws"] >= 1200
    assert curve["points"][-1]["unchanged"] > curve["points"][0]["unchanged"]


def test_exponents_and_utility_belong_to_the_other_document(client):
    found = ask(client, "curve", text=TEXT, other=OTHER, length=30)
    apart = ask(client, "distance", a=TEXT, b=OTHER, length=30)["distance"]
    assert found["distance_to_other"] == pytest.approx(apart)
    for point in found["exponent"]:
        assert point["exponent"] == pytest.approx(point["epsilon"] * 30 * apart)
    bounds = [point["bound"] for point in found["utility"]]
    assert bounds == sorted(bounds)
    alone = ask(client, "curve", text=TEXT, length=30)
    assert alone["exponent"] is None


def test_a_words_outputs_and_neighbors_have_places(client, embeddings):
    found = ask(client, "words", word="River", mechanism="exponential", epsilon=1.5, count=5)
    assert found["word"] == "river"
    assert (found["x"], found["y"]) == (0.0, 0.0)
    assert len(found["outputs"]) == len(found["neighbors"]) == 5
    nearest = [row["distance"] for row in found["neighbors"]]
    assert nearest == sorted(nearest)
    everything = np.linalg.norm(embeddings.vectors - embeddings.vectors[0], axis=1)
    assert nearest[0] == pytest.approx(np.sort(everything)[1], rel=1e-6)
    for row in found["outputs"] + found["neighbors"]:  # a projection brings nothing farther apart
        assert np.hypot(row["x"], row["y"]) <= row["distance"] * (1 + 1e-9)


def test_distance_moves_whole_words(client):
    found = ask(client, "distance", a=TEXT, b=OTHER, length=50, epsilon=2.0)
    assert sum(move["count"] for move in found["moves"]) == 50
    total = sum(move["count"] * move["distance"] for move in found["moves"])
    assert found["distance"] == pytest.approx(total / 50)
    assert found["exponent"] == pytest.approx(2.0 * 50 * found["distance"])
    assert "nats" in found["exponent_text"]


def test_openapi_names_the_addresses_and_the_token(client):
    found = client.get("/v1/openapi.json").json()
    assert {"/v1/obfuscate", "/v1/distance", "/v1/guarantee", "/v1/words", "/v1/mechanisms", "/v1/embeddings",
            "/health"} <= set(found["paths"])  # fmt: skip
    assert found["paths"]["/v1/obfuscate"]["post"]["security"] == [{"token": []}]


def test_the_page_is_served_without_a_token(client):
    found = client.get("/", headers={"Authorization": ""})
    assert found.status_code == 200
    assert found.headers["content-type"].startswith("text/html")
