"""Whole numbers of 64 bits as bash writes them, and what its operators make of two of them.

Source: the Bash Reference Manual, 6.5 (Shell Arithmetic).
"""

from __future__ import annotations

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"


class NotComputed(Exception):
    """The expression has no value here; the message says why, as the end of a sentence."""


def number(text: str) -> int:
    """A number as bash writes it: decimal, 0x, octal with a leading zero, or base#digits. Raises NotComputed."""
    if len(text) > 64:
        raise NotComputed("a number has too many digits")
    base, digits = 10, text
    if "#" in text:
        written, digits = text.split("#", 1)
        base = int(written)
        if not 2 <= base <= 64:
            raise NotComputed(f"`{text}` has no base from 2 to 64")
        digits = digits.lower() if base <= 36 else digits
    elif text[:2] in ("0x", "0X"):
        base, digits = 16, text[2:].lower()
    elif text[:1] == "0":
        base = 8
    value = 0
    for digit in digits:
        position = _DIGITS.find(digit)
        if not 0 <= position < base:
            raise NotComputed(f"`{text}` is no number of base {base}")
        value = value * base + position
    return wrapped(value)


def operate(sign: str, left: int, right: int) -> int:
    """What an operator makes of two numbers. Raises NotComputed for a division by zero."""
    if sign in ("/", "%"):
        if not right:
            raise NotComputed("it divides by zero")
        quotient = abs(left) // abs(right)
        quotient = quotient if (left < 0) == (right < 0) else -quotient
        return wrapped(quotient if sign == "/" else left - quotient * right)
    if sign in ("<<", ">>"):
        return wrapped(left << (right & 63) if sign == "<<" else left >> (right & 63))
    compared = {"==": left == right, "!=": left != right, "<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}
    if sign in compared:
        return int(compared[sign])
    if sign in ("&&", "||"):
        return int(bool(left) and bool(right)) if sign == "&&" else int(bool(left) or bool(right))
    return wrapped({"+": left + right, "-": left - right, "*": left * right, "&": left & right, "|": left | right, "^": left ^ right}[sign])


def wrapped(value: int) -> int:
    """As a signed number of 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
