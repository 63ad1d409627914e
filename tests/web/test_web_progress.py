"""Long preparations: how far they are, stopped in the middle, and a run whose explorer was killed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from complaint_files import complaints, table
from publius.distances.metrics import Euclidean
from publius.documents import inspection
from publius.documents.inspection import inspect
from publius.errors import CancelledError, PubliusError, StorageError, UsageError
from publius.evaluation.steps.workflow import Advanced
from publius.files.progress import Watch, advance, counted, stage
from publius.files.tasks import Task
from publius.mechanisms.curves import ladder
from publius.mechanisms.finite.certificate import exact
from publius.mechanisms.finite.certificate.distances import distances
from publius.noise.randomness import seeded_rng
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.clusters import clusters
from publius.vectors.learning.reference import make_themes
from publius.web import answers
from publius.web.mechanism_cache import Cache
from publius.web.run import WorkflowProcess
from publius.web.views import outcomes as outcomes_view
from references import fitted
from task_functions import (
    counts_and_fails,
    debits_and_waits,
    ends_at_once,
    loses_the_order_to_stop,
    prints,
    releases_and_goes_on,
    writes_until_stopped,
)
from web_service import TEXT, fault, service

OCTETS = {"Content-Type": "application/octet-stream"}
WATCH = "a-watch-of-the-tests"


def noted(watch, stop=None):
    """What is told to ``watch``, which cancels when so much was told."""
    told, real = [], watch.advance

    def told_and_noted(done, total):
        real(done, total)
        told.append((watch.record()["stage"], done, total))
        if len(told) == stop:
            watch.cancel()

    watch.advance = told_and_noted
    return told


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "older.csv"
    path.write_bytes(table(complaints(50, 2)))
    return path


def inspected(path):
    return lambda: inspect(path)


def certified(path):
    law = exact.Law(distances(seeded_rng(8).standard_normal((600, 8)), Euclidean()), np.ones(600))
    return lambda: exact.calibrate(law, 2.0, threads=1)


def grouped(path):
    points = seeded_rng(3).standard_normal((300, 6))
    return lambda: clusters(points, 20).tolist()


@pytest.mark.parametrize(
    ("work", "title", "total"),
    [(inspected, "Reading the rows", 50), (certified, "Certifying", 600**2), (grouped, "Grouping", 40)],
)
def test_work_is_told_and_can_be_stopped_and_the_result_is_the_same(csv_file, work, title, total):
    made = work(csv_file)
    watch = Watch()
    told = noted(watch)
    assert watch.run(made) == made()  # watched or not
    named = [each for each in told if each[0] is not None and each[0].startswith(title)]
    assert {each[2] for each in named} - {0} == {total}  # 0 while they are counted
    named = [each for each in named if each[2]]
    assert max(each[1] for each in named) <= total
    assert named[0][1] < named[1][1]
    watch = Watch()
    assert noted(watch, stop=len(told) // 2) is not None
    with pytest.raises(CancelledError):
        watch.run(made)
    assert made() == work(csv_file)()  # and nothing of it stays


def test_a_sweep_that_is_stopped_leaves_the_tiles_that_nobody_began():
    law = exact.Law(distances(seeded_rng(8).standard_normal((3000, 4)), Euclidean()), np.ones(3000))
    made, real = [], law.outer.fast
    object.__setattr__(law.outer, "fast", lambda *tile: made.append(1) or real(*tile))
    watch = Watch()
    noted(watch, stop=2)
    with pytest.raises(CancelledError) as stopped:  # held, as whoever waits for it holds it
        watch.run(lambda: law.normalizers(2.0, threads=1))
    now = len(made)
    time.sleep(0.3)
    assert len(made) == now < 24  # rows of tiles there are
    assert stopped.value is not None


def test_a_ladder_is_told_rung_by_rung(embeddings):
    watch = Watch()
    told = noted(watch)
    rungs = watch.run(lambda: ladder("exponential", embeddings, "euclidean", 0.5, 5.0))
    assert len(rungs) == 7
    outer = [each for each in told if each[2] == 7]
    assert [each[1] for each in outer] == list(range(8))
    assert {each[0] for each in told} == {"Certifying the mechanism exponential at 7 strengths"}


def test_themes_are_told_and_can_be_stopped():
    rng = seeded_rng(0)
    words = [a + b + c for a in "bcdfghklmnprst" for b in "aeiou" for c in ("la", "ne", "ro", "ti")]
    embeddings = Embeddings.from_arrays(words, rng.standard_normal((len(words), 10)))
    watch = Watch()
    told = noted(watch)
    made = watch.run(lambda: make_themes(embeddings))
    assert {each[0] for each in told} == {
        "Making the reference themes: what keeps the topic",
        "Making the reference themes: what keeps the meaning",
    }
    assert made.sha256 == make_themes(embeddings).sha256
    watch = Watch()
    noted(watch, stop=3)
    with pytest.raises(CancelledError):
        watch.run(lambda: make_themes(embeddings))


def test_time_left_is_told_only_where_it_is_known(monkeypatch):
    now = [50.0]
    monkeypatch.setattr("publius.files.progress.time.monotonic", lambda: now[0])
    watch = Watch()

    def work():
        assert watch.record() == {"stage": None, "done": 0, "total": 0, "seconds": 0.0, "left": None}
        with stage("a"), stage("a part of it"):
            advance(3, 4)  # of the part
            assert watch.record()["total"] == 0
        with stage("b"):
            for _ in counted(range(4), 4):
                if watch.record()["done"] == 0:
                    assert watch.record()["left"] is None
                now[0] += 2
            assert watch.record() == {"stage": "b", "done": 4, "total": 4, "seconds": 8.0, "left": None}
        with stage("c"):
            advance(0, 4)
            now[0] += 2
            advance(1, 4)
            assert watch.record()["left"] == 6

    watch.run(work)
    advance(1, 2)  # where nobody watches nothing happens


def test_who_stops_making_a_thing_stops_nobody_else():
    kept, begun, go = Cache(2), threading.Event(), threading.Event()
    first, second, third = Watch(), Watch(), Watch()
    found = {}

    def slow():
        with stage("slow"):
            begun.set()
            go.wait(600)
            advance(1, 2)
        return "half"

    def asked(name, watch, make):
        def ask():
            try:
                found[name] = watch.run(lambda: kept.get(("key",), make))
            except CancelledError as error:
                found[name] = error

        thread = threading.Thread(target=ask)
        thread.start()
        return thread

    one = asked("first", first, slow)
    assert begun.wait(600)
    two, three = asked("second", second, lambda: "whole"), asked("third", third, lambda: "never")
    while third.record()["stage"] is None or second.record()["stage"] is None:
        time.sleep(0.01)
    assert third.record()["stage"].startswith("Waiting")
    third.cancel()
    three.join(600)  # although the first goes on
    assert isinstance(found["third"], CancelledError)
    first.cancel()
    go.set()
    one.join(600)
    two.join(600)
    assert isinstance(found["first"], CancelledError)
    assert found["second"] == "whole"
    assert kept.get(("key",), lambda: "another") == "whole"


# The service -----------------------------------------------------------------------------------------------------


@pytest.fixture
def client(embeddings, tmp_path):
    with service(embeddings, tmp_path) as found:
        yield found


def progress(client, watch=WATCH):
    answer = client.get(f"/v1/progress/{watch}")
    answers.Progress.model_validate_json(answer.text)
    return answer.json()


def later(ask):
    """``ask()`` in a thread: (the thread, a list of its answer)."""
    got = []
    thread = threading.Thread(target=lambda: got.append(ask()))
    thread.start()
    return thread, got


def until(check):
    end = time.monotonic() + 600  # a busy machine is slow, and that is no failure
    while time.monotonic() < end:
        if check():
            return
        time.sleep(0.02)
    raise AssertionError("it does not happen")


def test_reading_a_file_can_be_followed_and_stopped_and_begun_again(client, monkeypatch):
    params = {"role": "texts", "name": "a.csv"}
    client.post("/v1/start/files", params=params, content=table(complaints(50, 2)), headers=OCTETS)
    real, go, seen = inspection._note, threading.Event(), []

    def slow(*row):
        seen.append(1)
        if len(seen) == 10:
            go.wait(600)
        real(*row)

    monkeypatch.setattr(inspection, "_note", slow)
    watched = {"Publius-Watch": WATCH}
    thread, got = later(lambda: client.post("/v1/start/look", json={"role": "texts"}, headers=watched))
    until(lambda: progress(client)["done"] == 9)
    told = progress(client)
    assert (told["state"], told["stage"], told["total"]) == ("running", "Reading the rows", 50)
    queued, late = later(
        lambda: client.post(
            "/v1/start/look", json={"role": "texts"}, headers={"Publius-Watch": "another-watch"}
        )
    )
    until(lambda: progress(client, "another-watch")["state"] == "waiting")
    taken = client.post("/v1/start/look", json={"role": "texts"}, headers=watched)
    assert fault(taken)[:2] == (400, 2)
    client.post("/v1/progress/another-watch/cancel")
    queued.join(600)  # it leaves the queue at once
    assert fault(late[0]) == (400, 2, "cancelled before it began")
    assert client.post(f"/v1/progress/{WATCH}/cancel").json()["state"] == "running"
    go.set()
    thread.join(600)
    assert fault(got[0]) == (400, 2, "cancelled: nothing half-made is kept")
    assert got[0].json()["error"]["type"] == "CancelledError"
    assert len(seen) == 10
    assert progress(client)["state"] == "none"
    assert client.get("/v1/start").json()["texts"]["found"] is None
    assert (
        client.post("/v1/start/look", json={"role": "texts"}, headers=watched).json()["found"]["rows"] == 50
    )


def test_what_has_ended_or_never_was_is_no_error(client):
    for ask in (client.get, lambda path: client.post(f"{path}/cancel")):
        answer = ask("/v1/progress/nothing-of-this")
        assert (answer.status_code, answer.json()["state"]) == (200, "none")
        assert ask("/v1/progress/no").status_code == 400
        assert ask("/v1/progress/no.form.of.ours").status_code == 400
    assert client.get("/v1/progress/nothing-of-this", headers={"Authorization": ""}).status_code == 401
    assert client.post("/v1/draw", json={"text": TEXT}, headers={"Publius-Watch": "no"}).status_code == 400


def test_a_release_that_was_begun_cannot_be_stopped(client, monkeypatch):
    from publius.web.views import release as view

    begun, go, real = threading.Event(), threading.Event(), view._released

    def slow(*asked):
        begun.set()
        go.wait(600)
        return real(*asked)

    monkeypatch.setattr(view, "_released", slow)
    body = {"documents": [{"id": "a", "text": TEXT}]}
    thread, got = later(lambda: client.post("/v1/obfuscate", json=body, headers={"Publius-Watch": WATCH}))
    assert begun.wait(600)
    assert client.post(f"/v1/progress/{WATCH}/cancel").json()["state"] == "none"
    go.set()
    thread.join(600)
    assert got[0].status_code == 200


def test_a_reference_that_was_stopped_is_opened_when_asked_again(client, home, monkeypatch):
    from publius.vectors.learning.reference import Reference

    fitted("toy").save(home / "references" / "toy")
    begun, go, real = threading.Event(), threading.Event(), Reference.load

    def slow(name):
        with stage("Opening"):
            begun.set()
            go.wait(600)
            advance(1, 2)
        return real(name)

    monkeypatch.setattr(Reference, "load", slow)
    body = {"text": TEXT, "preserve": "topic", "reference": "toy", "bound": 5, "length": 12}
    thread, got = later(lambda: client.post("/v1/outcomes", json=body, headers={"Publius-Watch": WATCH}))
    assert begun.wait(600)
    assert progress(client)["stage"] == "Opening"
    client.post(f"/v1/progress/{WATCH}/cancel")
    go.set()
    thread.join(600)
    assert got[0].json()["error"]["type"] == "CancelledError"
    assert not client.get("/v1/references").json()["references"][0]["ready"]
    answer = client.post("/v1/outcomes", json=body)
    assert answer.json()["warning"] == outcomes_view.WARNING


# An explorer that is killed ---------------------------------------------------------------------------------------


STARTER = """
import sys, time
from pathlib import Path
from task_functions import writes_until_stopped
from publius.files.tasks import Task
if __name__ == "__main__":
    Task(writes_until_stopped, Path(sys.argv[1]))
    time.sleep(100)
"""


def processes(folder):
    """Those of a task, once it is in the middle."""
    place = folder / "processes"
    until(lambda: place.exists() and len(place.read_text().split()) == 2)
    found = place.read_text().split()
    place.unlink()
    return found


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks for the processes in /proc")
@pytest.mark.parametrize("end", ["cancelled", "starter killed"])
def test_a_task_ends_in_order_with_its_workers_and_leaves_nothing_half_made(tmp_path, end):
    place = tmp_path / "place"
    place.mkdir()
    if end == "cancelled":
        task = Task(writes_until_stopped, place)
        found = processes(place)
        task.cancel()
        with pytest.raises(CancelledError):
            task.result()
    else:
        script = tmp_path / "starter.py"
        script.write_text(STARTER)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen([sys.executable, str(script), str(place)], env=environment) as starter:
            found = processes(place)
            starter.kill()
    until(lambda: all("\nState:\tZ" in status(number) for number in found))
    assert list(place.iterdir()) == []


def test_a_release_that_has_its_name_is_not_stopped_any_more(tmp_path):
    """Whoever is told "stopped" would release once more."""
    task = Task(releases_and_goes_on, tmp_path)
    until(lambda: (tmp_path / "out").exists())
    task.cancel()
    (tmp_path / "cancelled").touch()
    assert task.result() == "released"
    assert (tmp_path / "out" / "whole").exists()


@pytest.mark.parametrize(
    "error",
    [None, ValueError("canary"), pytest.param(StorageError("the disk is full"), marks=pytest.mark.long)],
)
def test_whoever_stops_a_release_after_its_debit_is_told_of_it(tmp_path, error):
    """What is charged and not there is nothing that "nothing was released" says enough of."""
    run = WorkflowProcess("release", [], {}, debits_and_waits, (tmp_path, error))
    until(lambda: (tmp_path / "debited").exists())
    if error is None:
        run.cancel()
    run.wait()
    said = run.record()
    assert said["state"] == ("stopped" if error is None else "failed")
    so = ". The ledger is debited: nothing was released, and a new run is debited anew"
    assert said["error"]["message"].endswith(so)
    assert "canary" not in str(said)
    assert ".." not in said["error"]["message"]


def test_an_order_to_stop_that_a_library_lost_is_obeyed_at_the_next_event():
    task = Task(loses_the_order_to_stop)
    heard = []

    def hear(event):
        heard.append(event)
        task.cancel()

    with pytest.raises(CancelledError):
        task.result(hear)
    assert heard == [Advanced(0, 1000)]


def test_what_a_task_tells_raises_and_returns_reaches_who_waits_without_a_word_of_a_document(capfd):
    heard = []
    for error, message in (
        (UsageError("no such column"), "no such column"),
        (ValueError("canary"), "internal error: ValueError at task_functions.py"),
        (OSError(28, "canary"), "No space left on device"),
    ):
        with pytest.raises(PubliusError, match=message) as found:
            Task(counts_and_fails, error).result(heard.append)
        assert "canary" not in str(found.value)
    assert heard == [Advanced(1, 2)] * 3
    with pytest.raises(StorageError, match="ended from outside"):
        Task(ends_at_once).result()
    assert Task(prints).result() == "done"
    assert capfd.readouterr() == ("", "")


def started(stored, releases, temporary):
    return subprocess.Popen(
        [sys.executable, "-m", "publius", "explore", "--no-browser", "--embeddings", stored, "--output", str(releases)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds the command by /proc")
def test_the_command_of_an_explorer_that_was_killed_ends_and_nothing_half_made_stays(stored, home, tmp_path):
    temporary, releases = tmp_path / "temporary", tmp_path / "releases"
    temporary.mkdir()
    with started(stored, releases, temporary) as first:
        address, token = first.stdout.readline().strip().split("/#token=")

        def ask(path, data=None, kind="application/json"):
            headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
            with urllib.request.urlopen(
                urllib.request.Request(f"{address}/v1/start{path}", data, headers)
            ) as answer:
                return json.load(answer)

        for role, count in (("texts", 30), ("older", 2_000)):
            ask(
                f"/files?role={role}&name={role}.csv",
                table(complaints(count, count)),
                "application/octet-stream",
            )
            ask("/look", json.dumps({"role": role}).encode())
        ask("/learn", json.dumps({"preserve": "topic", "text_field": "complaint"}).encode())
        until(lambda: ask("/run")["run"]["stages"][0]["total"] > 0)  # it is in the middle
        children = (
            number
            for thread in Path(f"/proc/{first.pid}/task").iterdir()
            for number in (thread / "children").read_text().split()
        )
        child = next(
            int(each) for each in children if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()
        )
        os.kill(child, signal.SIGSTOP)  # so that it cannot have ended by itself
        first.kill()
        first.wait()
    assert Path(f"/proc/{child}").is_dir()
    os.kill(child, signal.SIGCONT)
    until(lambda: "\nState:\tZ" in status(child))
    assert not list(home.glob("references/*"))
    with started(stored, releases, temporary) as second:
        second.stdout.readline()
        second.send_signal(signal.SIGINT)
        second.communicate(timeout=600)
    assert list(temporary.iterdir()) == []
    assert not releases.exists() or list(releases.iterdir()) == []


def status(process):
    """What the system says of a process; of one that is gone the same as of one that has ended."""
    try:
        return Path(f"/proc/{process}/status").read_text()
    except OSError:
        return "\nState:\tZ"
