"""A test that could not fail shows nothing, and a promise that is empty between near documents is none."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fences import Fence
from made_scores import clean, facts, line
from publius.errors import PolicyError
from publius.evaluation import calibration, verdict
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import AdversaryResult
from publius.evaluation.verdict import Limits, judge
from publius.mechanisms.kernels.laplace import Laplace
from publius.releases import account, near, plan, signoff
from publius.releases.plan import Plan
from publius.releases.summaries import run
from publius.text.bag import Encoding
from publius.vectors.embeddings import Embeddings
from released import command


def _clear_text_never_passes(folder: Path) -> None:
    hits = np.arange(400) % 10 == 0
    given = facts(400, 20, 0.1)
    for released in (hits, np.ones(400), np.zeros(400)):
        found = judge([clean(hits, 0.1), line({"svm": (released, 0.1)})], Limits(adds_at_most=0.05), given)
        assert found is not None
        assert found.answer == "NO EVIDENCE", found.text


def _topics(texts: int) -> AdversaryResult:
    """Four of five topics named, of each author's texts."""
    shares = tuple((np.arange(texts) % 5 < 4).astype(float).tolist())
    found = {"exact": False}
    return AdversaryResult("linear", "topic", Interval(0.8, 0.7, 0.9), 0.8 * texts, texts, found, shares)


def _a_search_asks_the_same(folder: Path) -> None:
    """A setting whose figures are within the limits is a candidate, and had only where its verdict is PASS."""
    aim = calibration.Aim(0.2, 0.5)
    topic = _topics(4000)
    found = line({"originals": (np.arange(4000) // 200 % 10 == 0, 0.1)})
    found = replace(found, findings={**found.findings, ("linear", "topic"): topic})
    tried = calibration.Trial(7.0, Interval(0.1, 0.1, 0.1), "originals", topic.accuracy, "linear", None)
    for named, passes in ((8, True), (1, False)):
        lines = [clean(np.arange(4000) % 10 < named, 0.1), found]
        searched = calibration.conclude("prototype", 40, [tried], aim)
        searched = calibration.judged(searched, lines, facts(4000, 200, 0.1), aim, 1)
        assert searched.both == passes
        assert calibration.to_be_had([searched], aim).startswith("What can be had") == passes


def _by_figures_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    first = property(lambda found: next(iter(found.candidates), None))
    monkeypatch.setattr(calibration.Calibration, "chosen", first)


def _not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict.Authors, "empty", None)


def _nobody_held_the_originals(folder: Path) -> None:
    """One weak adversary finds nothing, and the strongest was not asked."""
    given = facts(4000, 200, 0.1)
    bare = line({"svm": (np.arange(4000) % 10 < 8, 0.1)}, mechanism="clean", bound=None)
    found = judge(
        [bare, line({"svm": (np.arange(4000) // 200 % 10 == 0, 0.1)})], Limits(adds_at_most=0.05), given
    )
    assert found is not None
    assert found.answer == "NO EVIDENCE", found.text


def _told_the_topic(folder: Path) -> None:
    """Readers know what a text is about, or may: a limit on all authors named is one on them, too."""
    given = {**facts(4000, 200, 0.1), "topics": ["card", "loan"]}
    bare = line({"svm": (np.arange(4000) % 10 < 8, 0.1)}, mechanism="clean", bound=None)
    found = line({"originals": (np.arange(4000) // 200 % 10 == 0, 0.1)})
    findings = {
        key: replace(each, told=tuple(np.arange(4000) % 10 < 4), told_blind=(0.1,) * 4000)
        for key, each in found.findings.items()
    }
    for limit, answer in ((0.5, "PASS"), (0.3, "FAIL")):
        judged = judge([bare, replace(found, findings=findings)], Limits(author_at_most=limit), given)
        assert judged is not None
        assert judged.answer == answer, judged.text


def _only_what_was_asked(folder: Path) -> None:
    """Who asked for the topic alone has no verdict on authors, whatever it is."""
    hits = np.arange(400) % 10 == 0
    topic = _topics(400)
    found = line({"originals": (np.ones(400), 0.1)})
    found = replace(found, findings={**found.findings, ("linear", "topic"): topic})
    for limit, answer in ((0.5, "PASS"), (0.95, "FAIL")):
        judged = judge([clean(hits, 0.1), found], Limits(topic_at_least=limit), facts(400, 20, 0.1))
        assert judged is not None
        assert (judged.answer, judged.on_authors, judged.in_all) == (answer, None, False)
        told = {
            "verdict": judged.text,
            "evidence": "proof",
            "measurements": {"on_authors": judged.on_authors},
        }
        assert "attackers named" not in account.verdict_said(told)
        assert "Nothing was asked of authors" in account.verdict_said(told)


def _of_authors_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The word of the whole verdict is taken for one on authors."""
    made = verdict.Verdict

    def whole(answer: str, *given: object) -> object:
        return replace(made(answer, *given), on_authors=answer)  # type: ignore[arg-type]

    monkeypatch.setattr(verdict, "Verdict", whole)


def _by_himself(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = verdict._judged_shares
    monkeypatch.setattr(verdict, "_judged_shares", lambda finding, *, told: shares(finding, told=False))


def _any_adversary(monkeypatch: pytest.MonkeyPatch) -> None:
    made = verdict.authors_of
    monkeypatch.setattr(
        verdict, "authors_of", lambda *given, **more: replace(made(*given, **more), holder=True)
    )


def _empty_promises_are_refused(folder: Path) -> None:
    for delta, nats in ((1.0, 1.0), (1e-4, 1.0), (0.0, 78.2)):
        with pytest.raises(PolicyError):
            near.check_not_empty(near.emptiness(delta, nats), "Nothing was released")
    assert near.emptiness(1e-6, 15.6) is None


def _taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "emptiness", lambda delta, nats: None)


def _an_empty_promise_says_so(folder: Path) -> None:
    words = [f"word{chr(97 + place)}" for place in range(26)]
    vectors = np.random.default_rng(2).normal(size=(26, 4)).astype(np.float32)
    toy = Embeddings.from_arrays(words, vectors, name="toy")
    encoding = Encoding.of(toy.tokenizer, length=5)
    for epsilon, empty in ((0.5, False), (1_000.0, True)):
        manifest = Plan(Laplace(toy, epsilon=epsilon), encoding).manifest(1)
        assert ("empty" in manifest) == empty
        assert manifest["promise"].startswith("THE PROMISE IS EMPTY") == empty
        assert (near.emptiness_of({**manifest, "embeddings": "elsewhere"}) is not None) == empty


def _a_bound_that_bounds_nothing(folder: Path) -> None:
    """Of a field every value leaves as it is, of a collection every count."""
    (folder / "own.csv").write_text(
        "text,topic\n" + "".join(f"t {n},{'loan card'.split()[n % 2]}\n" for n in range(6))
    )
    for bound, code in ((4, 0), (21, 77)):
        release = folder / f"release-{bound}"
        done, _, said = command(
            "obfuscate", folder / "own.csv", "--preserve", "field:topic", "--values", "loan,card", "--bound", bound,
            "--shuffled", "--output", release,
        )  # fmt: skip
        assert done == 0, said
        promised = json.loads((release / "manifest.json").read_text())["promise"]
        assert promised.startswith("THE PROMISE IS EMPTY") == (code == 77)
        assert command("signoff", release, "--output", folder / f"{bound}.html")[0] == code
    summary = SimpleNamespace(epsilon=Fraction(21))
    with pytest.raises(PolicyError, match="21 nats apart, which bounds nothing"):
        run.summarize(SimpleNamespace(), summary, folder / "summary")  # type: ignore[arg-type]
    assert not (folder / "summary").exists()


def _any_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (near, plan, signoff, run):
        monkeypatch.setattr(each, "emptiness_of_bound", lambda *_: None)


def _unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "empty", None)


FENCES = (
    Fence(2, "an empty promise says so in promise and manifest", _an_empty_promise_says_so, _unsaid),
    Fence(2, "where clear text passes there is no evidence", _clear_text_never_passes, _not_asked),
    Fence(2, "a search for settings asks the verdict", _a_search_asks_the_same, _by_figures_alone),
    Fence(
        2, "nothing passes without the holder of the originals", _nobody_held_the_originals, _any_adversary
    ),
    Fence(
        2,
        "a bound beyond the scale is empty for values and authors, too",
        _a_bound_that_bounds_nothing,
        _any_bound,
    ),
    Fence(2, "a limit on all authors named is one on who knows the topic", _told_the_topic, _by_himself),
    Fence(2, "a verdict on the topic alone is none on authors", _only_what_was_asked, _of_authors_too),
    Fence(2, "an empty promise is refused", _empty_promises_are_refused, _taken_as_it_is),
)
