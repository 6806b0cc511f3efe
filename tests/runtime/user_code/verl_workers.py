"""Workers in verl's style, for the tests of its words; they work in a list of numbers that can be cut and padded as a DataProto can."""

from __future__ import annotations

import os
from typing import Any

from placewright.runtime import Dispatch, Execute, Worker, collect_all_to_all, make_nd_compute_dataproto_dispatch_fn, register


class Rows:
    """A batch of numbers."""

    def __init__(self, numbers: list[float], pads: bool = False) -> None:
        self.numbers = numbers
        self.pads = pads

    def __len__(self) -> int:
        return len(self.numbers)

    def is_padding_enabled(self) -> bool:
        return self.pads

    def padding(self, padding_size: int) -> None:
        self.numbers = self.numbers + self.numbers[-1:] * padding_size

    def chunk(self, chunks: int) -> list[Rows]:
        size = len(self.numbers) // chunks
        return [Rows(self.numbers[at * size : (at + 1) * size], self.pads) for at in range(chunks)]

    @classmethod
    def concat(cls, parts: list[Rows]) -> Rows:
        return cls([number for part in parts for number in part.numbers], parts[0].pads)

    def select_idxs(self, positions: list[int]) -> Rows:
        return Rows([self.numbers[position] for position in positions], self.pads)


def two_to_all(group: Any, *arguments: Any, **named: Any) -> Any:
    """Every second worker gets the first element, the others the second."""

    def dealt(pair: list[Any]) -> list[Any]:
        return [pair[rank % 2] for rank in range(group.world_size)]

    return tuple(map(dealt, arguments)), {name: dealt(each) for name, each in named.items()}


class Actor(Worker):
    """Adds its rank."""

    def __init__(self, x: float = 0) -> None:
        super().__init__()
        self.x = x
        self._register_dispatch_collect_info("train", dp_rank=self.rank // 2, is_collect=self.rank % 2 == 0)

    def foo(self, y: float) -> float:
        return self.x + y

    def getenv(self, key: str) -> str:
        return os.environ.get(key, f"{key} not set")

    def boom(self) -> None:
        raise RuntimeError(f"rank {self.rank} has had enough")

    def leave(self) -> None:
        os._exit(1)

    @register(dispatch_mode=Dispatch.DP_COMPUTE_PROTO)
    def add(self, data: Rows) -> Rows:
        return Rows([number + self.rank + self.x for number in data.numbers], data.pads)

    @register(dispatch_mode=Dispatch.DP_COMPUTE_PROTO, blocking=False)
    def add_later(self, data: Rows) -> Rows:
        return Rows([number + self.rank + self.x for number in data.numbers], data.pads)

    @register(dispatch_mode=Dispatch.DP_COMPUTE_METRIC)
    def length(self, data: Rows) -> int:
        return len(data)

    @register(dispatch_mode=Dispatch.DP_COMPUTE)
    def take(self, number: float) -> float:
        return number + self.rank

    @register(dispatch_mode=make_nd_compute_dataproto_dispatch_fn("train"))
    def over_mesh(self, data: Rows) -> Rows:
        return Rows([number + 100 * self.rank for number in data.numbers])

    @register(dispatch_mode=Dispatch.ALL_TO_ALL, execute_mode=Execute.RANK_ZERO)
    def foo_rank_zero(self, x: float, y: float) -> float:
        return self.x + y + x

    @register(Dispatch.ONE_TO_ALL, blocking=False)
    def foo_one_to_all(self, x: float, y: float) -> float:
        return self.x + y + x

    @register(Dispatch.ALL_TO_ALL, blocking=False)
    def foo_all_to_all(self, x: float, y: float) -> float:
        return self.x + y + x

    @register(dispatch_mode={"dispatch_fn": two_to_all, "collect_fn": collect_all_to_all})
    def foo_custom(self, x: float, y: float) -> float:
        return self.x + y + x


class Critic(Worker):
    """Takes what its configuration says away."""

    def __init__(self, config: dict[str, float]) -> None:
        super().__init__()
        self.config = config

    @register(dispatch_mode=Dispatch.DP_COMPUTE_PROTO)
    async def sub(self, data: Rows) -> Rows:
        return Rows([number - self.config["b"] for number in data.numbers], data.pads)

    @register(dispatch_mode=Dispatch.DP_COMPUTE_PROTO, blocking=False)
    async def sub_later(self, data: Rows) -> Rows:
        return Rows([number - self.config["b"] for number in data.numbers], data.pads)


class Refuses(Worker):
    """Rank 1 cannot be constructed."""

    def __init__(self) -> None:
        super().__init__()
        if self.rank == 1:
            raise ValueError("no weights for rank 1")
