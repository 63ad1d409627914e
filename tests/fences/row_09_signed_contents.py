"""Only a folder that holds exactly the release of its manifest is signed for."""

import contextlib
import gzip
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fences import Fence
from publius.errors import DataError, PolicyError
from publius.mechanisms.finite import base
from publius.releases import contents, digests, manifests, measured, of_manifest, signoff, verification
from publius.releases.digests import file_digests
from publius.releases.metadata import METADATA
from publius.releases.plan import publius_version
from released import command, state, toy_documents, toy_release, toy_vectors


def _check(folder: Path) -> None:
    release = toy_release(folder / "release")
    signoff.sign_off(release)
    bags = (release / "bags.jsonl").read_text().splitlines(keepends=True)
    marked = json.dumps({**json.loads(bags[0]), "warning": "NOT PRIVATE: REPRODUCIBLE"}) + "\n"
    stronger = toy_release(folder / "stronger", epsilon=0.5)
    rest, manifest = "".join(bags[1:]), (stronger / "manifest.json").read_text()
    for what, file, text, error, said in (
        ("foreign", "complaints.csv", "x", DataError, "complaints.csv"),
        ("swapped", "manifest.json", manifest, DataError, "not of one release"),
        ("fewer", "bags.jsonl", rest, DataError, "holds 5 bags"),
        ("marked", "bags.jsonl", marked + rest, PolicyError, "NOT PRIVATE"),
    ):
        place = folder / what
        shutil.copytree(release, place)
        (place / file).write_text(text)
        with pytest.raises(error, match=said):
            signoff.sign_off(place)


_WRONG = (
    ("crowd", {"epsilon": 0.01}), ("crowd", {"documents": 10**6}), ("crowd", {"delta": 0}), ("crowd", {"delta": 1e-30}),
    ("crowd", {"documents_per_author": 0}), ("promise", "Nothing can be learned. Perfect."), ("bound", 1.0),
    ("bound", 100.0), ("bound", "3"), ("bound", 0), ("strength", "strong"), ("probability_kept", 0.1),
    ("evidence", "proven"), ("missing", -1), ("documents", "12"), ("delta", float("nan")), ("delta", "0"), ("size", 0),
    ("numbers", "x"),
    ("mechanism_parameters", {"values": ["a", "b", "c"]}), ("labels", "topic"), ("randomness", 1),
    ("mechanism", "laplace"), ("vocabulary_sha256", "0" * 64),
    ("epsilon", 0.01), ("preserve", "field:colour"), ("mechanism_parameters", {"field": "colour"}),
    ("metric", "euclidean"),
    ("tokenizer", "glove-2"), ("stop_words", "x"), ("vocabulary_size", 4), ("size", 2), ("epsilon_total", 0.01),
    ("mechanism_source", {"module": "any text"}), ("metric_source", {"any": "any text"}), ("unknown", "drop"),
)  # fmt: skip
_MARKS = (
    ("warning", "NOT PRIVATE"),
    ("randomness", "seeded SHAKE-256"),
    ("delta", 0.5),
    ("bound_delta", 0.5),
)


def _contradictions(folder: Path) -> None:
    texts = "".join(f"text {each},{'loan health bridge'.split()[each % 3]}\n" for each in range(12))
    (folder / "own.csv").write_text("text,topic\n" + texts)
    code, _, said = command(
        "obfuscate", folder / "own.csv", "--preserve", "field:topic", "--values", "loan,health,bridge", "--bound", 3,
        "--shuffled", "--output", folder / "release",
    )  # fmt: skip
    assert code == 0, said
    path = folder / "release" / "manifest.json"
    manifest = json.loads(path.read_text())
    signoff.sign_off(path.parent)
    for error, cases in ((DataError, _WRONG), (PolicyError, _MARKS)):
        for name, value in cases:
            before = manifest.get(name)
            changed = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
            state(path.parent, {**manifest, name: changed})
            try:
                signoff.sign_off(path.parent)
            except error:
                continue
            raise AssertionError(f"a manifest with {name} = {value} was signed")


_NO_SOURCE = {"module": "m", "class": "C", "distribution": None, "version": None, "sha256": "0" * 64}
_OF_THE_PLAN = (
    ("delta", 0.0), ("evidence", "none"), ("vocabulary_size", 7), ("dimension", 3), ("tokenizer", "other-1"),
    ("stop_words", "other"), ("preserve", "colour"), ("mechanism", "other"),
    ("mechanism_source", _NO_SOURCE), ("metric_source", _NO_SOURCE), ("reference_words", None),
    ("padding", "drawn"), ("strength", "very strong"), ("level", "author"), ("epsilon", 0.5),
)  # fmt: skip


def _made_again(folder: Path) -> None:
    """Where the public things are stored, all that follows from them and the settings is made again."""
    texts = "".join(
        f"{json.dumps({'text': f'the river and the judge saw {each} bridges'})}\n" for each in range(6)
    )
    (folder / "own.jsonl").write_text(texts)
    for kind in (("words", "--epsilon", 5, "--length", 4), ("topic", "--reference", "themes", "--bound", 7)):
        release = folder / kind[0]
        code, _, said = command(
            "obfuscate", folder / "own.jsonl", "--number", "--preserve", *kind, "--output", release
        )
        assert code == 0, said
        signoff.check_statements(manifest := json.loads((release / "manifest.json").read_text()))
        for name, value in _OF_THE_PLAN:
            changed = {**manifest, name: value}
            if changed == manifest:
                continue
            with contextlib.suppress(KeyError):
                changed["promise"] = of_manifest.promised(changed)
            try:
                signoff.check_statements(changed)
            except (DataError, PolicyError):
                continue
            raise AssertionError(f"a manifest of {kind[0]} with {name} = {value} was signed")


_OF_THE_VOCABULARY = (
    *_OF_THE_PLAN, ("unknown", "keep"), ("metric", "x"), ("evidence", "proven"), ("epsilon", 0.001), ("delta", 1e-300),
    ("preserve", "field:x"), ("mechanism_parameters", {"extra": 1}),
    ("mechanism_parameters", {"epsilon_certified": 6.0}), ("mechanism_parameters", {"epsilon_certified": 0.0}),
    ("mechanism_parameters", {"epsilon_certified": None}), ("mechanism_parameters", {"scale": "x"}),
    ("mechanism_parameters", {"floor": 2.0}), ("mechanism", "projected-laplace"),
    ("mechanism", "truncated-exponential"), ("mechanism", "laplace"), ("vocabulary_size", 500_001),
)  # fmt: skip


_OF_THE_CONSTANTS = (("mechanism_parameters", {"epsilon_certified": 4.0}),)


def _computed_over_the_vocabulary(folder: Path) -> None:
    """What is computed over all words first is computed again where its certificate is stored.

    Elsewhere all but the constants is, and the page says what is not.
    """
    toy_vectors().save(Path(os.environ["PUBLIUS_HOME"]) / "embeddings" / "toy")
    own = folder / "own.jsonl"
    own.write_text(
        "".join(json.dumps({"text": f"river judge bridge letter {each}"}) + "\n" for each in range(6))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "_CACHED_FROM_WORDS", 0)  # as where there are many words
        for kernel in (
            "exponential",
            "tight",
            "truncated-exponential",
            "projected-exponential",
            "projected-laplace",
        ):
            code, _, said = command(
                "obfuscate", own, "--number", "--preserve", "words", "--mechanism", kernel, "--epsilon", 5,
                "--length", 4, "--embeddings", "toy", "--output", folder / kernel,
            )  # fmt: skip
            assert code == 0, said
        for stored in (True, False):
            if not stored:
                shutil.rmtree(Path(os.environ["PUBLIUS_HOME"]) / "certificates")
            for path in folder.glob("*/manifest.json"):
                manifest = json.loads(path.read_text())
                signoff.check_statements(manifest)
                said = " ".join(of_manifest.not_checked(manifest))
                assert ("were not computed again" in said) is not stored
                wrong = (
                    _OF_THE_VOCABULARY if manifest["mechanism"] == "exponential" else (("evidence", "none"),)
                )
                _refused(manifest, (*wrong, *(_OF_THE_CONSTANTS if stored and len(wrong) > 1 else ())))


def _refused(manifest: dict[str, Any], wrong: Sequence[tuple[str, Any]]) -> None:
    for name, value in wrong:
        before = manifest.get(name)
        changed = {**manifest, name: {**before, **value} if isinstance(before, dict) else value}
        changed["epsilon_total"] = changed["epsilon"] * changed["size"]
        if changed == manifest:
            continue
        with contextlib.suppress(KeyError, DataError):
            changed["promise"] = of_manifest.promised(changed)
        try:
            signoff.check_statements(changed)
        except (DataError, PolicyError):
            continue
        raise AssertionError(f"a manifest of {manifest['mechanism']} with {name} = {value} was signed")


def _around_the_numbers(folder: Path) -> None:
    """What only follows from manifest and rows is computed, not believed."""
    release = toy_release(folder / "release")
    signoff.sign_off(release)
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "READ-ME.txt").write_text("PRIVATE TEXT of somebody")
    _bound_again(release, manifest)
    with pytest.raises(DataError, match=r"READ-ME\.txt"):
        signoff.sign_off(release)


def _of_another_version(folder: Path) -> None:
    """A release that claims to be of a version which bound nothing, or of one that states what is not known here."""
    release = toy_release(folder / "release")
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "READ-ME.txt").unlink()
    for version in ("0.2.0", "99.0.0", None, ""):
        changed = {**manifest, "publius_version": version, "promise": "Nothing can be learned."}
        changed.pop("files")
        (release / "manifest.json").unlink()
        (release / "manifest.json").write_text(json.dumps(changed))
        with pytest.raises(PolicyError, match="signs only for what it wrote itself"):
            signoff.sign_off(release)


def _beside_another_version(folder: Path) -> None:
    """What describes a release for data tools is made again and compared for this version's alone."""
    release = toy_release(folder / "release")
    signed, path = signoff.sign_off(release), release / "manifest.json"
    here, there = (f'"publius_version": "{each}"'.encode() for each in (publius_version(), "0.2.9"))
    before = digests.file_digest(path).encode()
    changed = path.read_bytes().replace(here, there)
    path.unlink()
    path.write_bytes(changed)
    page = signed.replace(before, digests.file_digest(path).encode())
    page = page.replace(here, there).replace(here.replace(b'"', b"&#34;"), there.replace(b'"', b"&#34;"))
    page = digests._OWN.sub(b'<code id="page-digest">' + digests._BLANK + b"</code>", page)
    (folder / "page.html").write_bytes(digests.sealed(page.decode()))
    assert verification.verify(release, folder / "page.html")["publius_version"] == "0.2.9"
    for name in METADATA:
        (release / name).write_text("certified by the authority")
        with pytest.raises(DataError, match=f"added: '{name}'"):
            verification.verify(release, folder / "page.html")
        (release / name).unlink()


def _texts_of_another(folder: Path) -> None:
    """Two releases of one collection have the same numbers; the page promises its own strength for its own texts."""
    weak, strong = (toy_release(folder / str(epsilon), epsilon=epsilon) for epsilon in (1.0, 0.5))
    texts = folder / "texts.jsonl"
    code, _, said = command("write", weak, "--writer", "characters", "--output", texts)
    assert code == 0, said
    assert measured.read_texts(texts, weak).documents == 6
    with pytest.raises(DataError, match="does not hold the texts of the release"):
        measured.read_texts(texts, strong)
    lines = [json.loads(line) for line in texts.read_text().splitlines()]
    texts.write_text("".join(json.dumps({**line, "author": "Ann"}) + "\n" for line in lines))
    with pytest.raises(DataError, match="does not hold the texts of the release"):
        measured.read_texts(texts, weak)


def _texts_changed_by_hand(folder: Path) -> None:
    """The page says that they were made from the release and public things alone."""
    release, texts = toy_release(folder / "release"), folder / "texts.jsonl"
    code, _, said = command("write", release, "--writer", "characters", "--output", texts)
    assert code == 0, said
    assert measured.read_texts(texts, release).documents == 6
    written = [json.loads(line) for line in texts.read_text().splitlines()]
    for changed in ({"text": "Ann lives here."}, {"note": "Certified anonymous."}, {"source": {"by": "Ann"}}):
        texts.write_text("".join(json.dumps({**line, **changed}) + "\n" for line in written))
        with pytest.raises(DataError, match="line 1: it was changed after it was written"):
            measured.read_texts(texts, release)


def _in_one_way(folder: Path) -> None:
    """A key that is there twice says one thing to one reader, another to the next."""
    release = toy_release(folder / "release")
    path = release / "manifest.json"
    text = path.read_text()
    for changed, said in (
        (text.replace("{", '{\n  "epsilon": 0.01,', 1), "damaged"),
        (text.replace("{", '{\n  "epsilon_of_author": 0.01,', 1), "epsilon_of_author"),
        (text.replace("keyed by the operating system", "PRIVATE"), "randomness"),
        (text.replace('"numpy": "', '"numpy": "PRIVATE '), "versions"),
    ):
        path.unlink()
        path.write_text(changed)
        with pytest.raises(DataError, match=said):
            signoff.sign_off(release)


def _rows(folder: Path) -> None:
    """A row names declared values and the public probability, in the one way in which rows are written."""
    (folder / "own.csv").write_text(
        "text,topic\n" + "".join(f"t {n},{'loan card'.split()[n % 2]}\n" for n in range(6))
    )
    release = folder / "release"
    code, _, said = command(
        "obfuscate", folder / "own.csv", "--preserve", "field:topic", "--values", "loan,card", "--bound", 3,
        "--shuffled", "--output", release,
    )  # fmt: skip
    assert code == 0, said
    signoff.sign_off(release)
    manifest = json.loads((release / "manifest.json").read_text())
    first, rest = (release / "bags.jsonl").read_text().split("\n", 1)
    row = json.loads(first)
    for changed in (
        json.dumps({**row, "label": "PRIVATE"}), json.dumps({**row, "label": ["loan"]}),
        json.dumps({**row, "probability_kept": 0.5}), first.replace("{", '{"label": "PRIVATE", '),
        f"\ufeff{first}", f"{first} ", f"{first}\r",
    ):  # fmt: skip
        (release / "bags.jsonl").write_bytes(f"{changed}\n{rest}".encode())
        _bound_again(release, manifest)
        with pytest.raises(DataError, match="bag 1 in"):
            signoff.sign_off(release)
    (release / "bags.jsonl").write_bytes(gzip.compress(f"{first}\n{rest}".encode()))
    _bound_again(release, manifest)
    with pytest.raises(DataError, match="packed"):
        signoff.sign_off(release)


def _ordered_rows(folder: Path) -> None:
    """Ordered text is read by people: it is of the words that its row counts, and these are public ones."""
    toy_vectors().save(Path(os.environ["PUBLIUS_HOME"]) / "embeddings" / "toy")
    texts = toy_documents(folder / "texts.jsonl")
    for format in ("jsonl", "csv", "parquet"):
        release = folder / format
        code, _, said = command(
            "obfuscate", texts, "--epsilon", 2, "--length", 5, "--order", "--keep-between", "stop-words", "--number",
            "--embeddings", "toy", "--format", format, "--output", release,
        )  # fmt: skip
        assert code == 0, said
        signoff.sign_off(release)
    release = folder / "jsonl"
    manifest = json.loads((release / "manifest.json").read_text())
    first, rest = (release / "bags.jsonl").read_text().split("\n", 1)
    row = json.loads(first)
    clear = ["Ann", "hit", "the", "nurse", "Lee"]
    bag = dict.fromkeys(clear, 1)
    for changed in (
        {"words": clear, "text": "Ann hit the nurse Lee"}, {"text": "Ann hit the nurse Lee"},
        {"words": clear, "text": "Ann hit the nurse Lee", "bag": bag}, {"kind": None}, {"size": 5.0},
        {"words": ["Ann", *row["words"]], "kept": [0], "text": "Ann " + row["text"]}, {"kept": [9]}, {"words": None},
        {"words": dict.fromkeys(row["words"], "Ann hit the nurse Lee")}, {"kept": {}}, {"kept": ""},
        {"bag": dict(reversed(row["bag"].items()))},
    ):  # fmt: skip
        (release / "bags.jsonl").write_text(f"{json.dumps({**row, **changed})}\n{rest}")
        _bound_again(release, manifest)
        with pytest.raises(DataError, match="bag 1 in"):
            signoff.sign_off(release)
    release = folder / "csv"
    manifest = json.loads((release / "manifest.json").read_text())
    head, line, rest = (release / "bags.csv").read_bytes().decode().split("\r\n", 2)
    cells = line.split(",")
    for place, value in ((-2, "Ann"), (-3, "7"), (-1, "2"), (1, "4"), (2, "bags")):
        changed = ",".join([*cells[:place], value, *cells[place:][1:]])
        (release / "bags.csv").write_bytes(f"{head}\r\n{changed}\r\n{rest}".encode())
        _bound_again(release, manifest)
        with pytest.raises(DataError, match="bag 1 in"):
            signoff.sign_off(release)


def _bound_again(release: Path, manifest: dict[str, object]) -> None:
    (release / "manifest.json").unlink()
    state(release, {**manifest, "files": file_digests(release)})


def _first_or_last(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(manifests, "json_of", json.loads)


class _Anything(dict[str, object]):
    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> object:
        return lambda value: True


def _anybody_states(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(of_manifest, "_OF_ROWS", _Anything(of_manifest._OF_ROWS))


def _as_it_comes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(contents, "record_of", json.loads)
    patch.setattr(contents._Named, "fits", lambda *_: True)


def _however_it_reads(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(contents, "_in_order", lambda *_: True)


def _believed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(contents, "_check_read_me", lambda *_: None)


class _AnyText(str):
    __slots__ = ()
    __hash__ = str.__hash__

    def __ne__(self, other: object) -> bool:
        return False


def _any_version(patch: pytest.MonkeyPatch) -> None:
    for each in (signoff, verification):
        patch.setattr(each, "is_own", lambda _: True)
        patch.setattr(each, "check_own", lambda release, _: file_digests(release))


def _digests_only(release: Path, manifest: dict[str, object], outcomes: object = None) -> dict[str, str]:
    return file_digests(release)


FENCES = (
    Fence(
        9, "only what a manifest was written for is signed", _check,
        lambda patch: patch.setattr(signoff, "check_contents", _digests_only),
    ),
    Fence(
        9, "a manifest whose statements contradict each other is not signed", _contradictions,
        lambda patch: patch.setattr(signoff, "check_statements", lambda manifest: None),
    ),
    Fence(
        9, "a manifest states what the plan of its release states", _made_again,
        lambda patch: patch.setattr(of_manifest, "_remade", lambda manifest: None),
    ),
    Fence(
        9, "nor does it lack anything else where a mechanism's constants are not computed again",
        _computed_over_the_vocabulary, lambda patch: patch.setattr(of_manifest, "_wrong_of_prepared", lambda _: ()),
    ),
    Fence(
        9, "nor do constants contradict a certificate that is stored", _computed_over_the_vocabulary,
        lambda patch: patch.setattr(of_manifest, "_remade_from_stored", lambda _: None),
    ),
    Fence(9, "what lies beside the rows says what follows from them", _around_the_numbers, _believed),
    Fence(9, "a manifest is read in one way alone", _in_one_way, _first_or_last),
    Fence(9, "a manifest states what releases state", _in_one_way, _anybody_states),
    Fence(9, "a row says what it can say, and says it once", _rows, _as_it_comes),
    Fence(9, "an ordered text is of the words that its row counts", _ordered_rows, _however_it_reads),
    Fence(
        9, "what nobody signed for and nothing compares does not verify", _beside_another_version,
        lambda patch: patch.setattr(verification, "_is_of_this_version", lambda _: True),
    ),
    Fence(
        9, "texts are signed for beside the release that they were made from", _texts_of_another,
        lambda patch: patch.setattr(measured, "bags_digest", lambda release: _AnyText()),
    ),
    Fence(
        9, "a text that was changed by hand is not signed for", _texts_changed_by_hand,
        lambda patch: patch.setattr(measured, "text_digest", lambda line: line["sha256"]),
    ),
    Fence(9, "nobody signs for what another version wrote, or may have", _of_another_version, _any_version),
)  # fmt: skip
