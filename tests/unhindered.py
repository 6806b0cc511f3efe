"""Time as a test may limit it: without that in which something on this machine waited for a processor.

A limit in real seconds calls code slow where the machine is busy. Linux counts the time in which a process that could have run
had no processor; where it is not counted, all time passes here too. Source: Linux, Documentation/accounting/psi.rst, "some".
"""

from __future__ import annotations

import re
import time
from pathlib import Path

PRESSURE = Path("/proc/pressure/cpu")
LONGEST = 10
"""How many times as long as on an idle machine a rest may take."""


def unhindered() -> float:
    """Seconds that have passed since some moment, and in which every process that could run did."""
    now = time.monotonic()
    try:
        waited = re.match(r"some .*\btotal=(\d+)", PRESSURE.read_text())
    except OSError:
        return now
    return now - int(waited[1]) / 1e6 if waited else now


def rest(seconds: float) -> None:
    """Sleeps for as long as others on this machine need to do what they do in so many seconds where nothing else runs."""
    end, latest = unhindered() + seconds, time.monotonic() + LONGEST * seconds
    time.sleep(seconds)
    while unhindered() < end and time.monotonic() < latest:
        time.sleep(seconds / 10)
