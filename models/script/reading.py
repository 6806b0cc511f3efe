"""A script, read: the commands that it starts, and where reading could not go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from ..findings.finding import Finding, Unchecked, error
from ..text.source import Source
from .holding.state import State, TooMuch
from .lines import Lines
from .meaning.follow import Follower
from .meaning.started import Started
from .syntax.cursor import Unreadable
from .syntax.parser import Parser


@dataclass(frozen=True)
class Script:
    """What a script starts.

    Attributes
    ----------
    started : its commands, in the order of following, as far as it could be read.
    findings : why it could not be read to its end.
    unchecked : what it takes from elsewhere.
    """

    source: Source
    lines: Lines
    started: tuple[Started, ...]
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()


def read_script(source: Source, environment: Mapping[str, str] | None = None) -> Script:
    """A script, followed with these variables of the environment and no arguments. Nothing is executed.

    As bash does, statements are carried out one by one: what stands before a place that cannot be read was reached.
    """
    lines, parser = Lines(source), Parser(source.text)
    follower = Follower(source.text, State(environment or {}))
    findings = []
    try:
        while not follower.state.ended and (statement := parser.statement()) is not None:
            follower.chain(statement)
    except Unreadable as problem:
        span = lines.span((problem.position, min(problem.position + 1, len(source.text))))
        code, what = ("PW002", "more than is read") if problem.limit else ("PW014", "this is no command that bash could read")
        message = f"{problem}: {what}"
        findings.append(error(code, "", message, span, label="from here on", help="mend the script at this place"))
    except TooMuch as problem:
        message = f"following the script takes too long: {problem}"
        findings.append(error("PW002", "", message, source.whole(), help="give the settings without loops, or as `key=value` words"))
    unchecked = []
    for each in dict.fromkeys(follower.untold):
        shown = " ".join(source.text[slice(*each.place)].split())[:60]
        unchecked.append(
            Unchecked("PW122", "", f"`{shown}` in line {lines.number(each.place[0])} is not followed; what it sets is not known")
        )
    return Script(source, lines, tuple(follower.started), tuple(findings), tuple(unchecked))
