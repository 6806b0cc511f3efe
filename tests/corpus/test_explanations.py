"""Every number that explain tells of real configurations, against the frameworks' own answers and against plain arithmetic."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Iterator

import pytest
import yaml
from placewright.models.composition import Composer
from placewright.models.dialects import verl
from placewright.models.dialects.load import load
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.planner.accounting import explain
from placewright.report.explanation.data import render as to_json
from placewright.report.explanation.text import render as to_text
from placewright.solver.explaining.explain import Explanation
from test_verl_golden import DELIBERATE, NOT_RECORDED, document_of
from test_verl_golden import records as of_scripts

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")
RLINF = CORPUS / "rlinf"
Json = dict[str, Any]


Numbers = dict[tuple[str, str], Any]


@lru_cache(maxsize=1)
def of_rlinf() -> dict[str, Explanation]:
    """Every file of RLinf that places something, by its path in the repository, on nodes of 8."""
    found = {}
    for line in (RLINF / "placement_files.txt").read_text("utf-8").split():
        read = partial(load, RLINF / line, level="training")
        found[line.removeprefix("yaml/")] = explain(read(DeclaredNodes(8)), read)
    return found


def numbers(found: Explanation) -> Numbers:
    """(component, name) -> value."""
    return {(each.component, each.name): each.value for each in found.derivations}


def records() -> Iterator[tuple[Explanation, Json]]:
    """(the explanation of a file without errors, what the placement class of its task answered in RLinf)."""
    with gzip.open(RLINF / "golden" / "yaml_examples.jsonl.gz", "rt") as lines:
        for record in map(json.loads, lines):
            found = of_rlinf()[record["file"].removeprefix("./")]
            taken = record["output"]["ok"] and not found.report.errors and record["gpus_per_node"] == 8
            if taken and record["input"]["placement_class"] != "ComponentPlacement":
                yield found, record["output"]


@pytest.mark.slow
def test_no_file_of_rlinf_is_too_much_for_it() -> None:
    for found in of_rlinf().values():
        assert found.needs is not None or found.report.errors
        assert to_text(found).splitlines()[-1].startswith(found.report.file)
        assert json.loads(to_json([found]))["schema"] == 1
    assert len(of_rlinf()) == 369


def test_sizes_and_sharing_are_those_of_rlinf_itself() -> None:
    compared, files, unknown = 0, 0, set()
    for found, answer in records():
        if answer.get("placement_mode") == "AUTO":  # RLinf starts the actor on everything; told is its share when it has started
            continue
        told, held = numbers(found), dict[str, frozenset[tuple[int, int]]]()
        assert found.needs is not None and found.sharing is not None
        needs = {need.name: need for need in found.needs.components}
        for name, its in answer["components"].items():
            places = its["placements"]
            if needs[name].kind == "Accelerator":
                held[name] = frozenset((each["cluster_node_rank"], local) for each in places for local in each["local_hardware_ranks"])
                assert needs[name].accelerators == len(held[name]), found.report.file
            if told[name, "world size"] == "not known":
                unknown.add(found.report.file)
                continue
            assert told[name, "world size"] == len(places), found.report.file
            if len(places) > 1:
                counts = Counter(each["cluster_node_rank"] for each in sorted(places, key=lambda each: each["rank"]))
                assert str(told[name, "processes per node"]) == ", ".join(map(str, dict.fromkeys(counts.values()))), found.report.file
            compared += 1
        sizes = answer.get("sizes", {})
        for name, key in (("actor", "actor_dp_size"), ("rollout", "rollout_dp_size")):
            number = told.get((name, "data parallel size" if name == "actor" else "replicas"))
            if number is not None and key in sizes and needs[name].processes is not None:
                assert number == sizes[key], found.report.file
        used = frozenset[tuple[int, int]]().union(*held.values())
        assert found.needs.accelerators == len(used), found.report.file
        alike = {each.components for each in found.sharing.together}
        assert alike == {tuple(sorted((n for n in held if held[n] == its), key=list(needs).index)) for its in held.values()}
        files += 1
    assert (compared, files, len(unknown)) == (883, 308, 2)  # in two the degrees come from elsewhere


def whole(tree: Any, path: str, default: int | None = None) -> int | None:
    """A number of a YAML tree that is written as one; None where it is written otherwise."""
    for key in path.split("."):
        if not isinstance(tree, dict) or key not in tree:
            return default
        tree = tree[key]
    return tree if isinstance(tree, int) and not isinstance(tree, bool) else None


@pytest.mark.slow
def test_the_batches_of_rlinf_are_plain_arithmetic() -> None:
    prompted = acted = dealt = 0
    for path, found in of_rlinf().items():
        told, tree = numbers(found), yaml.safe_load((RLINF / "yaml" / path).read_text("utf-8"))
        ranks = told.get(("actor", "data parallel size"))
        if (samples := told.get(("actor", "samples per update"))) is not None:
            prompts, group = whole(tree, "data.rollout_batch_size"), whole(tree, "algorithm.group_size")
            parts, micro = whole(tree, "algorithm.n_minibatches", 1), whole(tree, "algorithm.training_batch_size_per_gpu", 1)
            if prompts and group and parts and micro:
                assert samples == prompts * group // parts
                each = told.get(("actor", "samples per process"), told.get(("actor", "samples per replica")))
                assert each is None or each == samples // ranks
                assert told.get(("actor", "micro batches per update"), each and each // micro) == (each and each // micro)
                prompted += each is not None
        elif ("actor", "updates per step") in told:
            total, all_ = whole(tree, "env.train.total_num_envs"), whole(tree, "actor.global_batch_size")
            steps, chunk = whole(tree, "env.train.max_steps_per_rollout_epoch"), whole(tree, "actor.model.num_action_chunks")
            epochs = whole(tree, "env.train.rollout_epoch", whole(tree, "algorithm.rollout_epoch", 1))
            if total and all_ and steps and chunk and epochs:
                assert told["actor", "samples per step"] == total * epochs * (steps // chunk)
                assert told["actor", "updates per step"] == total * epochs * (steps // chunk) // all_
                assert told["actor", "samples per process"] == all_ // told["actor", "world size"]
                acted += 1
        total, each = whole(tree, "env.train.total_num_envs"), told.get(("env", "environments per process of env.train.total_num_envs"))
        if total and each is not None:
            assert each == total // told["env", "world size"]
            dealt += 1
    assert (prompted, acted, dealt) == (61, 59, 44)


def left_to_right(formula: str) -> int | None:
    """The value of ``512 prompts x 8 of a group // 4``: numbers with an operator between each two; None of any other text."""
    steps = re.findall(r"\d+|//| x ", re.sub(r"\(.*?\)|,.*", "", formula))
    if len(steps) < 3 or any(step.isdigit() == bool(position % 2) for position, step in enumerate(steps)) or not len(steps) % 2:
        return None
    value = int(steps[0])
    for operator, number in zip(steps[1::2], map(int, steps[2::2])):
        value = value // number if operator == "//" else value * number
    return value


@pytest.mark.slow
def test_every_formula_gives_its_number() -> None:
    judged = {"rlinf": 0, "roll": 0, "verl": 0}
    for found in (*of_rlinf().values(), *(its for its, _ in of_roll()), *(its for its, _ in of_verl())):
        for each in found.derivations:
            if isinstance(each.value, int) and (value := left_to_right(each.formula)) is not None:
                assert value == each.value, f"{found.report.file}: {each}"
                judged[found.report.dialect] += 1
    assert min(judged.values()) > 1000


@lru_cache(maxsize=1)
def of_roll() -> list[tuple[Explanation, Json]]:
    """(the explanation of a file of ROLL, what ROLL's own code answered for it)."""
    found = []
    with gzip.open(CORPUS / "roll" / "golden" / "yaml_examples.jsonl.gz", "rt") as lines:
        for record in map(json.loads, lines):
            file = CORPUS / "roll" / "yaml" / record["id"]
            read = partial(load, file, level="training", composer=Composer((str(file.parent.parent),)))
            found.append((explain(read(), read), record))
    return found


# ROLL renames the roles of its distillation; told are the names that are written.
RENAMED = {"actor_train": "student_train", "actor_infer": "student_infer", "reference": "teacher"}
# The record creates an environment manager that these pipelines do not create.
NOT_CREATED = ("agent_rollout_rock_swe.yaml", "agentic_rollout_sokoban.yaml")


def test_sizes_are_those_of_roll_itself() -> None:
    compared = 0
    for found, record in of_roll():
        assert to_text(found).splitlines()[-1].startswith(found.report.file)
        if found.report.errors or not record["output"]["ok"]:
            continue
        told = numbers(found)
        for role, answer in record["output"]["roles"].items():
            head, _, tail = role.replace("reward-", "rewards.").partition(".")
            name = next(
                (
                    n
                    for n in (role.replace("reward-", "rewards."), f"{RENAMED.get(head, head)}.{tail}".strip("."))
                    if (n, "world size") in told
                ),
                "",
            )
            if role == "val_env_manager" and record["id"].endswith(NOT_CREATED):
                assert not name
                continue
            assert told[name, "world size"] == len(answer["ranks"]), (record["id"], role)
            compared += 1
        assert told.get(("", "num_nodes"), 1) == record["output"]["num_nodes"], record["id"]
    assert (len(of_roll()), compared) == (126, 507)


@lru_cache(maxsize=1)
def of_verl() -> list[tuple[Explanation, Json]]:
    """(the explanation of a recorded configuration of verl, the record), with the numbers that were derived from it."""
    found = []
    for record in of_scripts():
        if record["derived"]:
            read = partial(verl.read, document_of(record), level="training")
            found.append((explain(read(None), read), record))
    return found


def test_the_batches_of_verl_are_those_that_were_derived() -> None:
    batches = pools = 0
    for found, record in of_verl():
        told, derived = numbers(found), record["derived"]
        assert to_text(found).splitlines()[-1].startswith(found.report.file)
        assert found.needs is not None
        if record["file"] in DELIBERATE:
            continue
        errors = [error for error in found.report.errors if not any(key in error.message for key in NOT_RECORDED)]
        if derived.get("total_gpus") and not errors:
            assert found.needs.accelerators + found.needs.open == derived["total_gpus"], record["file"]
            pools += 1
        each = told.get(("actor", "samples per rank and update"))
        if each is not None and "normalized_mini_batch" in derived:
            assert each == derived["normalized_mini_batch"], record["file"]
            batches += 1
    assert (len(of_verl()), batches, pools) == (253, 216, 208)
