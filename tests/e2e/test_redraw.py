"""How long a redraw takes on the packaged vectors, as a program sees it, beside the kernel's own time."""

import statistics
import time

import pytest
from explorer import explorer

from publius.vectors.catalogue import package_installed

pytest.importorskip("schemathesis", reason="a part of make e2e, which has its own environment")


@pytest.mark.skipif(not package_installed(), reason="the extra glove is not installed")
def test_moving_epsilon_redraws_within_200_ms(tmp_path, capsys):
    with explorer(tmp_path) as running:
        text = running.ask("GET", "/v1/samples/federalist-10")[1]["text"]
        running.ask("GET", "/v1/mechanisms")  # prepared at the start; wait for it
        rounds, kernels = [], []
        for step in range(40):
            started = time.perf_counter()
            status, found = running.ask("POST", "/v1/draw", {"text": text, "epsilon": 8 + step / 10})
            rounds.append(time.perf_counter() - started)
            kernels.append(found["seconds"]["kernel"])
            assert (status, found["size"]) == (200, 400)
    whole, kernel = statistics.median(rounds), statistics.median(kernels)
    with capsys.disabled():
        print(
            f"\nredraw {1e3 * whole:.0f} ms, kernel {1e3 * kernel:.0f} ms, ratio {whole / kernel:.2f} (medians of 40)"
        )
    assert whole < 0.2
