"""Mechanisms: `kernels` and `finite` on words; `lifted` and `randomized_response` on documents; `registry` by name."""
