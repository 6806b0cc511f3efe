"""Where placewright differs from verl on purpose, with the reasons: the only table of them."""

from __future__ import annotations

from typing import Callable

from .comparison import Answers

REASONS = {
    "not-set": "a variable that its script reads is not set here, so that its value is not known",
    "arguments": "its script passes on its own arguments, which may set what is missing",
    "unknown-key": "keys that no configuration has are found where the configuration itself is read, which is not given here",
    "unknown-field": "keys that a configuration has and a dataclass of verl does not are not judged",
    "grammar": "a placeholder in angle brackets, which Hydra's grammar refuses, is to be replaced before it is run",
    "layout": "which parts of a pool share a node that has room for several is Ray's choice; here and in the oracle it may differ",
    "adapter": "the largest rank of an adapter that vLLM takes depends on its version",
}


def reason_of(answers: Answers) -> str | None:
    """The name of the reason why both differ; "" where they agree, None where they must not differ."""
    if not answers.verdict:
        return ""
    error = str(answers.theirs.get("error", ""))
    if answers.verdict.startswith("servers with devices") and _shares_nodes(answers):
        return "layout"
    return next((name for name, covers in _COVERS.items() if answers.verdict.startswith("missed") and covers(answers, error)), None)


def _shares_nodes(answers: Answers) -> bool:
    """Has a node room for several parts of the pools?"""
    parts = sorted(size for sizes in answers.theirs["pools"].values() for size in sizes)
    return max(answers.question.nodes, default=0) >= sum(parts[:2])


_COVERS: dict[str, Callable[[Answers, str], bool]] = {
    "not-set": lambda answers, error: "can't multiply sequence by non-int of type 'str'" in error and "trainer.nnodes=" in answers.settings,
    "arguments": lambda answers, error: "MissingMandatoryValue" in error and not answers.is_complete,
    "unknown-key": lambda answers, error: answers.stage == "compose" and "is not in struct" in error,
    "unknown-field": lambda answers, error: "got an unexpected keyword argument" in error,
    "grammar": lambda answers, error: answers.stage == "compose" and any("=<" in setting for setting in answers.settings),
    "adapter": lambda answers, error: "lora_rank must be less than or equal to" in error,
}
