"""Only a folder that holds exactly the release of its manifest is signed for."""

import json
import shutil
from pathlib import Path

import pytest

from fences import Fence
from publius.errors import DataError, PolicyError
from publius.releases import contents, of_manifest, signoff
from publius.releases.digests import file_digests
from released import command, toy_release


def _check(folder: Path) -> None:
    release = toy_release(folder / "release")
    signoff.sign_off(release)
    bags = (release / "bags.jsonl").read_text().splitlines(keepends=True)
    marked = json.dumps({**json.loads(bags[0]), "warning": "NOT PRIVATE: REPRODUCIBLE"}) + "\n"
    stronger = toy_release(folder / "stronger", epsilon=0.5)
    rest, manifest = "".join(bags[1:]), (stronger / "manifest.json").read_text()
    for what, file, text, error, said in (
        ("foreign", "complaints.csv", "x", DataError, "complaints.csv"),
        ("swapped", "manifest.json", manifest, DataError, "not of one release"),
        ("fewer", "bags.jsonl", rest, DataError, "holds 5 bags"),
        ("marked", "bags.jsonl", marked + rest, PolicyError, "NOT PRIVATE"),
    ):
        place = folder / what
        shutil.copytree(release, place)
        (place / file).write_text(text)
        with pytest.raises(error, match=said):
            signoff.sign_off(place)


_WRONG = (
    ("crowd", {"epsilon": 0.01}), ("crowd", {"documents": 10**6}), ("crowd", {"delta": 0}), ("crowd", {"delta": 1e-30}),
    ("crowd", {"documents_per_author": 0}), ("promise", "Nothing can be learned. Perfect."), ("bound", 1.0),
    ("bound", 100.0), ("bound", "3"), ("bound", 0), ("strength", "strong"), ("probability_kept", 0.1),
    ("evidence", "proven"), ("missing", -1), ("documents", "12"), ("delta", float("nan")), ("delta", "0"), ("size", 0),
    ("numbers", "x"),
    ("mechanism_parameters", {"values": ["a", "b", "c"]}), ("labels", "topic"), ("randomness", 1),
    ("mechanism", "laplace"), ("vocabulary_sha256", "0" * 64),
)  # fmt: skip
_MARKS = (
    ("warning", "NOT PRIVATE"),
    ("randomness", "seeded SHAKE-256"),
    ("delta", 0.5),
    ("bound_delta", 0.5),
)


def _contradictions(folder: Path) -> None:
    texts = "".join(f"text {each},{'loan health bridge'.split()[each % 3]}\n" for each in range(12))
    (folder / "own.csv").write_text("text,topic\n" + texts)
    code, _, said = command(
        "obfuscate", folder / "own.csv", "--preserve", "field:topic", "--values", "loan,health,bridge", "--bound", 3,
        "--shuffled", "--output", folder / "release",
    )  # fmt: skip
    assert code == 0, said
    path = folder / "release" / "manifest.json"
    manifest = json.loads(path.read_text())
    signoff.sign_off(path.parent)
    for error, cases in ((DataError, _WRONG), (PolicyError, _MARKS)):
        for name, value in cases:
            before = manifest.get(name)
            changed = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
            path.write_text(json.dumps({**manifest, name: changed}))
            try:
                signoff.sign_off(path.parent)
            except error:
                continue
            raise AssertionError(f"a manifest with {name} = {value} was signed")


def _around_the_numbers(folder: Path) -> None:
    """What only follows from manifest and rows is computed, not believed."""
    release = toy_release(folder / "release")
    path = release / "manifest.json"
    manifest, read_me = json.loads(path.read_text()), (release / "READ-ME.txt").read_text()
    signoff.sign_off(release)
    lie = "Nothing can be learned."
    for changes, text, said in (
        ({}, "PRIVATE TEXT of somebody", "READ-ME.txt"),
        (
            {"publius_version": "99.0.0", "promise": lie},
            read_me.replace(manifest["promise"], lie),
            "that version",
        ),
    ):
        (release / "READ-ME.txt").write_text(text)
        path.unlink()
        path.write_text(json.dumps({**manifest, **changes, "files": file_digests(release)}))
        with pytest.raises(DataError, match=said):
            signoff.sign_off(release)


def _believed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(contents, "_check_read_me", lambda *_: None)


def _any_version(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(of_manifest, "_check_version", lambda _: None)
    patch.setattr(contents, "_check_read_me", lambda folder, *_: _private(folder))


def _private(folder: Path) -> None:
    if "PRIVATE" in (folder / "READ-ME.txt").read_text():
        raise DataError("READ-ME.txt")


def _digests_only(release: Path, manifest: dict[str, object]) -> dict[str, str]:
    return file_digests(release)


FENCES = (
    Fence(
        9, "only what a manifest was written for is signed", _check,
        lambda patch: patch.setattr(signoff, "check_contents", _digests_only),
    ),
    Fence(
        9, "a manifest whose statements contradict each other is not signed", _contradictions,
        lambda patch: patch.setattr(signoff, "check_statements", lambda manifest: None),
    ),
    Fence(9, "what lies beside the rows says what follows from them", _around_the_numbers, _believed),
    Fence(9, "a version that is not known promises nothing here", _around_the_numbers, _any_version),
)  # fmt: skip
