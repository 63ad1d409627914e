"""Mechanisms: `kernels` and `finite` on words; `lifted`, `prototype`, `position` on documents; `registry` by name."""
