"""The page that someone signs: what it says, and what it is bound to."""

import contextlib
import html
import io
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest

import publius
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.prototype import Prototype
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.privacy.guarantee import strength_of
from publius.releases import signoff, verification
from publius.releases.contents import RECEIVERS, public_words
from publius.releases.digests import bags_digest, digest_of, file_digests, opened, sealed, text_digest
from publius.releases.engines import protect_corpus
from publius.releases.layout import json_line
from publius.releases.manifests import read_manifest_of
from publius.releases.measured import Budget, Finding, Measured, Share, Sources, read_texts
from publius.releases.of_manifest import check_statements, promised
from publius.releases.plan import AS_READ, EXACT, SHUFFLED, placed
from publius.releases.signoff import describe, evidence, sign_off, write_receivers
from publius.releases.verification import verify
from publius.settings import ReleaseSettings
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from references import fitted
from released import command, state, toy_documents, toy_release, toy_vectors
from toy import WORDS

pytest.importorskip("jinja2")


@pytest.fixture
def release(tmp_path, embeddings):
    """A release of twenty documents by the Laplace mechanism."""
    source = tmp_path / "texts.jsonl"
    source.write_text(
        "\n".join(json.dumps({"id": f"r{i}", "text": "river bridge judge", "topic": "x"}) for i in range(20))
    )
    encoding = Encoding(3, "unk", StopWords.load("none"), embeddings.tokenizer)
    plan = publius.Plan(publius.Laplace(embeddings, epsilon=2.0), encoding, labels=("topic",))
    protect_corpus(publius.open_corpus(source, keep=["topic"]), plan, tmp_path / "release")
    return tmp_path / "release"


MEASURED = Measured(
    (("texts attacked", "13"),),
    (
        Finding("author", "<b>weak</b>", Share(0.1, 0.05, 0.2), Share(0.8, 0.7, 0.9), 0.05),
        Finding("author", "strong", Share(0.3, 0.2, 0.4), None, 0.05),
    ),
    ("Something & more.",),
    {"rows.jsonl": "cd" * 32},
    13,
)


@pytest.mark.parametrize(
    ("by", "said"), [("texts", "counted by texts because no author"), ("authors", "at least 5 auth")]
)
def test_the_page_says_how_the_words_of_learned_vectors_were_counted(tmp_path, embeddings, by, said):
    facts = {"format": "topic-metric", "public_words": {"counted_by": by, "at_least": 5}}
    learned = publius.Embeddings.from_arrays(
        embeddings.vocabulary,
        embeddings.vectors,
        name="topical",
        tokenizer=embeddings.tokenizer,
        source=facts,
    )
    source = tmp_path / "texts.jsonl"
    source.write_text(json.dumps({"id": "a", "text": "river bridge judge"}))
    encoding = Encoding(3, "unk", StopWords.load("none"), learned.tokenizer)
    plan = publius.Plan(publius.Laplace(learned, epsilon=2.0), encoding)
    protect_corpus(publius.open_corpus(source), plan, tmp_path / "release")
    assert said in page_of(tmp_path / "release", tmp_path).read_text()


def page_of(release, tmp_path, **more):
    path = tmp_path / "page.html"
    path.write_bytes(sign_off(release, Sources(**more)))
    return path


def test_the_page_says_what_was_released_promised_and_not_measured(release, tmp_path):
    text = page_of(release, tmp_path).read_text()
    manifest = read_manifest_of(release)
    assert manifest["promise"].split("whose")[0] in text
    assert "Nothing was measured." in text
    assert "no evidence that authors are hidden" in text
    assert "20, each a bag of words without order" in text
    assert digest_of(file_digests(release)) in text
    assert manifest["vocabulary_sha256"] in text


def test_the_strongest_adversary_comes_first_and_everything_is_escaped(release, tmp_path):
    text = page_of(
        release, tmp_path, measured=MEASURED, budget=Budget("epsilon-n", 8.0, 20, 6.0, 1)
    ).read_text()
    assert text.index("strong</td>") < text.index("&lt;b&gt;weak&lt;/b&gt;</td>")
    assert "30.0\N{NO-BREAK SPACE}%" in text
    assert "<b>weak" not in text
    assert "Something &amp; more." in text
    assert "Nothing was measured" not in text
    assert "The ledger counts nats per unit of Earth Mover&#39;s distance: 20 documents have spent" in text


def test_the_page_is_strict_and_needs_nothing_from_elsewhere(release, tmp_path):
    text = page_of(release, tmp_path, measured=MEASURED).read_text()
    assert "default-src 'none'" in text

    class Elements(HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert tag not in {"script", "link", "img", "iframe", "object", "form", "a"}
            assert not {"src", "href", "onclick", "onload"} & {name for name, _ in attributes}

    Elements().feed(text)


def test_an_unchanged_release_and_page_belong_together(release, tmp_path):
    record = verify(release, page_of(release, tmp_path, measured=MEASURED))
    assert set(record["release"]) == {"READ-ME.txt", "bags.jsonl", "manifest.json"}


@pytest.mark.parametrize("name", ["bags.jsonl", "manifest.json"])
def test_one_changed_byte_of_the_release_is_found(release, tmp_path, name):
    page = page_of(release, tmp_path)
    data = bytearray((release / name).read_bytes())
    data[-3] ^= 1
    (release / name).write_bytes(data)
    with pytest.raises(DataError, match=f"changed: '{name}'"):
        verify(release, page)


def test_a_file_more_or_less_is_found(release, tmp_path):
    page = page_of(release, tmp_path)
    (release / "note.txt").write_text("x")
    with pytest.raises(DataError, match=r"added: 'note.txt'"):
        verify(release, page)
    (release / "note.txt").unlink()
    (release / "bags.jsonl").unlink()
    with pytest.raises(DataError, match=r"missing: 'bags.jsonl'"):
        verify(release, page)


def test_every_changed_byte_of_the_page_is_found(release, tmp_path):
    page = page_of(release, tmp_path)
    whole = page.read_bytes()
    for place in range(0, len(whole), 97):
        page.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DataError):
            verify(release, page)


@pytest.mark.parametrize(
    "change", [lambda page: page + b"\n", lambda page: page[:-1], lambda page: b"", lambda page: page * 2]
)
def test_a_longer_or_shorter_page_is_found(release, tmp_path, change):
    page = page_of(release, tmp_path)
    page.write_bytes(change(page.read_bytes()))
    with pytest.raises(DataError):
        verify(release, page)


def test_a_page_that_promises_more_is_found_even_with_a_digest_of_its_own(release, tmp_path):
    from publius.releases.digests import sealed

    page = page_of(release, tmp_path)
    text = re.sub(r'(page-digest">)[0-9a-f]{64}', r"\g<1>" + "0" * 64, page.read_text())
    page.write_bytes(sealed(text.replace("Take any two documents", "Take any two novels")))
    opened(page)
    with pytest.raises(DataError, match="another promise"):
        verify(release, page)


def test_another_release_of_the_same_documents_is_not_this_one(release, tmp_path):
    page = page_of(release, tmp_path)
    other = tmp_path / "other"
    shutil.copytree(release, other)
    lines = (other / "bags.jsonl").read_text().splitlines()
    (other / "bags.jsonl").write_text("\n".join(reversed(lines)) + "\n")
    with pytest.raises(DataError):
        verify(other, page)


def test_the_evaluation_is_bound_too(release, tmp_path):
    folder = tmp_path / "evaluation"
    folder.mkdir()
    (folder / "rows.jsonl").write_text("{}")
    measured = Measured((), (), (), file_digests(folder), 1)
    page = page_of(release, tmp_path, measured=measured)
    verify(release, page, folder)
    (folder / "rows.jsonl").write_text("{ }")
    with pytest.raises(DataError, match="the evaluation is not the one"):
        verify(release, page, folder)
    with pytest.raises(DataError, match="without an evaluation"):
        verify(release, page_of(release, tmp_path), folder)


def test_nobody_signs_for_an_experiment_or_for_nothing(release, tmp_path):
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps({**manifest, "private": False}))
    with pytest.raises(PolicyError, match="nobody can sign"):
        sign_off(release)
    (release / "manifest.json").write_text("{")
    with pytest.raises(DataError, match="damaged"):
        sign_off(release)
    with pytest.raises(DataError, match="no manifest"):
        sign_off(tmp_path)


def test_a_read_me_that_does_not_follow_from_manifest_and_rows_is_refused(release):
    (release / "READ-ME.txt").write_text("PRIVATE TEXT")
    _bind_again(release)
    with pytest.raises(DataError, match=r"READ-ME\.txt .* is not what follows"):
        sign_off(release)


def test_a_name_as_the_id_of_a_numbered_row_is_refused(release):
    said = json.loads((release / "manifest.json").read_text())["promise"].removesuffix(placed(None))
    _bind_again(release, numbers=SHUFFLED, promise=said)
    with pytest.raises(DataError, match="numbered from 1"):
        sign_off(release)


def test_a_release_without_its_read_me_is_refused(release):
    (release / "READ-ME.txt").unlink()
    _bind_again(release)
    with pytest.raises(DataError, match=r"holds no READ-ME\.txt"):
        sign_off(release)


@pytest.mark.parametrize(
    "changed",
    [
        lambda manifest: json.dumps(manifest),
        lambda manifest: json.dumps(dict(reversed(manifest.items())), indent=2) + "\n",
        lambda manifest: json.dumps(manifest, indent=2).replace('"size": ', '"size":  ') + "\n",
        lambda manifest: json.dumps(manifest, indent=2).replace('"epsilon": 2.0,', '"epsilon": 2.00,') + "\n",
        lambda manifest: json.dumps(manifest, indent=2).replace('"kind"', '"\\u006bind"') + "\n",
    ],
    ids=["white space", "order", "space", "digits", "escape"],
)
def test_a_manifest_is_written_in_one_way(release, changed):
    """What is told by white space, order or digits would be signed, and no reader of the page sees it."""
    path = release / "manifest.json"
    before = path.read_text()
    path.write_text(changed(json.loads(before)))
    assert path.read_text() != before
    assert read_manifest_of(release) == json.loads(before)
    with pytest.raises(DataError, match="not as Publius writes it"):
        sign_off(release)


@pytest.mark.parametrize("version", ["0.2.0", "0.3.999", "9.0.0", "0.2", "", "0.2.0 PRIVATE", 3, None])
def test_only_what_this_version_wrote_is_signed(release, version):
    """Earlier versions bound nothing: who says that one of them wrote it could have changed all of it."""
    _bind_again(release, publius_version=version)
    for signing in (sign_off, write_receivers, describe, evidence):
        with pytest.raises(PolicyError, match="signs only for what it wrote itself"):
            signing(release)


def test_a_manifest_that_names_no_version_is_not_signed(release):
    manifest = read_manifest_of(release)
    (release / "manifest.json").write_text(
        json.dumps({name: value for name, value in manifest.items() if name != "publius_version"})
    )
    with pytest.raises(PolicyError, match="names no version of Publius"):
        sign_off(release)


def test_spaces_of_a_matrix_say_nothing(tmp_path):
    folder = toy_release(tmp_path / "matrix", format="mtx")
    sign_off(folder)
    path = folder / "bags.mtx"
    head, size, rest = path.read_bytes().split(b"\n", 2)
    path.write_bytes(b"\n".join([head, b" ".join(size.split()), rest]))
    _bind_again(folder)
    with pytest.raises(DataError, match="damaged"):
        sign_off(folder)


@pytest.mark.parametrize("format", ["jsonl", "csv", "mtx", "parquet"])
def test_a_row_has_its_words_and_its_fields_in_one_order(stored, tmp_path, format):
    """An order says more than a bag: 40 words have 159 bits of it, which nobody sees."""
    folder = toy_release(tmp_path / "release", format=format)
    assert public_words(read_manifest_of(folder)) is not None
    sign_off(folder)
    for name, change, said in _ORDERS[format]:
        path = folder / name
        before = path.read_bytes()
        path.write_bytes(change(before))
        assert path.read_bytes() != before
        _bind_again(folder)
        with pytest.raises(DataError, match=said):
            sign_off(folder)
        path.write_bytes(before)


def _reversed_bag(content):
    first, rest = content.split(b"\n", 1)
    row = json.loads(first)
    row["bag"] = dict(reversed(row["bag"].items()))
    return json_line(row) + rest


def _fields_reversed(content):
    first, rest = content.split(b"\n", 1)
    return json_line(dict(reversed(json.loads(first).items()))) + rest


def _lines_exchanged(content, one):
    lines = content.split(b"\n")
    lines[one], lines[one + 1] = lines[one + 1], lines[one]
    return b"\n".join(lines)


def _parquet_changed(change):
    def changed(content):
        parquet = pytest.importorskip("pyarrow.parquet")
        out = io.BytesIO()
        parquet.write_table(change(parquet.read_table(io.BytesIO(content))), out)
        return out.getvalue()

    return changed


def _words_reversed(table):
    rows = table.to_pylist()
    rows[0] |= {name: rows[0][name][::-1] for name in ("words", "counts")}
    return table.from_pylist(rows, schema=table.schema)


_ORDERS = {
    "jsonl": [
        ("bags.jsonl", _reversed_bag, "words in another order"),
        ("bags.jsonl", _fields_reversed, "in another order"),
    ],
    "csv": [("bags.csv", lambda content: _lines_exchanged(content, 1), "words in another order")],
    "mtx": [
        ("bags.mtx", lambda content: _lines_exchanged(content, 2), "damaged"),
        ("vocabulary.txt", lambda content: _lines_exchanged(content, 2), "words in another order"),
        ("documents.jsonl", _fields_reversed, "in another order"),
    ],
    "parquet": [
        ("bags.parquet", _parquet_changed(_words_reversed), "words in another order"),
        (
            "bags.parquet",
            _parquet_changed(lambda table: table.select(table.column_names[::-1])),
            "in another order",
        ),
    ],
}


def test_what_lies_beside_a_release_stays_where_nobody_can_sign(release):
    write_receivers(release)
    _bind_again(release, publius_version="0.2.0")
    with pytest.raises(PolicyError):
        write_receivers(release)
    assert (release / "receivers.html").exists()


def _signed_by(release, page, version, promise=None):
    """A page as anybody can write it: another version, another promise, the digests of what lies there."""
    record = json.loads(html.unescape(page.split('<pre id="record">')[1].split("</pre>")[0]))
    page, found = verification._plain(page), html.escape(record["promise"])
    record |= {"publius_version": version, "release": file_digests(release)}
    if promise is not None:
        record["promise"] = promise
        page = page.replace(found, html.escape(promise))
    head, rest = page.split('<pre id="record">')
    tail = rest.split("</pre>", 1)[1]
    page = f'{head}<pre id="record">{html.escape(json.dumps(record))}</pre>{tail}'
    blank = re.sub(r'(<code id="page-digest">)[0-9a-f]{64}', rf"\g<1>{'0' * 64}", page)
    return sealed(blank)


def test_a_forged_page_of_an_earlier_version_is_said_to_bind_bytes_alone(release, tmp_path):
    """Without a key nothing else can be said of a page that another version is named on; of our own it can."""
    lie = "Nothing can be learned. Perfect."
    page, forged = sign_off(release).decode(), tmp_path / "forged.html"
    _bind_again(release, promise=lie)
    for version in (publius.__version__, "0.2.0"):
        forged.write_bytes(_signed_by(release, page, version, lie))
        with pytest.raises(DataError, match="its promise cannot be"):
            verify(release, forged)
    _bind_again(release, promise=lie, publius_version="0.2.0")
    forged.write_bytes(_signed_by(release, page, publius.__version__, lie))
    with pytest.raises(DataError, match="signs for no release of another version"):
        verify(release, forged)
    forged.write_bytes(_signed_by(release, page, "0.2.0", lie))
    code, said, _ = command("verify", release, forged)
    assert code == 0
    assert "Only bytes were compared" in said
    assert "Anybody can write such a page" in said
    assert json.loads(command("verify", release, forged, "--json")[1])["not_bound"] in said
    forged.write_bytes(_signed_by(release, page, "0.2.0"))
    with pytest.raises(DataError, match="another promise"):
        verify(release, forged)


def test_the_page_says_what_was_not_compared(release, tmp_path):
    """The toy vectors are stored nowhere."""
    assert "rest on the public word vectors" in page_of(release, tmp_path).read_text()


def _changed(manifest):
    """Every manifest that lacks a part of this one, or has something else of another type in its place."""
    for name, value in manifest.items():
        yield {key: each for key, each in manifest.items() if key != name}
        for other in (None, 1, "x", [], {}, [[]], {"x": None}):
            yield {**manifest, name: other}
        if isinstance(value, dict):
            yield from ({**manifest, name: inner} for inner in _changed(value))


@pytest.mark.parametrize("kind", ["words", "field", pytest.param("topic", marks=pytest.mark.long)])
def test_a_damaged_manifest_is_no_internal_error(kind, made):
    """Statements are data: whatever stands there is signed or refused, by name."""
    for manifest in _changed(made(kind)):
        with contextlib.suppress(DataError, PolicyError):
            check_statements(json.loads(json.dumps(manifest)))


def test_a_manifest_is_looked_at_before_an_evaluation_is_compared_with_it(release, tmp_path):
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps({**manifest, "epsilon": "two"}))
    page = tmp_path / "page.html"
    code, _, said = command("signoff", release, "--evaluation", tmp_path / "measured", "--output", page)
    assert (code, page.exists()) == (65, False)
    assert "the manifest states something impossible as its epsilon" in said


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("crowd", {"epsilon": 0.01}, "crowd"), ("probability_kept", 0.5, "probability kept"),
        ("bound", 1.0, "probability kept"), ("probability_kept_is", EXACT, "probability kept is"),
        ("mechanism_parameters", {"prototypes": 9}, "probability kept"), ("numbers", AS_READ, "crowd"),
        ("ordered", True, "ordered"), ("level", "word", "level"),
    ],
)  # fmt: skip
def test_what_the_manifest_itself_gives_is_computed_where_the_reference_is_not_stored(
    name, value, said, made
):
    """The promise is made to fit what is changed, as a liar would."""
    manifest = made("topic")
    check_statements(manifest)
    before = manifest[name]
    manifest[name] = {**before, **value} if isinstance(before, dict) else value
    manifest["strength"] = strength_of(manifest["bound"])
    manifest["promise"] = promised(manifest)
    with pytest.raises(DataError, match=f"{said}.* cannot be"):
        check_statements(manifest)


@pytest.fixture
def made(embeddings):
    """Manifests of releases of 40 documents, by kind; nothing that they were made on is stored."""

    def manifest(kind):
        if kind == "words":
            encoding = Encoding(3, "unk", StopWords.load("none"), embeddings.tokenizer)
            plan = publius.Plan(publius.Laplace(embeddings, epsilon=2.0), encoding)
        elif kind == "field":
            plan = publius.Plan.of(ReleaseSettings(), RandomizedResponse("product", ["a", "b", "c"], bound=3))
        else:
            plan = publius.Plan.of(ReleaseSettings(), Prototype(fitted(), bound=5.0))
        facts = {**plan.manifest(40), "numbers": SHUFFLED, "files": {}}
        if crowd := plan.crowd(40):
            facts["crowd"] = crowd.as_json
        return {**facts, "promise": promised(facts)}

    return manifest


def _bind_again(release, **changed):
    """Let the manifest state something else, and the digests of what lies there."""
    path = release / "manifest.json"
    manifest = json.loads(path.read_text()) | changed
    path.unlink()
    state(release, {**manifest, "files": file_digests(release)})


def test_a_link_in_a_release_is_refused(release):
    (release / "more").symlink_to(release / "bags.jsonl")
    with pytest.raises(DataError, match="no plain file"):
        sign_off(release)


def test_a_link_to_a_folder_is_refused_too(release, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (release / "more").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="no plain file"):
        file_digests(release)


def test_a_ledger_that_cannot_have_been_charged_is_refused(release, tmp_path):
    publius.Ledger.create(tmp_path / "b.ledger", budget=10, unit="bound")
    call = [sys.executable, "-m", "publius", "signoff", str(release), "--output", str(tmp_path / "p.html")]
    done = subprocess.run(
        [*call, "--ledger", str(tmp_path / "b.ledger")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "cannot have been charged" in done.stderr
    assert not (tmp_path / "p.html").exists()


def test_a_bound_has_its_word_on_the_scale(release, tmp_path, monkeypatch):
    monkeypatch.setattr(signoff, "check_statements", lambda manifest: None)  # this one contradicts itself
    monkeypatch.setattr(signoff, "check_contents", lambda *_: {})
    manifest = json.loads((release / "manifest.json").read_text())
    manifest |= {"level": "document", "bound": 7.0, "epsilon": None, "preserve": "topic", "reference": "r"}
    manifest["bound_delta"] = 0.0
    state(release, manifest)
    text = page_of(release, tmp_path).read_text()
    assert "moderate – here" in text
    assert "7 nats" in text


def test_the_commands_end_as_the_reference_says(release, tmp_path):
    def run(*arguments):
        call = [sys.executable, "-m", "publius", *map(str, arguments)]
        return subprocess.run(call, capture_output=True, text=True, check=False)

    page = tmp_path / "page.html"
    assert run("signoff", release, "--output", release / "page.html").returncode == 2
    done = run("signoff", release, "--output", page)
    assert (done.returncode, "no evidence that authors are hidden" in done.stdout) == (0, True)
    assert run("verify", release, page).returncode == 0
    page.write_text(page.read_text().replace("promised", "proposed"))
    changed = run("verify", release, page)
    assert (changed.returncode, changed.stdout) == (65, "")


def facts(**changes):
    return {"size": 3, "vocabulary_sha256": "a", "unknown": "unk", **changes}


def test_an_evaluation_of_another_setting_is_refused():
    from publius.releases.manifests import matching

    manifest = {"size": 3, "vocabulary_sha256": "a", "unknown": "unk", "reference_sha256": None}
    matching(manifest, facts())
    for change in ({"size": 4}, {"vocabulary_sha256": "b"}, {"unknown": "drop"}):
        with pytest.raises(UsageError, match="another setting"):
            matching(manifest, facts(**change))


def texts_of(place, tmp_path, **changed):
    path = tmp_path / "texts.jsonl"
    ids = [json.loads(line)["id"] for line in (place / "bags.jsonl").read_text().splitlines()]
    line = {
        "text": "A text.", "writer": "llm:<tiny>", "source": {}, "note": "written by <tiny>",
        "release": bags_digest(place), **changed,
    }  # fmt: skip
    lines = ({"id": id, **line} for id in ids)
    path.write_text("".join(json.dumps({**each, "sha256": text_digest(each)}) + "\n" for each in lines))
    return path


def test_texts_written_from_a_release_are_named_and_bound(release, tmp_path, publius):
    texts, page = texts_of(release, tmp_path), tmp_path / "page.html"
    assert publius("signoff", release, "--output", page, "--texts", texts)[0] == 0
    shown = page.read_text()
    assert "Texts written from it" in shown
    assert "written by &lt;tiny&gt;" in shown
    assert "20 of 20" in shown
    assert publius("verify", release, page, "--texts", texts)[0] == 0
    texts.write_text(texts.read_text().replace("A text", "B text"))
    assert publius("verify", release, page, "--texts", texts)[0] == 65
    assert publius("verify", release, page)[0] == 0
    plain = page_of(release, tmp_path)
    assert "Texts written from it" not in plain.read_text()
    assert publius("verify", release, plain, "--texts", texts)[0] == 65


def test_texts_of_something_else_are_not_signed_for(release, tmp_path):
    whole = texts_of(release, tmp_path).read_text().splitlines(keepends=True)
    path = tmp_path / "texts.jsonl"
    for wrong in (
        whole[:-1],
        [*whole, whole[0]],
        whole[::-1],
        ["{}\n"],
        [],
        ["[" * 9],
        [*whole[:-1], "nonsense\n"],
        [whole[0].replace("{", '{"text": "another", ', 1), *whole[1:]],
    ):
        path.write_text("".join(wrong))
        with pytest.raises(DataError, match="bag by bag"):
            read_texts(path, release)
    other = texts_of(release, tmp_path, note="written by other").read_text().splitlines(keepends=True)
    path.write_text("".join([other[0], *whole[1:]]))
    with pytest.raises(DataError, match="one writer"):
        read_texts(path, release)
    for said, by_hand in (("A text.", "Another."), ("<tiny>", "other"), ("{}", '{"perplexity": 2}')):
        path.write_text("".join([*whole[:2], whole[2].replace(said, by_hand), *whole[3:]]))
        with pytest.raises(DataError, match=r"line 3: it was changed after it was written"):
            read_texts(path, release)
    for changed in ({"release": "0" * 64}, {"release": None}, {"author": "Ann"}):
        texts_of(release, tmp_path, **changed)
        with pytest.raises(DataError, match="bag by bag"):
            read_texts(path, release)
    texts_of(release, tmp_path, text=None)
    assert read_texts(path, release).missing == 20


FORMATS = {"jsonl": "bags.jsonl", "csv": "bags.csv", "parquet": "bags.parquet", "mtx": "documents.jsonl"}


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_signed_whole_and_not_in_part(tmp_path, format):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    whole = toy_release(tmp_path / "whole", keep=["year"], format=format)
    verify(whole, page_of(whole, tmp_path))
    fewer = toy_release(tmp_path / "fewer", count=4, keep=["year"], format=format)
    (fewer / "manifest.json").write_bytes((whole / "manifest.json").read_bytes())
    with pytest.raises(DataError, match=r"holds 4 bags, and its manifest states 6"):
        sign_off(fewer)
    longer = toy_release(tmp_path / "longer", keep=["year"], format=format, length=7)
    (longer / "manifest.json").write_bytes((whole / "manifest.json").read_bytes())
    with pytest.raises(DataError, match="has 7 words, and the manifest states 5"):
        sign_off(longer)
    bare = toy_release(tmp_path / "bare", format=format)
    (bare / "manifest.json").write_bytes((whole / "manifest.json").read_bytes())
    with pytest.raises(DataError, match="other fields than the manifest states"):
        sign_off(bare)
    experiment = toy_release(tmp_path / "experiment", keep=["year"], format=format, seed=1)
    (experiment / "manifest.json").write_bytes((whole / "manifest.json").read_bytes())
    with pytest.raises(PolicyError, match=r"bag 1 in .* is marked NOT PRIVATE"):
        sign_off(experiment)


def test_bags_of_another_draw_are_not_those_of_the_manifest(tmp_path):
    """Same documents, same plan, same sizes: only the digests in the manifest tell."""
    one, other = toy_release(tmp_path / "one"), toy_release(tmp_path / "other")
    (one / "bags.jsonl").write_bytes((other / "bags.jsonl").read_bytes())
    with pytest.raises(DataError, match=r"written for other files than lie there \('bags.jsonl'\)"):
        sign_off(one)


def test_a_damaged_line_is_named_by_its_place_and_not_by_its_words(tmp_path):
    release = toy_release(tmp_path / "release")
    lines = (release / "bags.jsonl").read_text().splitlines(keepends=True)
    for wrong in (
        '["secret"]\n',
        '{"id": "secret"}\n',
        "secret\n",
        '{"id": "a", "size": 5, "bag": {"secret": 1}}\n',
    ):
        (release / "bags.jsonl").write_text("".join([*lines[:2], wrong, *lines[3:]]))
        with pytest.raises(DataError, match=r"bag 3 in .* is damaged") as refused:
            sign_off(release)
        assert "secret" not in str(refused.value)


def test_the_command_refuses_a_foreign_file_and_writes_no_page(tmp_path, publius):
    release = toy_release(tmp_path / "release")
    (release / ".DS_Store").write_bytes(b"x")
    code, out, err = publius("signoff", release, "--output", tmp_path / "page.html")
    assert (code, out, (tmp_path / "page.html").exists()) == (65, "", False)
    assert "'.DS_Store'" in err


def test_the_evidence_is_printed_for_machines_without_a_page(tmp_path):
    release = toy_release(tmp_path / "release", keep=("year",))
    code, said, error = command("signoff", str(release), "--json")
    assert code == 0, error
    facts = json.loads(said)
    manifest = json.loads((release / "manifest.json").read_text())
    assert facts["output"] is None
    assert (facts["promise"], facts["epsilon"]) == (manifest["promise"], manifest["epsilon"])
    assert (facts["unit"], facts["kept_fields"], facts["measured"]) == ("document", ["year"], False)
    first = (release / "bags.jsonl").read_text().splitlines()[0]
    assert facts["sample_row"] == json.loads(first)
    assert facts["files"].keys() == {path.name for path in release.iterdir()}
    assert command("signoff", str(release))[0] == 2


def test_pages_for_receivers_that_lie_there_are_made_anew_before_they_are_signed(publius, tmp_path):
    """Nobody looks into them, so that anything could stand there under a signature."""
    release, planted = toy_release(tmp_path / "release"), "Ann Kowal complained"
    for name in RECEIVERS:
        (release / name).write_text(planted)
    before = (release / RECEIVERS[0]).read_bytes()
    assert publius("signoff", release, "--json")[0] == 0
    assert (release / RECEIVERS[0]).read_bytes() == before  # nothing is signed, nothing is written
    assert publius("signoff", release, "--output", tmp_path / "page.html")[0] == 0
    assert not any(planted in (release / name).read_text() for name in RECEIVERS)
    assert publius("verify", release, tmp_path / "page.html")[0] == 0


@pytest.mark.parametrize("order", [(), ("--order", "--keep-between", "stop-words")])
def test_a_release_without_words_of_a_list_of_ones_own_is_signed(tmp_path, home, order):
    toy_vectors().save(home / "embeddings" / "toy")
    stops = tmp_path / "stops.txt"
    stops.write_text(f"{WORDS[3]}\n{WORDS[5]}\n", encoding="utf-8")
    texts = toy_documents(tmp_path / "texts.jsonl")
    code, _, said = command(
        "obfuscate", texts, "--epsilon", 2, "--length", 5, *order, "--stop-words", f"file:{stops}", "--number",
        "--embeddings", "toy", "--output", tmp_path / "out",
    )  # fmt: skip
    assert code == 0, said
    unchecked = evidence(tmp_path / "out")["not_tried"]
    assert any("their list is somebody's own" in each for each in unchecked)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["stop_words"] == "file"
    for name, value in (("epsilon", 1.0), ("vocabulary_size", 59), ("tokenizer", "glove")):
        with pytest.raises(DataError):
            check_statements({**manifest, name: value})
