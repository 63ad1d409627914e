"""A release's folder says what it is to data tools: on demand, bound by what is signed, and only what the rest says."""

import json

import pytest

from publius.documents.corpus import open_corpus
from publius.errors import DataError
from publius.mechanisms.prototype import Prototype
from publius.releases.contents import check_contents
from publius.releases.engines import protect_corpus
from publius.releases.manifests import read_manifest_of
from publius.releases.metadata import METADATA
from publius.releases.plan import Plan
from publius.releases.signoff import describe, sign_off
from publius.releases.verification import verify
from publius.settings import ReleaseSettings
from references import fitted, public_documents
from released import command

FORMATS = {"jsonl": "bags.jsonl", "csv": "bags.csv", "parquet": "bags.parquet", "mtx": "documents.jsonl"}


def made(place, format="jsonl", metadata=True):
    if format == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    rows = [
        {"id": f"r{n}", "text": " ".join(words), "year": 2000 + n}
        for n, (words, _) in enumerate(public_documents(12, seed=9))
    ]
    source = place / "t.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = Plan.of(ReleaseSettings(), Prototype(fitted(), bound=5.0), labels=("year",))
    corpus = open_corpus(source, keep=("year",))
    protect_corpus(corpus, plan, place / "release", format=format, metadata=metadata)
    return place / "release"


def package(release):
    return json.loads((release / "datapackage.json").read_text())


@pytest.mark.parametrize("format", FORMATS)
def test_every_file_is_described_with_its_digest_and_the_columns_of_its_rows(tmp_path, format):
    release = made(tmp_path, format)
    manifest = read_manifest_of(release)
    digests = check_contents(release, manifest)
    resources = {each["path"]: each for each in package(release)["resources"]}
    assert {path: each["hash"] for path, each in resources.items()} == {
        name: f"sha256:{digest}" for name, digest in digests.items() if name not in METADATA
    }
    columns = [field["name"] for field in resources[FORMATS[format]]["schema"]["fields"]]
    assert columns[:2] == ["label", "probability_kept"]
    assert {"id", "year"} <= set(columns)
    croissant = json.loads((release / "croissant.json").read_text())
    assert {each["@id"]: each["sha256"] for each in croissant["distribution"]} == {
        path: each["hash"].removeprefix("sha256:") for path, each in resources.items()
    }
    (records,) = croissant["recordSet"]
    objects = (
        ["bag"] if format == "jsonl" else []
    )  # Croissant has no type for them, and its reader fails at the first
    assert [field["name"] for field in records["field"]] == [name for name in columns if name not in objects]
    (bags,) = [each for each in croissant["distribution"] if each["@id"] == FORMATS[format]]
    assert ("bag" in bags.get("description", "")) is bool(objects)
    card = (release / "README.md").read_text()
    assert card.startswith("---\npretty_name: ")
    assert (release / "READ-ME.txt").read_text().rstrip("\n") in card
    assert f'path: "{FORMATS[format]}"' in card


def test_nothing_is_there_unless_it_was_asked_for_and_a_signature_binds_it(tmp_path):
    pytest.importorskip("jinja2", reason="the extra evaluation is not installed")
    release = made(tmp_path, metadata=False)
    assert not any((release / name).exists() for name in METADATA)
    page = tmp_path / "page.html"
    code, _, err = command("signoff", release, "--metadata", "--receivers", "--output", page)
    assert code == 0, err
    record = verify(release, page)
    assert set(METADATA) <= set(record["release"])
    assert (
        "receivers.html" not in (release / "datapackage.json").read_text()
    )  # a further page changes nothing
    before = {name: (release / name).read_bytes() for name in METADATA}
    describe(release)
    assert before == {name: (release / name).read_bytes() for name in METADATA}


@pytest.mark.parametrize("name", METADATA)
def test_metadata_that_say_something_else_are_no_part_of_the_release(tmp_path, name):
    pytest.importorskip("jinja2", reason="the extra evaluation is not installed")
    release = made(tmp_path)
    page = tmp_path / "page.html"
    page.write_bytes(sign_off(release))
    text = (release / name).read_text()
    (release / name).write_text(text.replace("12 documents", "13 documents"))
    for check in (lambda: check_contents(release, read_manifest_of(release)), lambda: sign_off(release)):
        with pytest.raises(DataError, match="describes another release"):
            check()
    with pytest.raises(DataError, match="is not the one that was signed for"):
        verify(release, page)


def test_a_release_by_the_command_line_has_them(tmp_path):
    source = tmp_path / "t.csv"
    source.write_text("id,product\n1,loans\n2,cards\n")
    code, out, err = command(
        "obfuscate", source, "--preserve", "field:product", "--values", "loans,cards", "--bound", "7", "--metadata",
        "--output", tmp_path / "out",
    )  # fmt: skip
    assert code == 0, err
    assert "values          one a document, of the 2 that were declared" in out
    assert "None" not in out
    assert "unknown words" not in out  # nothing is looked up
    assert set(METADATA) <= {path.name for path in (tmp_path / "out").iterdir()}
    (bags,) = [each for each in package(tmp_path / "out")["resources"] if each["path"] == "bags.jsonl"]
    assert [(each["name"], each["type"]) for each in bags["schema"]["fields"]] == [
        ("label", "string"), ("probability_kept", "number"), ("id", "string")
    ]  # fmt: skip


# The projects' own validators


@pytest.mark.filterwarnings("default")  # of the validators themselves
@pytest.mark.parametrize("format", FORMATS)
def test_frictionless_finds_the_package_valid_with_every_row(tmp_path, format):
    frictionless = pytest.importorskip("frictionless", reason="frictionless is not installed: make ecosystem")
    release = made(tmp_path, format)
    described = package(release)
    assert frictionless.Package.metadata_validate(described) is not None
    found = frictionless.validate(str(release / "datapackage.json"))
    faults = [error.message for error in found.errors] + [
        e.message for task in found.tasks for e in task.errors
    ]
    assert faults == []
    (release / FORMATS[format]).write_bytes(b"changed\n")
    assert not frictionless.validate(str(release / "datapackage.json")).valid


@pytest.mark.filterwarnings("default")  # of the validators themselves
@pytest.mark.parametrize("format", FORMATS)
def test_mlcroissant_finds_the_description_valid_and_reads_the_rows(tmp_path, format):
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed: make ecosystem")
    release = made(tmp_path, format)
    dataset = mlcroissant.Dataset(jsonld=str(release / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    (records,) = dataset.metadata.record_sets
    rows = list(dataset.records(record_set=records.uuid))
    assert len(rows) >= 12
    assert all(f"{records.uuid}/label" in row for row in rows)


@pytest.mark.parametrize("format", FORMATS)
def test_the_hub_reads_the_card(tmp_path, format):
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed: make ecosystem")
    card = hub.DatasetCard.load(made(tmp_path, format) / "README.md")
    assert card.data.pretty_name == "Release of 12 documents"
    assert card.data.size_categories == ["n<1K"]
    (configuration,) = card.data.configs
    assert configuration["data_files"] == [{"split": "train", "path": FORMATS[format]}]
