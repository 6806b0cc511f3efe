"""Page of a code: the rule in words, a wrong and a right example, the fix, the source.

A page is a small text beside this file, ``pages/PW102.md``: first the rule in words, then the sections ``## Wrong``,
``## Right``, ``## Fix``, ``## Source`` and ``## See also``. The fences of an example say what their text is:

- ``yaml verify train.yaml --cluster 2x8`` is a file with the command that it is used in; ``## Right`` repeats the command
  only where it differs; what comes in several ways shows several such files, each with its command on both sides;
- ``yaml file machines.yaml`` is one more file;
- ``python`` is a program, ``console`` a command line with its output.

The first paragraph of the docstring of a rule or an advice is the head of its page, and its `Source:` is the source: neither is
repeated in the file.
"""

from __future__ import annotations

import os
import re
from importlib import resources
from inspect import cleandoc
from typing import Iterable, Iterator, Protocol

from ..models.findings.codes import CODES, FAMILIES
from ..models.record import dataclass
from .terminal import escape

SECTIONS = ("Wrong", "Right", "Fix", "Source", "See also")
_CODE, _PATH = re.compile(r"PW\d{3}", re.IGNORECASE), re.compile(r"[./\\]|^-$")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_FENCE = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """Text of an example.

    Attributes
    ----------
    language : ``yaml``, ``sh``, ``json``, ``python`` or ``console``.
    text : the text, ending in a line end.
    command : what placewright is given, such as ``verify train.yaml --cluster 2x8``; "" where nothing is run.
    file : the name of the file that the text is; "" where it is none.
    """

    language: str
    text: str
    command: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Page of a code; every paragraph is a line, separated by empty lines."""

    code: str
    title: str
    family: str
    text: str
    wrong: tuple[Example, ...]
    right: tuple[Example, ...]
    fix: str
    source: str
    see_also: tuple[str, ...]


class RulePage(Protocol):
    """Class with a code whose docstring states its rule."""

    @property
    def code(self) -> str:
        """Code of the findings."""
        ...


def means_code(text: str) -> bool:
    """Return True for a code or an attempt at one; False for a file name."""
    return bool(_CODE.fullmatch(text)) or not (_PATH.search(text) or os.path.exists(text))


def read_page(name: str, rules: Iterable[RulePage]) -> Page:
    """Return the page of a code in any case. Raises ValueError for an unknown code."""
    code = name.upper()
    if code not in CODES:
        raise ValueError(_refuse_code(name))
    text = resources.files(__package__).joinpath("pages", f"{code}.md").read_text("utf-8")
    rule = next((rule for rule in rules if rule.code == code), None)
    docstring = cleandoc(type(rule).__doc__ or "").replace("``", "`") if rule else ""
    source = " ".join(docstring.partition("Source: ")[2].split()).rstrip(".")
    return parse_page(code, text, " ".join(docstring.partition("\n\n")[0].split()), source)


def parse_page(code: str, text: str, rule: str = "", source: str = "") -> Page:
    """Parse the text of a page. Raises ValueError for other texts."""
    first, *rest = _HEADING.split(text)
    sections = {name: body.strip() for name, body in zip(rest[::2], rest[1::2])}
    if list(sections) != [name for name in SECTIONS if name in sections] or not {"Wrong", "Right", "Fix"} <= sections.keys():
        raise ValueError(f"the page of {code} has the sections {', '.join(sections)}; they are {', '.join(SECTIONS)}, in this order")
    wrong, right = (tuple(_examples(sections[name])) for name in ("Wrong", "Right"))
    words = "\n\n".join(text_part for text_part in (rule, _join(first.strip())) if text_part)
    sources = "; ".join(text_part for text_part in (source, _join(sections.get("Source", ""))) if text_part)
    see_also = tuple(re.findall(r"PW\d{3}", sections.get("See also", "")))
    return Page(code, CODES[code], family_of(code), words, wrong, right, _join(sections["Fix"]), sources, see_also)


def command_of(examples: Iterable[Example]) -> str:
    """Return the first command of examples; "" without any."""
    return next((example.command for example in examples if example.command), "")


def family_of(code: str) -> str:
    """Return the subject of the code's hundred."""
    return FAMILIES[code[:3]]


def _join(text: str) -> str:
    """Join the lines of each paragraph."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _examples(section: str) -> Iterator[Example]:
    for language, use, text in _FENCE.findall(section):
        verb, _, rest = use.partition(" ")
        if verb == "file":
            yield Example(language, text, file=rest)
        else:
            yield Example(language, text, use, next((word for word in rest.split() if not word.startswith("-")), ""))


def _refuse_code(name: str) -> str:
    """Format the refusal of an unknown code with similar ones: by digits, spelling or titles."""
    from difflib import get_close_matches

    digits = re.sub(r"\D", "", name.upper().replace("O", "0"))[-3:]
    similar = [code for code in CODES if code == f"PW{digits}"]
    similar = similar or [code for code, title in CODES.items() if len(name) > 2 and name.lower() in title.lower()]
    similar = similar or get_close_matches(name.upper(), CODES, n=3, cutoff=0.7)
    suggestions = ", ".join(f"{code} ({CODES[code]})" for code in similar[:3])
    return f"there is no code `{escape(name)}`; " + (f"did you mean {suggestions}?" if similar else "`placewright explain` lists all codes")
