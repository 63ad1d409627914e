"""spaCy: ``nlp.add_pipe("publius", config={"epsilon": 10, "length": 40})``; then ``doc._.publius`` is a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any, Final, final

import srsly
from spacy.language import Language
from spacy.tokens import Doc

from publius.privacy.guarantee import Guarantee
from publius.privacy.ledger import Ledger
from publius.releases.plugins.texts import Texts
from publius.releases.release import Release
from publius.text.bag import Bag

NAME: Final = "publius"
_RELEASE: Final = "publius.Release"


@final
class Component:
    """Puts a `publius.Release` of each document's text at ``doc._.publius``: pass that on, and not the document.

    A ledger charges ``doc._.publius_id``, which is to be set before. spaCy keeps the words of every document it read
    (``nlp.vocab.strings``), and ``nlp.to_disk`` writes them: a pipeline that has seen private documents is private.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        for name in (NAME, f"{NAME}_id"):
            if not Doc.has_extension(name):
                Doc.set_extension(name, default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Release one document."""
        return next(self.pipe([doc], batch_size=1))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1000) -> Iterator[Doc]:
        """Release documents as they come, a batch at a time."""
        documents = iter(stream)
        while batch := list(islice(documents, batch_size)):
            ids = [doc._.get(f"{NAME}_id") for doc in batch]
            released = self._texts.release([doc.text for doc in batch], ids)
            for doc, release in zip(batch, released, strict=True):
                doc._.set(NAME, release)
            yield from batch

    def to_disk(self, path: Any, *, exclude: Any = ()) -> None:
        """Nothing is learned, so nothing is kept: the configuration says it all."""

    def from_disk(self, path: Any, *, exclude: Any = ()) -> Component:
        """See `to_disk`."""
        return self


@srsly.msgpack_encoders(NAME)  # type: ignore[untyped-decorator]
def _written(thing: Any, chain: Any = None) -> Any:
    """A release as spaCy's own format has it, in which documents go from process to process and into files.

    Without it what ``nlp.pipe(..., n_process=2)`` has released, and charged, would be lost on its way back.
    """
    if not isinstance(thing, Release):
        return thing if chain is None else chain(thing)
    _, (id, bag, guarantee, *rest) = thing.__reduce__()
    return {_RELEASE: [id, list(bag.counts.items()), None if guarantee is None else asdict(guarantee), *rest]}


@srsly.msgpack_decoders(NAME)  # type: ignore[untyped-decorator]
def _read(found: Any, chain: Any = None) -> Any:
    """See `_written`."""
    if _RELEASE not in found:
        return found if chain is None else chain(found)
    id, counts, guarantee, labels, warning, words, kept, *rest = found[_RELEASE]
    stated = None if guarantee is None else Guarantee(**guarantee)
    order = (None if words is None else tuple(words), tuple(kept))
    return Release(id, Bag(dict(counts)), stated, labels, warning, *order, *rest)


@Language.factory(NAME, default_config={"settings": {}, "ledger": None})  # type: ignore[untyped-decorator]
def make(nlp: Language, name: str, settings: dict[str, Any], ledger: str | None) -> Component:
    """The component; ``settings`` are those of `publius.settings.ReleaseSettings`, ``ledger`` the path of one."""
    return Component(Texts.of(None, None if ledger is None else Ledger(ledger), **settings))
