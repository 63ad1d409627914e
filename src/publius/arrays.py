"""The array types that every room speaks of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]  # vectors in whichever precision they came
Float64Array = NDArray[np.float64]
Float32Array = NDArray[np.float32]
IndexArray = NDArray[np.int64]  # places in a vocabulary
