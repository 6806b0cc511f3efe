"""Arguments that never reach their program, because the command ended before them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator

from ..findings.finding import Finding, warning
from ..findings.span import Edit, Span
from .launch import Launch
from .reading import Script
from .recognise import DOTTED_SETTING
from .syntax.parts import Place

_BETWEEN = re.compile(r"(?:\s|\\\n|#[^\n]*)*")
_NOTE = "bash takes them for a command of its own, which it does not find once the program has ended"
_PLAIN_SETTING = re.compile(r"[+~]{0,2}[A-Za-z_][A-Za-z0-9_.@/-]*=", re.ASCII)


def lost_after(launch: Launch, script: Script) -> Iterator[Finding]:
    """A warning if the next command is made of settings, so that they were meant for this one."""
    end = launch.started.place[1]
    following = next((each for each in script.started if each.place[0] >= end), None)
    if following is None or not following.words or not DOTTED_SETTING.match(following.words[0].plain):
        return
    if not _BETWEEN.fullmatch(script.source.text[end : following.place[0]]):
        return
    count = sum(bool(_PLAIN_SETTING.match(word.plain)) for word in following.words)
    first = script.source.text[slice(*following.place)].split()[0].split("=")[0]
    what = f"{count} settings, from `{first}` on, never reach" if count > 1 else f"`{first}` never reaches"
    end_ = _by_comment(script, launch.started.cut) if launch.started.cut else _by_line(script, end)
    message = f"{what} `{launch.program.plain}`: {end_.why}"
    yield warning("PW125", "", message, end_.span, label=end_.label, help=end_.help, edit=end_.edit, notes=(_NOTE,))


@dataclass(frozen=True, slots=True)
class _End:
    """Why a command ends where it does, and what lets it go on."""

    span: Span
    why: str
    label: str
    help: str
    edit: Edit | None


def _by_comment(script: Script, cut: Place) -> _End:
    """A comment ends it: one of its own line, or one after the backslash."""
    text, begin = script.source.text, script.source.text.rfind("\n", 0, cut[0]) + 1
    before = text[begin : cut[0]].rstrip()
    why = f"the comment in line {script.lines.number(cut[0])} ends the command"
    edit, help_ = None, "move the comment out of the command"
    if not before:
        edit = Edit(script.lines.span((begin, min(cut[1] + 1, len(text)))), "")
    elif before.endswith("\\"):
        edit = Edit(script.lines.span((begin + len(before), cut[1])), "")
        help_ = "take out all that follows the backslash"
    return _End(script.lines.span(cut), why, "the command ends here", help_, edit)


def _by_line(script: Script, end: int) -> _End:
    """Its last line has no backslash at the end."""
    text, stop = script.source.text, script.lines.end(end)
    why = f"line {script.lines.number(end - 1)} does not end with a backslash"
    escaped = re.search(r"\\[ \t]", text[text.rfind("\n", 0, end) + 1 : stop])  # a blank after a backslash is mended by itself
    edit = None if escaped or text[end:stop].strip() else Edit(script.lines.span((end, stop)), " \\")
    return _End(script.lines.span((end - 1, end)), why, "no backslash follows", "end the line with a backslash", edit)
