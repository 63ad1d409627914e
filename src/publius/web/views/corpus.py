"""The texts to be released, one by one, before and after: for the curator's eyes, never a release."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from publius.documents.corpus import BadDocument, Document
from publius.documents.languages import language_of
from publius.errors import MissingExtraError, UsageError
from publius.evaluation.steps.walk import RELEASE, Walk
from publius.releases.document_outcomes import outcomes_at, places_of
from publius.releases.plan import Plan
from publius.releases.preflight import is_foreign
from publius.releases.protect import protect
from publius.releases.release import Release
from publius.settings import TextSettings
from publius.text.bag import Encoded, words_of
from publius.web import requests
from publius.web import start_answers as answers
from publius.web.state import State
from publius.web.views.outcomes import axes_of, flat
from publius.web.views.start import plan_of, walk_of

_OUTCOMES: Final = 3
_LONGEST: Final = 20_000
"""Characters of a text that are shown."""

_ON_MAP: Final = 1_000
"""Texts on the map."""


def corpus(state: State, asked: requests.Part) -> answers.Corpus:
    """Some of the texts with what a release makes of them: the released bags, where these were released by their ids.

    A number in a release is a rank in a secret order: nobody knows whose row it is.
    """
    walk = walk_of(state.workplace, asked)
    plan = plan_of(state.workplace, walk)
    part = list(islice(walk.corpus, asked.first - 1, asked.first - 1 + asked.count))
    if not part:
        raise UsageError("there is no text of this number")
    good = [item for item in part if isinstance(item, Document)]
    folder = _released_folder(state, walk)
    after = _drawn(good, plan) if folder is None else dict(_released(folder, {item.id for item in good}))
    documents = [_one(item, plan, after) for item in part]
    return answers.Corpus(rows=walk.found.rows, released=folder is not None, documents=documents)


def corpus_map(state: State, asked: requests.Start) -> answers.Map:
    """Where the first thousand texts lie among the public prototypes, and which each most likely becomes."""
    walk = walk_of(state.workplace, asked)
    plan = plan_of(state.workplace, walk)
    mechanism, aspect = plan.mechanism, plan.mechanism.reference.aspect(plan.mechanism.preserve)
    good = [item for item in islice(walk.corpus, _ON_MAP) if isinstance(item, Document)]
    read = [places_of(item.text, plan)[1] for item in good]
    law, shown = mechanism.law(read), mechanism.landmarks
    if law is None:
        raise UsageError(f"the mechanism {mechanism.name} names no prototypes that texts could lie among")
    axes = axes_of(shown.points)
    likeliest = law.argmax(axis=1).tolist()
    places = flat(aspect.positions(read), axes)
    labels, points = shown.labels, flat(shown.points, axes)
    return answers.Map(
        rows=walk.found.rows,
        prototypes=[answers.PrototypeAt(label=label, **at) for label, at in zip(labels, points, strict=True)],
        documents=[
            answers.TextAt(number=item.position, prototype=found, **at)
            for item, found, at in zip(good, likeliest, places, strict=True)
        ],
        dimension=aspect.dimension,
    )


def _one(item: Document | BadDocument, plan: Plan, after: dict[str, answers.After]) -> answers.OneText:
    if isinstance(item, BadDocument):
        return answers.OneText(number=item.position, problem=item.reason)
    whole = replace(plan.encoding, length=None, unknown=TextSettings.unknown)
    found = words_of(item.text, plan.vocabulary, whole)
    words = found.seen - found.unknown if plan.encoding.unknown == "drop" else found.seen
    padding, longer = max(0, plan.encoding.missing(words)), max(0, words - (plan.encoding.length or words))
    outcomes: list[answers.Likely] = []
    if plan.mechanism.outcomes:
        likely = outcomes_at(places_of(item.text, plan)[1], plan)["outcomes"][:_OUTCOMES]
        outcomes = [answers.Likely(label=each["label"], probability=each["probability"]) for each in likely]
    return answers.OneText(
        number=item.position,
        problem=None,
        text=item.text[:_LONGEST],
        words=words,
        unknown=found.unknown,
        padding=padding,
        beyond=longer,
        language=_language(item.text),
        warnings=list(_warnings(found, padding, longer, plan)),
        after=after.get(item.id),
        outcomes=outcomes,
    )


def _warnings(found: Encoded, padding: int, longer: int, plan: Plan) -> Iterator[str]:
    if not found.seen:
        yield "empty: nothing of it is kept"
    elif is_foreign(found, plan):
        yield "hardly any of its words is known: it is in another language, or not like the public texts"
    if padding:
        yield f"{padding:,} of the {plan.size:,} words released are padding"
    if longer:
        yield f"{longer:,} words stand after the first {plan.encoding.length:,} and are left out"


def _language(text: str) -> str | None:
    try:
        return language_of(text)
    except MissingExtraError:
        return None


def _drawn(good: Sequence[Document], plan: Plan) -> dict[str, answers.After]:
    """One draw of each, to look at."""
    if not good:
        return {}
    found, _ = protect(good, plan, plan.run_key())
    return {each.id: _after(each.bag.counts, each.label) for each in found if isinstance(each, Release)}


def _released_folder(state: State, walk: Walk) -> Path | None:
    """Where these texts were released by their ids with these answers, in the run that is finished."""
    run, same_texts = state.workplace.run, state.workplace.run_on == state.workplace.texts_read
    if walk.corpus.id_field is None or not same_texts:
        return None
    if run is None or run.state != "done" or run.kind != "release" or not (run.result or {}).get("folder"):
        return None
    same = ("preserve", "text_field", "publish_ids")
    differs = any(run.facts[name] != getattr(walk.choices, name) for name in same)
    if differs or (run.facts["strength"], run.facts["reference"]) != (walk.strength, walk.reference):
        return None
    return Path((run.result or {})["folder"]) / RELEASE


def _released(folder: Path, ids: set[str]) -> Iterator[tuple[str, answers.After]]:
    with (folder / "bags.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if record["id"] in ids:
                yield record["id"], _after(record["bag"], record.get("label"))


def _after(counts: Mapping[str, int], label: str | None) -> answers.After:
    bag = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return answers.After(label=label, bag=bag)
