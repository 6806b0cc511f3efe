"""vLLM as an engine: its own processes compute on the accelerators of the replica's workers.

The workers of the replica hold the accelerators and compute nothing; vLLM starts its processes
below the servers, on other nodes than the first as a headless `vllm serve`. So does verl with
vLLM's `mp` executor (verl, workers/rollout/vllm_rollout/vllm_async_server.py). The names are those
of vLLM 0.33, vllm/engine/arg_utils.py; --nnodes exists since 0.11.1.
"""

from __future__ import annotations

import itertools
import sys
from types import ModuleType
from typing import Any, AsyncGenerator, Mapping, Sequence

from ..engine import Engine, Meeting, Message, ReplicaShape, Sampling, Workers
from ..registry import need
from .shared import HuggingFaceTokenizer, check_settings, check_sleep, engine_settings, options

DECIDED = (
    "model", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "data_parallel_size_local", "data_parallel_rank",
    "data_parallel_start_rank", "data_parallel_address", "data_parallel_rpc_port", "nnodes", "node_rank", "master_addr", "master_port", "headless",
)  # fmt: skip
"""Arguments that the replica sets."""
SLEEP = "enable_sleep_mode"


def arguments(settings: Mapping[str, Any], shape: ReplicaShape, meeting: Meeting | None = None) -> dict[str, Any]:
    """Return vLLM's AsyncEngineArgs on a node, without the model.

    `meeting`: rendezvous of several nodes.

    The default executor is `mp`: within a placement group vLLM would choose Ray's, and wait for
    accelerators that the replica's workers hold. Source: vLLM, vllm/config/parallel.py,
    `ParallelConfig.__post_init__`.
    """
    arguments_set = {"distributed_executor_backend": "mp", "tensor_parallel_size": shape.tensor}
    if shape.pipeline > 1:
        arguments_set["pipeline_parallel_size"] = shape.pipeline
    if shape.data > 1:
        arguments_set["data_parallel_size"] = shape.data
    if meeting is not None:
        master, rpc = meeting.ports[:2]
        arguments_set |= {"nnodes": meeting.nnodes, "node_rank": meeting.node_rank, "master_addr": meeting.address, "master_port": master}
        if shape.data > 1:
            arguments_set |= {"data_parallel_address": meeting.address, "data_parallel_rpc_port": rpc}
    return arguments_set | engine_settings(settings)


class VllmEngine(Engine):
    """vLLM's AsyncLLM.

    Settings: `path` is the model, all others are AsyncEngineArgs by vLLM's names.
    """

    _requests = itertools.count()
    _engine: Any = None
    _own: HuggingFaceTokenizer

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: ReplicaShape, nodes: int = 1) -> None:
        """Check vLLM, model and shape.

        Raises LaunchFailed: PW740 without vLLM, PW741 for an unsupported shape, or without a model.
        """
        check_settings("vllm", settings, shape, nodes, DECIDED)
        _vllm()

    @classmethod
    def headless(cls, settings: Mapping[str, Any], shape: ReplicaShape, meeting: Meeting) -> Sequence[str]:
        """Return the command of other nodes; see Engine."""
        command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(settings["path"]), "--headless"]
        return command + options(arguments(settings, shape, meeting), "no-")

    async def open(self, workers: Workers, meeting: Meeting | None = None) -> None:
        """Start vLLM; see Engine."""
        await super().open(workers, meeting)
        vllm = _vllm()
        args = vllm.AsyncEngineArgs(model=self.settings["path"], **arguments(self.settings, self.shape, meeting))
        self._engine = vllm.AsyncLLMEngine.from_engine_args(args)
        self.longest = int(self._engine.model_config.max_model_len)
        tokenizer = self._engine.get_tokenizer()
        self.tokenizer = self._own = HuggingFaceTokenizer(await tokenizer if hasattr(tokenizer, "__await__") else tokenizer)

    @property
    def failure(self) -> str:
        """Reason of a failure; see Engine."""
        return str(self._engine.dead_error) if self._engine is not None and self._engine.errored else ""

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """Generate tokens; see Engine. Abandoned answers are aborted in vLLM."""
        parameters = _vllm().SamplingParams(
            max_tokens=sampling.max_tokens, temperature=sampling.temperature, top_p=sampling.top_p, seed=sampling.seed
        )
        request, sent = f"placewright-{next(self._requests)}", 0
        async for output in self._engine.generate({"prompt_token_ids": list(prompt)}, parameters, request):
            tokens = output.outputs[0].token_ids
            for token in tokens[sent:]:
                yield token
            sent = len(tokens)

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt by the model's own template."""
        return self._own.template(messages)

    async def sleep(self) -> None:
        """Release memory; see Engine. Raises LaunchFailed (PW741) without `enable_sleep_mode`."""
        check_sleep("vllm", self.settings, SLEEP)
        await self._engine.sleep()

    async def wake_up(self) -> None:
        """Take the memory again; see Engine."""
        await self._engine.wake_up()

    async def clear(self) -> None:
        """Reset the prefix cache; see Engine."""
        await self._engine.reset_prefix_cache()

    async def close(self) -> None:
        """End vLLM's processes."""
        if self._engine is not None:
            self._engine.shutdown()


def _vllm() -> ModuleType:
    return need("vllm", "the engine `vllm`")
