"""From a launch script to the program's own configuration file, whatever starts the program; and what it tells Ray."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load, load_all, read
from placewright.models.findings.finding import Finding, Severity, UnusableInput
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.models.reading import Reading
from placewright.models.script.document import documents_of
from placewright.models.text.document import Program
from placewright.models.text.source import Source
from placewright.models.text.tree import UNRESOLVED, Scalar, find
from placewright.planner.verify import verify

ROLL = """\
rollout_batch_size: 64
num_return_sequences_in_group: 8
adv_estimator: grpo
init_kl_coef: 0
actor_train:
  training_args: {per_device_train_batch_size: 1, gradient_accumulation_steps: 32}
  strategy_args: {strategy_name: megatron_train, strategy_config: {tensor_model_parallel_size: 2}}
  device_mapping: list(range(0,4))
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 4}}
  device_mapping: list(range(4,11))
rewards:
  rule: {world_size: 8}
"""
RLINF = "cluster:\n  num_nodes: 1\n  component_placement: {actor: 0-7, rollout: 0-11, reward: 0-7}\n"
VERL = "algorithm.adv_estimator=grpo trainer.nnodes=1 trainer.n_gpus_per_node=4"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def errors(reading: Reading) -> list[Finding]:
    return [finding for finding in verify(reading).findings if finding.severity is Severity.ERROR]


def program(script: str) -> Program:
    (document,) = documents_of(Source("run.sh", script), Composer())
    assert document.program is not None
    return document.program


@pytest.mark.parametrize(
    "command",
    [
        "python start_rlvr_pipeline.py --config_path jobs --config_name small",
        "python3 start_rlvr_pipeline.py --config_path=jobs --config_name=small.yaml",
        "python3 start_rlvr_pipeline.py --config_p jobs --config_n=small",
        'NAME=${1:-small}\npython start_rlvr_pipeline.py --config_path jobs --config_name $NAME "$@"',
        'bash -c "python start_rlvr_pipeline.py --config_path jobs --config_name small"',
        "uv run start_rlvr_pipeline.py --config_path jobs --config_name small",
        "srun -N 2 bash -lc 'python start_rlvr_pipeline.py --config_path jobs --config_name small'",
        "ray job submit --working-dir . -- python start_rlvr_pipeline.py --config_path jobs --config_name small",
        "bash <<END\npython start_rlvr_pipeline.py --config_path jobs --config_name small\nEND",
        "cat > /tmp/go.sh <<'END'\npython start_rlvr_pipeline.py --config_path jobs --config_name small\nEND\nbash /tmp/go.sh",
        'A="--config_name small --config_path jobs"\nclient run --user_params="$A" --entry=start_rlvr_pipeline.py --queue=$QUEUE',
        "go() { python start_rlvr_pipeline.py --config_path $1 --config_name $2; }\ngo jobs small",
        "sbatch -N 1 <<END\n#!/bin/bash\npython start_rlvr_pipeline.py --config_path jobs --config_name small\nEND",
        "sbatch -N 1 --wrap 'python start_rlvr_pipeline.py --config_path jobs --config_name small'",
        "sbatch --wrap='srun python start_rlvr_pipeline.py --config_path jobs --config_name small'",
        "cat > go.sh <<'END'\npython start_rlvr_pipeline.py --config_path jobs --config_name small\nEND\nchmod +x go.sh\n./go.sh",
        "cat > go.sbatch <<'END'\npython start_rlvr_pipeline.py --config_path jobs --config_name $1\nEND\nsbatch -N 1 go.sbatch small",
        "A=$(cat <<'END'\n--config_path jobs\n--config_name small\nEND\n)\npython start_rlvr_pipeline.py $A",
        "N=small\npython start_rlvr_pipeline.py $(cat <<END\n--config_path jobs --config_name $N\nEND\n)",
        "pipenv run python start_rlvr_pipeline.py --config_path jobs --config_name small",
    ],
)
def test_a_program_of_roll_is_judged_by_its_file(tmp_path: Path, command: str) -> None:
    write(tmp_path, {"run.sh": command, "jobs/small.yaml": ROLL})
    (finding,) = errors(load(tmp_path / "run.sh", DeclaredNodes(8)))
    assert finding.code == "PW111" and "actor_infer" in finding.message
    assert finding.span is not None and finding.span.file.endswith("jobs/small.yaml")


@pytest.mark.parametrize("before", ["own-launcher --gpus 8", "retry 3", "$LAUNCHER --nodes 1"])
def test_a_program_behind_a_command_that_is_not_known_is_judged_and_that_is_told(before: str) -> None:
    (document,) = documents_of(Source("run.sh", f"LAUNCHER=$(choose)\n{before} python3 -u -m verl.trainer.main_ppo {VERL}"), Composer())
    assert document.program is not None and document.program.name == "verl.trainer.main_ppo"
    assert any("is started is not known: it depends on" in item.why for item in document.unchecked)


@pytest.mark.parametrize(
    "start",
    [
        *('"$P" -u -m verl.trainer.main_ppo', "$P -m verl.trainer.main_ppo", "$P -u -m verl.trainer.main_ppo"),
        *("$P -X faulthandler -u -m verl.trainer.main_ppo", "$P --nproc_per_node 8 -m verl.trainer.main_ppo"),
        *(
            f"P=python3\nif ! command -v $P; then P=python; fi\n{words}"
            for words in ("$P verl/trainer/main_ppo.py", "nohup $P -m verl.trainer.main_ppo")
        ),
    ],
)
def test_a_program_behind_an_interpreter_that_is_not_known_is_judged(start: str) -> None:
    assert program(f"{start} {VERL}").name.replace("/", ".").removesuffix(".py") == "verl.trainer.main_ppo"


def test_a_tool_that_is_not_known_is_no_interpreter() -> None:
    assert program(f"$SUDO apt-get install -y -m other.py\npython3 -m verl.trainer.main_ppo {VERL}").name == "verl.trainer.main_ppo"
    with pytest.raises(UnusableInput):
        program(f"$SUDO install -m other.py {VERL}")


def test_options_of_torchrun_name_a_launcher_that_is_not_known() -> None:
    script = "L=torchrun\nif [ -d /x ]; then L=/x/torchrun; fi\n$L --nproc_per_node=8 -m verl.trainer.sft_trainer data.train_batch_size=8"
    assert (program(script).launcher, dict(program(script).options)) == ("torchrun", {"--nproc_per_node": "8"})


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ('if [[ "$MODE" == big ]]; then N=3; fi', {"MODE"}),
        ('if [ -z "$WORLD" ]; then N=1; else N=$WORLD; fi', {"WORLD"}),
        ('[ -n "$BIG" ] && N=3', {"BIG"}),
        ('[ -z "$BIG" ] || N=3', {"BIG"}),
        ('case "$SIZE" in 7b) N=3;; *) N=2;; esac', {"SIZE"}),
        ('if [ "$1" = big ]; then N=3; fi', {"$1"}),
        ('if [ "$A" = 1 ]; then N=3; elif [ "$B" = 1 ]; then N=4; fi', {"A", "B"}),
        ('if [ "$A" = 1 ]; then M=3; fi', set()),
        ('A=0\nif [ "$A" = 1 ]; then N=3; fi', set()),
    ],
)
def test_a_condition_on_an_unset_variable_is_told_of_what_it_decides(script: str, names: set[str]) -> None:
    (document,) = documents_of(Source("run.sh", f"N=1\n{script}\npython3 -m verl.trainer.main_ppo a.b=1 trainer.nnodes=$N"), Composer())
    assert set().union(*document.assumed.values()) == names


@pytest.mark.parametrize("end", ["\n", " \\\n# one more\n"])
def test_settings_that_never_reach_the_program_are_not_taken_for_given(tmp_path: Path, end: str) -> None:
    command = f"python3 -m verl.trainer.main_ppo {VERL}{end}  actor_rollout_ref.rollout.name=vllm \\\n  trainer.total_epochs=2\n"
    write(tmp_path, {"run.sh": command})
    report = verify(load(tmp_path / "run.sh", DeclaredNodes(8), composer=Composer(frameworks=("verl==0.9.0",))))
    assert "PW125" in [finding.code for finding in report.findings]
    assert any("rollout.name" in finding.message for finding in report.findings if finding.severity is Severity.ERROR)


def test_what_is_only_printed_is_not_started() -> None:
    with pytest.raises(UnusableInput):
        documents_of(Source("run.sh", f"echo python3 -m verl.trainer.main_ppo {VERL}"), Composer())


@pytest.mark.parametrize("entrypoint", ["{command}", "|\n    cd /work\n    {command}", "bash -c '{command}'"])
def test_the_entrypoint_of_a_ray_job_is_a_script(tmp_path: Path, entrypoint: str) -> None:
    command = f"python3 -m verl.trainer.main_ppo {VERL} actor_rollout_ref.rollout.name=none"
    text = f"apiVersion: ray.io/v1\nkind: RayJob\nspec:\n  entrypoint: {entrypoint.format(command=command)}\n"
    write(tmp_path, {"job.yaml": text})
    found = errors(load(tmp_path / "job.yaml", DeclaredNodes(8)))
    assert "PW123" in [finding.code for finding in found if "rollout.name" in finding.message]
    kept = load_all(_written(tmp_path / "kept.yaml", text + "  entrypointNumGpus: 1\n"), DeclaredNodes(8), "auto", "training", Composer())
    assert any("entrypointNumGpus" in item.why for item in kept[0].unchecked)


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("arguments", "help_"),
    [
        ("--config_path jobs --config_name small rollout_batch_size=32 own.key=1", "write it into the configuration itself"),
        ("--config_path jobs --config_name small -v", "write it into the configuration itself"),
        ("--config_path jobs --config_name small --config_ jobs", "write it into the configuration itself"),
        ("--config-path jobs --config-name small", "write `--config_path`"),
    ],
)
def test_a_launcher_of_roll_takes_two_options(tmp_path: Path, arguments: str, help_: str) -> None:
    write(tmp_path, {"run.sh": f"python start_rlvr_pipeline.py {arguments}", "jobs/small.yaml": ROLL})
    first, second = errors(load(tmp_path / "run.sh", DeclaredNodes(8), composer=Composer(frameworks=("roll==0.3.0",))))
    assert (first.code, first.help, second.code) == ("PW012", help_, "PW111")
    unstated = load(tmp_path / "run.sh", DeclaredNodes(8))  # the launcher may be one of a fork
    assert [finding.code for finding in errors(unstated)] == ["PW111"]
    assert any(item.decides and "refuses" in item.why for item in unstated.unchecked)
    write(tmp_path, {"start_rlvr_pipeline.py": 'p.add_argument("--config_path")\np.add_argument("--config_name")\np.parse_args()\n'})
    assert [finding.code for finding in errors(load(tmp_path / "run.sh", DeclaredNodes(8)))] == ["PW012", "PW111"]


def test_a_launcher_of_a_fork_may_take_settings(tmp_path: Path) -> None:
    command = "python start_rlvr_pipeline.py --config_path jobs --config_name small rollout_batch_size=32"
    fork = 'parser.add_argument("--config_path")\nparser.add_argument("--config_name")\nargs, rest = parser.parse_known_args()\n'
    write(tmp_path, {"run.sh": command, "jobs/small.yaml": ROLL, "start_rlvr_pipeline.py": fork})
    assert [finding.code for finding in errors(load(tmp_path / "run.sh", DeclaredNodes(8)))] == ["PW111"]


def test_a_script_of_roll_lies_beside_its_file_and_starts_a_program_above(tmp_path: Path) -> None:
    script = (
        "CONFIG_PATH=$(basename $(dirname $0))\npython examples/start_rlvr_pipeline.py --config_path $CONFIG_PATH --config_name small\n"
    )
    write(tmp_path, {"examples/jobs/run.sh": script, "examples/jobs/small.yaml": ROLL, "roll/__init__.py": ""})
    reading = load(tmp_path / "examples/jobs/run.sh", DeclaredNodes(8))
    assert [finding.code for finding in errors(reading)] == ["PW111"]
    assert reading.document.program is not None and reading.document.program.found


@pytest.mark.parametrize(
    "command",
    [
        'CMD="python train.py --config-path config --config-name job"\neval $CMD',
        'CMD="python train.py --config-path config --config-name job"\neval "$CMD 2>&1 | tee log"',
        'CMD=(python train.py --config-name job)\nCMD+=(--config-path config/)\n"${CMD[@]}"',
        'HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\npython ${HERE}/train.py --config-path ${HERE}/config --config-name job',
        'cd "$(dirname "$0")"\npython train.py --config-path "$PWD/config" --config-name job',
        'HERE=$(realpath "$(dirname "$0")")\nexport FILE="$HERE/train.py"\npython $FILE --config-path "$HERE/config/" --config-name job',
        "python $REPO/train.py --config-path $REPO/config --config-name job",
        'if [ -z "$1" ]; then\n  NAME=job\nelse\n  NAME=$1\nfi\npython train.py --config-path config --config-name $NAME',
    ],
)
def test_a_program_of_rlinf_is_judged_by_its_file(tmp_path: Path, command: str) -> None:
    write(tmp_path, {"run.sh": command + "\n", "config/job.yaml": RLINF, "train.py": "@hydra.main(version_base='1.1')\ndef main(c): ...\n"})
    (finding,) = errors(load(tmp_path / "run.sh", DeclaredNodes(8)))
    assert finding.code == "PW102" and "0-11" in finding.message


def test_settings_of_a_script_are_made_in_the_file_as_strictly_as_hydra_does(tmp_path: Path) -> None:
    command = "python train.py --config-path config --config-name job cluster.component_placement.rollout=0-7 cluster.nodes=2\n"
    write(tmp_path, {"run.sh": command, "config/job.yaml": RLINF, "train.py": "@hydra.main(version_base='1.1')\ndef main(c): ...\n"})
    (finding,) = errors(load(tmp_path / "run.sh", DeclaredNodes(8)))
    assert finding.code == "PW012" and "cluster.nodes" in finding.message


@pytest.mark.parametrize(
    ("command", "message", "help_"),
    [
        (
            "python start_rlvr_pipeline.py --config_path jobs --config_name gone",
            "`start_rlvr_pipeline.py` begins with `jobs/gone.yaml`, which is not found",
            "--config-root",
        ),
        ("bash other.sh", "`run.sh` starts no program with settings itself, but another script", "verify that script"),
        ("source env.sh\n$RUN", "`run.sh` starts no program in what could be followed", "write the command"),
    ],
)
def test_what_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str, help_: str) -> None:
    write(tmp_path, {"run.sh": command})
    monkeypatch.chdir(tmp_path)
    reading = load("run.sh", DeclaredNodes(8))
    (finding,) = reading.findings
    assert finding.message.startswith(message)
    assert help_ in finding.help and finding.unusable


@pytest.mark.parametrize("inner", ['cd "$(dirname "${BASH_SOURCE[0]}")" && pwd', ' cd "$( dirname "${BASH_SOURCE[0]}" )" && pwd '])
def test_the_folder_of_a_script_is_known_however_it_is_written(tmp_path: Path, inner: str) -> None:
    write(tmp_path, {"run.sh": f'D="$({inner})"\ntorchrun --nproc_per_node=2 "${{D}}/t.py"\n', "t.py": "print()\n"})
    (finding,) = load(tmp_path / "run.sh", DeclaredNodes(8)).findings
    assert finding.message.endswith("starts no program with settings")


def test_a_configuration_that_its_folder_lacks_is_named_by_its_neighbour(tmp_path: Path) -> None:
    write(tmp_path, {"run.sh": "python start_rlvr_pipeline.py --config_path jobs --config_name 8b_deepspeed\n"})
    write(tmp_path, {"jobs/30b_fsdp2.yaml": ROLL, "jobs/8b_fsdp2.yaml": ROLL, "jobs/8b_deepspeed2.yml": ROLL})
    (finding,) = load(tmp_path / "run.sh", DeclaredNodes(8)).findings
    assert finding.help.startswith("write a name that its folder has, such as `8b_deepspeed2.yml`, or name the folder")


_BY_ARGUMENT = "begins with a configuration that `$1` names, which is not known: it depends on an argument of the script"
_GONE = "begins with `config/gone.yaml`, which is not found, unless an argument of the script names another one"


@pytest.mark.parametrize(
    ("command", "message", "files", "add"),
    [
        ("CONFIG=$1\npython train.py --config-path config --config-name $CONFIG", _BY_ARGUMENT, "", "Verify that configuration itself, or"),
        ("python train.py --config-path config --config-name $1", _BY_ARGUMENT, "a b", "such as `config/a.yaml`, one of 2"),
        (
            'if [ -z "$1" ]; then\n  exit 1\nelse\n  NAME=$1\nfi\npython train.py --config-path config --config-name $NAME',
            _BY_ARGUMENT, "a", "Verify that configuration itself, such as `config/a.yaml`",
        ),
        ("python train.py --config-path config --config-name ${1:-gone} a.b=1", _GONE, "a b c", "such as `config/a.yaml`, one of 3"),
        (
            'if [ -z "$1" ]; then\n  NAME=gone\nelse\n  NAME=$1\nfi\npython train.py --config-path config --config-name $NAME',
            _GONE, "", "name the folder",
        ),
        ("HERE=$(dirname $0)\npython start_rlvr_pipeline.py --config_path $HERE/jobs --config_name $1", _BY_ARGUMENT, "", "Verify that"),
    ],
)  # fmt: skip
def test_a_configuration_that_an_argument_names_is_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str, files: str, add: str
) -> None:
    write(tmp_path, {"run.sh": command, **{f"config/{name}.yaml": RLINF for name in files.split()}})
    monkeypatch.chdir(tmp_path)
    report = verify(load("run.sh", DeclaredNodes(8)))
    assert (report.verdict, report.findings) == ("incomplete", ())
    assert message in report.missing[0].fact and add.lower() in report.missing[0].add.lower()


def test_config_root_names_the_folder_of_a_program(tmp_path: Path) -> None:
    write(tmp_path, {"mine/run.sh": "python examples/start_rlvr_pipeline.py --config_path jobs --config_name small\n"})
    write(tmp_path, {"code/examples/jobs/small.yaml": ROLL})
    path = tmp_path / "mine/run.sh"
    assert [finding.code for finding in load(path, DeclaredNodes(8)).findings] == ["PW001"]
    assert [finding.code for finding in errors(load(path, DeclaredNodes(8), composer=Composer((str(tmp_path / "code"),))))] == ["PW111"]


def test_an_array_that_an_unknown_condition_lengthens_keeps_the_rest() -> None:
    script = (
        "DEVICE=${DEVICE:-$(detect)}\nACTOR=(a.b=1 a.c=2)\nif [ $DEVICE = npu ]; then\n  ACTOR+=(a.d=3 +a.e=4)\nfi\n"
        'for f in $(ls); do ACTOR+=(a.f=$f); done\npython3 -m verl.trainer.main_ppo "${ACTOR[@]}" a.g=5\n'
    )
    (document,) = documents_of(Source("run.sh", script), Composer())
    values = {name: find(document.root, f"a.{name}") for name in "bcdefg"}
    tags = {name: value.tag == UNRESOLVED for name, value in values.items() if isinstance(value, Scalar)}
    assert tags == {"b": False, "c": False, "d": True, "e": True, "f": True, "g": False}
    assert not document.findings
    assert document.program is not None and not document.program.complete  # the loop may add more


def test_a_setting_that_an_unknown_condition_adds_is_no_proof_of_a_default() -> None:
    script = (
        "ACTOR=(actor_rollout_ref.actor.ppo_mini_batch_size=32 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1)\n"
        "python3 -c 'import torch_npu' && ACTOR+=(actor_rollout_ref.actor.entropy_coeff=0)\n"
        f'python3 -m verl.trainer.main_ppo {VERL} data.train_batch_size=32 "${{ACTOR[@]}}" \\\n'
        "  actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1\n"
    )
    assert errors(read(Source("run.sh", script), level="training")) == []


@pytest.mark.parametrize(
    ("command", "name", "launcher"),
    [
        ("uv run --frozen --extra vllm python3 -m verl.trainer.main_ppo", "verl.trainer.main_ppo", "uv run"),
        ("coverage run -p --source=verl -m verl.trainer.main_ppo", "verl.trainer.main_ppo", "coverage"),
        ("coverage run --branch verl/trainer/main_ppo.py", "verl/trainer/main_ppo.py", "coverage"),
        ("python3 -mverl.trainer.main_ppo", "verl.trainer.main_ppo", ""),
        ("srun python -mtorch.distributed.run --nproc_per_node=8 -m verl.trainer.sft_trainer", "verl.trainer.sft_trainer", "torchrun"),
        ('L=(uv run --frozen python3); "${L[@]}" -m verl.trainer.main_ppo', "verl.trainer.main_ppo", "uv run"),
        ("accelerate launch --config_file a.yaml -m pkg.train", "pkg.train", "accelerate"),
        ("python -m pkg.launch other.trainer.main --x", "other.trainer.main", "pkg.launch"),
        ("ray job submit -- 'python -m a.b x.y=1'", "a.b", ""),
        ("ssh node1 'cd /w && python -m a.b x.y=1'", "a.b", ""),
        ("docker run --gpus all image bash -c 'python -m a.b x.y=1'", "a.b", ""),
        ("time python -m a.b", "a.b", "time"),
        ('if nvidia-smi; then L=(python3); else L=(uv run python3); fi\n"${L[@]}" -m a.b', "a.b", ""),
    ],
)
def test_launchers(command: str, name: str, launcher: str) -> None:
    found = program(command if "x.y" in command else f"{command} c.d=1")
    assert (found.name, found.launcher) == (name, launcher)


@pytest.mark.parametrize(
    "argument", ['val.override=\'{"n":16,"temperature":1.0}\'', "a.b=x,y", "train", "a.b='<path>'", "+a.b.c", "a.b=[1", "'a b=c d'"]
)
def test_nothing_is_refused_of_a_program_that_is_not_known_to_be_hydras(argument: str) -> None:
    script = f"python3 -m mylab.trainer.grpo config=conf/base.yaml {argument} trainer.n_gpus_per_node=8"
    (document,) = documents_of(Source("run.sh", script), Composer())
    assert document.findings == ()
    assert document.program is not None and not document.program.is_hydra
    assert program(f"python3 -m verl.trainer.main_ppo {VERL}").is_hydra
    assert program(f"python3 -m recipe.dapo.main_dapo {VERL}").is_hydra
    assert not program(f"python3 -m recipe.mine.main_mine {VERL}").is_hydra
    assert program("python /w/examples/reasoning/main_grpo.py cluster.num_nodes=2").is_hydra
    assert not program("python /w/examples/reasoning/plot.py cluster.num_nodes=2").is_hydra


def test_a_program_is_hydras_if_its_file_says_so(tmp_path: Path) -> None:
    write(
        tmp_path, {"run.sh": "python3 own.py a.b=1 train\n", "own.py": "import hydra\n\n@hydra.main(version_base=None)\ndef main(c): ...\n"}
    )
    (document,) = documents_of(Source.read(tmp_path / "run.sh"), Composer())
    assert [finding.code for finding in document.findings] == ["PW012"]


def test_a_key_that_the_configuration_lacks_is_refused_by_rlinfs_programs(tmp_path: Path) -> None:
    start = "python examples/reasoning/main_grpo.py --config-path conf --config-name"
    write(
        tmp_path, {"a.sh": f"{start} whole cluster.num_node=4\n", "b.sh": f"{start} partial cluster.num_node=4\n",
        "conf/whole.yaml": "cluster: {num_nodes: 2}\n", "conf/partial.yaml": "defaults: [more, _self_]\ncluster: {num_nodes: 2}\n"},
    )  # fmt: skip
    found = {name: documents_of(Source.read(tmp_path / name), Composer())[0] for name in ("a.sh", "b.sh")}
    assert [finding.help for finding in found["a.sh"].findings] == ["write `cluster.num_nodes`"]
    assert found["b.sh"].partial and not [finding for finding in found["b.sh"].findings if finding.code == "PW012"]


@pytest.mark.parametrize(
    ("before", "accelerators", "at", "cpus"),
    [
        ("export CUDA_VISIBLE_DEVICES=0,1\nray start --head --num-gpus=2\n", 2, "--num-gpus=2", None),
        ("ray start --head --num-gpus 6 --num-cpus=16\n", 6, "6", 16),
        ("N=3\nray start --head --num-gpus=$N\n", 3, "--num-gpus=$N", None),
        ("export CUDA_VISIBLE_DEVICES=0,1,5\nray start --head\n", 3, "0,1,5", None),
        ("export CUDA_VISIBLE_DEVICES=0,1\n", 2, "0,1", None),
        ("CUDA_VISIBLE_DEVICES=0,1,2 ", 3, "0,1,2", None),
        ("env CUDA_VISIBLE_DEVICES=4 ", 1, "4", None),
        ("IDS=2,3; export CUDA_VISIBLE_DEVICES=$IDS\n", 2, "$IDS", None),
    ],
)
def test_what_a_script_tells_ray(before: str, accelerators: int, at: str, cpus: int | None) -> None:
    script = f"{before}python3 -m verl.trainer.main_ppo {VERL}\n"
    machine = program(script).machine
    assert machine is not None and machine.accelerators_span is not None
    assert (machine.accelerators, machine.cpus) == (accelerators, cpus)
    span = machine.accelerators_span
    assert script[span.start : span.end] == at


@pytest.mark.parametrize(
    "before",
    [
        "",
        "CUDA_VISIBLE_DEVICES=0,1\n",  # not exported
        "if nvidia-smi; then ray start --head --num-gpus=2; fi\n",
        "export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0,1}\n",
        "export CUDA_VISIBLE_DEVICES=$GPUS\n",
        "export CUDA_VISIBLE_DEVICES=0,1\nray job submit -- ",
        "ray start --head --num-gpus=$(nvidia-smi -L | wc -l)\n",
    ],
)
def test_what_is_not_known_of_the_machine_is_not_told(before: str) -> None:
    assert program(f"{before}python3 -m verl.trainer.main_ppo {VERL}\n").machine is None


TASK = """\
name: grpo
num_nodes: 2
resources:
  accelerators: H100:4
envs:
  TP: 3
setup: |
  pip install verl
run: |
  set -e
  if [ "$SKYPILOT_NODE_RANK" == "0" ]; then
    ray start --head
    python3 -m verl.trainer.main_ppo \\
      trainer.nnodes=$SKYPILOT_NUM_NODES \\
      trainer.n_gpus_per_node=$SKYPILOT_NUM_GPUS_PER_NODE \\
      actor_rollout_ref.rollout.tensor_model_parallel_size=$TP
  else
    ray start --address=$HEAD
  fi
"""


@pytest.mark.parametrize("accelerators", ["H100:4", "{H100: 4}", "\n    H100: 4"])
def test_the_run_block_of_a_skypilot_task_is_a_script(tmp_path: Path, accelerators: str) -> None:
    text = TASK.replace("H100:4", accelerators)
    write(tmp_path, {"task.yaml": text})
    reading = load(tmp_path / "task.yaml", DeclaredNodes(4), level="placement")
    codes = [finding.code for finding in errors(reading)]
    assert codes and set(codes) <= {"PW208", "PW214"}
    span = errors(reading)[0].span
    assert span is not None and text.split("\n")[span.line - 1].strip().startswith(("trainer.n_gpus", "actor_rollout_ref"))
    found = reading.document.program
    assert found is not None and found.machine is not None and found.machine.accelerators == 4
    sizes = {path: find(reading.document.root, path) for path in ("trainer.nnodes", "trainer.n_gpus_per_node")}
    assert [value.value for value in sizes.values() if isinstance(value, Scalar)] == [2, 4]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("X='eval $X'\neval $X\n", "PW002"),
        ("f() { f; }\nf\n", "PW002"),
        ("f() { bash -c f; }\nexport -f f\nf\n", "PW002"),
        ('export X=\'bash -c "$X"\'\nbash -c "$X"\n', "PW002"),
        ("while true; do A=$A.; done\n", "PW010"),
        ('bash "$0" --again\n', "PW010"),
        ("python3 -m verl.trainer.main_ppo 'a.b=1\n", "PW014"),
        ("echo )\n", "PW014"),
        ("done\n", "PW014"),
        ("f() { python3 -m verl.trainer.main_ppo a.b=1\n", "PW014"),
        ("A=(a b\npython3 -m verl.trainer.main_ppo a.b=1\n", "PW014"),
    ],
)
def test_bad_input_is_one_clear_finding(tmp_path: Path, script: str, code: str) -> None:
    write(tmp_path, {"run.sh": script})
    for reading in load_all(tmp_path / "run.sh", DeclaredNodes(8), level="placement"):
        assert [finding.code for finding in reading.findings] == [code]


@pytest.mark.parametrize(("command", "accelerators"), [("", 2), ("env -u CUDA_VISIBLE_DEVICES ", None), ("env A=1 ", 2)])
def test_env_takes_variables_away(command: str, accelerators: int | None) -> None:
    machine = program(f"export CUDA_VISIBLE_DEVICES=0,1\n{command}python3 -m verl.trainer.main_ppo a.b=1").machine
    assert (machine.accelerators if machine else None) == accelerators
