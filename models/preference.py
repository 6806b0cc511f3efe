"""What makes one answer better than another, as far as the user may say."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from .record import dataclass

LEXICOGRAPHIC, WEIGHTED = ORDERS = ("lexicographic", "weighted")
"""Bytes across the widest level of the topology first, or all bytes in one sum."""


@dataclass(frozen=True, slots=True)
class Preference:
    """How bytes at different levels of the topology are compared.

    Attributes
    ----------
    order : one of `ORDERS`.
    weights : level -> what a MiB across it costs in the weighted sum; a level that is not named costs 1.
    bytes_first : do bytes come before groups that had better be kept together or stay, as where they count as time?
    """

    order: str = LEXICOGRAPHIC
    weights: Mapping[str, int] = field(default_factory=dict)
    bytes_first: bool = False
