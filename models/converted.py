"""Result of a conversion: the new text with losses, or the reasons for a refusal."""

from __future__ import annotations

from typing import Sequence

from .findings.finding import Finding
from .machines.cluster import Cluster
from .record import dataclass

EXACT, LOSSY, REFUSED, UNUSABLE = "exact", "lossy", "refused", "unusable"


@dataclass(frozen=True)
class Converted:
    """Result of a conversion.

    Attributes
    ----------
    file, source, target : the file, its dialect, and the requested dialect.
    verdict : ``exact`` (lossless), ``lossy`` (see `losses`), ``refused`` (errors in the file, or
        the target cannot express it) or ``unusable`` (unreadable file, or unknown nodes).
    text : the new file; "" if there is none.
    losses : everything that the new file omits or states differently (PW605).
    findings : the reasons for a missing file.
    cluster : cluster of the verification.
    """

    file: str
    source: str
    target: str
    verdict: str
    text: str = ""
    losses: tuple[Finding, ...] = ()
    findings: Sequence[Finding] = ()
    cluster: Cluster | None = None
