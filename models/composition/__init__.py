"""From a main file to the whole configuration: its `defaults` followed, its parts merged, as Hydra and OmegaConf do."""

from __future__ import annotations

from .composer import Composer

__all__ = ["Composer"]
