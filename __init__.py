"""placewright: which process runs on which accelerator of which node.

Front door: the verbs ``load``, ``verify``, ``solve``, ``whatif``, ``replan``, ``alternatives``,
``account``, ``convert``, ``explain``, ``discover``, ``launch``, ``attach``, the classes
``Cluster``, ``Placement``, ``Plan``, ``Finding``, ``Report``, ``Reading``, ``Answer``,
``Converted``, RLinf's three placement strategies, and the exceptions ``UnusableInput``,
``LaunchFailed``. Everything is imported on first use.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # without `typing`, so that little is loaded before the first line of the command (cli/entry.py)
    from typing import Any

    __version__: str
    from .api import (
        account,
        alternatives,
        convert,
        discover,
        explain,
        explanation,
        launch,
        read_plan,
        replan,
        solve,
        verify,
        whatif,
        write_plan,
    )
    from .loading import cluster, load
    from .models.answer import Answer
    from .models.findings.finding import Finding, Severity, UnusableInput
    from .models.machines.cluster import Cluster
    from .models.placements.placement import Placement
    from .models.placements.plan import Plan
    from .models.problem import Problem
    from .models.reading import Reading
    from .models.report import Converted, Report
    from .runtime.compat.rlinf.strategies import FlexiblePlacementStrategy, NodePlacementStrategy, PackedPlacementStrategy
    from .runtime.detached.launches import attach
    from .runtime.failure import LaunchFailed

_HOMES = {
    "Answer": ".models.answer",
    "Cluster": ".models.machines.cluster",
    "Converted": ".models.report",
    "Finding": ".models.findings.finding",
    "FlexiblePlacementStrategy": ".runtime.compat.rlinf.strategies",
    "LaunchFailed": ".runtime.failure",
    "NodePlacementStrategy": ".runtime.compat.rlinf.strategies",
    "PackedPlacementStrategy": ".runtime.compat.rlinf.strategies",
    "Placement": ".models.placements.placement",
    "Plan": ".models.placements.plan",
    "Problem": ".models.problem",
    "Reading": ".models.reading",
    "Report": ".models.report",
    "Severity": ".models.findings.finding",
    "UnusableInput": ".models.findings.finding",
    "account": ".api",
    "alternatives": ".api",
    "attach": ".runtime.detached.launches",
    "cluster": ".loading",
    "convert": ".api",
    "discover": ".api",
    "explain": ".api",
    "explanation": ".api",
    "launch": ".api",
    "load": ".loading",
    "read_plan": ".api",
    "replan": ".api",
    "solve": ".api",
    "verify": ".api",
    "whatif": ".api",
    "write_plan": ".api",
}

__all__ = [
    "Answer", "Cluster", "Converted", "Finding", "FlexiblePlacementStrategy", "LaunchFailed", "NodePlacementStrategy",
    "PackedPlacementStrategy", "Placement", "Plan", "Problem", "Reading", "Report", "Severity", "UnusableInput",
    "account", "alternatives", "attach", "cluster", "convert", "discover", "explain", "explanation", "launch", "load", "read_plan", "replan",
    "solve", "verify", "whatif", "write_plan",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("placewright")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
