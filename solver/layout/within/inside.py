"""Which searched bundles a bundle lies within, and which of them is next around it."""

from __future__ import annotations

from ....models.component import Component
from ..bundle import Bundle
from ..parts import Parts


def open_hosts(parts: Parts, bundle: Bundle) -> tuple[Bundle, ...]:
    """What a bundle lies within, directly or not, and what is itself searched."""
    return tuple(host for host in parts.hosts[bundle] if not host.fixed)


def innermost(parts: Parts, bundle: Bundle) -> Bundle | None:
    """The one of these that lies within all others of them; None if there are none, or if they do not lie one inside another."""
    hosts = open_hosts(parts, bundle)
    if bundle in hosts:
        return None
    return next((host for host in hosts if all(other is host or other in parts.hosts[host] for other in hosts)), None)


def company(parts: Parts, bundle: Bundle) -> tuple[Component, ...]:
    """The components that are wherever a searched bundle is: its own, and those of what it lies within if that is searched too."""
    return (*bundle.components, *(component for host in open_hosts(parts, bundle) for component in host.components))
