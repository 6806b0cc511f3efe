"""Tokenizers of the library `transformers`, which both engines use."""

from __future__ import annotations

from typing import Any, Sequence

from ..engine import Message


class HuggingFaceTokenizer:
    """A tokenizer as an engine gives it."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.size: int = len(tokenizer)
        self.end: int | None = tokenizer.eos_token_id

    def encode(self, text: str) -> list[int]:
        """See Tokenizer."""
        return list(self._tokenizer.encode(text))

    def decode(self, tokens: Sequence[int]) -> str:
        """See Tokenizer."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def template(self, messages: Sequence[Message]) -> list[int]:
        """The prompt of a conversation, by the template of the model. Since version 5, transformers gives more than tokens unless told not to."""
        turns = [dict(message) for message in messages]
        return list(self._tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=True, return_dict=False))
