"""The container and the forge's workflow by their linters; `make image` takes the steps of the Dockerfile."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import image
from released import completed

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "publius.yml"


def linted(tool, *arguments):
    """What a linter says and whether it is content; skip where it is not installed."""
    found = shutil.which(tool, path=str(Path(sys.executable).parent)) or shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is not installed: make setup")
    done = subprocess.run([found, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def test_the_dockerfile_is_linted(tmp_path):
    content, said = linted("hadolint", image.DOCKERFILE)
    assert content, said
    worse = tmp_path / "Dockerfile"
    worse.write_text(image.DOCKERFILE.read_text(encoding="utf-8").replace("WORKDIR /data", "RUN cd /data"))
    assert not linted("hadolint", worse)[0]


@pytest.mark.parametrize(
    ("schema", "path"),
    [("vendor.github-workflows", WORKFLOW), ("vendor.compose-spec", ROOT / "container" / "compose.yaml")],
    ids=["workflow", "compose"],
)
@pytest.mark.long
def test_the_files_keep_to_their_schemas(schema, path, tmp_path):
    content, said = linted("check-jsonschema", "--builtin-schema", schema, path)
    assert content, said
    worse = tmp_path / path.name
    worse.write_text(
        path.read_text(encoding="utf-8").replace("runs-on:", "run-on:").replace("image:", "imag:")
    )
    assert not linted("check-jsonschema", "--builtin-schema", schema, worse)[0]


def test_the_workflow_is_safe(tmp_path):
    content, said = linted("zizmor", "--offline", "--quiet", WORKFLOW)
    assert content, said
    worse = tmp_path / "worse.yml"
    worse.write_text(re.sub(r"@[0-9a-f]{40}  # (v[0-9.]+)", r"@\1", WORKFLOW.read_text(encoding="utf-8")))
    assert not linted("zizmor", "--offline", "--quiet", worse)[0]


def test_the_workflow_does_what_a_release_needs():
    text = WORKFLOW.read_text(encoding="utf-8")
    for step in (".ci/run", "make docs", "make wheel-test", "make image"):
        assert f"- run: {step}\n" in text
    publish = text.split("\n  publish:\n")[1]
    assert "startsWith(github.ref, 'refs/tags/v')" in publish
    assert "id-token: write" in publish  # trusted publishing: there is no password
    assert "password" not in publish
    assert "secrets." not in text


def test_the_image_is_small_and_not_the_superuser():
    build, final = image.instructions()
    assert all(rest == "${PYTHON} AS build" or rest == "${PYTHON}" for kind, rest in (build[0], final[0]))
    assert "ARG PYTHON=" in image.DOCKERFILE.read_text(encoding="utf-8")
    assert any("--require-hashes" in rest for kind, rest in build if kind == "RUN")
    assert [rest for kind, rest in final if kind == "USER"] == [str(image.USER)]
    assert not any("pip install" in rest for kind, rest in final)
    assert {"HEALTHCHECK", "ENTRYPOINT", "VOLUME"} <= {kind for kind, _ in final}


def test_the_image_imports_nothing_from_the_folder_of_the_documents():
    """Every start of Python in the image: the command, the check of its health, and whatever they start."""
    _, final = image.instructions()
    said = dict(final)
    assert "PYTHONSAFEPATH=1" in said["ENV"]
    for start in (said["ENTRYPOINT"], said["HEALTHCHECK"].split("CMD ", 1)[1]):
        call = json.loads(start)
        assert call[:2] == ["python", "-I"], call


COMPOSE = ROOT / "container" / "compose.yaml"


def commands_on_the_page():
    """The lines of the block in the page on containers, without their comments."""
    page = (
        (ROOT / "docs" / "how-to" / "service.md")
        .read_text(encoding="utf-8")
        .partition("## In a container")[2]
    )
    return [
        shlex.split(line, comments=True) for line in page.split("```text\n")[1].split("```")[0].splitlines()
    ]


def test_the_page_on_containers_makes_what_is_mounted_for_the_user_of_the_image():
    watch = pytest.importorskip("yaml").safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["watch"]
    mounts = dict(each.split(":") for each in watch["volumes"])
    _, made, owned, *_ = commands_on_the_page()
    assert made[:2] == ["mkdir", "-p"]
    assert made[2:] == ["container/data/inbox", "container/budgets"]
    assert {f"./{Path(each).relative_to('container').parts[0]}" for each in made[2:]} == {*mounts}
    assert owned == [
        "sudo",
        "chown",
        "-R",
        f"{image.USER}:{image.USER}",
        *(f"container/{Path(each)}" for each in mounts),
    ]
    assert watch["user"] == f"{image.USER}:{image.USER}"
    assert watch["command"][1] == f"{mounts['./data']}/inbox"
    told = [
        line.removeprefix("# ")
        for line in COMPOSE.read_text("utf-8").splitlines()
        if line.startswith("# docker")
    ]
    assert commands_on_the_page()[-2:] == [shlex.split(each) for each in told]


@pytest.mark.long
def test_the_commands_of_the_page_do_what_it_says_without_a_container(tmp_path):
    """What the engine would start, with the folders of this machine in the places of the mounts."""
    watch = pytest.importorskip("yaml").safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["watch"]
    build, *_, init, up = commands_on_the_page()
    assert ROOT / build[build.index("-f") + 1] == image.DOCKERFILE
    assert build[build.index("-t") + 1] == watch["image"]
    assert all(ROOT / each[each.index("-f") + 1] == COMPOSE for each in (init, up))
    assert [each[each.index("watch") - 1] for each in (init, up)] == ["--rm", "up"]

    def here(arguments):
        return [re.sub(r"^/(data|budgets)\b", rf"{tmp_path}/\1", each) for each in arguments]

    (tmp_path / "data" / "inbox").mkdir(parents=True)
    (tmp_path / "budgets").mkdir()
    (tmp_path / "data" / "inbox" / "letter.txt").write_text("The bridge inspection found cracked bearings.")
    done = completed(*here(init[init.index("watch") + 1 :]))
    assert done.returncode == 0, done.stderr
    done = completed(*here(watch["command"]), "--once")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "data" / "released" / "00000001" / "bags.jsonl").is_file()
    assert not (tmp_path / "data" / "inbox" / "released").exists()


def test_the_service_of_the_image_has_options_that_exist_and_keeps_its_token_out_of_the_log():
    _, final = image.instructions()
    name, *options = json.loads(dict(final)["CMD"])
    help = completed(name, "--help").stdout
    flags = [each for each in options if each.startswith("--")]
    assert flags
    assert all(each in help for each in flags)
    assert options[options.index("--token-file") + 1].startswith("/data/")
    assert "the first line of its log" not in (ROOT / "docs" / "how-to" / "service.md").read_text(
        encoding="utf-8"
    )


def test_the_pins_of_the_image_are_those_of_the_tests():
    """What is tested is what is put into the image."""

    def pins(name):
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        return set(re.findall(r"^([\w.-]+==\S+)", text, re.MULTILINE))

    assert pins("image")
    assert pins("image") <= pins("dev")
