"""The promise says which fields leave as they are, wherever it is read."""

from pathlib import Path

import pytest

from fences import Fence
from publius.privacy import promise
from publius.releases.manifests import read_manifest_of
from publius.releases.signoff import sign_off
from released import toy_release


def _check(folder: Path) -> None:
    release = toy_release(folder / "release", keep=["year"])
    said = read_manifest_of(release)["promise"]
    assert "NOTHING is promised for the field 'year'" in said
    assert "NOTHING is promised for the field &#39;year&#39;" in sign_off(release).decode()


def _broken(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(promise, "_of_labels", lambda labels: "")


FENCES = (Fence(13, "the promise names the fields that are kept", _check, _broken),)
