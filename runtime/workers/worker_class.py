"""The user's worker class: named as `module:Class`, and tried before anything starts."""

from __future__ import annotations

import re
import subprocess
import sys

from ..failure import failed
from .worker import Reporter

IMPORT_LIMIT = 120.0
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
# Only the interpreter's own words are here; the names come in as arguments and are looked up, never run as text.
_TRY = "import importlib, sys; sys.path.insert(0, ''); sys.exit(not isinstance(getattr(importlib.import_module(sys.argv[1]), sys.argv[2]), type))"


def check_worker(worker: str | type | None) -> str | type:
    """The class to construct in each process; ours if none is named.

    A name is imported in a process of its own, from the current directory, so that nothing of the user's module stays in
    this one. Raises LaunchFailed (PW707) if that fails.
    """
    if worker is None:
        return Reporter
    if isinstance(worker, str):
        _try(worker)
    return worker


def _try(worker: str) -> None:
    if not _NAME.fullmatch(worker):
        raise failed(
            "PW707", "", f"`{worker}` is not the name of a class", "write it as `module:Class`, such as `train.workers:Actor`", worker
        )
    module, _, name = worker.partition(":")
    try:
        done = subprocess.run(
            [sys.executable, "-c", _TRY, module, name], capture_output=True, text=True, errors="replace", timeout=IMPORT_LIMIT
        )
    except subprocess.TimeoutExpired:
        raise failed(
            "PW707", "", f"importing `{module}` took longer than {IMPORT_LIMIT:g} s", "look for work done at import", worker
        ) from None
    if done.returncode:
        said = [line for line in done.stderr.strip().splitlines() if line.strip(" ^~") and "<frozen importlib" not in line]
        lines = said or [f"`{name}` is not a class"]
        message = f"the worker class `{worker}` cannot be imported: {lines[-1][:200]}"
        raise failed(
            "PW707", "", message, f"start from the directory that holds `{module}`, or install it", worker, traceback="\n".join(lines[-8:])
        )
