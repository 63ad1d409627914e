"""Imported before numpy: threads of linear algebra that wait for small matrices take ten times their work in time."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
