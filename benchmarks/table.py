"""The results as one table: what was measured, beside its limit or peer in the same run, and their ratio.

``python -m benchmarks.table`` makes docs/benchmarks.md and docs/figures/benchmarks.svg from benchmarks/results.json.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"


class Row(NamedTuple):
    figure: str
    shape: str
    measured: str
    against: str
    ratio: float | None
    spread: str = ""


def rows_of(results: list[dict]) -> Iterator[Row]:
    for result in results:
        yield from _ROWS[result["benchmark"]](result)


def _shape(result: dict) -> str:
    return f"{result['vocabulary_size']:,} x {result['dimension']}"


def _speed(value: float) -> str:
    return f"{value:,.0f}"


def _spread(result: dict) -> str:
    return f"{result['ratio_min']:.2f} to {result['ratio_max']:.2f}"


def _search(result: dict) -> Iterator[Row]:
    name = "nearest words" if result["benchmark"] == "search" else "text to bags"
    against = f"bare sgemm, {_speed(result['sgemm_words_per_second'])}"
    speed = _speed(result["words_per_second"])
    yield Row(name + _kernel(result), _shape(result), speed, against, result["ratio"], _spread(result))
    for other, ratio in result.get("kernels", {}).items():
        if other != result["kernel"]:
            yield Row(f"{name}, {other}", _shape(result), "", against, ratio)


def _kernel(result: dict) -> str:
    return f", {result['kernel']}, in use" if "kernel" in result else ""


def _text(result: dict) -> Iterator[Row]:
    name = f"text to counts, {result['documents']:,} texts"
    against = f"CountVectorizer, {_speed(result['countvectorizer_words_per_second'])}"
    shape = f"{result['vocabulary_size']:,} words"
    speed = _speed(result["words_per_second"])
    yield Row(name, shape, speed, against, result["ratio"], _spread(result))
    cold = _speed(result["ratio_cold"] * result["countvectorizer_words_per_second"])
    yield Row(f"{name}, none seen before", shape, cold, against, result["ratio_cold"])


def _start(result: dict) -> Iterator[Row]:
    for name, title, beside in (
        ("help", "start: the help", "python"),
        ("first_draw", "start: one sentence released", "numpy"),
        ("explorer", "start: the explorer's page", "numpy"),
        ("explorer_answers", "start: the explorer's first answers", "numpy"),
    ):
        if f"{name}_ms" not in result:  # figures that were kept of an earlier run
            continue
        against = f"bare {beside}, {result[f'{beside}_ms']:.0f} ms"
        yield Row(title, "", f"{result[f'{name}_ms']:.0f} ms", against, result[f"{name}_ratio"])


def _transport(result: dict) -> Iterator[Row]:
    for suffix, words in (("", "Zipf words"), ("_distinct", "distinct words")):
        ours, theirs = result[f"ms_per_pair{suffix}"], result[f"gensim_ms_per_pair{suffix}"]
        name = f"Earth Mover's distance, N = {result['length']}, {words}"
        ratio = result[f"ratio_to_gensim{suffix}"]
        yield Row(name, _shape(result), f"{ours:.1f} ms", f"gensim, {theirs:.1f} ms", ratio)


def _mechanisms(result: dict) -> Iterator[Row]:
    sweep, product = result["sweep_seconds"], result["sgemm_seconds"]
    yield Row("certificate, one sweep", _shape(result), f"{sweep:.1f} s", f"bare sgemm, {product:.1f} s",
              product / sweep)  # fmt: skip
    for row in result["rows"]:
        if "words_per_second" in row:
            name = f"{row['mechanism']}, {row['unchanged']:.0%} of words kept"
            speed = _speed(row["words_per_second"])
            yield Row(name, _shape(result), speed, result["rows"][0]["mechanism"], row["times_reference"])


def _engine(result: dict) -> Iterator[Row]:
    reference = "one worker" if result["benchmark"] == "engine local" else "local processes"
    against = f"{reference}, {_speed(result['reference_words_per_second'])}"
    name = f"{result['benchmark']}, {result['workers']} workers, {result['documents']:,} documents"
    yield Row(
        name, _shape(result), _speed(result["words_per_second"]), against, result["ratio"], _spread(result)
    )


def _workers(result: dict) -> Iterator[Row]:
    name = f"{result['mechanism']}, file to file, {result['workers']} workers"
    shape = f"{result['documents']:,} documents of {result['length']} words"
    against = f"one worker, {result['one_worker_seconds']:.1f} s"
    yield Row(name, shape, f"{result['seconds']:.1f} s", against, result["ratio"], _spread(result))
    if "apart_ratio" in result:
        name = f"{result['mechanism']}, {result['workers']} processes apart, each with its share"
        yield Row(name, shape, "the most this machine gives", against, result["apart_ratio"], "")


def _memory(result: dict) -> Iterator[Row]:
    name = f"memory beyond the vectors, {result['documents']:,} documents"
    yield Row(
        name, f"vectors of {result['vectors_mb']:.0f} MB", f"{result['beyond_vectors_mb']:.0f} MB", "", None
    )


def _opened(result: dict) -> Iterator[Row]:
    shape = f"{result['words']:,} x {result['dimension']}"
    against = f"a copy of the vectors, {result['copy_vectors_ms']:.0f} ms"
    ratio = result["copy_vectors_ms"] / result["open_ms"]
    yield Row("opening a stored vocabulary", shape, f"{result['open_ms']:.0f} ms", against, ratio)


def _peer(result: dict) -> Iterator[Row]:
    for mode in ("exact", "approximate"):
        against = f"mldp-text {result['version']}, {mode}, {_speed(result[f'peer_{mode}_words_per_second'])}"
        speed = _speed(result["words_per_second"])
        yield Row("words to words", _shape(result), speed, against, result[f"ratio_to_{mode}"])


_ROWS = {
    "search": _search,
    "end-to-end": _search,
    "text": _text,
    "start": _start,
    "transport": _transport,
    "mechanisms": _mechanisms,
    "engine local": _engine,
    "engine spark": _engine,
    "workers": _workers,
    "memory": _memory,
    "open store": _opened,
    "peer mldp-text": _peer,
}


_KERNELS = """\
<details><summary>More: the kernels of the search, and processor time</summary>

With the extra `onnxruntime`, which `make setup` installs, the search works with products of 8-bit numbers where a
check of these products passes and whole searches of a sample take less processor time; the words are the same. Else
sgemm works. What was found is kept for the machine, the versions and the shape; `publius doctor` prints it, and
`python -m benchmarks search` measures every kernel in one run. Ratios of the search are of processor time.

With the extra `cuda` (CuPy) and a graphics processor, large work (from 10^12 products of two numbers on) is done there
where a trial finds more words a second than all processors together would; products that are rounded, as TF32 does,
are refused at the start. Words a second on one NVIDIA H100 with 16 cores beside it
(26 November 2026; made vectors, noise as long as words; the words were those of sgemm):

| shape | bare sgemm, 1 and 16 threads | 8-bit, the same | H100, 1 and 4 threads | H100, 1 thread, to sgemm, 16 |
|---|---|---|---|---|
| 33,860 x 300 | 5,937 and 33,863 | 10,317 and 43,392 | 252,940 and 486,818 | 7.5 |
| 50,000 x 50 | 16,632 and 129,577 | 8,951 and 35,575 | 507,489 and 1,004,543 | 3.9 |
| 400,000 x 50 | 1,273 and 10,672 | 1,076 and 5,405 | 116,381 and 84,561 | 10.9 |
| 3,000,000 x 300 | 48 and 380 | not measured | 4,947 and 7,367 | 13.0 |

From file to file less is gained, as reading, noise and writing stay with the processors.

</details>"""


def markdown(record: dict) -> str:
    lines = [
        "# Benchmarks", "",
        "Made by `make bench`. Speeds are in words a second; every ratio is of two figures taken in turn in one run:",
        "above 1, Publius is the faster. The limit of the nearest-word search is the bare float32 matrix product",
        "(sgemm) of the same shapes, in the faster of its two forms.",
        "",
        _KERNELS, "",
        f"{record['machine']}, {record['cores']} processors, Python {record['python']}, numpy {record['numpy']}, "
        f"{record['date']}; load before the run {record['load']:.1f}. Parts not run again keep their figures.",
        "",
        "| what | shape | measured | beside | ratio | range |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for row in rows_of(record["results"]):
        ratio = "" if row.ratio is None else f"{row.ratio:,.2f}" if row.ratio < 20 else f"{row.ratio:,.0f}"
        lines.append(
            f"| {row.figure} | {row.shape} | {row.measured} | {row.against} | {ratio} | {row.spread} |"
        )
    return "\n".join([*lines, "", "![Ratios to limits and peers](figures/benchmarks.svg)", ""])


def draw(record: dict, path: Path) -> None:
    """Every ratio as a bar on a logarithmic scale, with the line of 1."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    rows = [row for row in rows_of(record["results"]) if row.ratio is not None][::-1]
    with mpl.rc_context({"svg.hashsalt": "publius", "svg.fonttype": "none", "font.size": 8}):
        figure, axes = plt.subplots(figsize=(8, 0.28 * len(rows) + 0.8), layout="constrained")
        labels = [f"{row.figure} ({row.shape}) / {row.against.split(',')[0]}" for row in rows]
        axes.barh(range(len(rows)), [row.ratio for row in rows], color="#1f5f99", height=0.6)
        axes.set(
            xscale="log",
            yticks=range(len(rows)),
            yticklabels=labels,
            xlabel="ratio; above 1 Publius is faster",
        )
        axes.axvline(1, color="black", linewidth=0.8)
        for place, row in enumerate(rows):
            axes.annotate(f" {row.ratio:.3g}", (row.ratio, place), va="center")
        axes.margins(x=0.15)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, metadata={"Date": None, "Creator": None}, facecolor="white")


def main() -> None:
    record = json.loads((HERE / "results.json").read_text(encoding="utf-8"))
    (DOCS / "benchmarks.md").write_text(markdown(record), encoding="utf-8")
    draw(record, DOCS / "figures" / "benchmarks.svg")


if __name__ == "__main__":
    main()
