"""A task that is done in this process: for tests whose subject is the work, not the process that does it."""

import pickle

from publius.files.tasks import _shown


class TaskHere:
    """Stands for `Task`. What goes in and comes out is pickled as there."""

    def __init__(self, work, *arguments):
        self._call = pickle.dumps((work, arguments))

    def result(self, hear):
        work, arguments = pickle.loads(self._call)
        try:
            return _copy(work(*arguments, lambda event: hear(_copy(event))))
        except BaseException as error:
            raise _shown(error) from None

    def cancel(self):
        """Of work that has ended: nothing."""


def _copy(value):
    return pickle.loads(pickle.dumps(value))
