"""What classifiers get right on 20 newsgroups, before noise and at epsilon 5: ``python -m benchmarks.classifiers DATA``.

DATA holds train.jsonl.gz and test.jsonl.gz (topic, author, text). ``--encoder`` adds what the sentence encoder does:
some minutes.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from publius.classifiers.classifier import Names
from publius.classifiers.encoder import load_encoder
from publius.classifiers.subjects import Subjects
from publius.classifiers.topics import TopicClassifier
from publius.mechanisms.randomized_response import RandomizedResponse

DESCRIPTIONS = {
    "alt.atheism": "atheism and the existence of god", "comp.graphics": "computer graphics, images and rendering",
    "comp.os.ms-windows.misc": "Microsoft Windows operating system",
    "comp.sys.ibm.pc.hardware": "PC hardware, drives, controllers and cards",
    "comp.sys.mac.hardware": "Apple Macintosh hardware", "comp.windows.x": "X Window System programming",
    "misc.forsale": "items for sale, price and shipping", "rec.autos": "cars and driving",
    "rec.motorcycles": "motorcycles and riding bikes", "rec.sport.baseball": "baseball teams, players and games",
    "rec.sport.hockey": "ice hockey teams, players and games",
    "sci.crypt": "encryption, keys and the clipper chip",
    "sci.electronics": "electronic circuits and components", "sci.med": "medicine, diseases and doctors",
    "sci.space": "space flight, orbits and NASA", "soc.religion.christian": "Christian faith, Jesus and the Bible",
    "talk.politics.guns": "guns and gun control laws", "talk.politics.mideast": "Israel, Arabs, Turkey and Armenia",
    "talk.politics.misc": "politics, government and the president",
    "talk.religion.misc": "religious debates and cults",
}  # fmt: skip


def read(folder, name):
    with gzip.open(Path(folder, f"{name}.jsonl.gz"), "rt") as file:
        return [json.loads(line) for line in file]


def column(posts, name):
    return [post[name] for post in posts]


def trained(what, learn, test, encoder=None):
    made = TopicClassifier.train(
        column(learn, "text"), column(learn, "topic"), authors=column(learn, "author"), encoder=encoder
    )
    right = np.mean(np.array(made.predict(column(test, "text"))) == np.array(column(test, "topic")))
    kept = RandomizedResponse(made, 5)
    released = right * kept.kept + (1 - right) * (1 - kept.kept) / (len(made.labels) - 1)
    said = f"{made.accuracy['share']:.3f} ({made.accuracy['low']:.3f} to {made.accuracy['high']:.3f})"
    print(
        f"{what}: {len(learn):,} posts, {made.meta.settings['rule']}: right {right:.3f}, at epsilon 5 {released:.3f}; "
        f"cross-validated {said}"
    )


def main(folder, encoded):
    train, test = read(folder, "train"), read(folder, "test")
    seen = {post["author"] for post in train if post["author"]}
    trained("words, authors of test not in train", train, [post for post in test if post["author"] not in seen])
    posts = [*train, *test]
    subjects = Subjects()
    found = subjects.answers(column(posts, "text"))
    share = np.bincount(found).max() / len(found)
    told = normalized_mutual_info_score(column(posts, "topic"), found)
    print(f"{len(subjects.labels) - 1} subjects: mutual information {told:.3f}, largest {share:.1%}")
    if not encoded:
        return
    encoder = load_encoder()
    authors = sorted({post["author"] or f"anon{row}" for row, post in enumerate(posts)})
    np.random.default_rng(1).shuffle(authors)
    side = {a: 0 if i < 0.2 * len(authors) else 1 if i < 0.35 * len(authors) else 2 for i, a in enumerate(authors)}
    sides = [side[post["author"] or f"anon{row}"] for row, post in enumerate(posts)]
    public = [post for post, at in zip(posts, sides, strict=True) if at == 0]
    others = [post for post, at in zip(posts, sides, strict=True) if at == 1]
    trained("words and encoder", public, others, encoder)
    own = [post for post, at in zip(train, sides, strict=False) if at != 1]
    trained("words and encoder, all of train", own, others, encoder)
    names = Names([*DESCRIPTIONS], encoder, descriptions=[*DESCRIPTIONS.values()])
    right = np.mean(np.array(names.predict(column(posts, "text"))) == np.array(column(posts, "topic")))
    print(f"names with descriptions, threshold {names.threshold}, all posts: right {right:.3f}")


if __name__ == "__main__":
    main(sys.argv[1], "--encoder" in sys.argv)
