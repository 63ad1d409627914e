"""The public text nearest to a bag that was drawn: something to read, of which no word is the document's."""

from __future__ import annotations

from publius.releases.plan import Plan
from publius.releases.writing.exemplar import Exemplar
from publius.releases.writing.released_bags import ReleasedBag
from publius.releases.writing.writer import WriterInput
from publius.settings import WritingSettings
from publius.text.bag import Bag
from publius.vectors.learning.reference import Reference
from publius.web import document_answers as answers
from publius.web import requests
from publius.web.state import State


def exemplar(state: State, asked: requests.Exemplar) -> answers.Exemplar:
    """The sentence nearest to a bag, of those that the reference holds to be quoted."""
    plan = state.plan(asked)
    mechanism, reference = plan.mechanism, plan.mechanism.reference
    key = (reference.sha256, mechanism.preserve, mechanism.parameters.get("prototypes"))
    writer = state.exemplars.get(key, lambda: _made(plan, reference))
    found = writer.write(ReleasedBag("", Bag.from_counts(asked.bag), prototype=asked.prototype))
    place = found.source
    return answers.Exemplar(
        text=found.text, fault=found.fault, corpus=place["corpus"], row=place.get("row"), note=writer.note
    )


def _made(plan: Plan, reference: Reference) -> Exemplar:
    return Exemplar(WriterInput(plan.manifest(0), WritingSettings(writer=Exemplar.name), reference))
