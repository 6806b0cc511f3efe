"""How the batch of a step comes about on each rank: prompts x samples of each -> mini batch -> rank -> micro batches.

Source: verl, verl/trainer/ppo/ray_trainer.py (fit), verl/workers/fsdp_workers.py ("normalize config").
"""

from __future__ import annotations

from .....derivation import Derivation, Figure
from .....findings.wording import with_noun
from ..work import NUMBERS, SHARES, Work
from .batches import EACH, PROMPTS
from .updates import Update, updates_of


def derive_batches(work: Work) -> None:
    """The chain of every component that is trained."""
    prompts, each = work.amount(PROMPTS, SHARES, least=0), work.amount(EACH, SHARES)
    for update in updates_of(work):
        if prompts and prompts.value and each:
            formula = _of_prompts(prompts.value, each.value)
            _add(work, update, "samples per step", prompts.value * each.value, formula, prompts.figure, each.figure)
        _of_update(work, update)


def _of_prompts(prompts: int, each: int) -> str:
    return f"{with_noun(prompts, 'prompt')} x {with_noun(each, 'sample')} of each"


def _of_update(work: Work, update: Update) -> None:
    mini, each = update.mini, update.each
    _add(work, update, "samples per update", update.samples, _of_prompts(mini.value, each.value), mini.figure, each.figure)
    _add(
        work,
        update,
        "samples per rank and update",
        update.mine,
        f"{update.samples} // {with_noun(update.ranks, 'data parallel rank')}",
        mini.figure,
        each.figure,
    )
    dynamic = work.settings.flag(f"{update.owner}.use_dynamic_bsz", NUMBERS)
    micro = work.amount(f"{update.owner}.ppo_micro_batch_size_per_gpu", NUMBERS) if dynamic is False else None
    if micro:
        formula = f"{with_noun(update.mine, 'sample')} // {micro.value} a micro batch"
        _add(work, update, "micro batches per update", update.mine // micro.value, formula, micro.figure)


def _add(work: Work, update: Update, name: str, value: int, formula: str, *figures: Figure) -> None:
    work.setup.derivations.append(Derivation(update.name, name, value, formula, figures))
