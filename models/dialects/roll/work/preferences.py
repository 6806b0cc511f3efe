"""Pairs of answers in DPO, and the batches of distillation.

Source: ROLL, roll/pipeline/dpo/dpo_config.py (DPOConfig.__post_init__), roll/pipeline/dpo/dpo_pipeline.py (DPOPipeline.__init__);
roll/pipeline/distill/distill_pipeline.py.
"""

from __future__ import annotations

from ....findings.wording import with_noun
from ..modes.degrees import data_parallel
from ..modes.notices import AFTER_MODELS, AT_TRAINING
from ..roles.parts import ACTOR_TRAIN, REFERENCES, STUDENTS, TEACHERS
from ..roles.setup import Setup
from .figures import INFERRED, batches_of, of_role

DEMANDS = "PW403"


def preferences(setup: Setup) -> None:
    """The reference takes no more pairs at once than a step of training has."""
    train, reference = setup.role(ACTOR_TRAIN), setup.role(REFERENCES)
    if setup.pipeline.ppo or train is None or reference is None:
        return
    its, inferred, ranks = batches_of(setup, train), of_role(setup, reference, INFERRED), data_parallel(setup, reference)
    if its is None or inferred is None or ranks is None:
        return
    takes = inferred.value * ranks
    if takes > its.of_all:
        message = f"{reference.key} takes {INFERRED} {inferred.value} x {with_noun(ranks, 'data parallel rank')} = {with_noun(takes, 'pair')} at once, more than the"
        message += f" {its.of_all} of a step of {train.key} ({its.said} on {with_noun(its.ranks, 'rank')})"
        better = its.of_all // ranks
        help = (
            f"set `{inferred.name}: {better}`" if better else f"give {reference.key} {with_noun(its.of_all, 'data parallel rank')} or fewer"
        )
        setup.notes.error(
            DEMANDS, reference.key, message, inferred.span or reference.place, f"more than {its.of_all}", help,
            inferred.becomes(better) if better else None, AFTER_MODELS,
        )  # fmt: skip


def taught(setup: Setup) -> None:
    """Every data parallel rank of the teacher gets samples of a batch, which is as large as the student's step."""
    student, teacher = setup.role(STUDENTS), setup.role(TEACHERS)
    its = batches_of(setup, student) if student is not None else None
    ranks = data_parallel(setup, teacher) if teacher is not None else None
    if student is None or teacher is None or its is None or not ranks or its.of_all >= ranks:
        return
    message = f"a step of {student.key} has {with_noun(its.of_all, 'sample')} ({its.said} on {with_noun(its.ranks, 'rank')}), fewer than the {with_noun(ranks, 'data parallel rank')}"
    message += f" of {teacher.key}"
    help = f"set `{its.accumulated.name}: {-(-ranks // (its.each.value * its.ranks))}`"
    setup.notes.error(DEMANDS, student.key, message, its.each.span or student.place, "", help, None, AT_TRAINING)
