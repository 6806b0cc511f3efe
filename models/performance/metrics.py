"""Seconds of phases in what frameworks already write: step metrics, profiles, benchmarks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median
from typing import Iterator, Mapping, NamedTuple, Sequence

from ..findings.finding import UnusableInput, error
from ..roles import ACTOR, CRITIC, INFERENCE, REFERENCE, ROLLOUT

MAX_BYTES = 64 << 20
_MOST = 1e12
"""Numbers above, infinite ones among them, are left out."""
_NAMES: Mapping[str, tuple[str, ...]] = {
    ROLLOUT: ("timing_s/gen", "time/step_generate", "time/step_rollout", "rollout_cost"),
    REFERENCE: ("timing_s/ref", "time/ref_log_probs_values"),
    INFERENCE: ("timing_s/old_log_prob", "time/old_log_probs", "time/step_old_log_probs_values", "inference_cost"),
    ACTOR: ("timing_s/update_actor", "time/step_train", "actor_cost"),
    CRITIC: ("timing_s/update_critic",),
}
"""Role -> names of its seconds.

verl, verl/trainer/ppo/ray_trainer.py (marked_timer); ROLL, roll/pipeline/rlvr/rlvr_pipeline.py and
agentic/agentic_pipeline.py (metrics); RLinf, toolkits/auto_placement (profile_data).
"""
_IN_LOG = re.compile(
    r"((?:timing_s|time)/[\w/]{1,60})['\"]?\s*[:=]\s*(?:np\.float64\()?([0-9]{1,8}(?:\.[0-9]{1,24})?(?:e[+-]?[0-9]{1,2})?)(?!\.?[0-9]|e)"
)
_STEP = "timing_s/step"


class Benchmark(NamedTuple):
    """Run of vLLM's benchmark: requests, tokens of a prompt and of an answer, seconds."""

    requests: int
    prompt: float
    response: float
    seconds: float


def read_rows(path: str | Path) -> list[dict[str, float]]:
    """Return the numbers of each step of a file. Raises UnusableInput if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(MAX_BYTES)
    except OSError as problem:
        message = f"`{path}` cannot be read: {problem.strerror or problem}"
        raise UnusableInput([error("PW001", "", message, help="name a file of metrics")]) from None
    return rows_of(text)


def rows_of(text: str) -> list[dict[str, float]]:
    """Return the numbers of each step: of JSON lines, of a JSON document, or of a log."""
    documents = _documents(text)
    return [row for document in documents if (row := dict(_numbers(document)))] or [
        row for line in text.splitlines() if (row := {name: float(number) for name, number in _IN_LOG.findall(line)})
    ]


def _documents(text: str) -> list[object]:
    """Return the JSON document of a text, or those of its lines."""
    try:
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    except (ValueError, RecursionError):
        pass
    documents: list[object] = []
    for line in text.splitlines():
        try:
            documents.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return documents


def _numbers(document: object, before: str = "") -> Iterator[tuple[str, float]]:
    """Yield (name, number), of nested maps with names joined by a slash."""
    for name, value in document.items() if isinstance(document, dict) else ():
        whole = f"{before}{name}"
        if isinstance(value, dict) and whole.count("/") < 4:
            yield from _numbers(value, "" if name in ("data", "metrics", "profile_data") else f"{whole}/")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield from [(whole, float(value))] if abs(value) <= _MOST else ()


def seconds_by_role(rows: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, int]]:
    """Return role -> (median seconds, steps), without a first step that warms up."""
    seconds = {}
    for role, names in _NAMES.items():
        values = [row[name] for row in rows for name in names if row.get(name, 0) > 0]
        steady = values[1:] if len(values) > 2 else values
        if steady:
            seconds[role] = (median(steady), len(steady))
    return seconds


def benchmarks(rows: Sequence[Mapping[str, float]]) -> list[Benchmark]:
    """Return the runs of `vllm bench serve` (vllm/benchmarks/serve.py) among the rows."""
    return [
        Benchmark(
            int(row["completed"]),
            row["total_input_tokens"] / row["completed"],
            row["total_output_tokens"] / row["completed"],
            row["duration"],
        )
        for row in rows
        if all(row.get(name, 0) > 0 for name in ("completed", "total_input_tokens", "total_output_tokens", "duration"))
    ]
