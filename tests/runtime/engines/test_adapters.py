"""The adapters of vLLM and SGLang: missed in words, refused in words, and the right calls to a library that stands in for theirs."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from typing import Any

import pytest
from placewright.runtime.engines.engine import Meeting, ReplicaShape, Sampling, engine_class, need
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.replicas.replica import Replica, SglangReplica, VllmReplica

from .stand_ins import install_sglang, install_vllm

MODEL = {"path": "org/model", "max_model_len": 128}
SECOND = Meeting("10.0.0.1", (5001, 5002), 1, 2)
"""What the second of two nodes knows."""


@pytest.mark.parametrize("name", ["vllm", "sglang"])
def test_without_the_library_it_is_said_what_to_install(name: str) -> None:
    with pytest.raises(LaunchFailed, match=f"the engine `{name}` needs `{name}`, which is not installed") as caught:
        engine_class(name).check(MODEL, ReplicaShape(2))
    assert (caught.value.findings[0].code, caught.value.exit_code) == ("PW740", 2)


def test_a_library_of_serving_is_installed_with_its_extra() -> None:
    with pytest.raises(LaunchFailed) as caught:
        need("zmq_that_is_not_there", "a server")
    assert caught.value.findings[0].help == "run `pip install 'zmq_that_is_not_there'`"


def refused(name: str, model: dict[str, Any], shape: ReplicaShape, nodes: int) -> str:
    with pytest.raises(LaunchFailed) as caught:
        engine_class(name).check(model, shape, nodes)
    assert (caught.value.findings[0].code, caught.value.exit_code) == ("PW741", 2)
    return caught.value.findings[0].message


@pytest.mark.parametrize(
    ("name", "taken"),
    [("vllm", "tensor_parallel_size"), ("vllm", "node_rank"), ("sglang", "tp_size"), ("sglang", "incremental_streaming_output")],
)
def test_what_the_replica_decides_is_not_decided_again_by_the_model(name: str, taken: str) -> None:
    message = f"`{taken}` of the model is decided by the replica: tp 4, dp 1, pp 1, 2 nodes"
    assert refused(name, {"path": "org/model", taken: 1}, ReplicaShape(4), 2) == message


@pytest.mark.parametrize("name", ["vllm", "sglang"])
def test_a_model_is_needed(name: str) -> None:
    assert refused(name, {}, ReplicaShape(), 1) == f"the engine `{name}` needs a model"


@pytest.mark.parametrize("name", ["vllm", "sglang"])
def test_a_copy_lies_on_whole_nodes_or_evenly_within_them(name: str) -> None:
    message = f"the engine `{name}` cannot serve copies of tp 3 x pp 1 = 3 on nodes of 2: neither divides the other"
    assert refused(name, MODEL, ReplicaShape(3, 2), 3) == message


def test_sglang_has_no_data_parallelism_over_nodes() -> None:
    assert refused("sglang", MODEL, ReplicaShape(8, 2), 2) == "the engine `sglang` has no data parallelism over nodes: dp 2 over 2 nodes"


@pytest.mark.parametrize("replica", [VllmReplica, SglangReplica])
@pytest.mark.parametrize(
    "config",
    [
        {"tensor_model_parallel_size": 16},
        {"tensor_model_parallel_size": 8, "pipeline_model_parallel_size": 2},
        {"tensor_model_parallel_size": 4, "data_parallel_size": 2},
    ],
)
def test_what_both_engines_serve_is_wanting_the_library_alone(replica: type[Replica], config: dict[str, int]) -> None:
    with pytest.raises(LaunchFailed) as caught:
        replica(0, config, MODEL, gpus_per_node=8)
    assert caught.value.findings[0].code == "PW740"


def test_an_engine_that_nobody_knows_is_refused() -> None:
    with pytest.raises(LaunchFailed, match="there is no engine `llama`"):
        engine_class("llama")


def answer(
    name: str, model: dict[str, Any] = MODEL, shape: ReplicaShape | None = None, meeting: Meeting | None = None
) -> tuple[Any, list[int]]:
    async def run() -> tuple[Any, list[int]]:
        cls = engine_class(name)
        cls.check(model, shape or ReplicaShape(2))
        engine = cls(model, shape or ReplicaShape(2))
        await engine.open(None, meeting)  # type: ignore[arg-type]
        assert engine.tokenizer.size == 10
        assert engine.longest == 128
        assert engine.chat([{"role": "user", "content": "Hi"}]) == [1, 1]
        return engine, [token async for token in engine.generate([5], Sampling(4))]

    return asyncio.run(run())


def test_vllm_is_given_the_model_by_its_own_words_and_its_own_processes_whatever_placement_group_it_is_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install_vllm(monkeypatch)
    engine, tokens = answer("vllm")
    assert tokens == [5, 4, 9]
    given = {"model": "org/model", "distributed_executor_backend": "mp", "tensor_parallel_size": 2, "max_model_len": 128}
    assert vars(engine._engine.args) == given
    asyncio.run(engine.close())
    assert engine._engine.calls == ["shutdown"]


def test_vllm_that_is_dead_is_told() -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        install_vllm(monkeypatch)
        engine, _ = answer("vllm")
    assert engine.failure == ""
    engine._engine.errored = True
    assert engine.failure == "the engine `vllm` has died; the log of its server has the reason"


def test_vllm_on_several_nodes_meets_at_the_first_and_is_headless_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    install_vllm(monkeypatch)
    engine, _ = answer("vllm", shape=ReplicaShape(4, 2, 2), meeting=Meeting("10.0.0.1", (5001, 5002), 0, 2))
    assert vars(engine._engine.args) == {
        "model": "org/model", "distributed_executor_backend": "mp", "tensor_parallel_size": 4, "pipeline_parallel_size": 2,
        "data_parallel_size": 2, "nnodes": 2, "node_rank": 0, "master_addr": "10.0.0.1", "master_port": 5001,
        "data_parallel_address": "10.0.0.1", "data_parallel_rpc_port": 5002, "max_model_len": 128,
    }  # fmt: skip
    assert engine_class("vllm").headless(MODEL | {"enforce_eager": True, "enable_prefix_caching": False}, ReplicaShape(16), SECOND) == [
        sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", "org/model", "--headless", "--distributed-executor-backend=mp",
        "--tensor-parallel-size=16", "--nnodes=2", "--node-rank=1", "--master-addr=10.0.0.1", "--master-port=5001", "--max-model-len=128",
        "--enforce-eager", "--no-enable-prefix-caching",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "setting"), [("vllm", "enable_sleep_mode"), ("sglang", "enable_memory_saver")])
def test_an_engine_sleeps_only_if_it_was_started_so(name: str, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install_vllm(monkeypatch)
    install_sglang(monkeypatch)
    model = {"path": "org/model", "max_model_len": 128, "context_length": 128}
    engine, _ = answer(name, model)
    with pytest.raises(LaunchFailed, match=f"can sleep only if it was started with `{setting}`"):
        asyncio.run(engine.sleep())
    engine, _ = answer(name, {**model, setting: True})
    asyncio.run(engine.sleep())
    told = engine._engine.calls if name == "vllm" else engine._engine.tokenizer_manager.calls
    assert told in (["sleep"], ["release"])


def test_sglang_is_given_the_model_by_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    install_sglang(monkeypatch)
    engine, tokens = answer("sglang", {"path": "org/model", "context_length": 128})
    assert tokens == [5, 4, 9]
    assert engine._engine.arguments == {"log_level": "error", "model_path": "org/model", "tp_size": 2, "context_length": 128}
    assert engine._engine.tokenizer_manager.calls == []


def test_sglang_is_told_of_an_answer_that_nobody_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    install_sglang(monkeypatch)
    engine, _ = answer("sglang", {"path": "org/model", "context_length": 128})

    async def leave() -> None:
        async with aclosing(engine.generate([5], Sampling(4))) as tokens:
            await anext(tokens)

    asyncio.run(leave())
    manager = engine._engine.tokenizer_manager
    assert manager.calls == [f"abort {manager.requests[-1].rid}"]


def test_sglang_on_several_nodes_meets_at_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    install_sglang(monkeypatch)
    model = {"path": "org/model", "context_length": 128}
    engine, _ = answer("sglang", model, ReplicaShape(8, 1, 2), Meeting("fd00::1", (5001, 5002), 0, 2))
    assert engine._engine.arguments == {
        "log_level": "error", "model_path": "org/model", "tp_size": 8, "pp_size": 2, "nnodes": 2, "node_rank": 0,
        "dist_init_addr": "[fd00::1]:5001", "context_length": 128,
    }  # fmt: skip
    *command, log, path, tp, nodes, rank, meeting, context = engine_class("sglang").headless(model, ReplicaShape(16), SECOND)
    assert command[:3] == [sys.executable, "-m", "sglang.launch_server"]
    assert command[3].startswith("--port=")
    assert (log, path, tp) == ("--log-level=error", "--model-path=org/model", "--tp-size=16")
    assert (nodes, rank, meeting, context) == ("--nnodes=2", "--node-rank=1", "--dist-init-addr=10.0.0.1:5001", "--context-length=128")
