"""A command that a script starts."""

from __future__ import annotations

from dataclasses import dataclass

from ..holding.value import Text
from ..syntax.parts import Place


@dataclass(frozen=True, slots=True)
class Started:
    """A command that the script starts.

    Attributes
    ----------
    words : its words, expanded.
    place : where it stands.
    cut : the comment that ends it although the line before goes on.
    condition : why it is not known that it is reached; "" where it is.
    """

    words: tuple[Text, ...]
    place: Place
    cut: Place | None = None
    condition: str = ""
