"""What document mechanisms keep and what they give away, on the data folders given: the figures of docs/documents.md.

python -m benchmarks.documents DATA [--repeats 20] [--only fanfiction newsgroups limit meaning words speed]

DATA holds ``fanfiction`` (topics, authors50, authors20) and ``newsgroups`` (train, test) as JSON lines, gzipped.
The classifier is a linear one on TF-IDF of the public texts' own words: it never sees the reference. Prints one JSON
object a line. Needs publius[evaluation,glove].
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.text import counts_of
from publius.documents.corpus import Corpus, Document, open_corpus
from publius.mechanisms.prototype import Prototype, fidelity
from publius.mechanisms.registry import make_document_mechanism, make_mechanism
from publius.mechanisms.whole import Mechanism
from publius.noise.randomness import RunKey, seeded_rng
from publius.releases.engines import batches_of, default_batch_size, protect_corpus
from publius.releases.plan import Plan
from publius.settings import ReleaseSettings
from publius.text.bag import Encoding, places_of_all, words_of
from publius.text.tokenizer import StopWords, tokenize
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.clusters import directions
from publius.vectors.learning.fit_reference import fit_reference
from publius.vectors.learning.reference import Reference
from publius.vectors.learning.topic_metric import TopicMetric

STOPS = StopWords.load("english")
KEY = RunKey.seeded(17)
PAIRS = 4000


def rows(path: Path) -> list[dict[str, Any]]:
    """The documents of a file, with their words."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        found = [json.loads(line) for line in stream]
    for row in found:
        row["words"] = [word for word in tokenize(row["text"]) if word not in STOPS]
    return found


class Judge:
    """A topic classifier on TF-IDF, trained on public texts that the release does not hold."""

    def __init__(self, public: Sequence[dict[str, Any]]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.svm import LinearSVC

        self._vectors = TfidfVectorizer(analyzer=lambda words: words, min_df=2, sublinear_tf=True)
        held = self._vectors.fit_transform([row["words"] for row in public])
        self._model = LinearSVC(C=0.5).fit(held, [row["topic"] for row in public])

    def score(self, bags: Sequence[Sequence[str]], topics: Sequence[str]) -> float:
        """The share of bags whose topic is named rightly."""
        return float((self._model.predict(self._vectors.transform(bags)) == np.array(topics)).mean())


def learned(public: Sequence[dict[str, Any]]) -> Reference:
    """A reference with every default, but for words in three texts: those are public, and their authors unknown."""
    return fit_reference(
        [(row["words"], row["topic"]) for row in public],
        name="bench",
        settings=LearningSettings(authors_at_least=3),
        embeddings=Embeddings.load(),
    )


def indexed(reference: Reference, found: Sequence[dict[str, Any]]) -> list[Any]:
    """Documents as a release encodes them: words that the reference does not know are dropped."""
    encoding = Encoding(None, "drop", STOPS, reference.tokenizer)
    mechanism = make_document_mechanism("prototype", reference, preserve=reference.keeps[0], bound=1.0)
    return [mechanism.indices(words_of(row["text"], reference, encoding).words) for row in found]


def released(mechanism: Mechanism, documents: Sequence[Any], name: str) -> list[list[str]]:
    """One bag for each document, as words."""
    drawn = mechanism.draw(documents, [KEY.rng(f"{name}/{i}") for i in range(len(documents))])
    return [list(outcome.bag.words()) for outcome in drawn]


def told(mechanism: Prototype, documents: Sequence[Any], topics: Sequence[str]) -> dict[str, Any]:
    """Exact: exponents between documents of one topic, the holder of the originals, the share of right labels."""
    law = mechanism.law(documents)
    logs = np.log(law)
    rng, names = seeded_rng(3), np.array(topics)
    gaps = []
    for topic in sorted(set(topics)):
        members = np.flatnonzero(names == topic)
        pairs = members[rng.integers(0, len(members), (PAIRS // len(set(topics)), 2))]
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        gaps.append(np.abs(logs[pairs[:, 0]] - logs[pairs[:, 1]]).max(axis=1))
    same = np.concatenate(gaps)
    labels = np.array([each.label for each in mechanism.outcomes])
    label = float(np.mean([law[i][labels == names[i]].sum() for i in range(len(law))]))
    return {
        "any_two": round(float((logs.max(axis=0) - logs.min(axis=0)).max()), 4),
        "same_topic_median": round(float(np.median(same)), 4),
        "same_topic_90": round(float(np.quantile(same, 0.9)), 4),
        "holder": round(float(law.max(axis=0).sum() / len(law)), 4),
        "floor": round(len(set(topics)) / len(law), 4),
        "right_label": round(label, 4),
    }


def measured(
    mechanism: Mechanism,
    documents: Sequence[Any],
    topics: Sequence[str],
    judge: Judge,
    repeats: int,
) -> dict[str, Any]:
    """Topic by the judge over releases, and what can be computed exactly."""
    scores = [judge.score(released(mechanism, documents, f"{i}"), topics) for i in range(repeats)]
    promised = mechanism.guarantee
    facts: dict[str, Any] = {
        "mechanism": mechanism.name,
        "bound": promised.bound,
        "epsilon": promised.epsilon,
        "topic": round(float(np.mean(scores)), 4),
        "topic_deviation": round(float(np.std(scores)), 4),
    }
    if isinstance(mechanism, Prototype):
        facts |= {"gamma": round(mechanism.gamma, 4), **told(mechanism, documents, topics)}
    return facts


def fanfiction(data: Path, repeats: int) -> Iterator[dict[str, Any]]:
    """Two topics, few authors: the reference fitted on ``topics``."""
    public = rows(data / "fanfiction/topics.jsonl.gz")
    reference, judge = learned(public), Judge(public)
    for name in ("authors50", "authors20"):
        found = [row for row in rows(data / f"fanfiction/{name}.jsonl.gz") if row["role"] == "unknown"]
        documents, topics = indexed(reference, found), [row["topic"] for row in found]
        yield {"set": name, "clean": judge.score([row["words"] for row in found], topics)}
        for mechanism, parameters in (
            *(("prototype", {"bound": bound}) for bound in (3.6, 5.0, 7.0)),
            ("prototype", {"bound": 5.0, "gamma": 0.0}),
            *(("position", {"bound": bound}) for bound in (3.6, 5.0, 7.0)),
        ):
            made = make_document_mechanism(mechanism, reference, **parameters)  # type: ignore[arg-type]
            yield {"set": name, **measured(made, documents, topics, judge, repeats)}


def newsgroups(data: Path, repeats: int) -> Iterator[dict[str, Any]]:
    """Twenty topics, short posts: fitted on train, test released."""
    public, found = rows(data / "newsgroups/train.jsonl.gz"), rows(data / "newsgroups/test.jsonl.gz")
    reference, judge = learned(public), Judge(public)
    documents, topics = indexed(reference, found), [row["topic"] for row in found]
    clean = judge.score([row["words"] for row in found], topics)
    yield {"set": "newsgroups", "clean": round(clean, 4), "source": dict(reference.source)["choices"]}
    for parameters in ({"bound": 5.0}, {"bound": 6.8}, {"bound": 8.0}, {"bound": 6.8, "gamma": 0.0}):
        made = make_document_mechanism("prototype", reference, **parameters)  # type: ignore[arg-type]
        facts = measured(made, documents, topics, judge, max(1, repeats // 10))
        yield {"set": "newsgroups", "of_clean": round(facts["topic"] / clean, 4), **facts}


def limit(data: Path, repeats: int) -> Iterator[dict[str, Any]]:
    """What share of e^B / (e^B + k - 1), times the clean accuracy, is reached."""
    sets = (
        (
            "authors50",
            "fanfiction/topics.jsonl.gz",
            "fanfiction/authors50.jsonl.gz",
            (1.0, 2.0, 3.6, 5.0, 7.0),
        ),
        ("newsgroups", "newsgroups/train.jsonl.gz", "newsgroups/test.jsonl.gz", (2.0, 4.0, 5.0, 6.8, 8.0)),
    )
    for name, learn, release, bounds in sets:
        public, found = rows(data / learn), rows(data / release)
        found = [row for row in found if row.get("role", "unknown") == "unknown"]
        reference, judge = learned(public), Judge(public)
        documents, topics = indexed(reference, found), [row["topic"] for row in found]
        clean = judge.score([row["words"] for row in found], topics)
        for bound in bounds:
            made = Prototype(reference, bound=bound)
            facts = measured(
                made, documents, topics, judge, repeats if name == "authors50" else max(1, repeats // 10)
            )
            most = fidelity(bound, len(set(topics)))
            share = {key: round(facts[key] / (most * clean), 4) for key in ("topic", "right_label")}
            yield {"set": name, "bound": bound, "limit": round(most, 4), "clean": round(clean, 4), "share": share,
                   "topic": facts["topic"]}  # fmt: skip


def meaning(data: Path, repeats: int) -> Iterator[dict[str, Any]]:
    """Of the ten public documents nearest to the original, how many are among the 2 % nearest to the release."""
    public, found = rows(data / "newsgroups/train.jsonl.gz"), rows(data / "newsgroups/test.jsonl.gz")
    reference = learned(public)
    aspect = reference.aspect("meaning")
    known, asked = directions(aspect.positions(indexed(reference, public))), indexed(reference, found)
    places = directions(aspect.positions(asked))
    true = np.argsort(-(places @ known.T), axis=1)[:, :10]
    among = len(known) // 50

    def reached(points: Any) -> float:
        """The recall where each release is looked for from ``points``."""
        near = np.argpartition(-(directions(points) @ known.T), among, axis=1)[:, :among]
        return float(
            np.mean([len(set(a) & set(b)) / 10 for a, b in zip(true.tolist(), near.tolist(), strict=True)])
        )

    topics = sorted({row["topic"] for row in public})
    means = np.stack([known[[row["topic"] == topic for row in public]].mean(axis=0) for topic in topics])
    yield {
        "set": "meaning",
        "chance": 0.02,
        "true_topic": round(reached(means[[topics.index(r["topic"]) for r in found]]), 4),
    }
    for parameters in (
        *({"bound": bound} for bound in (5.0, 7.0, 8.0, 10.0)),
        *({"bound": 8.0, "length": n} for n in (100, 200)),
    ):
        made = Prototype(reference, preserve="meaning", **parameters)  # type: ignore[arg-type]
        drawn = made.draw(asked, [KEY.rng(f"meaning/{i}") for i in range(len(asked))])
        bags = [made.indices(outcome.bag.words()) for outcome in drawn]
        yield {
            "set": "meaning", **parameters, "prototypes": made.prototypes.size, "length": made.length,
            "by_prototype": round(reached(made.prototypes.points[[outcome.prototype for outcome in drawn]]), 4),
            "by_bag": round(reached(aspect.positions(bags)), 4),
        }  # fmt: skip
    position = make_document_mechanism("position", reference, preserve="meaning", bound=8.0)
    some = seeded_rng(5).choice(len(asked), 500, replace=False)
    drawn = position.draw([asked[i] for i in some.tolist()], [KEY.rng(f"position/{i}") for i in range(500)])
    true = true[some]
    yield {"set": "meaning", "mechanism": "position", "bound": 8.0,
           "by_bag": round(reached(aspect.positions([position.indices(o.bag.words()) for o in drawn])), 4)}  # fmt: skip


def words(data: Path, repeats: int) -> Iterator[dict[str, Any]]:
    """The paper's Laplace and the tight word mechanism beside the prototype, on authors50: nats at equal topic."""
    path = data / "fanfiction/topics.jsonl.gz"
    public = rows(path)
    found = [row for row in rows(data / "fanfiction/authors50.jsonl.gz") if row["role"] == "unknown"]
    topics = [row["topic"] for row in found]
    reference, judge = learned(public), Judge(public)
    documents = indexed(reference, found)
    few = max(1, repeats // 4)
    ours = [measured(Prototype(reference, bound=b), documents, topics, judge, repeats) for b in (3.6, 5.0)]
    yield from (
        {"set": "words", **{key: row[key] for key in ("mechanism", "bound", "topic", "same_topic_median")}}
        for row in ours
    )
    metric = TopicMetric("topic").fit(open_corpus(path, keep=("topic",), number=True), name="topics")
    glove = Embeddings.load()
    for name, vectors, length, epsilons in (
        ("laplace", glove, 236, (5.0 / 236 / 20, 8.0, 10.0, 12.0, 15.0)),
        ("tight", metric, 40, (5.0 / 40 / 11, 0.1, 0.2, 0.3, 0.5)),
    ):
        reach = (
            float(np.ptp(vectors.vectors, axis=0).max()) if name == "tight" else _diameter(vectors.vectors)
        )
        bags = [_encoded(row["text"], vectors, length) for row in found]
        for epsilon in epsilons:
            mechanism = make_mechanism(name, vectors, epsilon=epsilon)
            scores = []
            for repeat in range(few):
                rngs = [KEY.rng(f"{name}/{epsilon}/{repeat}/{i}") for i in range(len(bags))]
                out = [mechanism.randomize(bag, rng) for bag, rng in zip(bags, rngs, strict=True)]
                scores.append(judge.score([list(bag.words()) for bag in out], topics))
            bound = epsilon * length * reach  # nats between any two documents of so many words
            yield {"set": "words", "mechanism": name, "epsilon": round(epsilon, 4), "length": length,
                   "bound": round(bound, 1),
                   "topic": round(float(np.mean(scores)), 4), "nats_over_ours_at_5": round(bound / 5, 1)}  # fmt: skip


def _encoded(text: str, vectors: Embeddings, length: int) -> Any:
    from publius.text.bag import Bag

    unknown = "drop" if len(vectors.vectors) < 5000 else "unk"
    return Bag.from_text(text, vectors, length=length, unknown=unknown)  # type: ignore[arg-type]


def _diameter(vectors: Any) -> float:
    """The largest distance of two words, over the thousand farthest from the mean: a lower bound, kind to the paper."""
    far = vectors[np.argsort(-np.square(vectors - vectors.mean(axis=0)).sum(axis=1))[:1000]].astype(
        np.float64
    )
    return float(np.sqrt(((far[:, None, :] - far[None, :, :]) ** 2).sum(axis=2)).max())


def speed(data: Path, repeats: int) -> Iterator[dict[str, Any]]:
    """Where the time of a document of 100 words goes: processor time of whole runs in one process, least of five.

    ``text`` is reading and cutting alone, by the quickest way there is: what a run would take whose mechanism and
    output cost nothing. ``counts`` is the bare text path: the same and how often each text has each word, which a
    run never makes. (Earlier figures had an object for each text in ``text``, which a run no longer makes either.)
    """
    public = rows(data / "newsgroups/train.jsonl.gz")
    mechanism = make_document_mechanism("prototype", learned(public), bound=7.0)
    plan = Plan.of(ReleaseSettings(), mechanism)
    words = [word for row in public for word in row["text"].split()]
    count = len(words) // 100
    spent: dict[str, list[float]] = {"run": [], "mechanism": [], "text": [], "counts": []}

    def timed(name: str, step: Callable[..., Any], *given: Any) -> Any:
        start = time.process_time()
        result = step(*given)
        spent[name][-1] += (time.process_time() - start) / count * 1e6
        return result

    drawn = mechanism.draw_keyed
    mechanism.__dict__["draw_keyed"] = lambda *given: timed("mechanism", drawn, *given)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.jsonl"
        path.write_text(
            "".join(
                json.dumps({"id": str(i), "text": " ".join(words[i * 100 : (i + 1) * 100])}) + "\n"
                for i in range(count)
            ),
            encoding="utf-8",
        )
        corpus = open_corpus(path)
        for turn in range(6):  # the first meets every word for the first time
            for times in spent.values():
                times.append(0.0)
            timed("run", protect_corpus, corpus, plan, Path(folder) / f"{turn}")
            timed("text", _cut, corpus, plan, places_of_all)
            timed("counts", _cut, corpus, plan, counts_of)
    least = {name: round(min(times[1:]), 1) for name, times in spent.items()}
    shares = {name: round(least[name] / least["run"], 3) for name in ("mechanism", "text", "counts")}
    yield {"set": "speed", "documents": count, "microseconds": least, "share_of_run": shares}


def _cut(corpus: Corpus, plan: Plan, step: Callable[..., object]) -> None:
    """Read the texts and take them through ``step``, as many at once as a run does."""
    for batch in batches_of(corpus, default_batch_size(plan)):
        step([each.text for each in batch if isinstance(each, Document)], plan.vocabulary, plan.encoding)


PARTS = {part.__name__: part for part in (fanfiction, newsgroups, limit, meaning, words, speed)}


def main() -> None:
    """Print one JSON object for each row of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    asked = parser.parse_args()
    for name in asked.only:
        for found in PARTS[name](asked.data, asked.repeats):
            print(json.dumps(found, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
