"""The arithmetic of the work in every configuration of RLinf, against RLinf's own asserts, written down here once more.

Files that were made for other machines do not divide on nodes of 8 accelerators: RLinf refuses them there as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from placewright.models.composition import Composer
from placewright.models.configuration.notes import Notes
from placewright.models.configuration.settings import Settings
from placewright.models.dialects.load import load
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.models.reading import Reading
from placewright.models.text.interpolation import Interpolator
from placewright.planner.verify import verify
from sampling import some

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "rlinf"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")

GROUPS = ("embodiment", "reasoning", "sft", "reward")
ARITHMETIC = ("PW401", "PW402", "PW403")
# 40 accelerators of tp 2 train 8192 samples: RLinf's megatron worker asserts that they divide among its 20 replicas.
REPLICAS = "qwen2.5-1.5b-grpo-megatron-pipeline.yaml"


class Values(NamedTuple):
    """The settings of a file, and how many processes its components have."""

    settings: Settings
    processes: dict[str, int]

    def __getitem__(self, path: str) -> Any:
        value = self.settings.at(path)
        return getattr(value, "value", value)


def files() -> list[Path]:
    return [CORPUS / line for line in (CORPUS / "placement_files.txt").read_text(encoding="utf-8").split()]


def read(file: Path, level: str, count: int = 8) -> Reading:
    roots = tuple(str(CORPUS / "yaml" / "examples" / group / "config") for group in GROUPS)
    return load(file, DeclaredNodes(count), level=level, composer=Composer(roots))


def values(reading: Reading) -> Values:
    assert reading.problem is not None
    given = reading.problem.build_given()
    interpolator = Interpolator.of(reading.document, ())
    return Values(Settings(Notes(reading.document, "RLinf"), interpolator), {name: given.world_size(name) for name in given.runs})


def raises(its: Values, level: str) -> bool:
    """Does RLinf fail by an assert? Values that the file leaves open are taken to be right."""
    task, only = its["runner.task_type"], bool(its["runner.only_eval"]) or its["runner.task_type"] == "embodied_eval"
    if task in ("embodied", "embodied_eval", "offline") and "env" in its.processes:
        interval = its["runner.val_check_interval"]
        evaluates = only or (interval is not None and interval > 0)
        phases = ["train"] * (task == "embodied" and not only) + ["eval"] * evaluates
        if any(_rollout_raises(its, phase) for phase in phases):
            return True
    if level == "training" and not task.endswith("_eval") and its["actor.training_backend"] == "fsdp":
        all_, micro = its["actor.global_batch_size"], its["actor.micro_batch_size"]
        if task in ("reasoning", "coding_online_rl"):
            all_ = its["data.rollout_batch_size"] * its["algorithm.group_size"] // (its["algorithm.n_minibatches"] or 1)
            micro = its["algorithm.training_batch_size_per_gpu"] or 1
        return isinstance(all_, int) and isinstance(micro, int) and all_ % (micro * its.processes["actor"]) != 0
    return False


def _rollout_raises(its: Values, phase: str) -> bool:
    total, stages, group = its[f"env.{phase}.total_num_envs"], its["rollout.pipeline_stage_num"], its[f"env.{phase}.group_size"] or 1
    env, rollout = its.processes["env"], its.processes.get("rollout", 1)
    if not isinstance(total, int) or not isinstance(stages, int) or not isinstance(group, int):
        return False
    each = total // env // stages
    if total % env or total % env % stages or not each or each % group:
        return True
    if its["runner.enable_decoupled_mode"]:
        return env < rollout
    if phase == "train" and its["runner.use_training_pipeline"] and (total % (env * stages) or total % its.processes["actor"]):
        return True
    return any(amount % others for amount in (total // stages, each * env) for others in (env, rollout))


@pytest.mark.parametrize("count", [8, 4])
@pytest.mark.parametrize("level", ["placement", "training"])
def test_arithmetic_is_refused_exactly_where_rlinf_asserts_it(level: str, count: int) -> None:
    judged = refused = 0
    every = some(files(), 4, 2 * (count == 8) + (level == "training"))
    for file in every:
        reading = read(file, level, count)
        if reading.problem is None or reading.failed:
            continue
        codes = {finding.code for finding in verify(reading).errors}
        expected = raises(values(reading), level) or (file.name == REPLICAS and level == "training")
        assert bool(codes & set(ARITHMETIC)) == expected, f"{file}: {sorted(codes)}"
        judged, refused = judged + 1, refused + expected
    print(f"\n{level} on nodes of {count}: {judged} files judged, {refused} refused as RLinf refuses them")
    assert judged > len(every) * 3 / 4
