"""What ROLL makes of each block of workers: strategy, devices, devices per worker, number of workers."""

from __future__ import annotations

from dataclasses import replace

from ...configuration.notes import Notes, is_unknown
from ...configuration.settings import Amount, Settings
from ...derivation import WORLD_SIZE as WORLD_SIZE_NAME
from ...derivation import Derivation, Figure
from ...findings.finding import Severity
from ...findings.wording import do, with_noun
from ...record import dataclass
from ...releases.release import Range, Release
from ...text.document import Document
from ...text.nearest import nearest
from ...text.tree import Mapping, Scalar
from .blocks import BY_ESTIMATOR, BY_KL, NO_REFERENCE, NOT_STARTED, Block, blocks_of, pipeline_of
from .device_mapping import KEY, joined, other_ids, read_devices, stands_alone
from .names import AT_CREATION, AT_LOAD
from .ids import Ids
from .job import Role
from .misspelt import unknown_keys
from .names import (
    ACTOR_INFER,
    ACTOR_TRAIN,
    AGENTIC_REWARD,
    CRITICS,
    DEVICES,
    GROUPS,
    MOST,
    PER_WORKER,
    REDUNDANCY,
    REFERENCES,
    REWARD_MODEL,
    REWARDS,
    SFT_TRAIN,
    SIZE,
    STRATEGY,
    STUDENTS,
    TEACHERS,
    TRAIN_ENV,
    VAL_ENV,
    VALIDATION,
    WORLD_SIZE,
)  # fmt: skip
from .names import MAX_WORKERS
from .profile import Pipeline, profile_of, releases_with

# The strategy of a role: how its workers train or infer.

VLLM, SGLANG, HF_INFER = "vllm", "sglang", "hf_infer"
INFERENCE = (HF_INFER, VLLM, SGLANG)
"""Strategies whose workers may have several devices."""
GENERATING, GENERATES = (VLLM, SGLANG), Range(since="0.2.0")
"""Strategies of `actor_infer`. Source: ROLL, roll/configs/base_config.py, BaseConfig.__post_init__."""
_NO_STRATEGY = "not a strategy"
REPLACED = {"deepspeed_train": "megatron_train", "deepspeed_infer": "megatron_infer"}
"""Strategies of some releases, and what took their place."""


def read_strategy(notes: Notes, settings: Settings, block: Block, pipeline: Pipeline) -> str | None:
    """The name of the strategy; "" where the block has none, None where it is not known or ROLL refuses it."""
    path, profile = f"{block.key}.{STRATEGY}", profile_of(notes.choice)
    value = settings.at(path)
    if value is None:
        return ""
    if is_unknown(value):
        notes.unsure("PW111", block.key, f"`{path}` is not known here", True, f"Write `{STRATEGY}:` here")
        return None
    if not isinstance(value, Mapping):
        if isinstance(value, Scalar) and value.is_null and not pipeline.checks_types:
            return ""
        entry = block.mapping.entry(STRATEGY) if block.mapping else None
        edit = notes.removed(block.mapping, entry) if block.mapping and entry else None
        notes.wrong_type(block.key, path, value, "a map with `strategy_name`", f"remove `{STRATEGY}`, or write the map", edit)
        return None
    name = settings.at(f"{path}.strategy_name")
    if name is None:
        return profile.default_strategy
    if is_unknown(name):
        notes.unsure("PW111", block.key, f"`{path}.strategy_name` is not known here", True, f"Pass `--set {path}.strategy_name=VALUE`")
        return None
    if isinstance(name, Scalar) and name.value in profile.strategies:
        if block.part == ACTOR_INFER and pipeline.ppo and name.value not in GENERATING:
            message = f"`{path}.strategy_name` is `{name.value}`, but ROLL generates with `{VLLM}` or `{SGLANG}` alone"
            help, edit = f"write `{VLLM}` or `{SGLANG}`", settings.becomes(f"{path}.strategy_name", VLLM)
            notes.judge(GENERATES, Severity.ERROR, "PW123", block.key, message, name, "does not generate", help, edit, AT_LOAD)
        return str(name.value)
    written = str(name.value) if isinstance(name, Scalar) else ""
    strategies, had = profile.strategies, releases_with(written)
    better = nearest(written, strategies) if not had else replacement if (replacement := REPLACED.get(written)) in strategies else ""
    message = f"`{path}.strategy_name` is `{written}`, which ROLL does not know"
    if had and notes.choice:
        gone = had[-1].index < notes.choice.release.index
        message += f": removed in {notes.choice.table.releases[had[-1].index + 1].name}" if gone else f" before {had[0].name}"
    help = f"write `{better}`" if better else f"write one of {', '.join(f'`{each}`' for each in strategies)}"
    edit = settings.becomes(f"{path}.strategy_name", better) if better else None
    notes.error("PW105", block.key, message, name, _NO_STRATEGY, help, edit, AT_LOAD)
    return better or None


def strategies_together(notes: Notes) -> None:
    """Make one finding of those about the same strategy that the release does not know."""
    found = [each for each in notes.findings if each.label == _NO_STRATEGY]
    for what in dict.fromkeys(each.message.partition(" is ")[2] for each in found):
        same = [each for each in found if each.message.endswith(f" is {what}") and each.span is not None]
        if len(same) < 2:
            continue
        edits = [each.edit for each in same if each.edit is not None]
        whole = len(edits) == len(same) and len({edit.span.file for edit in edits}) == 1
        where = tuple(f"`{each.subject}` in line {each.span.line}" for each in same if each.span)
        first = replace(
            same[0], message=f"`strategy_name` of {len(same)} roles is {what}", notes=(*same[0].notes, *where),
            edit=edit if (edit := joined(notes, edits) if whole else None) and stands_alone(notes, edit, edits) else None,
        )  # fmt: skip
        notes.findings = [first if each is same[0] else each for each in notes.findings if each not in same[1:]]


# Environment managers of the agentic pipelines: how many of their workers there are follows from the environments.
#
# Source: ROLL, roll/pipeline/agentic/agentic_config.py, EnvManagerConfig.__post_init__.

RULE = "PW403"
WHOLE_WORKERS = Range(until="0.1.1")
"""Releases that assert that environments fill their workers, and count no redundant ones."""


def read_environments(notes: Notes, settings: Settings, role: Role, derivations: list[Derivation]) -> Role:
    """The role with its number of workers: as many as the environments fill, `max_env_num_per_worker` on each."""
    _no_devices(notes, settings, role)
    groups, size, redundancy = (
        settings.whole(role.path(key), RULE, 0, least=least) for key, least in ((GROUPS, 0), (SIZE, 0), (REDUNDANCY, 0))
    )
    most = settings.whole(role.path(MOST), RULE, least=-MAX_WORKERS)
    if groups is None or size is None or redundancy is None or most is None:
        return replace(role, readable=False)
    spare = 0 if notes.choice is not None and notes.choice.until("0.1.1") else redundancy.value
    environments = groups.value * (size.value + spare)
    if most.value > 0 and environments % most.value:
        rest = f"{do(environments)} not fill workers of {most.value}: {environments % most.value} left over"
        message = f"{with_noun(environments, 'environment')} of `{role.key}` {rest}"
        help = f"let `{most.name}` divide them"
        notes.judge(WHOLE_WORKERS, Severity.ERROR, RULE, role.key, message, most.scalar or role.span, "no divisor", help, None, AT_LOAD)
    figures = (groups.figure, size.figure, redundancy.figure, most.figure)
    if most.value <= 0:
        workers, formula = 1 if environments else 0, f"all {with_noun(environments, 'environment')} in one worker"
    else:
        workers, formula = -(-environments // most.value), f"{with_noun(environments, 'environment')}, {most.value} a worker, rounded up"
    if not environments and most.value <= 0:
        message = f"`{role.key}` has no environments, and ROLL divides by their number: a ZeroDivisionError"
        notes.error(RULE, role.key, message, groups.scalar or role.span, "none", f"write a `{GROUPS}` of at least 1", None, AT_LOAD)
    if workers > MAX_WORKERS:
        message = f"`{role.key}` has {workers:,} workers; more than {MAX_WORKERS:,} are not read"
        notes.error("PW102", role.key, message, groups.scalar or role.span, "too many", "is this number meant?")
        return replace(role, readable=False)
    derivations.append(Derivation(role.key, WORLD_SIZE_NAME, workers, formula, figures))
    return replace(role, world_size=workers, world_span=groups.span or role.span)


def _no_devices(notes: Notes, settings: Settings, role: Role) -> None:
    """Environments run on CPUs: ROLL never reads a `device_mapping` of theirs, and compares its letters with device ids."""
    value = settings.at(role.path(KEY))
    if value is None or is_unknown(value) or (isinstance(value, Scalar) and value.is_null):
        return
    if isinstance(value, Scalar) and isinstance(value.value, str):
        owner = settings.at(role.key)
        entry = owner.entry(KEY) if isinstance(owner, Mapping) else None
        edit = notes.removed(owner, entry) if isinstance(owner, Mapping) and entry else None
        message = f"`{role.key}` has a `{KEY}`, but environments run on CPUs: ROLL compares this text with numbers, a TypeError"
        notes.error("PW123", role.key, message, value, "no devices here", f"remove `{KEY}`", edit, AT_LOAD)
    else:
        notes.unsure("PW123", role.key, f"`{KEY}` of environments is not judged: they run on CPUs")


# What ROLL makes of one block of workers: devices, devices per worker, number of workers.
#
# Source: ROLL, roll/configs/worker_config.py, WorkerConfig.__post_init__, in its order.

REWRITTEN = "PW126"
"""The code of values that ROLL replaces."""


@dataclass
class Workers:
    """Reads the blocks of one file; `hinted` are the roles whose place is left to solve."""

    notes: Notes
    settings: Settings
    pipeline: Pipeline
    hinted: frozenset[str]
    derivations: list[Derivation]

    def read(self, block: Block) -> Role:
        """The role that ROLL makes of a block."""
        role = Role(block.key, block.part, block.cluster, block.created, block.reason, block.span, counts=block.counts)
        if block.mapping is None:
            return self._bare(role)
        entry = block.mapping.entry(DEVICES)
        strategy = read_strategy(self.notes, self.settings, block, self.pipeline)
        role = replace(role, strategy=strategy, mapping=self.settings.at(role.path(DEVICES)) if entry else None)
        if role.part == ACTOR_TRAIN and strategy == "":
            message = f"`{role.key}` has no `{STRATEGY}`, and ROLL reads its `strategy_name`: an AttributeError"
            help = f"give `{role.key}` a `{STRATEGY}`"
            self.notes.judge(WHOLE_WORKERS, Severity.ERROR, "PW101", role.key, message, role.span, "here", help, None, AT_LOAD)
        if entry is None or role.mapping is None:
            if role.key in self.hinted and (each := self._per_worker(role)):
                role = replace(role, num_gpus_per_worker=each.value)
            return self._on_cpus(role, block.mapping)
        found = read_devices(self.notes, role.key, block.mapping, entry, role.mapping, self.pipeline.checks_types, bool(role.created))
        if not found.given:
            return self._on_cpus(role, block.mapping)
        each = self._per_worker(role)
        if found.ids is None or each is None:
            return replace(role, readable=False, ids=found.ids, num_gpus_per_worker=each.value if each else 0)
        return self._on_devices(replace(role, ids=found.ids, num_gpus_per_worker=each.value), found.ids, each)

    # -- on devices

    def _per_worker(self, role: Role) -> Amount | None:
        """How many devices a worker gets."""
        path = role.path(PER_WORKER)
        if role.strategy is None:
            return None
        if role.strategy == VLLM:
            written = self._written(path)
            tp, pp = (self._degree(role.config(f"{name}_parallel_size")) for name in ("tensor", "pipeline"))
            if tp is None or pp is None:
                return None
            if written is not None and written.value != tp.value * pp.value:
                self._rewritten(role, written, tp.value * pp.value, f"tensor_parallel_size {tp.value} x pipeline_parallel_size {pp.value}")
            self.derivations.append(
                Derivation(role.key, PER_WORKER, tp.value * pp.value, f"tp {tp.value} x pp {pp.value}", (tp.figure, pp.figure))
            )
            return Amount(tp.value * pp.value, path, written.scalar if written else None)
        given = self.settings.whole(path, "PW111", 1)
        if given is not None and role.strategy and role.strategy not in INFERENCE and given.value > 1:
            self._rewritten(role, given, 1, f"a worker of strategy `{role.strategy}` has one device")
            return Amount(1, path, given.scalar)
        return given

    def _degree(self, path: str) -> Amount | None:
        """A parallel degree of vLLM; 1 where it is not in the `strategy_config`."""
        if self.settings.at(path) is None:
            return Amount(1, path, None, "ROLL, roll/configs/worker_config.py")
        return self.settings.whole(path, "PW111", exact=True)

    def _written(self, path: str) -> Amount | None:
        """A whole number as it is written, where ROLL makes another of it; its type is checked all the same."""
        value = self.settings.at(path)
        number = value.value if isinstance(value, Scalar) else None
        if value is not None and not is_unknown(value) and not isinstance(number, int) and self.pipeline.checks_types:
            self.notes.wrong_type(path.rpartition(".")[0], path, value, "a whole number", "write a whole number, or remove it")
        return Amount(number, path, value) if isinstance(value, Scalar) and type(number) is int else None

    def _rewritten(self, role: Role, given: Amount, becomes: int, why: str) -> None:
        message = f"`{given.name}` is {given.value}, but ROLL replaces it with {becomes}: {why}"
        at, edit = given.scalar or role.span, given.becomes(becomes)
        self.notes.warn(REWRITTEN, role.key, message, at, f"becomes {becomes}", f"write `{becomes}`", edit)

    def _on_devices(self, role: Role, ids: Ids, each: Amount) -> Role:
        if ids.count % each.value:
            self._uneven(role, ids, each.value)
            return replace(role, readable=False)
        world = ids.count // each.value
        given = self._written(role.path(WORLD_SIZE))
        if given is not None and given.value != world:
            self._rewritten(role, given, world, f"{ids.count} device ids // {each.value} per worker")
        if not world:
            self._empty(role)
        figures = (Figure(role.path(DEVICES), f"{ids.count} device ids", role.place), each.figure)
        self.derivations.append(Derivation(role.key, WORLD_SIZE_NAME, world, f"{ids.count} device ids // {each.value} per worker", figures))
        return replace(role, world_size=world, per_worker_span=each.span)

    def _uneven(self, role: Role, ids: Ids, each: int) -> None:
        rest = ids.count % each
        lower, upper = ids.count - rest, ids.count - rest + each
        fit = f"{lower} or {upper}" if lower else str(upper)
        message = f"the {ids.count} device ids of `{role.key}` cannot be divided among workers of {each}: {rest} would be left"
        better, edit = other_ids(self.notes, role.key, role.mapping, ids.sliced(slice(lower))) if lower else ("", None)
        help = f"name {fit} devices" + f": `{better}`" * bool(better)
        self.notes.error("PW111", role.key, message, role.place, with_noun(ids.count, "id"), help, edit, AT_LOAD)

    def _empty(self, role: Role) -> None:
        """A role on devices without any: no worker is started."""
        message = f"`{role.key}` names no device, so ROLL starts none of its workers"
        fails = bool(role.created) and role.part in (ACTOR_TRAIN, ACTOR_INFER, SFT_TRAIN, STUDENTS, TEACHERS)
        if fails:
            self.notes.error("PW112", role.key, message, role.place, "no device", "name devices, such as `list(range(0,8))`")
        elif role.created:
            self.notes.warn("PW112", role.key, message, role.place, "no device", "name devices, or remove the block")

    # -- on CPUs

    def _bare(self, role: Role) -> Role:
        """A role without a block."""
        if role.created and role.key not in self.hinted and self.settings.at(role.key) is None:
            self._no_workers(role)
        return role

    def _on_cpus(self, role: Role, mapping: Mapping) -> Role:
        path = role.path(WORLD_SIZE)
        if role.part == REWARD_MODEL:
            return role
        if role.part == AGENTIC_REWARD:
            if role.created:
                self._no_devices(role)
            return role
        self._written(role.path(PER_WORKER))
        entry, value = mapping.entry(WORLD_SIZE), self.settings.at(path)
        if isinstance(value, Scalar) and value.is_null and entry is not None:
            if self.pipeline.checks_types:
                message = f"`{path}` is null, which ROLL refuses: it must be a whole number, or left out"
                self.notes.error("PW105", role.key, message, value, "null", f"write a number, or remove `{WORLD_SIZE}`", None, AT_LOAD)
            return replace(role, readable=False)
        if value is None:
            if role.created and role.key not in self.hinted:
                self._no_workers(role, mapping)
            return role
        given = self.settings.whole(path, "PW101", least=0, exact=True, fits=1)
        if given is None:
            return replace(role, readable=False)
        if given.value > MAX_WORKERS:
            message = f"`{path}` is {given.value:,}; more than {MAX_WORKERS:,} workers are not read"
            self.notes.error("PW102", role.key, message, value, "too many", "is this number meant?")
            return replace(role, readable=False)
        if role.part == ACTOR_TRAIN and role.strategy and role.created:
            self._no_devices(role)
        self.derivations.append(Derivation(role.key, WORLD_SIZE_NAME, given.value, "as written: a role without devices", (given.figure,)))
        return replace(role, world_size=given.value, world_span=given.span)

    def _no_devices(self, role: Role) -> None:
        """ROLL counts devices that are not there: those of a `reward`, and those of an `actor_train` with a strategy.

        Source: ROLL, roll/pipeline/agentic/agentic_pipeline.py; roll/configs/base_config.py, BaseConfig.__post_init__.
        """
        message = f"`{role.key}` has no `{DEVICES}`, and ROLL takes `len()` of it, which is a TypeError"
        help = f"give `{role.key}` a `{DEVICES}`, or remove it"
        when = AT_LOAD if role.part == ACTOR_TRAIN else AT_CREATION
        self.notes.error("PW101", role.key, message, role.span, "no devices", help, None, when)

    def _no_workers(self, role: Role, mapping: Mapping | None = None) -> None:
        """A role that is started and says neither where nor how many. ROLL fails when it counts the workers (`range(None)`)."""
        if self.notes.partial:
            why = f"`{role.key}.{DEVICES}` is not in this file; it may come from `defaults`"
            self.notes.unsure("PW101", role.key, why, True, "Pass `--config-root DIR` with the folder of its `defaults`")
            return
        has = f"has neither `{DEVICES}` nor `{WORLD_SIZE}`" if mapping is not None else "is nowhere configured"
        message = f"`{role.key}` {has}, but ROLL starts it: {role.reason}"
        label = f"no `{role.key}` here" if role.span == self.settings.top else "started without workers"
        counted = role.part == ACTOR_TRAIN and str(role.strategy).startswith("megatron")
        either = f"`{WORLD_SIZE}` or a " if role.part == REWARDS else ""
        help = f"give `{role.key}` a {either}`{DEVICES}`{_without(role)}"
        self.notes.error("PW101", role.key, message, role.span, label, help, None, AT_LOAD if counted else AT_CREATION)


def _without(role: Role) -> str:
    """What makes ROLL not start the role, where one setting does."""
    if role.part == CRITICS and role.reason.startswith(BY_ESTIMATOR):
        return ", or write `adv_estimator: reinforce`"
    return ", or write `init_kl_coef: 0`" if role.part == REFERENCES and role.reason.startswith(BY_KL) else ""


# All roles of a configuration, in the order in which ROLL starts them.


def read_roles(
    notes: Notes, settings: Settings, document: Document, hinted: frozenset[str], derivations: list[Derivation]
) -> tuple[Pipeline, tuple[Role, ...]]:
    """The pipeline and its roles; those that nothing starts come last. `hinted` are the roles whose place is left to solve."""
    pipeline = pipeline_of(notes, settings, document.program)
    blocks = blocks_of(notes, settings, pipeline, document.root)
    unknown_keys(notes, pipeline, document.root, blocks)
    workers = Workers(notes, settings, pipeline, hinted, derivations)
    roles = []
    for block in blocks:
        if block.part in (TRAIN_ENV, VAL_ENV):
            role = Role(block.key, block.part, block.cluster, block.created, block.reason, block.span, counts=False)
            roles.append(read_environments(notes, settings, role, derivations) if block.created else role)
            continue
        role = workers.read(block)
        if role.part in (AGENTIC_REWARD, REWARD_MODEL) and role.created and role.readable and not role.on_devices:
            role = replace(role, created=False, reason="it names no device")
        roles.append(role)
    removed(notes, settings, [role for role in roles if role.created])
    return pipeline, tuple(roles)


def removed(notes: Notes, settings: Settings, roles: list[Role]) -> None:
    """Add one warning for strategies that the release at hand knows and newer ones do not: the user may run one of these."""
    choice = notes.choice
    if choice is None or not choice.reason.startswith("newest that has"):
        return
    by_release: dict[Release, list[Role]] = {}
    for role in roles:
        had = releases_with(role.strategy or "")
        if had and had[-1] != choice.table.newest:
            by_release.setdefault(choice.table.releases[had[-1].index + 1], []).append(role)
    for gone, mine in by_release.items():
        names = dict.fromkeys(str(role.strategy) for role in mine)
        which = [f"`{name}` of {', '.join(f'`{role.key}`' for role in mine if role.strategy == name)}" for name in names]
        were = "was" if len(names) == 1 else "were"
        message = f"{' and '.join(which)} {were} removed in {gone}; the file is judged for {choice.release}"
        at = settings.at(mine[0].path(f"{STRATEGY}.strategy_name")) or mine[0].span
        kinds = tuple(name[name.rindex("_") :] for name in names)
        news = " or ".join(f"`{each}`" for each in profile_of(None).strategies if each.endswith(kinds) and each not in INFERENCE)
        help = f"for {gone} or newer write {news}; else state the release: `--framework roll=={choice.release.name}`"
        notes.warn("PW105", mine[0].key, message, at, f"removed in {gone.name}", help)


# Roles that have devices, and that nothing starts.

CODE = "PW803"


def unused(notes: Notes, roles: tuple[Role, ...], per_node: int) -> None:
    """A warning for every role with devices that the pipeline does not start; ROLL reserves the nodes of its devices all the same."""
    used = max((role.ids.highest for role in roles if role.created and role.ids is not None), default=-1)
    for role in roles:
        if role.created is not False or role.mapping is None or not role.on_devices or role.ids is None:
            continue
        count = role.ids.distinct
        message = f"`{role.key}` has {with_noun(count, 'device')}, but ROLL never starts it: {role.reason}"
        if role.counts and role.ids.highest // per_node > max(used, 0) // per_node:
            message += f"; nodes up to {role.ids.highest // per_node} are reserved for it all the same"
        notes.warn(CODE, role.key, message, role.place, "not used", f"remove its `device_mapping`{_starting(role)}")


def _starting(role: Role) -> str:
    """What else would mend it: what makes the pipeline start the role, or another pipeline that does."""
    if role.part == VALIDATION:
        return ""
    if role.reason.endswith(NOT_STARTED):
        return ", or start the pipeline that uses it"
    if role.reason == NO_REFERENCE:
        return ", or write `use_kl_loss: true`"
    return ", or write `adv_estimator: gae`" if role.part == CRITICS and role.reason.startswith(BY_ESTIMATOR) else ""
