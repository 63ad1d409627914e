"""What a release of the package itself stands on: its surface, its size, its typing, its completion, its licences."""

import inspect
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from itertools import chain
from pathlib import Path

import pytest

import publius as package
from publius.cli import app

ROOT = Path(__file__).parents[2]
SURFACE = Path(__file__).with_name("public_surface.json")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def signature(value):
    if inspect.isclass(value) and issubclass(value, Exception):
        return f"exit {value.exit_code}, {', '.join(base.__name__ for base in value.__bases__)}"
    if not callable(value):
        return type(value).__name__
    return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(value)))


def surface():
    """Every public name with its signature, and those of its public methods."""
    found = {}
    for name in package.__all__:
        value = getattr(package, name)
        found[name] = signature(value)
        if inspect.isclass(value) and value.__module__.startswith("publius"):
            for member, inner in sorted(vars(value).items()):
                if not member.startswith("_") and not issubclass(value, Exception):
                    plain = getattr(inner, "__func__", inner)
                    found[f"{name}.{member}"] = signature(plain) if inspect.isfunction(plain) else "attribute"
    return found


def test_the_public_surface_changes_on_purpose_only():
    """After a change that is meant: python tests/project/test_release_quality.py, and a line in CHANGELOG.md."""
    assert surface() == json.loads(SURFACE.read_text(encoding="utf-8"))


def test_import_loads_nothing_heavy():
    code = "import sys, publius; print(*sys.modules)"
    loaded = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert not loaded & {"numpy", "scipy", "pyarrow", "matplotlib", "typer"}


def test_typed():
    assert (Path(package.__file__).parent / "py.typed").exists()
    assert "Typing :: Typed" in PROJECT["classifiers"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("hatchling", reason="needs hatchling")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_wheel_holds_the_package_and_nothing_else(built):
    names = built.namelist()
    assert "publius/py.typed" in names
    assert {name.split("/")[0] for name in names} == {"publius", f"publius-{package.__version__}.dist-info"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_holds_every_file_of_the_source(built):
    source = ROOT / "src"
    there = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert {name for name in there if "__pycache__" not in name and "egg-info" not in name} <= set(
        built.namelist()
    )


def test_changelog_begins_with_this_version():
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert first[1] == package.__version__


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell):
    """``publius --show-completion`` for each shell, as that shell asks for it."""
    environment = {"_PUBLIUS_COMPLETE": f"source_{shell}", "PATH": "/usr/bin:/bin"}
    script = Path(sys.executable).with_name("publius")
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=True)
    assert "_PUBLIUS_COMPLETE" in done.stdout
    assert "publius" in done.stdout


def test_completion_knows_the_commands_and_options():
    script = Path(sys.executable).with_name("publius")
    asked = {"_PUBLIUS_COMPLETE": "complete_bash", "PATH": "/usr/bin:/bin"}
    first = {**asked, "COMP_WORDS": "publius do", "COMP_CWORD": "1"}
    assert subprocess.check_output([script], env=first, text=True).split() == ["doctor"]
    second = {**asked, "COMP_WORDS": "publius obfuscate --eps", "COMP_CWORD": "2"}
    assert subprocess.check_output([script], env=second, text=True).split() == ["--epsilon"]


def test_show_completion_is_an_option():
    assert app.info.name == "publius"
    script = Path(sys.executable).with_name("publius")
    shown = subprocess.check_output([script, "--help"], text=True)
    assert "--show-completion" in shown
    assert "--install-completion" in shown


def test_every_lower_bound_is_tested():
    """``make oldest`` pins exactly the lower bounds of pyproject.toml."""
    pins = dict(
        re.findall(
            r"^([\w.-]+)==(\S+)", (ROOT / "requirements" / "oldest.txt").read_text("utf-8"), re.MULTILINE
        )
    )
    everything = [*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())]
    bounds = [
        re.fullmatch(r"([\w.-]+)>=([\w.]+)", each) for each in everything if not each.startswith("publius[")
    ]
    for found in filter(None, bounds):
        if found[0] == "pyarrow>=18":  # Spark's, which has an environment of its own
            continue
        pinned = pins[found[1].lower()]
        assert pinned.removesuffix(".0").startswith(found[2].removesuffix(".0")), found[0]


if __name__ == "__main__":
    SURFACE.write_text(json.dumps(surface(), indent=1) + "\n", encoding="utf-8")
    print(f"{SURFACE.relative_to(ROOT)} holds the public surface as it is now: look at its diff")
