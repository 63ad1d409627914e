"""Data of the Natural Language Toolkit, which no package brings: a sentence splitter that knows nothing, a stop list.

They stand in for its own, so that tools which ask for them can be tried; what they change is said in the verdicts.
"""

import os
import tempfile
from pathlib import Path

STOP_WORDS = ("the", "of", "and", "to", "in", "a", "is", "that")


def provide():
    """A folder with both, which the toolkit searches."""
    folder = Path(tempfile.mkdtemp())
    stop = folder / "corpora" / "stopwords"
    punkt = folder / "tokenizers" / "punkt_tab" / "english"
    for each in (stop, punkt):
        each.mkdir(parents=True)
    (stop / "english").write_text("\n".join(STOP_WORDS) + "\n")
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        (punkt / name).write_text("")
    os.environ["NLTK_DATA"] = str(folder)
    return folder
