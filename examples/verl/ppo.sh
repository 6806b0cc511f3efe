#!/usr/bin/env bash
# A verl job as people start it: `placewright verify examples/verl/ppo.sh --cluster 2x8xH100`. The script is read, never run.
set -euo pipefail

NNODES=${NNODES:-2}
ROLLOUT_TP=4
common=(
    data.train_batch_size=512
    trainer.nnodes=${NNODES}
    trainer.n_gpus_per_node=8
)

python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=gae \
    "${common[@]}" \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \
    actor_rollout_ref.actor.ppo_mini_batch_size=128 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \
    actor_rollout_ref.actor.use_kl_loss=True \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.tensor_model_parallel_size=${ROLLOUT_TP} \
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8 \
    actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=8 \
    critic.ppo_micro_batch_size_per_gpu=4 \
    critic.model.path=Qwen/Qwen2.5-7B-Instruct \
    trainer.total_epochs=3 "$@"
