"""How much of a `device_mapping` is looked at, before Python's parser sees any of it."""

from __future__ import annotations

import re

MAX_TEXT = 65_536
MAX_NESTING = 16
MAX_BRACKETS = 1_024
MAX_OPERATORS = 256
MAX_IDS = 1 << 18
"""The most device ids of one role; an own limit, no cluster is near it."""
MAX_PARTS = 1 << 14
"""The most progressions that they are put together of."""
MAX_ID = 1 << 31
"""Numbers from here on are no device ids."""

_OPERATOR = re.compile(r"[-+*~^|&%/<>=@.!:]|\b(?:not|if|else|lambda|await|yield|for|or|and|in|is)\b")


def too_much(text: str) -> str:
    """What is too much about a text to be parsed, as the rest of the sentence "it ..."; "" if nothing is."""
    if len(text) > MAX_TEXT:
        return f"is longer than {MAX_TEXT:,} characters"
    depth = deepest = 0
    for letter in text:
        if letter in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in ")]}":
            depth -= 1
    if deepest > MAX_NESTING:
        return f"nests {deepest} brackets in each other, more than {MAX_NESTING}"
    if sum(map(text.count, "([{")) > MAX_BRACKETS:
        return f"has more than {MAX_BRACKETS:,} brackets"
    if sum(1 for _ in _OPERATOR.finditer(text)) > MAX_OPERATORS:
        return f"has more than {MAX_OPERATORS} operators"
    return ""
