"""Asks RLinf's own tool about a case."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from auto.cases import Case

SCRIPT = Path(__file__).resolve().parent / "toolkit.py"


def asked(checkout: str, case: Case) -> dict[str, Any]:
    """Its answer; see toolkit.py. Ends the study where the tool does not start, as without scipy, which it fits its curves with."""
    command = [sys.executable, str(SCRIPT), checkout]
    done = subprocess.run(command, input=json.dumps(told(case)) + "\n", capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2]
        raise SystemExit(f"RLinf's tool in `{checkout}` does not start: {reason}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told(case: Case) -> dict[str, Any]:
    """The case as a question to the tool."""
    total, batch = case.accelerators, case.batch
    names = {name: "rollout" if name == "env_rollout" else name for name in case.chain}
    seconds: dict[str, Any] = {f"{name}_cost": cost / 100 for name, cost in case.costs.items()}
    seconds |= {
        f"{names[name]}_profile_data": {str(count): value / 100 for count, value in rows.items()} for name, rows in case.profiles.items()
    }
    seconds.setdefault("inference_cost", 0.0)  # the tool reads it of every reasoning job
    config = {
        "runner": {"task_type": case.task, "seq_length": 28672},
        "algorithm": {"group_size": batch.group, "n_minibatches": batch.updates},
        "data": {"rollout_batch_size": batch.prompts, "env_num": case.environments},
        "rollout": {"max_running_requests": case.running, "gpu_memory_utilization": 0.55},
        "profile_data": seconds,
    }
    graph = {name: [later] for name, later in zip(case.chain, case.chain[1:])} | {case.chain[-1]: []}
    worlds = dict.fromkeys(names.values(), total)
    sizes = {names[name]: total // case.replicas[name] for name in case.chain}
    return {"task": case.task, "accelerators": total, "graph": graph, "worlds": worlds, "sizes": sizes, "config": config}
