"""What `make release` refuses, and that what it signs can be checked."""

import importlib.util
import shutil
import subprocess

import pytest

import publius
from source_imports import ROOT

_spec = importlib.util.spec_from_file_location("releasing", ROOT / ".ci/release.py")
releasing = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(releasing)


def test_the_version_is_the_one_that_is_imported():
    source = (ROOT / "src/publius/__init__.py").read_text(encoding="utf-8")
    assert releasing.version_in(source) == publius.__version__
    with pytest.raises(SystemExit, match="three numbers"):
        releasing.version_in('__version__ = "next"')


@pytest.mark.parametrize(
    ("text", "fault"),
    [("# Changelog\n\n## 1.2.3 (2026-11-21)\n\n- News.\n\n## 1.2.2 (2025-01-01)\n", None),
     ("# Changelog\n\n## 1.2.3 (unreleased)\n", "the date of today instead of 'unreleased'"),
     ("# Changelog\n\n## 1.2.2 (2025-01-01)\n", "a section of 1.2.3, not of 1.2.2"),
     ("# Changelog\n", "not of none")],
)  # fmt: skip
def test_the_changelog_begins_with_a_dated_section_of_the_version(text, fault):
    found = releasing.changelog_fault(text, "1.2.3")
    assert found is None if fault is None else fault in found


def test_the_changelog_begins_with_the_version_at_hand():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    fault = releasing.changelog_fault(text, publius.__version__)
    assert fault is None or "the date of today" in fault


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen to sign with")
def test_a_signature_holds_for_what_was_signed_only(tmp_path):
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    wheel = tmp_path / "a.whl"
    wheel.write_bytes(b"wheel")
    releasing.digests(tmp_path, [wheel])
    releasing.sign(tmp_path / "SHA256SUMS", key)
    (tmp_path / "signers").write_text(f"maintainer {key.with_suffix('.pub').read_text()}")

    def verified():
        with open(tmp_path / "SHA256SUMS", "rb") as stream:
            return subprocess.run(
                ["ssh-keygen", "-Y", "verify", "-f", tmp_path / "signers", "-I", "maintainer", "-n",
                 releasing.NAMESPACE, "-s", tmp_path / "SHA256SUMS.sig"],
                stdin=stream, check=False, capture_output=True,
            ).returncode  # fmt: skip

    assert verified() == 0
    assert subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=tmp_path).returncode == 0
    (tmp_path / "SHA256SUMS").write_bytes(b"0" * 64 + b"  a.whl\n")
    assert verified() != 0
