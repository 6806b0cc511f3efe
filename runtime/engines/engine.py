"""Interface of an inference engine, the engines by name, and an engine without weights."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import Any, AsyncGenerator, Mapping, Protocol, Sequence

from ..failure import LaunchFailed, build_failure


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


class Workers(Protocol):
    """Workers of a replica, seen by the server half; named as vLLM's `collective_rpc`."""

    async def collective_rpc(
        self, method: str, args: Sequence[Any] = (), ranks: Sequence[int] | None = None, limit: float | None = None
    ) -> list[Any]:
        """Call a method on every worker, or on some ranks; return answers in rank order."""

    def notify(self, method: str, args: Sequence[Any] = (), ranks: Sequence[int] | None = None) -> None:
        """Call a method without waiting for its answer."""


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


class EngineWorker:
    """Worker half of an engine. The server may call every public method; all pass plain data.

    `rank` is the rank in the replica, from 0 to `shape.world_size - 1`, whatever the rank of the
    process in its own group.
    """

    def __init__(self, settings: Mapping[str, Any], shape: ReplicaShape, rank: int) -> None:
        self.settings = settings
        self.shape = shape
        self.rank = rank

    def sleep(self) -> None:
        """Release the memory that only answering needs."""

    def wake_up(self) -> None:
        """Take the memory again."""


class Engine(ABC):
    """Server half of an engine: turns a prompt into tokens, step by step, with the workers'
    answers.

    Parameters
    ----------
    settings : of the model, by the engine's names; plain data.
    shape : number of workers, and their parts.
    """

    worker: type[EngineWorker] = EngineWorker
    """Class of the worker half."""
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

    async def open(self, workers: Workers, meeting: Meeting | None = None) -> None:
        """Prepare the server half, which sees its node's accelerators, after all worker halves."""
        self.workers = workers

    @property
    def failure(self) -> str:
        """Reason why no answer is possible, lost workers apart; "" if there is none."""
        return ""

    @abstractmethod
    def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """Yield the tokens of an answer, at most `max_tokens`; an end token is the last."""

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt of a conversation for the assistant's next turn."""
        turns = [f"{message['role']}: {message['content']}\n" for message in messages]
        return self.tokenizer.encode("".join(turns) + "assistant: ")

    async def sleep(self) -> None:
        """Release, on every worker, the memory that only answering needs, until `wake_up`."""
        await self.workers.collective_rpc("sleep")

    async def wake_up(self) -> None:
        """Take the memory again."""
        await self.workers.collective_rpc("wake_up")

    async def clear(self) -> None:
        """Clear caches of earlier prompts; most engines have none."""
        return

    async def close(self) -> None:
        """End what the server half has started. The replica ends the workers."""
        return


SERVING = ("zmq", "fastapi", "uvicorn", "httptools")


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
    return build_failure("PW740", module, message, f"run `pip install '{install}'`", module)


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
        raise build_failure("PW741", name, f"there is no engine `{name}`", f"use one of {', '.join(ENGINES)}", name)
    module, cls = ENGINES[name]
    engine: type[Engine] = getattr(importlib.import_module(module, __package__), cls)
    return engine


class EchoWorker(EngineWorker):
    """Worker that stores every `world_size`-th token of a prompt: no answer without all workers."""

    def __init__(self, settings: Mapping[str, Any], shape: ReplicaShape, rank: int) -> None:
        super().__init__(settings, shape, rank)
        self._held: dict[int, list[int]] = {}

    def begin(self, sequence: int, prompt: list[int]) -> None:
        """Store this rank's part of a prompt."""
        self._held[sequence] = prompt[self.rank :: self.shape.world_size]

    def step(self, sequence: int, position: int) -> int | None:
        """Return the token at a position of the prompt; None if another rank stores it."""
        index, owner = divmod(position, self.shape.world_size)
        return self._held[sequence][index] if owner == self.rank else None

    def forget(self, sequence: int) -> None:
        """Remove an ended answer."""
        self._held.pop(sequence, None)

    def sleep(self) -> None:
        """Clear all prompts; see EngineWorker."""
        self._held.clear()


class EchoEngine(Engine):
    """Deterministic engine for tests and demos: it answers with the prompt, or the last turn."""

    worker = EchoWorker
    _sequences = itertools.count()

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: ReplicaShape, nodes: int = 1) -> None:
        """Accept any shape, over any nodes."""

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """Generate the prompt; see Engine. Of the sampling only the length counts."""
        sequence = next(self._sequences)
        try:  # the caller may stop before all workers have begun
            await self.workers.collective_rpc("begin", [sequence, list(prompt)])
            for position in range(min(len(prompt), sampling.max_tokens)):
                answers = await self.workers.collective_rpc("step", [sequence, position])
                yield next(token for token in answers if token is not None)
            if len(prompt) < sampling.max_tokens and self.tokenizer.end is not None:
                yield self.tokenizer.end
        finally:
            self.workers.notify("forget", [sequence])

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the last turn."""
        return self.tokenizer.encode(messages[-1]["content"])
