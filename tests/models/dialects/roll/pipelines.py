"""Small pipelines of ROLL, read, and what is told of them."""

from __future__ import annotations

import json
from typing import Any

import yaml
from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Finding
from placewright.models.findings.span import apply_edits
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import seats
from placewright.models.reading import Reading
from placewright.models.text.source import Source

Config = dict[str, Any]
MEGATRON = {"strategy_args": {"strategy_name": "megatron_train"}}
VLLM = {"strategy_args": {"strategy_name": "vllm", "strategy_config": {"tensor_parallel_size": 2}}}
RLVR: Config = {
    "adv_estimator": "grpo",
    "init_kl_coef": 0,
    "actor_train": {**MEGATRON, "device_mapping": "list(range(0,8))"},
    "actor_infer": {**VLLM, "device_mapping": "list(range(0,8))"},
    "rewards": {"math": {"world_size": 4}},
}
ENVIRONMENT = {"num_env_groups": 6, "group_size": 4, "max_env_num_per_worker": 8, "tags": ["a", "b"], "num_groups_partition": [2, 4]}
AGENTIC: Config = {**{key: RLVR[key] for key in RLVR if key != "rewards"}, "train_env_manager": ENVIRONMENT, "val_env_manager": ENVIRONMENT}


def of(config: Config | str, cluster: str | Cluster | None = None, level: str = "placement", release: str = "") -> Reading:
    text = config if isinstance(config, str) else yaml.safe_dump(json.loads(json.dumps(config)), sort_keys=False, width=1 << 20)
    machines = read_shorthand(cluster) if isinstance(cluster, str) else cluster
    composer = Composer(frameworks=(f"roll=={release}",) if release else ())
    return read(Source("train.yaml", text), machines, "roll", level, composer)


def changed(config: Config, **blocks: Any) -> Config:
    """The configuration with these blocks merged into it; None takes one out."""
    found = json.loads(json.dumps(config))
    for name, block in blocks.items():
        if block is None:
            found.pop(name, None)
        elif isinstance(block, dict) and isinstance(found.get(name), dict):
            found[name] = {key: value for key, value in {**found[name], **block}.items() if value != "OUT"}
        else:
            found[name] = block
    return found


def sizes(reading: Reading) -> dict[str, int]:
    assert reading.problem is not None
    return {name: reading.problem.build_given().world_size(name) for name in reading.problem.build_given().runs}


def where(reading: Reading, name: str) -> list[list[tuple[int, int]]]:
    assert reading.problem is not None
    return [[seat for seat, _, _ in its] for _, its in seats(reading.problem.build_given().of(name))]


def said(reading: Reading) -> list[tuple[str, str, str]]:
    return [(finding.code, finding.severity.value, finding.subject) for finding in reading.findings]


def the(reading: Reading, code: str) -> Finding:
    (found,) = (finding for finding in reading.findings if finding.code == code)
    return found


def mended(reading: Reading, code: str, cluster: str | None = None) -> Reading:
    """The file with the edit of the only finding of a code made."""
    edit = the(reading, code).edit
    assert edit is not None
    return of(apply_edits(reading.source.text, [edit]), cluster)
