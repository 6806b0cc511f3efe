"""Certain and open settings of scripts, at the releases where they hold."""

from __future__ import annotations

import subprocess
from pathlib import Path

import placewright as pw
import pytest
from click.testing import CliRunner
from placewright.cli.main import cli
from placewright.models.findings.finding import Severity, UnusableInput
from placewright.models.report import Report

COMMAND = (
    "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=256 actor_rollout_ref.actor.ppo_mini_batch_size=64 "
    "actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.rollout.log_prob_use_dynamic_bsz=True actor_rollout_ref.rollout.name=vllm "
    "trainer.nnodes=1 trainer.n_gpus_per_node=8 actor_rollout_ref.rollout.tensor_model_parallel_size=2"
)
OLD, NEW = "0.6.1", "0.9.0"
TP = "actor_rollout_ref.rollout.tensor_model_parallel_size"
PROBE = "DEVICE=${DEVICE:-$(python3 -c 'import torch_npu' 2>/dev/null && echo npu || echo gpu)}\nif [ $DEVICE = npu ]; then N=16; else N=8; fi\n"


def verified(folder: Path, script: str, release: str = NEW, cluster: str = "1x8", name: str = "run.sh") -> Report:
    (folder / name).write_bytes(script.encode())
    return pw.verify(folder / name, cluster, framework=f"{'verl' if name == 'run.sh' else 'ROLL'}=={release}")


def errors(report: Report) -> list[str]:
    return [finding.message for finding in report.findings if finding.severity is Severity.ERROR]


@pytest.mark.parametrize("release", [OLD, NEW, "1dda039b"])
@pytest.mark.parametrize(
    ("word", "refusal"),
    [
        ("-trainer.total_epochs=3", "`-trainer.total_epochs=3` is not an option of Hydra"),
        ("-critic.strategy=fsdp", "`-critic.strategy=fsdp` is not an option of Hydra"),
        ("-x", "`-x` is not an option of Hydra"),
        ("-cn ppo_trainer", ""),
        ("-cn=ppo_trainer", ""),
        ("--info defaults", ""),
        ("-i searchpath", ""),
        ("--cluster=1x8", "`--cluster=1x8` is an option of placewright"),
        ("''", "an empty argument is not a setting"),
        ('"$(echo)" trainer.nnodes=1', "an empty argument is not a setting"),
        ('"${NOT_SET:-}" "$NOT_SET" "$1" $NOT_SET', ""),
        ("'data={shufle: true}'", "has no key `data.shufle`"),
        ("'actor_rollout_ref.rollout.engine_kwargs={vllm: {a: 1}}'", "has no key `actor_rollout_ref.rollout.engine_kwargs.vllm.a`"),
        ("'trainer={nnodes: 1}'", ""),
        ("'++data.apply_chat_template_kwargs={a: 1}'", ""),
        ("'data.tokenizer={a: 1}'", ""),
        ("~trainer.total_epochs=31", "`trainer.total_epochs` is `30`, so Hydra does not delete it as `31`"),
        ("~trainer.nothing", "has no value `trainer.nothing` to delete"),
        ("~data.custom_cls.path", "has no value `data.custom_cls.path` to delete"),
        ("trainer/n_gpus_per_node=8", "has the group `trainer/n_gpus_per_node`"),
        ("data@data=legacy_data", "has the group `data@data`"),
        ("optim@actor_rollout_ref.actor.optim=fsdp", "has the group `optim@actor_rollout_ref.actor.optim`"),
        ("data=legacy_data", ""),
        (f"{TP}='${{multiply:1,2}}'", "its program registers no resolver `multiply`"),
        (f"{TP}='${{oc.decode:\"2\"}}'", ""),
    ],
)
def test_words_that_hydra_refuses(tmp_path: Path, word: str, refusal: str, release: str) -> None:
    found = errors(verified(tmp_path, f"{COMMAND} {word}\n", release))
    assert len(found) == bool(refusal)
    assert all(refusal in message for message in found)


@pytest.mark.parametrize(
    ("script", "severity"),
    [
        (f"{COMMAND}\r\n", Severity.ERROR),
        (f"N=2\r\n{COMMAND.replace('nnodes=1', 'nnodes=$N')} trainer.project_name=x", Severity.ERROR),
        (COMMAND.replace(" trainer", " \\\r\n trainer") + "\r\n", Severity.ERROR),
        (f"# a comment\r\n{COMMAND}", Severity.WARNING),
        (f"{COMMAND}\n", None),
    ],
)
def test_line_ends_of_windows_are_one_finding(tmp_path: Path, script: str, severity: Severity | None) -> None:
    findings = [finding for finding in verified(tmp_path, script, cluster="2x8").findings if "as on Windows" in finding.message]
    assert [finding.severity for finding in findings] == ([severity] if severity else [])
    for finding in findings:
        assert finding.help == "run `dos2unix run.sh`"
        assert finding.edit is not None
        assert "\r" not in finding.edit.text
    assert not errors(verified(tmp_path, script.replace("\r\n", "\n"), cluster="2x8"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("task.yaml", f"name: a\nrun: |\n  export A=1\n  {COMMAND}\n"),
        ("job.yaml", f"kind: RayJob\nspec:\n  entrypoint: {COMMAND}\n"),
        ("settings.txt", COMMAND.partition("main_ppo ")[2].replace(" ", "\n") + "\n"),
    ],
)
def test_line_ends_of_windows_outside_of_scripts(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode())
    report = pw.verify(tmp_path / name, "1x8", framework=f"verl=={NEW}")
    assert (report.verdict, [finding.message for finding in report.findings if "Windows" in finding.message]) == ("ok", [])


@pytest.mark.parametrize(
    ("before", "after", "cluster", "count"),
    [
        ("export CUDA_VISIBLE_DEVICES=0\n", "", "1x8", 0),
        ("export CUDA_VISIBLE_DEVICES=0\nray start --head\n", "", "1x8", 1),
        ("ray start --head\nexport CUDA_VISIBLE_DEVICES=0\n", "", "1x8", 0),
        ("export CUDA_VISIBLE_DEVICES=0\n", " +ray_kwargs.ray_init.address=auto", "1x8", 0),
        ("export CUDA_VISIBLE_DEVICES=0\n", " '+ray_kwargs.ray_init={num_cpus: 64, address: auto}'", "1x8", 0),
        ("export CUDA_VISIBLE_DEVICES=0\n", " '++ray_kwargs={ray_init: {address: \"h:6379\"}}'", "1x8", 0),
        ("export CUDA_VISIBLE_DEVICES=0\n", " '+ray_kwargs.ray_init={address: local}'", "1x8", 1),
        ("export CUDA_VISIBLE_DEVICES=0\n", " '+ray_kwargs.ray_init={address: null}'", "1x8", 0),
        ("export CUDA_VISIBLE_DEVICES=0 RAY_ADDRESS=10.0.0.1:6379\n", "", "1x8", 0),
        ("RAY_ADDRESS=auto CUDA_VISIBLE_DEVICES=0 ", "", "1x8", 0),
        ("export CUDA_VISIBLE_DEVICES=0 RAY_ADDRESS=local\n", "", "1x8", 1),
        ("export CUDA_VISIBLE_DEVICES=8,9,10,11,12,13,14,15\n", "", "1x8", 1),
        ("export CUDA_VISIBLE_DEVICES=8,9,10,11,12,13,14,15\n", "", "1x16", 0),
        ("export ASCEND_RT_VISIBLE_DEVICES=0,1 RAY_ADDRESS=local\n", "", "1x8xAscend910B", 1),
        ("export ASCEND_RT_VISIBLE_DEVICES=0,1\n", "", "1x8xH100", 0),
        ("export CUDA_VISIBLE_DEVICES=0,1\n", "", "1x8xAscend-910B3", 0),
    ],
)
def test_accelerators_that_a_script_shows(tmp_path: Path, before: str, after: str, cluster: str, count: int) -> None:
    assert len(errors(verified(tmp_path, f"{before}{COMMAND}{after}\n", cluster=cluster))) == count


@pytest.mark.parametrize(
    ("script", "cluster", "add"),
    [
        (PROBE + COMMAND.replace("node=8", "node=$N"), "1x16", "Pass `--cluster 1x16xH100`"),
        (PROBE + COMMAND.replace("node=8", "node=$N"), "x16", "Name it, such as `--cluster 2x8xH100`"),
        (PROBE + COMMAND.replace("node=8", "node=$N"), "1x16xFOO", "Name it, such as `--cluster 2x8xH100`"),
        (f"TP=2\nsource ./own_env.sh\n{COMMAND} {TP}=$TP", "1x8", "Name its folder with `--config-root DIR`, or set the values after it"),
        (f"source ./own_env.sh\nTP=2\n{COMMAND} {TP}=$TP", "1x8", ""),
        (f"TP=2\nsource venv/bin/activate\n{COMMAND} {TP}=$TP", "1x8", ""),
        (f"TP=2\n. $NVM_DIR/nvm.sh\n. $HOME/.cargo/env\nsource /dev/null\n{COMMAND} {TP}=$TP", "1x8", ""),
        (f"TP=2\n(source ./own_env.sh; hostname)\n{COMMAND} {TP}=$TP", "1x8", ""),
        (f"TP=2\nHEAD=$(source ./own_env.sh; hostname)\n{COMMAND} {TP}=$TP", "1x8", ""),
        (f"TP=2\nbash -c 'source ./own_env.sh; hostname'\n{COMMAND} {TP}=$TP", "1x8", ""),
        (f"TP=2\n(source ./own_env.sh; {COMMAND} {TP}=$TP)", "1x8", "Name its folder with `--config-root DIR`, or set the values after it"),
        (f"{COMMAND} --config-name=ppo_megatron", "1x8", "Write `--config-name=ppo_megatron_trainer`, or name the folder"),
        (COMMAND.replace("main_ppo", "main_pp0"), "1x8", "Write `verl.trainer.main_ppo`, or verify it as the program"),
        (f"{COMMAND} {TP}='${{oc.env:TP_SIZE}}'", "1x8", "set `TP_SIZE` and pass `--allow-env TP_SIZE`"),
        (f"{COMMAND} actor_rollout_ref.rollout.name='${{oc.env:ENGINE,vllm}}'", "1x8", ""),
    ],
)
def test_the_one_thing_to_add(tmp_path: Path, script: str, cluster: str, add: str) -> None:
    report = verified(tmp_path, script, cluster=cluster)
    assert report.verdict == ("incomplete" if add else "ok")
    assert not add or add in report.missing[0].add


@pytest.mark.parametrize(
    ("cluster", "size"),
    [
        ("1x16xH100", 8),
        ("1x16xh100", 8),
        ("1x16xH100-SXM", 8),
        ("1x16xA100-SXM4-80GB", 8),
        ("1x16xNVIDIA-H100-80GB-HBM3", 8),
        ("1x16xrtx4090", 8),
        ("1x16xAMD-Instinct-MI300X-OAM", 8),
        ("1x16xAscend910B", 16),
        ("1x16xASCEND_910B2", 16),
        ("1x16x910B", 16),
        ("1x16x910B3", 16),
    ],
)
def test_the_model_decides_a_probe(tmp_path: Path, cluster: str, size: int) -> None:
    plan = verified(tmp_path, PROBE + COMMAND.replace("node=8", "node=$N"), cluster=cluster).plan
    assert plan is not None
    assert plan.assignment.amount("actor") == size


def test_a_relative_folder_counts_from_the_program(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "my.yaml").write_text("defaults: [ppo_trainer, _self_]\ntrainer: {nnodes: 1, n_gpus_per_node: 8}\n")
    start = "python3 -m verl.trainer.main_ppo --config-path {} --config-name my\n"
    report = verified(tmp_path, start.format("conf"))
    assert report.verdict == "incomplete"
    assert [missing.add for missing in report.missing][-1] == "Write `--config-path=$PWD/conf`"
    assert "Write `--config-path" not in str(verified(tmp_path, f"cd {tmp_path}\n{start.format('$PWD/conf')}").missing)


@pytest.mark.parametrize(
    ("folder", "text", "count"),
    [("", "hydra.main()", 0), ("recipe/dapo", "OmegaConf.register_new_resolver('double', f)", 0), ("recipe/dapo", "", 1)],
)
def test_resolvers_of_a_program_of_an_author(tmp_path: Path, folder: str, text: str, count: int) -> None:
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    file = tmp_path / folder / "main_dapo.py"
    file.write_text(f"import hydra\n{text}\n@hydra.main(config_path='config', config_name='ppo_trainer')\ndef main(config): ...\n")
    script = COMMAND.replace("-m verl.trainer.main_ppo", f"{folder}/main_dapo.py".lstrip("/"))
    found = errors(verified(tmp_path, f"{script} {TP}='${{double:1}}'\n"))
    assert len([message for message in found if "registers no resolver" in message]) == count


@pytest.mark.parametrize(
    ("words", "help_"),
    [
        ("-m verl/trainer/main_ppo.py", "write `verl.trainer.main_ppo`"),
        ("-m verl/trainer/main_ppo", "write `verl.trainer.main_ppo`"),
        ("-u -m verl.trainer.main_ppo.py", "write `verl.trainer.main_ppo`"),
        ("verl.trainer.main_ppo", "write `-m verl.trainer.main_ppo`"),
        ("-u verl.trainer.main_ppo", "write `-m verl.trainer.main_ppo`"),
        ("-um verl.trainer.main_ppo", ""),
        ("verl/trainer/main_ppo.py", ""),
        ("-m torch.distributed.run -m verl.trainer.main_ppo", ""),
        ("-m own.launch verl.trainer.main_ppo", ""),
    ],
)
def test_a_file_is_no_module(tmp_path: Path, words: str, help_: str) -> None:
    report = verified(tmp_path, f"{COMMAND.replace('-m verl.trainer.main_ppo', words)}\n")
    findings = [finding for finding in report.findings if finding.message.startswith("Python finds no")]
    assert [(finding.severity, finding.help) for finding in findings] == [(Severity.ERROR, help_)] * bool(help_)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("sed -i s/8/4/ verl/trainer/config/ppo_trainer.yaml", "incomplete"),
        ("yq -i '.n = 1' $ROOT/verl/trainer/config/rollout/rollout.yaml", "incomplete"),
        ("sed -i s/8/4/ verl/workers/fsdp_workers.py", "ok"),
        ("sed -i s/8/4/ examples/config/rollout.yaml", "ok"),
        ("sed -n s/8/4/p verl/trainer/config/ppo_trainer.yaml", "ok"),
    ],
)
def test_an_edited_default_is_not_known(tmp_path: Path, before: str, expected: str) -> None:
    assert verified(tmp_path, f"{before}\n{COMMAND}\n").verdict == expected
    assert verified(tmp_path, f"{COMMAND}\n{before}\n").verdict == "ok"


@pytest.mark.parametrize("value", ["$MORE trainer.total_epochs=1", "trainer.total_epochs=1 $MORE", " $MORE\ttrainer.total_epochs=1 "])
def test_an_unset_variable_between_blanks_adds_no_setting(tmp_path: Path, value: str) -> None:
    report = verified(tmp_path, f'MORE="{value}"\n{COMMAND} $MORE\n')
    assert report.verdict == "ok"
    assert [item.subject for item in report.unchecked if "it adds no setting" in item.why] == ["MORE"]
    assert verified(tmp_path, f'MORE="${{MORE}}trainer.total_epochs=1"\n{COMMAND} $MORE\n').verdict == "incomplete"


@pytest.mark.parametrize(
    ("call", "reached"),
    [('main "$@"', True), ("main $@", True), ('main x "${@}"', True), ('main "${@:1}"', True), ("main", False), ("main x", False)],
)
def test_a_function_that_checks_the_arguments_of_the_script(tmp_path: Path, call: str, reached: bool) -> None:
    script = f'main() {{\nif [ "$#" -lt 2 ]; then echo usage; exit 1; fi\n{COMMAND} trainer.default_local_dir=$2\n}}\n{call}\n'
    assert verified(tmp_path, script).verdict == ("ok" if reached else "unusable")


def test_a_script_that_ends_before_its_program(tmp_path: Path) -> None:
    report = verified(tmp_path, f'N=1\n[ $N -lt 2 ] && {{ echo "two nodes"; exit 1; }}\n{COMMAND}\n')
    assert ["ends in line 2, before it starts a program" in message for message in errors(report)] == [True]


@pytest.mark.parametrize(
    "start", ["return 0 2>/dev/null || true", "(return 0 2>/dev/null) && exit 1", "return 2>/dev/null", "f() { return 1; }\nf"]
)
def test_a_return_outside_of_functions_ends_nothing(tmp_path: Path, start: str) -> None:
    assert verified(tmp_path, f"{start}\n{COMMAND}\n").verdict == "ok"
    assert subprocess.run(["bash", "-c", f"{start}\necho reached"], capture_output=True, text=True, check=False).stdout == "reached\n"


def test_every_program_counts_and_a_loop_has_its_place(tmp_path: Path) -> None:
    report = verified(tmp_path, f"for tp in 1 2 3; do\n{COMMAND} {TP}=$tp\ndone\n")
    assert report.verdict == "faulty"
    assert [finding.span is not None for finding in report.findings if finding.code == "PW208"] == [True]
    assert verified(tmp_path, f"for tp in 1 2 4; do\n{COMMAND} {TP}=$tp\ndone\n").verdict == "ok"
    assert verified(tmp_path, f"{COMMAND}\npython3 -m recipe.r1.main_eval data.path=answers.parquet\n", OLD).verdict == "ok"


@pytest.mark.parametrize(
    ("resolver", "release", "refused"),
    [("eval:8*2", "0.3.0", True), ("multiply:2,8", "8eb27cc2", True), ("oc.env:N_DEVICES,16", "0.3.0", False)],
)
def test_resolvers_of_roll(tmp_path: Path, resolver: str, release: str, refused: bool) -> None:
    text = f"actor_train:\n  device_mapping: list(range(0,${{{resolver}}}))\n  strategy_args: {{strategy_name: megatron_train}}\n"
    found = [message for message in errors(verified(tmp_path, text, release, "2x8", "rlvr.yaml")) if "registers no resolver" in message]
    assert len(found) == refused


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ("1X8", "`1x8`"),
        ("1 x 8", "`1x8`"),
        ("8", "`1x8`"),
        ("H100x8", "`1x8xH100`"),
        ("8xH100", "`1x8xH100`"),
        ("1x8xH100:80GiB", "`1x8xH100`"),
    ],
)
def test_a_cluster_that_is_nearly_a_shorthand(tmp_path: Path, cluster: str, said: str) -> None:
    with pytest.raises((UnusableInput, ValueError)) as problem:
        verified(tmp_path, COMMAND, cluster=cluster)
    findings = getattr(problem.value, "findings", ())
    assert said in (findings[0].help if findings else str(problem.value))


def test_a_setting_beside_a_file_is_no_job(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(COMMAND)
    outcome = CliRunner().invoke(cli, ["verify", str(tmp_path / "run.sh"), "trainer.nnodes=2"])
    assert isinstance(outcome.exception, UnusableInput)
    assert outcome.exception.findings[0].help.startswith("write `--set trainer.nnodes=2`")
