"""What readers learn from a summary of real posts: labels by naive Bayes, and which words are typical of a label."""

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from publius.collections.contributions import Contributions
from publius.evaluation.steps.learning import learn
from publius.noise.randomness import RunKey, seeded_rng
from publius.releases.summaries.said import Said
from publius.releases.summaries.summary import Summary
from publius.settings import PublicWordSettings
from publius.text.tokenizer import StopWords, tokenize
from publius.vectors.learning.public_themes import counted

POSTS = Path(__file__).parents[4] / "shared" / "data" / "newsgroups"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not POSTS.exists(), reason="the research data beside the project is not here"),
]
RIGHT = {"0.5": 0.56, "1": 0.58, "2": 0.59}
TYPICAL = {"0.5": 0.84, "1": 0.86, "2": 0.87}


@pytest.fixture(scope="module")
def posts():
    """Public posts, posts to label, and one post of each other author; all of different authors."""
    found = []
    for name in ("train", "test"):
        with gzip.open(POSTS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            found += map(json.loads, lines)
    for place, post in enumerate(found):
        post["author"] = post["author"] or f"anon{place}"
    rng = np.random.default_rng(1)
    authors = np.array(sorted({post["author"] for post in found}))
    rng.shuffle(authors)
    first, second = int(0.2 * len(authors)), int(0.35 * len(authors))
    sides = [set(authors[:first]), set(authors[first:second]), set(authors[second:])]
    public, others, private = ([post for post in found if post["author"] in side] for side in sides)
    return (
        public,
        others,
        list({private[at]["author"]: private[at] for at in rng.permutation(len(private))}.values()),
    )


@pytest.fixture(scope="module")
def reference(posts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("news")
    path = folder / "public.jsonl"
    path.write_text(
        "".join(json.dumps({key: post[key] for key in ("text", "author")}) + "\n" for post in posts[0])
    )
    patch = pytest.MonkeyPatch()
    patch.setenv("PUBLIUS_HOME", str(folder / "home"))
    yield learn(path, "news", words=PublicWordSettings(author_field="author"))
    patch.undo()


def test_labels_and_words_are_learned_from_a_summary(posts, reference, monkeypatch):
    """A little below what docs/summaries.md states, of one draw whose noise is the same each time."""
    _, others, private = posts
    labels = sorted({post["topic"] for post in private})
    summaries = {
        epsilon: Summary(reference, epsilon, by={"topic": labels}, shares="themes=1") for epsilon in RIGHT
    }
    summary = summaries["1"]
    themes, stops = summary.spaces.themes, StopWords.load("english")
    counts = [
        counted([Counter(word for word in tokenize(post["text"]) if word not in stops) for post in some],
                themes.vocabulary)
        for some in (others, private)
    ]  # fmt: skip
    contributions = Contributions(RunKey.fresh(), 1)
    summary.count(summary.rows(private), contributions)
    truth = np.array([labels.index(post["topic"]) for post in others])
    own = np.array([labels.index(post["topic"]) for post in private])
    shares = np.vstack([np.asarray((counts[1][own == each] > 0).mean(axis=0)).ravel() for each in range(20)])
    above = shares - np.asarray((counts[1] > 0).mean(axis=0)).ravel()
    fifty = [{themes.vocabulary[place] for place in np.argsort(-row)[:50].tolist()} for row in above]
    for epsilon, each in summaries.items():
        monkeypatch.setattr("publius.releases.summaries.summary.system_rng", lambda: seeded_rng(1))
        said = Said(each.draw(contributions.cells))
        words, rows = np.zeros((21, len(themes.vocabulary))), np.zeros(21)
        for stratum, _, bags in said.rows(seeded_rng(2)):
            words[stratum] += np.bincount(bags.flat, minlength=words.shape[1])
            rows[stratum] += len(bags.starts) - 1
        likely = words[:20] + 0.1
        likely = np.log(likely / likely.sum(axis=1, keepdims=True)).T
        found = (counts[0] @ likely + np.log((rows[:20] + 1) / rows.sum())).argmax(axis=1)
        typical = [len(fifty[place] & set(said.typical_words[place])) / 10 for place in range(20)]
        assert (found == truth).mean() >= RIGHT[epsilon]
        assert np.mean(typical) >= TYPICAL[epsilon]
