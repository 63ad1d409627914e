"""The threads of a test, and their end."""

import threading
import time
from contextlib import contextmanager


@contextmanager
def ended(seconds=120):
    """What is started inside has ended afterwards: it would write and take time in another test."""
    before = {*threading.enumerate()}
    try:
        yield
    finally:
        # One that a library started by itself stands there for good once it has called Python, and cannot be joined.
        left = {each for each in threading.enumerate() if not isinstance(each, threading._DummyThread)} - before
        for thread in left:
            while thread.ident is None:  # about to start
                time.sleep(0.001)
            thread.join(seconds)
    going = [thread.name for thread in left if thread.is_alive()]
    assert not going, f"{going} go on"
