"""Arguments that never reach their program, because the command ended before them."""

from __future__ import annotations

import re
from typing import Iterator

from ..finding import Finding, warning
from ..span import Edit
from .launch import Launch
from .reading import Script
from .recognise import DOTTED_SETTING

_BETWEEN = re.compile(r"(?:\s|\\\n|#[^\n]*)*")
_PLAIN_SETTING = re.compile(r"[+~]{0,2}[A-Za-z_][A-Za-z0-9_.@/-]*=", re.ASCII)


def lost_after(launch: Launch, script: Script) -> Iterator[Finding]:
    """A warning if the next command is made of settings, so that they were meant for this one."""
    text, end = script.source.text, launch.started.place[1]
    following = next((each for each in script.started if each.place[0] >= end), None)
    if following is None or not following.words or not DOTTED_SETTING.match(following.words[0].plain):
        return
    between = text[end : following.place[0]]
    if not _BETWEEN.fullmatch(between):
        return
    settings = [word for word in following.words if _PLAIN_SETTING.match(word.plain)]
    first = " ".join(text[following.place[0] :][:60].split())
    count = (
        f"{len(settings)} settings, from `{first.split()[0].split('=')[0]}` on,"
        if len(settings) > 1
        else f"`{first.split()[0].split('=')[0]}`"
    )
    never = "never reach" if len(settings) > 1 else "never reaches"
    cut, edit = launch.started.cut, None
    if cut is not None:
        line = script.lines.number(cut[0])
        span, label = script.lines.span(cut), "the command ends here"
        why = f"the comment in line {line} ends the command"
        begin = text.rfind("\n", 0, cut[0]) + 1
        help_ = "move the comment out of the command"
        if not text[begin : cut[0]].strip():
            edit = Edit(script.lines.span((begin, min(cut[1] + 1, len(text)))), "")
        elif text[begin : cut[0]].rstrip().endswith("\\"):
            stop = begin + len(text[begin : cut[0]].rstrip())
            edit = Edit(script.lines.span((stop, cut[1])), "")
            help_ = "take out all that follows the backslash"
    else:
        span, label = script.lines.span((end - 1, end)), "no backslash follows"
        why = f"line {script.lines.number(end - 1)} does not end with a backslash"
        help_ = "end the line with a backslash"
        edit = Edit(script.lines.span((end, end)), " \\") if not text[end : script.lines.end(end)].strip() else None
    message = f"{count} {never} `{launch.program.plain}`: {why}"
    notes = ("bash takes them for a command of its own, which it does not find once the program has ended",)
    yield warning("PW125", "", message, span, label=label, help=help_, edit=edit, notes=notes)
