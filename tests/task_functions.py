"""What tests let a task of its own process do; that process imports this module, and no test's libraries with it."""

import os
import subprocess
import sys
import time

from publius.evaluation.steps.workflow import Advanced
from publius.files import new_folder
from publius.files.placed import note_debit


def writes_until_stopped(folder, tell):
    """A folder that is being made, by a process that has a worker of its own and says nothing."""
    call = [sys.executable, "-c", "import time; time.sleep(100)"]
    with new_folder(folder / "out") as made, subprocess.Popen(call) as worker:
        (made / "half").write_text("half")
        (folder / "processes").write_text(f"{os.getpid()} {worker.pid}")
        time.sleep(100)


def releases_and_goes_on(folder, tell):
    """A release has its name, and something is left to do."""
    with new_folder(folder / "out", release=True) as made:
        (made / "whole").write_text("whole")
    while not (folder / "cancelled").exists():
        time.sleep(0.01)
    time.sleep(0.5)
    tell(Advanced(1, 1))
    return "released"


def stands_still(work, arguments, tell):
    """``work`` that never ends by itself: it stands still in the midst of it, once it has told how far it is."""

    def tell_and_stand(event):
        tell(event)
        if isinstance(event, Advanced):
            time.sleep(100_000)

    return work(*arguments, tell_and_stand)


def counts_and_fails(error, tell):
    tell(Advanced(1, 2))
    raise error


def debits_and_waits(folder, error, tell):
    """A ledger is charged, and the release has no name yet."""
    note_debit()
    (folder / "debited").touch()
    if error is not None:
        raise error
    time.sleep(100)


def ends_at_once(tell):
    os._exit(3)


def prints(tell):
    print("a word")
    sys.stderr.write("a word")
    return "done"


def loses_the_order_to_stop(tell):
    """As where it comes while a library calls back: Python passes over what is raised there."""
    try:
        tell(Advanced(0, 1000))
        time.sleep(100)
    except SystemExit:
        pass
    for number in range(1000):
        tell(Advanced(number, 1000))
    return "done"
