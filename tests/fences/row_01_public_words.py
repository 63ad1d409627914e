"""What becomes public of older texts: words by their authors, nothing that points at somebody, owner-only stores."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from fences import Fence
from homes import home_at
from publius.documents.corpus import open_corpus
from publius.errors import DataError, UsageError
from publius.evaluation.steps import learning, older
from publius.evaluation.steps.answers import Choices
from publius.files import folders
from publius.releases.writing import run
from publius.settings import CountedWordSettings, PublicWordSettings, WritingSettings
from publius.text.tokenizer import StopWords, Vocabulary, tokenize
from publius.vectors.learning import public_words
from publius.vectors.learning.reference import (
    Reference,
    remembered_texts,
    remove_reference,
    stored_reference_names,
)
from publius.vectors.learning.topic_metric import TopicMetric
from released import command

_TOPICS = ("card payment bank charge refund".split(), "loan mortgage house rate officer".split())
_COMMON = "letter waited answer manager branch customer service morning".split()
_MAIL = "write to jane.brontide@nowhere.example or see https://nowhere.example/plumbago"


def _learned(folder: Path, words: PublicWordSettings, *, label: str | None = "topic") -> Reference:
    """Of eight authors with ten texts each: one writes a name and a number in eight, all write one mail address."""
    rows = []
    for number in range(80):
        topic, author = number % 2, number // 2 % 8
        own = " ".join(_TOPICS[topic] + _COMMON[number % 3 :])
        private = ", says Zelinkowa, 07700900123 or 07700 900 123" if author == 3 and number < 70 else ""
        rows.append({"text": f"{own}{private}. {_MAIL}", "topic": f"topic {topic}", "author": f"a{author}"})
    path = folder / "older.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return learning.learn(path, "older", label=label, words=words)


def _authors(folder: Path) -> None:
    found = _learned(folder, PublicWordSettings(author_field="author"))
    told = "zelinkowa 07700900123 07700 900 123".split()
    assert not [word for word in told if word in found], "the words of one author became public"
    assert "card" in found
    stored = b"".join(each.read_bytes() for each in sorted(_folder(found).iterdir()))
    # Three digits stand by chance in a digest or a number.
    assert not [word for word in told if len(word) > 8 and word.encode() in stored]
    assert found.source["public_words"]["counted_by"] == "authors"


def _in_many_texts(folder: Path) -> None:
    """Where nobody knows who wrote them, a name in however many texts may be in those of one person."""
    found = _learned(folder, PublicWordSettings(authors_at_least=2, leave_out=public_words.NAMES))
    assert "card" in found
    signed = [
        public_words.PublicText.of(f"the card came\nRegards,\n{name}", "glove", StopWords.load("none"))
        for name in ("Ms. Ada Jackson", "JACKSON", "Jackson")
    ]  # a word of general text
    assert "jackson" in public_words.WordCount.of(signed).names
    ways = (
        "Mr. {}",
        "From: {}\n",
        "({}) wrote",
        ". {} shouted",
        "\n- {}",
        '"{}"',
        "clerk/{}",
        "{}\u2019s",
        "\n*{}:*",
    )
    for way in (
        *(each.format("Jackson") for each in ways),
        "Jack\u00adson",
        "\njackson",
        "\nregards jackson",
    ):
        names = _counted(f"the card came {way}").names
        assert ("jackson" in names, "card" in names) == (True, False), way
    for name in (
        "d'Isabelle",
        "qu\u2019Yvonne",
        "M\u00fcller\u2011Schmidt",
        "al-Masri",
        "diMaggio",
        "leBlanc",
    ):
        words = [*tokenize(name)]
        assert {*words} <= _counted(f"la carte {name} vient").names, name
    often = _counted(*["then Mr. Petersen came"] * 14, *["then mr petersen came"] * 9)
    assert "petersen" in often.names
    for told in (
        "\u0643\u062a\u0628 \u0646\u062c\u064a\u0628",
        "\u10d2\u10d8\u10dd\u10e0\u10d2\u10d8 UNICEF \u10db\u10d8\u10d3\u10d8\u10e1",
    ):
        rare = public_words.rare_words(_counted(*[told] * 30), 5, {"unicef"})
        assert {each.word for each in rare if each.telling} >= {*tokenize(told)}, (
            "where no word has a capital"
        )
    assert "zelinkowa" not in found, "a name in eight texts became public where two are enough"
    assert found.source["public_words"]["counted_by"] == "texts"


def _counted(*texts: str) -> public_words.WordCount:
    plain = StopWords.load("none")
    return public_words.WordCount.of([public_words.PublicText.of(text, "glove", plain) for text in texts])


def _in_capitals(folder: Path) -> None:
    """Texts in which every word has a capital hide no name, and leave ordinary words public."""
    rows = [" ".join([*_TOPICS[n % 2], "was charged why", *_COMMON[n % 5 :]]) for n in range(200)]
    named = {0: "Mr. Jackson says", 1: "said Petersen", 7: "for Ms. Jackson"}
    rows = [f"{named.get(n % 10, 'again')} {row}" for n, row in enumerate(rows)]
    ordinary = {"card", "loan", "mortgage", "payment", "charged", "customer", "service", "again", "was"}
    for write in (str.upper, str.title):
        for large in (0, 60, 100, 160, 180, 188):
            count = _counted(*map(write, rows[:large]), *rows[large:])
            held = _held(count, {*count.holders})
            assert {"jackson", "petersen"} <= held, f"a name is public beside {large} texts in capitals"
            assert ordinary.isdisjoint(held), f"{large} texts in capitals lose what they are about"
    seldom = [f"{row.upper()}{' BRONTIDE' * (n % 10 == 3)}" for n, row in enumerate(rows)]
    count = _counted(*seldom[:160], *rows[160:])
    assert "brontide" in _held(count, {*count.holders}), "it stands in texts in capitals alone"
    assert _held(_counted(*seldom), {*count.holders} - {"brontide"}) == {"brontide"}, "general text is asked"
    assert "brontide" in _held(_counted(*seldom[:160], *rows[160:]), {"card", "bank"}), (
        "of another language, too"
    )


def _codes(folder: Path) -> None:
    """In another language most words are unknown to general text: those with digits are asked about all the same."""
    told = "die Karte von kd4711 kam nicht"
    rare = public_words.rare_words(
        _counted(*[told] * 30, *["Nein Ich Hatte Tag und Cent dort gesehen"] * 3), 5, {"die"}
    )  # type: ignore[arg-type]
    telling = {each.word for each in rare if each.telling}
    assert "kd4711" in telling, "one person's number of a customer became public"
    assert "nicht" not in telling


def _by_letters_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(public_words, "_DIGIT", frozenset())


def _behind_a_number(folder: Path) -> None:
    """A text that ends in a number, a date or a link keeps its last words; a name above a number is one still."""
    for end in ("0171 555 0199", "2024-05-13 10:22:31", "https://example.org/1"):
        told = public_words.PublicText.of(f"dear all\nthe card of order {end} is blocked", "glove", _PLAIN)
        assert told.names == [], end
        for said in (f"the card came\nAda Jackson\n{end}", f"the card came\nada jackson\n{end}"):
            assert public_words.PublicText.of(said, "glove", _PLAIN).names == ["ada", "jackson"], end


def _of_what_is_left(patch: pytest.MonkeyPatch) -> None:
    """As it was: the line ended where something was taken out."""
    signed = public_words._signed
    patch.setattr(public_words, "_signed", lambda text: signed(text.replace(public_words._GONE, "\n")))


_PLAIN = StopWords.load("none")


def _held(count: public_words.WordCount, general: set[str]) -> set[str]:
    rare = public_words.rare_words(count, 5, general)  # type: ignore[arg-type]  # looked up alone
    return {each.word for each in rare if each.telling}


def _listed(folder: Path) -> None:
    """However words are listed, those that are meant stay out, and what is none of them is told."""
    public = ["jackson", "m\u00fcller", "o'brien", "harbourline", "card"]
    rare = [public_words.RareWord(word, 5, telling=word != "harbourline") for word in public[:4]]
    names = {*public[:3]}
    for choice, meant in (
        ("names, harbourline", {*public[:4]}), ("Names", names), ("ALL", {*public[:4]}), ("none", set[str]()),
        ("Jackson; Mu\u0308ller", {"jackson", "m\u00fcller"}), ("Anna Jackson, O\u2019Brien", {"jackson", "o'brien"}),
    ):  # fmt: skip
        assert public_words.left_out(public, rare, choice) == meant, choice
    assert public_words.not_public(public, "names, Jacksen, Card") == ("jacksen",)
    texts = [public_words.PublicText.of("the card of Jackson came", "glove", _PLAIN) for _ in range(9)]
    for choice, listed in (("names, card, jacksen", 1), ("names, jackson", 1), ("cart", 0), ("names", None)):
        _, facts = public_words.public_words(texts, PublicWordSettings(leave_out=choice))
        assert facts["public_words"].get("listed") == listed, choice
    for choice in (" , ", "none, card", "none, all"):
        with pytest.raises(UsageError, match="which words to leave out"):
            public_words.left_out(public, rare, choice)


def _as_typed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(public_words, "tokenize", lambda text, profile: [text.lower()])


def _unsaid(folder: Path) -> None:
    """A product, a clerk or an address may stand in a column of such a name, and one person in all its rows."""
    for name in ("name", "user", "customer", "from", "username", "speaker"):
        path = folder / f"{name}.csv"
        lines = [f"Ann,{name} {n},topic {n % 2},{' '.join(_TOPICS[n % 2])} letter {n}" for n in range(40)]
        path.write_text("\n".join((f"complainant,{name},topic,text", *lines)), encoding="utf-8")
        found = older.PublicCorpus.read(Choices(public=str(path), preserve="topic", authors_at_least=1))
        assert found.authors is None, f"nobody said that {name!r} is who wrote them"
        assert found.silent is not None


_ANN = ("Ann", "Ann\u200b", "ANN\u200b\u200b", "Ann.", "Ann <ann@x.org>", "\u200bAnn", "A\u200bnn", "ann ")


def _one_person(folder: Path) -> None:
    """However her name is written, and nobody is no person either."""
    for names in (_ANN, ("nan", "None", "null", "-", "n/a", "", "unknown", "N/A")):
        path = folder / "older.jsonl"
        rows = [
            {"text": f"{' '.join(_TOPICS[number % 2])} {' '.join(_COMMON)}{' Zelinkowa' * (number < 8)}",
             "topic": f"topic {number % 2}", "author": names[number] if number < 8 else f"a{number}"}
            for number in range(40)
        ]  # fmt: skip
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        with pytest.MonkeyPatch.context() as home:
            home.setenv("PUBLIUS_HOME", str(home_at(folder / f"home-{names[0]}")))
            found = learning.learn(
                path, "older", label="topic", words=PublicWordSettings(author_field="author")
            )
        assert "zelinkowa" not in found, "one person was counted as several"
        assert "card" in found


def _by_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(older, "AUTHORS", (*older.AUTHORS, *older.MAYBE_AUTHORS))


def _as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_words, "counted_name", lambda name: " ".join((name or "").split()).casefold())


def _by_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    count = public_words.WordCount.of

    def by_texts(texts: object) -> public_words.WordCount:
        found: list[public_words.PublicText] = list(texts)  # type: ignore[call-overload]
        return count([replace(each, author=str(place)) for place, each in enumerate(found)])

    monkeypatch.setattr(public_words.WordCount, "of", by_texts)


def _rare_by_number(patch: pytest.MonkeyPatch) -> None:
    found = public_words.rare_words

    def by_number(
        count: public_words.WordCount, at_least: int, general: Vocabulary | None
    ) -> list[public_words.RareWord]:
        return [
            each for each in found(count, at_least, general) if each.holders < public_words.RARE * at_least
        ]

    patch.setattr(learning, "rare_words", by_number)


def _by_all_capitals(patch: pytest.MonkeyPatch) -> None:
    """As it was: where four fifths of all words had a capital none of them was asked about."""
    count = public_words.WordCount.of

    def all_or_none(texts: object) -> public_words.WordCount:
        found: list[public_words.PublicText] = list(texts)  # type: ignore[call-overload]
        large = sum(len(each.capitals) for each in found)
        words = sum(len(each.words) for each in found)
        few = large < public_words._ALL_CAPITALS * words
        return count([replace(each, tells=True) if few else replace(each, capitals=()) for each in found])

    patch.setattr(public_words.WordCount, "of", all_or_none)


def _identifiers(folder: Path) -> None:
    found = _learned(
        folder, PublicWordSettings(authors_at_least=2)
    )  # counted by texts: all would have enough
    told = "07700900123 07700 900 123 jane brontide nowhere example plumbago https".split()
    assert [word for word in told if word in found] == [], "a long number, mail or link became public"


def _numbers_set_apart(folder: Path) -> None:
    for between in (" ", "-", "\u2212", " -- ", "] [", " - (", "|", "~", "=", "\u2022", "\u2026", "    "):
        text = f"call 0917{between}8824{between}3316 soon"
        assert public_words.without_identifiers(text).split() == ["call", "soon"], between


def _as_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_words, "without_identifiers", lambda text: text)
    monkeypatch.setattr(public_words, "is_identifier", lambda word: False)


def _owner_only(folder: Path) -> None:
    found = _folder(_learned(folder, PublicWordSettings()))
    for each in (found.parent, found, *found.iterdir()):
        assert stat.S_IMODE(each.stat().st_mode) & 0o077 == 0, f"others can read {each.name}"


def _open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_close_to_others", lambda folder: folders._set_modes(folder, ()))


def _removed(folder: Path) -> None:
    found = _folder(_learned(folder, PublicWordSettings()))
    remove_reference("older")
    assert stored_reference_names() == []
    assert not found.exists()
    assert list(found.parent.iterdir()) == [], "something of it is left in the store"


def _kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.rmtree", lambda *arguments, **options: None)


def _folder(reference: Reference) -> Path:
    assert reference.folder is not None
    return reference.folder


def _vectors(folder: Path) -> None:
    """The same of word vectors that are learned from labelled text."""
    _learned(folder, PublicWordSettings())  # writes the file
    corpus = open_corpus(folder / "older.jsonl", keep=("topic", "author"), number=True)
    metric = TopicMetric("topic", counted=CountedWordSettings(author_field="author"))
    found = metric.fit(corpus, name="topical")
    told = "zelinkowa 07700900123 07700 900 123 jane brontide nowhere example plumbago https".split()
    assert [word for word in told if word in found] == []
    assert "card" in found
    assert found.source["public_words"]["counted_by"] == "authors"
    assert not {*told} & {*found.source["rare_words"]}


def _quoted(folder: Path) -> None:
    """A writer is given no text that nobody named: a reference knows where those lie that it was learned from."""
    found = _learned(folder, PublicWordSettings(author_field="author"))
    assert remembered_texts(_folder(found)) == (folder / "older.jsonl", "text")
    own = folder / "own.jsonl"
    own.write_text("".join(json.dumps({"id": f"d{i}", "text": " ".join(_COMMON)}) + "\n" for i in range(9)))
    call = (
        "obfuscate",
        own,
        "--preserve",
        "topic",
        "--reference",
        "older",
        "--bound",
        7,
        "--output",
        folder / "out",
    )
    assert command(*call)[0] == 0
    output = folder / "texts.jsonl"
    code, _, said = command("write", folder / "out", "--writer", "exemplar", "--output", output)
    written = output.read_text() if output.exists() else ""
    assert not [word for word in ("Zelinkowa", "07700900123", _MAIL) if word in written]
    assert (code, "nobody said that sentences" in said) == (2, True)
    assert command("write", folder / "out", "--writer", "ngram", "--output", output)[0] == 0
    assert {json.loads(line)["source"]["corpus"] for line in output.read_text().splitlines()} == {
        "federalist"
    }


def _remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    things = run._public_things

    def opened(manifest: object, settings: WritingSettings) -> object:
        reference = run._reference(manifest, settings)  # type: ignore[arg-type]
        texts = None if reference is None or reference.folder is None else remembered_texts(reference.folder)
        named = settings if texts is None else replace(settings, public=str(texts[0]))
        return things(manifest, named)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "_public_things", opened)


def _topics(folder: Path) -> None:
    """A name of a topic that few authors have may not hold a number; the error does not repeat it."""
    path = folder / "older.jsonl"
    for few, refused in ((4, True), (5, False)):
        rows = [
            {"text": " ".join([*_TOPICS[number % 2], *_COMMON]), "author": f"a{number % 20}",
             "topic": "about 0171234567" if number % 20 < few else f"topic {number % 2}"}
            for number in range(80)
        ]  # fmt: skip
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        words, said = PublicWordSettings(author_field="author"), ""
        try:
            learning.learn(path, f"older-{few}", label="topic", words=words)
        except DataError as error:
            said = str(error)
        assert ("the names of topics become public, and 1 of 3 hold a long number" in said) is refused
        assert "0171234567" not in said


def _any_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "check_topics", lambda texts, at_least: None)


FENCES = (
    Fence(1, "a name in eight letters of one author does not become public", _authors, _by_texts),
    Fence(1, "no column is taken for that of authors by a name that others have, too", _unsaid, _by_any_name),
    Fence(
        1,
        "a name in many texts is left out where nobody knows who wrote them",
        _in_many_texts,
        _rare_by_number,
    ),
    Fence(1, "a word with digits is asked about in any language", _codes, _by_letters_alone),
    Fence(1, "words behind a number are no signature", _behind_a_number, _of_what_is_left),
    Fence(1, "texts in capitals hide no name and lose no ordinary word", _in_capitals, _by_all_capitals),
    Fence(1, "words that are listed to be left out are, however they are written", _listed, _as_typed),
    Fence(1, "one person counts once however the name is written", _one_person, _as_written),
    Fence(1, "nor does it with vectors that are learned from labelled text", _vectors, _by_texts),
    Fence(1, "long numbers, mail and links never become public", _identifiers, _as_words),
    Fence(1, "nor do long numbers, whatever stands between their digits", _numbers_set_apart, _as_words),
    Fence(1, "texts that a reference was learned from are not quoted", _quoted, _remembered),
    Fence(1, "a number that few authors have is no name of a topic", _topics, _any_topic),
    Fence(1, "what was learned is its owner's until he publishes it", _owner_only, _open),
    Fence(1, "a removed reference leaves nothing in the store", _removed, _kept),
)
