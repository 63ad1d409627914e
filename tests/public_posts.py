"""Public posts that are made up, on four topics by twelve authors, and texts that try to change how others are read."""

from hostile_text import HOSTILE
from publius.noise.randomness import seeded_rng
from toy import WORDS

TOPICS = {
    "places": WORDS[:12], "school": WORDS[12:24], "people": WORDS[20:36], "nature": WORDS[36:60],
}  # fmt: skip


def posts(count=160, seed=1, words=12):
    """(texts, topics, authors): nine of ten words are of the topic, two carry an author's own made-up word."""
    rng = seeded_rng(seed)
    texts, topics, authors = [], [], []
    for number in range(count):
        topic = [*TOPICS][number % 4]
        own = TOPICS[topic]
        some = [own[k] if rng.random() < 0.9 else WORDS[k] for k in rng.integers(0, len(own), words).tolist()]
        author = f"author {number // 4 % 12}"
        texts.append(" ".join([*some, f"zqx{number // 4 % 12}k"]))
        topics.append(topic)
        authors.append(author)
    return texts, topics, authors


HOSTILE_NEIGHBOURS = [
    "", " ", "\0", "a" * 3000, "river " * 2000, " ".join(WORDS * 20), *(each * 300 for each in HOSTILE.values()),
]  # fmt: skip


def alone_and_beside(classifier, texts):
    """The answers of each text alone, and those of the same texts among hostile ones, turned round."""
    alone = [int(classifier.answers([text])[0]) for text in texts]
    mixed = [*HOSTILE_NEIGHBOURS, *reversed(texts), *HOSTILE_NEIGHBOURS]
    begin = len(HOSTILE_NEIGHBOURS)
    beside = classifier.answers(mixed).tolist()[begin : begin + len(texts)][::-1]
    return alone, beside
