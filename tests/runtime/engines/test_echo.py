"""The engine without weights answers with what it is asked, and needs every worker for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.runtime.engines.engine import ReplicaShape, Sampling

from .local import generated, opened

END = 256


@given(prompt=st.lists(st.integers(0, 255), max_size=20), tensor=st.integers(1, 4), longest=st.integers(1, 25))
def test_the_answer_is_the_prompt_and_its_end(prompt: list[int], tensor: int, longest: int) -> None:
    assert generated("echo", {}, ReplicaShape(tensor), prompt, Sampling(longest)) == [*prompt, END][:longest]


def test_each_token_comes_from_one_worker() -> None:
    async def run() -> list[list[int | None]]:
        _, workers = await opened("echo", {}, ReplicaShape(2))
        await workers.collective_rpc("begin", [7, [1, 2, 3]])
        return [await workers.collective_rpc("step", [7, position]) for position in range(3)]

    assert asyncio.run(run()) == [[1, None], [None, 2], [3, None]]


def test_an_answer_that_is_given_up_while_the_workers_begin_is_forgotten_too() -> None:
    async def run() -> list[Any]:
        engine, workers = await opened("echo", {}, ReplicaShape(2))
        answered = workers.collective_rpc

        async def never_answered(*arguments: Any) -> list[Any]:
            await answered(*arguments)
            raise asyncio.CancelledError

        workers.collective_rpc = never_answered  # type: ignore[method-assign]
        with pytest.raises(asyncio.CancelledError):
            await anext(engine.generate([1, 2], Sampling(2)))
        return [half._held for half in workers.halves]  # type: ignore[attr-defined]

    assert asyncio.run(run()) == [{}, {}]


def test_the_answer_to_a_conversation_is_its_last_turn() -> None:
    engine, _ = asyncio.run(opened("echo", {}, ReplicaShape()))
    prompt = engine.chat([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Grüß dich!"}])
    assert engine.tokenizer.decode(prompt) == "Grüß dich!"
