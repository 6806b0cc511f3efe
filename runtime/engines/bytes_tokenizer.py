"""A tokenizer that needs no file: every byte of a text is a token."""

from __future__ import annotations

from typing import Sequence

BYTES = 256


class BytesTokenizer:
    """Token i is the byte i of a text in UTF-8; one more token ends an answer."""

    size: int = BYTES + 1
    end: int | None = BYTES

    def encode(self, text: str) -> list[int]:
        """See Tokenizer. Half a surrogate pair, which no text in UTF-8 has, becomes a question mark."""
        return list(text.encode("utf-8", errors="replace"))

    def decode(self, tokens: Sequence[int]) -> str:
        """See Tokenizer."""
        return bytes(token for token in tokens if token < BYTES).decode("utf-8", errors="replace")
