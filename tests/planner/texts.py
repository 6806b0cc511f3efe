"""Files that are written and solved, and two components that take turns."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.models.answer import Answer

ROLLOUT = "accelerators: 1-16, seconds: {8: 55}, memory: 60GiB, phase: generate"
ACTOR = "accelerators: 2-16, seconds: {8: 60, 16: 33}, parallel: {tp: 2}, memory: 70GiB, phase: train"
FOUR_IN_A_CIRCLE = """\
cluster: 2x8xH100
components:
  env: {phase: generate, processes: 4-16, accelerators_per_process: 1, seconds: {4: 60, 8: 33}, memory: 10GiB}
  rollout: {phase: generate, seconds: {8: 60}, memory: 60GiB, offloaded: 60GiB}
  actor: {phase: train, seconds: {8: 70}, memory: 50GiB, offloaded: 2GiB}
  critic: {phase: infer, seconds: {8: 20}, memory: 40GiB, offloaded: 2GiB, within: actor}
plan: {workflow: [env -> rollout, rollout -> env, rollout -> actor, actor => critic], batches: 8}
"""


def solved(folder: Path, text: str) -> Answer:
    file = folder / "job.yaml"
    file.write_text(text)
    return pw.solve(str(file), sandbox=False)
