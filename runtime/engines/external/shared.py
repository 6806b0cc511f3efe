"""What vLLM and SGLang share: command-line options, possible shapes, the tokenizer."""

from __future__ import annotations

import json
from typing import Any, Collection, Mapping, Sequence

from ...failure import failed
from ..engine import Message, ReplicaShape


def options(arguments: Mapping[str, Any], no: str = "") -> list[str]:
    """Format arguments as ``--name=value``; dicts as JSON, lists as several values, None omitted.

    True is ``--name`` alone; False is the name with the prefix `no`, or omitted if the program has
    no such option.
    """
    words: list[str] = []
    for name, value in arguments.items():
        option = name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            words += [f"--{option}"] if value else [f"--{no}{option}"] if no else []
        elif isinstance(value, (list, tuple)):
            words += [f"--{option}", *map(str, value)]
        else:
            words.append(f"--{option}={json.dumps(value) if isinstance(value, Mapping) else value}")
    return words


REPLICA_SETTINGS = ("path", "served_model_name")
"""Settings that are not the engine's."""


def engine_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for the engine itself."""
    return {name: value for name, value in settings.items() if name not in REPLICA_SETTINGS}


def check_settings(engine: str, settings: Mapping[str, Any], shape: ReplicaShape, nodes: int, decided: Collection[str]) -> None:
    """Check the model, settings reserved for the replica, and the shape on nodes.

    Raises LaunchFailed (PW741) without a model, for such settings, and for a copy that crosses
    nodes unevenly.
    """
    if not settings.get("path"):
        raise failed("PW741", engine, f"the engine `{engine}` needs a model", "give `path`, a name or a directory of a model")
    reserved_names = sorted(set(settings) & set(decided))
    if reserved_names:
        message = f"`{reserved_names[0]}` of the model is decided by the replica: tp {shape.tensor}, dp {shape.data}, pp {shape.pipeline}, {nodes} nodes"
        raise failed("PW741", engine, message, "leave it out, and set the degrees in the replica's `config`", *reserved_names)
    copy, per_node = shape.tensor * shape.pipeline, shape.world_size // nodes
    if copy % per_node and per_node % copy:
        message = (
            f"the engine `{engine}` cannot serve copies of tp {shape.tensor} x pp {shape.pipeline} = {copy} "
            f"on nodes of {per_node}: neither divides the other"
        )
        raise failed("PW741", engine, message, f"choose tp and pp whose product divides {per_node}, or is a multiple of it", copy, per_node)


def check_sleep(engine: str, settings: Mapping[str, Any], setting: str) -> None:
    """Check that the engine was started with support for sleep.

    Raises LaunchFailed (PW741) otherwise.
    """
    if not settings.get(setting):
        message = f"the engine `{engine}` can sleep only if it was started with `{setting}`"
        raise failed("PW741", engine, message, f"set `{setting}: true` in the model's settings", setting)


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
