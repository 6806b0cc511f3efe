"""Stand-ins for what verl imports and its worker groups do not use; Python loads this file by itself where its folder is in PYTHONPATH.

A module that is really installed is taken as it is.
"""

import sys
import types
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec

MADE_UP = ("torch", "tensordict", "transformers", "omegaconf", "hydra", "pandas", "datasets", "codetiming", "peft", "accelerate")


class Anything(type):
    """Any attribute and any item of it is anything again."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty

    def __getitem__(cls, item):
        return cls

    def __or__(cls, other):
        return cls

    __ror__ = __or__


class Empty(metaclass=Anything):
    """Anything: it can be called, subclassed or used as a decorator; it is never available."""

    def __init__(self, *arguments, **options):
        pass

    def __call__(self, *arguments, **options):
        """What it decorates, or anything."""
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else Empty()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty()

    def __bool__(self):
        return False


class MadeUp(MetaPathFinder, Loader):
    """Every module of these packages."""

    def find_spec(self, name, path, target=None):
        """A module of these packages, whatever its name."""
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in MADE_UP else None

    def create_module(self, spec):
        """A module with any name in it."""
        module = types.ModuleType(spec.name)
        module.__dict__.update(__getattr__=_named, __version__="99.0.0")
        return module

    def exec_module(self, module):
        """Nothing is left to be done."""


def _named(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything(name, (Empty,), {"__module__": "made_up"})


sys.meta_path.append(MadeUp())
