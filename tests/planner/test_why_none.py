"""Why there is no design: what is needed and what there is, and help that helps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE

from .texts import ACTOR, ROLLOUT, solved


@dataclass(frozen=True)
class Case:
    """A file without any answer, what is said of it, and an edit after which there is one, as the help says."""

    rollout: str
    actor: str
    plan: str
    message: str
    edit: tuple[str, str]
    arrow: str = "->"
    reasons: tuple[str, ...] = ()


CASES = {
    "time": Case(
        ROLLOUT, ACTOR, ", budget: {seconds: 20}",
        "impossible: an iteration takes at least 60.5 seconds, 20 are allowed", ("seconds: 20", "seconds: 60.5"),
    ),
    "accelerators": Case(
        ROLLOUT, ACTOR, ", budget: {accelerators: 1}",
        "impossible: at least 2 accelerators are needed, 1 may be used", ("budget: {accelerators: 1}", "budget: {accelerators: 2}"),
    ),
    "accelerators for a time": Case(
        ROLLOUT, ACTOR, ", budget: {accelerators: 4, seconds: 80}",
        "impossible: an iteration takes at least 219.091 seconds, 80 are allowed", ("budget: {accelerators: 4", "budget: {accelerators: 12"),
    ),
    "memory": Case(
        ROLLOUT, ACTOR.replace("70", "90"), "",
        "impossible: no plan can run `actor`: actor needs 90 GiB on each accelerator (the largest has 80 GiB)",
        ("90GiB", "80GiB"),
    ),
    "samples": Case(
        ROLLOUT.replace("1-16", "8-16") + ", samples: 7", ACTOR, "",
        "impossible: no plan can run `rollout` with all of its demands", ("8-16", "7"),
        reasons=("rollout asks for 8-16 accelerators (the cluster has 16)", "the replicas of rollout divide 7 samples evenly", "rollout can have 1, 7",),
    ),
    "samples on counts of a table": Case(
        ROLLOUT.replace("1-16", "2-16") + ", samples: 100, scaling: table", ACTOR, "",
        "impossible: no plan can run `rollout`: the replicas of rollout divide 100 samples evenly and the times of rollout are a table for 8",
        (", samples: 100", ""),
    ),
    "a table": Case(
        ROLLOUT.replace("1-16", "1-4") + ", scaling: table", ACTOR, "",
        "impossible: no plan can run `rollout` with all of its demands", ("1-4", "8"),
        reasons=("rollout asks for 1-4 accelerators (the cluster has 16)", "the times of rollout are a table for 8", "rollout can have 8",),
    ),
    "a table of other replicas": Case(
        ROLLOUT.replace("{8: 55}", "{3: 55}") + ", scaling: table, parallel: {tp: 2}", ACTOR, "",
        "impossible: no plan can run `rollout` with all of its demands", ("{3: 55}", "{4: 55}"),
        reasons=("rollout has tp 2", "the times of rollout are a table for 3",),
    ),
    "a count": Case(
        ROLLOUT, ACTOR.replace("2-16", "18-40"), "",
        "impossible: no plan can run `actor`: actor asks for 18-40 accelerators (the cluster has 16)", ("18-40", "16"),
        reasons=("actor can have 2, 4, 6, 8, 10, ... 16",),
    ),
    "all at once": Case(
        ROLLOUT.replace("1-16", "10-16").replace(", phase: generate", ""), ACTOR.replace("2-16", "8-16").replace(", phase: train", ""), "",
        "impossible: at least 18 accelerators are needed at the same time, there are 16: rollout on 10, actor on 8", ("2x8xH100", "2x8xH100+1x2xH100"),
    ),
    "counts that differ": Case(
        "accelerators: 10, seconds: {8: 55}", "accelerators: 8, seconds: {8: 60}", "",
        "impossible: at least 18 accelerators are needed at the same time, there are 16: rollout on 10, actor on 8",
        ("batches: 16", "batches: 16, nested: true"),
    ),
    "cost model": Case(
        ROLLOUT.replace(", phase: generate", ""), ACTOR + ", disjoint_from: rollout", ", cost_model: rlinf",
        "impossible: the cost model has a time for no arrangement that satisfies these demands",
        ("cost_model: rlinf", "cost_model: stream"), "=>",
    ),
    "other degrees": Case(
        ROLLOUT, ACTOR.replace("{8: 60, 16: 33}", "[{accelerators: 8, seconds: 60, tp: 4}]"), "",
        "impossible: no plan can run `actor` with all of its demands", (", tp: 4", ""),
        reasons=("actor has tp 2", "actor was measured with tp 4",),
    ),
    "a group of more than a node": Case(
        ROLLOUT, ACTOR.replace("tp: 2", "tp: [16, 32]"), "",
        "impossible: no plan can run `actor`: actor has tp 16 or tp 32 (the largest node has 8 accelerators)",
        ("[16, 32]", "[16, 8]"),
    ),
    "other accelerators": Case(
        ROLLOUT, ACTOR.replace("{8: 60, 16: 33}", "[{accelerators: 8, seconds: 60, accelerator: A100}]"), "",
        "impossible: no plan can run `actor`: actor was measured on A100 (the cluster has H100)", (", accelerator: A100", ""),
    ),
    "other degrees on other accelerators": Case(
        ROLLOUT, ACTOR.replace("{8: 60, 16: 33}", "[{accelerators: 8, seconds: 6, accelerator: A100}, {accelerators: 8, seconds: 6, tp: 4}]"), "",
        "impossible: no plan can run `actor` with all of its demands", (", tp: 4", ""),
        reasons=("actor has tp 2", "actor was measured on A100 or with tp 4 (the cluster has H100)",),
    ),
    "a model that no node has": Case(
        ROLLOUT, ACTOR + ", accelerator: B200", "",
        "impossible: no plan can run `actor`: actor may use only B200 (the cluster has 0)", ("accelerator: B200", "accelerator: H100"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_short_is_told_with_what_helps(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    text = (
        f"cluster: 2x8xH100\ncomponents:\n  rollout: {{{case.rollout}}}\n  actor: {{{case.actor}}}\n"
        f"plan: {{workflow: rollout {case.arrow} actor, batches: 16{case.plan}}}\n"
    )
    answer = solved(tmp_path, text)
    assert answer.verdict == IMPOSSIBLE
    assert [finding.message for finding in answer.findings] == [case.message]
    notes = answer.findings[0].notes
    assert all(any(note.endswith(reason) for note in notes) for reason in case.reasons), notes
    assert answer.findings[0].help
    before, after = case.edit
    assert before in text
    changed = solved(tmp_path, text.replace(before, after, 1))
    assert changed.plan is not None, changed.findings


@pytest.mark.parametrize(("beside", "told"), [("", True), (", disjoint_from: actor", False)])
def test_groups_over_nodes_are_proposed_where_there_is_room_for_them_beside_the_others(beside: str, told: bool, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(
        "cluster: 2x8xH100\ncomponents:\n  actor: {accelerators: 16, seconds: {16: 10}, parallel: {tp: 16}}\n"
        f"  rollout: {{accelerators: 4-16, seconds: {{4: 10}}{beside}}}\n"
    )
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert ("write `scope: [spanning]` in `plan`" in found.help) is told
