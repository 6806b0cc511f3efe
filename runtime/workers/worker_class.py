"""The user's worker class, tried before anything starts."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Collection, Iterator

from ...models.findings.finding import Finding, error
from ...models.placements.plan import Plan
from ..failure import LaunchFailed, build_failure, headline
from .inside.host import Reporter

HARMLESS = {
    "CUDA_DEVICE_ORDER", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_LAUNCH_BLOCKING", "HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE",
    "HYDRA_FULL_ERROR", "MUJOCO_EGL_DEVICE_ID", "MUJOCO_GL", "NCCL_ALGO", "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_IB_HCA",
    "NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL", "NCCL_PROTO", "NCCL_SOCKET_FAMILY", "PYOPENGL_PLATFORM", "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NPU_ALLOC_CONF", "TOKENIZERS_PARALLELISM", "TORCH_DISTRIBUTED_DEBUG", "TRANSFORMERS_OFFLINE",
    "TRANSFORMERS_VERBOSITY", "VLLM_ATTENTION_BACKEND", "VLLM_LOGGING_LEVEL", "VLLM_USE_V1",
}  # fmt: skip
"""Variables that choose among built-in behaviours: no path, address, library or module."""
_PLAIN, _NUMBER = re.compile(r"[\w.,:=^~+*-]*", re.ASCII), re.compile(r"-?\d{1,18}", re.ASCII)
_NAMES_A_FILE = re.compile("FILE|PATH|DIR|PLUGIN|CONFIG")
INTERPRETER = "python_interpreter_path"


def find_untrusted(plan: Plan, allowlist: Collection[str]) -> Iterator[Finding]:
    """Yield a PW711 per interpreter and per possibly harmful variable not in `allowlist`."""
    groups = {run.node_group for name in plan.components for run in plan.assignment.of(name)}
    for group in plan.cluster.declared:
        harmful = dict.fromkeys(name for config in group.env_configs for name, value in config.env_vars if not is_harmless(name, value))
        for name in harmful if group.label in groups else ():
            if name not in allowlist:
                message = f"node group `{group.label}` sets `{name}`, which may make the workers run other code"
                yield error("PW711", group.label, message, help=f"if you trust the file, add `--trust-env {name}`", witnesses=(name,))
        if INTERPRETER not in allowlist and group.label in groups and any(config.python_interpreter_path for config in group.env_configs):
            message = f"node group `{group.label}` names a `{INTERPRETER}`, which the workers would run in"
            help = f"if you trust the file, add `--trust-env {INTERPRETER}`"
            yield error("PW711", group.label, message, help=help, witnesses=(INTERPRETER,))


def check_trusted(plan: Plan, allowlist: Collection[str]) -> None:
    """Raise LaunchFailed (PW711) for the findings of `find_untrusted`."""
    findings = tuple(find_untrusted(plan, allowlist))
    if findings:
        raise LaunchFailed(*findings)


def is_harmless(name: str, value: str) -> bool:
    """Return True if a variable can neither load code nor lead elsewhere.

    Allowed: HARMLESS, network interfaces and numbers of threads with a plain value, and numbers of
    NCCL and its kin. Their other settings name plug-ins, files or hosts.
    """
    if name.startswith(("NCCL_", "TORCH_NCCL_", "HCCL_")) and _NUMBER.fullmatch(value):
        return not _NAMES_A_FILE.search(name)
    return (name in HARMLESS or name.endswith(("_SOCKET_IFNAME", "_NUM_THREADS"))) and bool(_PLAIN.fullmatch(value))


IMPORT_LIMIT = 120.0
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
# Only fixed code runs; the names come in as arguments and are looked up.
_TRY = """\
import importlib, sys
sys.path.insert(0, '')
its = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])
missing = [name for name in sys.argv[3:] if not callable(getattr(its, name, None))]
sys.exit(91 if not isinstance(its, type) else 92 if missing else 0)
"""
_NO_CLASS, _NO_METHOD = 91, 92


def check_worker(worker: str | type | None, methods: Collection[str] = ()) -> str | type:
    """Return the class to construct in every process; by default Reporter.

    `methods`: methods that will be called.

    A name is imported in a separate process, from the current directory, so that nothing of the
    user's module stays in this one. Raises LaunchFailed (PW707) if that fails, or if a method is
    missing.
    """
    if isinstance(worker, str):
        _try(worker, methods)
        return worker
    cls = Reporter if worker is None else worker
    if not all(callable(getattr(cls, method, None)) for method in methods):
        raise _without(cls.__name__, methods)
    return cls


def _try(worker: str, methods: Collection[str]) -> None:
    if not _NAME.fullmatch(worker):
        help = "write it as `module:Class`, such as `train.workers:Actor`"
        raise build_failure("PW707", "", f"`{worker}` is not the name of a class", help, worker)
    module, _, name = worker.partition(":")
    try:
        result = subprocess.run(
            [sys.executable, "-c", _TRY, module, name, *methods], capture_output=True, text=True, errors="replace", timeout=IMPORT_LIMIT
        )
    except subprocess.TimeoutExpired:
        message = f"importing `{module}` took longer than {IMPORT_LIMIT:g} s"
        raise build_failure("PW707", "", message, "look for work done at import", worker) from None
    if result.returncode == _NO_METHOD:
        raise _without(worker, methods)
    if result.returncode == _NO_CLASS:
        raise build_failure("PW707", "", f"`{name}` of `{module}` is not a class", "name a class, as `module:Class`", worker)
    if result.returncode:
        error_lines = [line for line in result.stderr.strip().splitlines() if line.strip(" ^~") and "<frozen importlib" not in line]
        reason = headline(error_lines, f"importing `{module}` ends the process with {result.returncode}")
        help = f"start from the directory that holds `{module}`, or install it"
        message = f"the worker class `{worker}` cannot be imported: {reason}"
        raise build_failure("PW707", "", message, help, worker, traceback="\n".join(error_lines))


def _without(name: str, methods: Collection[str]) -> LaunchFailed:
    """Build the failure of a class without all required methods."""
    names = " and ".join(f"`{method}`" for method in methods)
    return build_failure(
        "PW707", "", f"the worker class `{name}` has no method {names}", "name a method of that class, or another class", name
    )
