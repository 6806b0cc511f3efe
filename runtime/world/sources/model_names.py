"""Model names of cluster files, from the names of drivers, nvidia-smi and Ray."""

from __future__ import annotations

import re

from ....models.machines.accelerators import GENERIC, memory_of

_DATA_CENTRE = re.compile(
    r"\b(GB300|GB200|GH200|B300|B200|H200|H100|H800|H20|A100|A800|L40S|L40|L20|L4|L2|A6000|A5000|A4000|A40|A30|A16|A10G|A10|A2"
    r"|V100S?|P100|P40|P4|T4|K80)\b"
)
_CONSUMER = re.compile(r"\b([RG]TX) ?(\d{4})(?: ?(Ti Super|Ti|Super|D)\b)?", re.IGNORECASE)
_PROFESSIONAL = re.compile(r"\bRTX PRO (\d{4})\b")
_AMD = re.compile(r"\bMI ?(\d{3}[AX]?)")
_ASCEND = re.compile(r"\b(?:Ascend ?)?(910[BC])\d?\b", re.IGNORECASE)
_MEMORY = re.compile(r"\b(\d+) ?GB\b")
_BESIDE = ("GH200", "GB200", "GB300")
"""Models whose names state the memory of the processor beside them."""
# Makers' sizes, in GiB, of variants whose names do not state them.
_VARIANTS = {"H100 NVL": 94, "H20 3e": 141}
SLACK = 0.08
"""Share of the stated memory that a driver may reserve.

A sixteenth is for error correction; the rest is a margin.
"""


def model_of(name: str) -> str:
    """Return the model of a product name; ``GPU`` for an empty name.

    ``NVIDIA H100 80GB HBM3`` gives ``H100``, ``NVIDIA GeForce RTX 4090`` gives ``RTX4090``. An
    unknown name is kept, without its maker and with hyphens for blanks.
    """
    words = " ".join(re.sub(r"[-_/]", " ", name).split())
    if match := _AMD.search(words):
        return f"MI{match[1]}"
    if match := _ASCEND.search(words):
        return match[1].upper()
    if match := _PROFESSIONAL.search(words):
        return f"RTX-PRO-{match[1]}"
    if match := _CONSUMER.search(words):
        return f"{match[1].upper()}{match[2]}{(match[3] or '').replace(' ', '')}"
    if match := _DATA_CENTRE.search(words):
        short = f"{match[1]}-40GB"
        return short if stated_memory(name, match[1]) == 40 * 1024 and memory_of(short) else match[1]
    bare = re.sub(r"^(NVIDIA|AMD|Intel|Tesla|Quadro) ", "", words, flags=re.IGNORECASE)
    bare = re.sub(r"[^A-Za-z0-9.]+", "-", bare).strip("-.")[:64]
    return bare if bare[:1].isalpha() or bare.isdecimal() else f"{GENERIC}-{bare}" if bare else GENERIC


def stated_memory(name: str, model: str = "") -> int | None:
    """Return the MiB that a product name states, or None."""
    words = re.sub(r"[-_/]", " ", name)
    for variant, gibibytes in _VARIANTS.items():
        if variant in words:
            return gibibytes * 1024
    match = _MEMORY.search(words)
    return int(match[1]) * 1024 if match and (model or model_of(name)) not in _BESIDE else None


def same_model(one: str, other: str) -> bool:
    """Return True if both may name the same model.

    Memory sizes are ignored; an unknown model matches any.
    """
    first, second = (re.sub(r"-\d+GB$", "", model_of(name.rpartition(":")[2])).upper() for name in (one, other))
    return GENERIC in (first, second) or first == second or f"RTX{first}" == second or first == f"RTX{second}"
