"""Tokenizers of the library `transformers`, used by both engines."""

from __future__ import annotations

from typing import Any, Sequence

from ..engine import Message


class HuggingFaceTokenizer:
    """Tokenizer of an engine."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.size: int = len(tokenizer)
        self.end: int | None = tokenizer.eos_token_id

    def encode(self, text: str) -> list[int]:
        """Convert text to tokens; see Tokenizer."""
        return list(self._tokenizer.encode(text))

    def decode(self, tokens: Sequence[int]) -> str:
        """Convert tokens to text; see Tokenizer."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def template(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt of a conversation, by the model's template.

        Since version 5, transformers returns more than tokens without `return_dict=False`.
        """
        turns = [dict(message) for message in messages]
        return list(self._tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=True, return_dict=False))
