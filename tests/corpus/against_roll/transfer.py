"""How a teacher hands its logits to a student, said again plainly.

Written from ROLL's code alone: roll/pipeline/distill/logits_transfer_group.py, make_comm_plan.
"""

from __future__ import annotations

from .configurations import Config
from .sizes import data_parallel, strategy_of


def taught(config: Config) -> bool:
    """Has a batch fewer samples than the teacher has data parallel ranks?"""
    arguments = config["student"]["training_args"]
    size = arguments["per_device_train_batch_size"] * arguments["gradient_accumulation_steps"]
    return 0 < size * data_parallel(config["student"]) < data_parallel(config["teacher"])


def transfers(config: Config) -> bool:
    """Has every data parallel rank of the student a teacher, over a way that works?"""
    student, teacher = config["student"], config["teacher"]
    receives, sends = data_parallel(student), data_parallel(teacher)
    if not receives or not sends:
        return True
    if receives <= sends:
        ratio = sends // receives
        pairs = [(s * ratio + i, s) for s in range(receives) for i in range(ratio)]
    else:
        pairs = [(s // (receives // sends), s) for s in range(receives)]
    missing = [index for index, (t, _) in enumerate(pairs) if t >= sends]
    if config.get("logits_transfer_backend", "ipc+nccl") != "nccl-only":
        return not missing
    if strategy_of(teacher)[1].get("tensor_model_parallel_size", 1) > 1:
        return not missing and not any(_gpu(teacher, t) == _gpu(teacher, t, 1) == _gpu(student, s) for t, s in pairs)
    if _clash(teacher, student, pairs[: missing[0]] if missing else pairs, 0):
        return any(not _clash(teacher, student, pairs, offset) for offset in range(1, sends))
    return not missing


def _clash(teacher: Config, student: Config, pairs: list[tuple[int, int]], offset: int) -> bool:
    return any(_gpu(teacher, (t + offset) % data_parallel(teacher)) == _gpu(student, s) for t, s in pairs)


def _gpu(role: Config, dp: int, tp: int = 0) -> int:
    """The id of a data parallel rank of the last pipeline stage: ranks go on by tp, cp, dp, pp."""
    name, strategy = strategy_of(role)
    ids: list[int] = role["device_mapping"]
    if name.startswith("fsdp2"):
        return ids[dp * role.get("model_args", {}).get("ulysses_size", 1)]
    size, pp = (
        strategy.get("tensor_model_parallel_size", 1) * strategy.get("context_parallel_size", 1),
        strategy.get("pipeline_model_parallel_size", 1),
    )
    return ids[(pp - 1) * (len(ids) // pp) + dp * size + tp]
