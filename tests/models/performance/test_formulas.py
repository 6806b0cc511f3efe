"""Formulas of time against figures that can be worked out by hand."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from placewright.models.estimate import FSDP, MEGATRON, NONE, MemoryInput
from placewright.models.memory.work import shape_of
from placewright.models.model_cards.known import known_model
from placewright.models.parallel import UNDIVIDED, Parallel
from placewright.models.performance.efficiency import Efficiency
from placewright.models.performance.generate import capacity, generate_seconds
from placewright.models.performance.hardware import SPEEDS, nearest_model, speed_of
from placewright.models.performance.infer import infer_seconds
from placewright.models.performance.interval import Interval, exactly
from placewright.models.performance.model_run import ModelRun, SequenceBatch
from placewright.models.performance.train import Training, train_seconds
from placewright.models.performance.transfer import offload_seconds, sync_seconds

FIXED_COSTS = ("step", "layer_step", "expert_layer", "tensor", "reduce_near", "reduce_far")
IDEAL = Efficiency(**{field.name: exactly(float(field.name not in FIXED_COSTS)) for field in fields(Efficiency)})
"""All that the data sheets have, and nothing besides."""


def run(model: str = "Qwen/Qwen2.5-7B", accelerators: int = 1, parallel: Parallel = UNDIVIDED, chip: str = "H100") -> ModelRun:
    return ModelRun(shape_of(MemoryInput(), known_model(model)), parallel, accelerators, SPEEDS[chip], efficiency=IDEAL)


def batch(sequences: int, prompt: float, response: float, longest: int | None = None) -> SequenceBatch:
    return SequenceBatch(sequences, prompt, exactly(response), longest or int(response))


def test_a_forward_pass_is_two_operations_a_parameter_and_token() -> None:
    """7.07 billion parameters but for the embedding; attention of 1,000 tokens is 28 x 28 x 2 x 128 x 1,000 operations a token more."""
    seconds = infer_seconds(run(), batch(10, 1000, 0)).likely
    assert seconds == pytest.approx(10_000 * (2 * (7_615_616_512 - 152_064 * 3584) + 28 * 28 * 2 * 128 * 1000) / 989e12, rel=1e-9)


def test_training_is_three_forward_passes_and_with_recomputation_four() -> None:
    work = batch(64, 1000, 0)
    whole, none = (train_seconds(run(), work, Training(NONE, recompute)).likely for recompute in ("full", "none"))
    forward, optimizer = infer_seconds(run(), work).likely, 32 * 7_615_616_512 / 3.35e12
    assert whole == pytest.approx(4 * forward + optimizer) and none == pytest.approx(3 * forward + optimizer)


def test_a_pipeline_waits_for_its_stages() -> None:
    """Work of a sequence W: 8 micro batches in 4 stages take 8 W + 3 W."""
    staged = run(accelerators=4, parallel=Parallel(pp=4))
    eight, sixteen = (train_seconds(staged, batch(sequences, 1000, 0), Training(MEGATRON)).likely for sequences in (8, 16))
    optimizer = 32 * 7_615_616_512 / 4 / 3.35e12
    assert eight - optimizer == pytest.approx(11 / 8 * (sixteen - eight))


def test_one_sequence_reads_all_weights_for_each_token() -> None:
    """15.2 GB (4.55 ms of an H100) and 57 KB of cache a token; 72B on two H100 take 21.7 ms at the least, 31.0 were measured (tt-inference-server, issue 143)."""
    seconds = generate_seconds(run(), batch(1, 1, 1000)).likely
    assert seconds == pytest.approx(1000 * 2 * 7_615_616_512 / 3.35e12, rel=0.01)
    two = ModelRun(shape_of(MemoryInput(), known_model("Qwen/Qwen2.5-72B")), Parallel(tp=2), 2, SPEEDS["H100"])
    step = generate_seconds(two, batch(1, 128, 1000))
    assert step.low < 31.0 < step.high


def test_more_sequences_than_the_cache_holds_wait() -> None:
    engine = run()
    at_once = capacity(engine, 8192)
    assert at_once == pytest.approx((80 * 2**30 * 0.9 - 2 * 7_615_616_512 - 2 * 2**30) / (8192 * 57_344), rel=1e-9)
    few, many = (generate_seconds(engine, batch(count, 4096, 4096)).likely for count in (int(at_once), 4 * int(at_once)))
    assert 3.5 < many / few < 4.2


def test_the_longest_answers_are_alone_at_the_end() -> None:
    """Answers of 500 to 8,000 tokens take nearly as many steps as the longest, and far longer than equal ones."""
    equal, spread = (generate_seconds(run(), batch(64, 100, 1000, longest)).likely for longest in (1000, 8000))
    assert 4 < spread / equal <= 8


def test_experts_that_nobody_uses_are_not_read() -> None:
    engine = run("Qwen/Qwen3-30B-A3B")
    one, many = (generate_seconds(engine, batch(count, 1, 100)).likely for count in (1, 256))
    assert one == pytest.approx(100 * 2 * engine.active / 3.35e12, rel=0.15)
    assert many > 6 * one


def test_layers_with_experts_wait_for_their_host_in_each_micro_batch() -> None:
    """48 layers, 3 ms each in a pass; 64 sequences on 8 ranks in micro batches of 2, four passes."""
    waiting = replace(IDEAL, expert_layer=exactly(0.003))
    shape, work = shape_of(MemoryInput(), known_model("Qwen/Qwen3-30B-A3B")), batch(64, 1000, 0)
    seconds = [
        train_seconds(
            ModelRun(shape, Parallel(ep=8), 8, SPEEDS["H100"], efficiency=factors), work, Training(MEGATRON, micro_batch=2)
        ).likely
        for factors in (waiting, IDEAL)
    ]
    assert seconds[0] - seconds[1] == pytest.approx(4 * 4 * 48 * 0.003)


def test_each_tensor_is_handed_over() -> None:
    """9 weights of each of 48 layers, and 3 of each of 128 experts."""
    handing = replace(IDEAL, tensor=exactly(0.001))
    shape = shape_of(MemoryInput(), known_model("Qwen/Qwen3-30B-A3B"))
    slow, ideal = (ModelRun(shape, UNDIVIDED, 8, SPEEDS["H100"], efficiency=factors) for factors in (handing, IDEAL))
    seconds = sync_seconds(slow, slow).likely - sync_seconds(ideal, ideal).likely
    assert seconds == pytest.approx(0.001 * 48 * (9 + 3 * 128))


def test_weights_cross_what_lies_between() -> None:
    trained, engine = run(accelerators=8), run(accelerators=8, parallel=Parallel(tp=2))
    assert sync_seconds(trained, engine).likely == pytest.approx(2 * 7_615_616_512 / 450e9)
    assert offload_seconds(trained, 64e9).likely == pytest.approx(1.0)


def test_fully_sharded_training_gathers_weights_for_each_micro_batch() -> None:
    small = replace(IDEAL, hidden=exactly(0.0))
    shape = shape_of(MemoryInput(), known_model("Qwen/Qwen2.5-7B"))
    its = ModelRun(shape, UNDIVIDED, 8, SPEEDS["H100"], efficiency=small)
    shown = (
        train_seconds(its, batch(8, 1000, 0), Training(FSDP)).likely
        - train_seconds(run(accelerators=8), batch(8, 1000, 0), Training(FSDP)).likely
    )
    assert shown == pytest.approx(3 * 2 * 7_615_616_512 * 7 / 8 / 450e9)


def test_bounds_cross_in_a_quotient() -> None:
    assert Interval(2, 4, 8).over(Interval(1, 2, 4)) == Interval(0.5, 2, 8)


def test_hardware_is_known_by_name_and_by_a_cluster_files_figures() -> None:
    for model, speed in SPEEDS.items():
        assert speed.source and 0 < speed.bandwidth < 10 and 100 < speed.bf16 < 3000, model
    assert speed_of("RTX4090") == SPEEDS["4090"] and speed_of("XPU9") is None and nearest_model("H1000") == "H100"
    slow = speed_of("H100", {"bf16": 500.0})
    assert slow is not None and (slow.bf16, slow.bandwidth) == (500.0, 3.35) and slow.source.endswith("the cluster file")
    own = speed_of("XPU9", {"bf16": 500.0, "memory": 100.0, "bandwidth": 2.0, "link": 400.0})
    assert own is not None and own.fp8 == 0
