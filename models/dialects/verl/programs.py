"""Programs and configurations of verl and verl-recipe by release, from facts/.

Source: verl, verl/trainer/*.py, verl/experimental/*/, examples/split_placement/; verl-recipe,
*/main_*.py. A program that is a Ray task, or an actor without `num_cpus`, reserves no CPU.
"""

from __future__ import annotations

import json
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from ...configuration.notes import Notes
from ...configuration.table import Table, make_table
from ...findings.finding import Severity
from ...pools import Reserve
from ...record import dataclass
from ...releases.choice import ReleaseChoice, newest
from ...releases.configurations import Configurations
from ...releases.evidence import choose_by_masks
from ...releases.release import ALWAYS, Releases, ReleaseTable, read_releases
from ...text.document import Document, Program
from ...text.document import SettingMark as Mark
from ...text.interpolation_text import holds_interpolation
from ...text.nearest import SLIP, closest
from ...text.tree import UNRESOLVED, ListNode, MapNode, Scalar, Value, find
from ..released import infer_release
from ..unread import has_foreign_section

FOLDER = Path(__file__).parent / "facts"
MAIN_PPO = "verl.trainer.main_ppo"
ONE_STEP_OFF = "verl.experimental.one_step_off_policy.main_ppo"
FULLY_ASYNC = "verl.experimental.fully_async_policy.fully_async_main"
VLA = "verl.experimental.vla.main_ppo"
PROCESSES = "verl.trainer.fsdp_sft_trainer"
ENGINE_PROCESSES = "verl.trainer.sft_trainer"
DECLARED = "verl.trainer.ppo.ray_trainer"
_OWN = ("_self_", "hydra")
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
    units_key : key of the storage units of its TransferQueue; "" without such a queue.
    own_trainer : True for a recipe with a trainer of its own, whose rules may differ from verl's.
    trained, rolled : names of the two pools, if there are two.
    slots : worker groups per accelerator, and CPUs reserved with it: verl, single_controller/ray/base.py (max_colocate_count).
    server_slots : the same for pools of inference servers.
    """

    program: str
    kind: ProgramKind
    configuration: str
    reserves: tuple[Reserve, ...] = ()
    units_key: str = ""
    own_trainer: bool = False
    trained: str = "trainer_pool"
    rolled: str = "rollout_pool"
    slots: int = 3
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


@cache
def configurations() -> Configurations:
    """Return the configurations of every release."""
    return Configurations(FOLDER, releases())


@cache
def facts(name: str) -> Any:
    """Return the content of a data file."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


_DATA: Mapping[str, Any] = facts("programs")
MOMENTS: Mapping[str, str] = facts("settings")["moments"]
"""Name -> note of a finding: the moment when verl notices it."""
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
        next((run[2] for run in data.get("queue", ()) if history.covers(run, index)), ""),
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
    return releases().mask(next((data["names"][module] for data in _FACTS.values() if module in data.get("names", {})), ()))


def program_mask(program: str) -> int:
    """Return the bits of the releases with a program under any of its names."""
    names: Mapping[str, Sequence[Any]] = _FACTS[program].get("names", {})
    return releases().mask([run for runs in names.values() for run in runs]) if names else ~0


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
        help_ = f"run `{better}`" if better else table().name_release(mask)
        notes.judge(ALWAYS, severity, "PW123", "", message, program.span, "not in this release", help_, None, table().have_it(mask))
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
            notes.proves = not has_foreign_section(root, _DATA["tops"])
        return entry
    match = find_program(name)
    if match is not None and match.kind is not ProgramKind.NOTHING:
        return match
    if match is not None or not has("sections"):
        why = "runs on CPUs" if match else "is not known here, and nothing that is set places anything"
        notes.unsure("PW122", "", f"`{name}` {why}", not match, WORKS_LIKE)
        return entry_in("verl.trainer.main_eval")
    entry = entry_of_keys(root)
    why = f"is not known here; it is taken to place its roles as `{entry.program}` does, its defaults are not known"
    index, module = choice_of(notes).release.index, module_of(name)
    names = [key for key in _FACTS if (names_in(key) or ~0) >> index & 1 and not max(key, module).startswith(f"{min(key, module)}_")]
    near = closest(module, names, SLIP)
    notes.unsure("PW122", "", f"`{name}` {why}", True, f"Write `{near}`, or v{WORKS_LIKE[1:]}" if near else WORKS_LIKE)
    notes.proves = False
    return EntryPoint(name, entry.kind, "", (), "", True, entry.trained, entry.rolled, entry.slots)


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


# -- configurations


def table_for(document: Document, entry: EntryPoint) -> Table | None:
    """Return the table of the document's configuration in the selected release; None if unknown."""
    name = configuration_of(document, entry)
    index = document.release.release.index if document.release else len(releases().names) - 1
    names = filter(None, (name, base_in_defaults(document)))  # a release may lack a configuration that the user has
    return next(filter(None, (table_of(base, index, find_choices(document, base)) for base in names)), None)


def bare(name: str) -> str:
    """Return the name of a configuration without folder and ending."""
    return name.rpartition("/")[2].removesuffix(".yaml")


@lru_cache(maxsize=32)
def table_of(name: str, index: int, choices: tuple[tuple[str, str | None], ...] = ()) -> Table | None:
    """Return the table of a configuration in the release at an index; None if unknown."""
    name, catalog = bare(name), configurations()
    tree = catalog.compose(name, index, dict(choices))
    if tree is None:
        return None
    path = catalog.path(name, index)
    source = f"verl {releases().names[index]}, {path}" if path.startswith(("verl/", "examples/", "recipe/")) else f"verl-recipe, {path}"
    return make_table(name, tree, source, choices)


def configuration_of(document: Document, entry: EntryPoint) -> str:
    """Return the name of a document's base configuration; "" if unknown.

    A file that names none is taken to be merged onto the configuration of its program.
    """
    program, index = document.program, configurations().index
    if program is not None and program.config_name:
        name = bare(program.config_name)
        return name if name in index else base_in_defaults(document)
    if program is not None:  # the name may be given, but unknown
        return "" if any(name == "--config-name" for name, _ in program.options) else entry.configuration
    name = bare(document.source.name)
    if document.source.root.get("defaults") is not None:
        return base_in_defaults(document) or (name if name in index else "")
    strategy = find(document.root, "actor_rollout_ref.actor.strategy")
    if isinstance(strategy, Scalar) and strategy.text == "megatron":
        return entry.configuration.replace("ppo_trainer", "ppo_megatron_trainer")
    return name if name in index else entry.configuration


def base_in_defaults(document: Document) -> str:
    """Return the only known configuration in the `defaults` lists of all texts.

    The groups of a known configuration do not count.
    """
    configuration, index = "", configurations().index
    folders = tuple(f"{name.rpartition('/')[0]}/" for name in document.included if bare(name) in index)
    for source in (document.source, *document.included.values()):
        is_group = any(source.name.startswith(folder) and "/" in source.name[len(folder) :] for folder in folders)
        tree = source.value if source.name.endswith((".yaml", ".yml")) and not is_group else None
        defaults = tree.get("defaults") if isinstance(tree, MapNode) else None
        names = [_name_in(item) for item in defaults.items] if isinstance(defaults, ListNode) else []
        names = [name for name in names if name not in _OWN]
        if index.keys() >= {*names}:
            configuration = names[-1] if names else configuration
        elif source is document.source or bare(source.name) not in index:
            return ""
    return configuration


def _name_in(item: Value) -> str:
    """Return the group, or the configuration, of an entry of a `defaults` list."""
    if isinstance(item, MapNode) and item.entries:
        return item.entries[0].key.text.removeprefix("override ").split("/")[0]
    return item.text if isinstance(item, Scalar) else ""


def find_choices(document: Document, name: str) -> tuple[tuple[str, str | None], ...]:
    """Return the groups with an option on the command line; None for an unknown option."""
    if not document.settings or document.is_composed:
        return ()
    groups = configurations().groups(name)
    options: dict[str, str | None] = {}
    for setting in document.settings:
        group = setting.key if setting.package is None or setting.package == setting.key else f"{setting.key}@{setting.package}"
        if group in groups and isinstance(setting.value, Scalar) and setting.kind is not Mark.DELETE:
            is_known = setting.value.tag != UNRESOLVED and not holds_interpolation(setting.value.text)
            options[group] = setting.value.text if is_known else None
    return tuple(options.items())


def guess_release(document: Document) -> ReleaseChoice:
    """Return the newest release consistent with a document; the newest for an unknown program."""
    program = document.program
    entry = find_program(program.name) if program is not None and program.name else entry_of_keys(document.root, document.source.name)
    if entry is None:
        return newest(table())
    masks: dict[str, int] = {}
    if program is not None and (names := names_in(program.name)):
        masks[program.name] = names
    name = configuration_of(document, entry)
    if name:
        masks[name] = configurations().mask(name)
        masks.update(_evidence_of_settings(document, name) if document.settings else _evidence_of_keys(document.root, name))
    for text, runs in facts("evidence").items():  # values that only some releases accept
        path, _, value = text.partition("=")
        scalar = find(document.root, path)
        if isinstance(scalar, Scalar) and scalar.text == value:
            masks[text] = releases().mask(runs)
    return choose_by_masks(table(), {sign: mask for sign, mask in masks.items() if mask})


def release_of(document: Document, roots: Sequence[str] = ()) -> ReleaseChoice | None:
    """See `Dialect.release_of`."""
    return infer_release(FOLDER / "releases.json", document, roots, guess_release)


def _evidence_of_settings(document: Document, name: str) -> Iterator[tuple[str, int]]:
    """Yield required keys, and keys with `+` that must be missing, with their releases."""
    catalog, all_releases = configurations(), (1 << len(releases().names)) - 1
    for group, option in find_choices(document, name):
        yield f"{group}={option}", catalog.option_in(name, group, option) if option is not None else 0
    earlier_keys = set[str]()
    for setting in document.settings:
        if "/" in setting.key or setting.package is not None or setting.key in earlier_keys:
            continue
        earlier_keys.add(setting.key)
        if setting.kind is Mark.CHANGE or setting.kind is Mark.DELETE:
            yield setting.key, catalog.find_releases(name, setting.key)
        # Hydra adds a key only if it is missing.
        elif setting.kind is Mark.ADD and isinstance(setting.value, Scalar):
            yield f"+{setting.key}", all_releases & ~catalog.find_valued(name, setting.key)


def _evidence_of_keys(root: MapNode, name: str, path: str = "") -> Iterator[tuple[str, int]]:
    for entry in root:
        key = f"{path}.{entry.key.text}".lstrip(".")
        if isinstance(entry.value, MapNode) and entry.value.entries:
            yield from _evidence_of_keys(entry.value, name, key)
        else:
            yield key, configurations().find_releases(name, key)
