"""Authors and topics made up for tests: each has favorite words among those of the toy vocabulary."""

import json

from publius.evaluation.protectors import Protector
from publius.evaluation.readings import Reading
from publius.mechanisms.lifted import Lifted
from publius.noise.randomness import seeded_rng
from toy import WORDS

AUTHORS = ("ada", "ben", "cyd", "dot")
TOPICS = {"ada": "sea", "ben": "sea", "cyd": "court", "dot": "court"}


def text(author, seed, count=120):
    """``count`` words: four in ten the author's own, three in ten the topic's, the rest anyone's."""
    rng = seeded_rng(1000 * AUTHORS.index(author) + seed)
    own = WORDS[5 * AUTHORS.index(author) :][:5]
    topical = WORDS[30:37] if TOPICS[author] == "sea" else WORDS[37:44]
    pools = [own, topical, WORDS]
    kinds = rng.choice(3, count, p=[0.4, 0.3, 0.3])
    return " ".join(pools[kind][int(rng.integers(len(pools[kind])))] for kind in kinds)


def rows(**changes):
    """A known and an unknown text of each author."""
    found = [
        {
            "id": f"{author}-{role}",
            "author": author,
            "topic": TOPICS[author],
            "role": role,
            "text": text(author, place),
        }
        for author in AUTHORS
        for place, role in enumerate(("known", "unknown"))
    ]
    return [{**row, **changes} for row in found]


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def over_words(kernel, size):
    """A kernel lifted to bags of ``size`` words, in an evaluation in its own metric."""
    reading = Reading(kernel.embeddings, size, "unk")
    return Protector(Lifted(kernel, size), reading, metric="euclidean")
