"""Table 1 of the paper on public texts: ``python -m benchmarks.table1 DATA [--draws 1]``, minutes.

DATA holds the word2vec file of Google News and two sets of fan fiction (id, author, topic, role, text) as the paper describes
them, and the 20 newsgroups in two parts: the second corpus is made of these here.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

GROUPS = ("soc.religion.christian", "talk.politics.guns")
LENGTH = 300


def second_corpus(data, authors=10, length=LENGTH):
    """Of each group the authors with most text: two thirds of it known, 2,000 words at most, what follows unknown."""
    texts = {group: defaultdict(list) for group in GROUPS}
    for name in ("train", "test"):
        with gzip.open(data / "newsgroups" / f"{name}.jsonl.gz", "rt") as file:
            for post in map(json.loads, file):
                if post["topic"] in GROUPS:
                    texts[post["topic"]][post["author"]] += post["text"].split()
    for group, found in texts.items():
        for author in sorted(found, key=lambda each: -len(found[each]))[:authors]:
            words = found[author]
            cut = min(2_000, 2 * len(words) // 3)
            for role, part in (("known", words[:cut]), ("unknown", words[cut : cut + 3 * length])):
                yield {"author": f"{group} {author}", "topic": group, "role": role, "text": " ".join(part)}


def rows(command):
    """The command's table: what is right in each row, with its limits."""
    done = subprocess.run(
        [sys.executable, "-m", "publius", *map(str, command)], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    print(f"\n`{found['command']}`: {found['facts']['length']} words, {found['attackers'][0]['texts']} texts\n")
    table = defaultdict(list)
    for each in found["attackers"]:
        count, share = each["texts"], each["identified"]
        said = f"{count * share['share']:.3g} ({count * share['low']:.0f} to {count * share['high']:.0f})"
        table["none" if each["epsilon"] is None else f"{each['epsilon']:g}"].append(said)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--draws", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        news = Path(folder, "newsgroups.jsonl")
        news.write_text("".join(json.dumps(row) + "\n" for row in second_corpus(given.data)))
        vectors = next(given.data.glob("GoogleNews*.bin.gz"))
        for texts, more in (
            (given.data / "fanfiction" / "authors20.jsonl.gz", ()), (given.data / "fanfiction" / "authors50.jsonl.gz", ()),
            (news, ("--length", LENGTH)),
        ):  # fmt: skip
            asked = ("--embeddings", vectors, "--draws", given.draws, "--json")
            table = rows(["evaluate", texts, "--protocol", "paper", *more, *asked])  # says of what it is
            print("| epsilon | SRauth | SRtopic | DRauth | DRtopic |\n|---|---|---|---|---|")
            for epsilon, cells in table.items():
                print(f"| {epsilon} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
