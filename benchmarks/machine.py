"""The processor that figures are of."""

from __future__ import annotations

import platform
from contextlib import suppress
from pathlib import Path

_UNITS = (
    "avx2",
    "avx_vnni",
    "avx512f",
    "avx512_vnni",
    "avx512_bf16",
    "amx_bf16",
    "amx_int8",
    "asimddp",
    "i8mm",
)


def processor() -> str:
    """Its name, where the system tells it, and which units that products can use it has."""
    with suppress(OSError):
        facts = {}
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            key, _, value = line.partition(":")
            facts.setdefault(key.strip(), value.strip())
        flags = (facts.get("flags") or facts.get("Features") or "").split()
        units = ", ".join(unit for unit in _UNITS if unit in flags)
        return f"{facts.get('model name', platform.machine())} ({platform.machine()}; {units or 'no such units'})"
    return platform.processor() or platform.machine()
