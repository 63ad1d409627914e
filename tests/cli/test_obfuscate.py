"""``publius obfuscate`` and ``publius demo`` as a user runs them: files in, files out, codes and messages."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from held import held
from publius.files.placed import STOPPING
from publius.vectors.embeddings import Embeddings
from released import completed as publius
from toy import WORDS, sentence


def in_a_shell(*arguments):
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "publius", *map(str, arguments)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def obfuscate(corpus, output, *arguments, run=publius):
    choices = ("--epsilon", 2, "--output", output, "--embeddings", "toy", "--length", 20)
    return run("obfuscate", corpus, *choices, *arguments)


def bags(output):
    return [json.loads(line) for line in (output / "bags.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(autouse=True)
def _stored(stored):
    """Every test here finds the toy vectors in the store."""


def test_bags_and_manifest(corpus_file, tmp_path):
    done = obfuscate(corpus_file, tmp_path / "out", "--keep", "topic", "--json")
    assert done.returncode == 0, done.stderr
    rows, manifest = bags(tmp_path / "out"), json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [row["id"] for row in rows] == [f"doc{i}" for i in range(12)]
    assert all(
        row["size"] == sum(row["bag"].values()) == 20 and set(row["bag"]) <= set(WORDS) for row in rows
    )
    assert all(list(row["bag"]) == sorted(row["bag"], key=WORDS.index) for row in rows)
    assert [row["topic"] for row in rows] == list("ab") * 6
    assert manifest["private"] is True
    assert manifest["epsilon_total"] == 40
    assert manifest["documents"] == 12
    summary = json.loads(done.stdout)
    assert summary["words"] == 240
    assert set(manifest) <= set(summary)


def test_json_is_all_there_is_on_standard_output(corpus_file, tmp_path):
    done = obfuscate(corpus_file, tmp_path / "out", "--json", run=in_a_shell)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_a_terminal_is_told_what_takes_its_time(corpus_file, tmp_path):
    call = [sys.executable, "-m", "publius", "obfuscate", corpus_file, "--output", tmp_path / "out", "--json",
            "--embeddings", "toy", "--mechanism", "exponential", "--epsilon", "2", "--length", "shortest"]  # fmt: skip
    terminal, other_end = os.openpty()
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=other_end, text=True) as run:
        os.close(other_end)
        shown = b""
        with contextlib.suppress(OSError):  # Linux says so when the other end is closed
            while part := os.read(terminal, 4096):
                shown += part
        assert json.loads(run.communicate()[0])["documents"] == 12
    os.close(terminal)
    assert b"certifying the mechanism" in shown
    assert b"looking for the shortest document" in shown


def test_summary_for_people_holds_the_promise(corpus_file, tmp_path):
    done = obfuscate(corpus_file, tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["promise"] in done.stdout
    assert "thousands of nats" in manifest["promise"]


@pytest.mark.parametrize("format", ["csv", "parquet", "mtx"])
def test_other_formats_change_the_bags_file_only(corpus_file, tmp_path, format):
    assert obfuscate(corpus_file, tmp_path / "out", "--format", format).returncode == 0
    assert (tmp_path / "out" / f"bags.{format}").exists()
    assert (tmp_path / "out" / "manifest.json").exists()
    assert not (tmp_path / "out" / "bags.jsonl").exists()


def test_workers_and_batches_change_no_byte(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(
        "".join(json.dumps({"id": i, "text": sentence(i)}) + "\n" for i in range(900)), encoding="utf-8"
    )
    made = []
    for workers in (1, 3):
        out = tmp_path / f"out{workers}"
        done = obfuscate(corpus, out, "--experiment", "--seed", "7", "--workers", workers)
        assert done.returncode == 0, done.stderr
        made.append((out / "bags.jsonl").read_bytes())
    assert made[0] == made[1]


def test_two_releases_differ(corpus_file, tmp_path):
    for name in "ab":
        assert obfuscate(corpus_file, tmp_path / name).returncode == 0
    assert bags(tmp_path / "a") != bags(tmp_path / "b")


def test_shortest_length_is_stated_as_taken_from_the_documents(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"id": i, "text": sentence(i, 10 + i)} for i in range(5)]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = publius(
        "obfuscate",
        corpus,
        "--epsilon",
        1,
        "--output",
        tmp_path / "out",
        "--embeddings",
        "toy",
        "--length",
        "shortest",
    )
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["size"], manifest["size_from"]) == (10, "the shortest of the documents")


def test_folder_of_texts_is_numbered_never_named(tmp_path):
    """R15: file names are private."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("canaryname-b.txt", "canaryname-a.txt"):
        (folder / name).write_text(sentence(1), encoding="utf-8")
    assert obfuscate(folder, tmp_path / "out").returncode == 0
    assert [row["id"] for row in bags(tmp_path / "out")] == ["1", "2"]
    assert not any(b"canaryname" in path.read_bytes() for path in (tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--seed", "1"], 77, "--experiment"),
        (["--keep-between", "all"], 2, "--order"),
        (["--unknown", "keep"], 77, "experiment"),
        (["--unknown", "vanish"], 2, "unk, drop, reject"),
        (["--epsilon", "0"], 2, "epsilon"),
        (["--epsilon", "nan"], 2, "epsilon"),
        (["--epsilon", "1e9"], 2, "epsilon"),
        (["--length", "0"], 2, "--length"),
        (["--length", "many"], 2, "--length"),
        (["--mechanism", "magic"], 2, "laplace"),
        (["--metric", "cosine"], 2, "euclidean"),
        (["--format", "xml"], 2, "jsonl"),
        (["--stop-words", "klingon"], 2, "english"),
        (["--embeddings", "missing"], 2, "missing"),
        (["--keep", "size"], 2, "size"),
        (["--keep", "topic", "--subject-field", "topic"], 77, "leave it out of --keep"),
        (["--keep", "absent"], 65, "absent"),
        (["--text-field", "absent"], 65, "absent"),
        (["--id-field", "absent"], 65, "absent"),
        (["--workers", "0"], 2, "workers"),
        (["--nonsense"], 2, "nonsense"),
    ],
)
def test_wrong_calls(corpus_file, tmp_path, arguments, code, said):
    done = obfuscate(corpus_file, tmp_path / "out", *arguments)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "out").exists()
    assert "Traceback" not in done.stderr


def test_missing_input(tmp_path):
    done = obfuscate(tmp_path / "nowhere.jsonl", tmp_path / "out")
    assert done.returncode == 74
    assert not (tmp_path / "out").exists()


def test_output_that_exists_is_not_touched(corpus_file, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    done = obfuscate(corpus_file, tmp_path / "out")
    assert done.returncode == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


@pytest.fixture
def broken_corpus(corpus_file):
    lines = corpus_file.read_bytes().splitlines(keepends=True)
    lines[4] = b'{"id": "bad", "text": "canary\xff"}\n'
    lines[7] = b'{"id": "hollow", "text": "  "}\n'
    corpus_file.write_bytes(b"".join(lines))
    return corpus_file


def test_bad_document_stops_the_run_without_output(broken_corpus, tmp_path):
    done = obfuscate(broken_corpus, tmp_path / "out")
    assert done.returncode == 65
    assert "document 5" in done.stderr
    assert "--skip-bad" in done.stderr
    assert "canary" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


@pytest.mark.parametrize("length", ["20", "shortest"])
def test_bad_documents_are_left_out_on_request(broken_corpus, tmp_path, length):
    done = obfuscate(
        broken_corpus, tmp_path / "out", "--skip-bad", "--json", "--length", length, "--accept-loss"
    )
    assert done.returncode == 0, done.stderr
    skipped = json.loads(done.stdout)["skipped"]
    assert [bad["position"] for bad in skipped] == [5]
    made = bags(tmp_path / "out")
    assert len(made) == json.loads(done.stdout)["documents"] == 11
    assert json.loads(done.stdout)["missing"] == 1
    assert made[6]["id"] == "hollow", "a document without words is there"


def test_rejected_unknown_words_stop_the_run_unnamed(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"id": "a", "text": "river zzcanary"}) + "\n", encoding="utf-8")
    done = obfuscate(corpus, tmp_path / "out", "--unknown", "reject")
    assert done.returncode == 65
    assert "canary" not in done.stderr + done.stdout


def test_experiment_keeps_order_and_unknown_words(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"id": "a", "text": "river zzz castle"}) + "\n", encoding="utf-8")
    done = obfuscate(
        corpus,
        tmp_path / "out",
        "--experiment",
        "--order",
        "--unknown",
        "keep",
        "--epsilon",
        "1e5",
        "--length",
        "3",
    )
    assert done.returncode == 0, done.stderr
    row = bags(tmp_path / "out")[0]
    assert row["words"] == ["river", "zzz", "castle"]
    assert row["warning"].startswith("NOT PRIVATE")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["private"] is False


def test_bug_is_reported_without_text(monkeypatch, capsys):
    """R17: an unexpected exception shows its type and place, never its message."""
    from publius import cli

    def fail(**_):
        raise RuntimeError("canary")

    monkeypatch.setattr(cli, "asked", lambda words: fail)
    with pytest.raises(SystemExit) as left:
        cli.main()
    shown = capsys.readouterr().err
    assert left.value.code == 70
    assert "RuntimeError at test_obfuscate.py" in shown
    assert "canary" not in shown


def test_entropy_failure_leaves_nothing(corpus_file, tmp_path, monkeypatch):
    """R7."""
    from publius.documents.corpus import open_corpus
    from publius.errors import EntropyError
    from publius.mechanisms.kernels.laplace import Laplace
    from publius.releases.engines import protect_corpus
    from publius.releases.plan import Plan
    from publius.text.bag import Encoding
    from publius.text.tokenizer import StopWords

    plan = Plan(
        Laplace(Embeddings.load("toy"), epsilon=1.0), Encoding(20, "unk", StopWords.load("none"), "word2vec")
    )
    monkeypatch.setattr(os, "urandom", lambda count: b"")
    with pytest.raises(EntropyError):
        protect_corpus(open_corpus(corpus_file), plan, tmp_path / "out", workers=1)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.long),
     pytest.param(signal.SIGHUP, 129, marks=pytest.mark.long)],
)  # fmt: skip
def test_a_signal_leaves_nothing_behind(corpus_file, tmp_path, number, code):
    command = ["obfuscate", corpus_file, "--epsilon", 1, "--embeddings", "toy", "--output", tmp_path / "out"]
    command += ["--length", 20, "--workers", 1]
    with held(command, "bags.jsonl", stderr=subprocess.PIPE, text=True) as run:
        assert list(tmp_path.glob(".publius-*"))
        run.send_signal(number)
        said = run.communicate(timeout=600)[1]
    assert run.returncode == code
    assert "nothing was released" in said
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


@pytest.fixture
def _signals_as_before():
    before = {number: signal.getsignal(number) for number in STOPPING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_signals_as_before")
def test_a_signal_while_the_workers_are_started_is_no_bug(tmp_path, monkeypatch, stored, capsys):
    from concurrent.futures import ProcessPoolExecutor

    from publius.cli import main

    corpus = tmp_path / "corpus.jsonl"
    texts = [sentence(i) for i in range(50)]
    corpus.write_text("".join(json.dumps({"id": i, "text": texts[i % 50]}) + "\n" for i in range(3_000)))

    def submit(pool, *_):
        pool._executor_manager_thread = threading.Thread()  # made, and about to be started
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", submit)
    call = f"publius obfuscate {corpus} --epsilon 1 --embeddings {stored} --output {tmp_path / 'out'}"
    monkeypatch.setattr(sys, "argv", [*call.split(), "--length", "20", "--workers", "2"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 128 + signal.SIGTERM
    assert capsys.readouterr().err.endswith("interrupted; nothing was released under the final name\n")
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


@pytest.mark.parametrize("sink", ["/dev/full", "closed"])
def test_a_summary_that_cannot_be_printed_says_that_the_release_is_complete(corpus_file, tmp_path, sink):
    command = [
        sys.executable,
        "-m",
        "publius",
        "obfuscate",
        str(corpus_file),
        "--epsilon",
        "1",
        "--embeddings",
        "toy",
    ]
    command += ["--output", str(tmp_path / "out"), "--length", "20"]
    shell = (
        f"{shlex.join(command)} > /dev/full"
        if sink == "/dev/full"
        else f"({shlex.join(command)}; echo $? >&2) | true"
    )
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert "is complete" in done.stderr
    assert "74" in done.stderr or done.returncode == 74
    assert (tmp_path / "out" / "manifest.json").exists()


def test_help_imports_no_mathematics():
    heavy = "{'numpy', 'scipy', 'pyarrow', 'ot', 'matplotlib'}"
    script = f"import sys, publius.cli; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_runs_under_python_o(corpus_file, tmp_path):
    """R22: guards hold without asserts."""
    done = subprocess.run(
        [sys.executable, "-O", "-m", "publius", "obfuscate", str(corpus_file), "--epsilon", "1", "--output",
         str(tmp_path / "out"), "--embeddings", "toy", "--unknown", "keep"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 77
    assert not Path(tmp_path / "out").exists()


# Standard output --------------------------------------------------------------------------------------------


def test_bags_go_to_standard_output_and_all_else_to_standard_error(corpus_file, tmp_path):
    done = obfuscate(corpus_file, "-", "--manifest", tmp_path / "manifest.json", run=in_a_shell)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["id"] for row in rows] == [f"doc{i}" for i in range(12)]
    assert json.loads((tmp_path / "manifest.json").read_text())["documents"] == 12
    assert done.stderr.startswith("Documents are published under the ids in your field 'id'")
    assert "Released to standard output" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_nothing_is_sent_before_it_is_charged(corpus_file, tmp_path):
    book = tmp_path / "book.ledger"
    assert publius("ledger", "init", book, "--budget", "39").returncode == 0
    refused = obfuscate(corpus_file, "-", "--ledger", book, run=in_a_shell)  # a document costs 40
    assert (refused.returncode, refused.stdout) == (77, "")


def test_a_reader_that_goes_away_is_told_of_and_all_stays_charged(tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_text("".join(json.dumps({"id": str(i), "text": sentence(i)}) + "\n" for i in range(2_000)))
    book = tmp_path / "book.ledger"
    assert publius("ledger", "init", book, "--budget", "40").returncode == 0
    call = [sys.executable, "-m", "publius", "obfuscate", many, "--epsilon", "2", "--embeddings", "toy",
            "--length", "20", "--output", "-", "--ledger", book]  # fmt: skip
    with subprocess.Popen(
        list(map(str, call)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout.readline().startswith('{"id": "0"')
        run.stdout.close()
        said = run.stderr.read()
    assert run.returncode == 74, said
    assert "stay charged" in said
    again = obfuscate(many, "-", "--ledger", book)
    assert (again.returncode, again.stdout) == (77, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--format", "csv"], "takes JSON lines"), (["--resume"], "cannot be gone on with")],
)
def test_what_standard_output_cannot_have(corpus_file, arguments, message):
    done = obfuscate(corpus_file, "-", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_the_length_is_taken_from_public_texts(tmp_path):
    for name, words in (("public", 12), ("mine", 30)):
        lines = (json.dumps({"id": str(i), "text": sentence(i, words)}) for i in range(30))
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    done = publius("obfuscate", tmp_path / "mine.jsonl", "--epsilon", "2", "--embeddings", "toy",
                   "--output", tmp_path / "out", "--length-from", tmp_path / "public.jsonl")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["size"] == 12
    assert "N = 12 words" in done.stderr
    assert "540 words (60%) after those that count, in 30 of the first 30 documents" in done.stdout
