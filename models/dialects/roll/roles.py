"""Roles from worker blocks: strategy, devices, devices per worker, workers."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ...configuration.notes import is_unknown
from ...configuration.settings import Amount
from ...derivation import WORLD_SIZE as WORLD_SIZE_NAME
from ...derivation import Figure
from ...findings.span import Edit, Span
from ...findings.wording import with_noun
from ...releases.release import Release
from ...text.nearest import nearest
from ...text.tree import MapNode, Scalar, Value
from ..checks import divisors
from . import names
from .blocks import BY_ESTIMATOR, BY_KL, NO_REFERENCE, NOT_STARTED, ConfigurationBlocks
from .device_mapping import ids_edit, read_devices
from .findings import report
from .ids import Ids
from .job import Role, RollChecks, RollSetup
from .misspelt import KeyChecks
from .names import ACTOR_INFER, ACTOR_TRAIN, AT_LOAD, CONFIG, CRITICS, DEVICES, INFERENCE, PER_WORKER, STRATEGY, VLLM, WORLD_SIZE
from .profile import profile_of, releases_with

REPLACED = {"deepspeed_train": "megatron_train", "deepspeed_infer": "megatron_infer"}
"""Strategy of older releases -> replacement."""
REWRITTEN = "PW126"
"""Code of values that ROLL replaces."""
MAX_WORKERS = 1 << 20
"""Limit on the workers of a role; our own."""


def read_roles(setup: RollSetup) -> tuple[Role, ...]:
    """Return the roles in ROLL's start order, unused roles last."""
    blocks = tuple(ConfigurationBlocks(setup).roles())
    KeyChecks(setup).check(blocks)
    workers = RoleWorkers(setup)
    roles = []
    for block in blocks:
        role = workers.read(block)
        if role.part in (names.AGENTIC_REWARD, names.REWARD_MODEL) and role.created and role.readable and not role.devices:
            role = replace(role, created=False, reason="it names no device")
        roles.append(role)
    workers.report_unknown_strategies()
    warn_removed_strategies(setup, [role for role in roles if role.created])
    return tuple(roles)


class RoleWorkers(RollChecks):
    """Reader of the workers of a file's blocks, in the order of ROLL's own checks.

    `unknown` maps each strategy unknown to the release to the blocks that name it. Source: ROLL,
    roll/configs/worker_config.py, WorkerConfig.__post_init__.
    """

    def __init__(self, setup: RollSetup) -> None:
        super().__init__(setup)
        self.unknown: dict[str, list[tuple[str, Value]]] = {}

    def read(self, role: Role) -> Role:
        """Return the role with the workers that ROLL makes of the block."""
        if role.part in (names.TRAIN_ENV, names.VAL_ENV):
            role = replace(role, counts=False)
            return self._environments(role) if role.created else role
        if role.block is None:
            if role.created and role.key not in self.setup.hinted_names and self.settings.at(role.key) is None:
                self._report_no_workers(role, "is not configured")
            return role
        block, entry, strategy = role.block, role.block.entry(DEVICES), self._strategy(role)
        role = replace(role, strategy=strategy, mapping=self.settings.at(role.path(DEVICES)) if entry else None)
        if entry is None or role.mapping is None:
            if role.key in self.setup.hinted_names and (per_worker := self._per_worker(role)):
                role = replace(role, num_gpus_per_worker=per_worker.value)
            return self._place_on_cpus(role)
        has_devices, ids = read_devices(self.notes, role, block, entry, role.mapping, self.pipeline.checks_types)
        if not has_devices:
            return self._place_on_cpus(role)
        per_worker = self._per_worker(role)
        role = replace(role, ids=ids, num_gpus_per_worker=per_worker.value if per_worker else 0)
        return replace(role, readable=False) if ids is None or per_worker is None else self._place_on_devices(role, per_worker)

    # -- strategies

    def _strategy(self, role: Role) -> str | None:
        """Return the strategy name; "" without `strategy_args`, None if unknown or refused."""
        notes, settings, profile = self.notes, self.settings, self.setup.profile
        path = role.path(STRATEGY)
        value, name = settings.at(path), settings.at(f"{path}.strategy_name")
        if value is None or (isinstance(value, Scalar) and value.is_null and not self.pipeline.checks_types):
            return ""
        for node, key in ((value, path), (name, f"{path}.strategy_name")):
            if node is not None and is_unknown(node):
                notes.unsure("PW111", role.key, f"`{key}` is not known here", True, f"Pass `--set {path}.strategy_name=VALUE`")
                return None
        if not isinstance(value, MapNode):
            return None
        if name is None:
            return str(profile.keys("StrategyArguments")["strategy_name"][1])
        strategy = str(name.value) if isinstance(name, Scalar) else ""
        if strategy not in profile.strategies:
            self.unknown.setdefault(strategy, []).append((role.key, name))
            return self._better(strategy) or None
        return strategy

    def _better(self, strategy: str) -> str:
        """Return the probable strategy; "" if none is close."""
        strategies, better = self.setup.profile.strategies, REPLACED.get(strategy, "")
        if releases_with(strategy):
            return better if better in strategies else ""
        return nearest(strategy, strategies) or ""

    def report_unknown_strategies(self) -> None:
        """Add a single finding per unknown strategy, with all roles of the strategy."""
        choice = self.notes.choice
        for strategy, users in self.unknown.items():
            (first, value), had, better = users[0], releases_with(strategy), self._better(strategy)
            place, scope = f"`{first}.{STRATEGY}.strategy_name`" if len(users) == 1 else f"`strategy_name` of {len(users)} roles", ""
            if had and choice:
                is_removed = had[-1].index < choice.release.index
                scope = f": removed in {choice.table.releases[had[-1].index + 1].name}" if is_removed else f" before {had[0].name}"
            help = f"`{better}`" if better else f"one of {', '.join(f'`{name}`' for name in self.setup.profile.strategies)}"
            places = [f"`{key}` in line {name_node.span.line}" for key, name_node in users if len(users) > 1]
            edit = self._write_together([f"{key}.{STRATEGY}.strategy_name" for key, _ in users], better) if better else None
            if strategy in REPLACED and any(self.settings.has(f"{key}.{CONFIG.rstrip('.')}") for key, _ in users):
                help, edit = f"{help}, with keys of `{better}` in `strategy_config`", None
            values = {"place": place, "strategy": strategy, "scope": scope, "help": help}
            report(self.notes, "unknown_strategy", first, value, edit, "error", places, **values)

    def _write_together(self, paths: Sequence[str], text: str) -> Edit | None:
        """Return the edit that writes a text at all paths. None if a path stands elsewhere."""
        edits = [edit for path in paths if (edit := self.settings.becomes(path, text)) is not None]
        is_whole = len(edits) == len(paths) and len({edit.span.file for edit in edits}) == 1
        return self.notes.join(*edits) if is_whole else None

    # -- on devices

    def _per_worker(self, role: Role) -> Amount | None:
        path = role.path(PER_WORKER)
        if role.strategy is None:
            return None
        if role.strategy == VLLM:
            setting = self._read_written(path)
            tp, pp = (self._degree(role.config(f"{name}_parallel_size")) for name in ("tensor", "pipeline"))
            if tp is None or pp is None:
                return None
            size, formula = tp.value * pp.value, f"tp {tp.value} x pp {pp.value}"
            self._replaces(role, setting, size, formula)
            self.setup.derive(role.key, PER_WORKER, size, formula, tp, pp)
            return Amount(size, path, setting.scalar if setting else None)
        amount = self.settings.whole(path, "PW111", 1)
        if amount is None or not role.strategy or role.strategy in INFERENCE or amount.value == 1:
            return amount
        self._replaces(role, amount, 1, f"a worker of strategy `{role.strategy}` has one device")
        return Amount(1, path, amount.scalar)

    def _degree(self, path: str) -> Amount | None:
        if self.settings.at(path) is None:
            return Amount(1, path, None, "ROLL, roll/configs/worker_config.py")
        return self.settings.whole(path, "PW111", exact=True)

    def _read_written(self, path: str) -> Amount | None:
        """Return the written whole number where ROLL computes another."""
        value = self.settings.at(path)
        number = value.value if isinstance(value, Scalar) else None
        return Amount(number, path, value) if isinstance(value, Scalar) and type(number) is int else None

    def _replaces(self, role: Role, setting: Amount | None, number: int, why: str) -> None:
        if setting is not None and setting.value != number:
            at, edit = setting.scalar or role.span, setting.becomes(number)
            report(self.notes, "number_replaced", role.key, at, edit, setting=setting, number=number, why=why)

    def _place_on_devices(self, role: Role, per_worker: Amount) -> Role:
        count, size = len(role.devices), per_worker.value
        world, rest = divmod(count, size)
        if rest:
            lower = count - rest
            better, edit = ids_edit(self.notes, role, Ids(role.devices[:lower])) if lower else ("", None)
            more = f" or {lower + size}" if self.setup.may_hold(lower + size) else ""
            help = f"{lower}{more} devices: `{better}`" if lower else f"{size} devices"
            help += f", or give each worker {[divisor for divisor in divisors(count) if divisor < size][-1]}"
            if not any((finding.code, finding.subject) == ("PW103", role.key) for finding in self.notes.findings):
                values = {"count": count, "ids": with_noun(count, "id"), "size": size, "rest": rest, "help": help}
                report(self.notes, "no_whole_workers", role.key, role.place, edit, role=role, **values)
            return replace(role, readable=False)
        formula = f"{count} device ids // {size} per worker"
        self._replaces(role, self._read_written(role.path(WORLD_SIZE)), world, formula)
        if not world and role.created:
            self._idle(role, "names no device", role.place, "name devices, such as `list(range(0,8))`")
        ids = Figure(role.path(DEVICES), f"{count} device ids", role.place)
        self.setup.derive(role.key, WORLD_SIZE_NAME, world, formula, ids, per_worker)
        return replace(role, world_size=world, per_worker_span=per_worker.span)

    # -- on CPUs

    def _place_on_cpus(self, role: Role) -> Role:
        path = role.path(WORLD_SIZE)
        if role.part == names.REWARD_MODEL:
            return role
        if role.part == names.AGENTIC_REWARD:
            if role.created:
                self._report_no_devices(role)
            return role
        value = self.settings.at(path)
        if isinstance(value, Scalar) and value.is_null:
            return replace(role, readable=False)
        if value is None:
            if role.created and role.key not in self.setup.hinted_names:
                self._report_no_workers(role, f"has neither `{DEVICES}` nor `{WORLD_SIZE}`")
            return role
        workers = self.settings.whole(path, "PW101", minimum=0, exact=True, fits=1)
        if workers is None or self._too_many(role, workers.value, workers):
            return replace(role, readable=False)
        if role.part == ACTOR_TRAIN and role.strategy and role.created:
            self._report_no_devices(role)
        self.setup.derive(role.key, WORLD_SIZE_NAME, workers.value, "as written: a role without devices", workers)
        if not workers.value and role.created and role.part == names.REWARDS:
            self._idle(role, f"has a `{WORLD_SIZE}` of 0", workers.span or role.span, "write at least 1")
        return replace(role, world_size=workers.value, world_span=workers.span)

    def _idle(self, role: Role, problem: str, at: Span, help: str) -> None:
        """Report a role without workers: an error for needed roles, else a warning.

        Without reward workers the first reward sample fails. Source: ROLL, generate_scheduler.py
        (reward_worker_iters).
        """
        required_parts = (ACTOR_TRAIN, ACTOR_INFER, names.SFT_TRAIN, names.STUDENTS, names.TEACHERS, names.REWARDS)
        domains = self.settings.at(f"{ACTOR_TRAIN}.data_args.domain_interleave_probs") if role.part == names.REWARDS else None
        is_used = not isinstance(domains, MapNode) or domains.get(role.key.removeprefix(f"{names.REWARDS}.")) is not None
        severity = "error" if role.part in required_parts and is_used else "warning"
        moment = "ROLL notices this only at the first reward, after a rollout" if role.part == names.REWARDS else ""
        label = "no device" if role.mapping is not None else "none"
        report(self.notes, "idle", role.key, at, None, severity, role=role, problem=problem, label=label, help=help, moment=moment)

    def _environments(self, role: Role) -> Role:
        """Count the workers that the environments fill, `max_env_num_per_worker` per worker.

        Source: ROLL, roll/pipeline/agentic/agentic_config.py, EnvManagerConfig.__post_init__.
        """
        notes = self.notes
        *counts, limit = map(role.path, names.ENVIRONMENT_KEYS)
        groups, size, redundancy = (self.settings.whole(path, "PW403", 0, minimum=0) for path in counts)
        most = self.settings.whole(limit, "PW403", minimum=-MAX_WORKERS)
        if groups is None or size is None or redundancy is None or most is None:
            return replace(role, readable=False)
        spare = 0 if notes.choice is not None and notes.choice.is_older_than("0.1.1") else redundancy.value
        environments = groups.value * (size.value + spare)
        text = with_noun(environments, "environment")
        if most.value > 0:
            workers, formula = -(-environments // most.value), f"{text}, {most.value} a worker, rounded up"
        else:
            workers, formula = min(environments, 1), f"all {text} in one worker"
        if not environments and most.value <= 0:
            report(notes, "no_environments", role.key, groups.scalar or role.span, role=role)
        if self._too_many(role, workers, groups):
            return replace(role, readable=False)
        self.setup.derive(role.key, WORLD_SIZE_NAME, workers, formula, groups, size, redundancy, most)
        return replace(role, world_size=workers, world_span=groups.span or role.span)

    def _too_many(self, role: Role, workers: int, amount: Amount) -> bool:
        if workers > MAX_WORKERS:
            report(self.notes, "too_many_workers", role.key, amount.scalar or role.span, role=role, workers=workers, most=MAX_WORKERS)
        return workers > MAX_WORKERS

    def _report_no_devices(self, role: Role) -> None:
        """Report a role whose missing `device_mapping` ROLL takes `len()` of.

        These are a `reward`, and an `actor_train` with a strategy. Source: ROLL,
        roll/pipeline/agentic/agentic_pipeline.py; roll/configs/base_config.py,
        BaseConfig.__post_init__.
        """
        report(self.notes, "no_devices", role.key, role.span, role=role, moment=AT_LOAD if role.part == ACTOR_TRAIN else names.AT_CREATION)

    def _report_no_workers(self, role: Role, why: str) -> None:
        """Report a started role without devices and workers: ROLL fails when it counts them (`range(None)`)."""
        root = self.settings.at("")
        if isinstance(root, MapNode) and any(root.get(role.path(key)) is not None for key in (DEVICES, WORLD_SIZE)):
            return  # a key with a dot, which has a finding
        if self.notes.partial:
            missing = f"`{role.key}.{DEVICES}` is not in this file; it may come from `defaults`"
            self.notes.unsure("PW101", role.key, missing, True, "Pass `--config-root DIR` with the folder of its `defaults`")
            return
        label = f"no `{role.key}` here" if role.span == self.settings.top else "started without workers"
        is_counted = role.part == ACTOR_TRAIN and str(role.strategy).startswith("megatron")
        alternative = ", or write `adv_estimator: reinforce`" if role.part == CRITICS and role.reason.startswith(BY_ESTIMATOR) else ""
        if role.part == names.REFERENCES and role.reason.startswith(BY_KL):
            alternative = ", or write `init_kl_coef: 0`"
        either = f"`{WORLD_SIZE}` or a " if role.part == names.REWARDS else ""
        values = {"why": why, "label": label, "either": either, "alternative": alternative}
        report(self.notes, "no_workers", role.key, role.span, role=role, moment=AT_LOAD if is_counted else names.AT_CREATION, **values)


def warn_removed_strategies(setup: RollSetup, roles: Sequence[Role]) -> None:
    """Warn once of strategies that newer releases do not know. The user may run one."""
    choice = setup.notes.choice
    if choice is None or not choice.reason.startswith("newest that has"):
        return
    by_release: dict[Release, list[Role]] = {}
    for role in roles:
        had = releases_with(role.strategy or "")
        if had and had[-1] != choice.table.newest:
            by_release.setdefault(choice.table.releases[had[-1].index + 1], []).append(role)
    for release, users in by_release.items():
        strategies = dict.fromkeys(str(role.strategy) for role in users)
        removals = [f"`{name}` of {', '.join(f'`{role.key}`' for role in users if role.strategy == name)}" for name in strategies]
        at = setup.settings.at(users[0].path(f"{STRATEGY}.strategy_name")) or users[0].span
        kinds = tuple(name[name.rindex("_") :] for name in strategies)
        choices = [f"`{name}`" for name in profile_of(None).strategies if name.endswith(kinds) and name not in INFERENCE]
        text = f"{' and '.join(removals)} {'was' if len(removals) == 1 else 'were'}"
        values = {"removed": text, "release": release, "choices": " or ".join(choices), "choice": choice}
        report(setup.notes, "removed_strategy", users[0].key, at, **values)


def warn_unused_roles(setup: RollSetup) -> None:
    """Warn of roles with devices that the pipeline does not start. ROLL reserves their nodes anyway."""
    per_node = setup.per_node
    highest = max((role.devices.highest for role in setup.roles if role.created), default=-1)
    for role in setup.roles:
        if role.created is not False or role.mapping is None or not role.devices:
            continue
        last_node, alternative = role.devices.highest // per_node, ""
        is_reserved = role.counts and last_node > max(highest, 0) // per_node
        reservation = f"nodes up to {last_node} are reserved for it all the same" if is_reserved else ""
        if role.reason.endswith(NOT_STARTED) and role.part != names.VALIDATION:
            alternative = ", or start the pipeline that uses it"
        elif role.reason == NO_REFERENCE:
            alternative = ", or write `use_kl_loss: true`"
        elif role.part == CRITICS and role.reason.startswith(BY_ESTIMATOR):
            alternative = ", or write `adv_estimator: gae`"
        values = {"devices": with_noun(role.devices.distinct, "device"), "alternative": alternative, "reserved": reservation}
        report(setup.notes, "never_started", role.key, role.place, role=role, **values)
