"""Manifests of every kind, made without a run, and releases drawn with them."""

import csv
import json

from publius.releases.manifest import (
    Accuracy,
    AuthorFacts,
    ClassifierFacts,
    LabelManifest,
    Pair,
    PublicInput,
    SummaryManifest,
    WordManifest,
)

BAG = {
    "id": "17",
    "size": 40,
    "bag": dict.fromkeys("about bitter church danger evening father garden honest".split(), 5),
}
SHARED = {
    "publius_version": "1.0.0", "private": True, "promise": "The promise, in words.",
    "public": (PublicInput(name="posts", kind="texts", sha256="a" * 64, licence="CC BY 4.0"),),
}  # fmt: skip
EXPERIMENT = {"private": False, "warning": "NOT PRIVATE: REPRODUCIBLE"}


def labels_of(count, **more):
    """A release of ``count`` labels with "other"; accuracy falls from label to label."""
    names = tuple(f"subject {number}" for number in range(count - 1))
    shares = {name: round(0.95 - 0.4 * place / count, 3) for place, name in enumerate((*names, "other"))}
    accuracy = Accuracy(share=0.75, low=0.74, high=0.76, texts=8627, by_label=shares)
    facts = SHARED | {
        "epsilon": 5.0, "documents": 1234, "labels": (*names, "other"),
        "classifier": ClassifierFacts(name="posts", kind="topics", sha256="c" * 64, accuracy=accuracy),
    }  # fmt: skip
    return LabelManifest(**facts | more)


def values_of(**more):
    """A release of a column with two declared values."""
    facts = {
        "epsilon": 7.0, "labels": ("open", "closed", "other"), "field": "status", "documents": 12,
        "classifier": ClassifierFacts(name="status", kind="values", sha256="d" * 64),
    }  # fmt: skip
    return labels_of(3, **facts | more)


def words_of(**more):
    facts = SHARED | {
        "epsilon": 10.0, "documents": 1234, "length": 40, "metric": "euclidean", "mechanism": "laplace",
        "exponent_per_distance": 400.0, "nearest_pair": 2.31, "typical_pair": 61.7, "vocabulary_sha256": "e" * 64,
    }  # fmt: skip
    return WordManifest(**facts | more)


def summary_of(**more):
    facts = SHARED | {
        "epsilon": 1.0, "authors": 2000, "documents_per_author": 1, "by": {"district": ("North", "South", "other")},
        "epsilons": {"totals": 0.2, "topics": 0.8},
    }  # fmt: skip
    return SummaryManifest(**facts | more)


def table_of(manifest):
    """``labels.csv`` as rows."""
    return [
        {"label": name, "rows": 100 - place, "low": 80 - place, "high": 120 - place}
        for place, name in enumerate(manifest.labels)
    ]


MADE = {
    "3 labels": (labels_of(3), {"id": "1", "label": "subject 1"}),
    "21 labels": (
        labels_of(21, shuffled=Pair(epsilon=2.91, delta=1e-6), author=AuthorFacts(documents=1, epsilon=5.0)),
        {"id": "1", "label": "subject 7"},
    ),
    "100 labels": (labels_of(100, bag=40), BAG | {"label": "subject 99"}),
    "ids and kept": (
        labels_of(
            21,
            ids=True,
            kept=("district", "year"),
            labels_after_texts=True,
            author=AuthorFacts(documents=5, epsilon=25.0),
        ),
        {"id": "AB-17", "label": "subject 1", "district": "North", "year": 1990},
    ),
    "values": (values_of(), {"id": "3", "label": "open"}),
    "words": (words_of(), BAG),
    "ordered": (
        words_of(ordered=True, between="all", author=AuthorFacts(documents=3, epsilon=1200.0)),
        {"id": "1", "words": ["a", "b", "c", "d"] * 10},
    ),
    "python": (words_of(mechanism="python:mine:Kernel", nearest_pair=None, typical_pair=None), BAG),
    "experiment": (labels_of(3, epsilon=30.0, **EXPERIMENT), {"id": "1", "label": "other"}),
}


def drawn(folder, manifest, rows, *, pages=True, tables=()):
    """A release folder that stands in the register of this home."""
    from publius.pages.page import write_release_pages
    from publius.releases.draft import Draft

    labels = isinstance(manifest, LabelManifest)
    table = table_of(manifest) if labels else None
    with Draft.open(folder) as draft:
        name = {"labels": "labels", "words": "bags", "summary": "synthetic"}[manifest.__struct_config__.tag]
        (draft.folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for table_name, content in dict(tables).items():
            (draft.folder / f"{table_name}.csv").write_bytes(content.encode())
        if labels:
            with (draft.folder / "labels.csv").open("w", newline="") as file:
                made = csv.DictWriter(file, ["label", "rows", "low", "high"])
                made.writeheader()
                made.writerows(table)
        if pages and not isinstance(manifest, SummaryManifest):
            write_release_pages(draft.folder, manifest, row=rows[0], table=table)
        draft.finish(manifest)
    return folder
