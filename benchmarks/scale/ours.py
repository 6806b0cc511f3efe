"""placewright's side of the study `verify_scale`. Counted: reading, parsing and checking the file, its Assignment, the Placements."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import placewright as pw
from case import EACH, FLEXIBLE_STRATEGY, NODE, PACKED_STRATEGY, Case, Work, main

FOLDER = tempfile.TemporaryDirectory()


def prepare(case: Case) -> Work:
    if case.form in (PACKED_STRATEGY, FLEXIBLE_STRATEGY):
        return strategy
    file = Path(FOLDER.name) / f"{case.accelerators}.yaml"
    file.write_text(case.text, "utf-8")

    def work(case: Case) -> list[object]:
        report = pw.verify(file, f"{case.nodes}x{NODE}xH100")
        if report.plan is None:
            raise SystemExit(report.findings[0].message)
        return [each for name in report.plan.components for each in report.plan.placements(name)] if case.made else []

    return work


def strategy(case: Case) -> list[object]:
    cluster = pw.cluster(f"{case.nodes}x{NODE}xH100")
    if case.form == PACKED_STRATEGY:
        found: pw.PackedPlacementStrategy | pw.FlexiblePlacementStrategy = pw.PackedPlacementStrategy(0, case.accelerators - 1, EACH)
    else:
        found = pw.FlexiblePlacementStrategy([[rank] for rank in range(case.accelerators)])
    if case.made:
        return [*found.get_placement(cluster)]
    found.runs(cluster)
    return []


def told(placement: Any) -> tuple[object, ...]:
    return placement.rank, placement.node_rank, [*placement.local_hardware_ranks], [*placement.visible_accelerators]


if __name__ == "__main__":
    main(prepare, told)
