"""Settings that RLinf's validation refuses beside the placement, and missing ones that it reads."""

from __future__ import annotations

from typing import Any, Callable

import pytest
import yaml
from placewright.models.composition import Composer
from placewright.models.dialects.load import load
from placewright.models.dialects.load import read as load_text
from placewright.models.findings.finding import Finding, Severity
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.verify import verify

Read = Callable[..., Reading]
EMBODIED: dict[str, Any] = {
    "cluster": {"num_nodes": 1, "component_placement": {"actor,env,rollout,reward": "0-1"}},
    "runner": {"task_type": "embodied", "val_check_interval": -1},
    "algorithm": {"adv_type": "gae", "loss_type": "actor_critic"},
    "rollout": {"pipeline_stage_num": 1},
    "env": {"train": {"total_num_envs": 8, "group_size": 1}},
    "actor": {"training_backend": "fsdp", "model": {"add_value_head": True}},
}
OFFLINE: dict[str, Any] = {
    "cluster": {"num_nodes": 1, "component_placement": {"actor": "0"}},
    "runner": {"task_type": "offline", "val_check_interval": -1, "only_eval": False, "local_update_steps": 10, "max_steps": 100},
    "algorithm": {"gamma": 0.99},
    "actor": {"training_backend": "fsdp", "seed": 42, "micro_batch_size": 8, "global_batch_size": 8},
}
REASONING: dict[str, Any] = {
    "cluster": {"num_nodes": 1, "component_placement": {"actor,rollout,reward": "all"}},
    "runner": {"task_type": "reasoning", "seq_length": 2048},
    "algorithm": {"recompute_logprobs": True, "group_size": 8},
    "data": {"max_prompt_length": 1024, "rollout_batch_size": 64},
    "rollout": {"tensor_parallel_size": 1},
    "actor": {"training_backend": "megatron", "model": {"tensor_model_parallel_size": 1}},
}


def told(read: Read, base: dict[str, Any], settings: dict[str, Any]) -> list[Finding]:
    """Errors and warnings about the base with settings by dotted path; None takes one out."""
    root = yaml.safe_load(yaml.safe_dump(base))
    for path, value in settings.items():
        place, (*above, last) = root, path.split(".")
        for key in above:
            place = place.setdefault(key, {})
        place.pop(last, None)
        if value is not None:
            place[last] = value
    text = yaml.safe_dump(root, sort_keys=False).replace("'~'", "~")
    return [finding for finding in verify(read(text)).findings if finding.severity is not Severity.NOTE]


@pytest.mark.parametrize(
    ("base", "settings", "message"),
    [
        (EMBODIED, {"actor.model.add_value_head": False}, "needs `actor.model.add_value_head: true`"),
        (EMBODIED, {"runner.use_training_pipeline": True, "algorithm.adv_type": "grpo", "algorithm.group_size": 2}, "needs `gae`"),
        (EMBODIED, {"runner.val_check_interval": 5}, "there is no `env.eval` to evaluate in"),
        (EMBODIED, {"reward.use_reward_model": True, "reward.worker_type": "http"}, "`reward.worker_type` is `http`"),
        (
            EMBODIED,
            {
                "reward": {
                    "use_reward_model": True,
                    "worker_type": "api",
                    "api": {"api_base": "http://x"},
                    "model": {"model_type": "resnet"},
                }
            },
            "serves `buffered_vlm` alone",
        ),
        (OFFLINE, {"algorithm.gamma": "high"}, "`algorithm.gamma` is `high`, no number"),
        (OFFLINE, {"actor.seed": "now"}, "`actor.seed` is `now`, no number"),
        (EMBODIED, {"actor.fsdp_config.strategy": "FsDp3"}, "`actor.fsdp_config.strategy` is `FsDp3`, which is unknown"),
        (
            REASONING,
            {"actor.model.expert_model_parallel_size": 3, "actor.model.pipeline_model_parallel_size": 1},
            "expert groups of ep x tp x pp",
        ),
        (
            REASONING,
            {
                "actor.model.expert_model_parallel_size": 3,
                "actor.model.pipeline_model_parallel_size": 1,
                "actor.model.expert_tensor_parallel_size": 1,
            },
            "expert groups of ep x etp x pp = 3 x 1 x 1 = 3",
        ),
        (REASONING, {"actor.model.precision": "~"}, "`actor.model.precision` is null, which RLinf refuses with Megatron"),
        (EMBODIED, {"algorithm.adv_type": "opd", "algorithm.loss_type": "opd"}, "there is no `rollout.expert_model`"),
        (
            EMBODIED,
            {"algorithm.adv_type": "embodied_sac", "algorithm.loss_type": "embodied_sac", "algorithm.target_update_type": "some"},
            "`algorithm.target_update_type` is `some`, which is unknown",
        ),
        (REASONING, {"data.max_prompt_length": 2048}, "must be greater than `data.max_prompt_length` 2048"),
        (REASONING, {"actor.model.expert_tensor_parallel_size": 2}, "must be at least `actor.model.expert_tensor_parallel_size` 2"),
    ],
)
def test_a_refused_setting_is_one_error(read: Read, base: dict[str, Any], settings: dict[str, Any], message: str) -> None:
    errors = [finding.message for finding in told(read, base, settings) if finding.severity is Severity.ERROR]
    assert len(errors) == 1 and message in errors[0]


@pytest.mark.parametrize(
    ("base", "settings"),
    [
        (EMBODIED, {}),
        (EMBODIED, {"algorithm.loss_type": "actor", "actor.model.add_value_head": None}),
        (EMBODIED, {"runner.only_eval": True, "actor.model.add_value_head": False, "env.eval": {"total_num_envs": 8}}),
        (EMBODIED, {"actor.fsdp_config.strategy": "FsDp2", "algorithm.adv_type": "GAE"}),
        (EMBODIED, {"algorithm.adv_type": "opd", "algorithm.loss_type": "opd", "rollout.expert_model": {"model_path": "m"}}),
        (REASONING, {"actor.model.expert_model_parallel_size": 4, "actor.model.pipeline_model_parallel_size": 1}),
        (OFFLINE, {}),
        (OFFLINE, {"algorithm.gamma": "0.9", "actor.seed": "1_000"}),
        (REASONING, {}),
        (REASONING, {"actor.model.expert_tensor_parallel_size": 1}),
        (REASONING, {"actor.model.expert_model_parallel_size": 4, "actor.model.expert_tensor_parallel_size": "~"}),
    ],
)
def test_what_runs_is_no_error(read: Read, base: dict[str, Any], settings: dict[str, Any]) -> None:
    assert told(read, base, settings) == []


def test_a_value_head_that_may_come_from_the_model_is_a_warning(read: Read) -> None:
    (finding,) = told(read, EMBODIED, {"actor.model": {"model_type": "mlp_policy"}})
    assert finding.severity is Severity.WARNING


def test_a_misspelt_key_that_rlinf_misses_is_an_error(read: Read) -> None:
    (finding,) = told(read, EMBODIED, {"env.train": {"total_num_env": 8, "group_size": 1}})
    assert (finding.code, finding.severity, finding.help) == ("PW104", Severity.ERROR, "write `total_num_envs`")
    (beside,) = told(read, EMBODIED, {"env.train.total_num_env": 8})
    assert beside.severity is Severity.WARNING


def test_one_number_of_environments_is_one_error(read: Read) -> None:
    (finding,) = told(read, EMBODIED, {"env.train.total_num_envs": 7})
    assert (finding.subject, finding.also) == ("env", ("rollout",))


def test_environments_are_counted_without_stages_too(read: Read) -> None:
    assert [finding.code for finding in told(read, EMBODIED, {"env.train.total_num_envs": 7, "rollout": {"x": 1}})] == ["PW401"]


@pytest.mark.parametrize(("program", "severity"), [("train_embodied_agent.py", Severity.ERROR), ("mine.py", Severity.WARNING)])
def test_an_own_program_starts_what_is_not_placed(program: str, severity: Severity, tmp_path: Any) -> None:
    placed = {**EMBODIED, "cluster": {"num_nodes": 1, "component_placement": {"actor,env": "0-1"}}}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "job.yaml").write_text(yaml.safe_dump(placed), "utf-8")
    script = tmp_path / "run.sh"
    script.write_text(f"python {program} --config-path config --config-name job\n", "utf-8")
    assert [finding.severity for finding in load(script).findings if "`rollout` is not placed" in finding.message] == [severity]
    report = verify(load(tmp_path / "config" / "job.yaml", read_shorthand("1x2")))
    add = "Add a line for `rollout`, or verify the script that starts it"
    assert (report.verdict, [missing.add for missing in report.missing]) == ("incomplete", [add])


def test_defaults_that_are_not_read_may_place_the_rollout() -> None:
    data = {**EMBODIED, "defaults": ["elsewhere/placement"], "cluster": {"num_nodes": 1, "component_placement": {"actor,env": "0-1"}}}
    assert any("`rollout` is not placed in this file" in missing.fact for missing in verify(reader_of("0.3")(yaml.safe_dump(data))).missing)


@pytest.mark.parametrize(
    ("release", "reward", "verdict"),
    [
        ("0.3", {"use_reward_model": True}, "incomplete"),
        ("0.3", {"use_reward_model": True, "standalone_realworld": True}, "ok"),
        ("0.3", {"use_reward_model": False}, "ok"),
        ("0.2", {"use_reward_model": True}, "ok"),
    ],
)
def test_the_workers_of_a_reward_model_are_placed(release: str, reward: dict[str, bool], verdict: str) -> None:
    data = {**EMBODIED, "cluster": {"num_nodes": 1, "component_placement": {"actor,env,rollout": "0-1"}}, "reward": reward}
    report = verify(reader_of(release)(yaml.safe_dump(data)))
    assert (report.verdict, [missing.add[:25] for missing in report.missing]) == (
        verdict,
        ["Add a line for `reward`, "] * (verdict != "ok"),
    )


@pytest.mark.parametrize(("program", "severity"), [("train_embodied_agent.py", Severity.ERROR), ("mine.py", Severity.WARNING)])
@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"actor": {"training_backend": "fsdp", "model": {"add_value_head": True, "model_type": "my_policy"}}}, "my_policy"),
        (
            {
                "runner": {**EMBODIED["runner"], "use_training_pipeline": True},
                "algorithm": {"adv_type": "gae", "loss_type": "embodied_sac"},
            },
            "does not support `runner.use_training_pipeline`",
        ),
    ],
)
def test_an_own_program_may_take_what_the_program_of_rlinf_refuses(
    settings: dict[str, Any], text: str, program: str, severity: Severity, tmp_path: Any
) -> None:
    named = {**EMBODIED, **settings}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "job.yaml").write_text(yaml.safe_dump(named), "utf-8")
    script = tmp_path / "run.sh"
    script.write_text(f"python {program} --config-path config --config-name job\n", "utf-8")
    assert [finding.severity for finding in load(script).findings if text in finding.message] == [severity]


DYNAMIC = {
    "runner.enable_dynamic_batch_size": True, "runner.max_tokens_per_mbs": 2048, "runner.seq_length": 4096, "actor.model.encoder_seq_length": 4096,
}  # fmt: skip
FSDP = {"actor.training_backend": "fsdp"}


@pytest.mark.parametrize(
    ("release", "settings", "is_refused"),
    [
        ("0.1", DYNAMIC, True),
        ("0.1", {**DYNAMIC, "actor.model.context_parallel_size": 2}, False),  # RLinf multiplies by it
        ("0.1", {**DYNAMIC, **FSDP}, False),
        ("0.2", {**DYNAMIC, **FSDP}, True),
        ("0.3", {**DYNAMIC, "runner.max_tokens_per_mbs": 4096}, False),
        ("0.1", {"algorithm.logprob_forward_micro_batch_size": 0}, False),
        ("0.2", {"algorithm.logprob_forward_micro_batch_size": 0}, True),
        ("0.3", {"algorithm.logprob_forward_micro_batch_size": -1}, False),
        ("0.2", {**DYNAMIC, "runner.max_tokens_per_mbs": 4096, "algorithm.logprob_forward_micro_batch_size": 0}, False),
    ],
)
def test_sizes_of_micro_batches_are_refused_by_release(release: str, settings: dict[str, Any], is_refused: bool) -> None:
    errors = [finding for finding in told(reader_of(release), REASONING, settings) if finding.severity is Severity.ERROR]
    assert len(errors) == is_refused


def reader_of(release: str) -> Read:
    """Reader of a text for a release, at the level of training."""
    composer = Composer(frameworks=(f"rlinf=={release}",))
    return lambda text: load_text(Source("job.yaml", text), read_shorthand("1x8"), level="training", composer=composer)


@pytest.mark.parametrize(
    ("release", "tokens", "count"), [("0.3", 512, 0), ("a3816b59", 512, 1), ("a3816b59", 2048, 0), ("a3816b59", None, 0)]
)
def test_vllm_without_chunked_prefill_takes_whole_samples(release: str, tokens: int | None, count: int) -> None:
    engine = {"rollout.vllm": {"enable_chunked_prefill": False, "max_num_batched_tokens": tokens}, "rollout.rollout_backend": "vllm"}
    found = [finding.severity for finding in told(reader_of(release), REASONING, engine) if "max_num_batched_tokens" in finding.message]
    assert found == [Severity.WARNING] * count


def test_an_inference_below_its_tp_is_one_error(read: Read) -> None:
    placed = {"actor": "0-3", "rollout": "4-5", "inference": "6", "reward": "0-3"}
    settings = {"cluster.component_placement": placed, "actor.model.tensor_model_parallel_size": 2}
    assert len(told(read, REASONING, settings)) == 1
