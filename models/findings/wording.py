"""Numbers, and the words beside them, as they stand in a sentence."""

from __future__ import annotations


def plural(noun: str, count: int) -> str:
    """The noun as it stands after a number."""
    if count == 1:
        return noun
    if noun[-1:] == "y" and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("s", "ch")) and not noun.endswith("poch") else "s")


def with_noun(count: int, noun: str, form: str = "") -> str:
    """A number with its noun: `1 node`, `2 nodes`, `2 processes`; with `form=","` also `1,024 nodes`."""
    return f"{count:{form}} {plural(noun, count)}"


def singular(nouns: str) -> str:
    """A noun of `plural` as it stands after 1."""
    if nouns.endswith("ies"):
        return f"{nouns[:-3]}y"
    return nouns.removesuffix("es" if nouns.endswith(("sses", "ches")) else "s")


def are(count: int | str) -> str:
    """The verb as it stands beside a number."""
    return "is" if str(count) == "1" else "are"


def do(count: int) -> str:
    """The verb of what is denied of a number: `1 rank does not divide`, `3 ranks do not divide`."""
    return "does" if count == 1 else "do"
