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
NAME_OF_AUTHORS: Final = re.compile(r"[^\W\d][\w -]{0,59}")
"""What a column of authors may be called, since pages state it: no address, and no sentence."""
