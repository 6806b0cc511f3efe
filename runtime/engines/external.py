"""vLLM and SGLang as engines: their own processes compute on the replica's accelerators."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import secrets
import sys
import threading
from abc import abstractmethod
from concurrent.futures import Future
from types import ModuleType
from typing import Any, AsyncGenerator, Callable, ClassVar, Mapping, Sequence, TypeVar

from ..failure import build_failure
from ..workers.inside.host import meeting_port
from .engine import Engine, Meeting, Message, ReplicaShape, Sampling, Workers, need, need_installed


def options(arguments: Mapping[str, Any], no: str = "") -> list[str]:
    """Format arguments as ``--name=value``; dicts as JSON, lists as several values, None omitted.

    True is ``--name`` alone; False is the name with the prefix `no`, or omitted if the program has
    no such option.
    """
    words: list[str] = []
    for name, value in arguments.items():
        option = name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            words += [f"--{option}"] if value else [f"--{no}{option}"] if no else []
        elif isinstance(value, (list, tuple)):
            words += [f"--{option}", *map(str, value)]
        else:
            words.append(f"--{option}={json.dumps(value) if isinstance(value, Mapping) else value}")
    return words


REPLICA_SETTINGS = ("path", "served_model_name")
"""Settings that are not the engine's."""


def engine_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for the engine itself."""
    return {name: value for name, value in settings.items() if name not in REPLICA_SETTINGS}


class HuggingFaceTokenizer:
    """Tokenizer of an engine."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.size: int = len(tokenizer)
        self.end: int | None = tokenizer.eos_token_id

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text))

    def decode(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def template(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt of a conversation, by the model's template."""
        turns = [dict(message) for message in messages]
        # without `return_dict=False`, transformers 5 returns more than tokens
        return list(self._tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=True, return_dict=False))


Result = TypeVar("Result")


async def run_in_daemon(function: Callable[[], Result]) -> Result:
    """Run a blocking function in a daemon thread; a cancellation abandons it.

    Neither the loop nor the end of the process waits for the thread. `SystemExit` would end the
    loop: it is raised as RuntimeError.
    """
    outcome: Future[Result] = Future()
    outcome.set_running_or_notify_cancel()

    def work() -> None:
        try:
            outcome.set_result(function())
        except (Exception, SystemExit) as problem:  # told to whoever waits
            outcome.set_exception(problem if isinstance(problem, Exception) else RuntimeError(f"SystemExit: {problem}"))

    threading.Thread(target=work, daemon=True, name="placewright-engine-load").start()
    return await asyncio.wrap_future(outcome)


class ExternalEngine(Engine):
    """Engine of another library, whose processes take the place of the workers' own work.

    Settings: `path` is the model, all others are the library's, by its names.
    """

    library: ClassVar[str]
    decided: ClassVar[Sequence[str]]
    """Settings that the replica decides."""
    sleep_setting: ClassVar[str]
    """Setting without which the library cannot release memory."""
    tokenizer: HuggingFaceTokenizer
    _engine: Any = None

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: ReplicaShape, nodes: int = 1) -> None:
        """Check the model, the settings and the shape on nodes (PW741), then the library (PW740)."""
        name = cls.library
        if not settings.get("path"):
            raise build_failure("PW741", name, f"the engine `{name}` needs a model", "give `path`, a name or a directory of a model")
        if conflicts := sorted(set(settings) & set(cls.decided)):
            degrees = f"tp {shape.tensor}, dp {shape.data}, pp {shape.pipeline}, {nodes} nodes"
            message = f"`{conflicts[0]}` of the model is decided by the replica: {degrees}"
            raise build_failure("PW741", name, message, "leave it out, and set the degrees in the replica's `config`", *conflicts)
        copy, per_node = shape.tensor * shape.pipeline, shape.world_size // nodes
        if copy % per_node and per_node % copy:
            degrees = f"copies of tp {shape.tensor} x pp {shape.pipeline} = {copy} on nodes of {per_node}"
            help = f"choose tp and pp whose product divides {per_node}, or is a multiple of it"
            raise build_failure(
                "PW741", name, f"the engine `{name}` cannot serve {degrees}: neither divides the other", help, copy, per_node
            )
        cls._check_nodes(shape, nodes)
        need_installed(name, f"the engine `{name}`")  # the import itself takes up to half a minute

    @classmethod
    def _check_nodes(cls, shape: ReplicaShape, nodes: int) -> None:
        """Raise LaunchFailed (PW741) for a shape that the library cannot spread over nodes."""

    @classmethod
    def _module(cls, name: str = "") -> ModuleType:
        return need(name or cls.library, f"the engine `{cls.library}`")

    async def open(self, workers: Workers, meeting: Meeting | None = None) -> None:
        await super().open(workers, meeting)
        self._engine, tokenizer, self.longest = await run_in_daemon(lambda: self._load(meeting))
        self.tokenizer = HuggingFaceTokenizer(await tokenizer if hasattr(tokenizer, "__await__") else tokenizer)

    @abstractmethod
    def _load(self, meeting: Meeting | None) -> tuple[Any, Any, int]:
        """Return the library's engine, its tokenizer, and its longest context; blocks for minutes."""

    def chat(self, messages: Sequence[Message]) -> list[int]:
        return self.tokenizer.template(messages)

    async def sleep(self) -> None:
        if not self.settings.get(self.sleep_setting):
            message = f"the engine `{self.library}` can sleep only if it was started with `{self.sleep_setting}`"
            raise build_failure(
                "PW741", self.library, message, f"set `{self.sleep_setting}: true` in the model's settings", self.sleep_setting
            )
        await self._sleep()

    @abstractmethod
    async def _sleep(self) -> None:
        """Release the memory that only answering needs."""

    async def close(self) -> None:
        if self._engine is not None:
            await run_in_daemon(self._engine.shutdown)


VLLM_DECIDED = (
    "model", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "data_parallel_size_local", "data_parallel_rank",
    "data_parallel_start_rank", "data_parallel_address", "data_parallel_rpc_port", "nnodes", "node_rank", "master_addr", "master_port", "headless",
)  # fmt: skip
"""Arguments that the replica sets."""


def vllm_arguments(settings: Mapping[str, Any], shape: ReplicaShape, meeting: Meeting | None = None) -> dict[str, Any]:
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


class VllmEngine(ExternalEngine):
    """vLLM's AsyncLLM, with AsyncEngineArgs as settings."""

    library, decided, sleep_setting = "vllm", VLLM_DECIDED, "enable_sleep_mode"
    _requests = itertools.count()

    @classmethod
    def headless(cls, settings: Mapping[str, Any], shape: ReplicaShape, meeting: Meeting) -> Sequence[str]:
        command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(settings["path"]), "--headless"]
        return command + options(vllm_arguments(settings, shape, meeting), "no-")

    def _load(self, meeting: Meeting | None) -> tuple[Any, Any, int]:
        vllm = self._module()
        args = vllm.AsyncEngineArgs(model=self.settings["path"], **vllm_arguments(self.settings, self.shape, meeting))
        engine = vllm.AsyncLLMEngine.from_engine_args(args)
        return engine, engine.get_tokenizer(), int(engine.model_config.max_model_len)

    async def open(self, workers: Workers, meeting: Meeting | None = None) -> None:
        await super().open(workers, meeting)
        await self._engine.is_sleeping()  # the first call of a loop is what makes vLLM notice deaths from then on

    @property
    def failure(self) -> str:
        dead = self._engine is not None and self._engine.errored
        return "the engine `vllm` has died; the log of its server has the reason" if dead else ""

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """Generate tokens; vLLM itself aborts abandoned answers."""
        limits = {"max_tokens": sampling.max_tokens, "temperature": sampling.temperature, "top_p": sampling.top_p, "seed": sampling.seed}
        parameters = self._module().SamplingParams(**limits)
        request, sent_tokens = f"placewright-{next(self._requests)}", 0
        token_prompt = {"type": "token", "prompt_token_ids": list(prompt)}  # vLLM will refuse what has no type
        async for output in self._engine.generate(token_prompt, parameters, request):
            tokens = output.outputs[0].token_ids
            for token in tokens[sent_tokens:]:
                yield token
            sent_tokens = len(tokens)

    async def _sleep(self) -> None:
        await self._engine.sleep()

    async def wake_up(self) -> None:
        await self._engine.wake_up()

    async def clear(self) -> None:
        await self._engine.reset_prefix_cache()


SGLANG_DECIDED = (
    "model_path", "tp_size", "pp_size", "dp_size", "nnodes", "node_rank", "dist_init_addr", "stream_output", "incremental_streaming_output",
)  # fmt: skip
"""Arguments that the replica sets, or whose default it relies on."""
REQUESTS = "sglang.srt.managers.io_struct"


def sglang_arguments(settings: Mapping[str, Any], shape: ReplicaShape, meeting: Meeting | None = None) -> dict[str, Any]:
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


class SglangEngine(ExternalEngine):
    """SGLang's Engine, with ServerArgs as settings.

    With `enable_deterministic_inference`, equal seeds give equal answers.
    """

    library, decided, sleep_setting = "sglang", SGLANG_DECIDED, "enable_memory_saver"

    @classmethod
    def _check_nodes(cls, shape: ReplicaShape, nodes: int) -> None:
        if nodes > 1 and shape.data > 1:
            message = f"the engine `sglang` has no data parallelism over nodes: dp {shape.data} over {nodes} nodes"
            help = f"start {shape.data} replicas of tp {shape.tensor} x pp {shape.pipeline} instead"
            raise build_failure("PW741", "sglang", message, help, shape.data, nodes)

    @classmethod
    def headless(cls, settings: Mapping[str, Any], shape: ReplicaShape, meeting: Meeting) -> Sequence[str]:
        """Return the command of other nodes, which listens for health checks alone."""
        server_arguments = {"port": meeting_port(os.getpid())} | sglang_arguments(settings, shape, meeting)
        return [sys.executable, "-m", "sglang.launch_server", *options(server_arguments)]

    def _load(self, meeting: Meeting | None) -> tuple[Any, Any, int]:
        engine = self._module().Engine(**sglang_arguments(self.settings, self.shape, meeting))
        manager = engine.tokenizer_manager
        return engine, manager.tokenizer, int(manager.model_config.context_len)

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """Generate tokens; abort abandoned answers, which SGLang would not notice."""
        parameters = {
            "max_new_tokens": sampling.max_tokens, "temperature": sampling.temperature, "top_p": sampling.top_p, "sampling_seed": sampling.seed
        }  # fmt: skip
        name, manager = secrets.token_hex(16), self._engine.tokenizer_manager
        request = self._request("GenerateReqInput", rid=name, input_ids=list(prompt), sampling_params=parameters, stream=True)
        sent_tokens, is_done = 0, False
        try:
            async for output in manager.generate_request(request, None):
                tokens = output["output_ids"]
                for token in tokens[sent_tokens:]:
                    yield token
                sent_tokens = len(tokens)
            is_done = True
        finally:
            if not is_done:
                manager.abort_request(rid=name)

    async def _sleep(self) -> None:
        await self._engine.tokenizer_manager.release_memory_occupation(self._request("ReleaseMemoryOccupationReqInput"))

    async def wake_up(self) -> None:
        await self._engine.tokenizer_manager.resume_memory_occupation(self._request("ResumeMemoryOccupationReqInput"))

    async def clear(self) -> None:
        await self._engine.tokenizer_manager.flush_cache()

    def _request(self, name: str, **fields: Any) -> Any:
        return getattr(self._module(REQUESTS), name)(**fields)
