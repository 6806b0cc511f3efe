"""Input and output of commands: `read`, and what `$(...)`, pipes and written files take up.

Sources: the Bash Reference Manual, 4.2; the manual of GNU coreutils. Only what the text of the script decides is known.
"""

from __future__ import annotations

import os
import re
from typing import Sequence

from .arithmetic import NotComputed
from .expand import Expander
from .flow import Truth
from .pieces import Place, WordText, derive, join
from .state import INPUT, State
from .syntax import NAME

MAX_NUMBERS = 4_096
_NUMBER = re.compile(r"-?[1-9][0-9]{0,8}|0", re.ASCII)
_PATH = "it is a path of the machine where the script runs"


def print_output(name: str, words: Sequence[WordText], state: State, place: Place) -> WordText | None:
    """Return what a command prints; None if only running it tells."""
    stdin, end = state.text_of(INPUT), WordText.of("\n", place)
    plain, operands = [word.plain for word in words], [word for word in words if word.plain[:1] != "-"]
    if name == "echo":
        is_open = plain[:1] == ["-n"]
        text = join(words[is_open:], " ", place)
        return None if text.plain.startswith("-") else text if is_open else join([text, end])
    if name == "cat":
        texts = [text for text in (map(state.find_written, words) if words else [stdin]) if text is not None]
        return join(texts) if len(texts) == max(len(words), 1) else None
    if name in ("pwd", "realpath", "readlink"):
        path = state.folder if name == "pwd" else state.absolute(operands[0].path.rstrip("/")) if operands else ""
        return WordText.unknown(name, place, _PATH, path)
    if name in ("dirname", "basename") and operands:
        part = _part_of_path(name, operands)
        return join([derive(part, operands, place), end]) if operands[0].certain else WordText.unknown(name, place, _PATH, part)
    if not all(word.known for word in words):
        return None
    if name == "seq":
        numbers = _count_up(plain)
        return None if numbers is None else join([derive(numbers, words, place), end] if numbers else [])
    if stdin is None or not stdin.known:
        return None
    if name == "tr" and len(words) == 2:
        old, new = (plain[1], "") if plain[0] == "-d" else (plain[0], plain[1].replace("\\n", "\n"))
        return derive(stdin.plain.replace(old, new), [stdin], place) if len(old) == 1 and len(new) < 2 else None
    return None


def _part_of_path(name: str, operands: Sequence[WordText]) -> str:
    """Return the result of `dirname` or `basename`; of an unknown text, that of its path."""
    text, *endings = operands
    path = (text.plain if text.certain else text.path).rstrip("/")
    if name == "dirname":
        return os.path.dirname(path) or (("/" if text.plain[:1] == "/" else ".") if text.certain else "")
    return os.path.basename(path).removesuffix(endings[0].plain if endings and endings[0].known else "")


def _count_up(plain: list[str]) -> str | None:
    """Return the numbers of `seq`; None unless its arguments are plain numbers."""
    between = "\n"
    if plain and plain[0].startswith("-s"):
        option, *plain = plain
        between, plain = (option[2:], plain) if option[2:] else (plain[0] if plain else "", plain[1:])
    if not 1 <= len(plain) <= 3 or not all(map(_NUMBER.fullmatch, plain)) or (len(plain) == 3 and plain[1] == "0"):
        return None
    first, last, step = int((plain[:-1] or ["1"])[0]), int(plain[-1]), int(plain[1]) if len(plain) == 3 else 1
    numbers = range(first, last + (1 if step > 0 else -1), step)
    return between.join(map(str, numbers)) if len(numbers) <= MAX_NUMBERS else None


def read_input(name: str, words: Sequence[WordText], expander: Expander, place: Place) -> Truth:
    """Interpret `read` of a known text; what `mapfile` and similar commands set is unknown."""
    state, options, names = expander.state, "", [word.plain for word in words]
    stdin = state.text_of(INPUT)
    text = stdin or WordText()
    while name == "read" and names and names[0].startswith("-"):
        options += names.pop(0)[1:]
    line, sign, rest = text.plain.partition("\n")
    try:
        fields = expander.separate(text.cut(0, len(line)))
    except NotComputed:
        options = "?"
    is_known = name == "read" and stdin is not None and text.known and set(options) <= set("ra") and all(map(NAME.fullmatch, names))
    if is_known and names and ("r" in options or "\\" not in line) and ("a" in options or len(fields) <= len(names)):
        state.put(INPUT, text.cut(len(line) + 1))
        for variable, value in zip(names, [*fields, *(WordText() for _ in names)]):
            state.put(variable, fields if "a" in options else value)
        return Truth(bool(sign or rest))
    unknown = {match[0] for word in words if word.known and (match := NAME.match(word.plain))} | {"OPTIND"}
    state.unsure(unknown, place, f"`{name}` sets it when the script runs")
    return Truth(None, f"it depends on how `{name}` ends")
