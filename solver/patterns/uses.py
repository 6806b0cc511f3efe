"""The domains of a problem, those that are alike together, and all ways to use one."""

from __future__ import annotations

from typing import Iterable

from ..layout.layout import Layout
from ..objectives.by_domain import Excess, Share
from .alike import alike
from .contents import Contents, TooMany, contents, is_small
from .domain_rows import Domain
from .options import Option, options, supports

MOST_CONTENTS = 20_000
"""Of more different contents of domains, of all kinds together, the model is no better than the ordinary one."""
MANY_ALIKE = 5
"""Where so many domains are alike on the average, uses need not be written out: sets of bundles do. Where fewer are, the ordinary
model is as good."""
FEW_USES = 100
"""Of more uses of one kind of domains, sets of bundles are the better ones, if they do."""


class Uses:
    """What the domains of a level can be used for. Raises TooMany where that is too much to write out.

    Attributes
    ----------
    levels : the level; with its other names, where the domains of several levels are the same.
    kinds : the domains, those that are alike together.
    domains : what fits one of each kind.
    contents : for each kind all that one can hold; nothing where its options are free.
    options : every use that an answer may need.
    """

    def __init__(self, layout: Layout, levels: tuple[str, ...], shares: Iterable[Share]) -> None:
        self.layout, self.levels = layout, levels
        self.kinds = alike(layout, levels[0])
        self.domains = [Domain(layout, levels, kind) for kind in self.kinds]
        names = {name for share in shares if isinstance(share, Excess) for name in (share.component, share.source)}
        self._exact = frozenset(n for n, bundle in enumerate(layout.counted) if any(c.name in names for c in bundle.components))
        many = sum(len(kind.domains) for kind in self.kinds) >= MANY_ALIKE * len(self.kinds)
        if not many and not all(is_small(domain, MOST_CONTENTS) for domain in self.domains):
            raise TooMany
        self.contents: list[Contents] = []
        found: list[Option] = []
        for kind, domain in enumerate(self.domains):
            its = self._few(kind, domain) if many else self._written_out(kind, domain)
            found += its
        self.options = tuple(found)

    @property
    def free(self) -> bool:
        """Are some options free?"""
        return any(option.free for option in self.options)

    def _written_out(self, kind: int, domain: Domain) -> list[Option]:
        every = contents(domain, MOST_CONTENTS - sum(map(len, self.contents)))
        self.contents.append(every)
        return list(options(kind, domain, every, self._exact))

    def _few(self, kind: int, domain: Domain) -> list[Option]:
        """Those that are written out if they are few, else sets of bundles."""
        try:
            its = self._written_out(kind, domain) if is_small(domain, MOST_CONTENTS // len(self.kinds)) else []
        except TooMany:
            its = []
        if 0 < len(its) <= FEW_USES:
            return its
        del self.contents[kind:]
        self.contents.append({})
        return list(supports(kind, domain))

    def held(self, option: Option) -> dict[str, int]:
        """Component -> what a domain of this use holds of it, at most."""
        found = dict(self.kinds[option.kind].given)
        for bundle, units in zip(self.layout.counted, option.most):
            found.update({component.name: bundle.unit * units for component in bundle.components if units})
        return found
