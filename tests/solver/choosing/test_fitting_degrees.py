"""Degrees without times: those whose memory fits by the estimates come first; what still may not fit is a warning."""

from __future__ import annotations

import placewright as pw

JOB = """cluster: 1x8xH100
components:
  actor: {{accelerators: 8, parallel: {{tp: {degrees}}}, estimate: {{model: {model}, sequence: 4096}}}}
"""


def answer(model: str, degrees: str) -> tuple[str, list[tuple[str, str]]]:
    """Degrees of the plan, and severity and message of each finding."""
    found = pw.solve(JOB.format(model=model, degrees=degrees), sandbox=False)
    assert found.plan is not None
    degrees = str(found.plan.degrees.get("actor", ""))
    return degrees, [(finding.severity.value, finding.message) for finding in found.findings if finding.code == "PW805"]


def test_degrees_that_do_not_fit_are_left_out_and_that_is_said() -> None:
    """7B trained whole needs 145 GiB of each accelerator, with tp 2 at most 75."""
    degrees, ((severity, message),) = answer("Qwen/Qwen2.5-7B", "[1, 2]")
    assert (degrees, severity) == ("tp 2", "note")
    assert message == "no plan with tp 1 of `actor` was looked at: by the estimate its memory may not suffice"


def test_where_none_fits_the_plan_has_a_warning() -> None:
    degrees, ((severity, message),) = answer("Qwen/Qwen2.5-32B", "[1, 2]")
    assert degrees in ("tp 1", "tp 2") and severity == "warning" and "80 GiB; by an estimate" in message


def test_where_all_fit_nothing_is_said() -> None:
    assert answer("Qwen/Qwen2.5-0.5B", "[1, 2]")[1] == []
