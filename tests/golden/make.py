"""Write the golden files: run on commit 9c31968, version 0.2 as it was before the house was rebuilt.

To do it again, take a checkout of exactly that commit with its own environment, and run this file with its Python:

    git worktree add --detach ELSEWHERE 9c31968 && make -C ELSEWHERE setup
    ELSEWHERE/.venv/bin/python tests/golden/make.py

It refuses any other commit and a checkout that was changed: what is held against it must not move with the code.
``inputs`` are made of the toy vocabulary and of made-up public texts; ``written`` is what 0.2 wrote unseeded;
``seeded.json``, ``reading.json``, ``commands.json`` and ``python.json`` are what it answered.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMMIT = "9c31968"
HERE = Path(__file__).parent


def checkout() -> Path:
    """The checkout that the running Python's Publius is of; ends where it is not that commit, untouched."""
    import publius

    place = Path(publius.__file__).parents[2]

    def git(*arguments: str) -> str:
        return subprocess.check_output(["git", "-C", place, *arguments], text=True).strip()

    if not git("rev-parse", "HEAD").startswith(COMMIT) or git("status", "--porcelain"):
        sys.exit(f"{place} is not commit {COMMIT} without a change: see the head of {Path(__file__).name}")
    return place


def write(path: Path, lines: list[object]) -> None:
    """Text lines, or records as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def make_inputs(folder: Path) -> None:
    """Made texts: what a corpus may hold, as rows, a table and a folder; public texts; vectors of 60 words."""
    import letters
    from references import TOPICS, public_documents
    from toy import WORDS

    rng = random.Random(20)  # toy vectors
    texts = {
        "d1": letters.text("ada", 11, 30),
        "d2": "The " + letters.text("cyd", 12, 26).replace(" ", ", the ", 3) + "!",
        "d3": letters.text("ben", 13, 44),
        "d4": "River; Court. zzunknown judge's lawyer — 42 guitars, meadow apple orange lemon witness verdict",
        "d5": "",
        "d6": "The of and zzqq",
        "d7": " ".join(TOPICS["music"] * 3),
        "é8": letters.text("dot", 14, 21) + " Ärger 🙂",
    }
    authors = ["ada", "cyd", "ben", "ada", "ben", "cyd", "dot", "dot"]
    rows = [
        {"id": id, "text": text, "topic": "ab"[place % 2], "author": author}
        for place, ((id, text), author) in enumerate(zip(texts.items(), authors, strict=True))
    ]
    write(folder / "corpus.jsonl", list(rows))
    write(folder / "bad.jsonl", [rows[0], "{", rows[1], rows[0], {"id": "none"}, rows[2]])
    with (folder / "corpus.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    for id in ("d1", "d2", "d3", "d7"):
        write(folder / "texts" / f"{id}.txt", [texts[id]])
        write(folder / "public-texts" / f"{id}.txt", [texts[id]])
    public = [
        {"id": f"p{place}", "text": " ".join(words), "topic": topic, "author": "uvwxyz"[place % 6]}
        for place, (words, topic) in enumerate(public_documents())
    ]
    write(folder / "public.jsonl", list(public))
    labelled = [{**row, "text": row["text"][:400]} for row in letters.rows()]
    write(folder / "labelled.jsonl", list(labelled))
    vectors = [" ".join([word, *(f"{rng.gauss(0, 1):.5f}" for _ in range(8))]) for word in WORDS]
    write(folder / "vectors.txt", list(vectors))
    write(folder / "bad-vectors.txt", [*vectors[:5], "short 1.0 2.0"])
    write(folder / "words.txt", list(WORDS[:12]))
    write(folder / "prior.txt", [f"{word}\t{1 + place % 5}" for place, word in enumerate(WORDS)])


def keep(name: str, found: object) -> None:
    """One file of answers, a case a line."""
    lines = [f"{json.dumps(key)}: {json.dumps(each, ensure_ascii=False)}" for key, each in found.items()]  # type: ignore[attr-defined]
    (HERE / name).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Everything anew, in a folder that is taken over when all of it went well."""
    place = checkout()
    sys.path[:0] = [str(place / "tests"), str(HERE)]
    import cases

    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        make_inputs(work / "inputs")
        (work / "written").mkdir()
        with cases.inside(work):
            for name, line in cases.WRITING.items():
                code, _, said = cases.run(line)
                if code:
                    sys.exit(f"{name} failed: publius {line}\n{said}")
            shutil.copytree(work / "home", work / "written" / "home")
            for name in ("inputs", "written"):
                shutil.rmtree(HERE / name, ignore_errors=True)
                shutil.copytree(work / name, HERE / name)
            shutil.rmtree(work / "written" / "home")
            for name, found in cases.answers():
                keep(f"{name}.json", found)


if __name__ == "__main__":
    main()
