"""``publius`` and ``python -m publius``. Worker processes import it once more, so by itself it imports nothing."""

import gc
import os
import sys


def main() -> None:
    """Run the command line and end the process."""
    gc.set_threshold(200_000)  # to look again and again through what a start makes, and keeps, takes a twentieth of it
    from publius.files.processes import forget_foreign_folders

    forget_foreign_folders()  # before any library is imported
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # part of a vector's value; workers divide the work
    from publius.cli import run

    code = run()
    gc.freeze()  # Python would look once more through all that goes with the process: a tenth of a short command
    sys.exit(code)


if __name__ == "__main__":
    main()
