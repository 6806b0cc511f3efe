"""Program started by a command line, with its configuration and places."""

from __future__ import annotations

from ..findings.span import Span
from ..record import dataclass


@dataclass(frozen=True, slots=True)
class ShellMachine:
    """Resources of the node that a script passes to Ray.

    Attributes
    ----------
    accelerators : number of accelerators of this node that Ray may use; None if unknown.
    accelerators_span : place of the number, such as ``--num-gpus=2`` or
        ``CUDA_VISIBLE_DEVICES=0,1``.
    cpus : number of CPUs for Ray, from ``ray start --num-cpus``; None if unknown.
    cpus_span : place of that number.
    variable : variable that names the accelerators, such as ``ASCEND_RT_VISIBLE_DEVICES``; ""
        without a variable.
    for_ray : True if `ray start --num-gpus` states the number, which Ray alone reads.
    """

    accelerators: int | None = None
    accelerators_span: Span | None = None
    cpus: int | None = None
    cpus_span: Span | None = None
    variable: str = ""
    for_ray: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """Program of a framework, with the facts of its command besides the settings.

    Attributes
    ----------
    name : module or file, such as ``verl.trainer.main_ppo`` or ``main_ppo_split.py``.
    span : place of the name.
    launcher : starter other than Python itself, such as ``torchrun`` or ``ray job submit``.
    config_path, config_name : values of ``--config-path`` and ``--config-name``; "" if absent.
    options : other options of the program and its launcher, such as ``--nnodes`` -> ``2``; "" for
        an unknown value.
    command : the whole command; a further setting can be added at its end.
    number, count : number of the program in its script, from 1, and the number of programs.
    found : True if the initial configuration was found, so that the settings apply to it.
    complete : True if all settings are known. False if some are unknown, lost or refused; scripts
        are assumed to run without arguments.
    is_hydra : True if Hydra is known to read the configuration: a framework's own program, or
        ``hydra.main`` in its file.
    machine : resources passed to Ray; None if unspecified.
    missing : missing part of the configuration, and help; ("", "") if complete.
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
    machine: ShellMachine | None = None
    missing: tuple[str, str] = ("", "")
