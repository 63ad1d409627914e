"""An adversary as somebody else would write one: the label whose known bag shares most words."""

import numpy as np

from publius.errors import DataError
from publius.evaluation.attackers.base import AbstractAttacker


class SharedWords(AbstractAttacker):
    tasks = ("author",)

    def _learn(self, X, y):
        self.words = {name: set() for name in self.classes_}
        for bag, label in zip(X, y, strict=True):
            self.words[label] |= set(bag.counts)
        self.facts_ = {"known": sum(map(len, self.words.values()))}

    def _scores(self, X):
        return np.array(
            [[len(self.words[name] & set(bag.counts)) for name in self.classes_] for bag in X], float
        )


class Unfinished(AbstractAttacker):
    pass


class Loud(SharedWords):
    """Says what it sees."""

    def _scores(self, X):
        print(*X[0].counts)
        raise DataError(" ".join(X[0].counts))
