"""RLinf's interface under its short name; see compat/rlinf."""

from __future__ import annotations

from .compat.rlinf import *  # noqa: F403
from .compat.rlinf import __all__ as __all__
from .compat.rlinf import __getattr__ as __getattr__
