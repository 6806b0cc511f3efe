"""The text of a file and the values in it, read within limits and without constructing anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..findings.finding import UnusableInput, error
from ..findings.span import Span
from .tree import Mapping, Value
from .yaml_reader import read_yaml

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
        return read_yaml(self.name, self.text)

    @cached_property
    def root(self) -> Mapping:
        """The top-level map. Raises UnusableInput if the text is not one YAML map within the limits."""
        value = self.value
        if not isinstance(value, Mapping):
            message = f"`{self.name}` does not hold a map at its top level"
            raise UnusableInput([error("PW003", "", message, value.span, help="a configuration starts with keys such as `cluster:`")])
        return value

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends, as a YAML reader counts them."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def whole(self) -> Span:
        """The first character: the place of findings about the file as a whole."""
        return Span(self.name, 0, 0, 1, 1)
