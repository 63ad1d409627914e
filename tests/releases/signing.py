"""What is signed in tests: releases, the private file of one, an evaluation."""

import json

from manifests import BAG, drawn, values_of, words_of
from publius.classifiers.classifier import Values
from publius.releases.manifest import ClassifierFacts

WORDS = words_of()
STATED = {name: getattr(WORDS, name) for name in (
    "epsilon", "mechanism", "mechanism_parameters", "length", "metric", "unknown", "stop_words", "stop_words_sha256", "tokenizer",
)}  # fmt: skip
ROWS = [{"id": str(number), "label": "open"} for number in range(1, 13)]


def values_in(folder, **more):
    """12 documents of a declared column, with a kept one."""
    classifier = ClassifierFacts(name="status", kind="values", sha256=Values(["open", "closed"]).sha256)
    return drawn(folder, values_of(**{"kept": ("district",), "classifier": classifier} | more), ROWS)


def words_in(folder):
    return drawn(folder, WORDS, [BAG])


def private_at(path):
    """Author a1 wrote 8 documents, b1 two, three others one each; "closed" was written by two."""
    rows = [{"status": "open", "author": "a1", "district": "North"}] * 7
    rows += [{"status": "open", "author": f"b{n}", "district": "North"} for n in range(4)]
    rows += [{"status": "closed", "author": name, "district": "North"} for name in ("A1 ", "b1")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def evaluation(folder, **more):
    def interval(share):
        return {"share": share, "low": round(share - 0.05, 9), "high": round(share + 0.05, 9)}

    def attack(name, found, epsilon=10.0, task="author"):
        return {
            "attacker": name, "mechanism": WORDS.mechanism, "knows": "other texts of the authors", "task": task, "epsilon": epsilon, "authors": 120,
            "identified": interval(found), "baseline": interval(0.1), "clear": interval(0.7), "more": "is ignored",
        }  # fmt: skip

    attacks = [attack("style", 0.12), attack("words", 0.23), attack("words", 0.99, epsilon=20.0)]
    folder.mkdir()
    facts = {
        "as_is": False, "candidates": 50.0, "command": "publius evaluate FILE", "kind": "words",
        "attackers": [*attacks, attack("topic", 0.9, task="topic")], "public": [{"sha256": WORDS.vocabulary_sha256}],
        "facts": {"stated": [STATED, STATED | {"epsilon": 20.0}]},
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps(facts | more))
    return folder
