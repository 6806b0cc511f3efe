"""How the numbers of the work come about: data parallel ranks, samples of a step, of a rank, of an update.

Source: ROLL, roll/utils/config_utils.py, roll/pipeline/base_worker.py, roll/pipeline/dpo/dpo_config.py and dpo_pipeline.py,
roll/pipeline/sft/sft_pipeline.py, roll/pipeline/distill/distill_pipeline.py.
"""

from __future__ import annotations

from ....configuration.settings import Amount
from ....derivation import DATA_PARALLEL_SIZE, REPLICA_SIZE
from ....findings.wording import with_noun
from ..modes.degrees import Degrees, data_parallel, degrees
from ..roles.parts import ACTOR_TRAIN, CRITICS, REFERENCES, SFT_TRAIN, STUDENTS, TEACHERS
from ..roles.role import Role
from ..roles.setup import Setup
from .figures import INFERRED, Batches, batches_of, derive, of_role
from .prompts import answers_of, prompts_of

ON_RANKS = (ACTOR_TRAIN, CRITICS, REFERENCES, STUDENTS, TEACHERS, SFT_TRAIN)


def chains(setup: Setup) -> None:
    """The derivations of every role that trains or infers by ranks."""
    for part in ON_RANKS:
        for role in setup.all(part):
            _ranks(setup, role)
    for trained in (setup.role(ACTOR_TRAIN), setup.role(CRITICS)):
        its = batches_of(setup, trained) if trained is not None else None
        if trained is not None and its is not None and setup.pipeline.ppo:
            _of_prompts(setup, trained, its)
    _of_data(setup)


def _ranks(setup: Setup, role: Role) -> None:
    its, ranks = degrees(setup, role), data_parallel(setup, role)
    if its is None or ranks is None or role.ids is None:
        return
    parts = _parts(its)
    if parts:
        formula = " x ".join(f"{name} {amount.value}" for name, amount in parts)
        size = derive(setup, role.key, REPLICA_SIZE, its.parallel.replica, formula, *(amount for _, amount in parts))
        derive(
            setup,
            role.key,
            DATA_PARALLEL_SIZE,
            ranks,
            f"{with_noun(role.ids.count, 'rank')} // {size} a replica",
            *(amount for _, amount in parts),
        )
    else:
        derive(setup, role.key, DATA_PARALLEL_SIZE, ranks, f"{with_noun(role.ids.count, 'rank')}, each with samples of its own")


def _parts(its: Degrees) -> list[tuple[str, Amount]]:
    return [(name, amount) for name, amount in (("tp", its.tp), ("pp", its.pp), ("cp", its.cp)) if amount.value > 1 or amount.scalar]


def _of_prompts(setup: Setup, role: Role, its: Batches) -> None:
    """Prompts -> samples -> those of a rank -> updates -> micro batches."""
    batch, answers = prompts_of(setup), answers_of(setup)
    if batch is None or answers is None or batch.value <= 0:
        return
    samples = batch.value
    if not setup.pipeline.agentic:
        formula = f"{with_noun(batch.value, 'prompt')} x {with_noun(answers.value, 'answer')}"
        samples = derive(setup, role.key, "samples per step", batch.value * answers.value, formula, batch, answers)
    amounts = (batch,) if setup.pipeline.agentic else ()
    each = derive(
        setup,
        role.key,
        "samples per rank",
        samples // its.ranks,
        f"{with_noun(samples, 'sample')} // {with_noun(its.ranks, 'rank')}",
        *amounts,
    )
    _updates(setup, role, its, each)
    inferred = of_role(setup, role, INFERRED)
    if inferred is not None and each:
        count = max(each // inferred.value, 1)
        derive(
            setup,
            role.key,
            "micro batches of log probabilities",
            count,
            f"{with_noun(each, 'sample')} // {inferred.value} a micro batch",
            inferred,
        )


def _updates(setup: Setup, role: Role, its: Batches, each: int) -> None:
    flag = setup.settings.flag(role.path("use_dynamic_batching_in_train"), "PW403")
    if flag is not False and role.part == ACTOR_TRAIN:
        return
    formula = f"{its.each.value} a micro batch x {its.accumulated.value} accumulated"
    size = derive(setup, role.key, "samples per rank and update", its.of_rank, formula, its.each, its.accumulated)
    if each % size == 0:
        derive(setup, role.key, "updates per step", each // size, f"{with_noun(each, 'sample')} // {size}")


def _of_data(setup: Setup) -> None:
    """Pipelines that read their samples: what a step takes of them."""
    train = next((role for part in (SFT_TRAIN, STUDENTS, ACTOR_TRAIN) if (role := setup.role(part))), None)
    its = batches_of(setup, train) if train is not None and not setup.pipeline.ppo else None
    if train is None or its is None:
        return
    what = "pairs per step" if train.part == ACTOR_TRAIN else "samples per step"
    formula = f"{its.each.value} a micro batch x {its.accumulated.value} accumulated x {with_noun(its.ranks, 'rank')}"
    derive(setup, train.key, what, its.of_all, formula, its.each, its.accumulated)
    if train.part == ACTOR_TRAIN:
        formula = f"{with_noun(its.each.value, 'pair')} x 2 answers: ROLL doubles {its.each.name}"
        derive(setup, train.key, "sequences per micro batch", its.each.value * 2, formula, its.each)
