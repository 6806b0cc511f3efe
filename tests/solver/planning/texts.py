"""Files that are written and solved, and two components that take turns."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.models.answer import Answer

ROLLOUT = "accelerators: 1-16, seconds: {8: 55}, memory: 60GiB, phase: generate"
ACTOR = "accelerators: 2-16, seconds: {8: 60, 16: 33}, parallel: {tp: 2}, memory: 70GiB, phase: train"


def solved(folder: Path, text: str) -> Answer:
    file = folder / "job.yaml"
    file.write_text(text)
    return pw.solve(str(file), sandbox=False)
