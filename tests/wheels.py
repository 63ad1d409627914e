"""Build the wheel and the sdist, install each into empty environments, and use them far from the repository.

``make wheel-test``, or ``python tests/wheels.py [--audit] [PYTHON ...]``: a row for every Python 3.11, 3.12 and 3.13
that is found. Stops at the first thing that is not as it must be. Nothing is left behind but ``dist/``.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv")
WANTED = ("3.11", "3.12", "3.13")
IMPORTS = 7


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--no-audit", action="store_true", help="leave out the audit, which takes a minute or more"
    )
    parser.add_argument("pythons", nargs="*", help="interpreters; default: those that are found")
    given = parser.parse_args()
    wheel, sdist = build()
    pythons = [Path(name) for name in given.pythons] or [found for each in WANTED if (found := python(each))]
    if not pythons:
        sys.exit("no Python of " + ", ".join(WANTED) + " was found")
    rows = [try_one(each, wheel, sdist, audit=not given.no_audit) for each in pythons]
    print(
        json.dumps(
            {"wheel_bytes": wheel.stat().st_size, "sdist_bytes": sdist.stat().st_size, "runs": rows}, indent=1
        )
    )
    missing = [each for each in WANTED if each not in {row["python"].rpartition(".")[0] for row in rows}]
    if missing and not given.pythons:
        print(f"not tried, because it was not found: Python {', '.join(missing)}", file=sys.stderr)


def run(*command, **options):
    """Standard output; the whole output and an exit when the command fails."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build():
    """Wheel and sdist in ``dist``; a wheel made from the sdist holds the same files."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    run(sys.executable, "-m", "hatchling", "build", "-d", "dist", cwd=ROOT)
    (wheel,), (sdist,) = (ROOT / "dist").glob("*.whl"), (ROOT / "dist").glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (source,) = Path(folder).iterdir()
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
        (again,) = Path(folder).glob("*.whl")
        names, names_again = (set(zipfile.ZipFile(path).namelist()) for path in (wheel, again))
    if names != names_again or "publius/py.typed" not in names:
        sys.exit(f"the wheel of the sdist differs, or py.typed is missing: {sorted(names ^ names_again)}")
    return wheel, sdist


def python(version):
    """An interpreter of this version that runs; None when there is none."""
    done = subprocess.run(
        [UV, "python", "find", "--no-project", "--system", version],
        capture_output=True,
        text=True,
        check=False,
    )
    places = [done.stdout.strip()] if done.returncode == 0 else []
    places += sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
    for place in places:
        asked = subprocess.run(
            [place, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.stdout.strip() == version:
            return Path(place)
    return None


def try_one(interpreter, wheel, sdist, *, audit):
    with tempfile.TemporaryDirectory(prefix="publius-wheel-") as folder:
        place = Place(Path(folder))
        empty = place.environment(interpreter, "empty")
        before = size(empty)
        place.install("empty", wheel)
        row = {
            "python": run(
                empty / "bin/python", "-c", "import platform; print(platform.python_version())"
            ).strip(),
            "core_install_mb": round((size(empty) - before) / 1e6, 1),
            "core_packages": len(
                json.loads(run(UV, "pip", "list", "--python", empty / "bin/python", "--format", "json"))
            ),
            "import_ms_beyond_numpy": import_time(empty / "bin/python", place.empty),
            "typed": (next(empty.glob("lib/python*/site-packages/publius")) / "py.typed").exists(),
        }
        place.publius("empty", "--version")
        place.environment(interpreter, "source")
        place.install("source", sdist)
        place.publius("source", "--version")
        return row | place.use(f"{wheel}[demo]", interpreter, audit=audit)


class Place:
    """A folder with environments, a home and an empty folder to work in."""

    def __init__(self, folder):
        self.folder, self.empty = folder, folder / "work"
        self.empty.mkdir()

    def environment(self, interpreter, name):
        run(interpreter, "-m", "venv", "--without-pip", self.folder / name)
        return self.folder / name

    def install(self, name, what):
        run(
            UV,
            "pip",
            "install",
            "--quiet",
            "--python",
            self.folder / name / "bin/python",
            what,
            cwd=self.empty,
        )

    def publius(self, name, *arguments):
        hidden = {
            key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))
        }
        hidden["PUBLIUS_HOME"] = str(self.folder / "home")
        return run(self.folder / name / "bin/publius", *arguments, cwd=self.empty, env=hidden)

    def use(self, what, interpreter, *, audit):
        self.environment(interpreter, "demo")
        self.install("demo", what)
        doctor = json.loads(self.publius("demo", "doctor", "--json"))
        start = time.perf_counter()
        demo = json.loads(self.publius("demo", "demo", "--json"))
        result = {
            "doctor": doctor["healthy"],
            "demo_documents": demo["documents"],
            "demo_s": round(time.perf_counter() - start, 1),
        }
        if audit:
            found = json.loads(self.publius("demo", "audit", "--level", "quick", "--seed", "1", "--json"))
            if not found["passed"]:
                sys.exit("the audit failed")
            result |= {"audit_checks": len(found["checks"]), "audit_s": found["seconds"]}
        packages = {each["name"]: each["installed"] for each in doctor["dependencies"] if each["installed"]}
        return result | {"versions": packages}


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def import_time(interpreter, folder):
    """Milliseconds that ``import publius`` takes once numpy is imported, each time in a new process; the median."""
    code = (
        "import time, numpy; start = time.perf_counter(); import publius; print(time.perf_counter() - start)"
    )
    seconds = [float(run(interpreter, "-I", "-c", code, cwd=folder)) for _ in range(IMPORTS)]
    return round(1000 * statistics.median(seconds), 1)


if __name__ == "__main__":
    main()
