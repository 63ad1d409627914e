"""The law of issue 67, row 1: nobody is expected to identify more than the exact ceiling for who is told as much."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_texts import LINE, Small, bag_laws

from publius.evaluation import worst_case
from publius.evaluation.attackers import KINDS, inside, scores_of
from publius.evaluation.corpus import Text, split
from publius.evaluation.labels import by_other_texts, evaluate_labels
from publius.evaluation.records import Setting
from publius.evaluation.run import Evaluation, Protected, Words
from publius.noise.randomness import seeded_rng

ATTACKERS = [
    *(name for name in KINDS if name != "fasttext"),
    *(f"adaptive-{name}" for name in ("letters", "likelihood", "delta", "koppel", "transport")),
    "informed",
]  # fmt: skip
WORDS = LINE.vocabulary


def texts_of(rows):
    return [Text(n, " ".join(words), f"a{author}", f"t{topic}") for n, (words, author, topic) in enumerate(rows)]


def evaluation_of(texts, epsilon, attackers, folds=3):
    words = Words(LINE, 3, lambda name, epsilon: Small(epsilon), stop_words="none")
    made = Evaluation(split(texts, folds=folds), words, [Setting("small", epsilon)], attackers)
    return made, words


def prepared(texts, epsilon, attackers):
    """An evaluation as far as it is before it counts, and what one setting makes of the texts, without draws."""
    evaluation, words = evaluation_of(texts, epsilon, attackers)
    protected = Protected(Setting("small", epsilon), words, 0)
    protected.__dict__["lifted"] = type("Lifted", (), {"guarantee": type(protected.kernel.guarantee)(3 * epsilon)})()
    return evaluation, protected


def test_who_holds_many_originals_chooses_among_some_of_them(monkeypatch):
    monkeypatch.setattr(worst_case, "CANDIDATES", 4)
    texts = texts_of([([*pair, "west"], n % 2, n % 4 // 2) for n, pair in enumerate(product(WORDS, WORDS[:2]))])
    words = Words(LINE, 3, lambda name, epsilon: Small(epsilon), stop_words="none")
    found = [
        each
        for each in Evaluation(split(texts, folds=2), words, [], ["worst-case", "likelihood"]).run()[0]
        if each.task == "author"
    ]
    assert {(each.attacker, each.texts, each.judged) for each in found} == {
        ("worst-case", 4, False), ("likelihood", 8, True),
    }  # fmt: skip


def law_of(evaluation, protected):
    """Every bag that may be released, and the law over them of each attacked text."""
    kernel = protected.kernel
    return bag_laws([kernel.rows[inside(bag.split(), LINE)] for bag in evaluation._clear])


def expected(evaluation, protected, name, bags, law):
    """How often each author is named, untold and told the topic, summed over all bags: no draw, no seed."""
    strings = [" ".join(sorted(WORDS[n] for n in bag)) for bag in bags]
    found = {told: np.zeros(len(law)) for told in ((False, True) if evaluation.data.topics else (False,))}
    for part in evaluation._parts("author"):
        model = evaluation._model(name, part, protected)
        classes, scores = scores_of(model, strings)
        for place in part.at:
            whole = part._replace(at=np.full(len(strings), place))
            for told in found:
                named = evaluation._named(model, whole, classes, scores.copy(), told_topic=told)
                found[told][place] = law[place] @ named
    return found


rows = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), min_size=3, max_size=3), st.integers(0, 2), st.integers(0, 1)),
    min_size=6, max_size=9,
).filter(lambda found: len({a for _, a, _ in found if sum(b == a for _, b, _ in found) > 1}) > 1)  # fmt: skip


@settings(max_examples=8)
@given(rows, st.sampled_from([0.2, 1.0, 4.0]))
def test_no_attacker_exceeds_the_ceiling_of_who_is_told_as_much(found, epsilon):
    texts = [Text(n, f"{t.text}", t.author, t.topic) for n, t in enumerate(texts_of(found))]
    unique = {(t.text, t.author): t for t in texts}.values()  # equal texts are attacked once
    several = [a for a in {t.author for t in unique} if sum(t.author == a for t in unique) > 1]
    assume(len(several) > 1)
    evaluation, protected = prepared(list(unique), epsilon, ATTACKERS)
    assume(all(len({evaluation._known[n].author for n in each.learned}) > 1 for each in evaluation._parts("author")))
    data = evaluation.data
    ceilings, protected.copies = evaluation._ceilings(protected), evaluation._copies(protected)
    bags, law = law_of(evaluation, protected)
    for name in ATTACKERS:
        for told, shares in expected(evaluation, protected, name, bags, law).items():
            groups = worst_case.group_places([(t.fold, told and t.topic) for t in data.attacked])
            exact = worst_case.exact_success(law, data.authors, groups).mean()
            assert shares.mean() <= exact + 1e-9, (name, told)
            assert exact <= ceilings[told] + 1e-9 <= 1 + 2e-9, (name, told)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 1)), min_size=2, max_size=14),
    st.floats(0.01, 12),
)
def test_labels_stay_below_their_ceilings_whatever_is_told(found, epsilon):
    authors, answers = [f"a{a}" for a, _, _ in found], np.array([k for _, k, _ in found])
    law = worst_case.label_law(answers, 4, epsilon)
    for groups in (np.zeros(len(found), np.int64), worst_case.group_places([t for *_, t in found])):
        exact = worst_case.exact_success(law, authors, groups)
        assert by_other_texts(law, authors, groups).mean() <= exact.mean() + 1e-12
        assert exact.mean() <= worst_case.ceiling_of_epsilon(epsilon, authors, groups) + 1e-12
        assert worst_case.baseline(authors, groups).mean() <= exact.mean() + 1e-12


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.05, 5))
def test_no_rule_whatever_exceeds_the_exact_one(seed, epsilon):
    """Rules at random on a law at random: the Bayes rule is the best, and the guarantee is above it."""
    rng = seeded_rng(seed)
    answers = rng.integers(0, 5, 12)
    law, authors = worst_case.label_law(answers, 5, epsilon), [f"a{n}" for n in rng.integers(0, 4, 12)]
    groups = np.zeros(12, np.int64)
    best = worst_case.exact_success(law, authors, groups).mean()
    for _ in range(20):
        rule = rng.integers(0, 4, 5)  # for each label an author
        share = np.mean([law[n][[f"a{rule[k]}" == authors[n] for k in range(5)]].sum() for n in range(12)])
        assert share <= best + 1e-12
    exponents = np.where(answers[:, None] == answers[None, :], 0.0, epsilon)
    assert best <= worst_case.ceiling_of(exponents, authors, groups) + 1e-12
    assert (
        worst_case.ceiling_of(exponents, authors, groups)
        <= worst_case.ceiling_of_epsilon(epsilon, authors, groups) + 1e-12
    )


def test_the_exact_rule_equals_all_rules_by_brute_force():
    law, authors = worst_case.label_law(np.array([0, 1, 1, 2]), 3, 1.2), ["x", "x", "y", "z"]
    names = ["x", "y", "z"]
    best = max(
        np.mean([sum(law[n, k] for k in range(3) if names[rule[k]] == authors[n]) for n in range(4)])
        for rule in product(range(3), repeat=3)
    )
    assert worst_case.exact_success(law, authors, np.zeros(4, np.int64)).mean() == pytest.approx(best)


def test_the_ceiling_of_equal_texts_apart_is_the_formula():
    k, x = 7, 1.3
    found = worst_case.ceiling_of(np.full((k, k), x), [f"a{n}" for n in range(k)], np.zeros(k, np.int64))
    assert found == pytest.approx(math.exp(x) / (math.exp(x) + k - 1))
    one_group_each = worst_case.ceiling_of(np.full((k, k), x), [f"a{n}" for n in range(k)], np.arange(k))
    assert one_group_each == 1


def test_somebody_told_the_topic_has_a_higher_ceiling():
    """What 0.3 compared: attackers told the topic against the ceiling of who was not."""
    answers, authors, topics = np.array([0, 0, 1, 1]), ["a", "b", "c", "d"], ["t", "u", "t", "u"]
    law = worst_case.label_law(answers, 2, 1.0)
    without = worst_case.exact_success(law, authors, np.zeros(4, np.int64)).mean()
    told = worst_case.exact_success(law, authors, worst_case.group_places(topics)).mean()
    assert told > without


def test_a_law_over_bags_is_one():
    kernel = Small(1.0)
    bags, law = bag_laws([kernel.rows[[0, 1, 1]], kernel.rows[[3, 3, 3]]])
    assert len(bags) == 20
    assert law.sum(axis=1) == pytest.approx([1, 1])
    assert law[1, bags.index((0, 0, 0))] == pytest.approx(kernel.rows[3, 0] ** 3)


# Labels in closed form ------------------------------------------------------------------------------------


def dataset(answers, authors, topics):
    from publius.evaluation.corpus import everybody

    return everybody([Text(n, "x", a, t) for n, (a, t) in enumerate(zip(authors, topics, strict=True))])


def test_label_figures_are_what_a_simulation_finds():
    """Row 2 and 3: expectations, so 100 seeds of drawing and naming come out around them."""
    rng = seeded_rng(11)
    answers = rng.integers(0, 4, 60)
    authors = [f"a{n % 9}" for n in range(60)]
    topics = [f"label {k}" if rng.random() < 0.9 else "label 0" for k in answers]
    labels = [*(f"label {k}" for k in range(4)), "other"]
    attempts, facts = evaluate_labels(dataset(answers, authors, topics), labels, answers, [2.0])
    law = worst_case.label_law(answers, 5, 2.0)
    places = np.array([int(a[1:]) for a in authors])
    totals = np.zeros((9, 5))
    np.add.at(totals, places, law)
    named, right, picked = [], [], []
    for _ in range(100):
        drawn = np.array([rng.choice(5, p=row) for row in law])
        named.append(np.mean([places[n] == totals[:, k].argmax() for n, k in enumerate(drawn)]))
        right.append(np.mean([labels[k] == t for k, t in zip(drawn, topics, strict=True)]))
        picked.append(
            np.mean(
                [(law[:, k] == law[:, k].max())[n] / (law[:, k] == law[:, k].max()).sum() for n, k in enumerate(drawn)]
            )
        )
    at = [a for a in attempts if a.epsilon == 2.0]
    worst = next(a for a in at if a.attacker == "worst-case" and a.told == ("originals", "mechanism"))
    reader = next(a for a in at if a.attacker == "reader")
    for mean, simulated in (
        (worst.identified.value, named),
        (reader.identified.value, right),
        (facts["randomized-response, epsilon 2"]["text_named"]["mean"], picked),
    ):
        assert mean == pytest.approx(np.mean(simulated), abs=4 * np.std(simulated) / 10)
    assert reader.clear.value == pytest.approx(np.mean([labels[k] == t for k, t in zip(answers, topics, strict=True)]))
    assert facts["randomized-response, epsilon 2"]["noise_changes"] == pytest.approx(4 / (math.exp(2) + 4))


def test_labels_have_no_seed_and_no_draw():
    answers, authors, topics = np.array([0, 1, 2, 0]), ["a", "b", "a", "c"], ["x", "y", "z", "x"]
    first = evaluate_labels(dataset(answers, authors, topics), ["x", "y", "z", "other"], answers, [1.0, 5.0])
    assert first == evaluate_labels(dataset(answers, authors, topics), ["x", "y", "z", "other"], answers, [1.0, 5.0])
    assert all(each.exact for each in first[0])


def test_clear_labels_identify_whom_the_commonest_author_of_each_label_is():
    answers, authors = np.array([0, 0, 0, 1, 1]), ["a", "a", "b", "b", "c"]
    attempts, _ = evaluate_labels(dataset(answers, authors, [None] * 5), ["x", "y", "other"], answers, [50.0])
    clear = next(a for a in attempts if a.epsilon is None and a.attacker == "worst-case")
    assert clear.identified.value == pytest.approx((2 + 1) / 5)
    strong = next(a for a in attempts if a.epsilon == 50.0 and a.attacker == "worst-case")
    assert strong.identified.value == pytest.approx(clear.identified.value)
