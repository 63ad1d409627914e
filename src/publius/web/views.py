"""The facts of each view, from what a form says. Texts come in a request and go with its answer: nothing keeps them.

A draw beside its text is for the curator's eyes: it is no release.
"""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from publius.distances.earth_mover import transport_plan
from publius.errors import PolicyError, PubliusError, UsageError
from publius.files.reading import value_list
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.lifted import NEAR, TYPICAL, Lifted
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.mechanisms.registry import KERNELS
from publius.mechanisms.word_outcomes import distortion, frequent_words, outcomes
from publius.noise.randomness import seeded_rng, system_rng
from publius.pages.page import PAGE
from publius.privacy.promise import factor_text, meaning
from publius.releases.manifest import decoded
from publius.releases.register import MANIFEST, RUNNING, whole
from publius.text.bag import Bag, tokens_of, words_of
from publius.text.tokenizer import normalize
from publius.web.start import FIRST, form
from publius.web.state import State, WaitError

Asked = Mapping[str, str]
VIEWS: Final = {
    "start": "Start", "document": "Document", "word": "Word", "epsilon": "Epsilon", "compare": "Compare",
    "folders": "Folders",
}  # fmt: skip
EXAMPLE: Final = (
    "The nurse on the night ward was kind, but we waited four hours for a doctor. The heating failed twice in January "
    "and nobody told us which bus still runs to the hospital after eight."
)
OTHER: Final = (
    "My doctor was friendly, yet the queue at the clinic took all morning. The radiators were cold in winter, and the "
    "last train home from the hospital leaves before nine."
)
EPSILONS: Final = (2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0)
_DRAWN: Final = 60  # words of the curve, the most frequent ones, each drawn ten times
_DRAWS: Final = 600
_LIKELY: Final = 10
_MOVES: Final = 30
_DEEP: Final = 4
_FOLDERS: Final = 200
_LOOKED: Final = 10_000
_FIRST: Final = {
    "text": EXAMPLE, "other": OTHER, "word": "nurse", "epsilon": "10", "length": "40", "mechanism": "laplace",
    "vectors": "", "classifier": "", "labels": "", "local": "5", "mechanisms": "laplace", "folder": "", **FIRST,
}  # fmt: skip


def facts(state: State, view: str, asked: Asked) -> dict[str, Any]:
    """All that the template of a view needs: its controls, what was found, or the refusal in its place."""
    values = {**_FIRST, **{name: str(value) for name, value in asked.items()}}
    shared = {
        "view": view, "asked": values, "kernels": list(KERNELS), "vectors": state.vectors(),
        "classifiers": state.classifiers(), "found": None, "error": None, "wait": None,
    }  # fmt: skip
    try:
        shared["found"] = _WORK[view](state, values)
    except WaitError as error:
        shared["wait"] = str(error)
    except PubliusError as error:
        shared["error"] = str(error)
    return shared


def _document(state: State, asked: Asked) -> dict[str, Any]:
    mechanism = _lifted(state, asked)
    vectors, kernel = mechanism.vocabulary, mechanism.kernel
    read, words, before = _read(asked["text"], mechanism)
    after = kernel.draw([before], [system_rng()])[0]
    far = kernel.metric.paired(vectors.vectors[before], vectors.vectors[after]).tolist()
    drawn = [vectors.word(place) for place in after.tolist()]
    same = [str(one) == other for one, other in zip(words, drawn, strict=True)]
    distance = 0.0
    if words:
        inside = [vectors.word(place) for place in before.tolist()]
        distance = transport_plan(Bag(inside), Bag(drawn), vectors, kernel.metric).distance
    ranked = Counter((str(w), d, f) for w, d, f, s in zip(words, drawn, far, same, strict=True) if not s)
    moves = sorted(ranked.items(), key=lambda each: (-each[0][2], each[0]))[:_MOVES]
    return {
        "seen": read.seen, "known": read.seen - read.unknown, "padding": read.padding, "length": mechanism.length,
        "unchanged": sum(same) / len(same) if same else None, "distance": distance,
        "exponent": mechanism.guarantee.epsilon_total, "metric": kernel.metric.name,
        "tokens": _beside(asked["text"], mechanism, drawn, far),
        "moves": [{"word": w, "drawn": d, "distance": f, "times": n} for (w, d, f), n in moves],
        "label": _label(state, asked),
    }  # fmt: skip


def _beside(text: str, mechanism: Lifted, drawn: list[str], far: list[float]) -> list[dict[str, Any]]:
    """The text cut into stretches, each word with what was drawn for it and how far that is, from 0 to 3."""
    longest, at = max(far, default=0.0) or 1.0, 0
    stretches = []
    for token in tokens_of(text, mechanism.vocabulary, mechanism.encoding):
        here = slice(at, at + len(token.words))
        most = max(far[here], default=0.0)
        stretches.append({
            "text": token.text, "kind": token.kind, "drawn": " ".join(drawn[here]), "far": math.ceil(3 * most / longest),
        })  # fmt: skip
        at = here.stop
    return stretches


def _label(state: State, asked: Asked) -> dict[str, Any] | None:
    """What a release of labels would say of the text, where a classifier was chosen."""
    names = tuple(value_list(asked["labels"], "labels")) if asked["labels"].strip() else ()
    if not names and not asked["classifier"]:
        return None
    classifier = state.classifier(asked["classifier"] or None, names)
    response = RandomizedResponse(classifier, _number(asked, "local", 20))
    answer = int(classifier.answers([asked["text"]])[0])
    law = response.law(answer)
    order = sorted(range(len(law)), key=lambda place: (place != answer, place))[:6]
    bars = [
        {"label": response.labels[place], "value": float(law[place]), "tone": "a" if place == answer else "c"}
        for place in order
    ]
    return {
        "answer": response.labels[answer], "bars": bars, "labels": len(law), "changes": 1 - response.kept,
        "epsilon": response.epsilon, "odds": factor_text(response.epsilon),
        "name": "Labels by their names" if names else f"Classifier {classifier.name}",
    }  # fmt: skip


def _word(state: State, asked: Asked) -> dict[str, Any]:
    kernel = _kernel(state, asked)
    vectors = kernel.embeddings
    typed = asked["word"].strip()
    word = next((each for each in (typed, normalize(typed)) if each in vectors), None)
    if word is None:
        raise UsageError(f"{vectors.name} has no such word. A release takes it for an unknown one.")
    found = state.soon(
        ("word", kernel, word), lambda: outcomes(kernel, word, count=_LIKELY, draws=_DRAWS), f"draws of {kernel.name}"
    )
    index = vectors.index(word) or 0
    apart = kernel.metric.pairwise(vectors.vectors[[index]], vectors.vectors)[0]
    near = [place for place in np.argsort(apart, kind="stable")[: 2 * _LIKELY + 1].tolist() if place != index]
    outputs = [vectors.index(each.word) or 0 for each in found.outputs]
    shown = list(dict.fromkeys([index, *outputs, *near]))
    share = {vectors.index(each.word): each.probability for each in found.outputs}
    dots = [
        {"word": vectors.word(place), "x": x, "y": y, "share": share.get(place, 0.0), "distance": float(apart[place])}
        for place, (x, y) in zip(shown, _plane(vectors.vectors[shown]), strict=True)
    ]  # fmt: skip
    return {**asdict(found), "dots": dots, "epsilon": kernel.epsilon, "mechanism": kernel.name}


def _plane(points: Any) -> Any:
    """The two leading principal components about the first point, each scaled to at most 1."""
    centered = np.asarray(points, np.float64) - points[0]
    axes = np.linalg.svd(centered - centered.mean(axis=0), full_matrices=False)[2][:2]
    placed = centered @ axes.T
    placed = np.pad(placed, ((0, 0), (0, 2 - placed.shape[1])))
    return (placed / (np.abs(placed).max(axis=0) + 1e-300)).tolist()


def _epsilon(state: State, asked: Asked) -> dict[str, Any]:
    length = _whole(asked, "length")
    names = [name for name in KERNELS if name in asked["mechanisms"].split(",")]
    if not names:
        raise UsageError("choose a mechanism")
    series, refused, wait = [], [], None
    for name, tone in zip(names, "abcd" * len(names), strict=False):
        points = []
        for epsilon in EPSILONS:
            try:
                points.append({"x": epsilon, "y": _unchanged(state, asked, name, epsilon)})
            except WaitError as error:
                wait = str(error)
                break
            except PolicyError as error:
                refused.append({"mechanism": name, "epsilon": epsilon, "reason": str(error)})
        if points:
            series.append({"name": name, "tone": tone, "points": points})
    pairs = _pairs(state, asked, length)
    return {"series": series, "refused": refused, "length": length, "pairs": pairs, "epsilons": EPSILONS, "wait": wait}


def _unchanged(state: State, asked: Asked, name: str, epsilon: float) -> float:
    """Share of frequent public words that stay; seeded, since nothing is released."""

    def found() -> float:
        kernel = state.kernel(name, epsilon, asked["vectors"] or None)
        words = frequent_words(kernel.embeddings)[:_DRAWN]
        return distortion(kernel, words, draws=10, rng=seeded_rng(1)).unchanged

    return state.soon(
        ("unchanged", asked["vectors"], name, epsilon), found, f"{name}, epsilon {epsilon:g} of {EPSILONS[-1]:g}"
    )


def _pairs(state: State, asked: Asked, length: int) -> list[dict[str, Any]]:
    """The exponent between texts that differ in one word, at each epsilon."""
    mechanism = Lifted(state.kernel("laplace", 1.0, asked["vectors"] or None), length)
    found = [(words, mechanism.public_pair(words)) for words in (NEAR, TYPICAL)]
    return [
        {"words": words, "distance": pair.distance, "exponents": [epsilon * pair.exponent for epsilon in EPSILONS]}
        for words, pair in found
        if pair is not None
    ]


def _compare(state: State, asked: Asked) -> dict[str, Any]:
    mechanism = _lifted(state, asked)
    vectors = mechanism.vocabulary
    distance = mechanism.distance(asked["text"], asked["other"])
    bound = mechanism.bound(distance)
    bags, padding = [], []
    for name in ("text", "other"):
        read, _, own = _read(asked[name], mechanism)
        bags.append(Bag([vectors.word(place) for place in own.tolist()]))
        padding.append(read.padding)
    both = all(bag.size for bag in bags)
    moves = transport_plan(bags[0], bags[1], vectors, mechanism.kernel.metric).moves if both else ()
    total = sum(move.mass * move.distance for move in moves) or 1.0
    return {
        "distance": distance, "exponent": bound.exponent, "factor": factor_text(bound.exponent), "delta": bound.delta,
        "length": mechanism.length, "metric": mechanism.kernel.metric.name, "padding": padding, "words": len(moves),
        "moves": [
            {"from": m.source, "to": m.target, "mass": m.mass, "distance": m.distance, "part": m.mass * m.distance / total}
            for m in moves[:_MOVES]
        ],
    }  # fmt: skip


def _folders(state: State, asked: Asked) -> dict[str, Any]:
    releases, chosen = [], None
    for manifest_file in _manifests(state.folder):
        folder = manifest_file.parent
        name = folder.relative_to(state.folder).as_posix()
        try:
            manifest = decoded(manifest_file.read_bytes(), name)
            said = meaning(manifest) if manifest.private else "NOT PRIVATE"
            kind = str(manifest.__struct_config__.tag)
        except (PubliusError, OSError):
            continue  # a folder of something else, or of another version
        if name == asked["folder"] and (page := folder / PAGE).is_file():
            try:
                whole(folder)
                chosen = {"name": name, "page": page.read_text(encoding="utf-8", errors="replace")}
            except PubliusError as error:  # what was changed is no release
                said = str(error)
        releases.append({"name": name, "kind": kind, "meaning": said})
    return {"folder": state.folder.name, "releases": releases, "chosen": chosen}


def _manifests(root: Path) -> list[Path]:
    """The manifests at most so deep below ``root``, no link followed, the newest folders first."""
    found: list[Path] = []
    for place, below, files in itertools.islice(os.walk(root), _LOOKED):
        folder = Path(place)
        deep = len(folder.relative_to(root).parts) >= _DEEP
        below[:] = sorted(name for name in below if not (deep or name.startswith(".") or name.endswith(RUNNING)))
        if MANIFEST in files and not (folder / MANIFEST).is_symlink():
            found.append(folder / MANIFEST)
    return sorted(found, key=lambda each: (-each.stat().st_mtime, str(each)))[:_FOLDERS]


def _kernel(state: State, asked: Asked) -> Kernel:
    name, epsilon, vectors = asked["mechanism"], _number(asked, "epsilon"), asked["vectors"] or None
    return state.soon(
        ("kernel", name, epsilon, vectors),
        lambda: state.kernel(name, epsilon, vectors),
        f"{name} at epsilon {epsilon:g} over the whole vocabulary, which may take minutes",
    )


def _lifted(state: State, asked: Asked) -> Lifted:
    return Lifted(_kernel(state, asked), _whole(asked, "length"))


def _read(text: str, mechanism: Lifted) -> tuple[Any, list[Any], Any]:
    """A text as the mechanism reads it, its own words, and where each stands, an unknown one at the unknown token."""
    vectors = mechanism.vocabulary
    read = words_of(text, vectors, mechanism.encoding)
    words = list(read.words)[: len(read.words) - read.padding]
    places = (vectors.index(word) if isinstance(word, str) else None for word in words)
    return read, words, np.array([vectors.unknown_index if at is None else at for at in places], np.int64)


def _number(asked: Asked, name: str, most: float = 10_000) -> float:
    try:
        value = float(asked[name])
    except ValueError:
        value = math.nan
    if not 0 < value <= most:
        raise UsageError(f"{name} is a number above 0, at most {most:,.0f}")
    return value


def _whole(asked: Asked, name: str, most: int = 2_000) -> int:
    value = _number(asked, name, most)
    if value != int(value):
        raise UsageError(f"{name} is a whole number from 1 to {most:,}")
    return int(value)


_WORK: Final = {
    "start": form, "document": _document, "word": _word, "epsilon": _epsilon, "compare": _compare,
    "folders": _folders,
}  # fmt: skip
