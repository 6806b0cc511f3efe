"""Cases found with public material and between releases: each with the right answer, read off the framework's own code.

The files stand in ``../shared/cases``, each with the line of the framework that decides it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from placewright.cli.options.shared import read_machines
from placewright.models.composition import Composer
from placewright.models.dialects.load import load_all
from placewright.models.findings.finding import Severity
from placewright.models.report import Report
from placewright.planner.verify import verify

CASES = Path(__file__).parents[3] / "shared" / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the cases do not lie beside the checkout")

OK, ERROR, WARNING, HYDRA, INCOMPLETE = "ok", "an error", "a warning", "refused by Hydra", "incomplete"


@dataclass(frozen=True)
class Case:
    """One file on these machines, for one release ("" to leave it open), and which answers are right."""

    file: str
    cluster: str
    release: str
    right: tuple[str, ...]
    word: str = ""
    absent: str = ""

    def __str__(self) -> str:
        return f"{self.file} on {self.cluster} for {self.release or 'no release'}"


def case(file: str, cluster: str, release: str, *right: str, word: str = "", absent: str = "") -> Case:
    """A row of the table; some finding holds `word`, none holds `absent`."""
    return Case(file, cluster, release, right, word, absent)


TABLE = [
    case("public/verl_rollout_dp_without_ep.sh", "1x8", "verl==0.6.1", ERROR),
    case("public/verl_rollout_dp_without_ep.sh", "1x8", "verl==0.7.0", ERROR, word="data_parallel_size"),
    case("public/verl_rollout_dp_without_ep.sh", "1x8", "verl==b178a3cd", ERROR, word="data_parallel_size"),
    case("public/verl_rollout_dp_without_ep.sh", "1x8", "verl==0.7.1", ERROR, word="data_parallel_size"),
    case("public/verl_rollout_dp_without_ep.sh", "1x8", "verl==0.8.0", ERROR, absent="data_parallel_size"),
    case("public/verl_rollout_dp_without_ep.sh", "1x8", "", ERROR, word="only in verl 0.6"),
    case("public/verl_teacher_pool.sh", "1x4", "verl==b178a3cd", HYDRA, word="distillation"),
    case("public/verl_teacher_pool.sh", "1x4", "verl==0.8.0", ERROR),
    case("public/verl_teacher_pool.sh", "1x4", "verl==0.9.0", ERROR),
    case("public/verl_teacher_pool.sh", "1x4", "", ERROR),
    case("public/verl_v1_separate_async.sh", "1x4", "verl==b178a3cd", HYDRA),
    case("public/verl_v1_separate_async.sh", "1x4", "verl==0.9.0", ERROR),
    case("public/verl_v1_separate_async.sh", "1x4", "", ERROR),
    case("public/own_program_default_tp.sh", "1x1", "", INCOMPLETE, OK),
    case("public/own_program_json.sh", "1x8", "", INCOMPLETE, OK),
    case("public/verl_sft_engine_group.sh", "1x4", "", OK),
    case("public/verl_stages_do_not_add_up.sh", "8x8", "", ERROR, word="71"),
    case("public/verl_ray_start_gpus.sh", "1x8", "", ERROR, WARNING, word="2"),
    case("public/verl_trtllm_over_nodes.sh", "2x2", "", ERROR),
    case("public/roll_start/run.sh", "2x8", "", ERROR),
    case("public/roll_start/run_with_setting.sh", "2x8", "", ERROR),
    case("public/own_folder/run_eval.sh", "1x8", "", ERROR),
    case("public/roll_gpus_per_node_zero.yaml", "1x8", "", OK, WARNING),
    case("public/yaml_alias_roll.yaml", "1x8", "", OK, WARNING),
    case("public/roll_before_0_3_deepspeed.yaml", "1x8", "", WARNING, word="0.3.0"),
    case("public/roll_before_0_3_deepspeed.yaml", "1x8", "roll==0.2.1", OK, WARNING),
    case("public/roll_before_0_3_deepspeed.yaml", "1x8", "roll==0.3.0", ERROR),
    case("public/roll_more_nodes_than_there_are.yaml", "1x8", "", ERROR, word="list(range(0,8))"),
    case("public/verl_level_not_told.sh", "1x2", "verl==0.8.0", ERROR),
    case("public/verl_level_not_told.sh", "1x2", "", WARNING, word="60"),
    case("drift/verl/01_model_engine_megatron.sh", "2x8xH100", "", ERROR),
    case("drift/verl/01_model_engine_megatron.sh", "2x8xH100", "verl==0.8.0", ERROR),
    case("drift/verl/01_model_engine_megatron.sh", "2x8xH100", "verl==0.7.0", HYDRA),
    case("drift/verl/01b_config_name_megatron.sh", "2x8xH100", "verl==0.7.0", ERROR),
    case("drift/verl/01b_config_name_megatron.sh", "2x8xH100", "", ERROR),
    case("drift/verl/02_distillation_teacher_pool.sh", "1x8", "", ERROR),
    case("drift/verl/02_distillation_teacher_pool.sh", "1x12", "", OK, WARNING, ERROR),
    case("drift/verl/02_distillation_teacher_pool.sh", "1x8", "verl==0.8.0", ERROR),
    case("drift/verl/04_reward_reward_model.sh", "1x8", "verl==0.7.1", ERROR),
    case("drift/verl/04_reward_reward_model.sh", "2x8xH100", "", ERROR, word="3"),
    case("drift/verl/05_v1_pads_samples.sh", "2x8xH100", "verl==0.9.0", OK, WARNING),
    case("drift/verl/05_v1_pads_samples.sh", "2x8xH100", "", OK, WARNING),
    case("drift/verl/05_v1_pads_samples.sh", "2x8xH100", "verl==0.7.0", ERROR),
    case("drift/verl/05_v1_pads_samples.sh", "2x8xH100", "verl==0.8.0", ERROR),
    case("drift/verl/07_one_step_off_rollout_pool.sh", "2x8xH100", "verl==0.7.1", OK, WARNING),
    case("drift/verl/07_one_step_off_rollout_pool.sh", "2x8xH100", "verl==b178a3cd", ERROR),
    case("drift/verl/08_strategy_need_not_agree.sh", "2x8xH100", "", OK, WARNING),
    case("drift/verl/08_strategy_need_not_agree.sh", "2x8xH100", "verl==b178a3cd", ERROR),
    case("drift/verl/10_sft_engine_group.sh", "2x8xH100", "", OK, WARNING),
    case("drift/verl/10_sft_engine_group.sh", "2x8xH100", "verl==0.6.0", OK, WARNING),
    case("drift/verl/13_array_lost.sh", "2x8xH100", "", OK, WARNING, INCOMPLETE),
    case("drift/verl/14_uv_run.sh", "2x8xH100", "", ERROR, word="3"),
    case("drift/verl/16_removed_keys.sh", "2x8xH100", "verl==0.8.0", HYDRA),
    case("drift/verl/16_removed_keys.sh", "2x8xH100", "verl==0.9.0", HYDRA),
    case("drift/verl/16_removed_keys.sh", "2x8xH100", "verl==0.7.0", OK, WARNING),
    case("drift/verl/17_unknown_program.sh", "2x8xH100", "", INCOMPLETE, OK, WARNING),
    case("drift/verl/old2_v060_mode_sync.sh", "2x8xH100", "verl==0.6.0", OK, WARNING),
    case("drift/verl/old2_v060_mode_sync.sh", "2x8xH100", "verl==0.7.0", ERROR, word="sync"),
    case("drift/verl/old3_v050_agent_workers.sh", "2x8xH100", "verl==0.6.1", OK, WARNING),
    case("drift/verl/old3_v050_agent_workers.sh", "2x8xH100", "verl==0.7.0", ERROR),
    case("drift/verl/old3_v050_agent_workers.sh", "2x8xH100", "verl==0.9.0", OK, WARNING),
    case("drift/verl/old4_v050_micro_batch_size.sh", "2x8xH100", "verl==0.5.0", OK, WARNING),
    case("drift/verl/old4_v050_micro_batch_size.sh", "2x8xH100", "verl==0.6.0", ERROR),
    case("drift/verl/old7_v050_ulysses_padding.sh", "2x8xH100", "verl==0.5.0", ERROR, word="use_remove_padding"),
    case("drift/verl/old7_v050_ulysses_padding.sh", "2x8xH100", "verl==0.6.1", ERROR, word="use_remove_padding"),
    case("drift/verl/old7_v050_ulysses_padding.sh", "2x8xH100", "verl==0.7.0", OK, WARNING),
    case("drift/verl/old8_v050_dynamic_batch.sh", "2x8xH100", "verl==0.5.0", ERROR),
    case("drift/roll/r1_deepspeed.yaml", "2x8xH100", "roll==0.2.1", OK, WARNING),
    case("drift/roll/r1_deepspeed.yaml", "2x8xH100", "", WARNING, word="0.3.0"),
    case("drift/roll/r3_gpus_per_node.yaml", "2x4", "roll==0.1.1", OK, WARNING),
    case("drift/roll/r3_gpus_per_node.yaml", "1x8", "roll==0.1.3", OK, WARNING),
    case("drift/rlinf/groups_v01.yaml", "2x8xH100", "rlinf==0.1", ERROR),
    case("drift/rlinf/groups_v01.yaml", "2x8xH100", "rlinf==0.2", OK, WARNING),
    case("drift/rlinf/groups_v01.yaml", "2x8xH100", "", OK, WARNING),
]


def reports_of(each: Case) -> list[Report]:
    composer = Composer(frameworks=(each.release,) if each.release else ())
    return [verify(reading) for reading in load_all(CASES / each.file, read_machines(each.cluster), "auto", "training", composer)]


def answers(report: Report) -> set[str]:
    """What a report comes to, in the words of the table."""
    severities = {finding.severity for finding in report.findings}
    if report.verdict == "unusable":
        return {"unusable"}
    if report.errors:
        return {HYDRA if any(finding.code == "PW012" for finding in report.errors) else ERROR}
    found = {INCOMPLETE} if report.verdict == "incomplete" else set[str]()
    return found | ({WARNING} if Severity.WARNING in severities else {OK} if not found else set[str]())


@pytest.mark.parametrize("each", TABLE, ids=str)
def test_a_case_gets_the_right_answer(each: Case) -> None:
    reports = reports_of(each)
    assert reports
    texts = [
        f"{finding.code} {finding.message} {finding.help} {' '.join(finding.notes)}" for report in reports for finding in report.findings
    ]
    assert set().union(*map(answers, reports)) & set(each.right), "\n".join(texts)
    if each.word:
        assert any(each.word in text for text in texts), "\n".join(texts)
    if each.absent:
        assert not any(each.absent in text for text in texts), "\n".join(texts)
