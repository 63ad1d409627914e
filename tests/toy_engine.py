"""A third engine, added through the public protocol in one class."""

from publius.releases.engines.cluster import AbstractClusterEngine


class Stopped(Exception):
    """Stands for a kill between two tasks."""


class ToyEngine(AbstractClusterEngine):
    """Every task in this process, the last first; stopped after some, or each done twice, as clusters do."""

    def __init__(self, stop_after=None, twice=False):
        self.stop_after, self.twice, self.carried = stop_after, twice, []

    def carry(self, task, numbers):
        self.carried.append(list(numbers))
        for done, number in enumerate(reversed(numbers)):
            if len(self.carried) > 1 and done == self.stop_after:
                raise Stopped
            for _ in range(1 + self.twice):
                task(number)
