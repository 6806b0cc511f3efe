"""The arithmetic of the work: environments dealt out to processes, samples to the ranks that train."""

from __future__ import annotations

from dataclasses import dataclass, field

from ....component import Component, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Amount, Settings
from ....derivation import Derivation, Figure
from ....findings.span import Span
from ....model_cards import ModelUse
from ....share import Share
from ..modes import Mode

SHARES, DEMANDS = "PW401", "PW403"
"""The codes of what does not divide among processes, and of what does not go together otherwise."""


def figure_of(amount: Amount) -> Figure:
    """The amount as a part of a derivation; a default with the file of RLinf that it stands in."""
    source = "rlinf/utils/placement.py" if amount.name.endswith("_parallel_size") else "rlinf/config.py"
    return Figure(amount.name, amount.value, amount.span, "" if amount.scalar else f"RLinf, {source}")


@dataclass
class Work:
    """What is collected while the settings are read."""

    notes: Notes
    settings: Settings
    mode: Mode
    shares: list[Share] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)
    models: dict[str, ModelUse] = field(default_factory=dict)

    def component(self, name: str) -> Component | None:
        """The component, if it could be read."""
        return next((each for each in self.mode.components if each.name == name), None)

    def processes(self, name: str) -> int | None:
        """How many processes a component has, if its ranks are given."""
        found = self.component(name)
        return max((run.ranks.stop for run in found.runs), default=0) if found and found.runs is not None else None

    def share(self, component: str, amount: Amount, multiple: int, multiple_name: str, what: str, reason: str, proved: bool = True) -> None:
        """An amount must divide among the processes of a component."""
        if self.component(component):
            self.shares.append(Share(component, amount.value, multiple, what, amount.name, multiple_name, amount.span, reason, proved))

    def derive(self, component: str, name: str, value: int, formula: str, *amounts: Amount) -> int:
        """A number of a component, and how it comes about; the number. What the component has none of is not told."""
        if self.component(component):
            self.derivations.append(Derivation(component, name, value, formula, tuple(map(figure_of, amounts))))
        return value

    def must_be_one(self, stages: Amount, why: str) -> None:
        """An error if there are several pipeline stages."""
        if stages.value > 1:
            message = f"{why} needs `{stages.name}: 1`, but it is {stages.value}"
            help = f"write `{stages.name}: 1`"
            self.notes.error("PW123", "rollout", message, stages.span or self.top, "more than one stage", help, stages.becomes(1))

    @property
    def top(self) -> Span:
        """Where nothing better can be pointed at."""
        return self.settings.top
