"""ROLL's checks said again as plainly as can be, over lists of numbers: what fails at which of them.

Written from ROLL's code alone: roll/configs/, roll/utils/config_utils.py, roll/pipeline/*/, roll/distributed/executor/
model_update_group.py, roll/third_party/megatron/model_update.py, roll/distributed/strategy/.
"""

from __future__ import annotations

from typing import Any, Iterator

from .configurations import PER_NODE, Config, Question
from .sizes import data_parallel, each_of, megatron_replica, strategy_of
from .transfer import taught, transfers

AT_LOAD, UPDATE, PAIRS, PARTIAL, SHRINK, BACKEND, TRANSFER, REFERENCE, STEP, SETTINGS = (
    "load", "contiguity", "pairs", "partial", "shrink", "backend", "transfer", "reference", "step", "settings",
)  # fmt: skip


def failures(question: Question) -> set[str]:
    """Where ROLL fails; `step` are failures of the first training step, which only the level of training judges."""
    return set(_failures(question.pipeline, question.config))


def _failures(pipeline: str, config: Config) -> Iterator[str]:
    yield from _load(pipeline, config)
    created = {name: config[name] for name in _created(pipeline, config)}
    for role in (*created.values(), *config.get("rewards", {}).values()):
        if "device_mapping" in role and _fails_in_backend(role):
            yield BACKEND
    if pipeline in ("rlvr", "agentic"):
        train, infer = config["actor_train"]["device_mapping"], config["actor_infer"]["device_mapping"]
        if max(train) - min(train) != len(set(train)) - 1 or max(infer) - min(infer) != len(set(infer)) - 1:
            yield UPDATE
        if set(train) & set(infer) and len(infer) % each_of(config["actor_infer"]) == 0 and not _pairs(config):
            yield PAIRS
        if any(_refused_settings(config)):
            yield SETTINGS
    if pipeline == "agentic" and config.get("partial_gpu_mode", True):
        if not _partial(config):
            yield PARTIAL
        elif not _shrinks(config):
            yield SHRINK
    if pipeline == "rlvr" and _step(config, created):
        yield STEP
    if pipeline == "dpo" and not _reference(config):
        yield REFERENCE
    if pipeline == "distill":
        if not transfers(config):
            yield TRANSFER
        if taught(config):
            yield STEP


def _created(pipeline: str, config: Config) -> list[str]:
    if pipeline == "sft":
        return ["sft_train"]
    if pipeline == "distill":
        return ["student", "teacher"]
    if pipeline == "dpo":
        return ["actor_train", "reference"]
    found = ["actor_train", "actor_infer"]
    found += ["reference"] if config["init_kl_coef"] > 0 and not _lora(config) else []
    found += ["critic"] if config["adv_estimator"] == "gae" else []
    found += ["reward"] if pipeline == "agentic" and "reward" in config else []
    return found


def _lora(config: Config) -> bool:
    return "lora_target" in config["actor_train"].get("model_args", {})


def _refused_settings(config: Config) -> Iterator[bool]:
    """Adapters that no update brings to SGLang (`sglang_strategy.py`), micro batches of no tokens (`dynamic_batching.py`)."""
    train = config["actor_train"]
    yield _lora(config) and strategy_of(config["actor_infer"])[0] == "sglang"
    yield train.get("use_dynamic_batching_in_train", False) and not train.get("max_tokens_per_microbatch_in_train", 0)


# -- as the configuration is read


def _load(pipeline: str, config: Config) -> Iterator[str]:
    roles = [role for role in (*config.values(), *config.get("rewards", {}).values()) if isinstance(role, dict)]
    if any("device_mapping" in role and len(role["device_mapping"]) % each_of(role) for role in roles):
        yield AT_LOAD
    train = config.get("actor_train")
    if train and strategy_of(train)[0] == "megatron_train":
        ranks = data_parallel(train)
        if not ranks or (ranks > 1 and config.get("rollout_batch_size", 128) % ranks):
            yield AT_LOAD
    fsdp2 = pipeline in ("rlvr", "agentic") and train and strategy_of(train)[0] == "fsdp2_train"
    if fsdp2 and len(train["device_mapping"]) < train.get("model_args", {}).get("ulysses_size", 1):
        yield AT_LOAD  # a division by no data parallel rank
    ratio = config.get("async_generation_ratio", 0)
    if ratio != 0 and config.get("generate_opt_level", 1) != 1:
        yield AT_LOAD
    if pipeline == "rlvr" and 0 < ratio < 1:
        yield AT_LOAD
    if pipeline == "agentic" and not all(_environments(config)):
        yield AT_LOAD


def _environments(config: Config) -> Iterator[bool]:
    for name in ("train_env_manager", "val_env_manager"):
        env = config[name]
        yield sum(count for _, count in zip(env["tags"], env["num_groups_partition"])) == env["num_env_groups"]
    train, val = config["train_env_manager"], config["val_env_manager"]
    environments = train["num_env_groups"] * train["group_size"]
    needed = -(-config["rollout_batch_size"] // environments)
    most = train.get("max_traj_per_env", -1)
    yield config["async_generation_ratio"] > 0 or most < 0 or most >= needed
    yield config["rollout_batch_size"] % train["group_size"] == 0
    if config["val_batch_size"] >= 0:
        environments = val["num_env_groups"] * val["group_size"]
        yield config["val_batch_size"] % environments == 0
        most = val.get("max_traj_per_env", -1)
        yield most < 0 or most >= -(-config["val_batch_size"] // environments)


# -- in the workers


def _fails_in_backend(role: Config) -> bool:
    name, strategy = strategy_of(role)
    ranks = len(role["device_mapping"])
    if name.startswith("megatron"):
        tp, pp = strategy.get("tensor_model_parallel_size", 1), strategy.get("pipeline_model_parallel_size", 1)
        ep, etp = strategy.get("expert_model_parallel_size", 1), strategy.get("expert_tensor_parallel_size")
        experts = [each * ep * pp for each in ([etp] if etp else [1, tp])]
        return bool(ranks % megatron_replica(strategy)) or all(ranks % each for each in experts)
    if name.startswith("fsdp2"):
        cp, fsdp = role.get("model_args", {}).get("ulysses_size", 1), strategy.get("fsdp_size", 1)
        ep = strategy.get("ep_size", 1)
        bad = ep > 1 and ranks % (ep * strategy.get("efsdp_size", 1)) != 0
        return bool(ranks % cp) or fsdp < cp or (1 < fsdp < ranks and ranks % fsdp != 0) or bad
    if name == "vllm":
        dp = strategy.get("data_parallel_size", 1)
        return bool(ranks % each_of(role) == 0 and dp > 1 and dp != ranks // each_of(role))
    return name == "sglang" and any(_sglang_fails(role, strategy))


def _sglang_fails(role: Config, strategy: Config) -> Iterator[bool]:
    ids, each = role["device_mapping"], each_of(role)
    if len(ids) % each:
        return
    for worker in range(len(ids) // each):
        held = ids[worker * each : (worker + 1) * each]
        node = held[0] // PER_NODE
        sees = len({id_ for id_ in held if id_ // PER_NODE == node})
        parts = strategy.get("tensor_parallel_size", each) * strategy.get("pipeline_parallel_size", 1)
        nodes = parts // sees
        wanted = range(worker * nodes, (worker + 1) * nodes)
        have = [id_ for id_ in held if id_ % PER_NODE == 0 and id_ // PER_NODE in wanted]
        yield parts % sees != 0 or (nodes > 1 and len(set(have)) < nodes)


# -- the update of the weights


def met(train: list[int], infer: list[int], each: int) -> Iterator[tuple[int, int, int]]:
    """(rank, worker of inference, id that it meets) of every rank that hands its weights to a worker."""
    difference = min(train) - min(infer)
    for rank in range(len(train)):
        worker = (rank + difference) // each
        if 0 <= worker < len(infer) // each:
            yield rank, worker, infer[worker * each + rank % each]


def _pairs(config: Config) -> bool:
    train, infer = config["actor_train"]["device_mapping"], config["actor_infer"]["device_mapping"]
    each = each_of(config["actor_infer"])
    first, last = min(train) - min(infer), max(train) - max(infer)
    if first % each or last % each or len(train) % each:
        return False
    reached = set()
    for rank, worker, theirs in met(train, infer, each):
        reached.add(worker)
        whole = infer[worker * each : (worker + 1) * each]
        if theirs != train[rank] and (strategy_of(config["actor_infer"])[0] != "sglang" or train[rank] not in whole):
            return False
    workers = list(range(len(infer) // each))
    reached |= set(workers[: first // each]) if first > 0 else set()
    reached |= set(workers[last // each :]) if last < 0 else set()
    return reached == set(workers)


# -- partial_gpu_mode


def _partial(config: Config) -> bool:
    train, infer = set(config["actor_train"]["device_mapping"]), set(config["actor_infer"]["device_mapping"])
    reference: set[int] = set()
    if config["init_kl_coef"] > 0:
        reference = set() if _lora(config) else set(config["reference"]["device_mapping"])
        if reference != train:
            return False
    if not train & infer:
        return True
    reward = set(config["reward"]["device_mapping"]) if "reward" in config else set()
    if not train < infer:
        return len(train) == len(infer) + len(reward) and config["async_generation_ratio"] == 0
    critic = set(config["critic"]["device_mapping"]) if config["adv_estimator"] == "gae" else set()
    return all(_within(config, train, infer, critic))


def _within(config: Config, train: set[int], infer: set[int], critic: set[int]) -> Iterator[bool]:
    role = config["actor_infer"]
    ids, strategy = role["device_mapping"], strategy_of(role)[1]
    workers = len(ids) // each_of(role)
    tp = strategy.get("tensor_parallel_size", 1) * strategy.get("pipeline_parallel_size", 1)
    yield workers >= 2
    yield config["async_generation_ratio"] > 0
    yield critic <= infer and not critic & train
    yield tp * workers == len(infer)
    yield any(_kept(sorted(infer), tp, train | critic))


def _kept(ids: list[int], each: int, freed: set[int]) -> Iterator[bool]:
    """For every worker: has it none of the GPUs that training needs?"""
    for first in range(0, len(ids), each):
        yield not set(ids[first : first + each]) & freed


def _shrinks(config: Config) -> bool:
    """At the first training step: do the workers give way, as they really lie? Only where training is within inference."""
    train, ids = config["actor_train"]["device_mapping"], config["actor_infer"]["device_mapping"]
    if not set(train) < set(ids):
        return True
    freed = [*train, *(config["critic"]["device_mapping"] if config["adv_estimator"] == "gae" else [])]
    return len(freed) == len(set(freed)) and any(_kept(ids, each_of(config["actor_infer"]), set(freed)))


# -- the first training step, pairs, logits


def _step(config: Config, created: dict[str, Any]) -> bool:
    samples = config["rollout_batch_size"] * config["num_return_sequences_in_group"]
    for name in ("actor_train", "critic"):
        role = created.get(name)
        if role and data_parallel(role) and not role.get("use_dynamic_batching_in_train", False):
            arguments = role["training_args"]
            size = arguments["per_device_train_batch_size"] * arguments["gradient_accumulation_steps"]
            if samples % data_parallel(role) or samples // data_parallel(role) % size:
                return True
    return False


def _reference(config: Config) -> bool:
    train, reference = config["actor_train"], config["reference"]
    if not data_parallel(train) or not data_parallel(reference):
        return True
    arguments = train["training_args"]
    pairs = arguments["per_device_train_batch_size"] * arguments["gradient_accumulation_steps"] * data_parallel(train)
    return bool(reference.get("infer_batch_size", 16) * data_parallel(reference) <= pairs)
