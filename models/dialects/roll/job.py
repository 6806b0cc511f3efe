"""Role of a ROLL configuration, and the job under construction."""

from __future__ import annotations

from dataclasses import field
from typing import Iterator

from ...component import Component, Parallel, Relation
from ...configuration.notes import Notes
from ...configuration.settings import Amount, Settings, plain_value
from ...derivation import Derivation, Figure
from ...findings.span import Span
from ...findings.wording import with_noun
from ...job import Share
from ...machines.cluster import Cluster
from ...model_cards import ModelUse
from ...record import dataclass
from ...text.tree import MapNode, Value
from ..checks import Facts, Number
from ..dialect import Machines
from .ids import Ids
from .names import BY_ULYSSES, CONFIG, MEGATRON, SGLANG, VLLM
from .profile import Pipeline, Profile, profile_of


@dataclass(frozen=True)
class Role:
    """Block of workers, declared in the file or created by the pipeline.

    Attributes
    ----------
    key : path in the file, such as ``actor_train``, ``rewards.math``, ``teacher.large``; also the
        name of the component.
    part : use in the pipeline, such as ``actor_train`` (also for the block `student_train`); see
        `names`.
    created, reason : whether the pipeline starts the role, None if unknown; and why or why not, as
        part of a sentence.
    span : place of the key, or of the reason.
    block, mapping : map of the workers, None if there is none; written value of `device_mapping`.
    ids : device ids; None on CPUs and if unreadable.
    readable : whether the devices are known; if not, a finding or an Unchecked gives the reason.
    num_gpus_per_worker : devices per worker, after ROLL's own changes; 0 on CPUs.
    world_size : number of workers; None if unknown or if ROLL has none.
    strategy : strategy name; "" without `strategy_args`, None if unknown.
    counts : whether the devices count for the number of nodes that ROLL reserves; true also for
        roles that are not started.
    per_worker_span, world_span : places of the devices per worker and of the number of workers.
    """

    key: str
    part: str
    created: bool | None
    reason: str
    span: Span
    block: MapNode | None = None
    ids: Ids | None = None
    readable: bool = True
    num_gpus_per_worker: int = 0
    world_size: int | None = None
    strategy: str | None = ""
    mapping: Value | None = None
    per_worker_span: Span | None = None
    world_span: Span | None = None
    counts: bool = True

    @property
    def backend(self) -> str:
        """Training strategy of the role; "" for inference engines."""
        return next((name for name in ("megatron", "fsdp", "deepspeed") if (self.strategy or "").startswith(name)), "")

    @property
    def by_megatron(self) -> bool:
        """True if Megatron runs the model."""
        return self.strategy in MEGATRON

    @property
    def by_ulysses(self) -> bool:
        """True if the ranks split a sequence by `ulysses_size` alone."""
        return self.strategy in BY_ULYSSES

    @property
    def is_engine(self) -> bool:
        """True if vLLM or SGLang runs the model."""
        return self.strategy in (VLLM, SGLANG)

    @property
    def devices(self) -> Ids:
        """Device ids; none on CPUs and if unreadable."""
        return self.ids or Ids()

    @property
    def place(self) -> Span:
        """Span of the `device_mapping`, or of the key."""
        return self.mapping.span if self.mapping is not None else self.span

    def path(self, inner: str) -> str:
        """Return the path of a key in the block, such as ``strategy_args.strategy_name``."""
        return f"{self.key}.{inner}"

    def config(self, name: str) -> str:
        """Return the path of a key of `strategy_config`."""
        return self.path(f"{CONFIG}{name}")


@dataclass
class RollSetup:
    """ROLL job under construction: known facts, roles, and results of later steps.

    Attributes
    ----------
    hinted_names : roles with hints, which may be left to solve.
    derivations : origins of derived numbers; any step adds some.
    roles : every declared or created role in ROLL's order of creation.
    per_node, cluster : devices per node as ROLL counts them; nodes that ROLL reserves, or could
        reserve for open roles.
    components : components by name; modes may replace but not remove them.
    hinted, choices : relations from hints; open degrees by component, without those that a strategy
        fixes.
    relations, shares, models : results that any step adds.
    in_step : pairs (a, b): where both share devices, a shares whole workers of b.
    short : roles that name devices beyond the cluster; the number of their ranks is open, so no batch
        is judged by it.
    """

    notes: Notes
    settings: Settings
    pipeline: Pipeline
    machines: Machines = None
    hinted_names: frozenset[str] = frozenset()
    derivations: list[Derivation] = field(default_factory=list)
    roles: tuple[Role, ...] = ()
    per_node: int = 1
    cluster: Cluster = field(default_factory=lambda: Cluster(()))
    components: dict[str, Component] = field(default_factory=dict)
    hinted: tuple[Relation, ...] = ()
    choices: dict[str, tuple[Parallel, ...]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)
    in_step: list[tuple[str, str]] = field(default_factory=list)
    models: dict[str, ModelUse] = field(default_factory=dict)
    short: frozenset[str] = frozenset()

    def role(self, part: str) -> Role | None:
        """Return the first created role of a part; None if there is none."""
        return next(self.all(part), None)

    def all(self, *parts: str) -> Iterator[Role]:
        """Return the created roles of some parts, part by part."""
        return (role for part in parts for role in self.roles if role.part == part and role.created)

    def list_declared(self, part: str) -> Iterator[Role]:
        """Return the roles of a part, created or not."""
        return (role for role in self.roles if role.part == part)

    def may_hold(self, devices: int) -> bool:
        """Return False if the machines are known and have fewer devices."""
        return not isinstance(self.machines, Cluster) or devices <= self.machines.total()

    def derive(self, subject: str, name: str, value: int, formula: str, *terms: Amount | Figure) -> int:
        """Record the origin of a number and return the number."""
        figures = tuple(term.figure if isinstance(term, Amount) else term for term in terms)
        self.derivations.append(Derivation(subject, name, value, formula, figures))
        return value

    @property
    def profile(self) -> Profile:
        """Classes, keys and defaults of the selected release."""
        return profile_of(self.notes.choice)

    def span_of(self, path: str) -> Span:
        """Return the span of the value at a path, or the fallback."""
        value = self.settings.at(path)
        return value.span if value is not None else self.settings.top


class RollChecks:
    """Base of checks: the job under construction, with its findings and settings at hand."""

    def __init__(self, setup: RollSetup) -> None:
        self.setup, self.notes, self.settings, self.pipeline = setup, setup.notes, setup.settings, setup.pipeline


class RoleFacts(Facts):
    """Facts of a role for checks."""

    def __init__(self, setup: RollSetup, role: Role) -> None:
        super().__init__(setup.notes, setup.settings, role.key)
        self.setup, self.role = setup, role

    @property
    def top(self) -> Span:
        """See `Facts.top`."""
        return self.role.place

    @property
    def ranks(self) -> Number | None:
        """Number of GPUs of the role; None if unknown."""
        count = len(self.role.devices)
        return Number(count, f"the {with_noun(count, 'rank')} of {self.role.key}") if count else None


def number(settings: Settings, path: str, rule: str, default: float) -> float | None:
    """Return the number at a path: the default if unset, None if unknown."""
    value = None if settings.is_open(path, rule) else plain_value(settings, path, default)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
