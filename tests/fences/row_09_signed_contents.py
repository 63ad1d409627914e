"""Only a folder that holds exactly the release of its manifest is signed for."""

import json
import shutil
from pathlib import Path

import pytest

from fences import Fence
from publius.errors import DataError, PolicyError
from publius.releases import signoff
from publius.releases.digests import file_digests
from released import toy_release


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


def _digests_only(release: Path, manifest: dict[str, object]) -> dict[str, str]:
    return file_digests(release)


FENCES = (
    Fence(
        9, "only what a manifest was written for is signed", _check,
        lambda patch: patch.setattr(signoff, "check_contents", _digests_only),
    ),
)  # fmt: skip
