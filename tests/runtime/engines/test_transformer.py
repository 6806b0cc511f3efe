"""The small transformer: however many workers share it, the answer is that of one."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.runtime.engines.engine import ReplicaShape, Sampling
from placewright.runtime.failure import LaunchFailed

from .local import generated, opened
from .transformer import TransformerEngine

SIZES = st.fixed_dictionaries(
    {
        "layers": st.sampled_from([2, 4]),
        "heads": st.just(4),
        "hidden": st.sampled_from([16, 32]),
        "mlp": st.sampled_from([8, 12]),
        "seed": st.integers(0, 99),
    }
)
SHAPES = st.sampled_from(
    [ReplicaShape(2), ReplicaShape(4), ReplicaShape(1, 1, 2), ReplicaShape(2, 1, 2), ReplicaShape(2, 2, 1), ReplicaShape(1, 2, 2)]
)
PROMPTS = st.lists(st.integers(0, 256), min_size=1, max_size=12)
SAMPLINGS = st.builds(
    Sampling,
    max_tokens=st.integers(1, 8),
    temperature=st.sampled_from([0.0, 0.7]),
    top_p=st.sampled_from([0.5, 1.0]),
    seed=st.integers(0, 9),
)


@settings(max_examples=40, deadline=None)
@given(sizes=SIZES, shape=SHAPES, prompt=PROMPTS, sampling=SAMPLINGS)
def test_every_shape_gives_the_answer_of_one_worker_token_for_token(
    sizes: dict[str, Any], shape: ReplicaShape, prompt: list[int], sampling: Sampling
) -> None:
    assert generated("transformer", sizes, shape, prompt, sampling) == generated("transformer", sizes, ReplicaShape(), prompt, sampling)


def logits(sizes: dict[str, Any], shape: ReplicaShape, prompt: list[int], at_once: bool) -> Any:
    async def run() -> Any:
        engine, _ = await opened("transformer", sizes, shape)
        assert isinstance(engine, TransformerEngine)
        if at_once:
            return await engine.logits(0, prompt, 0)
        return np.concatenate([await engine.logits(0, [token], position) for position, token in enumerate(prompt)])

    return asyncio.run(run())


@settings(max_examples=25, deadline=None)
@given(sizes=SIZES, shape=SHAPES, prompt=PROMPTS)
def test_partial_sums_add_up_to_what_one_worker_computes(sizes: dict[str, Any], shape: ReplicaShape, prompt: list[int]) -> None:
    one = logits(sizes, ReplicaShape(), prompt, at_once=True)
    assert one.shape == (len(prompt), 96)
    assert np.abs(logits(sizes, shape, prompt, at_once=True) - one).max() <= 1e-9 * np.abs(one).max()


@settings(max_examples=15, deadline=None)
@given(sizes=SIZES, prompt=PROMPTS)
def test_a_cache_gives_what_the_whole_prompt_gives_and_nobody_looks_ahead(sizes: dict[str, Any], prompt: list[int]) -> None:
    whole, steps = logits(sizes, ReplicaShape(2), prompt, at_once=True), logits(sizes, ReplicaShape(2), prompt, at_once=False)
    assert np.abs(whole - steps).max() <= 1e-9 * np.abs(whole).max()


def test_no_worker_alone_knows_the_answer() -> None:
    async def run() -> list[Any]:
        _, workers = await opened("transformer", {}, ReplicaShape(2))
        x = await workers.collective_rpc("embed", [[72, 200]])
        return await workers.collective_rpc("attend", [0, 0, np.add(*x).tolist(), 0])

    parts = asyncio.run(run())
    assert np.abs(parts[0]).max() > 0
    assert np.abs(parts[1]).max() > 0
    assert not np.allclose(parts[0], parts[1])


def test_the_cache_of_an_answer_is_given_back_when_it_ends_or_nobody_listens_any_more() -> None:
    async def run() -> None:
        engine, workers = await opened("transformer", {}, ReplicaShape(2))
        assert [token async for token in engine.generate([72], Sampling(3))]
        answer = engine.generate([72], Sampling(100))
        await anext(answer)
        await answer.aclose()
        assert [half._cache for half in workers.halves] == [{}, {}]  # type: ignore[attr-defined]

    asyncio.run(run())


def test_only_the_workers_of_one_copy_and_stage_are_asked() -> None:
    async def run() -> set[tuple[str, tuple[int, ...]]]:
        engine, workers = await opened("transformer", {"layers": 2}, ReplicaShape(2, 1, 2))
        await engine.logits(0, [1], 0)  # type: ignore[attr-defined]
        return set(workers.calls)

    assert asyncio.run(run()) == {
        ("embed", (0, 1)),
        ("attend", (0, 1)),
        ("attend", (2, 3)),
        ("transform", (0, 1)),
        ("transform", (2, 3)),
        ("score", (2, 3)),
    }


@pytest.mark.parametrize(
    ("sizes", "shape", "said"),
    [
        ({"heads": 3, "hidden": 12}, ReplicaShape(2), "3 heads of the transformer cannot be dealt to 2 workers evenly"),
        ({"mlp": 5}, ReplicaShape(2), "5 mlp"),
        ({"layers": 3}, ReplicaShape(1, 1, 2), "3 layers"),
        ({"hidden": 30}, ReplicaShape(), "hidden size 30 does not give each of 4 heads an even share"),
        ({"layers": 0}, ReplicaShape(), "`layers` of the transformer is 0"),
        ({"seed": True}, ReplicaShape(), "`seed` of the transformer is True"),
        ({"mlp": 10**9}, ReplicaShape(), "from 1 to 4096"),
    ],
)
def test_what_cannot_be_divided_is_refused_before_anything_starts(sizes: dict[str, Any], shape: ReplicaShape, said: str) -> None:
    with pytest.raises(LaunchFailed, match=said) as caught:
        TransformerEngine.check(sizes, shape)
    assert caught.value.findings[0].code == "PW741"
