"""Scripts whose verdict was once wrong: arguments, what is taken in from elsewhere, what Ray is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load_all
from placewright.models.machines.shorthand import read_shorthand
from placewright.planner.verify import verify
from sampling import stated

START = "python3 -m verl.trainer.main_ppo"
MODES = (
    "algorithm.adv_estimator=grpo data.train_files=a actor_rollout_ref.model.path=m actor_rollout_ref.rollout.name=vllm "
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=2"
)
RUN = f"{START} {MODES} trainer.nnodes=1"


def verdict(folder: Path, script: str, machine: str = "1x8xH100") -> str:
    """The verdict of the one program of a script."""
    (folder / "run.sh").write_text(script)
    (reading,) = load_all(folder / "run.sh", read_shorthand(machine), "auto", "training", Composer(frameworks=stated("verl", len(script))))
    return verify(reading).verdict


@pytest.mark.parametrize("arguments", ['"$@"', "$@", '"${@:1}"', '"${@:2}"', "$*"])
def test_a_script_is_judged_as_run_without_arguments(tmp_path: Path, arguments: str) -> None:
    batch = "data.train_batch_size=100 actor_rollout_ref.actor.ppo_mini_batch_size=100"
    assert verdict(tmp_path, f"{RUN} {batch} {arguments}") == "faulty"
    assert verdict(tmp_path, f"{START} algorithm.adv_estimator=grpo trainer.nnodes=1 {arguments}") == "faulty"
    assert verdict(tmp_path, f"{RUN} {arguments}") == "ok"


def test_a_script_that_demands_arguments_has_unknown_ones_until_they_are_shifted(tmp_path: Path) -> None:
    demands = "if [ $# -lt 1 ]; then exit 1; fi\n"
    assert verdict(tmp_path, f'{demands}{RUN} "$@"') == "incomplete"
    assert verdict(tmp_path, f'{demands}shift\n{RUN} "$@"') == "ok"


@pytest.mark.parametrize("call", ['bash run.sh "$@"', "bash -x ./run.sh", "source run.sh", "$0", 'exec "$0"', '. "${BASH_SOURCE[0]}"'])
def test_a_script_that_begins_itself_again_reaches_no_program(tmp_path: Path, call: str) -> None:
    assert verdict(tmp_path, f"set -e\n{call}\n{RUN}") == "unusable"


@pytest.mark.parametrize("call", ["IN=1 bash $0", "[ -z $IN ] && IN=1 bash $0", "cd $X; bash run.sh", "bash $0 inner", "bash other.sh"])
def test_a_script_that_may_begin_itself_in_another_way_is_read_on(tmp_path: Path, call: str) -> None:
    assert verdict(tmp_path, f"{call}\n{RUN}") == "ok"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("source ./common.sh", "incomplete"),
        ("[ -f .env ] && . .env", "incomplete"),
        ("source $VENV/bin/activate", "faulty"),
        ("source ~/.bashrc", "faulty"),
        ("ARGS=(); GPUS=3; source common.sh", "faulty"),
    ],
)
def test_what_another_script_may_set_is_unknown(tmp_path: Path, before: str, expected: str) -> None:
    assert verdict(tmp_path, f"{before}\n{RUN} trainer.n_gpus_per_node=${{GPUS:-3}}") == expected
    assert verdict(tmp_path, f'{before}\n{START} algorithm.adv_estimator=grpo trainer.nnodes=1 "${{ARGS[@]}}"') == expected


def test_what_xargs_adds_is_unknown(tmp_path: Path) -> None:
    assert verdict(tmp_path, f"xargs -a args.txt {START} algorithm.adv_estimator=grpo trainer.nnodes=1") == "incomplete"


@pytest.mark.parametrize("option", ["--config-dir={}", "-cd {}", "hydra.searchpath=[file://{}]", "'hydra.searchpath=[file://{}]'"])
def test_folders_that_a_command_line_adds_are_read(tmp_path: Path, option: str) -> None:
    (tmp_path / "conf/experiment").mkdir(parents=True)
    big = "# @package _global_\nactor_rollout_ref: {rollout: {tensor_model_parallel_size: 3}}\n"
    (tmp_path / "conf/experiment/big.yaml").write_text(big)
    assert verdict(tmp_path, f"{RUN} +experiment=big {option.format('conf')}") == "faulty"
    assert verdict(tmp_path, f"{RUN} +experiment=other {option.format('conf')}") == "incomplete"
    assert verdict(tmp_path, f"{RUN} +experiment=big {option.format('other')}") == "incomplete"
    assert verdict(tmp_path, f"{RUN} +experiment=big {option.format('$OTHER')}") == "incomplete"
    assert verdict(tmp_path, f"{RUN} {option.format('conf')}") == "ok"


@pytest.mark.parametrize(
    "script",
    [
        "if [[ $RANK == 0 ]]; then {}; fi",
        'if [ "$NODE_RANK" == "0" ]; then ray start --head; {}; else ray start --address=h:1; fi',
        'if false; then {}; fi\n[ "$RANK" = 0 ] && {}',
        'case "$RANK" in 0) {} ;; *) ray start --address=h:1 ;; esac',
        'if [ "$RANK" != 0 ]; then ray start --address=h:1; else {}; fi',
    ],
)
def test_a_program_that_only_some_nodes_start_is_judged(tmp_path: Path, script: str) -> None:
    assert verdict(tmp_path, script.replace("{}", RUN)) == "ok"
    assert verdict(tmp_path, script.replace("{}", f"{RUN} trainer.n_gpus_per_node=3")) == "faulty"


@pytest.mark.parametrize("option", ["--multirun", "-m", "hydra.mode=MULTIRUN"])
def test_a_value_that_is_swept_over_is_unknown(tmp_path: Path, option: str) -> None:
    tp = "actor_rollout_ref.rollout.tensor_model_parallel_size"
    assert verdict(tmp_path, f"{RUN} {tp}=2,3 {option}") == "incomplete"
    assert verdict(tmp_path, f"{RUN} {tp}=choice(2,3) {option}".replace("(", "\\(").replace(")", "\\)")) == "incomplete"
    assert verdict(tmp_path, f"{RUN} actor_rollout_ref.actor.optim.lr=1e-6,1e-5 {option}") == "ok"
    assert verdict(tmp_path, f"{RUN} {tp}=2,3") == "faulty"


@pytest.mark.parametrize(
    "option", ["-m", "--multirun", "--cfg job", "-cd conf", "--config-name=ppo_trainer", "--", "--config-n ppo_trainer"]
)
def test_settings_on_both_sides_of_an_option_are_refused_as_hydra_does(tmp_path: Path, option: str) -> None:
    hydra = pytest.importorskip("hydra._internal.utils", reason="hydra-core, the oracle, is not installed")
    parser, words = hydra.get_args_parser(), [*MODES.split(), *option.split(), "trainer.nnodes=1"]
    try:
        refused = bool(parser.parse_known_args(words)[1])
    except SystemExit:
        refused = True
    assert (verdict(tmp_path, f"{START} {MODES} {option} trainer.nnodes=1 trainer.n_gpus_per_node=8") == "faulty") == refused
    assert verdict(tmp_path, f"{RUN} {option} $MORE").startswith(("ok", "incomplete"))


@pytest.mark.parametrize(
    ("before", "machine", "expected"),
    [
        ('export CUDA_VISIBLE_DEVICES=""\n', "1x8xH100", "incomplete"),  # a Ray that runs already may have more
        ('export RAY_ADDRESS=local CUDA_VISIBLE_DEVICES=""\n', "1x8xH100", "faulty"),
        ("export RAY_ADDRESS=local CUDA_VISIBLE_DEVICES=-1\n", "1x8xH100", "faulty"),
        ("RAY_ADDRESS=local CUDA_VISIBLE_DEVICES=0,1,-1,2 ", "1x8xH100", "faulty"),
        ("CUDA_VISIBLE_DEVICES=0,1,-1,2 ", "1x8xH100", "incomplete"),
        ("export CUDA_VISIBLE_DEVICES=$(seq -s, 0 3)\nray start --head\n", "1x8xH100", "faulty"),
        ("export CUDA_VISIBLE_DEVICES=$(seq -s, 0 3)\n", "1x8xH100", "incomplete"),
        ("export CUDA_VISIBLE_DEVICES=$(idle_gpus)\n", "1x8xH100", "incomplete"),
        ('export CUDA_VISIBLE_DEVICES=""\nray start --head\n', "1x8xH100", "incomplete"),
        ("ray start --head --num-gpus=8\nssh w1 ray start --address=h:1 --num-gpus=4\n", "2x8xH100", "incomplete"),
        ("ray start --head --num-gpus=8\nssh w1 ray start --address=h:1 --num-gpus=8\n", "2x8xH100", "ok"),
        ("ray job submit --entrypoint-num-gpus 4 -- ", "1x8xH100", "incomplete"),
        ("ray job submit --entrypoint-num-gpus=0 -- ", "1x8xH100", "ok"),
        ("#SBATCH --gpus-per-node=4\nsrun ", "1x8xH100", "faulty"),
        ("#SBATCH --gres=gpu:h100:8\nsrun ", "1x8xH100", "ok"),
        ("docker run --gpus 4 image ", "1x8xH100", "faulty"),
        ("docker run --gpus '\"device=0,1\"' image ", "1x8xH100", "faulty"),
        ("docker run --gpus all image ", "1x8xH100", "ok"),
        ("srun --gres=gpu:h100:4 ", "1x8xH100", "faulty"),
        ("srun -N1 --gpus-per-node=8 ", "1x8xH100", "ok"),
        ("ray start --head\nsrun --overlap --gpus-per-node=1 ", "1x8xH100", "ok"),
        ("export ASCEND_RT_VISIBLE_DEVICES=0,1\n", "3x8xH100", "ok"),
        ("export ASCEND_RT_VISIBLE_DEVICES=0,1\n", "1x8x910B", "incomplete"),
        ("export ASCEND_RT_VISIBLE_DEVICES=0,1\nray start --head\n", "1x8x910B", "faulty"),
        ("export CUDA_VISIBLE_DEVICES=0,1\n", "1x8x910B", "ok"),
    ],
)
def test_what_a_script_shows_ray_of_its_node(tmp_path: Path, before: str, machine: str, expected: str) -> None:
    assert verdict(tmp_path, f"{before}{RUN}", machine) == expected


@pytest.mark.parametrize(("machine", "expected"), [("1x8xH100", "ok"), ("1x16x910B", "ok"), ("1x8x910B", "faulty"), ("1x8", "incomplete")])
def test_what_a_script_asks_of_the_machine_is_answered_by_the_machines(tmp_path: Path, machine: str, expected: str) -> None:
    device = "DEVICE=${DEVICE:-$(python3 -c 'import torch_npu' 2>/dev/null && echo npu || echo gpu)}"
    case = 'case "${DEVICE}" in gpu) N=8 ;; npu) N=16 ;; *) exit 1 ;; esac'
    assert verdict(tmp_path, f"set -xeuo pipefail\n{device}\n{case}\n{RUN} trainer.n_gpus_per_node=$N", machine) == expected


def test_a_configuration_may_lie_in_a_folder_that_is_added(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/mine.yaml").write_text("cluster:\n  num_nodes: 1\n  component_placement: {actor: 0-11, rollout: 0-7}\n")
    (tmp_path / "train.py").write_text("@hydra.main(version_base='1.1')\ndef main(c): ...\n")
    assert verdict(tmp_path, "python train.py --config-dir conf --config-name mine") == "faulty"


@pytest.mark.parametrize("script", ["python3 - a.b=1 <<PY\nmain()\nPY", "python3 -c 'main()' a.b=1"])
def test_a_text_of_python_is_no_program(tmp_path: Path, script: str) -> None:
    (tmp_path / "run.sh").write_text(script)
    (reading,) = load_all(tmp_path / "run.sh")
    assert [(finding.code, finding.message) for finding in reading.findings] == [
        ("PW010", f"`{tmp_path}/run.sh` starts no program with settings in a file, but a text of Python")
    ]


def test_a_launcher_is_found_whatever_a_file_that_is_not_followed_may_set(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(
        'source conf/common.sh\nargs="--entry=verl/trainer/main_ppo.py"\n'
        'if [ -n "$TOKEN" ]; then args="$args --env=$TOKEN"; fi\n'
        "nebulactl run mdl --user_params='trainer.nnodes=2' $args\n"
    )
    (reading,) = load_all(tmp_path / "run.sh", read_shorthand("2x8"), composer=Composer())
    program = reading.document.program
    assert program is not None and program.name.endswith("main_ppo.py")


@pytest.mark.parametrize("written", ["trainer.nnodes = 1", "trainer.nnodes =1"])
def test_blanks_around_the_sign_of_a_setting_are_one_fault(tmp_path: Path, written: str) -> None:
    (tmp_path / "run.sh").write_text(f"{START} {MODES} {written}\n")
    (reading,) = load_all(tmp_path / "run.sh", read_shorthand("1x8"), composer=Composer())
    (finding,) = (finding for finding in reading.findings if finding.code == "PW012")
    assert finding.help == "write `trainer.nnodes=1`" and finding.label == "no blanks may be around `=`"


def test_as_many_processes_as_devices_are_said_to_be_unknown(tmp_path: Path) -> None:
    assert verdict(tmp_path, "torchrun --nproc_per_node=gpu -m verl.trainer.sft_trainer model.path=x") == "incomplete"


def test_a_container_shows_what_it_gets_to_the_shell_in_it(tmp_path: Path) -> None:
    assert verdict(tmp_path, f"docker run --gpus=2 image bash -c '{RUN}'") == "faulty"
    assert verdict(tmp_path, f"docker run --gpus=8 image bash -c '{RUN}'") == "ok"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("<<EOF | sed s/a/b/\ntrainer.nnodes=2\nEOF\n", "incomplete"),
        ("<<EOF | tr r r\ntrainer.nnodes=2\nEOF\n", "faulty"),
        ("<<EOF\ntrainer.nnodes=2\nEOF\necho trainer.total_epochs=1\n", "faulty"),
        ("<<-EOF\n\ttrainer.nnodes=2\n\tEOF\n", "faulty"),
    ],
)
def test_a_document_is_followed_into_what_changes_it(tmp_path: Path, document: str, expected: str) -> None:
    assert verdict(tmp_path, f"{RUN} $(cat {document})\n") == expected


def roll(text: str, before: str = "", after: str = "", quote: str = "'") -> str:
    """A script that writes the configuration that ROLL's launcher reads."""
    return f"{before}cat > conf/job.yaml <<{quote}EOF{quote}\n{text}EOF\n{after}python start_rlvr_pipeline.py --config_path conf --config_name job\n"


JOB = """\
rollout_batch_size: 64
num_return_sequences_in_group: 8
adv_estimator: grpo
init_kl_coef: 0
actor_train:
  training_args: {per_device_train_batch_size: 1, gradient_accumulation_steps: 8}
  strategy_args: {strategy_name: megatron_train}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 1}}
  device_mapping: list(range(0,8))
"""


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (roll(JOB), "ok"),
        (roll(JOB.replace("64", "63")), "faulty"),
        (roll(JOB.replace("64", "$SIZE"), before="SIZE=64\n", quote=""), "ok"),
        (roll(JOB.replace("64", "$SIZE"), quote=""), "incomplete"),
        (roll(JOB, after="sed -i s/64/63/ conf/job.yaml\n"), "incomplete"),
        (roll(JOB, before="if [ -f a ]; then\n", after="fi\n"), "incomplete"),
    ],
)
def test_a_configuration_that_the_script_writes_is_read_as_that_text(tmp_path: Path, script: str, expected: str) -> None:
    assert verdict(tmp_path, script) == expected
