"""Make what a release consists of, in ``dist``: ``make release KEY=FILE``, or ``make release TRIAL=1`` to try it.

In this order, and nothing after the first that fails: the checkout is clean, the changelog has a dated section of
this version, the gate passes, wheel and sdist come out the same twice, a list of all they may bring (CycloneDX), the
digests of everything, a signature of the digests by an SSH key. Nothing is sent anywhere: publishing is done by the
workflow, on the tag.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMESPACE = "publius-release"
DIGESTS = "SHA256SUMS"
LISTED = "sbom.cdx.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--key", type=Path, help="private SSH key that signs the digests")
    parser.add_argument("--trial", action="store_true", help="without the gate, a clean checkout, a date or a key")
    parser.add_argument("--extras", nargs="*", default=[], help="extras whose packages are listed")
    given = parser.parse_args()
    version = version_in((ROOT / "src/publius/__init__.py").read_text(encoding="utf-8"))
    if not given.trial:
        if given.key is None:
            sys.exit("name the SSH key that signs: make release KEY=FILE, or try it with TRIAL=1")
        if run("git", "status", "--porcelain"):
            sys.exit("the checkout is not clean: commit first")
        if fault := changelog_fault((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version):
            sys.exit(fault)
        subprocess.run([ROOT / ".ci/run"], check=True)
    built = build(ROOT / "dist")
    built.append(listed(ROOT / "dist", given.extras))
    print(digests(ROOT / "dist", built), end="")
    if given.key is not None:
        sign(ROOT / "dist" / DIGESTS, given.key)
    print(f"dist: {version}, " + ("signed" if given.key else "NOT SIGNED"))
    print(f"next: git tag -s v{version} && git push origin v{version}; the workflow publishes what the tag has")


def version_in(source: str) -> str:
    """The version that the package says it has."""
    found = re.search(r'^__version__ = "([0-9]+\.[0-9]+\.[0-9]+)"$', source, re.MULTILINE)
    if found is None:
        sys.exit("src/publius/__init__.py has no __version__ of three numbers")
    return found[1]


def changelog_fault(text: str, version: str) -> str | None:
    """What is wrong with the first section of the changelog; None when it is this version's and has a date."""
    first = re.search(r"^## (\S+) \(([^)]*)\)$", text, re.MULTILINE)
    if first is None or first[1] != version:
        return f"CHANGELOG.md must begin with a section of {version}, not of {first[1] if first else 'none'}"
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", first[2]):
        return f"CHANGELOG.md: give {version} the date of today instead of '{first[2]}'"
    return None


def build(folder: Path) -> list[Path]:
    """Wheel and sdist; `SystemExit` when a second build differs by a byte."""
    when = run("git", "log", "-1", "--format=%ct").strip()
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as again:
        for place in (folder, Path(again)):
            command = (sys.executable, "-m", "hatchling", "build", "-d", str(place))
            run(*command, SOURCE_DATE_EPOCH=when)
        made = sorted(path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))
        for path in made:
            if path.read_bytes() != Path(again, path.name).read_bytes():
                sys.exit(f"{path.name} differs when it is built twice from one commit")
    return made


def listed(folder: Path, extras: list[str]) -> Path:
    """A CycloneDX list of every package that the extras bring, as pinned and hashed for development."""
    uv, lists = (str(Path(sys.executable).with_name(name)) for name in ("uv", "cyclonedx-py"))
    lists = os.environ.get("CYCLONEDX", lists)
    chosen = [part for extra in extras for part in ("--extra", extra)]
    pins = run(
        uv, "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes", "--no-header",
        "--no-annotate", "--constraint", "requirements/dev.txt", *chosen, "pyproject.toml",
    )  # fmt: skip
    path = folder / LISTED
    with tempfile.TemporaryDirectory() as temporary:
        wanted = Path(temporary, "requirements.txt")
        wanted.write_text(pins, encoding="utf-8")
        run(
            lists, "requirements", str(wanted), "--pyproject", "pyproject.toml", "--mc-type", "library",
            "--output-reproducible", "--of", "JSON", "-o", str(path),
        )  # fmt: skip
    return path


def digests(folder: Path, files: list[Path]) -> str:
    """Write SHA-256 sums as ``sha256sum --check`` reads them."""
    text = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (folder / DIGESTS).write_text(text, encoding="utf-8")
    return text


def sign(path: Path, key: Path) -> None:
    """Sign a file beside it, and check the signature with the public half of the key."""
    run("ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(key), str(path))
    with open(path, "rb") as stream:
        subprocess.run(
            ["ssh-keygen", "-q", "-Y", "check-novalidate", "-n", NAMESPACE, "-s", f"{path}.sig"],
            stdin=stream, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip


def run(*command: str, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=ROOT, check=False, capture_output=True, text=True, env={**os.environ, **environment}
    )
    if done.returncode:
        sys.exit(f"{Path(command[0]).name} ended with {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    main()
