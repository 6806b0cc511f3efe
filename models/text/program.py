"""What a command line starts, where a configuration is one: the program, and which configuration it begins with."""

from __future__ import annotations

from dataclasses import dataclass

from ..findings.span import Span


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a framework and what it was told besides the settings.

    Attributes
    ----------
    name : the module or file that is run, such as ``verl.trainer.main_ppo`` or ``main_ppo_split.py``.
    span : where it is named.
    launcher : what starts it if it is not Python itself, such as ``torchrun`` or ``ray job submit``.
    config_path, config_name : what ``--config-path`` and ``--config-name`` say; "" if they are not given.
    options : its other options and those of its launcher, such as ``--nnodes`` -> ``2``; "" where the value is not known.
    command : the whole command; another setting can be added where it ends.
    number, count : which program of its script it is, from 1, and of how many.
    found : was the configuration that it begins with found, so that the settings are made in it?
    complete : are these all of its settings? Not where it takes the arguments of its script, or where some are lost or refused.
    """

    name: str
    span: Span
    launcher: str = ""
    config_path: str = ""
    config_name: str = ""
    options: tuple[tuple[str, str], ...] = ()
    command: Span | None = None
    number: int = 1
    count: int = 1
    found: bool = False
    complete: bool = True
