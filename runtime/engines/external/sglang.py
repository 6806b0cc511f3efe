"""SGLang as an engine: its own processes compute on the accelerators of the replica's workers.

On nodes other than the first they are started by `sglang.launch_server`. The names are those of
SGLang 0.5, sources: python/sglang/srt/server_args.py, entrypoints/engine.py and
managers/tokenizer_manager.py, which verl uses in the same way (verl,
workers/rollout/sglang_rollout/async_sglang_server.py).
"""

from __future__ import annotations

import secrets
import socket
import sys
from types import ModuleType
from typing import Any, AsyncGenerator, Mapping, Sequence

from ...failure import failed
from ..engine import Engine, Meeting, Message, ReplicaShape, Sampling, Workers
from ..registry import need
from .shared import HuggingFaceTokenizer, check_settings, check_sleep, engine_settings, options

DECIDED = ("model_path", "tp_size", "pp_size", "dp_size", "nnodes", "node_rank", "dist_init_addr")
"""Arguments that the replica sets."""
SLEEP = "enable_memory_saver"
REQUESTS = "sglang.srt.managers.io_struct"


def arguments(settings: Mapping[str, Any], shape: ReplicaShape, meeting: Meeting | None = None) -> dict[str, Any]:
    """Return SGLang's ServerArgs on a node; `meeting`: rendezvous of several nodes."""
    arguments_set: dict[str, Any] = {"model_path": settings["path"], "tp_size": shape.tensor}
    if shape.pipeline > 1:
        arguments_set["pp_size"] = shape.pipeline
    if shape.data > 1:
        arguments_set["dp_size"] = shape.data
    if meeting is not None:
        address = f"[{meeting.address}]" if ":" in meeting.address else meeting.address
        arguments_set |= {"nnodes": meeting.nnodes, "node_rank": meeting.node_rank, "dist_init_addr": f"{address}:{meeting.ports[0]}"}
    return {"log_level": "error"} | arguments_set | engine_settings(settings)


class SglangEngine(Engine):
    """SGLang's Engine. Settings: `path` is the model, all others are ServerArgs by SGLang's names.

    With `enable_deterministic_inference`, equal seeds give equal answers.
    """

    _engine: Any = None
    _own: HuggingFaceTokenizer

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: ReplicaShape, nodes: int = 1) -> None:
        """Check SGLang, model and shape.

        Raises LaunchFailed: PW740 without SGLang, PW741 for an unsupported shape, or without a
        model.
        """
        check_settings("sglang", settings, shape, nodes, DECIDED)
        if nodes > 1 and shape.data > 1:
            message = f"the engine `sglang` has no data parallelism over nodes: dp {shape.data} over {nodes} nodes"
            help = f"start {shape.data} replicas of tp {shape.tensor} x pp {shape.pipeline} instead"
            raise failed("PW741", "sglang", message, help, shape.data, nodes)
        _sglang()

    @classmethod
    def headless(cls, settings: Mapping[str, Any], shape: ReplicaShape, meeting: Meeting) -> Sequence[str]:
        """Return the command of other nodes; see Engine.

        It answers nobody, but listens for health checks on a free port.
        """
        server_arguments = {"port": _free_port()} | arguments(settings, shape, meeting)
        return [sys.executable, "-m", "sglang.launch_server", *options(server_arguments)]

    async def open(self, workers: Workers, meeting: Meeting | None = None) -> None:
        """Start SGLang; see Engine."""
        await super().open(workers, meeting)
        self._engine = _sglang().Engine(**arguments(self.settings, self.shape, meeting))
        manager = self._engine.tokenizer_manager
        self.longest = int(manager.model_config.context_len)
        self.tokenizer = self._own = HuggingFaceTokenizer(manager.tokenizer)

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """Generate tokens; see Engine.

        Abandoned answers are aborted, which SGLang would not notice.
        """
        parameters = {
            "max_new_tokens": sampling.max_tokens, "temperature": sampling.temperature, "top_p": sampling.top_p, "sampling_seed": sampling.seed
        }  # fmt: skip
        name, manager = secrets.token_hex(16), self._engine.tokenizer_manager
        request = _request("GenerateReqInput", rid=name, input_ids=list(prompt), sampling_params=parameters, stream=True)
        sent, is_done = 0, False
        try:
            async for output in manager.generate_request(request, None):
                tokens = output["output_ids"]
                for token in tokens[sent:]:
                    yield token
                sent = len(tokens)
            is_done = True
        finally:
            if not is_done:
                manager.abort_request(rid=name)

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt by the model's own template."""
        return self._own.template(messages)

    async def sleep(self) -> None:
        """Release memory; see Engine. Raises LaunchFailed (PW741) without `enable_memory_saver`."""
        check_sleep("sglang", self.settings, SLEEP)
        await self._engine.tokenizer_manager.release_memory_occupation(_request("ReleaseMemoryOccupationReqInput"))

    async def wake_up(self) -> None:
        """Take the memory again; see Engine."""
        await self._engine.tokenizer_manager.resume_memory_occupation(_request("ResumeMemoryOccupationReqInput"))

    async def clear(self) -> None:
        """Flush the prefix cache; see Engine."""
        await self._engine.tokenizer_manager.flush_cache()

    async def close(self) -> None:
        """End SGLang's processes."""
        if self._engine is not None:
            self._engine.shutdown()


def _sglang() -> ModuleType:
    return need("sglang", "the engine `sglang`")


def _request(name: str, **fields: Any) -> Any:
    return getattr(need(REQUESTS, "the engine `sglang`"), name)(**fields)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
