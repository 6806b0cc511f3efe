"""Preference between answers, as far as the user can choose."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from .record import dataclass

LEXICOGRAPHIC, WEIGHTED = ORDERS = ("lexicographic", "weighted")
"""Orders: bytes across the widest topology level first, or the sum of all bytes."""


@dataclass(frozen=True, slots=True)
class Preference:
    """Comparison of bytes at different levels of the topology.

    Attributes
    ----------
    order : one of `ORDERS`.
    weights : level -> cost per MiB in the weighted sum; unnamed levels cost 1.
    bytes_first : True if bytes come before soft locality and moves, as with traffic counted as
        time.
    """

    order: str = LEXICOGRAPHIC
    weights: Mapping[str, int] = field(default_factory=dict)
    bytes_first: bool = False
