"""Published steps, and what the model of time says of them.

NeMo-RL, docs/about/performance-summary.md at 7ea279ab, release 0.6. What the page does not say is assumed for all rows alike: prompts of
150 tokens, full recomputation, one sequence a micro batch, a reference policy; off policy half of the accelerators generate.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from placewright.models.estimate import DISTRIBUTED, MemoryInput
from placewright.models.memory_work import shape_of
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
MODELS = {"DeepSeek V3": "deepseek-ai/DeepSeek-V3", "Qwen3-235B": "Qwen/Qwen3-235B-A22B", "Qwen3-30B3A": "Qwen/Qwen3-30B-A3B"}
PROMPT = 150


def parts_of(row: dict[str, Any]) -> dict[str, Interval] | None:
    """Seconds of each part of a step; None of a model whose shape is not known here."""
    if row["model"] not in MODELS:
        return None
    speed, shape = speed_of(row["system"]), shape_of(MemoryInput(), known_model(MODELS[row["model"]]))
    assert speed is not None
    gpus, on_policy = int(row["gpus"]), row["policy"] == "On policy"
    share = gpus if on_policy else gpus // 2
    tp, cp, ep, pp = (int(part) for part in row["training_tp_cp_ep_pp_vpp"].strip("[]").split(",")[:4])
    engine = Parallel(tp=int(row["generation_tp_pp"].strip("[]").split(",")[0]))
    near = int(speed.domain) or 8
    trained, generating = (ModelRun(shape, degrees, share, speed, near) for degrees in (Parallel(tp=tp, pp=pp, cp=cp, ep=ep), engine))
    response = exactly(row["mean_sequence"] - PROMPT)
    batch = SequenceBatch(int(row["rollout_batch"]), PROMPT, response, int(row["max_sequence"]) - PROMPT)
    states = 12 * shape.total / share  # the optimizer, out and back
    return {
        "generate": generate_seconds(generating, batch, has_tail=row["policy"] != "8-step Off"),
        "infer": infer_seconds(trained, batch).times(2),
        "train": train_seconds(trained, batch, Training(DISTRIBUTED, steps=int(row["rollout_batch"] // row["train_batch"]))),
        "sync": sync_seconds(trained, generating, on_policy),
        "offload": offload_seconds(trained, 2 * states) if on_policy else exactly(0.0),
    }


def step_of(row: dict[str, Any]) -> Interval | None:
    """Seconds of a step: in turns on policy, else the longer of generation and the rest."""
    parts = parts_of(row)
    if parts is None:
        return None
    rest = parts["infer"].plus(parts["train"])
    works = parts["generate"].plus(rest).plus(parts["offload"]) if row["policy"] == "On policy" else parts["generate"].at_least(rest)
    return works.plus(parts["sync"])


def table() -> list[str]:
    """The table of docs/performance.md."""
    lines = [
        "| system | accelerators | model | policy | measured | low | likely | high | likely / measured |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        step = step_of(row)
        figures = (
            "the model is not known | | | "
            if step is None
            else f"{step.low:.0f} | {step.likely:.0f} | {step.high:.0f} | {step.likely / row['step_seconds']:.2f}"
        )
        lines.append(f"| {row['system']} | {row['gpus']:.0f} | {row['model']} | {row['policy']} | {row['step_seconds']:.0f} | {figures} |")
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
