"""Plans from a model and a cluster beside the splits that the frameworks' own examples of that model have.

Each row prices both by the same estimates (docs/performance.md): the example's ranks and parallel sizes, and what `plan` answers for
the same model, machines and batch. The examples name no machine: 8 H100 a node. Models of rewards are left out on both sides. An
example whose roles have accelerators of their own works in 16 batches.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping

import placewright as pw
import yaml
from placewright.models.dialects.native.from_model import native_file
from placewright.models.dialects.native.job_sizes import JobRequest
from placewright.models.training_job import FileLimits
from study import Rows, Study, plotting

QUICK, BATCHES = 3, 16


@dataclass(frozen=True)
class Example:
    """An example of a framework; `split`: role -> (ranks, degrees)."""

    file: str
    model: str
    machines: str
    prompts: int
    samples: int
    prompt: int
    response: int
    split: Mapping[str, tuple[str, Mapping[str, int]]] = field(default_factory=dict)


def together(last: int, engine: Mapping[str, int], trained: Mapping[str, int] = {}) -> dict[str, tuple[str, Mapping[str, int]]]:
    """All roles on all accelerators."""
    return {"rollout": (f"0-{last}", engine), "reference": (f"0-{last}", trained), "actor": (f"0-{last}", trained)}


ROLL, RLINF, VERL = "ROLL, examples/", "RLinf, examples/reasoning/config/math/", "verl, examples/"
DISTILLED = "deepseek-ai/DeepSeek-R1-Distill-Qwen"
EXAMPLES = (
    Example(f"{VERL}grpo_trainer/run_qwen2-7b.sh", "Qwen/Qwen2-7B-Instruct", "1x8xH100", 1024, 5, 512, 1024, together(7, {"tp": 2})),
    Example(f"{VERL}grpo_trainer/run_qwen2-7b_math_megatron.sh", "Qwen/Qwen2-7B-Instruct", "1x8xH100", 1024, 5, 1024, 1024, together(7, {"tp": 2}, {"tp": 2, "pp": 2})),
    Example(f"{ROLL}qwen2.5-7B-rlvr_megatron/rlvr_config.yaml", "Qwen/Qwen2.5-7B", "2x8xH100", 64, 8, 2048, 4096, {**together(15, {}), "rollout": ("0-11", {})}),
    Example(f"{ROLL}qwen3-8B-rlvr_megatron/rlvr_config.yaml", "Qwen/Qwen3-8B", "2x8xH100", 64, 8, 2048, 4096, {**together(15, {}), "rollout": ("0-11", {})}),
    Example(f"{ROLL}qwen3-30BA3B-rlvr_megatron/rlvr_config.yaml", "Qwen/Qwen3-30B-A3B-Base", "4x8xH100", 64, 8, 2048, 4096, {"rollout": ("0-23", {"tp": 2}), "reference": ("0-31", {"ep": 4}), "actor": ("0-31", {"pp": 2, "cp": 4, "ep": 4})}),
    Example(f"{ROLL}qwen3-235BA22B-rlvr_megatron/rlvr_config.yaml", "Qwen/Qwen3-235B-A22B", "32x8xH100", 64, 8, 2048, 4096, {"rollout": ("0-199", {"tp": 8}), "reference": ("0-255", {"pp": 8, "ep": 8}), "actor": ("0-255", {"tp": 4, "pp": 8, "ep": 8})}),
    Example(f"{RLINF}qwen2.5-1.5b-grpo-megatron.yaml", f"{DISTILLED}-1.5B", "16x8xH100", 512, 16, 1024, 27_648, together(127, {}, {"tp": 2})),
    Example(f"{RLINF}qwen2.5-1.5b-grpo-megatron-pipeline.yaml", f"{DISTILLED}-1.5B", "8x8xH100", 512, 16, 1024, 27_648, {"rollout": ("0-15", {}), "reference": ("16-23", {"tp": 2}), "actor": ("24-63", {"tp": 2})}),
    Example(f"{RLINF}qwen2.5-7b-grpo-megatron.yaml", f"{DISTILLED}-7B", "16x8xH100", 512, 32, 1024, 27_648, together(127, {"tp": 2}, {"tp": 4})),
    Example(f"{RLINF}qwen2.5-32b-grpo-megatron.yaml", f"{DISTILLED}-32B", "32x8xH100", 512, 32, 1024, 27_648, together(255, {"tp": 4}, {"tp": 8})),
)  # fmt: skip


def measure(full: bool) -> Rows:
    """One row for each example."""
    return [priced(example) for example in (EXAMPLES if full else EXAMPLES[:QUICK])]


def priced(example: Example) -> dict[str, object]:
    """Seconds an iteration of the example's split and of ours."""
    cluster = pw.cluster(example.machines)
    assert isinstance(cluster, pw.Cluster)
    request = JobRequest(example.model, example.prompts, example.response, samples=example.samples, prompt=example.prompt)
    text = native_file(request, cluster)
    answer = pw.solve(text)
    if answer.plan is None:
        text = native_file(request, cluster, FileLimits(one_pool=True))
        answer = pw.solve(text)
    job: dict[str, Any] = yaml.safe_load(text)
    if len({ends_of(ranks)[0] for ranks, _ in example.split.values()}) > 1:  # works batch by batch
        job["plan"] |= {"workflow": job["plan"]["workflow"].replace("=>", "->"), "batches": BATCHES}
    for role, (ranks, degrees) in example.split.items():
        hints = job["components"][role]
        del hints["accelerators"]
        hints |= {"placement": ranks, "parallel": dict(degrees)}
        for other, (others, _) in example.split.items():
            if other != role and ends_of(ranks)[0] == ends_of(others)[0] and ends_of(ranks) <= ends_of(others):
                hints.setdefault("colocate_with" if ranks == others else "within", []).append(other)
    own, ours = seconds_of(job), None if answer.plan is None else seconds_of(text, answer)
    plan = answer.plan
    split = {} if plan is None else {name: plan.assignment.count_held(name) for name in plan.components}
    return {
        "example": example.file,
        "accelerators": example.machines,
        "theirs": own,
        "ours": ours,
        "ours / theirs": own and ours and round(ours / own, 2),
        "our split": ", ".join(f"{name} {count}" for name, count in split.items()),
    }


def ends_of(ranks: str) -> tuple[int, int]:
    """First and last of ranks."""
    first, last = ranks.split("-")
    return int(first), int(last)


def seconds_of(job: str | Mapping[str, Any], answer: pw.Answer | None = None) -> float | None:
    """Seconds of an answer, or of given ranks; None if they are refused."""
    try:
        return round(pw.account(job, answer=answer, searches=0).planned.best.total / 1e9, 1)
    except (pw.UnusableInput, ValueError) as problem:
        print(problem, file=sys.stderr)
        return None


def draw(rows: Rows, path: Path) -> None:
    """Two bars an example."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    shown = [row for row in rows if row["ours / theirs"]]
    axes.barh([str(row["example"]).rpartition("/")[2] for row in shown], [float(str(row["ours / theirs"])) for row in shown])
    axes.axvline(1.0, linestyle="--")
    axes.invert_yaxis()
    axes.set(xlabel="seconds of our plan / seconds of the example's split, both estimated")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("plan_examples", measure, draw).main()
