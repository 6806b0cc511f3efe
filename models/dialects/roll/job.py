"""A role of a ROLL configuration, and the job while it is read."""

from __future__ import annotations

from dataclasses import field
from typing import Callable, Iterator

from ...component import Component, Parallel, Relation
from ...configuration.notes import Notes
from ...configuration.settings import Amount, Settings
from ...derivation import Derivation
from ...findings.span import Span
from ...findings.wording import with_noun
from ...machines.cluster import Cluster
from ...model_cards import ModelUse
from ...record import dataclass
from ...share import Share
from ...text.tree import Scalar, Value
from ..checks import Facts, Number
from .ids import Ids
from .names import CONFIG
from .profile import Pipeline


@dataclass(frozen=True)
class Role:
    """One block of workers, or one that the pipeline creates without a block.

    Attributes
    ----------
    key : its path in the file, such as ``actor_train``, ``rewards.math``, ``teacher.large``; also the name of its component.
    part : what the pipeline uses it as, such as ``actor_train`` (also for the block `student_train`); see `names`.
    created, reason : whether the pipeline starts it, None if that is not known; why, or why not: part of a sentence.
    span, mapping : where its key, or the reason for it, stands; what is written as `device_mapping`.
    ids : its device ids; None for a role on CPUs, and where they could not be read.
    readable : whether its devices are known; where not, a finding or an Unchecked says why.
    num_gpus_per_worker : how many devices one worker gets, as ROLL makes of it; 0 on CPUs.
    world_size : how many workers there are; None where that is not known or ROLL has none.
    strategy : the name of its strategy; "" without `strategy_args`, None where it is not known.
    counts : whether its devices count for the number of nodes that ROLL reserves; those of a role that is not started do too.
    per_worker_span, world_span : where the number of devices per worker and the number of workers come from.
    """

    key: str
    part: str
    created: bool | None
    reason: str
    span: Span
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
        """Training strategy of the role; "" for engines."""
        return next((name for name in ("megatron", "fsdp", "deepspeed") if (self.strategy or "").startswith(name)), "")

    @property
    def on_devices(self) -> bool:
        """True if it has devices that are known."""
        return self.ids is not None and self.ids.count > 0

    @property
    def place(self) -> Span:
        """Where its devices are written; its key where they are not."""
        return self.mapping.span if self.mapping is not None else self.span

    def path(self, inner: str) -> str:
        """The path of something in its block, such as ``strategy_args.strategy_config.tensor_parallel_size``."""
        return f"{self.key}.{inner}"

    def config(self, name: str) -> str:
        """The path of a key of its `strategy_config`."""
        return self.path(f"{CONFIG}{name}")


@dataclass
class Setup:
    """A ROLL job while it is read: its roles, what is known about them, and what the later steps add.

    Attributes
    ----------
    pipeline, roles : which of ROLL's pipelines it is; every role that is declared or created, in ROLL's order of creation.
    per_node, cluster : how many devices ROLL counts on a node; the nodes that it reserves, or could reserve for what is open.
    components : by name what is placed; modes may replace them, but not take one away.
    hinted, choices : relations that hints state; degrees that they leave open, by component, those that a strategy fixes taken out.
    relations, shares, derivations, models : what is found out besides, by anyone.
    in_step : pairs of which the first shares whole workers of the second, where they share devices.
    short : roles that name devices which do not exist: how many ranks they get is open, so that no batch is judged by them.
    """

    notes: Notes
    settings: Settings
    pipeline: Pipeline
    roles: tuple[Role, ...]
    per_node: int
    cluster: Cluster
    components: dict[str, Component]
    hinted: tuple[Relation, ...] = ()
    choices: dict[str, tuple[Parallel, ...]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)
    in_step: list[tuple[str, str]] = field(default_factory=list)
    models: dict[str, ModelUse] = field(default_factory=dict)
    short: frozenset[str] = frozenset()

    def role(self, part: str) -> Role | None:
        """The first role of a part that the pipeline creates; None if there is none, or none whose creation is known."""
        return next(self.all(part), None)

    def all(self, part: str) -> Iterator[Role]:
        """The roles of a part that the pipeline creates."""
        return (role for role in self.roles if role.part == part and role.created)

    def declared(self, part: str) -> Iterator[Role]:
        """The roles of a part, whether the pipeline creates them or not."""
        return (role for role in self.roles if role.part == part)

    def since(self, release: str) -> bool:
        """True if the release at hand is this one or newer."""
        return self.notes.choice is None or self.notes.choice.since(release)

    @property
    def top(self) -> Span:
        """Where nothing better can be pointed at."""
        return self.settings.top


class RoleFacts(Facts):
    """Facts of one role of a job."""

    def __init__(self, setup: Setup, role: Role) -> None:
        super().__init__(setup.notes, setup.settings, role.key)
        self.setup, self.role = setup, role

    @property
    def top(self) -> Span:
        """See `Facts.top`."""
        return self.role.place

    @property
    def ranks(self) -> Number | None:
        """Number of its GPUs; None where these are unknown."""
        count = self.role.ids.count if self.role.ids else 0
        return Number(count, f"the {with_noun(count, 'rank')} of {self.role.key}") if count else None


def amount_of(facts: Facts, amount: Amount) -> Number:
    """A setting as a number of a check."""
    return Number(amount.value, facts.text(amount), amount)


def whole_of(path: str, code: str, least: int, below: str = "") -> Callable[[Facts], Number | None]:
    """A whole number of at least `least`; `below` the subject of the facts where that is given."""

    def term(facts: Facts) -> Number | None:
        amount = facts.settings.whole(f"{facts.subject}.{below}{path}" if below else path, code, least=least, exact=True)
        return None if amount is None else amount_of(facts, amount)

    return term


def number(settings: Settings, path: str, rule: str, default: float) -> float | None:
    """What is written at a path; the default where nothing is; None where it is not known, or no number."""
    if settings.is_open(path, rule):
        return None
    value = settings.at(path)
    if value is None:
        return default
    found = value.value if isinstance(value, Scalar) else None
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def shown(value: float) -> str:
    """`1` for 1.0."""
    return str(int(value)) if value.is_integer() else str(value)
