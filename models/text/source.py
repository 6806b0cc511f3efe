"""The text of a file and the values in it, read within limits and without constructing anything."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from pathlib import Path

from ..findings.edits import meet
from ..findings.finding import UnusableInput, error
from ..findings.span import Edit, Span, apply_edits
from ..record import dataclass
from .tree import MapNode, Value
from .yaml_reader import YamlText, read_document

MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Source:
    """A text with a name. `root` is its YAML value, read when first asked for."""

    name: str
    text: str = field(repr=False)

    @staticmethod
    def read(path: str | Path, name: str = "") -> Source:
        """The file's text, under its path if no other `name` is given.

        Raises UnusableInput if it is missing, unreadable, larger than 1 MiB or not UTF-8.
        """
        name = name or str(path)
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            raise UnusableInput([error("PW001", "", f"there is no file `{name}`", help="check the path")]) from None
        except (OSError, ValueError) as problem:  # a name with a null character is a ValueError
            message = f"`{name}` cannot be read: {getattr(problem, 'strerror', None) or problem}"
            raise UnusableInput([error("PW001", "", message, help="name a readable file")]) from None
        if len(data) > MAX_BYTES:
            message = f"`{name}` is larger than {MAX_BYTES:,} bytes, the most that is read"
            raise UnusableInput([error("PW002", "", message, help="real configurations are below 40,000 bytes: is this the right file?")])
        try:
            return Source(name, data.decode("utf-8-sig"))
        except UnicodeDecodeError as problem:
            message = f"`{name}` is not UTF-8 text (byte {problem.start})"
            raise UnusableInput([error("PW003", "", message, help="name a YAML text file")]) from None

    @cached_property
    def value(self) -> Value:
        """The YAML value. Raises UnusableInput if the text is not YAML within the limits."""
        return self._read.value

    @cached_property
    def _read(self) -> YamlText:
        return read_document(self.name, self.text)

    @property
    def shared(self) -> tuple[Span, ...]:
        """Places of values that aliases use too; none of a text that was not read as YAML."""
        return self._read.shared if "_read" in self.__dict__ else ()

    @cached_property
    def root(self) -> MapNode:
        """The top-level map. Raises UnusableInput if the text is not one YAML map within the limits."""
        value = self.value
        if not isinstance(value, MapNode):
            message = f"`{self.name}` does not hold a map at its top level"
            raise UnusableInput([error("PW003", "", message, value.span, help="a configuration starts with keys such as `cluster:`")])
        return value

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends, as a YAML reader counts them."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def edited(self, edits: list[Edit]) -> Source:
        """The text with edits made. Raises UnusableInput (PW603) where two of them change one text, or one what aliases use too."""
        shared = next((its for edit in edits for its in self.shared if meet(edit.span, its)), None)
        if shared is None:
            try:
                return Source(self.name, apply_edits(self.text, edits))
            except ValueError:
                shared = edits[0].span
        message = f"the answer cannot be written into this file: line {shared.line} holds one value for several places"
        raise UnusableInput([error("PW603", "", message, shared, help="write the value out where its alias is used")])

    def whole(self) -> Span:
        """The first character: the place of findings about the file as a whole."""
        return Span(self.name, 0, 0, 1, 1)
