"""A mechanism on whole documents whose class is somebody's own: it is taken in Python, and not at its word."""

from dataclasses import dataclass, replace

import pytest

from publius.errors import PolicyError, UsageError
from publius.mechanisms import registry
from publius.mechanisms.prototype import Prototype
from publius.mechanisms.whole import WholeDocument
from publius.noise.randomness import seeded_rng
from publius.privacy.guarantee import STATED
from publius.releases.plan import Plan
from publius.settings import ReleaseSettings, Settings, option
from references import made

REFERENCE = made(seeded_rng(3).normal(size=(6, 2)), seeded_rng(4).normal(size=(4, 2)))


class Own(WholeDocument):
    """Draws as the prototype mechanism does."""

    name = "own"
    fields = ("prototype", "label")

    def __init__(self, reference, *, preserve="topic", bound, length=40):
        self._take(reference, preserve, length)
        self._inner = Prototype(reference, preserve=preserve, bound=bound, length=length)

    @property
    def guarantee(self):
        return replace(self._inner.guarantee, evidence="proven")

    @property
    def probability_kept(self):
        return self._inner.probability_kept

    def noise(self, rng):
        return self._inner.noise(rng)

    def apply(self, documents, noise):
        return self._inner.apply(documents, noise)


class Silent(Own):
    """Prints labels, and does not state how probable a document's own is."""

    probability_kept = None


def plan(mechanism):
    return Plan.of(ReleaseSettings(preserve="topic"), mechanism)


def test_it_may_say_that_it_is_proven_and_nobody_repeats_it():
    made_of = plan(Own(REFERENCE, bound=5.0))
    manifest = made_of.manifest(1)
    assert made_of.guarantee.evidence == manifest["evidence"] == STATED
    assert f"{STATED}, for the public reference" in manifest["promise"]
    assert plan(Prototype(REFERENCE, bound=5.0)).guarantee.evidence == "certified"


def test_labels_are_refused_without_the_probability_that_stands_beside_each():
    with pytest.raises(PolicyError, match="define probability_kept"):
        plan(Silent(REFERENCE, bound=5.0))


IN_PYTHON = r"make it in Python and give it to publius\.release or publius\.Plan\.of"


def test_it_is_not_taken_by_name_and_the_way_is_said():
    name = f"python:{__name__}:Own"
    with pytest.raises(PolicyError, match=IN_PYTHON):
        registry.mechanism_class(name)
    with pytest.raises(UsageError, match=IN_PYTHON):
        registry.make_document_mechanism(name, REFERENCE, bound=5.0)


@dataclass(frozen=True, kw_only=True)
class SharpnessParameters(Settings):
    """Of the one below."""

    sharpness: int = option(1, help="Of no effect.", at_least=1)


class Sharp(Own):
    """Takes what it declares in the way that kernels do."""

    name = "sharp"
    Parameters = SharpnessParameters

    def __init__(self, reference, *, preserve="topic", bound, length=40, **parameters):
        super().__init__(reference, preserve=preserve, bound=bound, length=length)
        self.chosen = self.Parameters(**parameters)


def test_what_the_class_declares_is_what_it_takes(monkeypatch):
    monkeypatch.setitem(registry.DOCUMENT_MECHANISMS, "sharp", Sharp)
    assert registry.parameters_of("sharp") == {"bound", "length", "sharpness"}
    made_of = registry.make_document_mechanism("sharp", REFERENCE, bound=5.0, sharpness=3)
    assert made_of.chosen.sharpness == 3
    with pytest.raises(UsageError, match="takes no gamma"):
        registry.make_document_mechanism("sharp", REFERENCE, bound=5.0, gamma=0.1)
