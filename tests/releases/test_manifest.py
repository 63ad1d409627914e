"""Manifests and the register are read by other installations, and by later ones: their bytes, limits and defaults."""

import json

import msgspec
import pytest

from manifests import summary_of, values_of, words_of
from publius.errors import DataError
from publius.releases.manifest import AuthorFacts, Pair, decoded, encoded
from publius.releases.register import note, note_files, register_path, stands_in_register, were_released

SHARED = {"manifest_version": 1, "publius_version": "1.0.0", "private": True, "promise": "p", "epsilon": 1.0}
MADE = {"name": "a", "kind": "values", "sha256": "a"}
KINDS = {
    "labels": ({"documents": 3, "labels": ["a", "other"], "classifier": MADE}, {"unit": "document"}),
    "words": (
        {"documents": 3, "length": 4, "metric": "euclidean", "mechanism": "laplace", "exponent_per_distance": 4.0},
        {"unit": "document", "evidence": "proven", "between": "none", "unknown": "unk", "stop_words": "english"},
    ),
    "summary": ({"authors": 3, "documents_per_author": 1}, {"unit": "author", "neighbours": "replace"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_manifest_leaves_out_is_nothing(kind):
    """Of a release without it no delta, no name, no column is told; what is needed is never guessed."""
    needed, meant = KINDS[kind]
    given = {"kind": kind, **SHARED, **needed}
    found = json.loads(encoded(decoded(json.dumps(given).encode(), "it")))
    assert {name: value for name, value in found.items() if name not in given and value} == meant
    assert not found["delta"]
    for name in [*SHARED, *needed][1:]:
        with pytest.raises(DataError, match=f"it is no manifest .* `{name}`"):
            decoded(json.dumps({key: value for key, value in given.items() if key != name}).encode(), "it")
    with pytest.raises(DataError, match="`more`"):
        decoded(json.dumps(given | {"more": 1}).encode(), "it")


TINY, BIG, ONE, MANY = (9.9e-101, 1e-100), (1e100, 1.1e100), (0, 1), (2**62 - 1, 2**62)


@pytest.mark.parametrize(
    ("made", "name", "low", "high"),
    [
        (values_of, "epsilon", TINY, BIG), (values_of, "delta", (-1e-300, 0), (1, 1 + 2**-50)),
        (values_of, "documents", (-1, 0), MANY), (words_of, "exponent_per_distance", TINY, BIG),
        (words_of, "length", ONE, MANY), (words_of, "unchanged", (-1e-300, 0), (1, 1 + 2**-50)),
        (summary_of, "authors", (-1, 0), MANY), (summary_of, "documents_per_author", ONE, MANY),
    ],
)  # fmt: skip
def test_a_number_of_a_manifest_has_limits(made, name, low, high):
    (below, least), (most, above) = low, high
    for value in (least, most):
        assert getattr(decoded(encoded(made(**{name: value})), "it"), name) == value
    for value in (below, above):
        with pytest.raises(DataError, match=f"it is no manifest of Publius 1.0: .*{name}"):
            decoded(encoded(made(**{name: value})), "it")


def test_the_bytes_of_a_manifest_are_the_same_in_every_version():
    """The JSON of its fields in the order of their declaration, two blanks a level, a line feed at the end."""
    facts = values_of(
        promise="p\u00e9", shuffled=Pair(epsilon=0.5, delta=0.25), author=AuthorFacts(documents=2, epsilon=3)
    )
    for made in (facts, words_of(), summary_of()):
        told = json.loads(encoded(made))
        assert encoded(made) == (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()
        assert [*told][1:] == [*made.__struct_fields__]
        assert decoded(encoded(made), "it") == made
    assert [*told][:6] == "kind manifest_version publius_version private warning promise".split()
    assert msgspec.to_builtins(facts.author) == {"documents": 2, "epsilon": 3.0, "delta": 0.0}


def test_a_register_that_another_version_wrote_is_read():
    """Digests of released files are of 8 bytes, keyed by the salt of their line."""
    released, manifest = "a" * 64, b"{}\n"
    register_path().write_text(
        json.dumps({"salt": bytes(range(32)).hex(), "released": ["00" * 8, "5530b7cb6a9b63ee"]}) + "\n"
        + '{"sha256": "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356", "made": "2026-01-01"}\n'
    )  # fmt: skip
    assert [were_released(each) for each in ([released], ["b" * 64, released])] == [True, True]
    assert [were_released(each) for each in (["b" * 64], [])] == [False, False]
    assert (stands_in_register(manifest), stands_in_register(b"{}")) == (True, False)


@pytest.mark.parametrize("torn", [b"", b'\n{"salt": "00', b'\n{"salt": "00", "released": ["00"]}'])
def test_a_line_that_a_crash_has_torn_spoils_no_other(torn):
    note(b"before")
    with register_path().open("ab") as file:
        file.write(torn)
    note_files(["a" * 64])
    note(b"after")
    assert were_released(["a" * 64])
    assert stands_in_register(b"before")
    assert stands_in_register(b"after")
    lines = register_path().read_bytes().split(b"\n")
    assert (len(lines), lines[0], lines.count(b"")) == (4 + bool(torn), b"", 1)
