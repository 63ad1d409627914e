"""Text from a release: what it is made of, that nothing gets lost on the way, and that nothing else is ever seen."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from chat_server import CUT, DRIP, HANG, RESET, chat_server
from publius.documents.corpus import open_corpus
from publius.errors import UsageError
from publius.files.reading import files_sha256
from publius.noise.randomness import seeded_rng
from publius.releases.engines import protect_corpus
from publius.releases.plan import Plan
from publius.releases.writing import run
from publius.releases.writing.confinement import confine
from publius.releases.writing.exemplar import FEWEST, PASSAGE, Exemplar, passages
from publius.releases.writing.llm import fault_of, prompt, without_thoughts
from publius.releases.writing.released_bags import ReleasedBag
from publius.releases.writing.writer import WriterInput
from publius.settings import ReleaseSettings, WritingSettings
from publius.text.bag import Bag
from publius.text.character_grams import character_grams
from publius.text.tokenizer import StopWords, tokenize
from publius.vectors.learning.fit_reference import fit_reference
from publius.vectors.learning.reference import Reference, remember_texts, remembered_texts
from references import SHARED, TOPICS

CANARY = "zqxcanary"
STOPS = StopWords.load("english")
GOOD = "The judge looked at the letter in the morning and the witness waited for the verdict of the court."
FIGURES = "1 000, 2 000, 3 000 and 4 000."
"""An answer with too few letters to be of a language: the writer's process need not load what tells languages."""


def told(topic, seed, sentences=12):
    """A text on a toy topic, in sentences of nine words."""
    rng, words = seeded_rng(seed), [*TOPICS[topic], *SHARED]
    lines = [" ".join(words[i] for i in rng.integers(0, len(words), 9).tolist()) for _ in range(sentences)]
    return " ".join(f"{line.capitalize()}." for line in lines)


def jsonl(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Public texts, a reference learned from them, six private documents with the canary in each, and their release."""
    place = tmp_path_factory.mktemp("prepared")
    topics = [*TOPICS] * 15
    public = [{"text": told(topic, 100 + i), "topic": topic} for i, topic in enumerate(topics)]
    jsonl(place / "public.jsonl", public)
    rows = [{"id": f"d{i}", "text": f"{CANARY} {told([*TOPICS][i % 3], i, 4)} {CANARY}"} for i in range(6)]
    source = jsonl(place / f"private-{CANARY}" / "documents.jsonl", rows)
    learned = [
        ([word for word in tokenize(row["text"]) if word not in STOPS], row["topic"]) for row in public
    ]
    facts = {"corpus": "public.jsonl", "corpus_sha256": files_sha256([str(place / "public.jsonl")])}
    fit_reference(learned, name="toys", facts=facts).save(place / "toys")
    settings = {"preserve": "topic", "reference": str(place / "toys"), "bound": 20.0, "length": 20}
    protect_corpus(open_corpus(source), Plan.of(ReleaseSettings(**settings)), place / "release")
    return place


@pytest.fixture
def public(prepared, tmp_path):
    return Path(shutil.copy(prepared / "public.jsonl", tmp_path))


@pytest.fixture
def reference(prepared, public, home):
    """The reference in the store, which remembers the public texts of this test."""
    shutil.copytree(prepared / "toys", home / "references" / "toys")
    remember_texts(home / "references" / "toys", public, "text")
    return "toys"


@pytest.fixture
def source(prepared, tmp_path):
    return (
        Path(shutil.copytree(prepared / f"private-{CANARY}", tmp_path / f"private-{CANARY}"))
        / "documents.jsonl"
    )


@pytest.fixture
def release(prepared, reference, tmp_path):
    return Path(shutil.copytree(prepared / "release", tmp_path / "release"))


def bags_of(release):
    return [json.loads(line) for line in (release / "bags.jsonl").read_text().splitlines()]


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def write(release, tmp_path, publius):
    """Write from the release: the exit code, what was said, and the lines, where there is a file."""

    def written(writer, *options):
        output = tmp_path / "texts.jsonl"
        code, out, err = publius("write", release, "--writer", writer, "--output", output, "--json", *options)
        return code, json.loads(out) if out else err, lines_of(output) if output.exists() else None

    return written


# Exemplars


def test_an_exemplar_is_a_quotation_from_its_place_on_the_released_topic(write, public, release):
    code, said, lines = write("exemplar", "--public", public)
    assert code == 0
    assert (said["documents"], said["written"]) == (6, 6)
    rows, topics = lines_of(public), []
    for line, bag in zip(lines, bags_of(release), strict=True):
        place = line["source"]
        row = rows[place["row"] - 1]
        assert line["text"] == row["text"][place["from"] : place["to"]] != ""
        assert (line["id"], line["writer"]) == (bag["id"], "exemplar")
        assert (place["corpus"], place["reference"]) == ("public.jsonl", "toys")
        topics.append(row["topic"] == bag["label"])
    assert all(topics)


def test_the_exemplar_is_the_nearest_passage_at_the_prototype(write, public, release):
    """Against the definition, passage by passage: the cosine of rarity-weighted words, the first of equals."""

    def words(text):
        return Counter(word for word in tokenize(text) if word not in STOPS)

    _, _, lines = write("exemplar", "--public", public)
    found = [
        (number, row["topic"], span, words(row["text"][slice(*span)]))
        for number, row in enumerate(lines_of(public), start=1)
        for span in passages(row["text"])
    ]
    holding = Counter(word for *_, each in found for word in each)
    rarity = {word: math.log((1 + len(found)) / (1 + count)) + 1 for word, count in holding.items()}

    def vector(counts):
        made = {word: (1 + math.log(n)) * rarity[word] for word, n in counts.items() if word in rarity}
        length = math.sqrt(sum(value**2 for value in made.values()))
        return {word: value / length for word, value in made.items()}

    vectors = [vector(counts) for *_, counts in found]
    for line, bag in zip(lines, bags_of(release), strict=True):
        own = vector(bag["bag"])
        near = [
            (sum(own.get(w, 0) * v for w, v in each.items()), number, span)
            for (number, topic, span, _), each in zip(found, vectors, strict=True)
            if topic == bag["label"]
        ]
        best = max(score for score, *_ in near)
        mine = [
            s for s, n, span in near if (n, *span) == tuple(line["source"][k] for k in ("row", "from", "to"))
        ]
        assert mine == [pytest.approx(best)]


def test_a_reference_that_is_fitted_remembers_where_its_texts_are(publius, public, home):
    assert publius("reference", "fit", public, "--label", "topic", "--name", "fitted")[0] == 0
    assert remembered_texts(home / "references" / "fitted") == (public, "text")
    assert remembered_texts(home / "nowhere") is None
    assert publius("reference", "verify", "fitted")[0] == 0


def test_texts_that_are_no_longer_what_was_learned_from_are_not_called_so(write, public):
    public.write_text(public.read_text() + json.dumps({"text": told("music", 1), "topic": "music"}) + "\n")
    code, _, lines = write("exemplar", "--public", public)
    assert code == 0
    assert {line["source"]["reference"] for line in lines} == {None}


def test_nothing_is_quoted_of_texts_that_nobody_named(write):
    """Of the texts of a reference its words became public: it knows where they lie, and yet they are not opened."""
    code, error, lines = write("exemplar")
    assert (code, lines) == (2, None)
    assert "nobody said that sentences" in error
    assert "--public" in error


def test_of_a_reference_those_sentences_are_quoted_that_it_lets_be_quoted(prepared):
    """Of those at the bag's prototype the nearest; the texts themselves are not opened."""
    sentences = {topic: f"{told(topic, 7, 1)[:-1]} {told(topic, 8, 1)}" for topic in TOPICS}
    quotable = SimpleNamespace(passages=((), *((each,) for each in sentences.values())))
    learned = replace(Reference.load(str(prepared / "toys")), counted=quotable)
    manifest = json.loads((prepared / "release" / "manifest.json").read_text())
    writer = Exemplar(WriterInput(manifest, WritingSettings(writer="exemplar"), learned))
    place = {
        "corpus": "public.jsonl",
        "sha256": learned.source["corpus_sha256"],
        "row": None,
        "from": None,
        "to": None,
    }
    for row in bags_of(prepared / "release"):
        written = writer.write(ReleasedBag("", Bag.from_counts(row["bag"]), prototype=row["prototype"]))
        assert written.text == sentences[row["label"]]
        assert written.source == {**place, "reference": "toys"}


def test_a_release_of_words_has_exemplars_too_and_a_bag_that_shares_no_word_has_none(
    corpus_file, stored, tmp_path, publius
):
    asked = ("--epsilon", 30, "--length", 12, "--embeddings", stored, "--stop-words", "none")
    publius("obfuscate", corpus_file, *asked, "--output", tmp_path / "r")
    near = jsonl(tmp_path / "near.jsonl", [{"text": row["text"]} for row in lines_of(corpus_file)])
    assert (
        publius(
            "write", tmp_path / "r", "--writer", "exemplar", "--public", near, "--output", tmp_path / "a"
        )[0]
        == 0
    )
    assert all(line["text"] for line in lines_of(tmp_path / "a"))
    far = jsonl(tmp_path / "far.jsonl", [{"text": "Xyzzy plugh."}])
    publius("write", tmp_path / "r", "--writer", "exemplar", "--public", far, "--output", tmp_path / "b")
    assert {(line["text"], line["fault"]) for line in lines_of(tmp_path / "b")} == {
        (None, "no public passage has a word of the bag")
    }


@pytest.mark.parametrize(
    "text", [told("music", 3, 60), "One. Two. Three.", "word " * 1000, "\n\n A b.\n\nC d! ", "x", ""]
)
def test_passages_hold_every_word_once_in_order_and_are_of_the_size_that_is_said(text):
    spans = passages(text)
    assert " ".join(text[a:b] for a, b in spans).split() == text.split()
    assert all(text[a:b] == text[a:b].strip() for a, b in spans)
    sizes = [len(text[a:b].split()) for a, b in spans]
    assert all(size <= PASSAGE + FEWEST for size in sizes)
    assert len(sizes) < 2 or min(sizes) >= FEWEST


# The other writers


def test_an_ngram_has_the_words_of_the_bag(write, public, release):
    code, _, lines = write("ngram", "--public", public)
    assert code == 0
    for line, bag in zip(lines, bags_of(release), strict=True):
        assert Bag(line["text"].split()).counts == Bag.from_counts(bag["bag"]).counts
        assert line["source"]["corpus"] == "public.jsonl"


@pytest.mark.parametrize(("writer", "length"), [("characters", 4), ("characters:2", 2)])
def test_characters_are_those_inside_the_words_of_the_bag(write, release, writer, length):
    code, said, lines = write(writer)
    assert code == 0, said
    for line, bag in zip(lines, bags_of(release), strict=True):
        expected = character_grams(Bag.from_counts(bag["bag"]), length)
        assert Counter(line["text"].split()) == expected
        assert line["source"] == {"characters": length}


def test_a_length_of_characters_is_a_number(write):
    assert write("characters:many")[0] == 2
    assert write("characters:0")[0] == 2


PLUGIN = """
import json, os
from contextlib import suppress
from publius.releases.writing.writer import AbstractTextWriter, Written

def say(line):
    "A line of its own to whoever listens."
    for descriptor in range(3, 10):
        with suppress(OSError):
            os.write(descriptor, json.dumps(line).encode() + b"\\n")

class Mine(AbstractTextWriter):
    note = "a list of the released words"
    def write(self, released):
        {body}

class NoNote(AbstractTextWriter):
    def write(self, released): ...

class Unfinished(AbstractTextWriter):
    note = "x"

class Other: ...
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    def made(body):
        folder = tmp_path / "plugins"
        folder.mkdir(exist_ok=True)
        (folder / "mywriter.py").write_text(PLUGIN.replace("{body}", body.strip()))
        monkeypatch.syspath_prepend(str(folder))
        return "python:mywriter:"

    return made


def test_a_writer_from_outside(write, plugin, release):
    name = plugin("print('noise'); return Written(' '.join(released.bag.words()), {'by': 'me'})")
    code, said, lines = write(name + "Mine")
    assert (code, said["writer"]) == (0, "python:mywriter:Mine")
    assert [line["text"] for line in lines] == [
        " ".join(Bag.from_counts(b["bag"]).words()) for b in bags_of(release)
    ]
    assert {line["note"] for line in lines} == {"a list of the released words"}


def test_a_writer_from_outside_is_shown_no_path_of_the_users(write, plugin, public, release):
    """Where the public texts lie tells whose they are, and stands beside a stored reference, too."""
    body = """
        import glob
        said = [str(self.seen.settings), str(self.seen.public)]
        folder = str(self.seen.reference.folder)
        for path in [folder + "/texts.json", *glob.glob(folder + "/*")]:
            with suppress(OSError):
                said.append(repr(open(path, "rb").read(1000)))
        return Written(str(said), {"asked": self.seen.reference.name})
    """
    code, said, lines = write(plugin(body) + "Mine", "--public", public, "--reference", "toys")
    if not said["confined"]:
        pytest.skip("this system has no Landlock")
    assert (code, {line["source"]["asked"] for line in lines}) == (0, {"toys"})
    assert not any(str(public.parent) in line["text"] for line in lines)


@pytest.mark.parametrize(
    ("writer", "body", "code", "message"),
    [("Other", "...", 77, "is no writer"), ("Unfinished", "...", 77, "does not define write"),
     ("NoNote", "...", 77, "no note"), ("Missing", "...", 2, "was found, and has no Missing"),
     ("Mine", "raise ValueError(released.bag.words())", 77, "failed: ValueError at mywriter.py"),
     ("Mine", "return 'a text'", 77, "something else"), ("Mine", "return Written(None, {})", 77, "something else"),
     ("Mine", "say({'done': True}); return Written('', {})", 77, "something else than a text"),
     ("Mine", "say({'place': 9, 'text': '', 'source': {}, 'fault': None})", 77, "something else than a text"),
     ("Mine", "import os; os._exit(3)", 74, "ended before")],
)  # fmt: skip
def test_a_writer_that_cannot_be_used_is_refused_with_the_reason(write, plugin, writer, body, code, message):
    found = write(plugin(body) + writer)
    assert found[0] == code
    assert message in found[1]
    assert found[2] is None
    assert not any(word in found[1] for words in TOPICS.values() for word in words)


def test_a_writer_of_ones_own_ends_with_the_command_that_was_killed(plugin, release, tmp_path):
    """Killed, the command can tell nobody to end: the kernel does."""
    plugin("import time; open(os.environ['TMPDIR'] + '/begun', 'w').close(); time.sleep(600)")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "plugins"), "TMPDIR": str(tmp_path)}
    command = [
        "write",
        str(release),
        "--writer",
        "python:mywriter:Mine",
        "--output",
        str(tmp_path / "killed.jsonl"),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "publius", *command], env=environment, stderr=subprocess.DEVNULL
    ) as started:
        while started.poll() is None and not [*tmp_path.glob("publius-*/scratch/begun")]:
            time.sleep(0.02)
        if started.poll() is not None:
            pytest.skip("this system cannot hold a writer of one's own, and refuses it")
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
        if not children.exists():
            pytest.skip("this system does not tell whose children processes are")
        own = children.read_text().split()
        started.kill()
    late = time.monotonic() + 120
    while Path(f"/proc/{own[0]}").exists() and time.monotonic() < late:
        time.sleep(0.02)
    assert not Path(f"/proc/{own[0]}").exists()


@pytest.mark.parametrize("bag", [
    {"bank": 10**9}, {"bank": 10**30}, {"b" * 2_000: 1}, {"\ud800": 1}, {"bank\x1b": 1}
], ids=["many words", "very many", "a long word", "half a character", "a control character"])  # fmt: skip
def test_a_bag_that_no_release_has_is_refused_by_its_line(write, release, bag):
    first = {**bags_of(release)[0], "bag": bag, "size": sum(bag.values())}
    (release / "bags.jsonl").write_text(json.dumps(first) + "\n")
    code, said, lines = write("characters")
    assert (code, lines) == (65, None)
    assert "line 1 of" in said
    assert "is not a released bag" in said


@pytest.mark.parametrize(
    "writer", ["nobody", "python:", "python:nowhere:X", "llm:", "llm:http://127.0.0.1/v1"]
)
def test_a_writer_that_does_not_exist(write, writer):
    assert write(writer)[0] == 2


# A language model


def llm(server):
    return f"llm:{server.url}#tiny"


def test_what_a_language_model_is_told_and_what_is_kept_of_it(write, release, tmp_path):
    with chat_server(lambda number, request: GOOD) as server:
        code, said, lines = write(llm(server), "--style", "a newspaper report", "--keep-requests")
    assert code == 0
    assert (said["written"], said["writer"]) == (6, "llm:tiny")
    note = "written by tiny from a protected release; it may state things the document does not"
    assert {(line["text"], line["note"], line["source"]["model"]) for line in lines} == {(GOOD, note, "tiny")}
    bags = bags_of(release)
    kept = {each["id"]: each for each in lines_of(tmp_path / "texts.jsonl.requests.jsonl")}
    assert sorted(kept) == sorted(bag["id"] for bag in bags)
    assert sorted(map(json.dumps, (r["messages"] for r in server.requests))) == sorted(
        json.dumps(each["messages"]) for each in kept.values()
    )
    for bag in bags:
        system, user = (message["content"] for message in kept[bag["id"]]["messages"])
        assert "a newspaper report" in system
        said = {word if count == 1 else f"{word} ({count} times)" for word, count in bag["bag"].items()}
        assert user.splitlines()[0] == f"Topic: {bag['label']}"
        assert {*user.splitlines()[1].removeprefix("Words: ").split(", ")} == said
    assert server.requests[0].keys() == {"path", "headers", "model", "messages", "stream", "max_tokens"}


WAIT = {"Retry-After": "0"}
FAULTS = [HANG, DRIP, CUT, RESET, b"<html>garbage", b'{"choices": []}', (429, WAIT), (500, WAIT), (503, WAIT)]
NAMES = ["hang", "drip", "cut", "reset", "html", "empty", "429", "500", "503"]
FAULTY = pytest.mark.parametrize(
    "fault",  # which answers are faults, and whether it is asked again, is for the tests of the chat
    [pytest.param(fault, id=name, marks=() if name == "429" else pytest.mark.long)
     for fault, name in zip(FAULTS, NAMES, strict=True)],
)  # fmt: skip


@FAULTY
def test_a_server_that_fails_now_and_then_costs_nothing(write, fault):
    with chat_server(lambda number, request: fault if number in (1, 4) else FIGURES) as server:
        code, _, lines = write(llm(server), "--timeout", 10 if fault in (HANG, DRIP) else 60)
    assert code == 0
    assert [line["text"] for line in lines] == [FIGURES] * 6
    assert len(server.requests) == 8


@FAULTY
def test_a_server_that_fails_for_good_ends_the_run_and_the_same_call_goes_on(write, fault, tmp_path):
    broken = [True]

    def answer(number, request):
        return fault if broken[0] and number >= 3 else f"{FIGURES} Number {number}."

    with chat_server(answer) as server:
        options = (llm(server), "--timeout", 10 if fault in (HANG, DRIP) else 60)
        options += ("--attempts", 2, "--at-once", 1, "--keep-requests")
        code, error, lines = write(*options)
        assert (code, lines) == (74, None), error
        assert "3 texts are written and kept" in error
        assert len(lines_of(tmp_path / "texts.jsonl.partial")) == 1 + 3
        broken[0] = False
        asked = len(server.requests)
        code, said, lines = write(*options)
    assert (code, said["resumed"], said["written"]) == (0, 3, 6)
    assert len(server.requests) == asked + 3, "what was written is not asked for again"
    assert [line["text"][-2] for line in lines[:3]] == ["0", "1", "2"]
    assert [line["id"] for line in lines] == [f"d{i}" for i in range(6)]
    assert len(lines_of(tmp_path / "texts.jsonl.requests.jsonl")) == len(server.requests)
    assert not (tmp_path / "texts.jsonl.partial").exists()


def test_nobody_answers(write):
    code, error, lines = write("llm:http://127.0.0.1:9/v1#m", "--attempts", 1)
    assert (code, lines) == (74, None)
    assert "is it running" in error


def test_a_run_that_is_killed_goes_on(release, tmp_path, write):
    seen, go = threading.Event(), threading.Event()

    def answer(number, request):
        if number == 3 and not go.is_set():
            seen.set()
            return HANG
        return FIGURES

    with chat_server(answer) as server:
        output = tmp_path / "texts.jsonl"
        command = [sys.executable, "-m", "publius", "write", release, "--writer", llm(server), "--output", output,
                   "--at-once", "1"]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": "src"}
        process = subprocess.Popen(list(map(str, command)), env=environment, stderr=subprocess.DEVNULL)
        assert seen.wait(600)
        kept_file = tmp_path / "texts.jsonl.partial"
        for _ in range(6000):  # the three before have left the writer, and are soon in the file
            if len(kept_file.read_bytes().splitlines()) == 1 + 3:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not output.exists()
        with kept_file.open("ab") as kept:
            kept.write(b'{"place": 3, "record": {"id"')  # as if killed within a line
        go.set()
        asked = len(server.requests)
        code, said, lines = write(llm(server), "--at-once", 1)
    assert (code, said["resumed"], len(lines)) == (0, 3, 6)
    assert len(server.requests) == asked + 3


def test_a_call_that_wrote_nothing_does_not_stand_in_the_way_of_the_next(write, tmp_path):
    with chat_server(lambda number, request: FIGURES) as server:
        before = sorted(tmp_path.iterdir())
        assert write("python:nowhere:Writer", "--keep-requests")[0] == 2
        assert sorted(tmp_path.iterdir()) == before
        (tmp_path / "texts.jsonl.partial").write_text('{"format": "publius-texts", "writer": "another"}\n')
        (tmp_path / "texts.jsonl.requests.jsonl").touch()  # as if it had been killed before its first text
        assert write(llm(server), "--keep-requests")[0] == 0


@pytest.mark.parametrize("kind", ["link", "requests", "key", "lines"])
def test_no_file_is_emptied_that_a_run_did_not_begin(write, public, tmp_path, kind):
    """A link that leads elsewhere, or what lies there by chance, of one line or without an end of it."""
    victim = tmp_path / "victim.pub"
    victim.write_text(
        "ssh-ed25519 AAAA me@home\n" * (2 if kind == "lines" else 1) + ("" if kind == "link" else "x")
    )
    told, name = victim.read_text(), "requests.jsonl" if kind == "requests" else "partial"
    place = tmp_path / f"texts.jsonl.{name}"
    (place.symlink_to if kind in ("link", "requests") else place.hardlink_to)(victim)
    code, said, _ = write(
        "exemplar", "--public", public, *(["--keep-requests"] if kind == "requests" else [])
    )
    assert (code, victim.read_text()) == (74 if kind == "link" else 2, told), said
    assert place.name in str(said)


def test_what_another_run_began_is_not_mixed_in(write, tmp_path):
    with chat_server(lambda number, request: 500 if number else FIGURES) as server:
        assert write(llm(server), "--attempts", 1, "--at-once", 1)[0] == 74
        found = write(llm(server), "--style", "a poem")
        assert found[0] == 2
        assert "another run" in found[1]
    (tmp_path / "texts.jsonl").write_text('"mine"')
    assert write("ngram")[::2] == (2, ["mine"])


def test_one_run_at_a_time(write, release, tmp_path):
    with chat_server(lambda number, request: HANG) as server:
        errors = []

        def first():
            try:
                run.write_texts(
                    release,
                    tmp_path / "texts.jsonl",
                    WritingSettings(writer=llm(server), timeout=600, attempts=1),
                )
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=first)
        thread.start()
        for _ in range(12_000):
            if server.requests:
                break
            time.sleep(0.05)
        code, error, _ = write(llm(server))
        server.closing.set()  # the first is let go
        thread.join()
    assert code == 2
    assert "another process is writing" in error
    assert len(errors) == 1


@pytest.mark.parametrize(
    ("answer", "fault"),
    [("I'm sorry, but I cannot help with that request about the judge and the court.", "a refusal"),
     ("As an AI language model, there are things that I do not write about in general.", "a refusal"),
     ("Der Richter las am Morgen den Brief, und der Zeuge wartete auf das Urteil.", "in another language"),
     ("Too short.", "too short"), (GOOD * 30, "too long"),
     ("<think>I cannot say what it is</think>" + GOOD, None), (GOOD, None)],
)  # fmt: skip
def test_answers_are_looked_at(answer, fault):
    pytest.importorskip("py3langid", reason="languages are told by the extra documents")
    settings = WritingSettings(writer="llm:http://127.0.0.1/v1#m")
    if "<think>" not in answer:
        assert fault_of(answer, settings) == fault
    else:
        assert fault_of(answer.partition("</think>")[2], settings) is None


def test_an_answer_that_will_not_do_is_asked_for_again_and_then_left_out_with_the_reason(write):
    def answer(number, request):
        return (
            "I cannot write that, sorry: it is against what I was told."
            if "piano" in str(request)
            else FIGURES
        )

    with chat_server(answer) as server:
        code, said, lines = write(llm(server), "--attempts", 3)
    assert code == 0
    refused = [line for line in lines if line["text"] is None]
    assert 0 < len(refused) == 6 - said["written"]
    assert {line["fault"] for line in refused} == {"the model's answer was a refusal"}
    assert len(server.requests) == said["written"] + 3 * len(refused)


def test_thoughts_are_no_part_of_an_answer(write):
    with chat_server(lambda number, request: f"<think>hm\n\nhm</think>\n{FIGURES}") as server:
        assert {line["text"] for line in write(llm(server))[2]} == {FIGURES}


def test_thoughts_take_time_in_proportion_to_their_length():
    """Beginnings without an end took the square of it: minutes for an answer of 4 MiB."""
    many = "<think>" * 2**19
    assert without_thoughts(many + GOOD) == many + GOOD
    assert without_thoughts(f"<think>a</think>{GOOD}<think>b</think>{many}") == GOOD + many


def test_half_a_surrogate_pair_is_left_out_with_the_reason(write):
    """JSON can say one and UTF-8 cannot: it was an internal error, and the run ended."""
    with chat_server(lambda number, request: "\ud800 " + FIGURES if number % 2 else FIGURES) as server:
        code, _, lines = write(llm(server), "--attempts", 1)
    assert code == 0
    assert {line["text"] for line in lines} == {FIGURES, None}
    assert {line.get("fault") for line in lines if line["text"] is None} == {
        "the model's answer was not valid Unicode"
    }


def test_nothing_is_sent_off_this_machine_unless_allowed(write, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **more: pytest.fail("a process was started"))
    code, error, lines = write("llm:http://192.0.2.1:8000/v1#m")
    assert (code, lines) == (77, None)
    assert "--remote-ok" in error


def test_a_prompt_is_made_of_released_and_public_things_only():
    settings = WritingSettings(writer="llm:http://127.0.0.1/v1#m", style="a letter", words=50)
    told = ReleasedBag(
        "secret-id", Bag({"court": 2, "judge": 1, "<unk>": 3}), {"author": "secret-name"}, 1, "law"
    )
    text = json.dumps(prompt(told, settings))
    assert "Topic: law\\nWords: court (2 times), judge" in text
    assert "secret" not in text
    assert "unk" not in text


# What a release forbids


def test_what_is_not_private_needs_experiment_and_says_so(source, reference, tmp_path, publius, public):
    made = (
        "obfuscate",
        source,
        "--preserve",
        "topic",
        "--reference",
        reference,
        "--bound",
        9,
        "--experiment",
        "--seed",
        3,
    )
    publius(*made, "--output", tmp_path / "weak")
    asked = (
        "write",
        tmp_path / "weak",
        "--writer",
        "exemplar",
        "--public",
        public,
        "--output",
        tmp_path / "t.jsonl",
    )
    code, _, error = publius(*asked)
    assert code == 77
    assert "NOT PRIVATE" in error
    assert not (tmp_path / "t.jsonl").exists()
    code, out, _ = publius(*asked, "--experiment", "--json")
    assert code == 0
    assert json.loads(out)["warning"].startswith("NOT PRIVATE")
    assert all(line["warning"].startswith("NOT PRIVATE") for line in lines_of(tmp_path / "t.jsonl"))


def test_where_texts_cannot_go_and_what_they_cannot_be_written_from(
    release, public, tmp_path, publius, source
):
    asked = ("write", release, "--writer", "exemplar", "--public", public)
    assert publius(*asked, "--output", release / "texts.jsonl")[0] == 2
    other = jsonl(
        tmp_path / "other.jsonl", [{"text": told(t, i), "topic": t} for i, t in enumerate([*TOPICS] * 5)]
    )
    publius("reference", "fit", other, "--label", "topic", "--name", "other")
    code, _, error = publius(*asked, "--reference", "other", "--output", tmp_path / "t")
    assert code == 2
    assert "not the one that the release was made with" in error
    choices = ("--preserve", "topic", "--reference", "toys", "--bound", 5, "--format", "csv")
    publius("obfuscate", source, *choices, "--output", tmp_path / "csv")
    code, _, error = publius("write", tmp_path / "csv", "--writer", "ngram", "--output", tmp_path / "t")
    assert (code, "jsonl" in error) == (2, True)
    assert publius("write", tmp_path, "--writer", "ngram", "--output", tmp_path / "t")[0] in (65, 74)
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("writer", ["exemplar", "ngram"])
def test_public_texts_that_take_a_process_to_read_are_refused_by_their_kind(write, tmp_path, writer):
    (tmp_path / "public.html").write_text(
        "<p>The bank took a fee. The bank gave a loan.</p>", encoding="utf-8"
    )
    code, error, lines = write(writer, "--public", tmp_path / "public.html")
    assert (code, lines) == (2, None)
    assert ".html is read by one: give the public texts as .txt" in error


# What the writer's process can read

TRACER = """
import io, json, os, sys
trace = os.fdopen(os.open({trace!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", buffering=1)
def hook(event, arguments):
    if event == "open":
        path = arguments[0]
        if isinstance(path, (str, bytes)):
            trace.write(json.dumps({{"opened": os.path.abspath(os.fsdecode(path))}}) + "\\n")
    elif event in ("os.listdir", "os.scandir", "subprocess.Popen", "os.exec", "os.posix_spawn", "socket.connect"):
        trace.write(json.dumps({{event: repr(arguments)}}) + "\\n")
job = sys.stdin.buffer.read()
fds = {{fd: os.readlink("/proc/self/fd/" + fd) for fd in os.listdir("/proc/self/fd") if fd.isdigit()
       and os.path.exists("/proc/self/fd/" + fd)}}
trace.write(json.dumps({{"job": job.decode(), "environment": dict(os.environ), "argv": sys.argv, "descriptors": fds,
                        "folder": os.getcwd(), "held": {{n: open(os.path.join(r, n), errors="replace").read()
                        for r, _, names in os.walk(os.path.dirname(os.getcwd())) for n in names}}}}) + "\\n")
sys.addaudithook(hook)
sys.stdin = io.TextIOWrapper(io.BytesIO(job))
from publius.releases.writing.apart import main
main()
"""


def canary_in(trace):
    """Where the canary is in what a traced process was given, opened or listed."""
    places = []
    for number, record in enumerate(map(json.loads, trace.read_text().splitlines())):
        if CANARY in json.dumps(record):
            places.append(f"record {number}")
        opened = Path(record.get("opened", "/"))
        if opened.is_file() and CANARY.encode() in opened.read_bytes():
            places.append(str(opened))
    return places


@pytest.fixture
def traced(tmp_path, monkeypatch):
    if not Path("/proc/self/fd").exists():
        pytest.skip("open descriptors are read from /proc")
    trace, script = tmp_path / "trace.jsonl", tmp_path / "tracer.py"
    script.write_text(TRACER.format(trace=str(trace)))
    monkeypatch.setattr(run.child, "command", lambda module: [sys.executable, "-P", str(script)])
    return trace


@pytest.mark.parametrize("writer", ["exemplar", "ngram", "llm", "python"])
def test_no_byte_of_a_document_is_where_the_writer_can_read_it(
    write, traced, plugin, public, source, release, writer, monkeypatch
):
    """Every file that it opens, its environment, arguments, descriptors, standard input and folder, searched."""
    monkeypatch.setenv("A_SECRET", CANARY)
    held = source.open()  # open in this process, and not to be inherited
    os.set_inheritable(held.fileno(), True)
    with chat_server(lambda number, request: FIGURES) as server:
        name = {"llm": llm(server), "python": plugin("return Written('x', {})") + "Mine"}.get(writer, writer)
        code, _, lines = write(name, *([] if writer in ("llm", "python") else ["--public", public]))
    held.close()
    assert (code, len(lines)) == (0, 6)
    records = [json.loads(line) for line in traced.read_text().splitlines()]
    opened = [record["opened"] for record in records if "opened" in record]
    assert any(path.endswith("/release/bags.jsonl") for path in opened), "the tracer sees what is opened"
    assert len(opened) > 20
    assert (CANARY.encode() in source.read_bytes(), canary_in(traced)) == (True, [])
    assert not any(path.startswith(str(source.parent)) for path in opened)
    assert {os.path.basename(name) for name in records[0]["held"]} <= {
        "bags.jsonl",
        "manifest.json",
        "mywriter.py",
        "public.jsonl",
    }
    assert CANARY not in json.dumps(server.requests)
    assert ["socket.connect"] * (writer == "llm") == sorted(
        {key for r in records for key in r} & {"socket.connect"}
    )
    with traced.open("a") as more:
        more.write(json.dumps({"opened": str(source)}) + "\n")
    assert len(canary_in(traced)) == 2, "the search finds what is there"


LOOKS = """
        import os, socket
        found = []
        for path in {paths!r}:
            try:
                open(path).read()
                found.append(path)
            except OSError:
                pass
            try:
                found += os.listdir(os.path.dirname(path))
            except OSError:
                pass
        try:
            open("left-behind", "w")
            found.append("written")
        except OSError:
            pass
        try:
            socket.create_connection(("127.0.0.1", {port}), 1)
            found.append("connected")
        except OSError:
            pass
        return Written(str(found), {{}})
"""


def test_the_kernel_holds_a_writer_that_looks_around(write, plugin, source, release, tmp_path):
    """A writer that goes for the documents by their very path, and for a server, gets at neither."""
    beside = release / "documents.jsonl"
    beside.write_text(CANARY)  # in the release's own folder, too, is nothing but the release
    paths = [str(source), str(beside), "/etc/passwd", f"/proc/{os.getpid()}/environ"]
    with chat_server(lambda number, request: FIGURES) as server:
        port = int(server.url.split(":")[2].split("/")[0])
        code, said, lines = write(plugin(LOOKS.format(paths=paths, port=port)) + "Mine")
    assert code == 0
    if not said["confined"]:
        pytest.skip("this system has no Landlock: the process is apart, and could open what its user can")
    assert {line["text"] for line in lines} == {"[]"}


def test_a_system_without_landlock_says_so(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert confine([]) == ()


def test_a_package_is_copied_without_what_lies_beside_its_code(write, tmp_path, monkeypatch):
    folder = tmp_path / "packages" / "mypackage"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "data.jsonl").write_text(CANARY)
    (folder / "mine.py").write_text(
        PLUGIN.replace("{body}", "import os; return Written(str(os.listdir(os.path.dirname(__file__))), {})")
    )
    monkeypatch.syspath_prepend(str(folder.parent))
    code, _, lines = write("python:mypackage.mine:Mine")
    assert code == 0
    assert {line["text"] for line in lines} <= {"['__init__.py', 'mine.py']", "['mine.py', '__init__.py']"}


@pytest.mark.skipif(os.name != "posix", reason="folders are opened below one another")
def test_what_a_writer_makes_goes_however_deep_and_no_link_in_it_is_followed(tmp_path, monkeypatch):
    import resource

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = tmp_path / "own" / "documents"
    own.mkdir(parents=True)
    (own / "text").touch()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        with run._place() as place:
            (place / "scratch" / "another").symlink_to(own.parent)
            (place / "scratch" / "closed" / "folder").mkdir(parents=True)
            (place / "scratch" / "closed").chmod(0)
            here = os.open(place / "scratch", os.O_RDONLY)
            for _ in range(120):
                os.mkdir("d", dir_fd=here)
                os.symlink(own, "link", dir_fd=here)
                below = os.open("d", os.O_RDONLY, dir_fd=here)
                os.close(here)
                here = below
            last = max(
                map(int, os.listdir("/dev/fd"))
            )  # of this process, which earlier tests may have left some
            resource.setrlimit(resource.RLIMIT_NOFILE, (last + 60, most[1]))  # fewer than there are folders
            os.close(here)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
    assert [path.name for path in tmp_path.iterdir()] == ["own"]
    assert (own / "text").exists()


def test_settings_are_checked():
    with pytest.raises(UsageError):
        WritingSettings(writer="ngram", words=3)
