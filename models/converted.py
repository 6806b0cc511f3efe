"""What converting a file gave: a new text with all that was lost on the way, or the reasons why there is none."""

from __future__ import annotations

from typing import Sequence

from .findings.finding import Finding
from .machines.cluster import Cluster
from .record import dataclass

EXACT, LOSSY, REFUSED, UNUSABLE = "exact", "lossy", "refused", "unusable"


@dataclass(frozen=True)
class Converted:
    """The answer of a conversion.

    Attributes
    ----------
    file, source, target : the file, its dialect, and the one that was asked for.
    verdict : ``exact`` (nothing is lost), ``lossy`` (what is lost is listed), ``refused`` (the file has errors, or the target
        cannot say it) or ``unusable`` (the file cannot be read, or nobody says what its nodes have).
    text : the new file; "" if there is none.
    losses : everything that the new file does not say, or says otherwise (PW605).
    findings : the reasons why there is no new file.
    cluster : the machines that it was verified on.
    """

    file: str
    source: str
    target: str
    verdict: str
    text: str = ""
    losses: tuple[Finding, ...] = ()
    findings: Sequence[Finding] = ()
    cluster: Cluster | None = None
