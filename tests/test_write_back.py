"""From hints to ranks in the user's own RLinf file: what was solved is what stands there, and it verifies."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewright.cli.main import run
from placewright.models.dialects import rlinf
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import seats
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve
from printed import last_line
from sampling import examples

CASES = examples(40)
GROUPS = """  node_groups:
    - {label: late, node_ranks: 2-3}
    - {label: early, node_ranks: 0-1}
    - {label: odd, node_ranks: "1,3"}
    - {label: arms, node_ranks: 3, hardware: {type: Turtle2, configs: [{node_rank: 3}]}}
"""
HINTS = (
    "{accelerators: 4}",
    "{accelerators: 8, parallel: {tp: 4}}",
    "{accelerators: 6, accelerators_per_process: 2}",
    "{accelerators: 8, node_group: early}",
    "{accelerators: 8, node_group: 'late,early'}",
    "{accelerators: 10, node_group: 'late,early', parallel: {tp: 2}}",
    "{accelerators: 8, contiguous: true}",
    "{processes: 3, node_group: node}",
    "{processes: 9, node_group: node}",
    "{accelerators: 2-6, node_group: odd}",
)


@pytest.mark.timeout(200)
@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.sampled_from(HINTS), min_size=1, max_size=3),
    st.sampled_from(("4x8xH100", "2x8xH100+2x4xA100", "1x8+1x4+2x8", "3x8+1x0")),
    st.booleans(),
)
def test_what_is_solved_is_what_is_written(hints: list[str], machines: str, with_one_given: bool) -> None:
    given_ = "  component_placement:\n    critic: {node_group: node, placement: all}\n" if with_one_given else ""
    components = "".join(f"    c{i}: {text}\n" for i, text in enumerate(hints))
    text = f"cluster:\n  num_nodes: 4\n{GROUPS}{given_}placewright:\n  components:\n{components}"
    cluster = read_shorthand(machines)
    assert isinstance(cluster, Cluster)
    reading = rlinf.read(Document.of(Source("run.yaml", text)), cluster, "placement")
    if verify(reading).errors or reading.problem is None:
        return
    answer = solve(reading.problem, 2.0, 1)
    if answer.plan is None:
        return
    try:
        edits = rlinf.write(reading, answer.plan.assignment)
    except UnusableInput as refused:
        assert [finding.code for finding in refused.findings] == ["PW603"]
        return
    written = rlinf.read(Document.of(Source("run.yaml", apply_edits(text, edits))), cluster, "placement")
    assert verify(written).errors == ()
    assert written.problem is not None
    for name, runs in answer.plan.assignment.runs.items():
        assert list(seats(written.problem[name].runs or ())) == list(seats(runs))


def test_a_cluster_that_stands_in_defaults_is_added_to_and_only_the_file_itself_is_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = "cluster:\n  num_nodes: 2\n  component_placement:\n    env: {node_group: node, placement: 0}\n"
    main = "defaults: [base, _self_]\nplacewright:\n  components:\n    actor: {accelerators: 16} # all\n"
    (tmp_path / "base.yaml").write_text(base, "utf-8")
    (tmp_path / "main.yaml").write_text(main, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["solve", "main.yaml", "--cluster", "2x8", "--write"]) == 0
    assert (tmp_path / "base.yaml").read_text("utf-8") == base
    assert (tmp_path / "main.yaml").read_text("utf-8") == f"{main}".removesuffix("\n") + "\ncluster:\n  component_placement: {actor: all}\n"
    assert run(["verify", "main.yaml", "--cluster", "2x8"]) == 0
    verdict = last_line(capsys.readouterr().out)
    assert verdict.startswith("main.yaml: ok: ") and "2 components, 17 processes on 2 nodes" in verdict


@pytest.mark.parametrize("groups", ["inner", "outer,inner", "inner,outer"])
def test_what_was_written_beside_hints_about_other_groups_verifies(groups: str) -> None:
    """A mode that packs numbers the whole cluster: that is how the answer is written, and the hints stay as they are."""
    text = "cluster:\n  num_nodes: 3\n  node_groups: [{label: outer, node_ranks: '0,2'}, {label: inner, node_ranks: 1}]\n"
    text += "runner: {task_type: reasoning_eval}\nrollout: {tensor_parallel_size: 2}\nplacewright:\n  components:\n"
    text += f"    rollout: {{accelerators: 2-8, node_group: '{groups}'}}\n    reward: {{colocate_with: rollout}}\n"
    cluster = read_shorthand("3x4")
    reading = rlinf.read(Document.of(Source("run.yaml", text)), cluster, "placement")
    assert reading.problem is not None
    plan = solve(reading.problem).plan
    assert plan is not None and plan.assignment.count_held("rollout") == (8 if "," in groups else 4)
    after = apply_edits(text, rlinf.write(reading, plan.assignment))
    for written in (after, after.partition("placewright:")[0]):
        again = rlinf.read(Document.of(Source("run.yaml", written)), cluster, "placement")
        assert verify(again).errors == () and again.problem is not None
        for name, runs in plan.assignment.runs.items():
            assert [run.mask for run in again.problem[name].runs or ()] == [run.mask for run in runs]
