"""Spark SQL: ``protected(mechanism, length=40)`` is a function of a column of texts, and can be registered for SQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from publius.releases.plugins.texts import Mechanism, Texts


def protected(mechanism: Mechanism, **settings: Any) -> tuple[Any, dict[str, Any]]:
    """A user-defined function from texts to maps of words and counts, and what each value states.

    Spark may compute a column again: write the result once, and read what was written. There is no ledger here, for
    the workers of a cluster share no file: `publius.protect_corpus` with the engine "spark" has one. ``settings`` are
    those of `publius.settings.ReleaseSettings`.
    """
    import pandas
    from pyspark.sql.functions import pandas_udf
    from pyspark.sql.types import IntegerType, MapType, StringType

    texts = Texts.of(mechanism, **settings)

    def protect(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield pandas.Series(texts.counts(batch))

    series = Iterator[pandas.Series]
    protect.__annotations__ = {"batches": series, "return": series}
    made = pandas_udf(protect, MapType(StringType(), IntegerType(), False))
    return made.asNondeterministic(), texts.manifest(1)
