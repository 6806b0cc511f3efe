"""What stands in for vLLM, SGLang and their tokenizers: the public names that the adapters use, and the tokens of a short answer."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, AsyncIterator

import pytest


class Tokens:
    """Stands in for a tokenizer of the library `transformers`."""

    eos_token_id = 9

    def __len__(self) -> int:
        return 10

    def encode(self, text: str) -> list[int]:
        return [len(text)]

    def decode(self, tokens: list[int], skip_special_tokens: bool) -> str:
        return "".join("." for token in tokens if token != 9)

    def apply_chat_template(self, messages: list[dict[str, str]], add_generation_prompt: bool, tokenize: bool, return_dict: bool) -> Any:
        tokens = [len(messages), int(add_generation_prompt)]
        return {"input_ids": tokens} if return_dict or not tokenize else tokens


class Vllm:
    """Stands in for vLLM's engine; tells all tokens so far each time, as that does."""

    def __init__(self, args: Any) -> None:
        self.args = args
        self.model_config = SimpleNamespace(max_model_len=args.max_model_len)
        self.errored = False
        self.calls: list[str] = []

    @classmethod
    def from_engine_args(cls, args: Any) -> Vllm:
        return cls(args)

    def get_tokenizer(self) -> Tokens:
        return Tokens()

    async def generate(self, prompt: dict[str, Any], parameters: Any, request_id: str) -> AsyncIterator[Any]:
        assert prompt["type"] == "token"
        for count in (1, 3):
            yield SimpleNamespace(outputs=[SimpleNamespace(token_ids=[*prompt["prompt_token_ids"], 4, 9][:count])])

    async def is_sleeping(self) -> bool:
        return False

    async def sleep(self) -> None:
        self.calls.append("sleep")

    def shutdown(self) -> None:
        self.calls.append("shutdown")


class Manager:
    """Stands in for SGLang's TokenizerManager."""

    def __init__(self, context: int) -> None:
        self.tokenizer = Tokens()
        self.model_config = SimpleNamespace(context_len=context)
        self.requests: list[Any] = []
        self.calls: list[str] = []

    async def generate_request(self, request: Any, http: None) -> AsyncIterator[Any]:
        self.requests.append(request)
        for count in (2, 3):
            yield {"output_ids": [*request.input_ids, request.sampling_params["max_new_tokens"], 9][:count]}

    def abort_request(self, rid: str) -> None:
        self.calls.append(f"abort {rid}")

    async def release_memory_occupation(self, request: Any) -> None:
        self.calls.append("release")


class Sglang:
    """Stands in for SGLang's engine."""

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self.tokenizer_manager = Manager(arguments["context_length"])

    def shutdown(self) -> None:
        self.tokenizer_manager.calls.append("shutdown")


def install_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on `import vllm` gives the stand-in."""
    library: Any = ModuleType("vllm")
    library.AsyncEngineArgs = library.SamplingParams = SimpleNamespace
    library.AsyncLLMEngine = Vllm
    monkeypatch.setitem(sys.modules, "vllm", library)


def install_sglang(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on `import sglang` gives the stand-in."""
    library: Any = ModuleType("sglang")
    library.Engine = Sglang
    requests: Any = ModuleType("sglang.srt.managers.io_struct")
    requests.GenerateReqInput = requests.ReleaseMemoryOccupationReqInput = SimpleNamespace
    monkeypatch.setitem(sys.modules, "sglang", library)
    monkeypatch.setitem(sys.modules, requests.__name__, requests)
