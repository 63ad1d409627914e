"""Build the wheel and the sdist, install each into empty environments, and use them far from the repository.

``make wheel-test``, or ``python tests/wheels.py [PYTHON ...]``: a row for every Python 3.11 to 3.14 that is found; then as
``uvx`` and ``pipx run`` take the wheel. Stops at the first thing that is not as it must be. Nothing is left behind but ``dist/``.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv")
WANTED = ("3.11", "3.12", "3.13", "3.14")


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
    found = subprocess.run([UV, "python", "find", "--no-project", "--system", version], capture_output=True, text=True)
    places = [found.stdout.strip()] if found.returncode == 0 else []
    places += sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
    for place in places:
        asked = subprocess.run(
            [place, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True
        )
        if asked.stdout.strip() == version:
            return Path(place)
    return None


def try_one(interpreter, wheel, sdist):
    """Install into empty environments and use what is there: the core alone, from source, and with the demo's extras."""
    with tempfile.TemporaryDirectory(prefix="publius-wheel-") as given:
        folder = Path(given)
        (folder / "work").mkdir()
        hidden = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
        hidden["PUBLIUS_HOME"] = str(folder / "home")

        def installed(name, what):
            run(interpreter, "-m", "venv", "--without-pip", folder / name)
            run(UV, "pip", "install", "--quiet", "--python", folder / name / "bin/python", what, cwd=folder / "work")
            return lambda *arguments: run(folder / name / "bin/publius", *arguments, cwd=folder / "work", env=hidden)

        core, source, demo = (installed("core", wheel), installed("source", sdist), installed("demo", f"{wheel}[demo]"))
        versions = {core("--version"), source("--version")}
        (folder / "work/cases.csv").write_text("id,status\n1,open\n2,closed\n")
        core("label", "cases.csv", "--field", "status", "--labels", "open,closed", "--output", "labels")
        core("verify", "labels")
        start = time.perf_counter()
        made = json.loads(demo("start", "--demo", "--output", "demo", "--json"))
        seconds = round(time.perf_counter() - start, 1)
        packages = json.loads(run(UV, "pip", "list", "--python", folder / "core/bin/python", "--format", "json"))
        if len(versions) != 1 or not (folder / "work" / made["page"]).exists():
            sys.exit("the installed package is not the one that was built, or the demo wrote no page")
        version = run(interpreter, "-c", "import platform; print(platform.python_version())").strip()
        return {"python": version, "core_packages": len(packages), "demo_s": seconds}


def without_installing(wheel):
    """One text through ``uvx`` and ``pipx run`` of the wheel: one row is all that standard output holds."""
    with tempfile.TemporaryDirectory(prefix="publius-wheel-") as folder:
        environment = {**os.environ, "PUBLIUS_HOME": folder, "PIPX_HOME": folder, "PIPX_DEFAULT_PYTHON": sys.executable}
        release = ("publius", "obfuscate", "-", "--epsilon", 8, "--length", 5, "--output", "-")
        for start in (("--from",), ("pipx", "run", "--spec")):
            printed = run(
                UV, "tool", "run", *start, f"{wheel}[glove]", *release,
                input='{"text": "The bridge has cracked bearings."}\n', cwd=folder, env=environment,
            )  # fmt: skip
            if json.loads(printed)["size"] != 5:
                sys.exit(f"{' '.join(start)}: another row than one of five words")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", help="interpreters; default: those that are found")
    given = parser.parse_args()
    wheel, sdist = build()
    pythons = [Path(name) for name in given.pythons] or [found for each in WANTED if (found := python(each))]
    if not pythons:
        sys.exit("no Python of " + ", ".join(WANTED) + " was found")
    without_installing(wheel)
    rows = [try_one(each, wheel, sdist) for each in pythons]
    print(json.dumps({"wheel_bytes": wheel.stat().st_size, "runs": rows}, indent=1))
    missing = [each for each in WANTED if each not in {row["python"].rpartition(".")[0] for row in rows}]
    if missing and not given.pythons:
        print(f"not tried, because it was not found: Python {', '.join(missing)}", file=sys.stderr)


if __name__ == "__main__":
    main()
