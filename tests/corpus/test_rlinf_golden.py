"""What RLinf's own placement code answered, replayed: equal, different on purpose (with the reason), or wrong (never)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple

import pytest
import yaml
from against_rlinf.differences import REASONS
from placewright.models.dialects import rlinf
from placewright.models.findings.finding import Severity, UnusableInput
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Hardware, Node, accelerators
from placewright.models.machines.node_group import NODE, NodeGroup
from placewright.models.placements.placement import Placement, placements
from placewright.models.reading import Reading
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.runtime.compat.rlinf.strategies import (
    FlexiblePlacementStrategy,
    NodePlacementStrategy,
    PackedPlacementStrategy,
    PlacementStrategy,
)
from placewright.solver.verify import findings_of

GOLDEN = Path(__file__).parents[3] / "shared" / "corpus" / "rlinf" / "golden"
pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the corpus is not beside the repository")

Record = dict[str, Any]
STRATEGIES = {"packed": PackedPlacementStrategy, "flexible": FlexiblePlacementStrategy, "node": NodePlacementStrategy}
FIELDS = {"cluster_node_rank": "node_rank", "local_accelerator_rank": "local_accelerator_id", "node_group_label": "node_group"}


class Case(NamedTuple):
    """One thing that RLinf answered: a component or a strategy, with its Placements or None where it refused."""

    record: Record
    name: str
    theirs: list[Record] | None
    ours: list[Record] | None
    codes: tuple[str, ...]


class Difference(NamedTuple):
    """A way to differ on purpose, by the name of its reason, and which cases it covers."""

    name: str
    covers: Callable[[Case], bool]


def _without(records: list[Record] | None, *fields: str) -> list[Record] | None:
    return records and [{key: value for key, value in record.items() if key not in fields} for record in records]


def _beyond_node(case: Case) -> bool:
    counts = [node.get("accelerators", 0) for node in case.record["input"].get("nodes", ())]
    outside = bool(counts) and any(
        rank >= counts[each["cluster_node_rank"]] for each in case.theirs or () for rank in each["local_hardware_ranks"]
    )
    return outside and case.ours is None and case.codes == ("PW203",)


def _text_zero(case: Case) -> bool:
    field = "local_accelerator_rank"
    zeros = [each[field] for each in case.theirs or ()]
    numbers = [each[field] for each in case.ours or ()]
    same = _without(case.theirs, field) == _without(case.ours, field)
    return "0" in zeros and same and [int(each) for each in zeros] == numbers


def _listed(key: str) -> Callable[[Case], bool]:
    def covers(case: Case) -> bool:
        text = json.dumps(case.record["input"].get("config", {}).get("cluster", {}))
        return case.theirs is None and case.ours is not None and f'"{key}": [' in text

    return covers


def _starts_in_auto(case: Case) -> bool:
    section = case.record["input"].get("config", {}).get("cluster", {})
    return bool(section.get("auto_scheduler")) and case.name in ("actor", "rollout") and 0 < len(case.ours or ()) < len(case.theirs or ())


def _keeps_group(case: Case) -> bool:
    placed = case.record["input"].get("config", {}).get("cluster", {}).get("component_placement", {})
    packed = case.record["input"].get("placement_class") in TASKS
    grouped = any(isinstance(value, dict) and "node_group" in value for value in placed.values())
    return packed and grouped and len(case.ours or ()) == len(case.theirs or ()) > 0


def _nameless(case: Case) -> bool:
    return case.name == "" and case.theirs is not None and case.ours is None


def _more_robots(case: Case) -> bool:
    if case.theirs is not None or case.ours != [] or case.codes or "resolved" not in case.record["output"]:
        return False
    nodes = {group["label"]: group["node_ranks"] for group in case.record["output"]["resolved"]["groups"]}
    declared = case.record["input"].get("config", {}).get("cluster", {}).get("node_groups") or ()
    robots = [(nodes[g["label"]], g["hardware"]["configs"]) for g in declared if g.get("hardware", {}).get("type", "Turtle2") != "Turtle2"]
    return any(set(ranks) - {config["node_rank"] for config in configs} for ranks, configs in robots)


def _profiles(case: Case) -> bool:
    section = case.record["input"].get("cluster") or {}
    return case.theirs is None and case.ours is not None and isinstance(section.get("profiling"), dict)


DIFFERENCES = (
    Difference("number-not-text", _text_zero),
    Difference("off-by-one", _beyond_node),
    Difference("nameless", _nameless),
    Difference("auto-share", _starts_in_auto),
    Difference("kept-group", _keeps_group),
    Difference("env-robots", _more_robots),
    Difference("listed-ranks", _listed("node_ranks")),
    Difference("listed-groups", _listed("node_group")),
    Difference("profiler-options", _profiles),
)  # fmt: skip

# The tasks whose programs use the classes for model parallel training.
TASKS = {"ModelParallelComponentPlacement": "reasoning", "ModelParallelEvalComponentPlacement": "reasoning_eval"}

# What RLinf says where it refuses a mode, and the code that we must give for it.
REFUSALS = {
    "GPUs must be specified": "PW123",
    "must not be specified": "PW123",
    "must be continuous": "PW205",
    "must be less than or equal to": "PW208",
    "must be divisible": "PW208",
    "neither": "PW211",
    "does not match either": "PW211",
}


def records(name: str) -> Iterator[Record]:
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def machines(record: Record) -> Cluster:
    """The cluster of a record, without the groups that its own configuration declares."""
    given = record["input"]
    if "nodes" in given:
        return Cluster(tuple(Node(i, f"n{i}", accelerators(n["accelerators"], n["model"])) for i, n in enumerate(given["nodes"])))
    nodes = []
    for node in given["resolved"]["nodes"]:
        has = dict(node["hardware"])
        devices = accelerators(has.pop("Accelerator", 0), node["model"] or "GPU")
        hardware = tuple(Hardware(kind, (("number", str(i)),)) for kind, count in has.items() for i in range(count))
        nodes.append(Node(node["node_rank"], f"n{node['node_rank']}", devices, hardware))
    return Cluster(tuple(nodes))


def resolved_groups(record: Record) -> list[Record]:
    return [group for group in record["input"].get("resolved", {}).get("groups", ()) if group["label"] not in ("cluster", "node")]


def read(section: Record, cluster: Cluster, rest: Record | None = None) -> Reading:
    return rlinf.read(
        Document.of(Source("golden.yaml", yaml.safe_dump({**(rest or {}), "cluster": section}, width=1 << 30))), cluster, "placement"
    )


def told(placements: list[Placement]) -> list[Record]:
    """Our Placements under RLinf's names."""
    names = {ours: theirs for theirs, ours in FIELDS.items()}
    ours = ("rank", "node_rank", "placement_node_rank", "local_accelerator_id", "accelerator_type", "local_rank", "local_world_size",
            "visible_accelerators", "isolate_accelerator", "local_hardware_ranks", "node_group")  # fmt: skip
    found = []
    for placement in placements:
        values = {name: getattr(placement, name) for name in ours}
        found.append({names.get(name, name): list(v) if isinstance(v, tuple) else v for name, v in values.items()})
    return found


def strategy_case(record: Record) -> Case:
    given, output = record["input"], record["output"]
    codes: tuple[str, ...] = ()
    ours = None
    try:
        if given.get("cluster"):
            reading = read(given["cluster"], machines(record))
            codes = tuple(f.code for f in reading.findings if f.severity is Severity.ERROR)
            cluster = reading.problem.cluster if reading.problem else None
        else:
            groups = [NodeGroup(g["label"], tuple(g["node_ranks"]), g["hardware_type"] or NODE) for g in resolved_groups(record)]
            cluster = machines(record).with_groups(groups)
        if not codes and cluster is not None:
            strategy: PlacementStrategy = STRATEGIES[given["strategy"]](**given["args"])
            ours = told(strategy.get_placement(cluster, given["isolate"]))
    except UnusableInput as refused:
        codes = tuple(finding.code for finding in refused.findings)
    return Case(record, given["strategy"], output["placements"] if output["ok"] else None, ours, codes)


def component_cases(record: Record) -> Iterator[Case]:
    given, output = record["input"], record["output"]
    section = dict(given["config"]["cluster"])
    if extra := resolved_groups(record):
        declared = [
            {"label": g["label"], "node_ranks": ",".join(map(str, g["node_ranks"])), "ignore_hardware": g["hardware_type"] is None}
            for g in extra
        ]
        section.setdefault("node_groups", declared)
    task = TASKS.get(given["placement_class"])
    reading = read(section, machines(record), {**given["config"], "runner": {"task_type": task}} if task else None)
    errors = [finding for finding in findings_of(reading) if finding.severity is Severity.ERROR]
    codes = tuple(finding.code for finding in errors)
    if not output["ok"]:
        right = next((code for said, code in REFUSALS.items() if said in output["error"]), None) if task else None
        yield Case(record, "*", None, None if errors and (right is None or right in codes) else [], codes)
        return
    problem = reading.problem
    for name, theirs in output["components"].items():
        ours = None
        runs = problem.build_given().of(name) if problem else ()
        if problem and runs and not any(finding.subject in (name, "") for finding in errors):
            ours = told(placements(problem.cluster, runs, given["isolate"]))
        yield Case(record, name, theirs.get("placements") if theirs["ok"] else None, ours, codes)


def configuration_case(record: Record) -> Case:
    """A configuration alone: accepted or refused, and which nodes its groups have."""
    section, output = record["input"]["cluster"], record["output"]
    reading = read(section, Cluster(tuple(Node(i, f"n{i}", accelerators(8)) for i in range(64))))
    codes = tuple(f.code for f in reading.findings if f.severity is Severity.ERROR)
    ours, theirs = None, None
    if not codes and reading.problem is not None:
        ours = [{"label": g.label, "node_ranks": list(g.node_ranks)} for g in reading.problem.cluster.declared]
    if output["ok"]:
        theirs = [{"label": g["label"], "node_ranks": g["node_ranks"]} for g in output["config"]["node_groups"] or ()]
    return Case(record, "cluster", theirs, ours, codes)


def cases(name: str) -> Iterator[Case]:
    for record in records(name):
        if record["kind"].startswith("strategy"):
            yield strategy_case(record)
        elif record["kind"] == "config_only":
            section = dict(record["input"]["cluster"])
            record["input"]["cluster"] = {"component_placement": {}, **section}
            yield configuration_case(record)
        else:
            yield from component_cases(record)


def compared(name: str) -> tuple[int, list[Case]]:
    """How many answers of a file are equal, and the cases that differ."""
    equal, differing = 0, list[Case]()
    for case in cases(name):
        if case.theirs == case.ours:
            equal += 1
        else:
            differing.append(case)
    return equal, differing


FILES = (
    "unit_tests", "random_packed", "random_flexible", "random_node", "random_rankmap", "random_component", "random_modelparallel",
    "probes", "yaml_examples",
)  # fmt: skip


@pytest.mark.timeout(1500)
def test_every_answer_of_rlinf_is_ours_or_differs_on_purpose_and_every_difference_is_met() -> None:
    met = set[str]()
    for name in FILES:
        equal, differing = compared(name)
        covering = [(case, {each.name for each in DIFFERENCES if each.covers(case)}) for case in differing]
        wrong = [case for case, names in covering if not names]
        assert not wrong, "\n".join(
            f"{case.record['id']} {case.name}: {case.codes} {case.record['output'].get('error', '')}" for case in wrong
        )
        assert equal >= 40
        met.update(*(names for _, names in covering))
    assert met == {each.name for each in DIFFERENCES} <= REASONS.keys()
