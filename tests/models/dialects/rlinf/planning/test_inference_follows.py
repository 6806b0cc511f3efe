"""What inference of RLinf has by rules that nobody writes, where the degrees of the actor are chosen."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.parallel import Parallel
from placewright.solver.explaining.needs import lower_bound

from ...followed_files import INTERPOLATED, RLINF, planned


def test_a_degree_that_the_file_does_not_say_is_followed_too(tmp_path: Path) -> None:
    """Where the actor gets a pp, inference has it by RLinf's rule; without it 60.78 seconds would be the best."""
    file = tmp_path / "run.yaml"
    its = RLINF.format(
        backend="megatron", own=1, offered="1, pp: [1, 2]", inference="", actor="{accelerators: 2, pp: 1, seconds: 30}, {accelerators: 2, pp: 2, seconds: 9}",
        inferred="{accelerators: 2, pp: 1, seconds: 60}, {accelerators: 2, pp: 2, seconds: 12}",
    )  # fmt: skip
    file.write_text(its)
    found = planned(file, "rlinf")
    assert found.best.nanoseconds == 20_328_125_000
    assert found.best.design.options["inference"].parallel == found.best.design.options["actor"].parallel == Parallel(pp=2)


@pytest.mark.parametrize("inference", ["", INTERPOLATED])
@pytest.mark.parametrize(("backend", "shown"), [("megatron", 4), ("fsdp", 1)])
def test_inference_of_rlinf_has_as_many_accelerators_as_the_tp_that_is_chosen_for_the_actor(
    tmp_path: Path, inference: str, backend: str, shown: int
) -> None:
    """FSDP divides no layer, but RLinf refuses inference on fewer accelerators than its tp all the same."""
    file = tmp_path / "run.yaml"
    its = RLINF.format(
        backend=backend, own=1, offered="[1, 4]", inference=inference, actor="{accelerators: 4, tp: 1, seconds: 90}, {accelerators: 4, tp: 4, seconds: 9}",
        inferred="{accelerators: 2, seconds: 9}, {accelerators: 4, seconds: 10}",
    )  # fmt: skip
    file.write_text(its)
    found = pw.solve(file, "1x12", sandbox=False).planned
    assert found is not None and found.proved
    option = found.best.design.options["inference"]
    assert (option.amount, option.parallel) == (4, Parallel(shown))
    (apart,) = (way for way in found.question.ways if way.apart)
    assert max(min(each.amount for each in found.question.options["inference"]), apart.least.get("inference", 0)) == 4


def test_what_follows_needs_what_it_follows_to(tmp_path: Path) -> None:
    """Of an actor of tp 1, pp 4 inference has the tp alone: it is on 1, and they need 5 where they are apart, not twice 4."""
    file = tmp_path / "run.yaml"
    both = INTERPOLATED.replace('"}}', '", pipeline_model_parallel_size: 1}}')
    its = RLINF.format(
        backend="megatron", own="1, pipeline_model_parallel_size: 4", offered="[1, 2], pp: 4", inference=both,
        actor="{accelerators: 4, tp: 1, pp: 4, seconds: 20}", inferred="{accelerators: 1, seconds: 10}",
    )  # fmt: skip
    file.write_text(its.replace("actor: {parallel", "actor: {disjoint_from: inference, parallel").replace("{4: 20}", "{1: 20}"))
    problem = pw.load(file, "1x8").to_solve.problem
    assert problem is not None and lower_bound(problem) == 5
