"""The adapters of vLLM and SGLang: missed in words, and the right calls to a library that stands in for theirs."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType, SimpleNamespace
from typing import Any, AsyncIterator

import pytest
from placewright.runtime.engines.engine import Sampling
from placewright.runtime.engines.needed import need
from placewright.runtime.engines.registry import engine_class
from placewright.runtime.engines.shape import Shape
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.replicas.engine_replica import EngineReplica, SglangReplica, VllmReplica

MODEL = {"path": "org/model", "max_model_len": 128}


class Tokens:
    """Stands in for a tokenizer of the library `transformers`."""

    eos_token_id = 9

    def __len__(self) -> int:
        return 10

    def encode(self, text: str) -> list[int]:
        return [len(text)]

    def decode(self, tokens: list[int], skip_special_tokens: bool) -> str:
        return "".join("." for token in tokens if token != 9)

    def apply_chat_template(self, messages: list[dict[str, str]], add_generation_prompt: bool) -> list[int]:
        return [len(messages), int(add_generation_prompt)]


class Vllm:
    """Stands in for vLLM's engine; tells all tokens so far each time, as that does."""

    def __init__(self, args: Any) -> None:
        self.args = args
        self.model_config = SimpleNamespace(max_model_len=args.max_model_len)
        self.ended = False

    @classmethod
    def from_engine_args(cls, args: Any) -> Vllm:
        return cls(args)

    def get_tokenizer(self) -> Tokens:
        return Tokens()

    async def generate(self, prompt: dict[str, list[int]], parameters: Any, request_id: str) -> AsyncIterator[Any]:
        for count in (1, 3):
            yield SimpleNamespace(outputs=[SimpleNamespace(token_ids=[*prompt["prompt_token_ids"], 4, 9][:count])])

    async def sleep(self) -> None:
        self.ended = True

    def shutdown(self) -> None:
        self.ended = True


class Sglang:
    """Stands in for SGLang's engine."""

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self.tokenizer_manager = SimpleNamespace(tokenizer=Tokens(), model_config=SimpleNamespace(context_len=arguments["context_length"]))

    async def async_generate(self, input_ids: list[int], sampling_params: dict[str, Any], stream: bool) -> AsyncIterator[Any]:
        async def outputs() -> AsyncIterator[Any]:
            for count in (2, 3):
                yield {"output_ids": [*input_ids, sampling_params["max_new_tokens"], 9][:count]}

        return outputs()


@pytest.mark.parametrize("name", ["vllm", "sglang"])
def test_without_the_library_it_is_said_what_to_install(name: str) -> None:
    with pytest.raises(LaunchFailed, match=f"the engine `{name}` needs `{name}`, which is not installed") as caught:
        engine_class(name).check(MODEL, Shape(2))
    assert (caught.value.findings[0].code, caught.value.exit_code) == ("PW740", 2)


def test_a_library_of_serving_is_installed_with_its_extra() -> None:
    with pytest.raises(LaunchFailed) as caught:
        need("zmq_that_is_not_there", "a server")
    assert caught.value.findings[0].help == "run `pip install 'zmq_that_is_not_there'`"


@pytest.mark.parametrize("name", ["vllm", "sglang"])
@pytest.mark.parametrize(("model", "shape"), [(MODEL, Shape(2, 2)), (MODEL, Shape(1, 1, 2)), ({}, Shape())])
def test_what_is_not_passed_on_is_refused(name: str, model: dict[str, Any], shape: Shape) -> None:
    with pytest.raises(LaunchFailed) as caught:
        engine_class(name).check(model, shape)
    assert caught.value.findings[0].code == "PW741"


@pytest.mark.parametrize("replica", [VllmReplica, SglangReplica])
def test_a_replica_over_several_nodes_is_refused_before_anything_starts(replica: type[EngineReplica]) -> None:
    with pytest.raises(LaunchFailed) as caught:
        replica(0, {"tensor_model_parallel_size": 16}, MODEL, gpus_per_node=8)
    (finding,) = caught.value.findings
    assert (finding.code, finding.witnesses, caught.value.exit_code) == ("PW741", (16, 2, 8), 2)
    assert finding.message == (
        f"the engine `{replica.engine}` is served on one node: tp 16 over 2 nodes of 8 would see 8 of 16 accelerators"
    )
    assert finding.help == "set tp to 8: 2 replicas of 8 take the same 16 accelerators, each on a node of its own"
    with pytest.raises(LaunchFailed) as fits:  # what the help says is refused for want of the library alone
        replica(0, {"tensor_model_parallel_size": 8}, MODEL, gpus_per_node=8)
    assert fits.value.findings[0].code == "PW740"


def test_an_engine_that_nobody_knows_is_refused() -> None:
    with pytest.raises(LaunchFailed, match="there is no engine `llama`"):
        engine_class("llama")


def answer(name: str, model: dict[str, Any] = MODEL) -> tuple[Any, list[int]]:
    async def run() -> tuple[Any, list[int]]:
        cls = engine_class(name)
        cls.check(model, Shape(2))
        engine = cls(model, Shape(2))
        await engine.open(None)  # type: ignore[arg-type]
        assert engine.tokenizer.size == 10
        assert engine.longest == 128
        assert engine.chat([{"role": "user", "content": "Hi"}]) == [1, 1]
        return engine, [token async for token in engine.generate([5], Sampling(4))]

    return asyncio.run(run())


def test_vllm_is_given_the_model_by_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("vllm")
    library.AsyncEngineArgs = library.SamplingParams = SimpleNamespace  # type: ignore[attr-defined]
    library.AsyncLLMEngine = Vllm  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", library)
    engine, tokens = answer("vllm")
    assert tokens == [5, 4, 9]
    assert vars(engine._engine.args) == {"model": "org/model", "tensor_parallel_size": 2, "max_model_len": 128}
    asyncio.run(engine.close())
    assert engine._engine.ended


def test_sglang_is_given_the_model_by_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("sglang")
    library.Engine = Sglang  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sglang", library)
    engine, tokens = answer("sglang", {"path": "org/model", "context_length": 128})
    assert tokens == [5, 4, 9]
    assert engine._engine.arguments == {"model_path": "org/model", "tp_size": 2, "context_length": 128}
