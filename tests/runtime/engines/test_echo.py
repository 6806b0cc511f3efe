"""The engine without weights answers with what it is asked."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.runtime.engines.engine import EchoEngine, ReplicaShape, Sampling

END = 256


@settings(deadline=None)
@given(prompt=st.lists(st.integers(0, 255), max_size=20), longest=st.integers(1, 25))
def test_the_answer_is_the_prompt_and_its_end(prompt: list[int], longest: int) -> None:
    async def run() -> list[int]:
        return [token async for token in EchoEngine({}, ReplicaShape()).generate(prompt, Sampling(longest))]

    assert asyncio.run(run()) == [*prompt, END][:longest]


def test_the_answer_to_a_conversation_is_its_last_turn() -> None:
    engine = EchoEngine({}, ReplicaShape())
    prompt = engine.chat([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Grüß dich!"}])
    assert engine.tokenizer.decode(prompt) == "Grüß dich!"
