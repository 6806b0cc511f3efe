"""Short ways to write the configuration of a job with its settings."""

from __future__ import annotations

from typing import Any, Callable

import pytest
import yaml
from placewright.models.findings.finding import Finding, Severity
from placewright.models.reading import Reading
from placewright.planner.verify import verify

Job = Callable[..., Reading]


@pytest.fixture
def job(read: Callable[..., Reading]) -> Job:
    """A reasoning job: its components with their ranks, then settings by dotted path (`__` for the dot); sections that every job has are added."""

    def reading(components: dict[str, Any], machines: Any = "x8", nodes: int = 1, **settings: Any) -> Reading:
        root: dict[str, Any] = {"cluster": {"num_nodes": nodes, "component_placement": components}}
        for path, value in {"runner__task_type": "reasoning", **settings}.items():
            place = root
            *above, last = path.split("__")
            for key in above:
                place = place.setdefault(key, {})
            place[last] = value
        root.setdefault("actor", {}).setdefault("model", {})
        root.setdefault("rollout", {})
        if "algorithm" not in root:  # neither is looked at where the other is given
            root["algorithm"] = {"recompute_logprobs": False}
            root["rollout"].setdefault("return_logprobs", True)
        return read(yaml.safe_dump(root, sort_keys=False), machines)

    return reading


def found(reading: Reading, *severities: Severity) -> list[Finding]:
    """What verifying it says, of these severities (default: all)."""
    return [finding for finding in verify(reading).findings if not severities or finding.severity in severities]


def codes(reading: Reading) -> set[str]:
    """The codes of its errors."""
    return {finding.code for finding in found(reading, Severity.ERROR)}
