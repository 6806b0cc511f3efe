"""Machine that a script describes to Ray, and unread sections about accelerators.

Source: verl, verl/single_controller/ray/base.py (_check_resource_available),
verl/trainer/main_ppo.py (run_ppo: ray.init).
"""

from __future__ import annotations

import re
from typing import Mapping, Sequence

from ....configuration.notes import is_unknown
from ....findings.span import Span
from ....findings.wording import with_noun
from ...following import scalars_by_path
from ...skeleton import HINTS
from ...unread import is_used
from ..keys import refused_keys
from ..programs import TRAINERS, ProgramKind, facts
from .work import ACCELERATORS, VerlWork

FIT, CPUS, UNREAD = "PW215", "PW502", "PW122"
RAY = (*TRAINERS, ProgramKind.SIMULATION)
"""Programs whose pools Ray reserves, together or one by one."""
_PATTERNS: Mapping[str, list[str]] = facts("sizing")
NAMING = re.compile("|".join(_PATTERNS["names"]))
"""Names of keys that state numbers of accelerators, nodes or processes."""
UNDERSTOOD = re.compile("|".join(_PATTERNS["understood"]))
"""Keys that are read with their component."""
SINCE: Sequence[tuple[str, str]] = facts("settings")["sizing_since"]
"""(prefix of sizing keys, first release with the keys)."""
ROLLOUT_POOL = re.compile(r"rollout\.(nnodes|n_gpus_per_node)")
MOST_NAMED = 4


def judge_machine(work: VerlWork) -> None:
    """Check the accelerators and CPUs that the script gives Ray; report unread sizing keys."""
    pools = work.setup.pools
    if work.entry.kind in RAY and pools:
        is_single_node = all(pool.count == 1 for pool in pools)
        _accelerators(work, is_single_node)
        if is_single_node:
            _cpus(work)
    if work.entry.kind is ProgramKind.PROCESSES and pools:
        _processes(work)
    if work.entry.kind is not ProgramKind.NOTHING:
        _unread(work)


def _accelerators(work: VerlWork, is_single_node: bool) -> None:
    """Check that the script shows Ray enough accelerators of this node."""
    program, pools = work.notes.document.program, work.setup.pools
    machine = program.machine if program is not None else None
    need = sum(pool.size for pool in pools) if is_single_node else max(parts.size for pool in pools for parts in pool.parts)
    key, limits = "ray_kwargs.ray_init.num_gpus", list[tuple[int, str, Span | None]]()
    if machine is not None and machine.accelerators is not None:
        text = f"the script shows Ray {with_noun(machine.accelerators, 'accelerator')} of this node"
        limits.append((machine.accelerators, text, machine.accelerators_span))
    if work.settings.since("0.6.0") and work.settings.at(key) is not None and not (program and program.launcher.startswith("ray")):
        amount = work.settings.whole(key, FIT, minimum=0)
        limits += [(amount.value, f"`{key}` gives Ray {with_noun(amount.value, 'accelerator')}", amount.span)] if amount else []
    available, text, at = min(limits, key=lambda limit: limit[0], default=(need, "", None))
    if need <= available:
        return
    if not is_single_node:
        message, help_ = f"{text}, but a part of a pool needs {need} of one", f"show Ray {need} accelerators on each node"
        work.report(FIT, pools[0].name, message, at, help_, None, "", "HANGS", is_proved=False)
        return
    names = " and ".join(f"`{pool.name}` ({pool.sizes})" for pool in pools)
    message = f"{text}, but {names} need{'s' * (len(pools) == 1)} {need}"
    size = work.spell(pools[0].accelerators_key or ACCELERATORS, available)
    help_ = f"show Ray {need} accelerators" + f", or set {size}" * bool(available and need % available == 0)
    when = f"verl raises a ValueError: Total available GPUs {available}.0 is less than total desired GPUs {need}"
    may_join = machine is not None and machine.may_join and machine.accelerators == available
    if may_join:
        when = f"unless a Ray with {need} accelerators runs on the node already, which verl then joins: {when}"
        work.notes.unsure(FIT, pools[0].name, f"{text}; the Ray that it may join is not known", True, "Write `ray start` into the script")
    label = f"{available} of {need}"
    work.report(FIT, pools[0].name, message, at or pools[0].span("size"), help_, None, label, when, is_proved=not may_join)


def _processes(work: VerlWork) -> None:
    program, pool = work.notes.document.program, work.setup.pools[0]
    machine, need = program.machine if program is not None else None, max(parts.size for parts in pool.parts)
    if machine is None or machine.accelerators is None or machine.for_ray or need <= machine.accelerators:
        return
    shows = f"`{machine.variable}` shows" if machine.variable else "the script shows"
    message = f"{shows} {with_noun(machine.accelerators, 'accelerator')}, but torchrun starts {need} processes on a node"
    help_ = f"show {need} accelerators, or write `--nproc_per_node={machine.accelerators}`"
    when = "the processes without an accelerator fail at once: invalid device ordinal"
    work.report(FIT, pool.name, message, machine.accelerators_span, help_, None, f"{machine.accelerators} of {need}", when)


def _cpus(work: VerlWork) -> None:
    """Check the CPUs reserved with the accelerators, for which Ray waits without a limit."""
    key = "ray_kwargs.ray_init.num_cpus" if work.settings.since("0.6.0") else "ray_init.num_cpus"
    program, pools = work.notes.document.program, work.setup.pools
    machine, amount = program.machine if program is not None else None, work.amount(key, CPUS)
    limits: list[tuple[int, str, Span | None]] = []
    if amount is not None and not (program and program.launcher.startswith("ray")):
        limits.append((amount.value, f"`{key}` {amount.value}", amount.span))
    if machine is not None and machine.cpus is not None:
        limits.append((machine.cpus, f"`--num-cpus` {machine.cpus}", machine.cpus_span))
    count, reserves = sum(pool.size for pool in pools), sum(reserve.cpus * reserve.count for reserve in work.settings.reserves)
    need = sum(pool.size * pool.cpus for pool in pools) + reserves
    for available, text, at in limits:
        if available < need:
            cpus = f"{need - reserves} for {with_noun(count, 'accelerator')}" + f" and {reserves} for its processes" * bool(reserves)
            edit = amount.becomes(need) if amount is not None and at == amount.span else None
            message = f"{text} is fewer than the CPUs that verl reserves: {cpus}"
            work.report(CPUS, pools[0].name, message, at, f"make it {need} or more", edit, "too few", "HANGS")


def _unread(work: VerlWork) -> None:
    """Note every sizing key that nothing reads as unchecked."""
    sections, document = dict[str, list[str]](), work.notes.document
    separate = work.entry.kind in (ProgramKind.SEPARATE, ProgramKind.GENERATION)
    # Defaults of a configuration demand nothing.
    sources = frozenset(document.included) - {document.source.name, "--set"}
    refusals = refused_keys(work.notes, work.settings)
    for path, scalar in scalars_by_path(document.root):
        number = scalar.value
        is_number = (isinstance(number, (int, float)) and bool(number)) or (isinstance(number, str) and number.isdecimal())
        is_size = NAMING.search(path.rpartition(".")[2].lower()) and (is_number or is_unknown(scalar))
        if not is_size or scalar.span.file in sources:
            continue
        is_read = UNDERSTOOD.fullmatch(path) and (separate or not ROLLOUT_POOL.fullmatch(path))
        is_read = is_read and not any(path.startswith(section) and work.settings.is_older_than(release) for section, release in SINCE)
        is_read = is_read or path in work.settings.asked | refusals or path.partition(".")[0] in (HINTS, *_PATTERNS["ignored"])
        if not is_read and not is_used(work.notes, path, scalar.span):
            sections.setdefault(path.rpartition(".")[0], []).append(path)
    for owner, paths in list(sections.items())[:MOST_NAMED]:
        names = ", ".join(f"`{path}`" for path in paths[:MOST_NAMED])
        why = f"{names} size{'s' * (len(paths) == 1)} something on accelerators, which is not read here"
        add = "Count its accelerators yourself"
        if ".engine_kwargs" in owner:
            add = f"Write it as a key of verl, such as `{owner.partition('.engine_kwargs')[0]}.tensor_model_parallel_size`"
        elif not work.settings.choice.is_stated:
            add = "Name the release that has it (`--framework verl==VERSION`), or count its accelerators yourself"
        work.notes.unsure(UNREAD, owner or paths[0], why, decides=True, add=add)
