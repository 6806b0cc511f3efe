"""The sampling parameters of calls with tokens, in verl's words."""

from __future__ import annotations

from typing import Any, Mapping

from ...engines.engine import Sampling

NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "logprobs": (None, False, 0), "prompt_logprobs": (None, False, 0), "repetition_penalty": (None, 1, 1.0), "top_k": (None, -1, 0), "n": (None, 1),
    "min_p": (None, 0, 0.0), "presence_penalty": (None, 0, 0.0), "frequency_penalty": (None, 0, 0.0), "stop": (None, []),
}  # fmt: skip
"""Parameters that are not supported, and their values that ask for nothing."""
LENGTHS = ("max_tokens", "max_new_tokens")


def sampling(parameters: Mapping[str, Any], room: int) -> Sampling:
    """What `parameters` ask for: a length, by vLLM's name or SGLang's, else all the `room`; `temperature`, `top_p`, `seed`.

    Raises ValueError for one that is not supported, unless its value asks for nothing.
    """
    given = dict(parameters)
    lengths = [given.pop(name) for name in LENGTHS if name in given]
    wanted = next((length for length in lengths if length is not None), room)
    known = {name: given.pop(name) for name in ("temperature", "top_p", "seed") if name in given}
    for name, value in given.items():
        if not any(value == neutral and type(value) is type(neutral) for neutral in NEUTRAL.get(name, ())):
            raise ValueError(f"the sampling parameter `{name}` = {value!r} is not supported here")
    return Sampling(int(wanted), **{name: value for name, value in known.items() if value is not None})
