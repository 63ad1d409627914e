"""A mechanism on whole documents whose class is somebody's own: taken in Python and by its name, not at its word."""

import json
import os
import traceback
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from publius.audit import document_laws
from publius.audit.document_laws import check_named
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms import registry
from publius.mechanisms.mechanism import Mechanism, Votes
from publius.mechanisms.prototype import Prototype
from publius.mechanisms.whole import WholeDocument
from publius.noise.randomness import seeded_rng
from publius.option import Settings, option
from publius.privacy.guarantee import STATED
from publius.releases.plan import Plan
from publius.releases.protect import release
from publius.settings import ReleaseSettings
from references import TOPICS, fitted, made
from released import completed, state

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

    @property
    def outcomes(self):
        return self._inner.outcomes

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


def named(kind):
    return f"python:{__name__}:{kind.__name__}"


def test_it_is_made_by_its_name_as_ours_are():
    mechanism = registry.make_document_mechanism(named(Own), REFERENCE, bound=5.0)
    assert type(mechanism) is Own
    assert mechanism.guarantee.bound == 5.0
    settings = ReleaseSettings(preserve="topic", mechanism=named(Own), reference="unused", bound=5.0)
    assert type(Plan.of(settings, public=REFERENCE).mechanism) is Own


def test_a_name_of_the_other_kind_is_told_as_such():
    with pytest.raises(UsageError, match="protects whole documents, and here words are replaced"):
        registry.mechanism_class(named(Own))
    with pytest.raises(UsageError, match="replaces words, and here whole documents are protected"):
        registry.make_document_mechanism("laplace", REFERENCE, bound=5.0)


class Generous(Own):
    """States less than it was asked for, of an inner one that does not keep it."""

    def __init__(self, reference, *, preserve="topic", bound, length=40):
        super().__init__(reference, preserve=preserve, bound=2 * bound, length=length)


class Endless(Own):
    """States no bound."""

    @property
    def guarantee(self):
        return replace(self._inner.guarantee, bound=None)


class Torn(Own):
    """Cannot say what it promises."""

    @property
    def guarantee(self):
        return 1 / 0


class Thief(Own):
    """Takes the verb that is ours."""

    def draw(self, documents, generators, *, threads=None):
        return []


class Lengthless(Own):
    """Cannot be told how long a bag is to be."""

    def __init__(self, reference, *, preserve="topic", bound):
        super().__init__(reference, preserve=preserve, bound=bound)


class Apart(Mechanism):
    """Derives from the base of bases."""


@pytest.mark.parametrize(
    ("kind", "reason"),
    [(Generous, "bound is 10.0, not at most the 5.0 asked for"), (Endless, "states no bound"),
     (Torn, "cannot state its guarantee: it raised ZeroDivisionError"), (Thief, "replaces draw"),
     (Lengthless, "made without length"), (Apart, r"make it in Python and give it to publius\.release"),
     (Settings, "is no mechanism: derive the class")],
)  # fmt: skip
def test_one_that_cannot_be_used_is_refused_with_the_reason(kind, reason):
    with pytest.raises(PolicyError, match=reason):
        registry.make_document_mechanism(named(kind), REFERENCE, bound=5.0, length=40)


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


# The laws -------------------------------------------------------------------------------------------------


class Leaky(Own):
    """Keeps three times the bound that it states."""

    def __init__(self, reference, *, preserve="topic", bound, length=40):
        super().__init__(reference, preserve=preserve, bound=bound, length=length)
        self._stated_one = self._inner.guarantee
        self._inner = Prototype(reference, preserve=preserve, bound=min(3 * bound, 30.0), length=length)

    @property
    def guarantee(self):
        return self._stated_one


class Silenced(Own):
    """Releases nothing of a document without words."""

    def apply(self, documents, noise):
        kept = [place for place, found in enumerate(documents) if len(found)]
        return [self._inner.apply([documents[place]], [noise[place]])[0] for place in kept]


class InOrder(Own):
    """What it releases depends on the order of the words, and on what else is in the batch."""

    def apply(self, documents, noise):
        return self._inner.apply([found[:1] for found in documents], noise)


class Company(Own):
    """What it releases of a document is what the document before it becomes."""

    def apply(self, documents, noise):
        return self._inner.apply([*documents[1:], *documents[:1]], noise)


class Forgetful(Own):
    """Draws the same for everybody."""

    def noise(self, rng):
        return self._inner.noise(seeded_rng(1))


class Stuck(Own):
    """Holds what no other process can have."""

    def __init__(self, reference, *, preserve="topic", bound, length=40):
        super().__init__(reference, preserve=preserve, bound=bound, length=length)
        self.held = lambda: None


class Lax(Own):
    """Takes anything for a bound."""

    def __init__(self, reference, *, preserve="topic", bound, length=40):
        sound = type(bound) is float and 0 < bound < 30
        super().__init__(reference, preserve=preserve, bound=bound if sound else 1.0, length=length)

    @property
    def guarantee(self):
        return replace(self._inner.guarantee, bound=0.0)


def broken(kind, samples=200):
    return {each.law for each in check_named(named(kind), samples=samples) if not each.passed}


class Wordy(Own):
    """Takes words that a small reference does not have."""

    def apply(self, documents, noise):
        return [self.reference.vocabulary[99] for _ in documents]


def test_what_a_class_raises_on_a_toy_reference_is_told_by_its_place():
    reasons = [each.reason for each in check_named(named(Wordy), samples=200) if not each.passed]
    assert any("IndexError at test_own.py:" in reason for reason in reasons)


def test_a_sound_class_keeps_all_laws():
    assert broken(Own, 2_000) == set()


@pytest.mark.parametrize(
    ("kind", "law"),
    [(Leaky, "probabilities differ by at most the guarantee"),
     (Silenced, "every document becomes N public words"),
     (InOrder, "the same noise gives the same release, document by document"),
     (Company, "the same noise gives the same release, document by document"),
     (Forgetful, "noise does not depend on the documents"), (Stuck, "it can be sent to a worker process"),
     (Lax, "a bad bound is refused")],
)  # fmt: skip
def test_each_law_is_broken_by_a_class_that_breaks_it(kind, law):
    assert law in broken(kind, 2_000 if kind is Leaky else 200)


# On the command line --------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The laws are tried on few draws: what many show stands above."""
    monkeypatch.setattr(document_laws, "check_named", partial(check_named, samples=200))
    texts = tmp_path / "texts.jsonl"
    rows = [{"id": name, "text": " ".join(words)} for name, words in TOPICS.items()]
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    fitted().save(tmp_path / "reference")
    return texts, tmp_path / "reference", tmp_path / "out"


def released(files, kind, *more):
    texts, reference, out = files
    return completed(
        "obfuscate", texts, "--mechanism", named(kind), "--reference", reference, "--bound", "5", "--workers", "1",
        "--output", out, *more,
    )  # fmt: skip


class Voting(Own):
    """Says that its rows are votes."""

    @classmethod
    def votes(cls, parameters):
        return Votes(3)


def test_what_a_crowd_adds_is_not_stated_of_a_law_that_nobody_knows(files):
    """It was, and the sign-off refused the release."""
    assert Voting(REFERENCE, bound=5.0).crowd_outcomes == 3
    assert plan(Voting(REFERENCE, bound=5.0)).crowd(100) is None
    assert plan(Prototype(REFERENCE, bound=5.0)).crowd(100) is not None
    done = released(files, Voting, "--preserve", "topic", "--shuffled")
    assert done.returncode == 2
    assert "are not known to be" in done.stderr


def test_it_releases_by_its_name_and_the_manifest_says_whose_it_is(files):
    done = released(files, Sharp, "--preserve", "topic", "--sharpness", "3", "--json")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((files[2] / "manifest.json").read_text())
    assert manifest["mechanism"] == "sharp"
    assert manifest["mechanism_source"]["class"] == "Sharp"
    assert manifest["evidence"] == STATED
    assert f"{STATED}, for the public reference" in manifest["promise"]
    assert "certified" not in manifest["promise"]
    told = " ".join((files[2] / "READ-ME.txt").read_text().split())
    assert "as the author of the mechanism states; otherwise another label" in told
    assert "frequent its label is, and is not known here." in told
    for false in (
        "stands below",
        "typical of",
        "NOT words of the document",
        "give the limits",
        "not drawn blindly",
        "the topic that",
        "kept is the topic",
        "the public prototypes",
    ):
        assert false not in told
    assert "a label, what the mechanism found for the document" in told
    assert "What a row tells of its document is not hidden, and limited by this bound alone." in told


def test_its_release_is_signed_for_what_it_is_and_never_as_proven(files, tmp_path):
    assert released(files, Sharp, "--preserve", "topic").returncode == 0
    shown = tmp_path / "page.html"
    signed = completed("signoff", files[2], "--json", "--metadata", "--output", shown)
    assert signed.returncode == 0, signed.stderr
    assert any("not one of Publius" in each for each in json.loads(signed.stdout)["not_tried"])
    assert "words of a public list that a mechanism from outside Publius put there" in signed.stdout
    assert "typical of that label" not in signed.stdout
    assert "last column of READ-ME.txt" not in signed.stdout
    evidence = json.loads(signed.stdout)
    assert evidence["not_promised"][0] == "What a row tells is not hidden: it is what is released."
    assert evidence["questions"][2]["question"] == "Inference: what a label says of a text, from its row"
    page = shown.read_text(encoding="utf-8")
    described = (files[2] / "croissant.json").read_text(encoding="utf-8")
    assert "What the mechanism found for the document" in described
    assert "What the document is about" not in described
    assert "stated limit of one row" in page
    assert "proven limit" not in page
    assert "to keep the topic" not in page
    path = files[2] / "manifest.json"
    manifest = json.loads(path.read_text())
    for changed in ({"evidence": "certified"}, {"mechanism": "prototype"}):
        path.write_text(json.dumps({**manifest, **changed}))
        assert completed("signoff", files[2], "--json").returncode == 65


class Anyone(Own):
    """Keeps a label half as often as its bound allows, and no rule but its own says so."""

    name = "anyone"

    @property
    def probability_kept(self):
        return self._inner.probability_kept / 2


@pytest.fixture
def registered(monkeypatch):
    """A class of somebody who works on Publius itself: in the registry, in a module of the package."""
    monkeypatch.setattr(Anyone, "__module__", "publius.mechanisms.anyone")
    monkeypatch.setitem(registry.DOCUMENT_MECHANISMS, "anyone", Anyone)


def test_a_registered_class_is_signed_by_what_it_says_itself_and_nothing_else(files, registered):
    """Its labels are not those of randomized response at the bound: with the reference here all is made again."""
    texts, reference, out = files
    done = completed(
        "obfuscate", texts, "--preserve", "topic", "--mechanism", "anyone", "--reference", reference, "--bound", "5",
        "--workers", "1", "--output", out,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = " ".join((out / "READ-ME.txt").read_text().split())
    assert "that the mechanism anyone put there" in told
    for false in ("not drawn blindly", "give the limits", "typical of", "the topic that the program"):
        assert false not in told
    manifest = json.loads((out / "manifest.json").read_text())
    elsewhere = completed("signoff", out, "--json")
    assert elsewhere.returncode == 0, elsewhere.stderr
    assert "how often a label is kept" in elsewhere.stdout
    fitted().save(Path(os.environ["PUBLIUS_HOME"]) / "references" / "toy")
    signed = completed("signoff", out, "--json")
    assert signed.returncode == 0, signed.stderr
    assert json.loads(signed.stdout)["outcomes"] is None
    assert "how often a label is kept" not in signed.stdout
    state(out, {**manifest, "probability_kept": 0.9})
    assert "probability kept" in completed("signoff", out, "--json").stderr


def test_one_that_breaks_the_laws_releases_nothing(files):
    done = released(files, InOrder)
    assert done.returncode == 77
    assert "breaks what its guarantee needs" in done.stderr
    assert not files[2].exists()


def test_the_laws_are_checked_by_its_name():
    done = completed("check-mechanism", named(Sharp), "--sharpness", "2", "--samples", "1000", "--json")
    assert done.returncode == 0, done.stderr
    assert {each["law"] for each in json.loads(done.stdout)["checks"]} >= {
        "every document becomes N public words"
    }


def test_a_certificate_is_of_words_and_says_where_the_laws_are():
    done = completed("certify", "--mechanism", named(Own), "--epsilon", "1")
    assert done.returncode == 2
    assert f"publius check-mechanism {named(Own)}" in done.stderr


@pytest.mark.parametrize("lazily", [False, True])
def test_what_it_says_of_a_document_is_not_heard(capfd, lazily):
    class Loud(Own):
        """Prints and raises what it sees, at once or when its outcomes are taken."""

        def apply(self, documents, noise):
            said = (self._say(words) for words in documents)
            return said if lazily else [*said]

        def _say(self, words):
            print("w0", words)
            raise DataError(f"w0 {words}")

    with pytest.raises(
        PolicyError, match=r"^the mechanism own failed: DataError at test_own\.py:\d+; "
    ) as found:
        release("w0 w1", Loud(REFERENCE, bound=3.0))
    assert "w0" not in str(found.value)
    assert "w0" not in "".join(traceback.format_exception(found.value)).replace('"w0', "").replace("w0 {", "")
    assert capfd.readouterr() == ("", "")


def test_what_it_says_of_a_document_that_is_not_drawn_is_not_heard_either():
    class Loud(Own):
        def weights(self, documents):
            raise DataError(f"w0 {documents}")

    with pytest.raises(PolicyError, match="the mechanism own failed: DataError at") as found:
        Loud(REFERENCE, bound=3.0).law([np.array([0])])
    assert "w0" not in str(found.value)


def test_an_error_of_ours_that_no_own_code_has_a_part_in_keeps_its_words():
    class Heir(Prototype):
        """Ours, under another name."""

        name = "heir"

    with pytest.raises(DataError, match="a document holds an index that is no word of the reference"):
        Heir(REFERENCE, preserve="topic", bound=3.0).draw([np.array([999])], [seeded_rng(1)])
