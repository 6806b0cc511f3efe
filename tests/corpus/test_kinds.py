"""Further instances of the kinds of `test_cases.py`, each with the verdict and the words of the right answer.

The kinds are those of ``../shared/cases/public/INDEX.md`` (K) and ``../shared/cases/ux.md`` (B).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load_all
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.reading import read_machines
from placewright.planner.verify import verify

RLINF = """\
cluster:
  num_nodes: 1
  component_placement: {actor: 0-7, rollout: 0-7}
"""
ROLL = """\
rollout_batch_size: 64
adv_estimator: reinforce
init_kl_coef: 0
actor_train:
  strategy_args: {strategy_name: megatron_train, strategy_config: {tensor_model_parallel_size: 2}}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 2}}
  device_mapping: list(range(0,8))
rewards:
  rule: {world_size: 8}
"""


@dataclass(frozen=True)
class Instance:
    """One file, its machines, its verdict, and texts that the answer holds or lacks."""

    kind: str
    name: str
    text: str
    verdict: str
    words: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    cluster: str = "1x8"
    release: str = ""
    beside: dict[str, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return f"{self.kind}-{self.verdict}-{self.words[0] if self.words else self.name}"


K2 = [
    Instance("K2", "job.yaml", RLINF + "teacher: {num_gpus: 8, num_nodes: 1}\n", "incomplete", ("`teacher.num_gpus`, `teacher.num_nodes` count machines",)),
    Instance("K2", "job.yaml", RLINF + "judge: {tensor_parallel_size: 4}\n", "incomplete", ("`judge.tensor_parallel_size` counts machines",)),
    Instance("K2", "job.yaml", RLINF.replace("0-7}", '"0-${last.num_gpus}"}') + "last: {num_gpus: 7}\n", "ok", absent=("last.num_gpus",)),
    Instance("K2", "job.yaml", ROLL + "sandbox: {num_gpus: 4, num_nodes: 1}\n", "incomplete", ("`sandbox.num_gpus`, `sandbox.num_nodes` count machines",)),
    Instance("K2", "job.yaml", ROLL + "judge_gpus: 3\n", "incomplete", ("`judge_gpus` counts machines",)),
    Instance("K2", "job.yaml", ROLL + "tools: [{name: a, num_gpus: 2}]\n", "incomplete", ("`tools.0.num_gpus` counts machines",)),
    Instance("K2", "job.yaml", ROLL.replace("tensor_parallel_size: 2", 'tensor_parallel_size: "${own.num_gpus}"') + "own: {num_gpus: 2}\n", "ok", absent=("own.num_gpus",)),
    Instance("K2", "job.yaml", "x: {world_size: &w 8}\n" + ROLL.replace("world_size: 8", "world_size: *w"), "ok", absent=("x.world_size",)),
    Instance("K2", "job.yaml", ROLL + "own: {num_workers: 3, seed: 1, gpus: 0}\n", "ok", absent=("own.",)),
]  # fmt: skip


RUN = "python examples/embodiment/train_embodied_agent.py --config-path $PWD/conf --config-name "
ONE = "cluster.num_nodes=1 cluster.component_placement.actor=0-7"
UNKNOWN = [
    Instance("B5", "run.sh", RUN + f"gone {ONE}\n", "incomplete", ("begins with `conf/gone.yaml`, which is not found",)),
    Instance("B5", "run.sh", f"python train.py {ONE}\n", "incomplete", ("the configuration that `train.py` begins with is not found",)),
    Instance("B5", "run.sh", f"{RUN}job\n", "ok", beside={"conf/job.yaml": RLINF}),
    Instance(
        "B5", "job.yaml", RLINF + "actor: {model: {tensor_model_parallel_size: 3}}\n", "incomplete", ("there is no `runner.task_type`",)
    ),
    Instance("B5", "job.yaml", RLINF + "rollout: {model: {precision: bf16}}\n", "ok", absent=("task_type",)),
]
VERL = (
    "python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8 algorithm.adv_estimator=grpo data.train_batch_size=1024"
    " actor_rollout_ref.model.path=/m actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.tensor_model_parallel_size=2"
    " actor_rollout_ref.actor.use_dynamic_bsz=True "
)
THREE = VERL.replace("parallel_size=2", "parallel_size=3")
SFT = "torchrun --standalone --nnodes=1 --nproc_per_node=8 -m verl.trainer.sft_trainer data.train_files=/d model.path=/m\n"
K7 = [
    Instance("K7", "run.sh", "export CUDA_VISIBLE_DEVICES=0,1,2,3\n" + SFT, "faulty", ("`CUDA_VISIBLE_DEVICES` shows 4 accelerators, but torchrun starts 8",)),
    Instance("K7", "run.sh", "#SBATCH --gres=gpu:4\n" + SFT, "faulty", ("the script shows 4 accelerators, but torchrun starts 8",)),
    Instance("K7", "run.sh", "CUDA_VISIBLE_DEVICES=0,1,2,3 " + SFT.replace("node=8", "node=4"), "ok"),
    Instance("K7", "run.sh", "ray start --head --num-gpus=4\n" + SFT, "ok"),
    Instance("K7", "run.sh", "ray start --head --num-gpus 8\nray start --num-gpus 4\nray job submit --entrypoint-num-gpus 1 -- " + VERL, "incomplete", ("numbers of accelerators: 4 and 8", "`--entrypoint-num-gpus 1` keeps")),
    Instance("K7", "run.sh", f"export CUDA_VISIBLE_DEVICES=0,1\n{RUN}job\n", "ok", ("warning PW114 `CUDA_VISIBLE_DEVICES` shows 2, but RLinf counts and uses all 8",), beside={"conf/job.yaml": RLINF}),
    Instance("K7", "run.sh", "export CUDA_VISIBLE_DEVICES=0,0,1,1\n" + VERL.replace("node=8", "node=4"), "faulty", ("PW114 `CUDA_VISIBLE_DEVICES` names accelerator 0 twice",)),
    Instance("K7", "run.sh", "CUDA_VISIBLE_DEVICES=GPU-a,GPU-b,GPU-b " + SFT.replace("node=8", "node=3"), "faulty", ("names accelerator GPU-b twice",)),
    Instance("K7", "run.sh", f"export CUDA_VISIBLE_DEVICES=0,0\n{RUN}job\n", "ok", absent=("twice",), beside={"conf/job.yaml": RLINF}),
    Instance("K7", "run.sh", "export CUDA_VISIBLE_DEVICES=0-7\n" + VERL, "incomplete", ("warning PW215 the script shows Ray 1 accelerator of this node",)),
    Instance("K7", "run.sh", "export CUDA_VISIBLE_DEVICES=0-7 RAY_ADDRESS=local\n" + VERL, "faulty", ("the script shows Ray 1 accelerator of this node",)),
    Instance("K7", "run.sh", "export CUDA_VISIBLE_DEVICES='0 1 2 3'\n" + SFT, "faulty", ("shows 1 accelerator, but torchrun starts 8",)),
    Instance("K7", "run.sh", "#SBATCH --gpus=4\n" + VERL, "faulty", ("the script shows Ray 4 accelerators of this node",)),
    Instance("K7", "run.sh", "#SBATCH -N1\n#SBATCH -G h100:4\n" + VERL, "faulty", ("the script shows Ray 4 accelerators of this node",)),
    Instance("K7", "run.sh", "#SBATCH -N 2\n#SBATCH --gpus 16\n" + VERL, "ok"),
    Instance("K7", "run.sh", "CUDA_VISIBLE_DEVICES=0,1,-1,1 " + SFT.replace("node=8", "node=2"), "ok"),
]  # fmt: skip

TRTLLM = VERL.replace("=vllm", "=trtllm").replace("rollout.tensor_model_parallel_size=2", "rollout.tensor_model_parallel_size=4")
K8 = [
    Instance("K8", "run.sh", TRTLLM + "actor_rollout_ref.rollout.expert_parallel_size=3\n", "faulty", ("tensor_model_parallel_size` 4 is not a multiple of `actor_rollout_ref.rollout.expert_parallel_size` 3",)),
    Instance("K8", "run.sh", TRTLLM + "+actor_rollout_ref.rollout.moe_tensor_parallel_size=3\n", "faulty", ("rollout.moe_tensor_parallel_size` 3; help: set `actor_rollout_ref.rollout.moe_tensor_parallel_size=2` or `4`",)),
    Instance("K8", "run.sh", TRTLLM + "actor_rollout_ref.rollout.expert_parallel_size=2\n", "ok"),
    Instance("K8", "run.sh", TRTLLM + "actor_rollout_ref.rollout.expert_parallel_size=2 +actor_rollout_ref.rollout.moe_tensor_parallel_size=2\n", "ok"),
]  # fmt: skip

B1 = [
    Instance("B1", "run.sh", VERL + "trainer.nnode=2\n", "faulty", ("did you mean `trainer.nnodes`? Other errors follow",)),
    Instance("B1", "run.sh", VERL + "actor_rollout_ref.actor.ppo_minibatch_size=4\n", "faulty", ("`actor_rollout_ref.actor.ppo_mini_batch_size`?",)),
    Instance("B12", "run.sh", VERL + "actor_rollout_ref.rolout.n=4 actor_rollout_ref.rolout.seed=2\n", "faulty", ("the same of `actor_rollout_ref.rolout.seed`", "write `actor_rollout_ref.rollout` for `actor_rollout_ref.rolout`")),
    Instance("B12", "run.sh", VERL + "critic.model.fsdp_config.param_offload=True critic.model.fsdp_config.fsdp_size=2\n", "faulty", ("write `critic.fsdp` for `critic.model.fsdp_config`",), release="verl==0.9.0"),
    Instance("B1", "run.sh", VERL + "trainer.num_nodes=1\n", "faulty", ("help: write `trainer.nnodes`",), ("sizes something",)),
    Instance("B1", "run.sh", VERL + "rollout.nnodes=2\n", "faulty", ("help: write `actor_rollout_ref.rollout.nnodes`",), ("sizes something",)),
    Instance("B1", "run.sh", VERL + "global_profiler.nnodes=2\n", "faulty", ("write `+global_profiler.nnodes=2`",), ("rollout.nnodes",)),
    Instance("B1", "run.sh", f"{RUN}job actor.micro_batchsize=3\n", "faulty", ("did you mean `actor.micro_batch_size`?",), beside={"conf/job.yaml": RLINF + "runner: {task_type: embodied}\nactor: {training_backend: fsdp, micro_batch_size: 4, global_batch_size: 64}\n"}),
]  # fmt: skip

B1 += [
    *(Instance("B1", "run.sh", f"{VERL}{key}=8\n", "faulty", (f"help: write `{meant}",), ("cpus",)) for key, meant in [
        ("ray_kwargs.ray_init.num_gpu", "+ray_kwargs.ray_init.num_gpus=8`"), ("trainer.num_gpu", "trainer.n_gpus_per_node`"), ("trainer.num_gpus", "trainer.n_gpus_per_node`"),
        ("trainer.n_gpus", "trainer.n_gpus_per_node`"), ("reward.reward_model.n_gpu", "reward.reward_model.n_gpus_per_node`"),
    ]),
    Instance("B1", "run.sh", f"{VERL}ray_kwargs.ray_init.num_cpu=8\n", "faulty", ("ray_kwargs.ray_init.num_cpus`",), ("gpus",)),
    *(Instance("B1", "job.yaml", f"cluster: 1x8\ncomponents:\n  actor: {{{key}: 8}}\n", "faulty", ("write `accelerators`",), (), "") for key in ("num_gpu", "ngpus", "num_devices")),
    *(Instance("B1", "job.yaml", RLINF.replace("cluster:", f"cluster:\n  {key}: 4"), "incomplete", (f"`cluster.{key}` counts machines",)) for key in ("num_gpus", "num_gpus_per_node")),
]  # fmt: skip

SEVEN = ROLL.replace("actor_train", "pretrain: Qwen/Qwen2.5-7B-Instruct\nactor_train", 1)
K6 = [
    Instance(
        "K6",
        "job.yaml",
        SEVEN.replace("{tensor_model_parallel_size: 2}", f"{{pipeline_model_parallel_size: 4, {keys}}}"),
        verdict,
        (words,),
    )
    for keys, verdict, words in [
        ("num_layers_in_first_pipeline_stage: 4", "faulty", "has no key `num_layers_in_first_pipeline_stage`: a TypeError"),
        ("additional_configs: {num_layers_in_first_pipeline_stage: 5}", "faulty", "less 5 = 23 layers do not divide among 3 middle stages"),
        ("additional_configs: {num_layers_in_first_pipeline_stage: 4}", "ok", ""),
        ("account_for_loss_in_pipeline_split: true", "faulty", "and 1 more = 29 do not divide among 4 stages"),
        (
            "pipeline_model_parallel_layout: 'Et*7|t*7|t*7|t*8L'",
            "faulty",
            "has 28 layers, but `pipeline_model_parallel_layout` of actor_train holds 29",
        ),
        ("pipeline_model_parallel_layout: 'Et*7|t*7|t*7|t*7L'", "ok", ""),
        (
            "recompute_granularty: full",
            "faulty",
            "has no key `recompute_granularty`: a TypeError when its workers start; help: write `recompute_granularity`",
        ),
        ("tp: 2", "faulty", "help: write `tensor_model_parallel_size`"),
        ("tensor_parallel_size: 2", "faulty", "help: write `tensor_model_parallel_size`"),
        (
            "attention_backend: flash",
            "faulty",
            "help: move it below `additional_configs` if Megatron's TransformerConfig has `attention_backend`",
        ),
        ("gradient_accumulation_steps: 4, warmup_steps: 2, ckpt_format: legacy", "ok", ""),
    ]
]
K6 += [
    Instance("K6", "job.yaml", SEVEN.replace("{tensor_model_parallel_size: 2}", "{expert_tensor_parallel_size: 1}"), "faulty", ("`expert_tensor_parallel_size` in 0.2.1, only in 0.3.0 to",), release="roll==0.2.1"),
    Instance("K6", "job.yaml", SEVEN.replace("strategy_config: {tensor_parallel", "strategy_config: {foo: 1, tensor_parallel"), "ok"),
    Instance("K6", "job.yaml", SEVEN.replace("strategy_config: {tensor_parallel_size", "strategy_config: {tp"), "faulty", ("help: write `tensor_parallel_size`",)),
]  # fmt: skip

HOLES = ROLL.replace(
    "tensor_parallel_size: 2}}\n  device_mapping: list(range(0,8))",
    "tensor_parallel_size: 2}}\n  device_mapping: list(range(0,4)) + list(range(6,8))",
)
GROUPS = "cluster:\n  num_nodes: 1\n  component_placement: {actor: {node_group: c1, placement: 0-7}, env: {node_group: c1, placement: 0-7}, x: {node_group: c2, placement: 0}}\n"
B12 = [
    Instance("B12", "job.yaml", ROLL.replace("tensor_model_parallel_size: 2", "tensor_model_parallel_size: 3").replace("(0,8)", "(0,16)"), "faulty", ("PW202 actor_train: judged once PW208",), ("warning PW202",), "2x8"),
    Instance("B12", "run.sh", THREE.replace("nnodes=1", "nnodes=2") + "\n", "faulty", ("error PW208", "PW214 rollout: judged once PW208"), ("error PW214",), "2x8"),
    Instance("B12", "job.yaml", HOLES, "faulty", ("error PW205", "PW217 actor_train: judged once PW205"), ("error PW217",), release="roll==0.2.1"),
    Instance("B12", "job.yaml", "cluster: 3x8\ncomponents:\n  actor: {placement: 0-23}\n  rollout: {placement: 0-23}\n", "faulty", ("accelerator 0 of node 0 (8 in all)", "the same on nodes 1-2: 24 in all"), ("of node 1",), ""),
    Instance("B12", "job.yaml", GROUPS, "faulty", ("there is no node group `c1`", "the same of `env`", "there is no node group `c2`")),
]  # fmt: skip

VARIABLES = "num_gpus_per_node: ${oc.env:GPUS}\nnum_nodes: ${oc.env:MY_NODES}\n" + ROLL
K10 = [
    Instance("K10", "job.yaml", VARIABLES, "ok", ("unchecked PW126 num_gpus_per_node",), ("PW102", "PW120")),
    Instance("K10", "job.yaml", VARIABLES, "faulty", ("Pass `--set num_gpus_per_node=VALUE`",), release="roll==0.1.1"),
    Instance("K10", "job.yaml", VARIABLES.replace("list(range(0,8))", "${oc.env:IDS}"), "incomplete", ("unchecked PW102 num_nodes",)),
]

ALIASED = ROLL.replace("strategy_config: {tensor_model_parallel_size: 2}", "strategy_config: &c {tensor_model_parallel_size: 3}") + (
    "enable_reference: true\nuse_kl_loss: true\n"
    "reference: {strategy_args: {strategy_name: megatron_infer, strategy_config: *c}, device_mapping: 'list(range(0,8))'}\n"
)
NATIVE = "cluster: 1x8\ncomponents:\n  actor: &a {placement: 0-7, paralel: {tp: 2}}\n  rollout: *a\n"
K11 = [
    Instance("K11", "job.yaml", ALIASED, "faulty", ("the same of `reference` (line 14)",), ("the 8 accelerators of reference",)),
    Instance("K11", "job.yaml", NATIVE, "faulty", ("the same of `rollout` (line 4)",), ("the hints of `rollout`",), ""),
    Instance("K11", "job.yaml", NATIVE.replace("*a", "{placement: 0-7, paralel: {tp: 2}}"), "faulty", ("the hints of `rollout`",), (), ""),
]

OF_VERL = (
    "actor_rollout_ref:\n  rollout: {name: vllm, tensor_model_parallel_size: 2}\n  actor: {strategy: fsdp}\n"
    "algorithm: {adv_estimator: grpo}\ntrainer: {nnodes: 1, n_gpus_per_node: 8}\ncritic: {enable: false}\n"
)
K11 += [
    Instance(
        "K11",
        "job.yaml",
        "x: &s {tensor_model_parallel_size: 2}\n" + OF_VERL.replace("tensor_model_parallel_size: 2", "<<: *s"),
        "ok",
        absent=("x.tensor",),
    ),
    Instance(
        "K11", "job.yaml", "x: {num_nodes: 1}\n" + OF_VERL.replace("nnodes: 1", 'nnodes: "${x.num_nodes}"'), "ok", absent=("x.num_nodes",)
    ),
    Instance("K2", "job.yaml", "x: {num_nodes: 1}\n" + OF_VERL, "incomplete", ("`x.num_nodes` sizes something on accelerators",)),
]

TUNED = f"{SFT.strip()} data.train_batch_size="
OLD = "torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer data.train_files=/d data.train_batch_size=12 data.micro_batch_size_per_gpu=4\n"
TEACHER = (
    f"{VERL}distillation.enabled=True distillation.nnodes=1 distillation.n_gpus_per_node=4 +distillation.teacher_models.t.model_path=/t\n"
)
B12 += [
    Instance("B12", "run.sh", TUNED + "3 data.use_dynamic_bsz=False data.micro_batch_size_per_gpu=4\n", "faulty", ("set `data.train_batch_size=32`",), ("PW403",)),
    Instance("B12", "run.sh", TUNED + "32 data.use_dynamic_bsz=False data.micro_batch_size_per_gpu=4\n", "ok"),
    Instance("B12", "run.sh", TUNED + "3\n", "faulty", ("set `data.train_batch_size=8`",)),
    Instance("B12", "run.sh", OLD, "faulty", ("set `data.train_batch_size=32`",), ("PW403",)),
    Instance("B12", "run.sh", TEACHER, "faulty", ("teacher `t` has no `key` or `inference.name`", "need 12 accelerators", "write `distillation.teacher_models.teacher_model`"), ("PW208",)),
]  # fmt: skip

SEQUENCES = "-m verl.trainer.sft_trainer data.train_files=/d model.path=/m engine.ulysses_sequence_parallel_size=3\n"
K9 = [
    *(
        Instance("K9", "run.sh", f"{start}{THREE.removeprefix('python3')}\n", "faulty", ("cannot be divided by tp x pp x cp = 3",))
        for start in ("uv run", "python3 -m mylab.launch --nnodes 1 -- python", "python3 -m debugpy --listen 5678", "python3 -m coverage run --source x")
    ),
    *(
        Instance("K9", "run.sh", f"{start} {SEQUENCES}", "faulty", ("the 8 ranks of actor cannot be divided into 3",))
        for start in ("deepspeed --num_gpus 8", "accelerate launch --num_processes 8", "srun --ntasks-per-node=8 python")
    ),
    Instance("K9", "run.sh", f"accelerate launch --num_processes 16 --num_machines 2 {SEQUENCES}", "faulty", ("the 16 ranks of actor",), cluster="2x8"),
    Instance("K9", "run.sh", f"accelerate launch --config_file a.yaml {SEQUENCES}", "incomplete", ("`--nproc_per_node` is not known here",)),
    Instance("K9", "run.sh", "read -r -d '' A <<'E'\ntrainer.nnodes=2\nE\n" + THREE.replace("trainer.nnodes=1", "$A") + "\n", "incomplete", ("`trainer.nnodes` is not among the known settings",), ("error",)),
    # bash takes an unset variable as empty, so the answer stands; the verdict line names what was not checked
    Instance("K9", "run.sh", VERL + "$EXTRA_ARGS\n", "ok", ("unchecked PW120 EXTRA_ARGS: taken as not set, so it adds no setting; `--allow-env NAME` reads it",)),
    Instance("K9", "run.sh", "set -euo pipefail\n" + VERL + "$EXTRA_ARGS\n", "incomplete", ("`set -u` ends the script without it", "--allow-env EXTRA_ARGS")),
    Instance("K9", "run.sh", "set -u\nset +u\n" + VERL + "$EXTRA_ARGS\n", "ok", ("it adds no setting",)),
    Instance("K9", "run.sh", 'ARGS="$MORE"\n' + VERL + "$ARGS\n", "ok", ("unchecked PW120 MORE",), ("PW120 ARGS",)),
    Instance("K9", "run.sh", "ARGS=\nrm $TMP_FILES\n" + VERL + "$ARGS\n", "ok", absent=("PW120",)),
    Instance("K9", "run.sh", f"echo trainer.nnodes=2 | xargs -I {{}} {VERL} {{}}\n", "incomplete", ("`xargs` reads it",)),
    Instance("K9", "run.sh", f"cat tp.txt | xargs -n1 -I@ {VERL.replace('parallel_size=2', 'parallel_size=@')}\n", "incomplete", ("unchecked PW208", "`xargs` reads it"), ("error",)),
    Instance("K9", "run.sh", f"{VERL} $(cat <<EOF\ntrainer.nnodes=2\nEOF\n)\n", "faulty", ("`global_pool` needs 16 accelerators (2 x 8)",)),
    Instance("K9", "run.sh", f"{VERL} $(cat <<EOF | tr a b\ntrainer.nnodes=2\nEOF\n)\n", "faulty"),
    *(
        Instance("K9", "run.sh", f"for tp in {words}; do\n{VERL} actor_rollout_ref.rollout.tensor_model_parallel_size=$tp\ndone\n", "faulty", ("tp x pp x cp = 3",), ("unchecked PW208",))
        for words in ("{2..4}", "{2,3}", "$(seq 3)", "$(seq 3 3)", "$(seq 3 2 5)", "$(echo 3)")
    ),
    Instance("K9", "run.sh", f"for tp in $(seq -w 3); do\n{VERL} actor_rollout_ref.rollout.tensor_model_parallel_size=$tp\ndone\n", "incomplete"),
    Instance("K9", "run.sh", f"sbatch -N1 <<EOF\n#!/bin/bash\n{THREE}\nEOF\n", "faulty", ("cannot be divided by tp x pp x cp = 3",)),
    Instance("K9", "run.sh", f"own-launcher -n 8 {THREE}\n", "faulty", ("cannot be divided by tp x pp x cp = 3", "it depends on `own-launcher`")),
    Instance("K9", "run.sh", VERL + "--resume\n", "faulty", ("`--resume` is not an option of Hydra", "take it out")),
    Instance("K9", "run.sh", VERL + "--config_path x\n", "faulty", ("write `--config-path`",), ("neither an option",)),
    Instance("K9", "run.sh", VERL + "--config-n=ppo_trainer --cfg job\n", "ok"),
    Instance("K4", "run.sh", VERL.replace("verl.trainer.main_ppo", "mylab.train") + "--resume\n", "incomplete", absent=("--resume",)),
]  # fmt: skip

K12 = [
    Instance("K12", "run.sh", VERL, "unusable", (f"write `verl=={near}`",), release=f"verl=={stated}")
    for stated, near in [("0.2.0", "0.3.0"), ("0.6", "0.6.1"), ("0.10.1", "0.9.0"), ("v0.7.2", "0.7.1"), ("0.6.1.post1", "0.6.1")]
]

K12 += [
    Instance("K12", "run.sh", VERL + "actor_rollout_ref.actor.loss_agg_mode=foo\n", "faulty", ("loss_agg_mode` is `foo`, which is unknown",)),
    Instance("K12", "run.sh", VERL.replace("name=vllm", "name=hf") + "\n", "ok"),  # engines tell the release
    Instance("K12", "run.sh", VERL.replace("name=vllm", "name=hf") + "\n", "faulty", ("an engine that this release of verl does not have",), release="verl==0.9.0"),
    *(
        Instance("K12", "run.sh", f"{VERL}actor_rollout_ref.actor.strategy={engine}\n", "faulty", (f"set `model_engine={engine}`, which makes",), ("data_parallel_shard_size",))
        for engine in ("torchtitan", "veomni")
    ),
    Instance("K12", "run.sh", f"{VERL}actor_rollout_ref.actor.strategy=torchtitan\n", "faulty", (), ("model_engine",), release="verl==0.7.1"),
    Instance("K12", "run.sh", VERL + "model_engine=torchtitan\n", "faulty", ("torchtitan.data_parallel_shard_size=8`",), ("model_engine",)),
    Instance("K12", "run.sh", VERL + "model_engine=torchtitan actor_rollout_ref.actor.torchtitan.data_parallel_shard_size=8\n", "ok"),
]  # fmt: skip

OF_TESTS = """\
hydra: {run: {dir: .}}
pretrain: Qwen/Qwen3-0.6B
rollout_batch_size: 128
actor_train:
  strategy_args: {strategy_name: fsdp2_train, strategy_config: {fsdp_size: 8}}
  device_mapping: list(range(0,8))
actor_infer: {strategy_args: {strategy_name: vllm}}
"""
BARE = ROLL.replace("\n  device_mapping: list(range(0,8))", "")
SINGULAR = "cluster: 1x8\ncomponent:\n  actor: {placement: 0-7}\n"
TRAINER = "trainer: {nnodes: 1, n_gpus_per_node: 8}\n"
ROLES = [
    Instance("B7", "job.yaml", SINGULAR, "unusable", ("write `components` for `component`",)),
    Instance("B7", "job.yaml", BARE, "incomplete", ("give `actor_train` a `device_mapping`", "--dialect roll")),
    Instance("B7", "job.yaml", TRAINER, "incomplete", ("only `trainer.nnodes` speaks for a verl file",)),
    Instance("B7", "job.yaml", TRAINER + "algorithm: {adv_estimator: grpo}\n", "ok", absent=("speaks for",)),
    Instance("B7", "job.yaml", OF_TESTS, "incomplete", ("only `actor_train` speaks for a roll file", "--dialect roll"), ("error",)),
    Instance("B7", "job.yaml", OF_TESTS + "adv_estimator: grpo\n", "faulty", ("`actor_infer` has",)),
    Instance(
        "B7",
        "run.sh",
        "python start_rlvr_pipeline.py --config_path conf --config_name job\n",
        "faulty",
        ("`critic` is not configured",),
        beside={"conf/job.yaml": OF_TESTS},
    ),
]


TABLE = [*ROLES, *K12, *K11, *K10, *K9, *B12, *K6, *B1, *K2, *UNKNOWN, *K7, *K8]


@pytest.mark.parametrize("instance", TABLE, ids=str)
def test_an_instance_gets_the_right_answer(instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {instance.name: instance.text, **instance.beside}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    verdicts, said = answer(instance)
    assert instance.verdict in verdicts, said
    for word in instance.words:
        assert word in said, said
    for word in instance.absent:
        assert word not in said, said


def answer(instance: Instance) -> tuple[set[str], str]:
    """The verdicts of a file, and all that is said about it."""
    composer = Composer(frameworks=(instance.release,) if instance.release else ())
    machines = read_machines(instance.cluster) if instance.cluster else None
    try:
        reports = [verify(reading) for reading in load_all(Path(instance.name), machines, "auto", "training", composer)]
    except UnusableInput as problem:
        return {"unusable"}, "\n".join(f"{finding.code} {finding.message} {finding.help}" for finding in problem.findings)
    lines = list[str]()
    for report in reports:
        for finding in report.findings:
            lines.append(f"{finding.severity.value} {finding.code} {finding.message}; help: {finding.help}; {'; '.join(finding.notes)}")
        lines += [f"unchecked {item.rule} {item.subject}: {item.why}" for item in report.unchecked]
        lines += [f"missing {missing.fact}: {missing.add}" for missing in report.missing]
    return {report.verdict for report in reports}, "\n".join(lines)
