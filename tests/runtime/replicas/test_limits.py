"""Limits of a replica: read from its config, refused before anything starts."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from placewright.runtime.engines.engine import Sampling
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.replicas.replica import EchoReplica
from placewright.runtime.replicas.settings import Limits, sampling

from .conftest import MODEL, Maker


def test_they_are_those_of_the_config_and_else_the_defaults() -> None:
    limits = EchoReplica(0, {"max_body_bytes": 100, "load_seconds": 7.5}, {}).limits
    assert limits == Limits(max_body_bytes=100, load_seconds=7.5)
    assert (limits.max_choices, limits.default_max_tokens) == (128, 4096)


@pytest.mark.parametrize(
    ("name", "value"), [("max_body_bytes", 0), ("max_choices", 1.5), ("load_seconds", "long"), ("call_seconds", float("inf"))]
)
def test_what_is_no_limit_is_refused(name: str, value: Any) -> None:
    with pytest.raises(LaunchFailed, match=f"`{name}` of replica 3 is {value!r}") as caught:
        EchoReplica(3, {name: value}, {})
    assert caught.value.findings[0].code == "PW741"


def test_a_model_that_cannot_be_sent_is_refused_before_anything_starts() -> None:
    with pytest.raises(LaunchFailed, match="`hf_config` of the model of replica 0 cannot be sent: object") as caught:
        EchoReplica(0, {}, {"path": "org/model", "hf_config": object()})
    assert caught.value.findings[0].code == "PW741"


def test_the_endpoint_keeps_them(replica: Maker) -> None:
    made = replica("echo", 1, limits=Limits(max_body_bytes=200, max_choices=2, default_max_tokens=3))
    client = made.client()
    with pytest.raises(openai.APIStatusError, match="the body is larger than 200 bytes") as caught:
        client.completions.create(model=MODEL, prompt="x" * 200)
    assert caught.value.status_code == 413
    with pytest.raises(openai.BadRequestError, match="3 answers to 1 prompt are more than 2"):
        client.completions.create(model=MODEL, prompt="x", n=3)
    answer = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "hello"}])
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("hel", "length")


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, Sampling(50)),
        ({"max_tokens": 4, "temperature": 0.5, "top_p": 0.9, "seed": 3}, Sampling(4, 0.5, 0.9, 3)),
        ({"max_new_tokens": 4, "logprobs": False, "repetition_penalty": 1.0, "top_k": -1}, Sampling(4)),
        ({"max_tokens": None, "temperature": None}, Sampling(50)),
    ],
)
def test_sampling_parameters_are_verls_and_the_length_is_all_that_is_left(parameters: dict[str, Any], expected: Sampling) -> None:
    assert sampling(parameters, 50) == expected


@pytest.mark.parametrize(("name", "value"), [("logprobs", True), ("top_k", 40), ("repetition_penalty", 1.1), ("no_such", 0)])
def test_what_would_change_the_answer_and_is_not_done_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"the sampling parameter `{name}` = {value} is not supported here"):
        sampling({name: value}, 50)


def test_tokens_are_asked_for_as_verl_does(replica: Maker) -> None:
    master = replica("echo", 2).servers[0]
    assert master.generate(prompt_ids=[72, 105], sampling_params={"temperature": 1.0, "logprobs": False}, request_id="a") == [72, 105, 256]
    master.clear_kv_cache()
