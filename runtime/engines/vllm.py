"""vLLM behind the interface of an engine: its own processes compute, on the accelerators of the replica's workers.

The workers of the replica hold the accelerators and compute nothing; vLLM starts what it needs below the server. So does
verl with vLLM's `mp` executor (verl, workers/rollout/vllm_rollout/vllm_async_server.py).
"""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any, AsyncGenerator, Mapping, Sequence

from .beside import HuggingFaceTokenizer, refuse_shape
from .engine import Engine, Message, Sampling, Workers
from .needed import need
from .shape import Shape

_OURS = ("path", "served_model_name")


class VllmEngine(Engine):
    """vLLM's AsyncLLM. Settings: `path` is the model, all others go to vLLM's AsyncEngineArgs by their own names."""

    _requests = itertools.count()
    _engine: Any = None
    _own: HuggingFaceTokenizer

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: Shape, nodes: int = 1) -> None:
        """Raises LaunchFailed: PW740 without vLLM, PW741 for a shape that this adapter does not serve, or without a model."""
        refuse_shape("vllm", settings, shape, nodes)
        _vllm()

    async def open(self, workers: Workers) -> None:
        """See Engine."""
        await super().open(workers)
        vllm = _vllm()
        own = {name: value for name, value in self.settings.items() if name not in _OURS}
        args = vllm.AsyncEngineArgs(model=self.settings["path"], tensor_parallel_size=self.shape.tensor, **own)
        self._engine = vllm.AsyncLLMEngine.from_engine_args(args)
        self.longest = int(self._engine.model_config.max_model_len)
        got = self._engine.get_tokenizer()
        self.tokenizer = self._own = HuggingFaceTokenizer(await got if hasattr(got, "__await__") else got)

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """See Engine. An answer that nobody waits for any more is aborted in vLLM."""
        parameters = _vllm().SamplingParams(
            max_tokens=sampling.max_tokens, temperature=sampling.temperature, top_p=sampling.top_p, seed=sampling.seed
        )
        request, told = f"placewright-{next(self._requests)}", 0
        async for output in self._engine.generate({"prompt_token_ids": list(prompt)}, parameters, request):
            tokens = output.outputs[0].token_ids
            for token in tokens[told:]:
                yield token
            told = len(tokens)

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """The prompt by the model's own template."""
        return self._own.template(messages)

    async def sleep(self) -> None:
        """See Engine."""
        await self._engine.sleep()

    async def wake_up(self) -> None:
        """See Engine."""
        await self._engine.wake_up()

    async def close(self) -> None:
        """Ends vLLM's processes."""
        if self._engine is not None:
            self._engine.shutdown()


def _vllm() -> ModuleType:
    return need("vllm", "the engine `vllm`")
