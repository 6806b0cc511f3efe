"""An estimate with what the settings of a framework say of how a component is run."""

from __future__ import annotations

from dataclasses import fields, replace

from ..estimate import Estimate

_KEYS = tuple(each.name for each in fields(Estimate) if each.compare)


def as_run(said: Estimate, run: Estimate | None) -> Estimate:
    """What the user says, and what the framework's settings say where the user says nothing."""
    if run is None:
        return said
    usual = Estimate()
    known = {key: value for key in _KEYS if (value := getattr(run, key)) != getattr(usual, key) and key not in said.written}
    return replace(said, written=(*said.written, *known), **known)
