"""Program that a command line starts, with its configuration and its places."""

from __future__ import annotations

from ..findings.span import Span
from ..record import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """What a script tells Ray of the node that it runs on.

    Attributes
    ----------
    accelerators : how many accelerators of this node Ray may use; None if unknown.
    accelerators_span : where that is written, such as ``--num-gpus=2`` or ``CUDA_VISIBLE_DEVICES=0,1``.
    cpus : how many CPUs Ray counts, as ``ray start --num-cpus`` says; None if unknown.
    cpus_span : where that is written.
    variable : the variable that names the accelerators, such as ``ASCEND_RT_VISIBLE_DEVICES``; "" if none does.
    """

    accelerators: int | None = None
    accelerators_span: Span | None = None
    cpus: int | None = None
    cpus_span: Span | None = None
    variable: str = ""


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
    found : True if the configuration that it begins with was found, so that the settings are made in it.
    complete : True if these are all of its settings. False where some are unknown, lost or refused; a script is taken to be run without arguments.
    is_hydra : True if it is known to read its configuration with Hydra: a framework's own program, or ``hydra.main`` is in its file.
    machine : what its script tells Ray of the machine; None if nothing.
    missing : what is missing of its configuration, and what helps; ("", "") if nothing is.
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
    is_hydra: bool = True
    machine: Machine | None = None
    missing: tuple[str, str] = ("", "")
