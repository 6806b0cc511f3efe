"""Numbers with nouns and verbs for sentences."""

from __future__ import annotations

from typing import Iterable


def plural(noun: str, count: int) -> str:
    """Return the noun for a count."""
    if count == 1:
        return noun
    if noun[-1:] == "y" and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("s", "ch")) and not noun.endswith("poch") else "s")


def with_noun(count: int, noun: str, form: str = "") -> str:
    """Return `1 node`, `2 nodes` or `2 processes`; with `form=","` also `1,024 nodes`."""
    return f"{count:{form}} {plural(noun, count)}"


def singular(nouns: str) -> str:
    """Return the singular of a noun of `plural`."""
    if nouns.endswith("ies"):
        return f"{nouns[:-3]}y"
    return nouns.removesuffix("es" if nouns.endswith(("sses", "ches")) else "s")


def are(count: int | str) -> str:
    """Return "is" or "are" for a number."""
    return "is" if str(count) == "1" else "are"


def do(count: int) -> str:
    """Return the negated verb: `1 rank does not divide`, `3 ranks do not divide`."""
    return "does" if count == 1 else "do"


def list_words(words: Iterable[str]) -> str:
    """Return words in backticks, separated by commas."""
    return ", ".join(f"`{word}`" for word in words)
