"""What a curator reads before he chooses a bound is what the bound means, rounded to the safe side."""

from __future__ import annotations

import json
import re
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fences import Fence
from publius.audit.toy_references import toy_reference
from publius.documents.corpus import Corpus, open_corpus
from publius.evaluation import hindsight, releases_linked, signed
from publius.evaluation.protectors import Originals
from publius.evaluation.runner import Results
from publius.evaluation.statistics import Interval
from publius.evaluation.steps import kept
from publius.evaluation.steps.labels import noise_in_words
from publius.evaluation.summary import AdversaryResult
from publius.mechanisms.prototype import Prototype
from publius.privacy import promise
from publius.privacy.guarantee import Guarantee, posterior_at_most
from publius.releases import account, read_me, signoff
from publius.releases.engines import protect_corpus
from publius.releases.plan import Plan
from publius.releases.signoff import evidence
from publius.settings import ReleaseSettings
from references import fitted, public_documents


def _upper_limits(folder: Path) -> None:
    for bound in (1.0, 3.0, 5.0, 7.0, 10.0):
        said = kept.bound_in_words(bound)
        stated = float(said.split("a probability of at most ", 1)[1].split(",", 1)[0])
        assert stated >= posterior_at_most(bound, 1_000), f"bound {bound:g}: {stated} is said to be the most"
        assert "equally likely before" in said
        assert "the right one of 4 topics comes out" not in said


_NATS = re.compile(r"(?:exp\(|epsilon = |\()([\d.]+)(?= \* E| a word| nats)")


def _exponents(folder: Path) -> None:
    """Every number of nats in the promise of a bound, of an epsilon, and of a factor: none below what is promised."""
    for hundredths in range(1, 3_000):
        bound = hundredths / 100 + 2**-40
        words = promise.promise(Guarantee(bound, "euclidean", "proven", size=1), private=True)
        numbers = [float(each) for each in _NATS.findall(words + promise.factor_text(bound))]
        assert len(numbers) >= 2
        assert min(numbers) >= bound, f"{min(numbers)} is said of {bound}"


def _all_of_a_row(folder: Path) -> None:
    """Each document has a day, or an id, of its own: whoever knows it names the document, whatever the bound is."""
    source = folder / "texts.jsonl"
    rows = [
        {"id": f"case {n}", "text": " ".join(words), "day": f"day {n}"}
        for n, (words, _) in enumerate(public_documents(20, seed=9))
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    kept, ids, numbers = (
        _said_of(open_corpus(source, **given), folder / name)
        for name, given in (
            ("kept", {"keep": ["day"], "number": True}), ("ids", {"id_field": "id"}), ("numbers", {"number": True})
        )
    )  # fmt: skip
    of_whom = "the exact texts of 1,000 documents that agree in the field 'day', each"
    assert of_whom in kept["sentences"][1]
    assert "For documents that differ in the field 'day' nothing is promised" in kept["sentences"][1]
    assert "for any other that agrees in the field 'day' (5 nats)" in kept["how_strongly"]
    assert "sees one row without its id that" in ids["sentences"][1]
    assert "what a row without its id shows" in ids["how_strongly"]
    for found, beyond in ((kept, "nothing is promised"), (ids, "Whoever knows an id knows whose row it is")):
        assert beyond in found["sentences"][1]
        assert beyond in found["held_beside"]
        assert found["questions"][0]["average"] == "no useful one is proven"
        assert found["questions"][0]["worst"] != numbers["questions"][0]["worst"]
    assert "documents, each as likely as any other, and sees one row that" in numbers["sentences"][1]
    assert numbers["held_beside"].startswith("The limit under 'how strongly' holds whatever they hold.")


def _labels_kept(folder: Path) -> None:
    """By the law of every text: how often the label of its likeliest outcome is printed, whichever outcome it is of."""
    source, texts = folder / "texts.jsonl", public_documents(20, seed=9)
    source.write_text("".join(json.dumps({"text": " ".join(words)}) + "\n" for words, _ in texts))
    for bound in (1.0, 3.0):
        mechanism = Prototype(fitted(prototypes=12), preserve="meaning", bound=bound, prototypes=12)
        plan, release = Plan.of(ReleaseSettings(), mechanism), folder / f"release {bound:g}"
        protect_corpus(open_corpus(source, number=True), plan, release)
        places = plan.vocabulary.places
        law = mechanism.law(
            [np.array([places[word] for word in words if word in places]) for words, _ in texts]
        )
        assert law is not None
        labels = np.array([each.label for each in mechanism.outcomes])
        kept = max(row[labels == labels[row.argmax()]].sum() for row in law)
        assert kept > 1.1 * mechanism.probability_kept
        found = evidence(release)
        limits = re.findall(r"with ([\d.]+) % at most the label is as it was found", found["how_sure"][0])
        assert limits, "another number than that of one outcome"
        limit = limits[0]
        assert kept <= float(limit) / 100 < 1
        average = next(each["average"] for each in found["questions"] if "from its row" in each["question"])
        assert average.startswith(f"{limit} % of the labels")
        (told,) = re.findall(
            r"printed with a probability of at most\s+([\d.]+);", (release / "READ-ME.txt").read_text()
        )
        assert kept <= float(told) < 1
        alike = max(plan.shared_labels.values())
        (noise,) = re.findall(r"at most ([\d.]+) %", noise_in_words(bound, len(labels), alike))
        assert kept <= float(noise) / 100 < 1


def _of_one_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_me, "label_kept", lambda manifest: manifest["probability_kept"])
    monkeypatch.setattr(signoff, "label_kept", lambda manifest: manifest["probability_kept"])


def _said_of(corpus: Corpus, release: Path) -> dict[str, Any]:
    plan = Plan.of(ReleaseSettings(), Prototype(fitted(), bound=5.0), labels=corpus.keep)
    protect_corpus(corpus, plan, release)
    said: dict[str, Any] = evidence(release)
    return said


def _the_label_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "_agreeing", lambda found, one=False: "")
    monkeypatch.setattr(account, "_without_id", lambda found: "")
    monkeypatch.setattr(account, "_unlimited", lambda found: "")


def _all_rows_seen(folder: Path) -> None:
    """Bayes' rule over every outcome: which text a row is of, and which rows of two releases are of one text.

    The texts and the laws of their rows are known, and all rows are seen, in a secret order.
    """
    for labels, bound in (((0, 1), 2.0), ((0, 1, 1), 2.0), ((0, 1, 1), 4.0), ((0, 1, 2), 1.0)):
        texts, values = len(labels), max(labels) + 1
        orders = np.array([*permutations(range(texts))])
        law = np.where(np.eye(values)[[*labels]] == 1, np.exp(bound), 1) / (np.exp(bound) + values - 1)
        single = pair = 0.0
        seen = [*product(range(values), repeat=texts)]
        # of each release and order: how probable it is, where row orders[o, i] is of text i
        chances = np.array([law[np.arange(texts), np.array(rows)[orders]].prod(axis=1) for rows in seen])
        for one in chances:
            single = max(single, *(one[orders[:, i] == 0].sum() / one.sum() for i in range(texts)))
            for two in chances:
                together = np.outer(one, two)
                for row in range(texts):
                    alike = sum(np.outer(orders[:, i] == 0, orders[:, i] == row) for i in range(texts))
                    pair = max(pair, (together * alike).sum() / together.sum())
        stated = account._with_all_rows(bound, texts)
        assert single <= float(stated.removesuffix(" %")) / 100, (
            f"{single:.4f} is reached and {stated} stated"
        )
        linked = releases_linked.linked_releases(law, bound, np.random.default_rng(1))["ceiling"]
        assert pair <= linked, f"{pair:.4f} of a pair is reached and {linked:.4f} stated"


def _one_row_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(account, "posterior_with_all_rows", posterior_at_most)
    patch.setattr(releases_linked, "posterior_with_all_rows", posterior_at_most)


def _soft_labels(folder: Path) -> None:
    """The exact law of documents between two labels, in so many rows that each stands as often as in the mean.

    Of label 0 most documents are near the border, and give rows to label 1, to which hardly any document is nearest.
    """
    reference = toy_reference(np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]]))
    texts = [np.array([1] * ones + [0] * (10 - ones)) for ones in (0, 3, 4, 4, 4, 4, 4, 9)]
    for bound, gamma in ((4.0, 0.3), (7.0, 0.3), (4.0, 1e-6), (4.0, 0.0)):
        mechanism = Prototype(reference, bound=bound, gamma=gamma, none_of_these=False)
        law = mechanism.law(texts)
        rows = 10**6
        counts = {f"p{k}": round(rows * law[:, k].sum()) for k in range(2)}
        manifest = {
            "mechanism": "prototype", "mechanism_parameters": mechanism.parameters, "kind": "bag",
            "probability_kept": mechanism.probability_kept, "bound": bound,
        }  # fmt: skip
        said = " ".join(read_me._labels(manifest, counts))
        floor = 1 / (np.exp(bound) + 1)
        near = (law - floor) / (
            1 - 2 * floor
        )  # what each document gives to each label where it is not drawn blindly
        own = np.eye(2)[law.argmax(axis=1)]
        shares = near if "one between two labels in part for each" in said else own
        kept = (1 - 2 * floor) * near if "not drawn blindly" in said else own * law
        stated = re.findall(r"([\d.]+)% to +([\d.]+)% +at least (\d+) % +p(\d)", said)
        assert len(stated) == 2
        for low, high, least, label in stated:
            share, left = shares[:, int(label)].mean(), kept[:, int(label)].sum() / law[:, int(label)].sum()
            assert float(low) <= 100 * share <= float(high), (
                f"found in {share:.4f}, and {low} to {high} % stated"
            )
            assert int(least) <= 100 * left, f"{left:.4f} is true, and at least {least} % stated"


def _as_if_sharp(patch: pytest.MonkeyPatch) -> None:
    said = "The share of documents in which the program found it; the share whose label the noise left as it was found."
    patch.setattr(read_me, "_heads", lambda manifest: [said])


def _nearest(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kept, "rounded_up", lambda value, digits: f"{value:.{digits}g}")


def _nearest_nats(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(promise, "nats", lambda exponent: f"{exponent:,.1f}")


def _texts_of_nobody(folder: Path) -> None:
    """Two people wrote these six, which nobody knows, so each was attacked as of an author of its own."""
    law = np.full((6, 6), 0.1) + 0.4 * np.eye(6)
    shares, names = law.diagonal(), [f"the text {at}" for at in range(6)]
    together = hindsight.together(Originals(shares, np.log(law), law), names, shares)
    finding = AdversaryResult("originals", "author", Interval(0.5, 0.3, 0.7), 3.0, 6, {"together": together})
    for known, of_authors, given in ((12, True, {}), (0, False, {}), (0, True, {"authors_given": True})):
        facts = {
            **given,
            "known_texts": known,
            "unknown_texts": 6,
            "size": 40,
            "authors": 6,
            "request": {"repeats": 1},
        }
        results = Results({**facts, "publius_version": "0"}, (), (), None)
        measured = {
            "about": signed._about(results, finding, 5.0),
            "worst": signed._worst(results, finding),
        }
        found = {"unit": "document", "bound": 5.0, "own": None, "crowd": None, "measurements": measured}
        said = " ".join((*account.how_to_read(found), *(account.worst_author(found) or ())))
        assert (
            bool(re.search(r"names? the author|named the author|of one author together", said)) is of_authors
        )
        assert ("names the text of 50.0\xa0% of the rows" in said) is not of_authors
        assert account.authors_known(found) is of_authors


def _each_as_an_author(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(signed, "authors_given", lambda facts: True)


FENCES = (
    Fence(8, "an exponent that is a limit is rounded up", _exponents, _nearest_nats),
    Fence(8, "a probability that is a limit is rounded up", _upper_limits, _nearest),
    Fence(8, "shares of labels hold where the choice between labels is soft", _soft_labels, _as_if_sharp),
    Fence(8, "a limit of one row holds for whoever sees all of them", _all_rows_seen, _one_row_alone),
    Fence(8, "a proven limit is none of what is kept, nor of an id", _all_of_a_row, _the_label_alone),
    Fence(8, "a label that several outcomes share is kept as often as said", _labels_kept, _of_one_outcome),
    Fence(8, "no figure is one of authors where nobody knows them", _texts_of_nobody, _each_as_an_author),
)
