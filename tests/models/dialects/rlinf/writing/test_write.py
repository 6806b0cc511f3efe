"""An answer in the user's own file: minimal, in the file's own style, and read back the same."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewright.models.dialects import rlinf
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.placements.assignment import Assignment, compress, seats
from placewright.models.placements.run import Run
from placewright.models.reading import Reading
from sampling import examples

ACTOR = {"actor": (Run(range(8), 0), Run(range(8, 16), 1))}
ALL = {
    "actor": (Run(range(4), 0, each=2, pitch=2), Run(range(4, 8), 1, each=2, pitch=2)),
    "agent": (Run(range(8), 0, "node", 0, 0, 1, 0, "node"), Run(range(8, 16), 1, "node", 0, 0, 1, 0, "node")),
    "env": (Run(range(2), 1, first=1, pitch=0, node_group="high"), Run(range(2, 4), 1, first=3, pitch=0, node_group="high")),
}
BLOCK = """# my run
cluster:
    num_nodes: 2
    component_placement:
        rollout: 0-3   # keep this

        reward:
            placement: 0
    node_groups:
      - {label: high, node_ranks: 1}

trainer: 1"""
BLOCK_AFTER = """# my run
cluster:
    num_nodes: 2
    component_placement:
        rollout: 0-3   # keep this

        reward:
            placement: 0
        actor: all:0-7
        agent: {node_group: node, placement: "all:0-15"}
        env: {node_group: high, placement: "1:0-1,3:2-3"}
    node_groups:
      - {label: high, node_ranks: 1}

trainer: 1"""


def written(reading: Reading, runs: dict[str, tuple[Run, ...]]) -> str:
    given_runs = reading.problem.build_given().runs if reading.problem else {}
    return apply_edits(reading.source.text, rlinf.write(reading, Assignment({**given_runs, **runs})))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_added_in_the_file_s_own_style_and_nothing_else_changes(read, end: str) -> None:
    assert written(read(BLOCK.replace("\n", end)), ALL) == BLOCK_AFTER.replace("\n", end)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "cluster:\n  num_nodes: 2\n  component_placement: {} # none\n",
            "cluster:\n  num_nodes: 2\n  component_placement: {actor: all} # none\n",
        ),
        (
            "cluster: {num_nodes: 2, component_placement: {env: '0,2'}}",
            "cluster: {num_nodes: 2, component_placement: {env: '0,2', actor: all}}",
        ),
        (
            "placewright: {components: {}}\ncluster: {num_nodes: 2}",
            "placewright: {components: {}}\ncluster: {num_nodes: 2, component_placement: {actor: all}}",
        ),
        (
            "cluster:\n  num_nodes: 2 # two\nplacewright: {components: {}}\n",
            "cluster:\n  num_nodes: 2 # two\n  component_placement: {actor: all}\nplacewright: {components: {}}\n",
        ),
        (
            "placewright: {components: {}}\ncluster:\n   num_nodes: 2\n   component_placement: # here\n   tracer: x",
            "placewright: {components: {}}\ncluster:\n   num_nodes: 2\n   component_placement: {actor: all} # here\n   tracer: x",
        ),
    ],
)
def test_the_map_is_found_or_made_wherever_it_is(read, before: str, after: str) -> None:
    assert written(read(before), ACTOR) == after


def test_what_is_given_is_left_as_it_is_written(read) -> None:
    reading = read("cluster: {num_nodes: 2, component_placement: {actor: all}}")
    assert rlinf.write(reading, Assignment(ACTOR)) == []


def test_a_name_or_text_that_yaml_reads_otherwise_is_quoted(read) -> None:
    assert '    "on": 0\n' in written(read("cluster:\n  num_nodes: 1\n  component_placement:\n    a: 0\n"), {"on": (Run(range(1), 0),)})


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        ((Run(range(2), 0, each=2, step=2, pitch=1),), "not one solid range (step 2)"),
        ((Run(range(2), 0, first=3, pitch=-1),), "on a lower resource"),
        ((Run(range(2), 0, each=2, pitch=0),), "share 2 resources each"),
        ((Run(range(1), 0, each=2), Run(range(1), 0, first=4, each=2)), "not on one node"),
        ((Run(range(1), 0, node_group="nobody"),), "no node group `nobody`"),
        ((), "no processes"),
    ],
)
def test_what_rlinf_cannot_say_is_refused(read, runs: tuple[Run, ...], why: str) -> None:
    reading = read("cluster: {num_nodes: 2, component_placement: {}}")
    with pytest.raises(UnusableInput) as refused:
        rlinf.write(reading, Assignment({"actor": runs}))
    assert [finding.code for finding in refused.value.findings] == ["PW603"]
    assert why in str(refused.value)


def test_a_map_that_is_written_elsewhere_is_not_edited(read) -> None:
    reading = read("cluster: {num_nodes: 2, component_placement: '${other}'}\nother: {env: 0}\n")
    with pytest.raises(UnusableInput, match="written elsewhere"):
        rlinf.write(reading, Assignment(ACTOR))


@st.composite
def ascending(draw: st.DrawFn) -> list[list[tuple[int, int]]]:
    """Processes whose accelerators are solid and ascend over two nodes of 8; neighbours may share one."""
    processes, free = [], draw(st.integers(0, 3))
    while free < 16 and len(processes) < 12:
        each = draw(st.integers(1, 4))
        held = [(rank // 8, rank % 8) for rank in range(free, min(free + each, 16))]
        held = [seat for seat in held if seat[0] == held[0][0]]
        processes += [held] * (draw(st.integers(1, 3)) if len(held) == 1 else 1)
        free += len(held) + draw(st.integers(0, 2))
    return processes


@settings(max_examples=examples(75), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(ascending())
def test_every_ascending_placement_can_be_written_and_read_again(read, processes: list[list[tuple[int, int]]]) -> None:
    runs = compress(enumerate(processes))
    reading = read("cluster:\n  num_nodes: 2\n  component_placement:\n    env: 0\n")
    again = read(written(reading, {"actor": runs}))
    assert [[seat for seat, _, _ in held] for _, held in seats(again.problem["actor"].runs)] == processes


def test_a_mode_that_drops_node_groups_gets_ranks_of_the_whole_cluster(read) -> None:
    text = """runner: {task_type: reasoning}
cluster: {num_nodes: 2, node_groups: [{label: b, node_ranks: 1}]}
placewright: {components: {actor: {node_group: b}, rollout: {node_group: b, colocate_with: actor}, reward: {node_group: b}}}
actor: {training_backend: fsdp, model: {tensor_model_parallel_size: 1}}
rollout: {tensor_parallel_size: 2, pipeline_parallel_size: 1}
"""
    runs = {
        "actor": (Run(range(8), 1, node_group="b"),),
        "rollout": (Run(range(4), 1, each=2, pitch=2, node_group="b"),),
        "reward": (Run(range(8), 1, node_group="b"),),
    }
    assert "component_placement: {actor: 8-15, rollout: 8-15, reward: 8-15}" in written(read(text), runs)
