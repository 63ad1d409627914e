"""A classifier of anybody, for ``--classifier python:toy_classifier:topics``."""

from made_collection import TOPICS, Keywords

_KEYWORDS = Keywords("python")


class Topics:
    labels = tuple(TOPICS)

    def predict(self, text):
        return _KEYWORDS.predict(text)


topics = Topics()
