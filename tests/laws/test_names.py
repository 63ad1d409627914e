"""What is stored under a name: a classifier's name loads the same classifier, in any process."""

import json
import subprocess
import sys

import pytest

import publius
from publius.classifiers.store import is_stored, load_classifier, read_folder
from publius.errors import DataError
from toy import sentence

TEXTS = [*map(sentence, range(12)), "", "zzzz", "The nurse of the ward was kind.", "The bus was late again.", "open"]
MODULE = """class Length:
    labels = ("short", "long")
    def predict(self, text):
        return "long" if len(text) > 40 else "short"
"""
NAMES = ("housing", "public transport", "health care")
KINDS = {
    "topics": ("load_classifier('mine')", ["--classifier", "mine"]),
    "clusters": ("load_classifier('groups')", ["--classifier", "groups"]),
    "values": ("publius.Values(('open', 'closed'))", ["--field", "text", "--labels", "open,closed"]),
    "names": (f"publius.Names({NAMES})", ["--labels", ",".join(NAMES)]),
    "subjects": ("load_classifier('subjects')", ["--classifier", "subjects"]),
    "python": ("load_classifier('python:lengths_of_a_law:Length')", ["--classifier", "python:lengths_of_a_law:Length"]),
}
"""Of each kind how it is had in Python, and what names it in a release."""
ASKED = """
import json, sys
import publius
from publius.classifiers.store import load_classifier
told = json.load(sys.stdin)
found = {kind: eval(made) for kind, made in told["made"].items()}
def said(each):
    return [each.sha256, each.labels, [int(place) for place in each.answers(told["texts"])],
            [each.predict(text) for text in told["texts"]], [each.words(label) for label in each.labels]]
json.dump({kind: said(each) for kind, each in found.items()}, sys.stdout)
"""


def asked(texts=TEXTS, kinds=KINDS):
    """What a new process says of them."""
    told = json.dumps({"made": {kind: KINDS[kind][0] for kind in kinds}, "texts": texts})
    done = subprocess.run([sys.executable, "-c", ASKED], input=told, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture
def made(run, home, tmp_path, monkeypatch):
    """One of each kind, as it was when it was made and stored."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lengths_of_a_law.py").write_text(MODULE)
    public = [sentence(n) + (" river storm harbor" if n % 2 else " market cheese bread") for n in range(40)]
    rows = [{"text": text, "topic": "water" if n % 2 else "food"} for n, text in enumerate(public)]
    (tmp_path / "public.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "private.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    for more in (["--label", "topic", "--name", "mine"], ["--kind", "clusters", "--clusters", "3", "--name", "groups"]):
        assert run("models", "train", "public.jsonl", *more)[0] == 0
    yield {kind: eval(python, globals()) for kind, (python, _) in KINDS.items()}
    sys.modules.pop("lengths_of_a_law", None)


def test_a_classifiers_name_loads_the_same_classifier(made, run, home, tmp_path):
    found = asked()
    for kind, each in made.items():
        sha256, labels, answers, predicted, words = found[kind]
        assert (each.kind, sha256, tuple(labels)) == (kind, each.sha256, each.labels)
        assert answers == [int(place) for place in each.answers(TEXTS)], kind
        assert predicted == [each.predict(text) for text in TEXTS], kind
        assert [tuple(some) for some in words] == [tuple(each.words(label)) for label in each.labels], kind
        assert run("label", "private.jsonl", *KINDS[kind][1], "--epsilon", "5", "--output", kind)[0] == 0
        manifest = publius.read_release(tmp_path / kind).manifest
        assert (manifest.classifier.sha256, manifest.labels) == (sha256, each.labels), kind
    (tmp_path / "lengths_of_a_law.py").write_text(MODULE.replace("40", "50"))
    assert asked([], ["python"])["python"][0] != made["python"].sha256


@pytest.mark.parametrize("name", ["mine", "groups"])
def test_a_classifier_of_which_a_file_was_changed_is_refused(made, home, name):
    assert is_stored(name)
    folder = home / "classifiers" / name
    first = load_classifier(name).sha256
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        if path.suffix == ".npy":
            for changed in (whole[:-1] + bytes([whole[-1] ^ 1]), whole[:-1], b""):
                path.write_bytes(changed)
                with pytest.raises(DataError):
                    load_classifier(name)
        else:  # of its record each fact that decides an answer is in the digest that stands in a manifest
            label = json.loads(whole)["labels"][0]
            path.write_bytes(whole.replace(json.dumps(label).encode(), b'"another"', 1))
            assert read_folder(folder).sha256 != first
        path.write_bytes(whole)
    assert load_classifier(name).sha256 == first
