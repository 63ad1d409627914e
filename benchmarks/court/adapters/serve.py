"""Answers an audit's questions about a mechanism, in the tool's own environment: it uses no module of Publius.

An adapter reads ``NAME WORLD EPSILON`` from its command line: the mechanism, a file of words with their vectors, and
what the tool is given.
"""

import contextlib
import json
import os
import sys
from pathlib import Path


class World:
    """The words and their vectors."""

    def __init__(self, path):
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        self.words, self.vectors = found["words"], found["vectors"]

    def word2vec(self, path, header=True):
        """The same in the format of word2vec, where a tool reads a file."""
        first = [f"{len(self.words)} {len(self.vectors[0])}"] if header else []
        rows = [" ".join([word, *map(repr, vector)]) for word, vector in zip(self.words, self.vectors, strict=True)]
        Path(path).write_text("\n".join([*first, *rows]) + "\n", encoding="utf-8")
        return str(path)


def main(makers):
    """Make the mechanism that is named and answer lines of JSON until there are no more."""
    name, path, epsilon = sys.argv[1:4]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a tool prints is no answer
    world = World(path)
    only, _, name = name.rpartition("/")
    with contextlib.redirect_stdout(sys.stderr):
        call = makers[name](world, float(epsilon))
        for line in sys.stdin:
            asked = json.loads(line)
            answers.write(json.dumps(answer(asked, call, world if only == "known" else None)) + "\n")
            answers.flush()


def answer(asked, call, known):
    """Outputs; null for a draw that raised. With ``known``, words of no vocabulary are refused here."""
    given = asked["input"]
    if "count" not in asked:
        return {}
    words = given if isinstance(given, list) else given.split()
    if known is not None and not all(word in known.words for word in words):
        return {"refused": "known words only"}
    if asked.get("forked"):
        return {"forked": [forked(asked, call) for _ in range(2)]}
    return {"outputs": [one(call, given) for _ in range(asked["count"])]}


def one(call, given):
    try:
        return call(given)
    except Exception as error:  # a refusal, whatever it says
        print(type(error).__name__, file=sys.stderr)
        return None


def forked(asked, call):
    reading, writing = os.pipe()
    if os.fork() == 0:
        with os.fdopen(writing, "w") as pipe:
            json.dump([one(call, asked["input"]) for _ in range(asked["count"])], pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found = json.load(pipe)
    os.wait()
    return found
