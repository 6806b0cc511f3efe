"""Published steps, and what the model of time says of them.

NeMo-RL, docs/about/performance-summary.md at 7ea279ab (release 0.6) and at 06beed91 (release 0.4). What the page does not say is in the
recipes that it names, examples/configs/recipes/llm/performance, and in examples/configs/grpo_math_1B.yaml: sequences packed to the longest
in micro batches, experts whole on a rank, a reference policy, activations computed again by the models of `RECOMPUTED`, accelerators that
generate off policy. Prompts of 150 tokens are assumed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from placewright.models.estimate import DISTRIBUTED, FSDP, FULL, NONE, MemoryInput
from placewright.models.memory.work import shape_of
from placewright.models.model_cards.known import known_model
from placewright.models.parallel import Parallel
from placewright.models.performance.generate import generate_seconds
from placewright.models.performance.hardware import speed_of
from placewright.models.performance.infer import infer_seconds
from placewright.models.performance.interval import Interval, exactly
from placewright.models.performance.model_run import ModelRun, SequenceBatch
from placewright.models.performance.train import Training, train_seconds
from placewright.models.performance.transfer import offload_seconds, sync_seconds

ROWS: list[dict[str, Any]] = [json.loads(line) for line in (Path(__file__).parent / "nemo_rl_steps.jsonl").read_text().splitlines()]
RECOMPUTED = ("DeepSeek V3", "Qwen3-235B", "LLAMA3.1_8B")
"""Models whose recipe has `activation_checkpointing`."""
GENERATING = {("Qwen3-30B3A", 192): 64}
"""(model, accelerators) -> those that generate off policy, where not half do."""
MODELS = {
    "LLAMA3.1_8B": "meta-llama/Llama-3.1-8B-Instruct",
    "Qwen3-32B": "Qwen/Qwen3-32B",
    "DeepSeek V3": "deepseek-ai/DeepSeek-V3",
    "Qwen3-235B": "Qwen/Qwen3-235B-A22B",
    "Qwen3-30B3A": "Qwen/Qwen3-30B-A3B",
}
DENSE = ("LLAMA3.1_8B", "Qwen3-32B")
PROMPT = 150


def parts_of(row: dict[str, Any]) -> dict[str, Interval] | None:
    """Seconds of each part of a step; None of a model whose shape is not known here."""
    if row["model"] not in MODELS:
        return None
    speed, shape = speed_of(row["system"]), shape_of(MemoryInput(), known_model(MODELS[row["model"]]))
    assert speed is not None
    gpus, on_policy = int(row["gpus"]), row["policy"] == "On policy"
    generate = gpus if on_policy else GENERATING.get((row["model"], gpus), gpus // 2)
    share = gpus if on_policy else gpus - generate
    tp, cp, ep, pp = (int(part) for part in row["training_tp_cp_ep_pp_vpp"].strip("[]").split(",")[:4])
    engine = Parallel(tp=int(row["generation_tp_pp"].strip("[]").split(",")[0]))
    near = int(speed.domain) or 8
    trained = ModelRun(shape, Parallel(tp=tp, pp=pp, cp=cp, ep=ep), share, speed, near, expert_tp=1)
    generating = ModelRun(shape, engine, generate, speed, near)
    packed, steps = row["max_sequence"] / row["mean_sequence"], int(row["rollout_batch"] // row["train_batch"])
    training = Training(DISTRIBUTED, FULL if row["model"] in RECOMPUTED else NONE, packed, steps)
    response = exactly(row["mean_sequence"] - PROMPT)
    batch = SequenceBatch(int(row["rollout_batch"]), PROMPT, response, int(row["max_sequence"]) - PROMPT)
    states = 12 * shape.total / share  # the optimizer, out and back
    return {
        "generate": generate_seconds(generating, batch, 0.6 if on_policy else 0.8, has_tail=row["policy"] != "8-step Off"),
        "infer": infer_seconds(trained, batch, row["rollout_batch"] / (trained.replicas * packed)).times(2),
        "train": train_seconds(trained, batch, training),
        "sync": sync_seconds(trained, generating),
        "offload": offload_seconds(trained, 2 * states) if on_policy else exactly(0.0),
    }


def step_of(row: dict[str, Any]) -> Interval | None:
    """Seconds of a step: in turns on policy, else the longer of generation and the rest."""
    parts = parts_of(row)
    if parts is None:
        return None
    rest = parts["infer"].plus(parts["train"])
    longer = Interval(*(max(pair) for pair in zip(parts["generate"], rest)))
    works = parts["generate"].plus(rest).plus(parts["offload"]) if row["policy"] == "On policy" else longer
    return works.plus(parts["sync"])


def table() -> list[str]:
    """The table of docs/performance.md."""
    lines = [
        "| release | system | accelerators | model | policy | measured | low | likely | high | likely / measured |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        step = step_of(row)
        figures = (
            "the model is not known | | | "
            if step is None
            else f"{step.low:.0f} | {step.likely:.0f} | {step.high:.0f} | {step.likely / row['step_seconds']:.2f}"
        )
        lines.append(
            f"| {row['release']} | {row['system']} | {row['gpus']:.0f} | {row['model']} | {row['policy']} | {row['step_seconds']:.0f} | {figures} |"
        )
    return lines


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a file beside this one."""
    return [json.loads(line) for line in (Path(__file__).parent / name).read_text().splitlines()]


TRAINED = rows_of("training_steps.jsonl")
"""prime-rl, benchmarks/README.md at 30bf494f: FSDP, layers recomputed, one sequence a micro batch; two of them make a step."""


def trained_of(row: dict[str, Any]) -> Interval:
    """Seconds of one micro batch of training, with its part of the optimizer's step."""
    speed, count = speed_of(row["system"]), row["accelerators"]
    assert speed is not None
    run = ModelRun(shape_of(MemoryInput(), known_model(row["model"])), Parallel(), count, speed)
    return train_seconds(run, SequenceBatch(2 * count, row["sequence"], exactly(0.0), 0), Training(FSDP, FULL)).times(0.5)


def trained_table() -> list[str]:
    """The table of training in docs/performance.md."""
    lines = [
        "| system | accelerators | model | trained | sequence | FlashAttention | measured | low | likely | high | likely / measured |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in TRAINED:
        its = trained_of(row)
        figures = f"{row['seconds']:.2f} | {its.low:.2f} | {its.likely:.2f} | {its.high:.2f} | {its.likely / row['seconds']:.2f}"
        name = row["model"].partition("/")[2]
        work = f"{name} | {row['trained']} | {row['sequence']} | {row['flash_attention']}"
        lines.append(f"| {row['system']} | {row['accelerators']} | {work} | {figures} |")
    return lines


UPDATED = rows_of("weight_updates.jsonl")


def update_of(row: dict[str, Any]) -> Interval:
    """Seconds in which the engines get the weights."""
    speed = speed_of(row["system"])
    assert speed is not None
    run = ModelRun(shape_of(MemoryInput(), known_model(row["model"])), Parallel(tp=8), row["accelerators"], speed)
    return sync_seconds(run, run)


def update_table() -> list[str]:
    """The table of weight updates in docs/performance.md."""
    lines = ["| system | accelerators | model | measured | low | likely | high | source |", "|---|---|---|---|---|---|---|---|"]
    for row in UPDATED:
        figures = " | ".join(f"{seconds:.1f}" for seconds in (row["seconds"], *update_of(row)))
        lines.append(f"| {row['system']} | {row['accelerators']} | {row['model'].partition('/')[2]} | {figures} | {row['source']} |")
    return lines


GENERATED: list[dict[str, Any]] = [json.loads(line) for line in (Path(__file__).parent / "dense_generation.jsonl").read_text().splitlines()]


def generation_of(row: dict[str, Any]) -> Interval:
    """Milliseconds in which an engine answers; of a single token those of its decode step alone."""
    speed = speed_of(row["system"])
    assert speed is not None
    run = ModelRun(shape_of(MemoryInput(), known_model(row["model"])), Parallel(tp=row["tp"]), row["tp"], speed)
    seconds = generate_seconds(run, SequenceBatch(row["sequences"], row["prompt"], exactly(row["response"]), row["response"]))
    if row["response"] == 1:
        prompt = infer_seconds(run, SequenceBatch(row["sequences"], row["prompt"], exactly(0.0), 0))
        seconds = Interval(*(whole - part for whole, part in zip(seconds, prompt)))
    return seconds.times(1000)


def generation_table() -> list[str]:
    """The table of dense models in docs/performance.md."""
    lines = [
        "| system | model | tp | sequences | prompt + answer | measured | low | likely | high | likely / measured |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in GENERATED:
        its, work = generation_of(row), f"{row['prompt']} + {row['response']}" if row["response"] > 1 else "one token"
        figures = f"{row['milliseconds']:.0f} | {its.low:.0f} | {its.likely:.0f} | {its.high:.0f} | {its.likely / row['milliseconds']:.2f}"
        lines.append(f"| {row['system']} | {row['model'].partition('/')[2]} | {row['tp']} | {row['sequences']} | {work} | {figures} |")
    return lines
