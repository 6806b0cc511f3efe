"""What is meant by amounts that are written otherwise than as a number, a range or a list: `2..8`, `4 or 8`, `>=4`, `auto`."""

from __future__ import annotations

import re

_NUMBER = r"([1-9][0-9]{0,8})"
_RANGE = re.compile(rf"{_NUMBER}\s*(?:\.{{2,3}}|:|to|[\u2013\u2014~])\s*{_NUMBER}", re.ASCII)
_BETWEEN = re.compile(r"\s*(?:,\s*or\b|\bor\b|[,|/])\s*")
_COUNT = re.compile(rf"{_NUMBER}(?:\s*-\s*{_NUMBER})?", re.ASCII)
_LEAST = re.compile(rf"(?:>=|\u2265|at least|min)\s*{_NUMBER}|{_NUMBER}\s*(?:\+|-|or more)", re.ASCII)
_MOST = re.compile(rf"(?:<=|\u2264|at most|up to|max)\s*{_NUMBER}", re.ASCII)
_ANY = ("auto", "all", "any", "max", "*")
LEAST, MOST = ("min", "least", "minimum", "from"), ("max", "most", "maximum", "to")


def meant(value: object) -> str:
    """What to write instead of an amount, such as ``write `2-8` ``; "" where nobody knows what is meant."""
    if isinstance(value, dict):
        least, most = (next((value[key] for key in keys if isinstance(value.get(key), int)), None) for keys in (LEAST, MOST))
        return f"write `{least}-{most}`" if least and most and len(value) == 2 else ""
    text = str(value).strip().lower()
    if text in _ANY:
        return "write a range up to the most that it may have, such as `1-16`"
    if found := _RANGE.fullmatch(text):
        return f"write `{found[1]}-{found[2]}`"
    if found := _LEAST.fullmatch(text):
        least = int(found[1] or found[2])
        return f"write a range up to the most that it may have, such as `{least}-{8 * least}`"
    if found := _MOST.fullmatch(text):
        return f"write `1-{found[1]}`"
    counts = _BETWEEN.split(text.strip("[]").strip())
    return f"write a list, `[{', '.join(counts)}]`" if len(counts) > 1 and all(map(_COUNT.fullmatch, counts)) else ""
