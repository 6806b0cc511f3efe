"""Interface of an inference engine, the engines by name, and an engine without weights."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import Any, AsyncGenerator, Mapping, Protocol, Sequence

from ..failure import LaunchFailed, failed


@dataclass(frozen=True, slots=True)
class ReplicaShape:
    """Degrees of parallelism.

    rank = (data * pipeline degree + stage) * tensor degree + tensor rank.

    Source of the order, tensor ranks adjacent: vLLM, vllm/distributed/parallel_state.py,
    `initialize_model_parallel`.
    """

    tensor: int = 1
    data: int = 1
    pipeline: int = 1

    @property
    def world_size(self) -> int:
        """Number of workers of a replica of this shape."""
        return self.tensor * self.data * self.pipeline


BYTES = 256


class BytesTokenizer:
    """Tokenizer whose token i is byte i in UTF-8, plus an end token."""

    size: int = BYTES + 1
    end: int | None = BYTES

    def encode(self, text: str) -> list[int]:
        """Convert text to tokens; an unpaired surrogate becomes a question mark."""
        return list(text.encode("utf-8", errors="replace"))

    def decode(self, tokens: Sequence[int]) -> str:
        """Convert tokens to text; see Tokenizer."""
        return bytes(token for token in tokens if token < BYTES).decode("utf-8", errors="replace")


class Tokenizer(Protocol):
    """Text as tokens. `size`: number of tokens; `end`: token that ends an answer, or None."""

    size: int
    end: int | None

    def encode(self, text: str) -> list[int]:
        """Convert text to tokens."""

    def decode(self, tokens: Sequence[int]) -> str:
        """Convert tokens to text; U+FFFD stands for an incomplete character."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Choice of tokens. `temperature` 0: always the likeliest; else drawn, repeatable by `seed`."""

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Meeting:
    """Rendezvous of an engine's processes on several nodes, as seen from a node.

    Attributes
    ----------
    address : address of the first node.
    ports : two ports that were free there at the servers' rendezvous, reserved until the engine is
        opened.
    node_rank, nnodes : rank of this node in the replica, and number of nodes.
    """

    address: str
    ports: tuple[int, ...]
    node_rank: int
    nnodes: int


Message = Mapping[str, str]
"""Turn of a conversation: `role` and `content`."""


class Engine(ABC):
    """Engine in the server of a replica's first node: turns a prompt into tokens, step by step.

    Parameters
    ----------
    settings : of the model, by the engine's names.
    shape : number of accelerators, and their parts.
    """

    longest: int | None = None
    """Maximal number of tokens of a prompt and its answer; None: unlimited."""

    def __init__(self, settings: Mapping[str, Any], shape: ReplicaShape) -> None:
        self.settings = dict(settings)
        self.shape = shape
        self.tokenizer: Tokenizer = BytesTokenizer()

    @classmethod
    @abstractmethod
    def check(cls, settings: Mapping[str, Any], shape: ReplicaShape, nodes: int = 1) -> None:
        """Raise LaunchFailed (PW740, PW741) if the engine cannot serve this on so many nodes."""

    @classmethod
    def headless(cls, settings: Mapping[str, Any], shape: ReplicaShape, meeting: Meeting) -> Sequence[str]:
        """Return the command for nodes other than the first, beside their server; () for none."""
        return ()

    async def open(self, meeting: Meeting | None = None) -> None:
        """Load the model on the accelerators of the replica; most engines take minutes."""
        return

    @property
    def failure(self) -> str:
        """Reason why no answer is possible, lost processes of the replica apart; "" without one."""
        return ""

    @abstractmethod
    def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """Yield the tokens of an answer, at most `max_tokens`; an end token is the last."""

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt of a conversation for the assistant's next turn."""
        turns = [f"{message['role']}: {message['content']}\n" for message in messages]
        return self.tokenizer.encode("".join(turns) + "assistant: ")

    async def sleep(self) -> None:
        """Release the memory that only answering needs, until `wake_up`."""
        return

    async def wake_up(self) -> None:
        """Take the memory again."""
        return

    async def clear(self) -> None:
        """Clear caches of earlier prompts; most engines have none."""
        return

    async def close(self) -> None:
        """End what the engine has started."""
        return


SERVING = ("fastapi", "uvicorn")


def need(module: str, noun: str) -> ModuleType:
    """Import a module. Raises LaunchFailed (PW740) with the package to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        if problem.name != module:
            raise
        raise _missing(module, noun) from None


def need_installed(module: str, noun: str) -> None:
    """Check that a module can be found, without its import; see `need`."""
    if module not in sys.modules and importlib.util.find_spec(module) is None:
        raise _missing(module, noun)


def _missing(module: str, noun: str) -> LaunchFailed:
    install = "placewright[serve]" if module in SERVING else module
    message = f"{noun} needs `{module}`, which is not installed"
    return failed("PW740", module, message, f"run `pip install '{install}'`", module)


def need_serving() -> None:
    """Check the libraries of a server. Raises LaunchFailed (PW740) if one is missing."""
    for module in SERVING:
        need(module, "a server")


ENGINES = {
    "echo": (".engine", "EchoEngine"),
    "vllm": (".external", "VllmEngine"),
    "sglang": (".external", "SglangEngine"),
}
"""Name of an engine -> module, class."""


def engine_class(name: str) -> type[Engine]:
    """Return the class of an engine. Unknown: LaunchFailed (PW741)."""
    if name not in ENGINES:
        raise failed("PW741", name, f"there is no engine `{name}`", f"use one of {', '.join(ENGINES)}", name)
    module, cls = ENGINES[name]
    engine: type[Engine] = getattr(importlib.import_module(module, __package__), cls)
    return engine


TOKEN_SECONDS = 0.0005
"""Seconds between two tokens of the echo."""


class EchoEngine(Engine):
    """Deterministic engine for tests and demos: it answers with the prompt, or the last turn."""

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: ReplicaShape, nodes: int = 1) -> None:
        """Accept any shape, over any nodes."""

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """Generate the prompt; see Engine. Of the sampling only the length counts."""
        for token in [*prompt, BYTES][: sampling.max_tokens]:
            await asyncio.sleep(TOKEN_SECONDS)
            yield token

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the last turn."""
        return self.tokenizer.encode(messages[-1]["content"])
