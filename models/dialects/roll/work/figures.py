"""The batch sizes of one role as its workers read them, and how many data parallel ranks share the work."""

from __future__ import annotations

from dataclasses import dataclass

from ....configuration.settings import Amount, Settings
from ....derivation import Derivation
from ..modes.degrees import data_parallel
from ..roles.role import Role
from ..roles.setup import Setup

RULE = "PW403"
_ARGUMENTS, _WORKER = "ROLL, roll/configs/training_args.py", "ROLL, roll/configs/worker_config.py"
PER_DEVICE, ACCUMULATED, INFERRED = (
    "training_args.per_device_train_batch_size", "training_args.gradient_accumulation_steps", "infer_batch_size",
)  # fmt: skip
_DEFAULTS = {PER_DEVICE: (8, _ARGUMENTS), ACCUMULATED: (1, _ARGUMENTS), INFERRED: (16, _WORKER)}


def amount(settings: Settings, path: str, default: int, source: str, least: int = 1) -> Amount | None:
    """A whole number, with the file of ROLL that its default stands in; None where it is not known or no number."""
    found = settings.whole(path, RULE, default, least=least, exact=True)
    return Amount(found.value, found.name, None, source) if found and found.scalar is None and not found.default else found


@dataclass(frozen=True, slots=True)
class Batches:
    """What one role trains on at once: `each` samples on a device, `accumulated` times before an update, on `ranks` data parallel ranks."""

    role: Role
    each: Amount
    accumulated: Amount
    ranks: int

    @property
    def of_rank(self) -> int:
        """Samples of one rank in one update."""
        return self.each.value * self.accumulated.value

    @property
    def of_all(self) -> int:
        """Samples of all ranks in one update."""
        return self.of_rank * self.ranks

    @property
    def said(self) -> str:
        """Such as ``per_device_train_batch_size 1 x gradient_accumulation_steps 16 = 16``."""
        names = [f"{amount.name.rpartition('.')[2]} {amount.value}" for amount in (self.each, self.accumulated)]
        return f"{' x '.join(names)} = {self.of_rank}"


def of_role(setup: Setup, role: Role, name: str) -> Amount | None:
    """One of the sizes of a role."""
    default, source = _DEFAULTS[name]
    return amount(setup.settings, role.path(name), default, source)


def batches_of(setup: Setup, role: Role) -> Batches | None:
    """The sizes of a role that trains; None where one is not known."""
    each, accumulated, ranks = of_role(setup, role, PER_DEVICE), of_role(setup, role, ACCUMULATED), data_parallel(setup, role)
    return Batches(role, each, accumulated, ranks) if each and accumulated and ranks else None


def derive(setup: Setup, component: str, name: str, value: int, formula: str, *amounts: Amount) -> int:
    """Tell how a number comes about; the number."""
    setup.derivations.append(Derivation(component, name, value, formula, tuple(amount.figure for amount in amounts)))
    return value


def nearest(value: int, step: int) -> list[int]:
    """The multiples of a step below and above a number."""
    lower = value // step * step
    return [lower, lower + step] if lower > 0 else [max(lower, 0) + step]


def either(values: list[int]) -> str:
    """`56 or 64`."""
    return " or ".join(map(str, values))
