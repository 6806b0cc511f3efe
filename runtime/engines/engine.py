"""What an inference engine is: a half in the server, which makes tokens, and a half in each worker, which computes its part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, AsyncGenerator, Mapping, Protocol, Sequence

from .bytes_tokenizer import BytesTokenizer
from .shape import Shape


class Tokenizer(Protocol):
    """Text as tokens. `size`: how many there are; `end` is the one that ends an answer, None if there is none."""

    size: int
    end: int | None

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens; U+FFFD stands for a character that is not whole."""


class Workers(Protocol):
    """The workers of a replica, as the server's half of an engine sees them. Source of the word: vLLM, `collective_rpc`."""

    async def collective_rpc(
        self, method: str, args: Sequence[Any] = (), ranks: Sequence[int] | None = None, limit: float | None = None
    ) -> list[Any]:
        """Calls a method of the workers' half on every worker, or on those of some ranks; the answers in the order of ranks."""

    def tell(self, method: str, args: Sequence[Any] = (), ranks: Sequence[int] | None = None) -> None:
        """Calls a method without waiting for its answer."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen. `temperature` 0: the likeliest always; else drawn, and the same `seed` draws the same."""

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where the processes of an engine on several nodes find each other, as one of its nodes sees it.

    Attributes
    ----------
    address : of the first node.
    ports : two that were free there when the servers met, and are held until the engine is opened.
    node_rank, nnodes : which of the replica's nodes this is, and how many there are.
    """

    address: str
    ports: tuple[int, ...]
    node_rank: int
    nnodes: int


Message = Mapping[str, str]
"""A turn of a conversation: its `role` and its `content`."""


class EngineWorker:
    """A worker's half. The server may call every method whose name has no leading underscore; all take and give plain data.

    `rank` is that in the replica, from 0 to `shape.world_size - 1`, whatever the rank of the process in its own group.
    """

    def __init__(self, settings: Mapping[str, Any], shape: Shape, rank: int) -> None:
        self.settings = settings
        self.shape = shape
        self.rank = rank

    def sleep(self) -> None:
        """Gives back the memory that only answering needs."""

    def wake_up(self) -> None:
        """Takes it again."""


class Engine(ABC):
    """The server's half of an engine: it turns a prompt into tokens, step by step, with what the workers answer.

    Parameters
    ----------
    settings : of the model, as the engine names them; plain data.
    shape : how many workers there are, and what each of them is for.
    """

    worker: type[EngineWorker] = EngineWorker
    """The class of the workers' half."""
    longest: int | None = None
    """Most tokens of a prompt and its answer together; None if there is no limit."""

    def __init__(self, settings: Mapping[str, Any], shape: Shape) -> None:
        self.settings = dict(settings)
        self.shape = shape
        self.tokenizer: Tokenizer = BytesTokenizer()

    @classmethod
    @abstractmethod
    def check(cls, settings: Mapping[str, Any], shape: Shape, nodes: int = 1) -> None:
        """Raises LaunchFailed (PW740, PW741) if the engine cannot serve this on so many nodes: it is asked before anything starts."""

    @classmethod
    def headless(cls, settings: Mapping[str, Any], shape: Shape, meeting: Meeting) -> Sequence[str]:
        """The command of what must run on another node than the first, beside its server; () for nothing."""
        return ()

    async def open(self, workers: Workers, meeting: Meeting | None = None) -> None:
        """Is called once, when every worker has its half; `meeting` is given where there are several nodes.

        The server's process sees the accelerators of its node's workers.
        """
        self.workers = workers

    @property
    def failure(self) -> str:
        """Why it can answer no more, in words; "" while it can. What happens to the workers is noticed elsewhere."""
        return ""

    @abstractmethod
    def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """The tokens of an answer, each when it is there, at most `max_tokens`; the end token, if it comes, is the last."""

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """The prompt of a conversation whose next turn is the assistant's."""
        turns = [f"{message['role']}: {message['content']}\n" for message in messages]
        return self.tokenizer.encode("".join(turns) + "assistant: ")

    async def sleep(self) -> None:
        """Gives back the memory that only answering needs, on every worker. Nothing is generated until `wake_up`."""
        await self.workers.collective_rpc("sleep")

    async def wake_up(self) -> None:
        """Takes it again."""
        await self.workers.collective_rpc("wake_up")

    async def clear(self) -> None:
        """Forgets what is kept of earlier prompts; most engines keep nothing."""
        return

    async def close(self) -> None:
        """Ends what the server's half has started itself. The workers are ended by the replica."""
        return
