"""What ROLL's own code answered, replayed: equal, different on purpose (with the reason), or wrong (never)."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple

import pytest
import yaml
from placewright.models.composition import Composer
from placewright.models.dialects.load import load, read
from placewright.models.findings.finding import Finding, Severity
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.machines.node_group import ACCELERATOR
from placewright.models.placements.assignment import seats
from placewright.models.placements.placement import placements
from placewright.models.problem import Problem
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.verify import verify

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "roll"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")

Record = dict[str, Any]
FILES = ("synthetic", "yaml_examples")
RELEASE = ("roll==8eb27cc2",)
"""The commit that answered."""

DISTILLED = {"actor_train": "student_train", "actor_infer": "student_infer", "reference": "teacher"}
"""The blocks that become the parts of on-policy distillation; components have the names of the blocks."""

CODES = {
    ("config", "SyntaxError"): {"PW103"},
    ("config", "TypeError"): {"PW103", "PW105"},
    ("config", "UnionMatchError"): {"PW105"},
    ("config", "WrongTypeError"): {"PW105"},
    ("config", "AttributeError"): {"PW101"},
    ("config", "ZeroDivisionError"): {"PW112"},
    ("config", "AssertionError"): {"PW111", "PW123", "PW403"},
    ("config", "ValueError"): {"PW208", "PW401"},
    ("resource_manager", "AssertionError"): {"PW102", "PW114"},
    ("cluster", "TypeError"): {"PW101", "PW103"},
    ("cluster", "KeyError"): {"PW103"},
    ("cluster", "AssertionError"): {"PW101", "PW123"},
    ("pipeline", "TypeError"): {"PW101"},
    ("model_update_group", "AssertionError"): {"PW205"},
    ("colocated_model_update", "AssertionError"): {"PW217"},
    ("colocated_model_update", "TypeError"): {"PW103"},
    ("partial_gpu", "AssertionError"): {"PW123", "PW204"},
    ("partial_gpu", "ValueError"): {"PW123"},
    ("backend(megatron-core)", "RuntimeError"): {"PW208"},
    ("backend(fsdp2)", "RuntimeError"): {"PW208"},
    ("backend(fsdp2)", "AssertionError"): {"PW403"},
}
"""(where ROLL stopped, the exception) -> the codes of which one must be found."""


class Case(NamedTuple):
    """One record, what is found of it, and in what both differ."""

    record: Record
    errors: tuple[Finding, ...]
    differs: tuple[str, ...]
    is_unread: bool

    @property
    def passed(self) -> bool:
        """Did ROLL find nothing wrong?"""
        return not self.record["output"]["errors"]

    @property
    def codes(self) -> set[str]:
        """The codes of what is wrong."""
        return {finding.code for finding in self.errors}

    def only(self, code: str, said: str) -> bool:
        """Is all that is wrong of this code, with these words in the message, where ROLL found nothing?"""
        return self.passed and bool(self.errors) and all(each.code == code and said in each.message for each in self.errors)


class Difference(NamedTuple):
    """A way to differ on purpose: the reason, and which cases it covers."""

    reason: str
    covers: Callable[[Case], bool]


def other_driver(case: Case) -> bool:
    """The record counts other devices on the driver's machine than its first node has."""
    cluster = case.record.get("cluster")
    return bool(cluster) and cluster["nodes"][0]["GPU"] != cluster.get("device_count", case.record["input"].get("num_gpus_per_node", 8))


DIFFERENCES = {
    "whole": Difference(
        "the record has the keys of placement alone; of the whole file ROLL's own classes refuse the same value",
        lambda case: case.passed and bool(case.record.get("full_output_errors")) and case.codes <= {"PW105", "PW123"},
    ),
    "mispaired": Difference(
        "ROLL hands weights to the engine of another GPU, and never notices; the record has it as a remark",
        lambda case: case.only("PW217", "sends weights to worker") and any("wrong infer worker" in each for each in case.record["output"]["lint"]),
    ),
    "not-run": Difference("ROLL runs the text as code; what is not on the whitelist is unknown", lambda case: case.is_unread and not case.errors),
    "float": Difference(
        "an id such as `0.0` becomes the name of a device in ROLL; read on, it is the number that was meant",
        lambda case: case.codes == {"PW103"} and all("whole numbers" in finding.message for finding in case.errors),
    ),
    "driver": Difference("ROLL counts devices on the driver's machine: here the first node, there what the file says", other_driver),
    "node-rank": Difference("NODE_RANK stands in the environment of the nodes, which no file tells", lambda case: "node_rank_env" in str(case.record.get("cluster"))),
    "logits": Difference(
        "students that get no logits fail at the first step, which the records do not reach", lambda case: case.only("PW403", "get no logits")
    ),
    "pairs": Difference(
        "a reference that takes more pairs than a step has is refused by the pipeline, which the records do not reach",
        lambda case: case.only("PW403", "pairs at once"),
    ),
}  # fmt: skip


def records(name: str) -> Iterator[Record]:
    with gzip.open(CORPUS / "golden" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def machines(record: Record) -> Cluster | None:
    """The nodes of a record; what other jobs hold is taken from the last one."""
    described = record["cluster"]
    if not described:
        return None
    total = sum(node["GPU"] for node in described["nodes"])
    missing = total - described.get("available", {}).get("GPU", total)
    nodes = [Node(i, f"n{i}", accelerators(each["GPU"]), cpus=each["CPU"]) for i, each in enumerate(described["nodes"])]
    last = nodes[-1]
    return Cluster((*nodes[:-1], Node(last.rank, last.name, last.accelerators, cpus=last.cpus, taken=(1 << missing) - 1)))


def reading_of(record: Record) -> Reading:
    if record["kind"] == "synthetic":
        text = yaml.safe_dump(record["input"], width=1 << 30)
        return read(Source("golden.yaml", text), machines(record), "roll", "placement", Composer(frameworks=RELEASE))
    return load(CORPUS / "yaml" / record["id"], None, "roll", "placement", Composer((str(CORPUS / "yaml"),), frameworks=RELEASE))


def told(problem: Problem | None) -> dict[str, Record]:
    """Where each role is, as the records say it."""
    found = {}
    for component in problem.components if problem else ():
        if component.runs is None:
            continue
        on_devices = problem is not None and problem.kind(component) == ACCELERATOR
        ranks = [[[node, None if index < 0 else index] for (node, index), _, _ in its] for _, its in seats(component.runs)]
        made = placements(problem.cluster, component.runs) if problem else []
        # ROLL sorts what an actor sees; a Placement keeps the order in which the process holds it.
        seen = [",".join(map(str, sorted(map(int, each.visible_accelerators)))) if on_devices else None for each in made]
        actors = [{"pg": each.node_rank, "visible": visible} for each, visible in zip(made, seen)]
        each = component.per_process if on_devices else 0
        found[component.name] = {"ranks": ranks, "world_size": len(ranks), "num_gpus_per_worker": each, "actors": actors}
    return found


def theirs(record: Record) -> dict[str, Record]:
    """The same as ROLL answered, as far as it came; the records of `agentic_rollout` start the wrong environments."""
    found = {}
    for key, role in record["output"]["roles"].items():
        if "ranks" not in role or (record["pipeline"] == "agentic_rollout" and key.endswith("env_manager")):
            continue
        group, dot, inner = key.partition(".")
        name = f"{DISTILLED.get(group, group)}{dot}{inner}" if record["pipeline"] == "opd" else key
        actors = [{"pg": each["pg"], "visible": each["visible"]} for each in role["actors"]]
        each = 0 if key.endswith("env_manager") else role["num_gpus_per_worker"]
        found[name] = {"ranks": role["ranks"], "world_size": role["world_size"], "num_gpus_per_worker": each, "actors": actors}
    return found


def case_of(record: Record) -> Case:
    reading = reading_of(record)
    report = verify(reading)
    errors = tuple(finding for finding in report.findings if finding.severity is Severity.ERROR)
    held = {each.rule for each in report.unchecked if each.why.startswith("judged once")}
    codes = {finding.code for finding in errors} | held
    answered, placed, differs = theirs(record), told(reading.problem), []
    for name, role in answered.items():
        differs += [f"{name}.{key}" for key in role if placed.get(name, {}).get(key) != role[key]]
    faults = record["output"]["errors"]
    if not faults:
        differs += ["verdict"] * bool(errors)
        differs += [f"{name} is not there" for name in placed if name not in answered and not name.endswith("env_manager")]
    differs += [f"{fault['stage']} {fault['type']}" for fault in faults if not codes & CODES[fault["stage"], fault["type"]]]
    nodes = record["output"].get("num_nodes")
    if nodes is not None and reading.problem is not None and len(reading.problem.cluster.nodes) != nodes:
        differs.append("num_nodes")
    return Case(record, errors, tuple(differs), any(each.rule == "PW103" and each.decides for each in report.unchecked))


@cache
def cases(name: str) -> tuple[Case, ...]:
    return tuple(case_of(record) for record in records(name))


@pytest.mark.parametrize("name", FILES)
def test_every_answer_of_roll_is_ours_or_differs_on_purpose(name: str) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for case in cases(name):
        reason = next((key for key, each in DIFFERENCES.items() if case.differs and each.covers(case)), None)
        counts["equal" if not case.differs else f"on purpose: {reason}" if reason else "wrong"] += 1
        if case.differs and reason is None:
            wrong.append(f"{case.record['id']}: {case.differs} {sorted(case.codes)} {case.record['output']['errors']}")
    print(f"\n{name}: {dict(counts)}")
    assert not wrong, "\n".join(wrong)
    assert counts["equal"] >= 120


def test_every_difference_is_met() -> None:
    met = {key for name in FILES for case in cases(name) if case.differs for key, each in DIFFERENCES.items() if each.covers(case)}
    assert met == DIFFERENCES.keys()


def test_the_pipeline_is_told_by_the_keys_alone() -> None:
    from placewright.models.configuration.notes import Notes
    from placewright.models.configuration.settings import Settings
    from placewright.models.dialects.roll.blocks import pipeline_of
    from placewright.models.dialects.roll.profile import Defaults, profile_of
    from placewright.models.text.interpolation import Interpolator

    close = {"opd_rlvr": "opd", "distill_vl": "distill", "rlvr_vl": "rlvr"}
    for record in records("yaml_examples"):
        document = Composer((str(CORPUS / "yaml"),)).compose(Source.read(CORPUS / "yaml" / record["id"]))
        found = pipeline_of(notes := Notes(document, "ROLL"), Settings(notes, Interpolator.of(document), Defaults(profile_of(None))), None)
        if found.name != "rlvr_rollout":  # tests of ROLL that build some clusters alone: the records take them for whole pipelines
            assert close.get(found.name, found.name) == record["pipeline"], record["id"]


def test_the_broken_example_is_named_with_its_reason() -> None:
    name = "examples/qwen2.5-7B-rlvr_megatron/rlvr_qwen2.5_7B_seperate.yaml"
    (case,) = (case for case in cases("yaml_examples") if case.record["id"] == name)
    assert [(finding.code, finding.subject) for finding in case.errors] == [("PW205", "actor_train"), ("PW205", "actor_infer")]
    assert all("all models are loaded" in note for finding in case.errors for note in finding.notes[:1])


def test_the_files_that_reserve_idle_devices_are_named() -> None:
    idle = {}
    for record in records("yaml_examples"):
        found = [each for each in verify(reading_of(record)).findings if each.code == "PW801"]
        said = [each for each in record["output"].get("lint", ()) if "reserved GPUs unused" in each]
        assert len(found) == len(said), record["id"]
        if said:
            idle[record["id"]] = (said[0].partition(" ")[0], f"{found[0].amount}/8")
    assert len(idle) == 4
    assert all(theirs == ours for theirs, ours in idle.values())
