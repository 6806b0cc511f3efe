"""In which stage of a program verl would fail for what a finding says: the findings themselves tell it in their notes."""

from __future__ import annotations

from placewright.models.dialects.verl.programs import MOMENTS
from placewright.models.findings.finding import Finding

SILENT: frozenset[str] = frozenset({"never"})
"""verl goes on."""
ENGINES = frozenset({"engines"})
WORKERS = frozenset({"workers", *ENGINES})
STAGES = {
    MOMENTS["AT_START"]: frozenset({"start"}),
    MOMENTS["IN_ROLLOUTER"]: frozenset({"start"}),
    MOMENTS["BEFORE_WORKERS"]: frozenset({"start"}),
    MOMENTS["WITH_CRITIC"]: frozenset({"groups"}),
    MOMENTS["IN_WORKERS"]: WORKERS,
    MOMENTS["UNCHECKED_AT_START"]: WORKERS,
    MOMENTS["AFTER_WEIGHTS"]: ENGINES,
    MOMENTS["IN_SERVER"]: ENGINES,
    MOMENTS["WITH_REWARD"]: frozenset({"reward"}),
    MOMENTS["FIRST_STEP"]: frozenset({"step"}),
    MOMENTS["FIRST_UPDATE"]: frozenset({"update"}),
    MOMENTS["NEVER"]: SILENT,
    **{MOMENTS[name]: frozenset({"room"}) for name in ("AT_ONCE", "NO_ROOM", "fully_async_main", "main_generation_server")},
}
"""What a note says -> where verl fails."""
WITHOUT = (
    ("verl demands more than 0", "start"),
    ("gets no worker", "groups"),
    ("verl asserts that it is one", "engines"),
    ("n_rollout_gpus_per_node`", "start"),
    ("n_env_gpus_per_node`", "start"),
    ("cannot be split", "groups"),
    ("cannot be split", "workers"),
    ("are no server", "step"),
)
"""Words of a finding that has no such note -> where verl fails."""


def stages_of(finding: Finding) -> frozenset[str]:
    """The stages; empty if the finding does not say it."""
    found = [STAGES[note] for note in finding.notes if note in STAGES]
    if found:
        return frozenset().union(*found)
    told = frozenset(stage for words, stage in WITHOUT if any(words in text for text in (finding.message, *finding.notes)))
    return told or (SILENT if finding.code == "PW214" else told)
