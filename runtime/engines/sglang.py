"""SGLang behind the interface of an engine: its own processes compute, on the accelerators of the replica's workers.

Source of the use of its offline engine: SGLang, python/sglang/srt/entrypoints/engine.py.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, AsyncGenerator, Mapping, Sequence

from .beside import HuggingFaceTokenizer, refuse_shape
from .engine import Engine, Message, Sampling, Workers
from .needed import need
from .shape import Shape

_OURS = ("path", "served_model_name")


class SglangEngine(Engine):
    """SGLang's Engine. Settings: `path` is the model, all others are SGLang's ServerArgs by their own names."""

    _engine: Any = None
    _own: HuggingFaceTokenizer

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: Shape, nodes: int = 1) -> None:
        """Raises LaunchFailed: PW740 without SGLang, PW741 for a shape that this adapter does not serve, or without a model."""
        refuse_shape("sglang", settings, shape, nodes)
        _sglang()

    async def open(self, workers: Workers) -> None:
        """See Engine."""
        await super().open(workers)
        own = {name: value for name, value in self.settings.items() if name not in _OURS}
        self._engine = _sglang().Engine(model_path=self.settings["path"], tp_size=self.shape.tensor, **own)
        manager = self._engine.tokenizer_manager
        self.longest = int(manager.model_config.context_len)
        self.tokenizer = self._own = HuggingFaceTokenizer(manager.tokenizer)

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """See Engine."""
        parameters = {"max_new_tokens": sampling.max_tokens, "temperature": sampling.temperature, "top_p": sampling.top_p}
        stream = await self._engine.async_generate(input_ids=list(prompt), sampling_params=parameters, stream=True)
        told = 0
        async for output in stream:
            tokens = output["output_ids"]
            for token in tokens[told:]:
                yield token
            told = len(tokens)

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """The prompt by the model's own template."""
        return self._own.template(messages)

    async def sleep(self) -> None:
        """See Engine."""
        await self._engine.tokenizer_manager.release_memory_occupation(_request("ReleaseMemoryOccupationReqInput"))

    async def wake_up(self) -> None:
        """See Engine."""
        await self._engine.tokenizer_manager.resume_memory_occupation(_request("ResumeMemoryOccupationReqInput"))

    async def close(self) -> None:
        """Ends SGLang's processes."""
        if self._engine is not None:
            self._engine.shutdown()


def _sglang() -> ModuleType:
    return need("sglang", "the engine `sglang`")


def _request(name: str) -> Any:
    return getattr(need("sglang.srt.managers.io_struct", "the engine `sglang`"), name)()
