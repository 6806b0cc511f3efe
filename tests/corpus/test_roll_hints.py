"""Hints in ROLL's files: what is written passes ROLL's checks, said again plainly; for what is impossible there are no ids that pass.

CASES small random files; where the verdict is "impossible", all solid ranges are tried that the hints allow.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import product
from typing import Any, Iterator

import pytest
import yaml
from against_roll.checks import STEP, failures
from against_roll.configurations import Config, Question
from placewright.models.answer import IMPOSSIBLE
from placewright.models.dialects import roll
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.problem import Problem
from placewright.models.reading import Reading
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve
from sampling import examples

CASES, SIZE, MACHINES = examples(30), 4, "1x4"
AMOUNTS = (1, 2, 3, 4, "1-4", "2-3")


def a_file(source: random.Random, pipeline: str) -> Config:
    """Training and inference, each hinted or given, with degrees; a reference and a critic now and then."""
    engine = {"tensor_parallel_size": source.choice((1, 1, 2))}
    config: Config = {
        "rollout_batch_size": source.choice((12, 12, 8)),
        "num_return_sequences_in_group": 2,
        "adv_estimator": source.choice(("grpo", "grpo", "gae")) if pipeline == "agentic" else "grpo",
        "init_kl_coef": source.choice((0.0, 0.0, 0.1)),
        "async_generation_ratio": source.choice((0, 0, 1)),
        "actor_train": training(source),
        "actor_infer": {"strategy_args": {"strategy_name": "vllm", "strategy_config": engine}, "generating_args": {}},
    }
    if config["init_kl_coef"]:
        config["reference"] = {"strategy_args": {"strategy_name": "megatron_infer", "strategy_config": {}}}
    if config["adv_estimator"] == "gae":
        config["critic"] = training(source)
    if pipeline == "agentic":
        for name in ("train_env_manager", "val_env_manager"):
            config[name] = {"num_env_groups": 4, "group_size": 1, "tags": ["E"], "num_groups_partition": [4]}
        config |= {"val_batch_size": 4, "custom_envs": {"E": {"env_type": "x"}}}
    else:
        config["rewards"] = {"math": {"world_size": 1, "tag_included": ["m"]}}
    return config


def training(source: random.Random) -> Config:
    """A role that trains with Megatron."""
    degrees = {"tensor_model_parallel_size": source.choice((1, 1, 2)), "expert_model_parallel_size": source.choice((1, 1, 2))}
    arguments = {"per_device_train_batch_size": 1, "gradient_accumulation_steps": source.choice((1, 2))}
    return {"strategy_args": {"strategy_name": "megatron_train", "strategy_config": degrees}, "training_args": arguments}


def hints_of(source: random.Random, config: Config) -> dict[str, Any]:
    """Hints for most of the roles; the others get their ids."""
    hints: dict[str, Any] = {}
    names = [name for name in ("actor_train", "actor_infer", "reference", "critic") if name in config]
    for name in names:
        if source.random() < 0.25:
            first = source.randrange(SIZE)
            config[name]["device_mapping"] = list(range(first, source.randrange(first, SIZE) + 1))
            continue
        hints[name] = {"accelerators": source.choice(AMOUNTS)}
        if name != "actor_infer" and source.random() < 0.6:
            hints[name][source.choice(("colocate_with", "within"))] = "actor_train" if name == "reference" else "actor_infer"
    return hints


def read(text: str, level: str) -> Reading:
    return roll.read(Document.of(Source("run.yaml", text)), read_shorthand(MACHINES), level)


def wanted(problem: Problem, hints: dict[str, Any], ids: dict[str, list[int]]) -> bool:
    """Do the ids say what the hints ask for? Only those share that say so, or are given, or that the mode puts together."""
    together = {
        frozenset(relation.components) for relation in problem.job.relations if relation.reason and relation.kind in ("colocated", "subset")
    }
    for name, its in hints.items():
        if not problem[name].least <= len(ids[name]) <= problem[name].most:
            return False
        for key, holds in (("colocate_with", set.__eq__), ("within", set.__le__)):
            if key in its and not holds(set(ids[name]), set(ids[its[key]])):
                return False
        for other in ids.keys() - {name}:
            said = any(hints.get(a, {}).get(key) == b for a, b in ((name, other), (other, name)) for key in ("colocate_with", "within"))
            if set(ids[name]) & set(ids[other]) and not said and frozenset((name, other)) not in together:
                return False
    return True


def every(config: Config, hints: dict[str, Any], problem: Problem) -> Iterator[Config]:
    """The same file with all solid ranges that the hints allow."""
    ranges = [list(range(first, stop)) for first in range(SIZE) for stop in range(first + 1, SIZE + 1)]
    given = {name: role["device_mapping"] for name, role in config.items() if isinstance(role, dict) and "device_mapping" in role}
    for chosen in product(ranges, repeat=len(hints)):
        ids = {**given, **dict(zip(hints, chosen))}
        if wanted(problem, hints, ids):
            yield {**config, **{name: {**config[name], "device_mapping": its} for name, its in ids.items()}}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("pipeline", ["rlvr", "agentic"])
def test_what_is_solved_passes_and_what_is_impossible_has_no_ids(pipeline: str) -> None:
    source, verdicts = random.Random(7), Counter[str]()
    while verdicts.total() < CASES:
        level = source.choice(("placement", "training"))
        config = a_file(source, pipeline)
        hints = hints_of(source, config)
        if not hints:
            continue
        text = yaml.safe_dump({**Question(pipeline, config).written, "placewright": {"components": hints}}, sort_keys=False)
        reading = read(text, level)
        if verify(reading).errors or reading.problem is None:
            continue
        beside = {STEP} if level == "placement" else set()
        answer = solve(reading.problem, 2.0)
        verdicts[answer.verdict] += 1
        if answer.plan is not None:
            written = apply_edits(text, roll.write(reading, answer.plan.assignment))
            assert verify(read(written, level)).errors == (), written
            assert not failures(Question(pipeline, numbers(yaml.safe_load(written)))) - beside, written
        elif answer.verdict == IMPOSSIBLE:
            passing = [its for its in every(config, hints, reading.problem) if not failures(Question(pipeline, its)) - beside]
            assert not passing, f"{text}\n{json.dumps(passing[0])}\n{answer.findings}"
    print(f"\n{pipeline}: {dict(verdicts)}")
    assert {"optimal", IMPOSSIBLE} <= verdicts.keys()


def numbers(config: Config) -> Config:
    """The written file with its ids as lists: only texts of ranges and lists are written."""
    for role in config.values():
        if isinstance(role, dict) and isinstance(role.get("device_mapping"), str):
            role["device_mapping"] = [each for part in _parts(role["device_mapping"]) for each in part]
    return config


def _parts(text: str) -> Iterator[list[int]]:
    for part in text.replace(" ", "").replace("list(", "").replace(")", "").split("+"):
        if part.startswith("range("):
            yield list(range(*map(int, part.removeprefix("range(").split(","))))
        else:
            yield [int(each) for each in part.strip("[]").split(",")]
