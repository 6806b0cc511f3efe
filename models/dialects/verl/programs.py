"""Programs of verl and verl-recipe, from facts/, and the program that reads a configuration.

Source: verl, verl/trainer/*.py, verl/experimental/*/, examples/split_placement/; verl-recipe,
*/main_*.py. A program that is a Ray task, or an actor without `num_cpus`, reserves no CPU.
"""

from __future__ import annotations

import json
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Mapping, Sequence

from ...configuration.notes import Notes
from ...findings.finding import Severity
from ...pools import Reserve
from ...record import dataclass
from ...releases.choice import ReleaseChoice, newest
from ...releases.configurations import Configurations
from ...releases.release import ALWAYS, Releases, ReleaseTable, read_releases, spans_of
from ...text.document import Program
from ...text.nearest import SLIP, closest
from ...text.tree import ListNode, MapNode, find

FOLDER = Path(__file__).parent / "facts"
SLOTS = 3
"""Worker groups per accelerator in the newest release, with a CPU per group.

Source: verl, verl/single_controller/ray/base.py, ResourcePoolManager.create_resource_pool
(max_colocate_count). Other releases and programs: facts/programs.json.
"""
MAIN_PPO = "verl.trainer.main_ppo"
ONE_STEP_OFF = "verl.experimental.one_step_off_policy.main_ppo"
FULLY_ASYNC = "verl.experimental.fully_async_policy.fully_async_main"
VLA = "verl.experimental.vla.main_ppo"
PROCESSES = "verl.trainer.fsdp_sft_trainer"
ENGINE_PROCESSES = "verl.trainer.sft_trainer"
EVALUATION = "verl.trainer.main_eval"
DECLARED = "verl.trainer.ppo.ray_trainer"
SPEC, DRAFT = "resource_pool_spec", "topology.device_pools"
"""Keys of pools that no program reads from a file."""
WORKS_LIKE = "Verify it as the program of verl that places the same roles, such as `-m verl.trainer.main_ppo`"


class ProgramKind(str, Enum):
    """Layout of a program's pools."""

    HYBRID = "all roles in one pool, rollout in the processes of the actor"
    SEPARATE = "one pool to train in, one to generate in"
    SPLIT = "the pool halved: actor, rollout and reference in one half, the critic in the other"
    SIMULATION = "one pool for actor and rollout, one for the simulators"
    SERVER = "a pool for each server"
    GENERATION = "one pool that generates"
    TUNING = "one pool that is fine-tuned in"
    PROCESSES = "processes that torchrun starts, without Ray"
    DECLARED = "pools in the file that no program reads"
    NOTHING = "none: it runs on CPUs"


TRAINERS = (ProgramKind.HYBRID, ProgramKind.SEPARATE, ProgramKind.SPLIT)
"""Programs that train an actor on generated samples."""


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """Program in a release.

    Attributes
    ----------
    program : module, such as ``verl.trainer.main_ppo``.
    kind : layout of the pools.
    configuration : base configuration, if no other is named.
    reserves : processes beside the pools that hold CPUs of a node.
    own_trainer : True for a recipe with a trainer of its own, whose rules may differ from verl's.
    trained, rolled : names of the two pools, if there are two.
    slots : worker groups per accelerator, and CPUs reserved with it.
    server_slots : the same for pools of inference servers.
    """

    program: str
    kind: ProgramKind
    configuration: str
    reserves: tuple[Reserve, ...] = ()
    own_trainer: bool = False
    trained: str = "trainer_pool"
    rolled: str = "rollout_pool"
    slots: int = SLOTS
    server_slots: int = 2

    @property
    def name(self) -> str:
        """Last word of the module."""
        return self.program.rpartition(".")[2]


def table() -> ReleaseTable:
    """Return the known releases."""
    return read_releases(FOLDER / "releases.json")


@cache
def releases() -> Releases:
    """Return the names of the releases, for reading facts."""
    return Releases([release.name for release in table()])


def choice_of(notes: Notes) -> ReleaseChoice:
    """Return the release that a file is judged for, by default the newest."""
    return notes.choice or newest(table())


def have_it(mask: int) -> str:
    """Return a sentence about the releases of some bits; "" without any."""
    having = [release for release in table() if mask >> release.index & 1]
    return f"verl {spans_of(having)} {'has' if len(having) == 1 else 'have'} it" if having else ""


def name_release(mask: int) -> str:
    """Return the advice to name the newest release of some bits."""
    return f"name the release that you run: `--framework verl=={releases().names[mask.bit_length() - 1]}`"


@cache
def configurations() -> Configurations:
    """Return the configurations of every release."""
    return Configurations(FOLDER, releases())


@cache
def facts(name: str) -> Any:
    """Return the content of a data file."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


_DATA: Mapping[str, Any] = facts("programs")
_FACTS: Mapping[str, Mapping[str, Any]] = {data["program"]: data for data in _DATA["programs"]}


@cache
def entry_in(program: str, index: int = -1) -> EntryPoint:
    """Return a known program in the release at an index, by default the newest."""
    data, history = _FACTS[program], releases()
    index = len(history.names) - 1 if index < 0 else index

    def slots(runs: Sequence[Sequence[Any]]) -> int:
        return next(int(run[2]) for run in runs if history.covers(run, index))

    return EntryPoint(
        program, ProgramKind[data["kind"]], data["configuration"],
        tuple(Reserve(run[2], run[3]) for run in data.get("reserves", ()) if history.covers(run, index)),
        data.get("own_trainer", False), **dict(zip(("trained", "rolled"), data.get("pools", ()))),
        slots=slots(data.get("slots", _DATA["slots"])), server_slots=slots(_DATA["server_slots"]),
    )  # fmt: skip


PROGRAMS = tuple(map(entry_in, _FACTS))
"""All programs, as of the newest release."""


def module_of(name: str) -> str:
    """Return the module of a module or file name."""
    return name.removesuffix(".py").replace("/", ".").strip(".")


def find_program(name: str) -> EntryPoint | None:
    """Return the program of a name.

    The last two words identify it; a program of the package ``verl`` is identified by all words. A
    file without a folder, such as ``main_ppo.py``, is a program of its author.
    """
    words = module_of(name).split(".")
    for size in (len(words), 3, 2, 1):
        programs = [
            program
            for program, data in _FACTS.items()
            if any(_ends_alike(module, words, size) for module in (program, *data.get("names", {})))
        ]
        if len(programs) == 1 and (size > 1 or "." not in programs[0]):
            return entry_in(programs[0])
    return None


def _ends_alike(module: str, words: Sequence[str], size: int) -> bool:
    names = module.split(".")
    return names[-size:] == words[-size:] and (names[0] != "verl" or names[-len(words) :] == words[-len(names) :])


def names_in(name: str) -> int:
    """Return the bits of the releases with a program of this name; 0 if unknown."""
    module = module_of(name)
    runs = next((data["names"][module] for data in _FACTS.values() if module in data.get("names", {})), ())
    return releases().mask(runs)


def entry_of(notes: Notes, root: MapNode, program: Program | None) -> EntryPoint:
    """Return the program in the selected release; note a guess as unchecked.

    Nothing is proved about a program that is not verl's own: its errors become warnings. A module
    that the selected release lacks is an error for a stated release.
    """
    entry, release = _entry_of(notes, root, program), choice_of(notes).release.index
    mask = names_in(program.name) if program is not None else 0
    if program is not None and mask and not mask >> release & 1 and not (program.found and choice_of(notes).differs):
        names = next(data["names"] for data in _FACTS.values() if module_of(program.name) in data.get("names", {}))
        better = next((name for name in names if names_in(name) >> release & 1), "")
        severity = Severity.ERROR if choice_of(notes).is_stated and not program.found else Severity.WARNING
        message = f"verl {choice_of(notes).release.name} has no `{module_of(program.name)}`, so nothing starts"
        help_ = f"run `{better}`" if better else name_release(mask)
        notes.judge(ALWAYS, severity, "PW123", "", message, program.span, "not in this release", help_, None, have_it(mask))
    return entry_in(entry.program, release) if entry.program in _FACTS else entry


def _entry_of(notes: Notes, root: MapNode, program: Program | None) -> EntryPoint:
    def has(keys: str) -> bool:
        return any(find(root, key) is not None for key in _DATA[keys])

    name = program.name if program else ""
    if not name and has("server_keys"):
        name = "verl_tinker"
    if not name:
        entry = entry_of_keys(root, notes.document.source.name)
        if entry.kind is not ProgramKind.DECLARED:
            why = f"nothing says which program reads this file; `{entry.program}` is assumed"
            notes.unsure("PW122", "", why, not has("keys_of_programs"), WORKS_LIKE)
        return entry
    match = find_program(name)
    if match is not None and match.kind is not ProgramKind.NOTHING:
        return match
    if match is not None or not has("sections"):
        why = "runs on CPUs" if match else "is not known here, and nothing that is set places anything"
        notes.unsure("PW122", "", f"`{name}` {why}", not match, WORKS_LIKE)
        return entry_in(EVALUATION)
    entry = entry_of_keys(root)
    why = f"is not known here; it is taken to place its roles as `{entry.program}` does, its defaults are not known"
    near = closest(module_of(name), _FACTS, SLIP)
    notes.unsure("PW122", "", f"`{name}` {why}", True, f"Write `{near}`, or v{WORKS_LIKE[1:]}" if near else WORKS_LIKE)
    notes.proves = False
    return EntryPoint(name, entry.kind, "", (), True, entry.trained, entry.rolled, entry.slots)


def entry_of_keys(root: MapNode, file: str = "") -> EntryPoint:
    """Return the program that the keys, or the file name, indicate."""
    same = [entry for entry in PROGRAMS if file.rpartition("/")[2] == f"{entry.configuration}.yaml"]
    if find(root, SPEC) is not None or isinstance(find(root, DRAFT), ListNode):
        return entry_in(DECLARED)
    if len(same) == 1 and (same[0].own_trainer or same[0].kind is ProgramKind.SPLIT):
        return same[0]
    signs: Sequence[tuple[str, Sequence[Sequence[str]]]] = _DATA["signs"]
    candidates = (program for program, conditions in signs if all(any(find(root, key) is not None for key in keys) for keys in conditions))
    return entry_in(next(candidates, MAIN_PPO))
