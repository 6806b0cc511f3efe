"""One program of verl, and what it does with pools."""

from __future__ import annotations

from enum import Enum

from ....pools.pool import Reserve
from ....record import dataclass

SLOTS = 3
"""Worker groups that one accelerator of a pool takes in the newest release, and so CPUs that are reserved with it.

Source: verl, verl/single_controller/ray/base.py, ResourcePoolManager.create_resource_pool (max_colocate_count). Other releases and
programs: facts/programs.json.
"""


class Kind(str, Enum):
    """What a program makes of the pools."""

    HYBRID = "all roles in one pool, rollout in the processes of the actor"
    SEPARATE = "one pool to train in, one to generate in"
    SPLIT = "the pool halved: actor, rollout and reference in one half, the critic in the other"
    SIMULATION = "one pool for actor and rollout, one for the simulators"
    SERVER = "a pool for each server"
    GENERATION = "one pool that generates"
    TUNING = "one pool that is fine-tuned in"
    PROCESSES = "processes that torchrun starts, without Ray"
    DECLARED = "the pools that the file lists"
    NOTHING = "none: it runs on CPUs"


@dataclass(frozen=True, slots=True)
class Entry:
    """A program.

    Attributes
    ----------
    program : its module, such as ``verl.trainer.main_ppo``.
    kind : what it makes of the pools.
    configuration : the configuration that it begins with, if no other is named.
    reserves : its processes beside the pools that hold CPUs of a node.
    own_trainer : it is a recipe with a trainer of its own, whose rules may differ from verl's.
    trained, rolled : the names of its two pools, where it has two.
    slots : worker groups on one accelerator, and CPUs reserved with it, in the release at hand.
    server_slots : the same in pools of inference servers of their own.
    known : False of a program that is not verl's: what it does, and its defaults, are taken to be those of verl's nearest one.
    """

    program: str
    kind: Kind
    configuration: str
    reserves: tuple[Reserve, ...] = ()
    own_trainer: bool = False
    trained: str = "trainer_pool"
    rolled: str = "rollout_pool"
    slots: int = SLOTS
    server_slots: int = 2
    known: bool = True

    @property
    def name(self) -> str:
        """Its last word."""
        return self.program.rpartition(".")[2]
