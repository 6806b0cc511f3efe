"""Hydra composition: a main file with its `defaults` followed and merged.

The result is the whole configuration, as Hydra and OmegaConf build it.
"""

from __future__ import annotations

from .composer import Composer

__all__ = ["Composer"]
