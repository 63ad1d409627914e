"""A function in a forked child: killed, limited or measured, with its error handed back as a type and a text."""

import os
import pickle
import signal
import threading


def run_child(call, *, before=None, kill_after=None, timeout=600.0):
    """(exit signal or 0, result) of ``call()`` in a fork; the result is (type name, message, value).

    ``before`` runs in the child first (limits). ``kill_after``: seconds until SIGKILL; a child that is still there
    after ``timeout`` seconds hangs, and is killed too: its result is None.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _in_child(call, before, writing)
    os.close(writing)
    alarm = threading.Timer(timeout if kill_after is None else kill_after, os.kill, (child, signal.SIGKILL))
    alarm.start()
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    alarm.cancel()
    alarm.join()  # before the child is reaped: its number may be another process's then
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, pickle.loads(said) if said else None


def _in_child(call, before, writing):
    result = ("", "", None)
    try:
        if before is not None:
            before()
        result = ("", "", call())
    except BaseException as error:
        chain = [kind.__name__ for kind in type(error).__mro__]
        result = ("/".join(chain), str(error), None)
    finally:
        try:
            os.write(writing, pickle.dumps(result))
        finally:
            os._exit(0)
