"""Environment and Python interpreter of a node group, tried before anything starts.

Ray never reports an unusable interpreter: its process does not start, and blocks other starts on
that node for about a minute.
"""

from __future__ import annotations

from typing import Iterator, Mapping, Sequence

from ...models.findings.finding import Finding, error
from ...models.machines.cluster import Cluster
from ...models.machines.node_group import EnvConfig
from ...models.placements.placement import Placement
from ...models.placements.plan import Plan
from ..failure import LaunchFailed
from ..port.port import Port
from ..workers.inside.on_node import run_trials
from .inventory import run_on_nodes
from .matching import Match

_PATHS = ("PYTHONPATH", "LD_LIBRARY_PATH", "PATH", "LIBRARY_PATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "CPATH")


def find_env_vars(cluster: Cluster, placement: Placement) -> dict[str, str]:
    """Return the `env_vars` of a process's node group for its node.

    A list of paths is prepended to the existing value. Source of the merging: RLinf,
    rlinf/scheduler/cluster/utils.py (RLINF_PATH_ENV_MERGE_MODE, default append).
    """
    variables: dict[str, str] = {}
    for config in _configs(cluster, placement.node_group, placement.node_rank):
        variables |= dict(config.env_vars)
    return {name: f"{value}:${{{name}}}" if name in _PATHS and value else value for name, value in variables.items()}


TRIAL_LIMIT = 30.0
"""Seconds for an interpreter to import Ray; 1 to 2 s on an idle node."""
ANSWER_LIMIT = TRIAL_LIMIT + 15.0
_HELP = "name one with the cluster's own Ray and Python in `python_interpreter_path`, or take it out"
Trial = tuple[str, tuple[tuple[str, str], ...]]
"""Interpreter, and the variables of its workers."""


def interpreter(cluster: Cluster, placement: Placement) -> str | None:
    """Return the interpreter of the process's node group for its node; None: Ray's own."""
    paths = _find_names(cluster, placement.node_group, placement.node_rank)
    return paths[-1] if paths else None


def check_interpreters(port: Port, plan: Plan, matches: Mapping[int, Match]) -> None:
    """Check the interpreters of the plan, on all nodes at once.

    Raises LaunchFailed (PW720) with a finding for each that cannot run the workers of its node.
    Does nothing if none is named.
    """
    clashes = list(conflicts(plan))
    if clashes:
        raise LaunchFailed(*clashes)
    trials_of_nodes = _list_trials(plan)
    if not trials_of_nodes:
        return
    arguments = {
        matches[rank].ray.node_id: ([(path, dict(variables)) for path, variables in trials], TRIAL_LIMIT)
        for rank, trials in trials_of_nodes.items()
    }
    answers, missing = run_on_nodes(port, run_trials, arguments, ANSWER_LIMIT)
    faults = []
    for rank, trials in trials_of_nodes.items():
        node_id = matches[rank].ray.node_id
        reasons = [f"it could not be tried there: {missing[node_id]}"] * len(trials) if node_id in missing else answers[node_id]
        faults += [_unusable(matches[rank], path, reason) for (path, _), reason in zip(trials, reasons) if reason]
    if faults:
        raise LaunchFailed(*faults)


def conflicts(plan: Plan) -> Iterator[Finding]:
    """Yield a PW720 per node on which a component gets several interpreters."""
    for component in plan.components:
        groups: dict[int, dict[str, None]] = {}
        for run in plan.assignment.of(component):
            groups.setdefault(run.node, {})[run.node_group] = None
        for rank, labels in sorted(groups.items()):
            paths = list(dict.fromkeys(path for label in labels for path in _find_names(plan.cluster, label, rank)))
            if len(paths) > 1:
                name = plan.cluster.name(rank)
                listing = " and ".join(f"`{path}`" for path in paths)
                message = f"`{component}` has {len(paths)} interpreters on node {rank} (`{name}`): {listing}"
                yield error("PW720", component, message, help="name one for each node", witnesses=(rank, *paths))


def _list_trials(plan: Plan) -> dict[int, list[Trial]]:
    """Return node rank -> trials there, without duplicates."""
    trials_of_nodes: dict[int, dict[Trial, None]] = {}
    if any(config.python_interpreter_path for group in plan.cluster.declared for config in group.env_configs):
        for component in plan.components:
            for placement in plan.placements(component):
                path = interpreter(plan.cluster, placement)
                if path is not None:
                    trial = path, tuple(find_env_vars(plan.cluster, placement).items())
                    trials_of_nodes.setdefault(placement.node_rank, {})[trial] = None
    return {rank: list(trials) for rank, trials in sorted(trials_of_nodes.items())}


def _find_names(cluster: Cluster, label: str, rank: int) -> Sequence[str]:
    paths = (config.python_interpreter_path for config in _configs(cluster, label, rank))
    return [path for path in paths if path is not None]


def _configs(cluster: Cluster, label: str, rank: int) -> Sequence[EnvConfig]:
    group = cluster.groups.get(label)
    return [config for config in (group.env_configs if group else ()) if rank in config.node_ranks]


def _unusable(match: Match, path: str, reason: str) -> Finding:
    node = match.node
    message = f"{match.where}: the interpreter `{path}` cannot run its workers: {reason}"
    return error("PW720", node.name, message, help=_HELP, witnesses=(node.rank, path))
