"""The seventeen rules that carry the promise (SECURITY.md), each with one test that is named after it."""

import asyncio
import hashlib
import json
import math
import os
import stat
from fractions import Fraction

import numpy as np
import pytest

import publius
from laws.subjects import AUTHORS, BY_NAME, FixedDraw, corpus_file, topics, values, words
from publius.errors import PolicyError, PubliusError
from publius.mechanisms.registry import make_kernel
from publius.noise.randomness import RunKey
from publius.releases import draft
from publius.releases.register import digests, made_here
from publius.releases.run import manifest_of
from publius.settings import Leaving, Run
from publius.summaries.run import summarize_corpus

LABELS, WORDS = BY_NAME["values"], BY_NAME["words"]


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def labels_of(folder):
    return [row["label"] for row in publius.read_release(folder).rows()]


def test_rule_01_laws_in_whole_numbers():
    for epsilon in (0.1, 1.0, 5.0, 7.3, 20.0):
        mechanism = publius.RandomizedResponse(publius.Values(["a", "b"]), epsilon=epsilon)
        weights = [[int(each) for each in mechanism.weights(answer)] for answer in range(3)]
        assert all(sum(law) == 2**62 for law in weights)
        worst = max(Fraction(one, other) for law in weights for other_law in weights
                    for one, other in zip(law, other_law, strict=True))  # fmt: skip
        assert worst <= Fraction(math.exp(epsilon)) * (1 + Fraction(1, 10**12))
        assert math.log(worst) > epsilon - 1e-9
    from publius.errors import UsageError
    from publius.noise.discrete_laplace import DiscreteLaplace

    noise = DiscreteLaplace.protecting(2, Fraction(1, 25))
    draws = noise.sample(RunKey(bytes(range(32))).rng(""), 40_000)
    assert draws.dtype == np.int64
    assert max(map(abs, draws.tolist())) > 400  # no clamp at some standard deviations
    with pytest.raises(UsageError, match="exact"):
        DiscreteLaplace(0.1)


@pytest.mark.parametrize("name", BY_NAME)
def test_rule_02_a_mechanism_sees_one_text_alone(name):
    texts = ["river storm", "", "market cheese bread", "unheard ofword", "river market"]
    mechanism, key = BY_NAME[name].mechanism(), RunKey(bytes(range(32)))
    together = mechanism.protect(texts, range(5), key)
    backwards = mechanism.protect(texts[::-1], [*range(5)][::-1], key)[::-1]
    for row, text in enumerate(texts):
        assert mechanism.protect([text], [row], key)[0] == together[row] == backwards[row]
    if mechanism.kind == "labels":
        alone = [int(mechanism.classifier.answers([text])[0]) for text in texts]
        assert [int(each) for each in mechanism.classifier.answers(texts)] == alone


def test_rule_03_values_are_declared_other_exists_and_an_empty_text_is_a_row(tmp_path):
    classifier = values().classifier
    assert classifier.labels == ("river", "market", "other")
    assert [classifier.labels[each] for each in classifier.answers(["river", "RIVER!", "", "undeclared"])][2:] == [
        "other", "other",
    ]  # fmt: skip
    result = LABELS.run(corpus_file(tmp_path, change={0: "", 1: None}), tmp_path / "out")
    assert result.manifest.documents == 30
    assert {row["label"] for row in publius.read_release(tmp_path / "out").table("labels")} == {*classifier.labels}


@pytest.mark.parametrize("subject", [LABELS, WORDS], ids=lambda subject: subject.name)
def test_rule_04_one_writer_that_sees_outcomes_alone(subject, tmp_path, monkeypatch):
    monkeypatch.setattr(draft, "entropy", lambda: bytes(range(32)))
    found = []
    for number, change in enumerate(({}, {row: f"other words {row}" for row in range(30)})):
        (tmp_path / str(number)).mkdir()
        source = corpus_file(tmp_path / str(number), change=change)
        subject.run(source, tmp_path / str(number) / "out", FixedDraw(subject.mechanism()))
        found.append(content(tmp_path / str(number) / "out"))
    assert found[0] == found[1]
    if subject is LABELS:  # a summary of other texts with the same answers
        summaries = []
        for number, text in enumerate(("undeclared", "something else")):
            source = corpus_file(tmp_path, change=dict.fromkeys(range(30), text))
            summarized(source, tmp_path / f"summary{number}")
            summaries.append(content(tmp_path / f"summary{number}"))
        assert summaries[0] == summaries[1]


@pytest.mark.parametrize("subject", [LABELS, WORDS], ids=lambda subject: subject.name)
def test_rule_05_no_text_refuses_or_drops_anything(subject, tmp_path):
    odd = [
        "", None, 7, True, {"a": 1}, ["b"], "\x00\x1b[31m", "\ud800", "e\u0301" * 50_000, "=cmd", '"', "a,b\n\"c", "\u202e",
        "word " * 20_000, 1e300, float("nan"),
    ]  # fmt: skip
    path = tmp_path / "in.jsonl"
    path.write_text(
        "".join(json.dumps({"id": str(n), "author": "A", "text": text}) + "\n" for n, text in enumerate(odd))
    )
    result = subject.run(path, tmp_path / "out")
    assert result.manifest.documents == len(odd)
    (tmp_path / "latin.csv").write_bytes(
        'id,author,text\n1,A,caf\xe9\n2,B,"say ""no"", twice"\n3,C,\n'.encode("cp1252")
    )
    assert subject.run(tmp_path / "latin.csv", tmp_path / "latin").manifest.documents == 3


def test_rule_06_c_documents_are_chosen_from_the_author_s_own_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(draft, "entropy", lambda: bytes(range(32)))
    kept = Leaving(ids=True)
    LABELS.run(corpus_file(tmp_path), tmp_path / "a", leaving=kept, documents_per_author=2)
    source = corpus_file(tmp_path, change={row: "storm" for row in range(30) if row % 5 == 1})
    LABELS.run(source, tmp_path / "b", leaving=kept, documents_per_author=2)
    ids = [[row["id"] for row in publius.read_release(tmp_path / name).rows()] for name in "ab"]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 2 * len(AUTHORS)
    chosen = set()
    for number in range(12):  # over keys every document has a chance
        monkeypatch.setattr(draft, "entropy", lambda number=number: bytes(range(number, number + 32)))
        LABELS.run(source, tmp_path / f"c{number}", leaving=kept, documents_per_author=2)
        chosen |= {row["id"] for row in publius.read_release(tmp_path / f"c{number}").rows()}
    assert len(chosen) > 25
    for c in (1, 3):
        manifest = summarized(source, tmp_path / f"summary{c}", documents_per_author=c).manifest
        assert manifest.scales["topics"] >= 2 * c / manifest.epsilon
        assert sum(manifest.epsilons.values()) <= 1
        assert (manifest.neighbours, manifest.documents_per_author) == ("replace", c)


def test_rule_07_noise_is_of_key_and_row_and_the_key_is_gone_before_the_rename(tmp_path, monkeypatch):
    mechanism, key = words(), RunKey(bytes(range(32)))
    first = mechanism.protect(["river"] * 2, [5, 6], key)
    again = mechanism.protect(["storm", "river"], [7, 5], RunKey(bytes(range(32))))
    assert first[0] == again[1]
    other = mechanism.protect(["river"] * 2, [5, 6], RunKey(bytes(range(1, 33))))
    assert first != other
    seen = []
    place = draft.place_folder

    def placing(filled, path):
        seen.append(sorted(os.listdir(filled.parent)))
        place(filled, path)

    monkeypatch.setattr(draft, "place_folder", placing)
    LABELS.run(corpus_file(tmp_path), tmp_path / "out")
    assert seen == [["input", "paid", "release"]]
    drawn = []
    for number in range(2):
        LABELS.run(tmp_path / "in.jsonl", tmp_path / f"again{number}")
        drawn.append(labels_of(tmp_path / f"again{number}"))
    assert drawn[0] != drawn[1]


def test_rule_08_drawn_in_private_debited_all_or_none_renamed_once(tmp_path, monkeypatch):
    ledger = publius.Ledger.create(tmp_path / "ledger", budget=13, unit="epsilon")
    source, modes = corpus_file(tmp_path), []

    class Watching(FixedDraw):
        def protect(self, texts, rows, key):
            modes.append(stat.S_IMODE((tmp_path / "out.publius-run").stat().st_mode))
            assert not (tmp_path / "out").exists()
            return self._mechanism.protect(texts, rows, key)

    LABELS.run(source, tmp_path / "out", Watching(values()), ledger=ledger)
    assert modes == [0o700]
    assert {ledger.account(author).spent for author in AUTHORS} == {12}
    with pytest.raises(publius.BudgetError):
        LABELS.run(source, tmp_path / "second", ledger=ledger)
    assert {ledger.account(author).spent for author in AUTHORS} == {12}
    assert sorted(each for each in os.listdir(tmp_path) if each.startswith(("second", "out"))) == ["out"]


def test_rule_09_one_account_for_each_person(tmp_path):
    ledger = publius.Ledger.create(tmp_path / "ledger", budget=10, unit="epsilon")
    path = tmp_path / "in.jsonl"
    names = ["Ada Lovelace", " ada LOVELACE ", "ＡＤＡ Lovelace"]
    path.write_text(
        "".join(json.dumps({"id": str(n), "author": name, "text": "river"}) + "\n" for n, name in enumerate(names))
    )
    LABELS.run(path, tmp_path / "out", ledger=ledger)
    assert ledger.account("Ada Lovelace").spent == 6
    table = {"text": ["river"], "author": ["ADA LOVELACE"]}
    publius.protect_table(table, values(), author="author", ledger=ledger)
    assert ledger.account("ada lovelace").spent == 8
    summarized(path, tmp_path / "summary", ledger=ledger)
    assert ledger.account("Ada Lovelace").spent == 9
    with pytest.raises(publius.BudgetError):
        publius.protect_table(table, values(), author="author", ledger=ledger)


def summarized(source, output, *, documents_per_author=1, **more):
    """A small summary of declared values."""
    summary = publius.Summary(
        values().classifier, epsilon=1, shares={"topics": 1}, documents_per_author=documents_per_author
    )
    return summarize_corpus(publius.open_corpus(source, author_field="author"), summary, output, force=True, **more)


def test_rule_10_the_order_is_independent_and_shuffling_is_said_without_ids_and_kept_fields_alone(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(draft, "entropy", lambda: bytes(range(32)))
    mechanism = publius.RandomizedResponse(publius.Values(["river", "market"]), epsilon=1)
    source = corpus_file(tmp_path, documents=300)
    plain = LABELS.run(source, tmp_path / "plain", mechanism)
    assert plain.manifest.shuffled is not None
    assert plain.manifest.shuffled.epsilon <= 0.3
    for name, leaving in (("ids", Leaving(ids=True)), ("kept", Leaving(keep=("year",)))):
        assert LABELS.run(source, tmp_path / name, mechanism, leaving=leaving).manifest.shuffled is None
    two = manifest_of(mechanism, 300, Leaving(), documents_per_author=2).shuffled
    assert two.epsilon == publius.Shuffled(mechanism, 300, 2).guarantee.epsilon > plain.manifest.shuffled.epsilon
    weak = publius.RandomizedResponse(mechanism.classifier, epsilon=7)  # shuffled, nearly 7: it says nothing
    assert 0.9 * 7 < publius.Shuffled(weak, 300).guarantee.epsilon < 7
    assert manifest_of(weak, 300, Leaving()).shuffled is None
    by_id = labels_of(tmp_path / "ids")
    order = RunKey(RunKey(bytes(range(32))).derive("order")).rng("").permutation(300)
    assert labels_of(tmp_path / "plain") == [by_id[each] for each in np.argsort(order)]


def test_rule_11_public_inputs_are_named_and_the_training_file_is_refused(tmp_path):
    mechanism = topics()
    source = corpus_file(tmp_path)
    mechanism.classifier.trained_on = (hashlib.sha256(source.read_bytes()).hexdigest(),)
    try:
        with pytest.raises(PolicyError, match="what the classifier or the vectors were made from"):
            LABELS.run(source, tmp_path / "out", mechanism)
    finally:
        mechanism.classifier.trained_on = ()
    manifest = LABELS.run(source, tmp_path / "out", mechanism).manifest
    assert manifest.classifier.sha256 == mechanism.classifier.sha256
    manifest = WORDS.run(source, tmp_path / "words").manifest
    assert manifest.public
    assert all(len(each.sha256) == 64 for each in manifest.public)


def test_rule_12_kept_columns_leave_by_value_and_the_author_never(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    groups = pa.array(["seen", "unseen secret"] * 10).dictionary_encode().slice(0, 20)
    table = pa.table({"text": ["river"] * 20, "author": ["Ada"] * 20, "group": groups}).filter(
        pa.array([True, False] * 10)
    )
    found = publius.protect_table(table, values(), keep="group")
    assert found.column_names == ["id", "label", "group"]
    assert found.column("group").type == pa.string()
    parquet.write_table(found, tmp_path / "t.parquet")
    assert b"unseen secret" not in (tmp_path / "t.parquet").read_bytes()
    for subject in [BY_NAME[f"values{kind}"] for kind in ("", " as csv", " as parquet")]:
        subject.run(
            corpus_file(tmp_path), tmp_path / subject.name, leaving=Leaving(keep=("year",)), documents_per_author=1
        )
        manifest = made_here(tmp_path / subject.name)
        assert manifest.kept == ("year",)
        assert all(
            author.encode() not in each for author in AUTHORS for each in content(tmp_path / subject.name).values()
        )


def test_rule_13_numbers_round_to_the_safe_side_and_a_local_epsilon_above_20_is_refused(tmp_path):
    weak = publius.RandomizedResponse(publius.Values(["river", "market"]), epsilon=20.5)
    source = corpus_file(tmp_path)
    with pytest.raises(PolicyError, match="at most 20"):
        LABELS.run(source, tmp_path / "out", weak)
    manifest = LABELS.run(source, tmp_path / "out", weak, leaving=Leaving(experiment=True)).manifest
    assert not manifest.private
    assert "NOT PRIVATE" in manifest.warning
    for name in ("exponential", "laplace"):  # of words, too: whatever language the vectors are of
        vectors = words().vocabulary
        clear = publius.Lifted(make_kernel(name, vectors, epsilon=200.0, metric="euclidean", parameters={}), 6)
        with pytest.raises(PolicyError, match=r"frequent words as they are|promise would fail"):
            WORDS.run(source, tmp_path / "clear", clear)
    third = publius.RandomizedResponse(publius.Values(["river", "market"]), epsilon=0.1)
    manifest = LABELS.run(source, tmp_path / "third", third, documents_per_author=3).manifest
    assert Fraction(manifest.author.epsilon) >= 3 * Fraction(0.1)


def test_rule_14_the_folder_holds_what_its_manifest_names_and_the_register_binds_it(tmp_path, home):
    LABELS.run(corpus_file(tmp_path), tmp_path / "out")
    assert digests(tmp_path / "out") == made_here(tmp_path / "out").files
    (tmp_path / "out" / "stray").mkdir()
    with pytest.raises(PubliusError, match="stray"):
        made_here(tmp_path / "out")
    (tmp_path / "out" / "stray").rmdir()
    (home / "releases.jsonl").unlink()
    with pytest.raises(PolicyError, match="not made by this installation"):
        made_here(tmp_path / "out")


def test_rule_15_the_service_answers_to_its_host_origin_and_token_alone():
    pytest.importorskip("starlette", reason="the extra web is not installed")
    from publius.web.guard import LARGEST_BODY, Guard

    reached = []

    async def app(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        reached.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def status(body=b"", **headers):
        given = {"host": "127.0.0.1:80", "authorization": "Bearer token", **headers}
        scope = {"type": "http", "path": "/v1/label", "method": "POST"}
        scope["headers"] = [(name.encode(), value.encode()) for name, value in given.items() if value is not None]
        sent = []

        async def receive():
            return {"type": "http.request", "body": body}

        async def send(message):
            sent.append(message)

        asyncio.run(Guard(app, port=80, token="token")(scope, receive, send))
        return sent[0]["status"]

    assert status() == status(origin="http://127.0.0.1:80") == 200
    assert status(host="evil.example:80") == status(host="127.0.0.1:81") == status(host=None) == 421
    assert status(origin="http://evil.example") == status(origin="null") == 403
    assert status(authorization=None) == status(authorization="Bearer guess") == 401
    assert status(body=bytes(LARGEST_BODY + 1)) == 413
    assert len(reached) == 2


def test_rule_16_what_authors_write_is_escaped_on_pages(tmp_path):
    hostile = "<script>alert(1)</script>\x1b[31m\u202e"
    mechanism = publius.RandomizedResponse(publius.Values(["<script>alert(1)</script>", "market"]), epsilon=2)
    LABELS.run(corpus_file(tmp_path, change={0: hostile}), tmp_path / "out", mechanism)
    page = (tmp_path / "out" / "release.html").read_text()
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "Content-Security-Policy" in page
    assert "default-src 'none'" in page


def test_rule_17_errors_hold_no_private_word(tmp_path):
    class Failing(FixedDraw):
        def protect(self, texts, rows, key):
            raise ValueError(texts[0])

    source = corpus_file(tmp_path, documents=3000, change=dict.fromkeys(range(3000), "unspeakable"))
    with pytest.raises(PubliusError) as found:
        LABELS.run(source, tmp_path / "out", Failing(values()), workers=2)
    assert "unspeakable" not in str(found.value)
    assert "ValueError" in str(found.value)
    assert not (tmp_path / "out").exists()
    assert Run().engine == "local"
