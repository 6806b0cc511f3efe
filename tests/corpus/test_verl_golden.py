"""Every recorded configuration of verl: pools, world sizes and replicas as they were derived from its rules, apart from one table."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Iterator

import pytest
import yaml
from placewright.models.dialects import verl
from placewright.models.dialects.released import release_for
from placewright.models.findings.finding import Finding, Severity
from placewright.models.reading import Reading
from placewright.models.releases.choice import state_release
from placewright.models.releases.release import read_releases
from placewright.models.text.document import Document, Program
from placewright.models.text.source import Source
from placewright.planner.verify import verify

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "verl"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")

NULL = (
    "its script writes nothing for `trainer.nnodes`: verl multiplies a list by None, which raises a TypeError; the record takes the default"
)
OTHER_KEYS = "`main_generation` reads `rollout.tensor_model_parallel_size`; the record takes the default of `actor_rollout_ref.rollout`"
UNKNOWN = "its configuration is not among verl's, so what it does not write is not known; the record takes the defaults of `ppo_trainer`"
TWO_POOLS = "the recipe makes two pools (gkd/main_gkd.py: actor_pool and rollout_pool); the record takes it for one"
DELIBERATE = {
    "examples/slurm/ray_on_slurm.slurm": NULL,
    "examples/sapo_trainer/run_qwen30b_sapo.sh": NULL,
    "examples/gspo_trainer/run_qwen30b_gspo.sh": NULL,
    "examples/gspo_trainer/test_gspo_3b_math.sh": NULL,
    "examples/gspo_trainer/test_gspo_3b_math_slurm.sh": NULL,
    "examples/grpo_trainer/run_qwen3_4b_grpo_vllm_1k_npu.sh": "its record is a reading by patterns: `trainer.nnodes` is `$trainer_nnodes` in it",
    "examples/generation/run_deepseek7b_mutli_node.sh": OTHER_KEYS,
    "recipe/r1/run_r1_distill_qwen.sh": OTHER_KEYS,
    "verl/experimental/fully_async_policy/shell/dapo_30b_a3b_base_math_fsdp.sh": UNKNOWN,
    "tests/special_e2e/run_gsm8k_fsdp_sgl_multiturn_sf_tool.sh": UNKNOWN,
    "recipe/gkd/run_moonlight_dsv3_training.sh": TWO_POOLS,
    "recipe/gkd/test_qwen.sh": TWO_POOLS,
    "recipe/gkd/test_qwen_sglang.sh": TWO_POOLS,
}
"""Records that differ on purpose, and why."""

RELEASE = "b178a3cd"
"""The commit that the records were judged at."""


def records() -> Iterator[dict[str, Any]]:
    if CORPUS.is_dir():
        with gzip.open(CORPUS / "golden" / "overrides.jsonl.gz", "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def document_of(record: dict[str, Any]) -> Document:
    """The overrides of a record as a configuration, and the program that was started with them."""
    tree: dict[str, Any] = {}
    for key, value in record["overrides"].items():
        if key.startswith("--"):
            continue
        owner = tree
        *path, last = key.split(".")
        for name in path:
            owner = owner.setdefault(name, {})
            if not isinstance(owner, dict):
                break
        if isinstance(owner, dict):
            owner[last] = value
    source = Source("run.yaml", yaml.safe_dump(tree) if tree else "{}\n")
    overrides = record["overrides"]
    options = tuple((key, "$1" if value is None else str(value)) for key, value in overrides.items() if key.startswith("--n"))
    name = record.get("entry") or record["derived"].get("entry")
    program = Program(name, source.whole(), "", "", str(overrides.get("--config-name", "")), options) if name else None
    document = Document(source, source.root, program=program) if program else Document.of(source)
    table = read_releases(verl.RELEASES)
    return replace(document, release=state_release(table, next(release for release in table if release.name == RELEASE)))


def read(record: dict[str, Any]) -> Reading:
    document = document_of(record)
    return verl.read(replace(document, release=release_for(verl, document, ("verl==b178a3cd",))), None, "training")


def judged(record: dict[str, Any]) -> Iterator[Finding]:
    """What is found, but for keys that the records do not hold: of the overrides only those that placement depends on were recorded."""
    return (finding for finding in verify(read(record)).findings if not any(key in finding.message for key in NOT_RECORDED))


def numbers(reading: Reading, component: str) -> dict[str, object]:
    return {each.name: each.value for each in reading.derivations if each.component == component}


@pytest.mark.parametrize("record", [pytest.param(each, id=each["file"]) for each in records() if each["derived"]])
def test_what_a_script_starts_is_what_was_derived_from_it(record: dict[str, Any]) -> None:
    assert bool(wrong(record["derived"], read(record))) == (record["file"] in DELIBERATE), wrong(record["derived"], read(record))


NOT_RECORDED = (
    "log_prob_micro_batch_size",
    "use_remove_padding",
    "reward_model.micro_batch_size",
    "hybrid_engine",
    "rollout.name` is not set",
    "calculate_log_probs",
    "calculate_sum_pi_squared",
)
"""Words of findings about keys that scripts set and the records leave out; test_verl_itself.py judges them, on the scripts themselves."""


BOTH = "`actor.ppo_micro_batch_size`: the workers write it to `ppo_micro_batch_size_per_gpu` too, and refuse both"
FAIL = {
    "verl/experimental/fully_async_policy/shell/dapo_7b_math_fsdp2_4_12.sh": "2048 samples of a step on 12 ranks",
    "tests/special_e2e/ppo_trainer/run_single_gpu.sh": "`rollout.name=hf`: replica.py has servers of vllm, sglang and trtllm alone",
    "tests/special_e2e/ppo_trainer/run_single_gpu_with_engine.sh": "the same",
    "examples/tuning/1.5b/qwen2-1.5b_grpo-lora_1_h100_fsdp_vllm.sh": BOTH,
    "examples/tuning/7b/qwen2-7b_grpo-lora_1_h100_fsdp_vllm.sh": BOTH,
    "examples/tuning/70b/qwen2-72b_grpo-lora_8_h100_fsdp_vllm.sh": BOTH,
}
"""Scripts that were recorded as right and fail, and why."""


def test_nothing_is_an_error_that_was_recorded_as_right() -> None:
    for record in records():
        if record["derived"].get("ok") and record["file"] not in (*DELIBERATE, *FAIL):
            assert [finding.message for finding in judged(record) if finding.severity is Severity.ERROR] == [], record["file"]


def test_what_was_recorded_without_numbers_is_read_too() -> None:
    plain = [record for record in records() if not record["derived"]]
    assert len(plain) == 89
    for record in plain:
        assert read(record).dialect == "verl"


def wrong(derived: dict[str, Any], reading: Reading) -> list[str]:
    """What differs."""
    assert reading.problem is not None
    pools = {each.name: each.value for each in reading.derivations if not each.component}
    rollout, actor = numbers(reading, "rollout"), numbers(reading, "actor")
    expected, found = [], []

    def compare(what: str, theirs: object, ours: object) -> None:
        expected.append((what, theirs))
        found.append((what, ours))

    if derived["mode"] == "sft/torchrun":
        compare("world size", derived.get("world_size"), actor.get("world size"))
    elif derived["mode"] == "standalone_generation":
        compare("accelerators", sum(map(sum, derived["pools"].values())), sum(pools.values()))  # type: ignore[arg-type]
        compare("replicas", derived["num_replicas"], rollout.get("replicas"))
    else:
        theirs = {name: sum(sizes) for name, sizes in derived["pools"].items()}
        compare(
            "pools",
            theirs if "main_generation" not in derived["entry"] else sum(theirs.values()),
            pools if "main_generation" not in derived["entry"] else sum(pools.values()),
        )  # type: ignore[arg-type]
        compare("accelerators", derived["total_gpus"], sum(pools.values()))  # type: ignore[arg-type]
        compare("replica size", derived["infer_world_size"], rollout.get("replica size"))
        compare("replicas", derived["num_replicas"], rollout.get("replicas"))
        compare(
            "reward replicas",
            derived.get("reward_num_replicas"),
            numbers(reading, "reward_model").get("replicas") if "reward_num_replicas" in derived else None,
        )
        compare("rollout world size", derived["rollout_world_size"], rollout.get("world size"))
        if "main_generation" not in derived["entry"]:
            compare("world size", derived["world_size"], actor.get("world size"))
            compare("data parallel size", derived["actor_dp"], actor.get("data parallel size"))
    return [f"{what}: {theirs} recorded, {ours} here" for (what, theirs), (_, ours) in zip(expected, found) if theirs != ours]
