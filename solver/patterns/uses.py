"""The domains of a problem, those that are alike together, and all ways to use one."""

from __future__ import annotations

from typing import Iterable

from ..layout.layout import Layout
from ..objectives.by_domain import Excess, Share
from .alike import alike
from .contents import Contents, TooMany, contents, is_small
from .domain_rows import Domain
from .options import Option, options

MOST_CONTENTS = 20_000
"""Of more different contents of domains, of all kinds together, the model is no better than the ordinary one."""


class Uses:
    """What the domains of a level can be used for. Raises TooMany where that is too much to write out.

    Attributes
    ----------
    levels : the level; with its other names, where the domains of several levels are the same.
    kinds : the domains, those that are alike together.
    domains : what fits one of each kind.
    contents : for each kind all that one can hold.
    options : every use that an answer may need.
    """

    def __init__(self, layout: Layout, levels: tuple[str, ...], shares: Iterable[Share]) -> None:
        self.layout, self.levels = layout, levels
        self.kinds = alike(layout, levels[0])
        self.domains = [Domain(layout, levels, kind) for kind in self.kinds]
        names = {name for share in shares if isinstance(share, Excess) for name in (share.component, share.source)}
        exact = frozenset(n for n, bundle in enumerate(layout.counted) if any(c.name in names for c in bundle.components))
        if not all(is_small(domain, MOST_CONTENTS) for domain in self.domains):
            raise TooMany
        self.contents: list[Contents] = []
        left = MOST_CONTENTS
        for domain in self.domains:
            self.contents.append(contents(domain, left))
            left -= len(self.contents[-1])
        self.options = tuple(
            option for kind, domain in enumerate(self.domains) for option in options(kind, domain, self.contents[kind], exact)
        )

    def held(self, option: Option) -> dict[str, int]:
        """Component -> what a domain of this use holds of it, at most."""
        found = dict(self.kinds[option.kind].given)
        for bundle, units in zip(self.layout.counted, option.most):
            found.update({component.name: bundle.unit * units for component in bundle.components if units})
        return found
