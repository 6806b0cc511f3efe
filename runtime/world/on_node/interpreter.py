"""Test of Python interpreters on the current node, in parallel, a process each."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from string import Template

PROGRAM = "import json, sys, ray; print(json.dumps([list(sys.version_info[:2]), ray.__version__]))"


def tried(trials: list[tuple[str, dict[str, str]]], limit: float) -> list[str]:
    """Return a fault per interpreter (path, variables); "" if usable for workers here.

    No process remains: after `limit` s an interpreter is ended with all that it started.
    """
    with ThreadPoolExecutor(max(1, len(trials))) as pool:
        return list(pool.map(lambda trial: fault(trial[0], trial[1], limit), trials))


def fault(path: str, variables: dict[str, str], limit: float) -> str:
    """Return why an interpreter cannot run workers here; "" if usable.

    A name without a slash is looked up in PATH.
    """
    environment = dict(os.environ)
    environment.update({name: Template(text).safe_substitute(environment) for name, text in variables.items()})
    executable = shutil.which(path, path=environment.get("PATH"))
    if executable is None:
        if not os.path.exists(path):
            return "it does not exist there"
        return "it is a directory" if os.path.isdir(path) else "it is not executable"
    try:
        process = subprocess.Popen(
            [executable, "-c", PROGRAM], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            start_new_session=True, env=environment,
        )  # fmt: skip
    except OSError as problem:
        return f"it cannot be started: {problem.strerror or problem}"
    try:
        output, complaint = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return f"it did not import Ray within {limit:g} s"
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        lines = complaint.strip().splitlines() or [f"it ended with {process.returncode}"]
        return lines[-1][:200]
    return difference(output)


def difference(output: str) -> str:
    """Compare an interpreter's output with the running interpreter; "" if they agree."""
    import ray

    try:
        python, version = json.loads(output.strip().splitlines()[-1])
        major, minor = python
    except (IndexError, TypeError, ValueError):
        return "it is no Python interpreter"
    if version != ray.__version__:
        return f"it has Ray {version}, the cluster runs {ray.__version__}"
    if (major, minor) != sys.version_info[:2]:
        return f"it is Python {major}.{minor}, the cluster runs {sys.version_info[0]}.{sys.version_info[1]}"
    return ""
