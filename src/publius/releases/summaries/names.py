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
    """account alias auteur author authors autor benutzer benutzername by case clerk client cliente clientid code
    complainant contributor correspondent created creator customer customerid email employee family first
    from full given guest handle hash id ident identifier key kunde kunden kundenid kundennr kundennummer
    last login mail member name nick nickname no nr num number nummer nutzer nutzername of or original owner
    participant patient person poster pseudonym ref reference reporter respondent reviewer screen sender
    sent signature signed speaker staff student subject submitted submitter surname the uid user userid
    username users utilisateur uuid verfasser who writer written""".split()
)
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def names_authors(column: str) -> bool:
    """Whether a column of authors may be called so, since pages state it: its words say what it is, no other does.

    Without a header the first row stands there, which is somebody's name and letter.
    """
    words = [each.casefold() for each in _PARTS.findall(column)]
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_ .-]{0,59}", column) is not None
    return (
        plain
        and bool(words)
        and all(word in _SAYS_WHO or (len(word) < 3 and word.isdigit()) for word in words)
    )
