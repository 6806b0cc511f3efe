"""Sampling parameters of token calls, by verl's names."""

from __future__ import annotations

from typing import Any, Mapping

from ...engines.engine import Sampling

NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "logprobs": (None, False, 0), "prompt_logprobs": (None, False, 0), "repetition_penalty": (None, 1, 1.0), "top_k": (None, -1, 0), "n": (None, 1),
    "min_p": (None, 0, 0.0), "presence_penalty": (None, 0, 0.0), "frequency_penalty": (None, 0, 0.0), "stop": (None, []),
}  # fmt: skip
"""Unsupported parameters, and neutral values of them."""
LENGTHS = ("max_tokens", "max_new_tokens")


def sampling(parameters: Mapping[str, Any], room: int) -> Sampling:
    """Read the sampling parameters; `room`: length limit without `max_tokens` or `max_new_tokens`.

    The length has vLLM's name or SGLang's; further parameters: `temperature`, `top_p`, `seed`.
    Raises ValueError for an unsupported parameter with a value that is not neutral.
    """
    remaining = dict(parameters)
    lengths = [remaining.pop(name) for name in LENGTHS if name in remaining]
    max_tokens = next((length for length in lengths if length is not None), room)
    known = {name: remaining.pop(name) for name in ("temperature", "top_p", "seed") if name in remaining}
    for name, value in remaining.items():
        if not any(value == neutral and type(value) is type(neutral) for neutral in NEUTRAL.get(name, ())):
            raise ValueError(f"the sampling parameter `{name}` = {value!r} is not supported here")
    return Sampling(int(max_tokens), **{name: value for name, value in known.items() if value is not None})
