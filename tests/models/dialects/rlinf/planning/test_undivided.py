"""What FSDP trains is planned on every count that RLinf takes: its tp divides nothing, and decides to which engines weights come."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.findings.span import apply_edits
from placewright.models.planning.design import Design
from placewright.planner.problem import planning_problem
from placewright.planner.verify import verify
from placewright.planner.write_back import edits_of

from tests.planner.tried import priced

from .opened import Read

MACHINES, TPS, ENGINES = "1x6", (1, 2, 3), (1, 2)
FILE = """\
cluster: {{num_nodes: 1, component_placement: {{"actor,rollout,reward": all}}}}
runner: {{task_type: reasoning}}
algorithm: {{group_size: 2, n_minibatches: 1, recompute_logprobs: true, training_batch_size_per_gpu: 1}}
data: {{rollout_batch_size: 60}}
rollout: {{group_name: R, rollout_backend: vllm, tensor_parallel_size: 1, max_running_requests: 64}}
actor: {{training_backend: fsdp, micro_batch_size: 1, model: {{tensor_model_parallel_size: 2}}}}
inference: {{group_name: I, model: {{tensor_model_parallel_size: 1}}}}
placewright:
  plan: {{cost_model: stream}}
  components:
    actor: {{parallel: {{tp: [1, 2, 3]}}, seconds: [{actor}], scaling: table}}
    rollout: {{parallel: {{tp: [1, 2]}}, seconds: [{rollout}], scaling: table}}
    inference: {{seconds: [{inference}], scaling: table}}
"""


def rows(random: Random, counts: tuple[int, ...], degrees: tuple[int, ...]) -> str:
    """Seconds on most of these counts, with each of these degrees."""
    every = [(count, tp) for count in counts for tp in degrees if random.random() < 0.8]
    return ", ".join(f"{{accelerators: {count}, {f'tp: {tp}, ' if tp else ''}seconds: {random.randint(10, 60)}}}" for count, tp in every)


def text(seed: int) -> str:
    random = Random(seed)
    return FILE.format(
        actor=rows(random, (2, 3, 4), TPS), rollout=rows(random, (1, 2, 4), ENGINES), inference=rows(random, (1, 2, 4), (0,))
    )  # fmt: skip


def takes(tp: int, engine: int, actor: int, rollout: int, together: bool) -> bool:
    """Does RLinf start this, and do all ranks of rollout get weights? Ranks are told by their group of `tp` and their place in it."""
    if actor < tp or rollout < engine or rollout % engine:
        return False
    if together:  # engines interleave in the groups of the actor
        return actor == rollout and (tp == 1 or (tp >= engine and tp % engine == 0 and rollout % tp == 0))
    if rollout % tp or tp % engine:
        return False
    places = [divmod(rank, tp) for rank in range(actor)]
    if actor > rollout:
        reached = set(places[:rollout])
    else:
        reached = {(group + turn * (actor // tp), place) for group, place in places for turn in range(rollout // actor)}
    return reached >= {divmod(rank, tp) for rank in range(rollout)}


def is_taken(design: Design) -> bool:
    """Inference is started where actor and rollout are apart, on accelerators of its own."""
    actor, rollout = (design.options[name] for name in ("actor", "rollout"))
    sets = [frozenset(design.blocks_of(name)) for name in ("actor", "rollout", "inference")]
    together = len(set(sets)) == 1
    if not together and any(one & other for one, other in combinations(sets, 2)):
        return False
    return takes(actor.parallel.tp, rollout.parallel.tp, actor.amount, rollout.amount, together)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 8])  # of both 3 accelerators with tp 2 are best
def test_every_count_that_rlinf_takes_is_planned_and_no_other(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(text(seed))
    reading = pw.load(file, MACHINES, "rlinf").to_solve
    problem = reading.problem
    assert problem is not None and problem.job.planning.workload is not None
    question = planning_problem(problem)
    ways = tuple(replace(way, multiples=()) for way in question.ways)
    every = list(priced(replace(question, ways=ways), stages=False))
    best = min(price for price, design in every if is_taken(design))
    answer = pw.solve(reading, sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == best[0]
    edits, refused = edits_of(reading, answer)
    assert refused == ()
    file.write_text(apply_edits(file.read_text(), edits))
    assert not pw.verify(file, MACHINES, "rlinf", level="training").errors
    again = pw.solve(file, MACHINES, "rlinf", sandbox=False)
    assert again.planned is not None and again.planned.is_own and again.planned.best.nanoseconds == best[0]


@pytest.mark.parametrize("tps", ["[2, 4]", "2"])
def test_a_count_that_hints_ask_for_need_be_no_multiple_of_their_tp(tmp_path: Path, tps: str) -> None:
    hints = FILE.replace("actor: {{", "actor: {{accelerators: 3, ").replace("[1, 2, 3]", tps).format(
        actor="{accelerators: 3, seconds: 10}", rollout="{accelerators: 2, seconds: 12}", inference="{accelerators: 1, seconds: 3}"
    )  # fmt: skip
    check(tmp_path / "run.yaml", hints, 12_216_666_667)
    (tmp_path / "run.yaml").write_text(hints.replace("accelerators: 3, p", "accelerators: 1, p"))
    refused = pw.load(tmp_path / "run.yaml", MACHINES, "rlinf").to_solve.findings
    assert [each.message for each in refused if each.code == "PW208"] == ["`actor` asks for 1 accelerator, fewer than its tp 2"]


EMBODIED = """\
cluster: {num_nodes: 1, component_placement: {"actor,env,rollout": all}}
runner: {task_type: embodied, only_eval: false}
env: {train: {total_num_envs: 60}}
rollout: {pipeline_stage_num: 2}
actor: {training_backend: fsdp}
placewright:
  components:
    actor: {parallel: {tp: 2}, seconds: {2: 30, 3: 10, 4: 25}, scaling: table}
    rollout: {seconds: {1: 20, 2: 12, 3: 9, 4: 7}, scaling: table}
    env: {seconds: {1: 20, 2: 12, 3: 9, 4: 7}, scaling: table}
"""


@pytest.mark.slow
@pytest.mark.parametrize("counts", ["", "accelerators: [1, 3], "])
@pytest.mark.parametrize("tps", ["[2, 4]", "2"])
def test_of_an_embodied_job_no_tp_is_read(tmp_path: Path, tps: str, counts: str) -> None:
    """HybridComponentPlacement looks neither for a multiple of it nor for as many accelerators."""
    text = EMBODIED.replace("tp: 2", f"tp: {tps}").replace("actor: {p", f"actor: {{{counts}p")
    check(tmp_path / "run.yaml", text, 23_500_000_000)
    check(tmp_path / "run.yaml", text.replace("3: 10, ", "1: 5, ", 1), 18_500_000_000)


def check(file: Path, text: str, nanoseconds: int) -> None:
    """It is planned with that time, and so it is once it is written."""
    file.write_text(text)
    for again in (False, True):
        reading = pw.load(file, MACHINES, "rlinf").to_solve
        answer = pw.solve(reading, sandbox=False)
        assert answer.planned is not None and answer.planned.proved and answer.planned.is_own == again
        assert answer.planned.best.nanoseconds == nanoseconds
        file.write_text(apply_edits(file.read_text(), edits_of(reading, answer)[0]))
    assert not pw.verify(file, MACHINES, "rlinf", level="training").errors


GIVEN = """\
cluster: {{num_nodes: 1, component_placement: {{actor: {actor}, rollout: {rollout}, reward: {rollout}{inference}}}}}
runner: {{task_type: reasoning}}
algorithm: {{recompute_logprobs: true}}
rollout: {{group_name: R, rollout_backend: vllm, tensor_parallel_size: {engine}}}
actor: {{training_backend: fsdp, model: {{tensor_model_parallel_size: {tp}}}}}
inference: {{group_name: I, model: {{tensor_model_parallel_size: 1}}}}
"""


@pytest.mark.parametrize("tp", TPS)
def test_given_ranks_are_refused_where_weights_do_not_come_to_all_engines(read: Read, tp: int) -> None:
    for engine, actor, rollout, together in product((1, 2, 4), range(1, 5), range(1, 7), (False, True)):
        if together and actor != rollout:
            continue
        first = 0 if together else rollout
        ranks = {"rollout": f"0-{rollout - 1}", "actor": f"{first}-{first + actor - 1}", "inference": "" if together else ", inference: 11"}
        errors = verify(read(GIVEN.format(tp=tp, engine=engine, **ranks), "1x12")).errors
        assert takes(tp, engine, actor, rollout, together) == (not errors), (engine, actor, rollout, together, errors)
