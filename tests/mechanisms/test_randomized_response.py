"""A field of declared values under a bound: the exact law, what is refused, what leaves, and broken versions."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from homes import home_at
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.mechanism import TOTAL
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.noise.randomness import RunKey
from publius.releases.plan import Experiment, Plan
from publius.releases.signoff import sign_off
from publius.releases.verification import verify
from publius.settings import ReleaseSettings, declared_values
from released import command

PRODUCTS = ("Loans", "Cards", "Credit, prepaid")


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("PUBLIUS_HOME", str(home_at(tmp_path / "home")))


def mechanism(bound=3.0, values=PRODUCTS, **options):
    return RandomizedResponse("product", values, bound=bound, **options)


def worst_ratio(made):
    """The largest ratio of probabilities over all values and outcomes, as a fraction."""
    weights = made.weights([np.array([place]) for place in range(made.values.size)]).tolist()
    return max(
        Fraction(one[k], other[k]) for one in weights for other in weights for k in range(made.values.size)
    )


@pytest.mark.parametrize("bound", [1e-6, 0.1, 1.0, 7.0, 20.0, 30.0])
@pytest.mark.parametrize("size", [2, 3, 20, 1000])
def test_the_exact_law_keeps_the_bound_and_reaches_it(bound, size):
    made = mechanism(bound, [f"v{k}" for k in range(size)])
    weights = made.weights([np.array([0])])[0]
    assert weights.sum() == TOTAL
    ratio = worst_ratio(made) if size <= 20 else Fraction(int(weights[0]), int(weights[1]))
    assert math.log(ratio) <= bound * (1 + 1e-12)
    assert math.log(ratio) >= bound * (1 - 1e-7) - 1e-9


def test_what_is_drawn_follows_the_law():
    made, draws = mechanism(2.0), 60_000
    plan = Plan.of(ReleaseSettings(experiment=True, seed=1), made)
    ids = [str(number) for number in range(draws)]
    drawn = made.protect(["Cards"] * draws, ids, plan.encoding, RunKey.seeded(3))
    counts = Counter(outcome.label for outcome in drawn.outcomes)
    for value, chance in zip(PRODUCTS, made.law([np.array([1])])[0], strict=True):
        assert abs(counts[value] / draws - chance) < 6 * math.sqrt(chance * (1 - chance) / draws)
    assert made.probability_kept == pytest.approx(math.e**2 / (math.e**2 + 2))


def test_a_broken_law_is_caught():
    """A floor that is a thousandth too small tells more than the bound."""
    made = mechanism(3.0)
    object.__setattr__(made, "_floor", int(made._floor * 0.999))
    assert math.log(worst_ratio(made)) > 3.0 * (1 + 1e-5)


def test_values_that_are_not_declared_are_counted_and_never_quoted():
    made = mechanism()
    with pytest.raises(DataError, match="2 of 3 documents") as caught:
        made.check_documents(["Loans", "zzsecret", ""])
    assert "zzsecret" not in str(caught.value)
    other = mechanism(other="Cards")
    other.check_documents(["Loans", "zzsecret", ""])
    for nothing in (made, other):
        with pytest.raises(DataError, match="none of 2 documents has anything in the field 'product'"):
            nothing.check_documents(["", " "])
    plan = Plan.of(ReleaseSettings(experiment=True, seed=1), other)
    drawn = other.protect(["zzsecret"] * 400, [str(k) for k in range(400)], plan.encoding, RunKey.seeded(1))
    assert Counter(outcome.label for outcome in drawn.outcomes).most_common(1)[0][0] == "Cards"
    assert {outcome.label for outcome in drawn.outcomes} <= {*PRODUCTS}
    assert (drawn.seen, drawn.unknown) == (400, 400)


@pytest.mark.parametrize(
    ("values", "match"),
    [(("one",), "from 2"), (("a", "a"), "twice"), (("a", ""), "characters"), (("a", "b\x07"), "printed")],
)
def test_values_that_cannot_be_declared_are_refused(values, match):
    with pytest.raises(UsageError, match=match):
        mechanism(values=values)


def test_values_are_quoted_as_in_csv_or_stand_in_a_file(tmp_path):
    assert declared_values('Loans,Cards,"Credit, prepaid"') == PRODUCTS
    path = tmp_path / "values.txt"
    path.write_text("Loans\nCards\n\nCredit, prepaid\n", encoding="utf-8")
    assert declared_values(f"@{path}") == PRODUCTS


def test_the_field_itself_cannot_be_kept_beside_it():
    with pytest.raises(PolicyError, match="cannot be kept"):
        Plan.of(ReleaseSettings(), mechanism(), labels=["product"])


@pytest.fixture
def complaints(tmp_path):
    path = tmp_path / "complaints.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "product"])
        rows.writerows([f"c{k}", "zzcanary text", PRODUCTS[k % 3]] for k in range(300))
    return path


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_a_release_leads_with_the_label_and_is_signed(complaints, tmp_path, format):
    out = tmp_path / "out"
    values = 'Loans,Cards,"Credit, prepaid"'
    arguments = ["--preserve", "field:product", "--values", values, "--bound", "7", "--format", format]
    code, said, error = command("obfuscate", str(complaints), *arguments, "--output", str(out), "--json")
    assert code == 0, error
    facts = json.loads(said)
    assert (facts["kind"], facts["bound"], facts["preserve"]) == ("declared-value", 7.0, "field:product")
    assert facts["mechanism_parameters"]["values"] == list(PRODUCTS)
    kept = math.e**7 / (math.e**7 + 2)
    assert facts["probability_kept"] == pytest.approx(kept, abs=1e-6)
    assert facts["probability_kept"] >= kept
    everything = b"".join(path.read_bytes() for path in sorted(out.iterdir()))
    assert b"zzcanary" not in everything
    if format == "jsonl":
        rows = [json.loads(line) for line in (out / "bags.jsonl").read_text().splitlines()]
        assert [*rows[0]][:3] == ["label", "probability_kept", "id"]
        own = [row["label"] == PRODUCTS[int(row["id"][1:]) % 3] for row in rows]
        assert sum(own) >= 290
    page = tmp_path / "page.html"
    page.write_bytes(sign_off(out))
    verify(out, page)


def test_the_command_refuses_what_does_not_fit(complaints, tmp_path):
    out = str(tmp_path / "out")
    field = ["obfuscate", str(complaints), "--preserve", "field:product", "--output", out]
    assert command(*field, "--values", "Loans,Cards", "--bound", "3")[0] == 65
    assert command(*field, "--values", "Loans,Cards")[0] == 2
    assert command(*field, "--bound", "3")[0] == 2
    misspelt = ["obfuscate", str(complaints), "--preserve", "field:produkt", "--output", out]
    assert command(*misspelt, "--values", "Loans,Cards", "--other", "Cards", "--bound", "3")[0] == 65
    assert command(*field, "--values", "Loans,Cards", "--bound", "3", "--other", "Rest")[0] == 2
    assert not (tmp_path / "out").exists()


def test_how_many_count_as_another_value_is_said_to_the_curator_alone(complaints, tmp_path):
    out = tmp_path / "out"
    code, said, _ = command(
        "obfuscate", str(complaints), "--preserve", "field:product", "--values", "Loans,Cards", "--other", "Cards",
        "--bound", "3", "--output", str(out),
    )  # fmt: skip
    assert code == 0
    assert "100 of 300 documents have none of these" in said
    assert not any(b"none of these" in path.read_bytes() for path in out.iterdir())


def test_an_experiment_says_so_in_every_row(complaints, tmp_path):
    plan = Plan.of(ReleaseSettings(experiment=True), mechanism())
    assert plan.experiment == Experiment()
    out = tmp_path / "out"
    code, _, _ = command(
        "obfuscate", str(complaints), "--preserve", "field:product", "--values", "@" + str(_listed(tmp_path)),
        "--bound", "3", "--experiment", "--output", str(out),
    )  # fmt: skip
    assert code == 0
    assert all("NOT PRIVATE" in line for line in (out / "bags.jsonl").read_text().splitlines())
    assert (out / "READ-ME.txt").read_text().startswith("NOT PRIVATE")


def _listed(folder):
    path = folder / "values.txt"
    path.write_text("\n".join(PRODUCTS), encoding="utf-8")
    return path
