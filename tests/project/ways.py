"""Four options from the command to their effect: python tests/project/ways.py [CHECKOUT] [--json]

Runs a small release with the source of a checkout (default: this one) and prints, for epsilon, length, bound and the
reference, each call that hands the option from one room of the package to another: the value itself, settings that have
it, or what they were made of. ``ways_0_2.json`` beside this file holds the ways in commit 9c31968.
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
HOLDERS = {"ReleaseSettings", "WordRelease", "DocumentRelease", "MechanismSettings", "TextSettings"}
WORDS = ("--epsilon", "3.1875", "--length", "7", "--embeddings", "toy")
TOPIC = ("--preserve", "topic", "--reference", "./reference", "--bound", "6.4375")
OPTIONS = {
    "epsilon": (3.1875, WORDS), "length": (7, WORDS), "bound": (6.4375, TOPIC), "reference": ("./reference", TOPIC)
}  # fmt: skip


def holds(value, name, wanted):
    """Whether an argument is the option's value, settings that have it, or what they were made of."""
    if type(value) is type(wanted):
        return value == wanted
    if type(value).__name__ in HOLDERS:
        return getattr(value, name, None) == wanted
    return isinstance(value, dict) and value.get(name) == wanted


def place(frame, package):
    """Room and function of a frame of the package; None of any other."""
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(package):
        return None
    return path.relative_to(package).parts[0].removesuffix(".py"), frame.f_code.co_name


def calls_with(name, wanted, run, package=HERE / "src" / "publius"):
    """Each call of ``run`` that hands the value over: the caller's room and function, and those of the called."""
    found = []

    def look(frame, event, _):
        if event != "call" or (called := place(frame, package)) is None:
            return
        code = frame.f_code
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 8)]
        if not any(holds(frame.f_locals.get(each), name, wanted) for each in arguments):
            return
        above = frame.f_back
        while above is not None and place(above, package) is None:
            above = above.f_back
        if above is not None:
            found.append((place(above, package), called))

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(before)
    return list(dict.fromkeys(found))


def prepare(folder):
    """Texts, vectors and a reference for a small release."""
    import numpy as np

    from publius.noise.randomness import seeded_rng
    from publius.vectors.embeddings import Embeddings
    from references import TOPICS, fitted
    from toy import WORDS as VOCABULARY
    from toy import sentence

    texts = [sentence(seed, 40) for seed in range(2)] + [" ".join(words) for words in TOPICS.values()]
    rows = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    vectors = seeded_rng(20).standard_normal((len(VOCABULARY), 8), np.float32)
    Embeddings.from_arrays(VOCABULARY, vectors, name="toy", tokenizer="word2vec").save(folder / "toy")
    fitted().save(folder / "reference")


def way(checkout, name):
    """The calls between rooms that hand the option over, in the working folder; run in a process of its own."""
    from publius.cli import app

    wanted, options = OPTIONS[name]
    command = ["obfuscate", "texts.jsonl", *options, "--workers", "1", "--output", f"out-{name}"]

    def run():
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            app(command, standalone_mode=False)

    calls = calls_with(name, wanted, run, checkout / "src" / "publius")
    assert Path(f"out-{name}", "manifest.json").exists(), "nothing was released"
    return [[".".join(one), ".".join(other)] for one, other in calls if one[0] != other[0]]


def ways(checkout):
    """For each option its way."""
    search = os.pathsep.join(str(checkout / each) for each in ("src", "tests"))
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": search, "PUBLIUS_HOME": folder}
        call = [sys.executable, __file__, str(checkout), "--apart"]
        subprocess.run([*call, "prepare"], cwd=folder, env=environment, check=True)
        return {
            name: json.loads(subprocess.check_output([*call, name], cwd=folder, env=environment))
            for name in OPTIONS
        }


def main():
    """Print the ways."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", nargs="?", type=Path, default=HERE)
    parser.add_argument("--json", action="store_true", help="Print one JSON object.")
    parser.add_argument("--apart", help=argparse.SUPPRESS)
    given = parser.parse_args()
    checkout = given.checkout.resolve()
    if given.apart == "prepare":
        prepare(Path.cwd())
    elif given.apart:
        print(json.dumps(way(checkout, given.apart)))
    elif given.json:
        print(json.dumps(ways(checkout), indent=1))
    else:
        for name, calls in ways(checkout).items():
            print(name)
            for one, other in calls:
                print(f"    {one} -> {other}")


if __name__ == "__main__":
    main()
