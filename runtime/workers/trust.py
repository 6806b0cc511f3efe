"""Environment variables that make a process run other code: a file may name them, only the user may allow them."""

from __future__ import annotations

from typing import Collection, Iterator

from ...models.findings.finding import Finding, error
from ...models.placements.plan import Plan

NAMES = frozenset({"PATH", "BASH_ENV", "ENV", "IFS", "PERL5LIB", "NODE_OPTIONS", "GCONV_PATH"})
PREFIXES = ("LD_", "DYLD_", "PYTHON", "RAY_", "GIT_", "VLLM_PLUGINS", "NCCL_NET_PLUGIN", "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN")
"""What the dynamic loader, Python, Ray, shells and plug-in loaders take code from."""


def untrusted(plan: Plan, trusted: Collection[str]) -> Iterator[Finding]:
    """A PW711 for each variable of the plan's node groups that runs other code and is not in `trusted`."""
    groups = {run.node_group for name in plan.components for run in plan.assignment.of(name)}
    for group in plan.cluster.declared:
        names = dict.fromkeys(name for config in group.env_configs for name, _ in config.env_vars)
        for name in names if group.label in groups else ():
            if is_dangerous(name) and name not in trusted:
                message = f"node group `{group.label}` sets `{name}`, which can make the workers run other code"
                yield error("PW711", group.label, message, help=f"if you trust the file, add `--trust-env {name}`", witnesses=(name,))


def is_dangerous(name: str) -> bool:
    """Can a variable of this name make a process run code that it would not run otherwise?"""
    return name.upper() in NAMES or name.upper().startswith(PREFIXES)
