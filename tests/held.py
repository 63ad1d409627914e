"""A command that stands still in the midst of its work, however quick or busy the machine is, to be killed there."""

import os
import subprocess
import sys

LEDGER = "the ledger"

_HELD = f"""
import os, stat, sys, time
told, where = int(sys.argv[1]), sys.argv[2]
sys.argv[1:3] = []
def stand():
    os.write(told, b".")
    while True:
        time.sleep(600)
def fsync(file, real=os.fsync):
    about = os.fstat(file)
    if stat.S_ISREG(about.st_mode) and about.st_size and os.readlink(f"/proc/self/fd/{{file}}").endswith(where):
        stand()
    real(file)
os.fsync = fsync
if where == {LEDGER!r}:
    from publius.privacy.ledger import Ledger
    Ledger.spend = lambda *given, **named: stand()
from publius.cli import main
main()
"""


def held(arguments, where, **how):
    """``publius``, held when it is about to debit the `LEDGER`, or to flush a file named ``where`` to the disk."""
    reading, writing = os.pipe()
    run = subprocess.Popen(
        [sys.executable, "-c", _HELD, str(writing), where, *map(str, arguments)], pass_fds=[writing], **how
    )
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read(1) == b"."
    return run
