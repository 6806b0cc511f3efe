"""Tokenizer without files: every byte of a text is a token."""

from __future__ import annotations

from typing import Sequence

BYTES = 256


class BytesTokenizer:
    """Tokenizer whose token i is byte i in UTF-8, plus an end token."""

    size: int = BYTES + 1
    end: int | None = BYTES

    def encode(self, text: str) -> list[int]:
        """Convert text to tokens; see Tokenizer.

        An unpaired surrogate, which UTF-8 cannot express, becomes a question mark.
        """
        return list(text.encode("utf-8", errors="replace"))

    def decode(self, tokens: Sequence[int]) -> str:
        """Convert tokens to text; see Tokenizer."""
        return bytes(token for token in tokens if token < BYTES).decode("utf-8", errors="replace")
