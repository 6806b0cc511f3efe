"""verl configuration in a release: written values, defaults, and differences of releases.

Keys and defaults of a release are data (facts/); conditions of single checks stand at the checks.
Source: verl, verl/trainer/ppo/utils.py (need_critic, need_reference_policy),
verl/trainer/main_ppo.py; TransferQueue, transfer_queue/interface.py (init) and controller.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Collection, Mapping, Sequence

from ...configuration.notes import Notes
from ...configuration.settings import TRAINING_RULES, Amount, Plain, Settings, plain_value
from ...configuration.table import Table
from ...findings.finding import Finding
from ...findings.span import Span
from ...pools import Reserve
from ...releases.choice import ReleaseChoice
from ...releases.release import Range
from ...text.interpolation import Interpolator
from ...text.nearest import nearest
from ...text.tree import Scalar, Value
from .programs import MAIN_PPO, EntryPoint, ProgramKind, base_in_defaults, choice_of, configurations, facts, module_of, releases

ROLES, CPUS = "PW122", "PW502"
_FACTS: Mapping[str, Any] = facts("settings")
MIGRATES = {program: Range(*releases) for program, releases in _FACTS["migrates"]["programs"].items()}
"""Program -> releases with a copy of `reward_model.*` to `reward.reward_model.*`."""
SEQUENCE = "ulysses_sequence_parallel_size"
_COUNTED = tuple(f".{key}" for key in _FACTS["batches"]["keys"])


class Configuration(Settings):
    """Values by dotted path.

    A reference is read as its target, so that the place is known.

    Attributes
    ----------
    entry : program in the selected release.
    table : defaults; None if unknown: then unwritten values are unknown too.
    instead : numbers that are tried in place of written ones.
    anew : True if planned pools are left open.
    """

    def __init__(
        self, notes: Notes, interpolator: Interpolator, entry: EntryPoint, table: Table | None,
        instead: Mapping[str, int] | None = None, anew: bool = False, decisive: Collection[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(notes, interpolator, table.defaults if table else {}, decisive)
        self.entry = entry
        self.table = table
        self.notes = notes
        self.instead = instead or {}
        self.anew = anew
        self._meant: dict[str, str] = {}

    @property
    def top(self) -> Span:
        """See `Settings.top`; for a command line, the span of the program."""
        program = self.notes.document.program
        return program.span if program is not None and program.name else super().top

    @property
    def choice(self) -> ReleaseChoice:
        """Release that the file is judged for, by default the newest."""
        return choice_of(self.notes)

    @property
    def unresolved(self) -> Sequence[Finding]:
        """Findings about unresolved interpolations."""
        return self._interpolator.findings

    def tree(self, path: str) -> Value | None:
        """Return the value at a path with resolved interpolations; None without a value."""
        value = self.at(path)
        return None if value is None else self._interpolator.tree(value, tuple(path.split(".")))

    def place(self, path: str) -> Span:
        """Return the span of a value, or of its reference; else of the file's beginning."""
        value = self.at(self.resolve_key(path))
        return self.top if value is None else value.span

    def spell(self, path: str, value: object) -> str:
        """Format a value for this file: ``key: value``, or ``key=value`` on a command line."""
        return f"`{path}{'=' if self.notes.document.program else ': '}{value}`"

    def says(self, amount: Amount) -> str:
        """Format a number with the key for this file."""
        return self.spell(amount.name, amount.value)

    def resolve_key(self, path: str) -> str:
        """See `Settings.resolve_key`: the first along the references with a value."""
        if path not in self._meant:
            visited_paths, last = set[str](), path
            while self.table and last not in self.instead and last not in visited_paths and self.at(last) is None:
                visited_paths.add(last)
                last = self._follow_reference(self.table, last)
            self._meant[path] = last
        return self._meant[path]

    def _follow_reference(self, table: Table, path: str) -> str:
        """Return the key to which a key or its section refers; else the key."""
        if path in table.same:
            return table.same[path]
        if path not in table.keys:
            owner, _, rest = path.rpartition(".")
            while owner:
                if owner in table.same and self.at(owner) is None:
                    return f"{table.same[owner]}.{rest}"
                owner, _, name = owner.rpartition(".")
                rest = f"{name}.{rest}"
        return path

    def is_elsewhere(self, path: str) -> bool:
        """See `Settings.is_elsewhere`; known `defaults` have the keys of the table alone."""
        is_known = self.table is not None and not self.table.has(path) and base_in_defaults(self.notes.document)
        return super().is_elsewhere(path) and not is_known

    def is_open(self, path: str, rule: str) -> bool:
        """Return True if a value is unknown, and note `rule` as unchecked.

        Without a table every unwritten value is unknown.
        """
        path = self.resolve_key(path)
        if self.at(path) is not None:
            return super().is_open(path, rule)
        if self.table is None:
            why = "keys that are not written were not checked: the defaults of the configuration are not known"
            program = self.notes.document.program
            missing = program.missing[1] if program is not None and program.is_hydra else ""
            near = nearest(program.config_name, configurations().index) if program is not None and missing else None
            missing = f"write `--config-name={near}`, or {missing}" if near else missing
            self.say("", "PW122", why, True, missing[:1].upper() + missing[1:] or f"Pass `--set {path}=VALUE`")
            return True
        if self.table.is_open(path):
            group = next((group for group, option in self.table.chosen if self.table.groups.get(group) != option), path)
            self.say(group, rule, f"`{group}` is unknown, and decides the default of `{path}`")
            return True
        if path not in self.table.defaults and path in self.table.keys:
            self.say(path, rule, f"`{path}` is not written, and its default is not known")
            return True
        return super().is_open(path, rule)

    def say(self, path: str, rule: str, why: str, decides: bool = False, add: str = "") -> None:
        """See `Settings.say`; of training, numbers of its arithmetic alone decide."""
        super().say(path, rule, why, decides and (rule not in TRAINING_RULES or f".{path}".endswith(_COUNTED)), add)

    def whole(
        self, path: str, rule: str, default: int | None = None, minimum: int = 1, fits: int | None = None, exact: bool = False
    ) -> Amount | None:
        """See `Settings.whole`."""
        path = self.resolve_key(path)
        if path in self.instead:
            return Amount(self.instead[path], path)
        value = self.at(path)
        # YAML reads `None` as a text; in verl's own file it means null.
        if self.table is not None and self.table.keys.get(path) == "None" and isinstance(value, Scalar) and value.value == "None":
            return None if default is None else Amount(default, path)
        owner, _, key = path.rpartition(".")
        if key in _FACTS["compared"]["keys"] and self.plain(f"{owner}.name") == "vllm":
            amount = super().whole(path, rule, default, -(10**9))
            return amount and replace(amount, value=max(amount.value, 1))
        return super().whole(path, rule, default, minimum, fits, exact or path in _FACTS["counted"]["keys"])

    def plain(self, path: str, usual: Plain = "") -> Plain:
        """See `plain_value`; verl's default comes before `usual`."""
        path = self.resolve_key(path)
        default = self.defaults.get(path)
        return plain_value(self, path, usual if default is None or default.value is None else default.value)

    # -- differences of releases

    def words(self, name: str) -> Sequence[str]:
        """Return the words that the selected release takes for a setting of facts/settings.json."""
        return str(releases().select({name: _FACTS[name]["values"]}, self.choice.release.index)[name]).split()

    @property
    def has_critic(self) -> bool | None:
        """True if there is a critic; None if unknown."""
        if self.is_open("critic.enable", ROLES):
            return None
        if self.is_set("critic.enable", ROLES):
            return self.flag("critic.enable", ROLES)
        estimator = self.word("algorithm.adv_estimator", ROLES)
        return None if estimator is None else estimator == "gae"

    @property
    def has_reference(self) -> bool | None:
        """True if there is a separate reference policy; None if unknown.

        With LoRA the actor without its adapter is the reference.
        """
        if self.is_older_than("0.4.0"):
            return True  # main_ppo of 0.3.0 always starts it
        if not (uses := self.uses_reference):
            return uses
        keys = ("actor_rollout_ref.model.lora.rank", "actor_rollout_ref.model.lora_rank")
        ranks = (self.whole(key, ROLES, 0, minimum=-(10**6)) for key in keys)
        return not any(rank and rank.value > 0 for rank in ranks) and not self.is_set("actor_rollout_ref.model.lora_adapter_path", ROLES)

    @property
    def uses_reference(self) -> bool | None:
        """True if training compares with a reference policy; None if unknown."""
        in_reward = self.flag("algorithm.use_kl_in_reward", ROLES)
        in_loss = self.flag("actor_rollout_ref.actor.use_kl_loss", ROLES)
        return None if in_reward is None or in_loss is None else in_reward or in_loss

    @property
    def has_reward_model(self) -> bool | None:
        """True if there is a reward model; None if unknown."""
        return self.flag(self.reward_key("enable"), ROLES)

    @property
    def is_reward_served(self) -> bool | None:
        """True if an engine serves the reward model, as always since 0.7.1; None if unknown."""
        if self.is_older_than("0.7.0") or self.since("0.7.1"):
            return self.since("0.7.1")
        return False if self.entry.kind is ProgramKind.SEPARATE else self.flag("reward_model.use_reward_loop", "PW208")

    def reward_key(self, name: str) -> str:
        """Return the key of a reward model's setting: since 0.7.1 below `reward.reward_model`."""
        old = f"reward_model.{name}"
        return old if self.is_older_than("0.7.1") or (self.migrates and self.has(old)) else f"reward.{old}"

    @property
    def migrates(self) -> bool:
        """True if the program takes `reward_model.*` for `reward.reward_model.*`."""
        program = self.notes.document.program
        name = module_of(program.name).rpartition(".")[2] if program else "main_ppo"
        return name in MIGRATES and self.choice.has(MIGRATES[name])

    @property
    def is_v1(self) -> bool | None:
        """True if the V1 trainer runs; None if unknown. Source: verl, main_ppo.py (main)."""
        if self.entry.program != MAIN_PPO or self.is_older_than("0.9.0"):
            return False
        return self.flag("trainer.use_v1", ROLES, True)

    @property
    def pads(self) -> bool | None:
        """True if the trainer pads a step to whole mini batches; None if unknown.

        Source: verl, trainer/ppo/v1/trainer_base.py and, in 0.8.0, trainer/main_ppo_sync.py (_balance_batch).
        """
        return True if self.entry.program == "verl.trainer.main_ppo_sync" else self.is_v1

    @property
    def reserves(self) -> tuple[Reserve, ...]:
        """Processes that hold CPUs before the pools, a TransferQueue's included."""
        key = self.entry.units_key
        if not key or (self.entry.program == MAIN_PPO and not self.is_v1):
            return self.entry.reserves
        backend = self.word(f"{key.partition('.SimpleStorage')[0]}.storage_backend", CPUS)
        units = self.whole(key, CPUS, 0) if backend in ("", "SimpleStorage") else None
        return (*self.entry.reserves, Reserve("TransferQueueController", 1), Reserve("its storage", 1, units.value if units else 0, True))

    @property
    def is_apart(self) -> bool:
        """True if the V1 trainer has servers in separate pools, beside the actor's processes."""
        return bool(self.is_v1) and self.word("trainer.v1.trainer_mode", ROLES) == "separate_async"

    def has_new_workers(self, name: str) -> bool | None:
        """Return True if workers of the model engine train a component; None if unknown.

        Since 0.8.0 there are no others; before 0.7.0 the actor has none. Source: verl,
        verl/trainer/main_ppo.py (add_actor_rollout_worker, add_critic_worker), verl/workers/engine_workers.py.
        """
        if self.since("0.8.0") or self.is_older_than("0.6.0" if name in ("critic", "reward_model") else "0.7.0"):
            return self.since("0.8.0")
        word = self.word("trainer.use_legacy_worker_impl", ROLES)
        return None if word is None else word == "disable"

    def sequence_key(self, owner: str) -> str:
        """Return the key of a component's sequence parallel size with FSDP.

        Source: verl, verl/trainer/config/critic/dp_critic.yaml, verl/workers/config/actor.py
        (FSDPActorConfig.__post_init__).
        """
        inner = self.fsdp_section(owner)
        # Above 1 the older key wins; the reference has the actor's.
        old = self.at(f"{owner}.{SEQUENCE}") or self.at(f"actor_rollout_ref.actor.{SEQUENCE}")
        is_new = self.has(f"{inner}.{SEQUENCE}") and (old is None or (isinstance(old, Scalar) and old.value == 1))
        return f"{inner if self.since('0.8.0') and (owner == 'critic' or is_new) else owner}.{SEQUENCE}"

    def fsdp_section(self, owner: str) -> str:
        """Return the section of a component's FSDP engine."""
        if owner == "critic" and self.since("0.8.0"):
            return "critic.fsdp"
        return f"{owner}.model.fsdp_config" if owner in ("critic", "reward_model") else f"{owner}.fsdp_config"
