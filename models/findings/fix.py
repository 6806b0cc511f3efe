"""What would mend something: in words, and as an edit of the file."""

from __future__ import annotations

from ..record import dataclass
from .span import Edit


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that was itself verified. `edit` is None where the text that it changes stands elsewhere.

    `notes` are what the dialect knows of the cause, such as which number is the framework's default.
    """

    help: str
    edit: Edit | None = None
    notes: tuple[str, ...] = ()
