"""``publius`` and ``python -m publius``. Worker processes import it once more, so by itself it imports nothing."""

import gc
import os
import sys


def main() -> None:
    """Run the command line."""
    from publius.files.child import forget_foreign_folders

    forget_foreign_folders()  # before any library is imported
    if "obfuscate" in sys.argv[1:]:  # it has threads and processes of its own, with one BLAS thread each
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from publius.cli import main as run

    try:
        run()
    finally:
        gc.freeze()  # the process ends: nothing need be looked through for what nobody uses any more


if __name__ == "__main__":
    main()
