"""Names of what a summary's folder holds."""

import re
from typing import Final

COUNTS, SUBJECTS, THEMES, WORDS = "counts.csv", "subjects.csv", "themes.csv", "words.csv"
STRATA: Final = "strata.csv"
ROWS, PASSAGES, REPORT = "synthetic.jsonl", "passages.jsonl", "report.html"
NOISY = "noisy.json"
"""The counts as they were drawn: what all tables follow from."""

LEVEL: Final = 0.95
"""With which all limits of a table hold together."""

TOO_FEW, LIKE_ALL, ALONE = "too few to tell", "nothing stands out", "no other stratum to tell it from"
"""What stands in the place of a stratum's typical words."""

MECHANISM: Final = "noisy counts of public themes and subjects"
COUNTED: Final = "contributed documents"
_SAYS_WHO: Final = frozenset(
    """absender account agent alias anon applicant auteur author autor benutzer caller claimant clerk client
    commenter complainant consumer contributor correspondent created creator customer doctor email employee
    expediteur family first given guest handle ident kunde last login mail member mitarbeiter name nick nom
    number nummer nurse nutzer original owner participant patient person physician poster pseudonym reporter
    requester respondent reviewer screen sender signature signed speaker staff student subject submitted
    submitter subscriber surname teacher user usuario utilisateur verfasser worker writer written""".split()
)
_BESIDE: Final = frozenset(
    """a address by code commit display e from full git hash id in key no nr num of or r ref reference review sent
    the tweet twitter uid uuid who x""".split()
)
_PARTS: Final = re.compile(r"[^\W\d_a-z]?[a-z]+|[^\W\d_]+")


def names_authors(column: str) -> bool:
    """Whether a column of authors may be called so, since pages state it: its words say what it is, no other does.

    Without a header the first row stands there, which is somebody's name or number, and a letter.
    """
    words = [each.casefold() for each in _PARTS.findall(column)]
    plain = (
        re.fullmatch(r"[^\W\d_][^\W\d]*(?:[ .-]{1,2}[^\W\d]+)*[.]?", column) is not None and len(column) <= 60
    )
    return plain and bool(words) and all(map(_says_who, words))


def _says_who(word: str) -> bool:
    return word in _BESIDE or any(word.startswith(each) or word.endswith(each) for each in _SAYS_WHO)
