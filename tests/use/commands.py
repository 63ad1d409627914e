"""What is done with a file. A command is one function in `COMMANDS`; it says how many documents were there.

Those of a command line that is not built yet are left out.
"""

import json
import pickle

from publius.documents.corpus import open_corpus
from publius.settings import Reading


def _reading(options):
    told = dict(zip(options[::2], options[1::2], strict=False))
    return Reading(
        text_field=told.get("--text-field"), quotes=told.get("--quotes", "standard"), lines="--lines" in options
    )


def read(run, files, options, columned, folder):
    corpus = open_corpus(files, _reading(options), author_field="author" if columned else None)
    documents = list(corpus)
    assert all("Größe" in each.text for each in documents)
    assert not any("else's words" in each.text for each in documents)
    travelled = [pickle.loads(pickle.dumps(each)) for each in corpus.batches(5)]
    assert [each for batch in travelled for each in batch.documents()] == documents
    assert len(corpus.digests()) == len(corpus.tables)
    if columned:
        assert {each.author for each in documents} == {f"a{n}" for n in range(6)}
    return corpus.count()


def inspect(run, files, options, columned, folder):
    code, out, err = run("inspect", *files, *options, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["without_text"] == 0
    return found["documents"]


COMMANDS = {"read": read, "inspect": inspect}
