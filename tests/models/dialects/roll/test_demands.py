"""Settings of a role that its worker or its strategy refuses, by release."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.models.findings.finding import Severity

from .pipelines import AGENTIC, RLVR, Config, changed, of

CRITIC: Config = {
    "strategy_args": {"strategy_name": "fsdp2_train"},
    "model_args": {"model_type": "trl"},
    "device_mapping": "list(range(0,8))",
}
DPO: Config = {"chosen_key": "chosen", **{role: {**RLVR["actor_train"]} for role in ("actor_train", "reference")}}
BASES = {"rlvr": RLVR, "agentic": AGENTIC, "dpo": DPO}
LORA = {"model_args": {"lora_target": "all-linear"}}
PG_WORKER = "roll.pipeline.rlvr.actor_pg_worker.ActorPGWorker"
WHOLE = {"pretrain": "model", "exp_name": "job", "response_length": 1024}
DEVICES = {"device_mapping": "list(range(0,8))"}
INFERENCE = {"strategy_args": {"strategy_name": "megatron_infer"}, **DEVICES}
FITS = {"max_tokens_per_microbatch_in_train": 8192}
DYNAMIC = {"use_dynamic_batching_in_train": True, "max_tokens_per_microbatch_in_train": 2048}
ANSWERS = {"actor_infer": {"generating_args": {"temperature": 1.0}}}
PACKED = {"use_sequence_packing": True, "sequence_packing_args": {"algorithm": "load_balance"}}


def sglang(**config: Any) -> Config:
    return {"strategy_args": {"strategy_name": "sglang", "strategy_config": config}, "num_gpus_per_worker": 2}


def megatron(**config: Any) -> Config:
    return {"strategy_args": {"strategy_name": "megatron_train", "strategy_config": config}}


def vllm(**config: Any) -> Config:
    return {"strategy_args": {"strategy_name": "vllm", "strategy_config": {"tensor_parallel_size": 2, **config}}}


def packed(**limits: int) -> Config:
    return {"use_sequence_packing": True, "sequence_packing_args": {"algorithm": "load_balance", **limits}}


def list_findings(base: str, blocks: Config, release: str = "8eb27cc2") -> list[tuple[Severity, str]]:
    reading = of(changed(BASES[base], **blocks), "1x8", "training", release)
    return [(finding.severity, finding.message) for finding in reading.findings if finding.severity is not Severity.NOTE]


@pytest.mark.parametrize(
    ("base", "blocks", "message"),
    [
        ("rlvr", {"actor_train": {"max_concurrency": 2}}, "`actor_train.max_concurrency` 2, but the workers of actor_train do one thing"),
        (
            "rlvr",
            {"adv_estimator": "gae", "critic": {**CRITIC, "model_args": {"model_type": "auto_sequence_classification"}}},
            "a critic is no `auto_sequence_classification`",
        ),
        ("rlvr", {"actor_train": {"use_dynamic_batching_in_train": True}}, "needs `max_tokens_per_microbatch_in_train`"),
        ("rlvr", {"actor_train": {"router_replay": {"mode": "R2"}}}, "ROLL does not support `actor_train.router_replay.mode`: `R2`"),
        ("rlvr", {"actor_train": megatron(overlap_param_gather=True)}, "ROLL does not support `overlap_param_gather`"),
        (
            "rlvr",
            {"actor_train": megatron(variable_seq_lengths=True)},
            "`variable_seq_lengths` needs `moe_token_dispatcher_type: alltoall`",
        ),
        ("rlvr", {"actor_train": megatron(virtual_pipeline_model_parallel_size=2)}, "needs several pipeline stages"),
        ("rlvr", {"actor_train": PACKED}, "needs `max_packed_sequence_length_train`"),
        ("agentic", {"actor_infer": sglang(mem_fraction_static=0.7), "actor_train": LORA}, "ROLL updates no adapters"),
        ("dpo", {"reference": {"use_sequence_packing": True}}, "ROLL refuses `use_sequence_packing` in its dpo pipeline"),
        ("dpo", {"global_template": "qwen25"}, "`global_template` is `qwen25`, which is unknown"),
        ("dpo", {"actor_train": {"data_args": {"template": "vicuna"}}}, "`actor_train.data_args.template` is `vicuna`, which is unknown"),
        ("agentic", {"save_steps": 0}, "`save_steps` 0, and ROLL divides by it"),
        (
            "rlvr",
            {"actor_train": {"training_args": {"lr_scheduler_type": "polynomial"}}},
            "lr_scheduler_type` is `polynomial`, which is unknown",
        ),
        ("rlvr", {"actor_train": {"pg_variant": "grpo", "worker_cls": PG_WORKER}}, "`actor_train.pg_variant` is `grpo`, which is unknown"),
        ("rlvr", {"actor_infer": {"generating_args": {"top_p": 0}}}, "`actor_infer.generating_args.top_p` 0 must be above 0"),
        ("rlvr", {"actor_infer": {"generating_args": {"temperature": -1}}}, "temperature` -1 must be at least 0"),
        ("rlvr", {"actor_infer": vllm(gpu_memory_utilization=90)}, "gpu_memory_utilization` 90 must be at most 1"),
        ("rlvr", {"response_length": 0}, "`response_length` 0 must be at least 1"),
        ("rlvr", {"sequence_length": 1024, "prompt_length": 1024}, "so it must be greater than `prompt_length` 1024"),
        ("rlvr", {"max_running_requests": 0}, "`max_running_requests` 0: ROLL sends no request"),
        ("rlvr", {"rollout_batch_size": 0}, "`rollout_batch_size` 0: ROLL puts a batch together"),
        ("rlvr", {"tag_to_template": {"math": "qwen9"}}, "`tag_to_template` names the template `qwen9`, which is unknown"),
        ("rlvr", WHOLE, "into `generating_args` of actor_infer, which are not set"),
        ("rlvr", {**WHOLE, **ANSWERS, "validation": {"data_args": {}}}, "into `validation.generating_args`, which are not set"),
        ("agentic", {**WHOLE, "val_batch_size": -1}, "neither actor_infer nor `train_env_manager` has `generating_args`"),
        ("rlvr", {"async_generation_ratio": -1}, "`async_generation_ratio` -1 must be at least 0"),
        ("agentic", {"train_env_manager": {"num_env_groups": 0, "num_groups_partition": [0]}}, "divides by the number of environments"),
        (
            "rlvr",
            {"init_kl_coef": 0.2, "reference": {**INFERENCE, "infer_batch_size": 0}},
            "`reference.infer_batch_size` 0, and ROLL divides by it",
        ),
        (
            "rlvr",
            {"sequence_length": 4096, "actor_train": packed(max_packed_sequence_length_train=2048)},
            "must be at least `sequence_length` 4096, to which every sample is padded",
        ),
        (
            "rlvr",
            {"prompt_length": 2048, "response_length": 2048, "actor_train": packed(max_packed_sequence_length_train=2048)},
            "must be at least `prompt_length` + `response_length` = 4096",
        ),
    ],
)
def test_what_a_worker_refuses_is_an_error(base: str, blocks: Config, message: str) -> None:
    found = list_findings(base, blocks)
    assert [severity for severity, text in found if message in text] == [Severity.ERROR], found


@pytest.mark.parametrize(
    ("base", "blocks"),
    [
        ("rlvr", {"actor_infer": {"max_concurrency": 64}}),
        ("rlvr", {"adv_estimator": "gae", "critic": CRITIC}),
        ("rlvr", {"actor_train": {"use_dynamic_batching_in_train": True, "max_tokens_per_microbatch_in_train": 8192}}),
        ("rlvr", {"actor_train": {"router_replay": {"mode": "R3"}}}),
        ("rlvr", {"actor_train": megatron(variable_seq_lengths=True, moe_token_dispatcher_type="alltoall")}),
        ("rlvr", {"actor_train": megatron(virtual_pipeline_model_parallel_size=2, pipeline_model_parallel_size=2)}),
        ("rlvr", {"actor_train": {**PACKED, "worker_cls": "mine.Worker", "sequence_packing_args": {"algorithm": "none"}}}),
        ("rlvr", {"actor_train": {"max_concurrency": 2, "worker_cls": "mine.Worker"}}),
        ("rlvr", {"actor_infer": sglang(mem_fraction_static=None)}),
        ("dpo", {"reference": {"use_sequence_packing": False, "infer_batch_size": 8}}),
        ("dpo", {"global_template": "qwen3", "actor_train": {"data_args": {"template": "not read"}}, "reference": {"infer_batch_size": 8}}),
        ("rlvr", {"actor_train": {"data_args": {"template": "of images"}}}),
        ("rlvr", {"save_steps": 0, "max_steps": 1}),
        ("rlvr", {"actor_infer": sglang(mem_fraction_static=0.7), "sequence_length": 1024, "prompt_length": 1024}),
        ("agentic", {"save_steps": -1, "val_batch_size": -1, "actor_train": {"data_args": {"template": "not read"}}}),
        ("rlvr", {"actor_train": {"pg_variant": "topr", "worker_cls": PG_WORKER, "training_args": {"lr_scheduler_type": "cosine"}}}),
        ("rlvr", {"actor_train": {"pg_variant": "my own", "worker_cls": "mine.Worker"}}),
        ("rlvr", {"actor_infer": {**vllm(gpu_memory_utilization=0.9), "generating_args": {"top_p": 1, "temperature": 0}}}),
        ("rlvr", {"sequence_length": 1025, "prompt_length": 1024, "response_length": 0, "max_running_requests": 1}),
        ("agentic", {"max_running_requests": 0, "val_batch_size": -1}),
        ("rlvr", {"save_steps": 0, "max_steps": "${oc.env:MAX_STEPS}"}),
        ("rlvr", {"tag_to_template": {"math": "qwen3"}}),
        ("rlvr", {"rollout_batch_size": 0, "rollout_mock": {"enable": True}}),
        ("rlvr", {"ppo_epochs": 0, "actor_train": {"worker_cls": "mine.Worker"}}),
        ("agentic", {"val_batch_size": -1, "train_env_manager": {"tags": ["a", "a"], "num_groups_partition": [2, 4]}}),
        ("rlvr", {"sequence_length": 4096, "actor_train": packed(max_packed_sequence_length_train=4096)}),
        ("agentic", {"sequence_length": 4096, "val_batch_size": -1, "actor_train": packed(max_packed_sequence_length_train=2048)}),
        ("rlvr", {"sequence_length": 4096, "actor_train": {**packed(max_packed_sequence_length_train=2048), **DYNAMIC, **FITS}}),
        ("rlvr", {"sequence_length": 4096, "actor_train": {**packed(max_packed_sequence_length_train=2048), "worker_cls": "mine.Worker"}}),
        (
            "rlvr",
            {
                "sequence_length": "${oc.env:LENGTH}",
                "prompt_length": 2048,
                "response_length": 2048,
                "actor_train": packed(max_packed_sequence_length_train=2048),
            },
        ),
        (
            "rlvr",
            {
                "init_kl_coef": 0.2,
                "sequence_length": 1024,
                "reference": {**INFERENCE, **packed(max_packed_sequence_length_forward=1024), "infer_batch_size": 0},
            },
        ),
        ("rlvr", {**WHOLE, **ANSWERS, "validation": {"data_args": {}, "generating_args": {}}}),
        ("agentic", {**WHOLE, "val_batch_size": -1, "train_env_manager": {"generating_args": {}}}),
    ],
)
def test_what_a_worker_takes_is_no_finding(base: str, blocks: Config) -> None:
    assert list_findings(base, blocks) == []


def test_null_rewards_are_refused() -> None:
    text = "adv_estimator: grpo\ninit_kl_coef: 0\nrewards: ~\nactor_train: {device_mapping: 'list(range(0,8))'}\n"
    assert any("ROLL asks for the devices of each reward" in finding.message for finding in of(text, "1x8").findings)


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ({"actor_infer": sglang()}, "mem_fraction_static"),
        ({"adv_estimator": "gae", "critic": {**CRITIC, **megatron()}}, "ROLL has no value model for Megatron"),
        ({"sequence_length": 4096, "actor_train": DYNAMIC}, "a longer sample stops the training"),
        ({"ppo_epochs": 0}, "`ppo_epochs` 0: ROLL never trains the actor"),
    ],
)
def test_what_fails_after_all_is_placed_is_a_warning(blocks: Config, text: str) -> None:
    ((severity, message),) = list_findings("rlvr", blocks)
    assert (severity, text in message) == (Severity.WARNING, True)


def test_older_releases_have_no_router_replay() -> None:
    found = list_findings("rlvr", {"actor_train": {"router_replay": {"mode": "R2"}}}, "0.2.0")
    assert not any("ROLL does not support" in message for _, message in found)


@pytest.mark.parametrize(("config", "told_"), [({}, True), ({"load_format": "dummy"}, True), ({"load_format": "auto"}, False)])
def test_the_rollout_pipeline_loads_the_weights_itself(config: Config, told_: bool, tmp_path: Any) -> None:
    import yaml
    from placewright.models.dialects.load import load

    blocks = {"actor_infer": {"strategy_args": {"strategy_name": "vllm", "strategy_config": config}}, "actor_train": None}
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(changed(RLVR, **blocks)), "utf-8")
    script = tmp_path / "run.sh"
    script.write_text("python examples/start_rlvr_rollout_pipeline.py --config_path . --config_name job\n", "utf-8")
    assert any("must load them" in finding.message for finding in load(script).findings) is told_


def test_a_template_is_known_to_the_releases_that_have_it() -> None:
    for release, severities in (("", []), ("0.2.0", []), ("0.2.1", [Severity.ERROR])):
        found = list_findings("dpo", {"global_template": "qwen2_5_dpo", "reference": {"infer_batch_size": 8}}, release)
        assert [severity for severity, _ in found] == severities


@pytest.mark.parametrize(
    ("settings", "name"), [({}, "0.2.0"), ({"global_template": None}, "0.2.0"), ({"global_template": "qwen3"}, "8eb27cc2")]
)
def test_a_template_that_is_not_read_tells_no_release(settings: Config, name: str) -> None:
    train = {**RLVR["actor_train"], "data_args": {"template": "qwen2_5_dpo"}}
    release = of({**RLVR, **settings, "actor_train": train}).document.release
    assert release is not None and release.release.name == name


def test_a_number_instead_of_device_ids_is_one_error() -> None:
    for value in (8, "8"):
        assert [severity for severity, _ in list_findings("rlvr", {"actor_infer": {"device_mapping": value}})] == [Severity.ERROR]


def test_one_wrong_batch_is_one_error() -> None:
    environments = {"train_env_manager": {"group_size": 8, "num_env_groups": 6, "tags": ["a"], "num_groups_partition": [6]}}
    found = list_findings("agentic", {"rollout_batch_size": 1020, "val_batch_size": -1, **environments})
    assert len([text for severity, text in found if severity is Severity.ERROR and "1020" in text]) == 1


def test_a_negative_id_does_not_spoil_the_sum_of_the_others() -> None:
    found = list_findings("rlvr", {"actor_infer": {"device_mapping": "[-1,0,1,2]"}})
    assert ["is not a device id" in text for severity, text in found if severity is Severity.ERROR] == [True]


def test_dpo_is_recognised_by_its_own_keys() -> None:
    from placewright.models.composition import Composer
    from placewright.models.dialects.load import read
    from placewright.models.machines.shorthand import read_shorthand
    from placewright.models.text.source import Source

    role = "{strategy_args: {strategy_name: megatron_train}, device_mapping: 'list(range(0,8))'}"
    text = f"pretrain: /m\nbeta: 0.1\nactor_train: {role}\nreference: {role}\n"
    reading = read(Source("job.yaml", text), read_shorthand("1x8"), "auto", "training", Composer())
    assert reading.dialect == "roll" and not [item for item in reading.unchecked if item.decides]


def test_a_role_that_only_a_fork_may_start_is_not_passed_over() -> None:
    reading = of(changed(RLVR, judge={"device_mapping": "list(range(4,8))"}), "1x8")
    assert [item.subject for item in reading.unchecked if item.decides] == ["judge.device_mapping"]


def test_a_block_that_aliases_use_is_no_role() -> None:
    text = """
base: &base {device_mapping: "list(range(0,8))"}
adv_estimator: grpo
init_kl_coef: 0
actor_train: {<<: *base, strategy_args: {strategy_name: megatron_train}}
actor_infer: {<<: *base, strategy_args: {strategy_name: vllm}}
rewards: {math: {world_size: 1}}
"""
    reading = of(text, "1x8")
    assert [finding.message for finding in reading.findings] == [] and not [item for item in reading.unchecked if item.decides]


def test_older_releases_know_no_teacher_as_reference() -> None:
    teacher = {"device_mapping": "list(range(0,8))", **RLVR["actor_train"]}
    found = list_findings("rlvr", {"init_kl_coef": 0.2, "use_opd": True, "teacher": teacher}, "0.2.0")
    assert any("`reference` is not configured" in message for _, message in found)


@pytest.mark.parametrize(
    ("base", "blocks", "severity", "help_"),
    [
        ("rlvr", {"actor_train": {"training_args": {"gradient_accumulation_step": 4}}}, Severity.WARNING, "gradient_accumulation_steps"),
        ("rlvr", {"actor_train": {"model_args": {"ulyses_size": 2}}}, Severity.WARNING, "ulysses_size"),
        ("rlvr", {"actor_trian": RLVR["actor_train"], "actor_train": None}, Severity.ERROR, "actor_train"),
        ("rlvr", {"refrence": INFERENCE}, Severity.WARNING, "reference"),
        ("rlvr", {"refrence": INFERENCE, "init_kl_coef": 0.2}, Severity.ERROR, "reference"),
        ("agentic", {"train_env_managr": {"num_env_groups": 6}, "train_env_manager": None}, Severity.WARNING, "train_env_manager"),
    ],
)
def test_misspelt_keys_and_blocks_are_named(base: str, blocks: Config, severity: Severity, help_: str) -> None:
    reading = of(changed(BASES[base], **blocks), "1x8", "training")
    assert [finding.severity for finding in reading.findings if finding.help == f"write `{help_}`"] == [severity]


def test_an_engine_refuses_a_misspelt_share_of_memory() -> None:
    vllm = {"strategy_args": {"strategy_name": "vllm", "strategy_config": {"gpu_memory_utilisation": 0.5}}}
    assert any("has no key `gpu_memory_utilisation`: a TypeError" in message for _, message in list_findings("rlvr", {"actor_infer": vllm}))


def test_keys_of_preferences_outweigh_a_role_that_dpo_does_not_start() -> None:
    reading = of(changed(DPO, reference={"infer_batch_size": 8}, actor_infer=RLVR["actor_infer"]), "1x8", "training")
    assert not [finding for finding in reading.findings if finding.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("launcher", "release", "told_"),
    [
        (
            "rlvr_pipeline",
            "0.2.0",
            ["max_running_requests", "sequence_length", "temperature", "top_p", "async_generation_ratio", "max_packed"],
        ),
        ("rlvr_vl_pipeline", "0.3.0", ["max_running_requests", "sequence_length", "temperature", "top_p", "async_generation_ratio"]),
        ("rlvr_pipeline", "0.1.1", ["sequence_length"]),
        ("rlvr_rollout_pipeline", "0.2.0", ["max_running_requests"]),
        ("rlvr_vlmath_pipeline", "0.2.0", ["sequence_length", "temperature", "top_p"]),
    ],
)
def test_settings_count_where_the_pipeline_reads_them(launcher: str, release: str, told_: list[str], tmp_path: Any) -> None:
    import yaml
    from placewright.models.composition import Composer
    from placewright.models.dialects.load import load

    engine = {**vllm(load_format="auto"), "generating_args": {"top_p": 0, "temperature": -1}, "device_mapping": "list(range(0,8))"}
    lengths = {"sequence_length": 1024, "prompt_length": 1024, "val_sequence_length": 2048, "val_prompt_length": 1024}
    blocks = {"actor_infer": engine, "max_running_requests": 0, "validation": {"data_args": {"file_name": "a.json"}}, **lengths}
    blocks |= {"async_generation_ratio": -1, "actor_train": packed(max_packed_sequence_length_train=512)}
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(changed(RLVR, **blocks)), "utf-8")
    script = tmp_path / "run.sh"
    script.write_text(f"python examples/start_{launcher}.py --config_path . --config_name job\n", "utf-8")
    reading = load(script, None, "auto", "training", Composer(frameworks=(f"roll=={release}",)))
    errors = [finding.message for finding in reading.findings if finding.severity is Severity.ERROR]
    keys = ("max_running_requests", "sequence_length", "temperature", "top_p", "async_generation_ratio", "max_packed")
    assert [key for key in keys if any(key in text for text in errors)] == told_, errors


def test_a_role_of_a_fork_is_no_misspelt_role_of_another_pipeline() -> None:
    found = list_findings("rlvr", {"seg_infer": {"strategy_args": {"strategy_name": "vllm"}, "device_mapping": "list(range(0,8))"}})
    assert [(severity, "of ROLL's rlvr pipeline" in text) for severity, text in found] == [(Severity.WARNING, True)]


@pytest.mark.parametrize(("code", "keys"), [("changed = True\n", ["train_env_manager.env_groups"]), ("", [])])
def test_a_size_that_a_changed_checkout_may_read_is_not_passed_over(code: str, keys: list[str], tmp_path: Any) -> None:
    import yaml
    from placewright.models.dialects.load import load

    (tmp_path / "roll" / "configs").mkdir(parents=True)
    (tmp_path / "roll" / "configs" / "base_config.py").write_text(code, "utf-8")
    environments = {"train_env_manager": {"env_groups": 4, "num_env_groups": "OUT"}}
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(changed(AGENTIC, **environments)), "utf-8")
    reading = load(tmp_path / "job.yaml")
    assert [item.subject for item in reading.unchecked if item.decides and item.rule == "PW104"] == keys


@pytest.mark.parametrize(("release", "count"), [("0.1.0", 1), ("0.1.1", 1), ("0.1.3", 1), ("0.2.0", 0), ("8eb27cc2", 0)])
def test_adapters_of_the_first_releases_need_deepspeed(release: str, count: int) -> None:
    blocks: Config = {**WHOLE, "actor_train": {**LORA}}
    found = [text for severity, text in list_findings("rlvr", blocks, release) if severity is Severity.ERROR and "`lora_target`" in text]
    assert len(found) == count


@pytest.mark.parametrize(
    ("release", "config", "count"),
    [("0.1.3", {}, 0), ("0.2.0", {}, 1), ("8eb27cc2", {}, 1), ("8eb27cc2", {"max_num_batched_tokens": 16384}, 0),
     ("0.3.0", {"max_num_batched_tokens": None}, 0), ("0.3.0", {"max_model_len": None}, 0), ("0.3.0", {"max_model_len": 4096}, 0), ("0.3.0", {"enable_chunked_prefill": True}, 0)],
)  # fmt: skip
def test_vllm_without_chunked_prefill_takes_whole_samples(release: str, config: Config, count: int) -> None:
    engine = vllm(**{"enable_chunked_prefill": False, "max_model_len": 16384, **config})
    found = [
        text
        for severity, text in list_findings("rlvr", {"actor_infer": engine}, release)
        if "max_num_batched_tokens`" in text or severity is Severity.ERROR
    ]
    assert len(found) == count, found
