"""The explorer as a process and a headless Chromium on it: make e2e, which has its own environment."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")
WATCH = """
window.breaches = [];
document.addEventListener("securitypolicyviolation", (event) => window.breaches.push(event.violatedDirective));
"""


@pytest.fixture(scope="session")
def explorer(embeddings, tmp_path_factory):
    """The address that was printed, and the folder."""
    place = tmp_path_factory.mktemp("explorer")
    embeddings.save(place / "home" / "embeddings" / "toy")
    folder = place / "folder"
    folder.mkdir()
    arguments = ["explore", folder, "--port", "0", "--no-browser"]
    environment = {**os.environ, "PUBLIUS_HOME": str(place / "home")}
    with subprocess.Popen(
        [sys.executable, "-m", "publius", *map(str, arguments)], stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        yield process.stdout.readline().strip(), folder
        process.terminate()


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="make e2e has its own environment")
    if not CHROMIUM.exists():
        pytest.skip(f"needs {CHROMIUM}")
    with ExitStack() as stack:
        started = stack.enter_context(sync_api.sync_playwright())
        made = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        stack.callback(made.close)
        yield made


@pytest.fixture
def page(browser, explorer):
    """The explorer's page; asking another machine, breaking the policy or a script's error fails the test."""
    address, _ = explorer
    host = address.split("/#")[0]
    faults = []
    with browser.new_context() as context:
        found = context.new_page()
        found.add_init_script(WATCH)
        found.on("request", lambda each: each.url.startswith((host, "data:", "about:")) or faults.append(each.url))
        found.on("pageerror", lambda error: faults.append(str(error)))
        found.goto(address)
        found.wait_for_selector("h1")
        yield found
        assert found.evaluate("window.breaches") == []
    assert faults == []
