"""What the process that searches may take, and how long it may live. Linux only, as is the whole house."""

from __future__ import annotations

import ctypes
import resource
import signal

_PR_SET_PDEATHSIG = 1


def limit_memory(mib: int) -> None:
    """No more address space than this for this process, or than it may have anyway; what wants more fails. A crash leaves no core file."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = mib << 20 if most == resource.RLIM_INFINITY else min(mib << 20, most)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def die_with_parent() -> None:
    """Has the kernel kill this process when its parent ends, however that ends, even while a library holds the interpreter."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
