"""Node group settings that make a process run other code: only the user may allow them."""

from __future__ import annotations

from typing import Collection, Iterator

from ...models.findings.finding import Finding, error
from ...models.placements.plan import Plan
from .inside.prepared import EXTENSION

NAMES = frozenset({"PATH", "BASH_ENV", "ENV", "IFS", "PERL5LIB", "NODE_OPTIONS", "GCONV_PATH", EXTENSION})
PREFIXES = ("LD_", "DYLD_", "PYTHON", "RAY_", "GIT_", "VLLM_PLUGINS", "NCCL_NET_PLUGIN", "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN")
"""Prefixes of variables from which loaders, Python, Ray, shells or plug-ins take code.

NAMES has the complete names of further ones, RLinf's among them.
"""
INTERPRETER = "python_interpreter_path"


def untrusted(plan: Plan, trusted: Collection[str]) -> Iterator[Finding]:
    """Yield a PW711 per code-running variable or interpreter not in `trusted`."""
    groups = {run.node_group for name in plan.components for run in plan.assignment.of(name)}
    for group in plan.cluster.declared:
        names = dict.fromkeys(name for config in group.env_configs for name, _ in config.env_vars)
        for name in names if group.label in groups else ():
            if is_dangerous(name) and name not in trusted:
                message = f"node group `{group.label}` sets `{name}`, which can make the workers run other code"
                yield error("PW711", group.label, message, help=f"if you trust the file, add `--trust-env {name}`", witnesses=(name,))
        if INTERPRETER not in trusted and group.label in groups and any(config.python_interpreter_path for config in group.env_configs):
            message = f"node group `{group.label}` names a `{INTERPRETER}`, which the workers would run in"
            yield error(
                "PW711", group.label, message, help=f"if you trust the file, add `--trust-env {INTERPRETER}`", witnesses=(INTERPRETER,)
            )


def is_dangerous(name: str) -> bool:
    """Return True if a variable of this name can make a process run other code."""
    return name.upper() in NAMES or name.upper().startswith(PREFIXES)
