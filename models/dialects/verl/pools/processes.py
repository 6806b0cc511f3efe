"""Processes that torchrun starts: no pools of Ray, but as many processes on each of as many nodes.

Source: verl, verl/trainer/fsdp_sft_trainer.py and sft_trainer.py (init_process_group from the variables of torchrun).
"""

from __future__ import annotations

from ....configuration.settings import Amount
from ....machines.shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES
from ....pools.pool import Parts, Pool
from ..configuration import Configuration
from ..entries import Entry
from .declared import FIT, Declared, measured
from .main_ppo import ACCELERATORS, NODES

OPTIONS = (("--nnodes", "nnodes"), ("--nproc_per_node", "--nproc-per-node"))


def processes(settings: Configuration, entry: Entry) -> Declared:
    """The processes of the command line; those of the configuration where there is none."""
    program = settings.notes.document.program
    if program is None:
        pool = measured(settings, "torchrun", NODES, ACCELERATORS, ("actor",), 0)
        why = "torchrun is told apart from the configuration how many processes there are"
        settings.notes.unsure(FIT, "actor", why, True, "Verify the script that starts it")
        return Declared((pool,) if pool else ())
    options = dict(program.options)
    found = []
    for names, most in zip(OPTIONS, (MAX_NODES, MAX_ACCELERATORS_PER_NODE)):
        name = next((name for name in names if name in options), names[0])
        text = options.get(name, "1")
        if not (text.isascii() and text.isdecimal() and len(text) < 8 and 0 < int(text) <= most):
            why = f"`{name}` is {f'`{text[:40]}`, which is no such number' if text else 'not known here'}"
            settings.notes.unsure(FIT, "actor", why, True, f"Write a number for `{name}`")
            return Declared(())
        found.append(Amount(int(text), name, None, "" if name in options else "torchrun"))
    count, size = found
    pool = Pool("torchrun", (Parts(size.value, count.value),), 0, ("actor",), size.name, count.name, {"name": program.span})
    return Declared((pool,))
