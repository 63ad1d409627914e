"""What documents are counted in: themes of public documents, subjects of public words."""

from collections import Counter

import numpy as np
import pytest
from scipy.sparse import csr_array

from publius.collections.counting import Counting
from publius.collections.strata import Strata
from publius.errors import DataError, UsageError
from publius.noise.randomness import seeded_rng
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning import clusters as public_clusters
from publius.vectors.learning import public_themes
from publius.vectors.learning.clusters import clusters, directions, merged_centres
from publius.vectors.learning.prototypes import NONE_OF_THESE
from publius.vectors.learning.public_counts import fit_counts, one_of_each
from publius.vectors.learning.public_subjects import make_subjects
from publius.vectors.learning.public_themes import NO_WORDS, counted, fit_themes
from publius.vectors.learning.public_words import PublicText
from references import TOPICS, public_documents

DOCUMENTS = public_documents(120)
BAGS = [Counter(words) for words, _ in DOCUMENTS]


@pytest.fixture(scope="module")
def themes():
    return fit_themes(BAGS, themes=3, dimension=10)


def test_themes_are_the_topics_that_nobody_named(themes):
    cells = themes.cells_of(BAGS)
    own = {topic: Counter(cells[[label == topic for _, label in DOCUMENTS]].tolist()) for topic in TOPICS}
    best = {topic: counts.most_common(1)[0] for topic, counts in own.items()}
    assert len({theme for theme, _ in best.values()}) == 3
    assert all(count >= 0.95 * sum(own[topic].values()) for topic, (_, count) in best.items())
    for topic, (theme, _) in best.items():
        assert set(themes.typical(theme, 5)) <= set(TOPICS[topic])
        assert themes.label(theme).split() == list(themes.typical(theme, 5))


def test_a_document_is_counted_by_itself_alone(themes):
    """Its cell does not depend on which documents it is given with, nor on the order of its words."""
    together = themes.cells_of(BAGS)
    for place in range(0, 120, 7):
        turned = dict(reversed(list(BAGS[place].items())))
        assert themes.cells_of([turned]).tolist() == [together[place]]
    assert themes.cells_of([]).tolist() == []


def test_the_nearest_theme_is_the_nearest_in_whole_numbers():
    """Products in single precision do not decide where two themes, or a theme and the limit, are hardly apart."""
    rng, grid = seeded_rng(4), 2**24
    some = directions(rng.normal(size=(6, 100)))
    centres = directions(np.vstack([some + step * rng.normal(size=(6, 100)) for step in (0, 1e-7, 1e-6)]))
    axes = directions(rng.normal(size=(40, 100)))
    rarity, counts = np.ones(40), csr_array((rng.random((600, 40)) < 0.1).astype(float))
    where = np.rint(public_themes._positions(counts, rarity, axes) * grid).astype(np.int64)
    likeness = where @ np.rint(centres * grid).astype(np.int64).T
    largest = likeness.max(axis=1)
    for limit in (-1.0, float(largest[largest < grid**2][7]) / grid**2 + 100 / grid):
        found = public_themes._cells(counts, rarity, axes, centres, limit)
        known = np.where(largest / grid**2 >= limit - 100 / grid, likeness.argmax(axis=1), 18)
        assert (found == np.where(counts.sum(axis=1) > 0, known, 19)).all()
    alike = np.sort(likeness, axis=1)[:, -2:] / grid**2
    assert (np.diff(alike)[:, 0] < 2e-7).sum() > 100


def test_documents_of_no_theme(themes):
    empty, unknown = {}, {"zebra": 3}
    assert themes.cells_of([empty, unknown]).tolist() == [themes.size + 1] * 2
    assert themes.label(themes.size) == NONE_OF_THESE
    assert themes.label(themes.size + 1) == NO_WORDS
    between = Counter(
        word for words in TOPICS.values() for word in words[:3]
    )  # as near to each as to the others
    assert themes.cells_of([between]).tolist() == [themes.size]
    assert themes.documents[themes.size] <= 0.05 * themes.documents.sum()


def test_the_same_texts_give_the_same_themes(themes):
    again = fit_themes(BAGS, themes=3, dimension=10)
    for name in ("rarity", "centres", "words", "documents"):
        assert np.allclose(abs(getattr(themes, name)), abs(getattr(again, name)))
    assert themes.documents.sum() == len(BAGS)
    assert themes.words.sum(axis=1) == pytest.approx(1)


def test_a_theme_is_not_what_one_long_document_repeats():
    """A document that says a word a thousand times says it little louder than one that says it once."""
    once = fit_themes(BAGS, themes=3, dimension=10)
    loud = [Counter(bag) for bag in BAGS]
    word = next(iter(loud[0]))
    loud[0][word] = 1000
    place, theme = once.vocabulary.index(word), once.cells_of(BAGS[:1])[0]
    found = fit_themes(loud, themes=3, dimension=10)
    assert found.words[found.cells_of(BAGS[:1])[0], place] < 1.5 * once.words[theme, place]


@pytest.mark.parametrize("whole", [2**20, 0])
def test_themes_are_found_whichever_way_the_matrix_is_taken_apart(whole, monkeypatch, themes):
    monkeypatch.setattr(public_themes, "_WHOLE", whole)
    found = fit_themes(BAGS, themes=3, dimension=10)
    pairs = {*zip(found.cells_of(BAGS).tolist(), themes.cells_of(BAGS).tolist(), strict=True)}
    assert len(pairs) == len({ours for ours, _ in pairs}) == len({theirs for _, theirs in pairs})


@pytest.fixture(scope="module")
def repeated():
    """Six topics that differ in the names of their words alone; two of them share words."""
    bags = []
    for topic in "abcdef":
        first = [f"{topic}{number}" for number in range(6)]
        shared = [f"shared{number}" if topic in "ab" else f"{topic}shared{number}" for number in range(8)]
        bags += [
            Counter([*np.roll(first, turn)[:3].tolist(), *np.roll(shared, turn)[:6].tolist()])
            for turn in range(24)
        ]
    return bags


def test_a_world_that_repeats_itself_has_the_same_themes_each_time(repeated):
    first, *others = (fit_themes(repeated, themes=6, dimension=12) for _ in range(4))
    for other in others:
        assert (first.axes == other.axes).all()
        assert (first.centres == other.centres).all()


def test_a_theme_learns_from_documents_that_are_like_it(repeated):
    """Of words that no document of a theme has, those of like documents are likelier than those of unlike ones."""
    bags, found = repeated, fit_themes(repeated, themes=6, dimension=6)
    own, place = found.cells_of(bags[:1])[0], {word: place for place, word in enumerate(found.vocabulary)}
    like, unlike = place["b0"], place["c0"]
    assert found.holding[own, [like, unlike]].tolist() == [0, 0]
    assert found.words[own, like] > 1.001 * found.words[own, unlike]


def test_stop_words_and_rare_words_do_not_count():
    found = fit_themes([*BAGS, Counter(["unique", "meadow"])], themes=3, left_out=frozenset({"river"}))
    assert "unique" not in found.vocabulary
    assert "river" not in found.vocabulary
    assert "meadow" in found.vocabulary


def test_too_few_public_documents_and_numbers_that_do_not_exist():
    with pytest.raises(DataError, match="50 themes need at least 100 public documents"):
        fit_themes(BAGS[:60], themes=50)
    for wrong in ({"themes": 0}, {"dimension": 0}):
        with pytest.raises(UsageError):
            fit_themes(BAGS, **wrong)


# Subjects -------------------------------------------------------------------------------------------------------------

WORDS = [word for pair in zip(*TOPICS.values(), strict=True) for word in pair]  # topics in turn
VECTORS = np.eye(3)[np.arange(len(WORDS)) % 3] * 3 + seeded_rng(2).normal(scale=0.2, size=(len(WORDS), 3))


def subjects(**settings):
    return make_subjects(WORDS, VECTORS, **{"holding": {}, "documents": 0, "subjects": 3} | settings)


def test_subjects_are_clusters_of_words():
    found = subjects()
    assert {frozenset(found.words(subject)) for subject in range(3)} == {
        frozenset(words) for words in TOPICS.values()
    }
    assert found.words(int(found.members[0]), 2) == (WORDS[0], WORDS[3])  # the most frequent first


def test_a_document_counts_where_its_weight_is():
    found = subjects(holding=dict.fromkeys(WORDS, 5) | {"judge": 100}, documents=100)
    garden, court = (int(found.members[WORDS.index(word)]) for word in ("meadow", "judge"))
    bags = [Counter(["meadow", "river", "judge"]), {"judge": 4, "lawyer": 2, "meadow": 1}, {"zebra": 1}, {}]
    assert found.cells_of(bags).tolist() == [garden, court, 3, 3]
    assert found.cells_of([{"judge": 50, "meadow": 1}]).tolist() == [
        garden
    ]  # that word is everybody's: it weighs 0
    assert found.cells == 4


def test_words_that_are_no_subject():
    found = subjects(left_out=frozenset({"meadow"}))
    assert "meadow" not in found.vocabulary
    more = make_subjects([*WORDS, "of", "x1y"], np.vstack([VECTORS, np.eye(3)[:2]]), {}, 0, subjects=3)
    assert more.vocabulary == tuple(WORDS)
    with pytest.raises(UsageError, match="one vector for each word"):
        make_subjects(WORDS, VECTORS[1:], {}, 0)


def test_where_a_document_lies_does_not_depend_on_what_follows_it():
    """Bit by bit, wherever it stands in a batch: sums in pairs would group the last row's words otherwise."""
    rng = seeded_rng(11)
    words = [f"w{place}" for place in range(60)]
    bags = [
        {
            words[place]: 1 + int(rng.integers(9))
            for place in rng.permutation(60)[: 1 + int(rng.integers(40))].tolist()
        }
        for _ in range(300)
    ]
    rarity, axes = 1 + rng.random(60), rng.standard_normal((60, 10))
    together = public_themes._positions(counted(bags, words), rarity, axes)
    for place, bag in enumerate(bags):
        assert (public_themes._positions(counted([bag], words), rarity, axes)[0] == together[place]).all()


def test_of_an_author_one_public_document_is_counted():
    """Twenty texts of one author are no twenty authors; which one is counted depends on no order of the texts."""
    documents = [words for words, _ in DOCUMENTS]
    authors = [f"Author {place % 30}" for place in range(120)]
    known = {word for words in documents for word in words}
    found = fit_counts(documents, known, None, "english", authors=authors)
    assert found.documents == found.themes.documents.sum() == 30
    sample = one_of_each(documents, authors)
    assert len({authors[place] for place in sample}) == len(sample) == 30
    turned = one_of_each(documents[::-1], [author.upper() for author in authors[::-1]])
    assert sorted(tuple(documents[place]) for place in sample) == sorted(
        tuple(documents[119 - place]) for place in turned
    )
    assert one_of_each(documents, [None] * 120) == list(range(120))
    letter = [*documents[:60], *[documents[0]] * 60]
    each = [f"Author {place % 60}" for place in range(120)]
    sent = sum(place >= 60 for place in one_of_each(letter, each))
    assert 15 < sent < 45, "a letter that all sent is that of about half of them, by no digest of its own"


@pytest.mark.parametrize("name", ["{0}", "{0}-{1}", "{0}-{1}'s"])
def test_public_documents_count_in_the_subject_in_which_the_same_documents_of_a_collection_do(
    tmp_path, monkeypatch, name
):
    """By all their words and pieces, of one author, of mail addresses, of double names, or the same are called new."""
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path))
    groups = [
        *TOPICS.values(),
        [f"surname{chr(97 + place)}x" for place in range(12)],
        ["mail", "example", "org"],
    ]
    words = [word.replace("1", "") for group in groups for word in group]
    rng, stops = seeded_rng(5), StopWords.load("english")
    points = np.repeat(np.eye(len(groups)), [len(group) for group in groups], axis=0)
    points = points + 0.01 * rng.standard_normal(points.shape)
    vectors = Embeddings.from_arrays(words, points, name="groups", tokenizer="glove")
    texts = [
        f"{' '.join(document[:4])} {name.format(groups[-2][place % 12], groups[-2][place % 7])} mail@example.org"
        for place, (document, _) in enumerate(DOCUMENTS)
    ]
    read = [PublicText.of(text, "glove", stops) for text in texts]
    public = {word for group in TOPICS.values() for word in group}
    found = fit_counts(
        [text.words for text in read], public, vectors, "english", uncut=[text.uncut for text in read]
    )
    assert found.comparable
    assert found.documents == len(texts)
    encoding = Encoding.of("glove", unknown="drop", stop_words=stops, padded=False)
    both = Counting(Strata(()), found.themes, found.subjects, encoding)
    places = np.unravel_index(both.cells(texts, [0] * len(texts)), both.shape)
    cells = np.bincount(places[2], minlength=found.subjects.cells)
    assert found.holding.tolist() == cells.tolist()
    assert found.themes.documents.tolist() == np.bincount(places[1], minlength=found.themes.cells).tolist()
    narrow = np.bincount(
        found.subjects.cells_of([Counter(word for word in text.words if word in public) for text in read]),
        minlength=found.subjects.cells,
    )
    assert narrow.tolist() != cells.tolist()  # as it was counted once


def test_clusters_begin_where_points_merge():
    """Twenty narrow groups of very different sizes, which a start from points cuts up and mixes: each is found."""
    rng = seeded_rng(3)
    sizes = np.array([200, 3] * 10)
    points = np.repeat(directions(rng.standard_normal((20, 12))), sizes, axis=0)
    points = directions(points + 0.03 * rng.standard_normal(points.shape))
    truth = np.repeat(np.arange(20), sizes)

    def mixed(members):
        return sum(len(set(truth[members == each].tolist())) > 1 for each in range(20))

    assert mixed(clusters(points, 20, merged_centres(points, 20))) == 0 < mixed(clusters(points, 20))
    assert (
        clusters(points, 20, merged_centres(points, 20)) == clusters(points, 20, merged_centres(points, 20))
    ).all()


def test_merging_takes_a_sample_of_many_points_and_refuses_too_few_directions(monkeypatch):
    points = directions(seeded_rng(4).standard_normal((90, 3)))
    monkeypatch.setattr(public_clusters, "_MERGED", 30)
    centres = merged_centres(points, 5)
    assert centres.shape == (5, 3)
    assert (centres == merged_centres(points[np.linspace(0, 89, 30).astype(int)], 5)).all()
    few = np.repeat(np.eye(3), 10, axis=0)
    assert np.unique(clusters(few, 3, merged_centres(few, 3))).tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="different directions"):
        merged_centres(few, 4)
