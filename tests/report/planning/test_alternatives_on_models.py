"""Other arrangements beside a plan on chosen models are told with the models that they are on themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import placewright as pw
from placewright.report.planning.alternatives import alternatives
from placewright.report.planning.data import to_data
from placewright.report.planning.sensitivity import sensitivities

SEVERAL = """cluster:
  nodes:
    - accelerators: {count: 2, model: A100, memory: 40GiB}
    - accelerators: {count: 2, model: A100, memory: 80GiB}
    - accelerators: {count: 2, model: H100, memory: 80GiB}
components:
  rollout:
    accelerators: 2-5
    parallel: {tp: [2, 1], dp: 2}
    seconds: {generate: {A100: {5: 64.341}, H100: {2: 6.327, 4: 2.237, 5: 2.469}}}
  actor:
    accelerators: 1-6
    parallel: {tp: [2, 1]}
    memory: 39GiB
    offloaded: 5GiB
    seconds: {train: {A100: {3: 7.877, 4: 3.411, 6: 2.274}, H100: {4: 23.751, 5: 21.243, 6: 7.917}}}
  reward:
    accelerators: 1-6
    parallel: {tp: [2, 1]}
    seconds: {infer: {A100: {1: 15.359, 5: 4.238, 6: 3.663}, H100: {2: 25.306, 3: 21.016, 5: 10.122}}}
plan: {workflow: [reward -> rollout, rollout -> actor], batches: 4, scope: heterogeneous, budget: {accelerators: 5}}
"""


def test_they_are_told_with_their_own_models(tmp_path: Path) -> None:
    """A rollout on two H100 was told to be on A100 and H100, with the time that it takes on H100 alone."""
    file = tmp_path / "job.yaml"
    file.write_text(SEVERAL)
    found = pw.account(file, searches=0, sandbox=False)
    assert found is not None and found.planned.question.scope.on_models
    data: Any = to_data(found)
    told = [{name: its.get("model") for name, its in each["components"].items()} for each in data["others"]]
    assert len(told) == 3 and all(its["rollout"] == "H100" and {*its.values()} == {"A100", "H100"} for its in told)
    lines = [line for line in alternatives(found).splitlines() if line[2:3].isdigit()]
    assert len(lines) == len(told) and all("on 2 H100" in line and " A100" in line for line in lines)


IN_A_GROUP = """cluster:
  nodes:
    - accelerators: {count: 8, model: A800, memory: 80GiB}
    - accelerators: {count: 2, model: RTX4090, memory: 24GiB}
  node_groups: [{label: train, node_ranks: 0}]
components:
  rollout: {seconds: {generate: {A800: {4: 50, 8: 27}, RTX4090: {4: 60}}}, memory: 20GiB}
  actor: {node_group: train, seconds: {train: {4: 40, 8: 22}}, memory: 60GiB}
plan: {cost_model: steady, scope: heterogeneous}
"""


def test_what_may_use_one_of_the_models_is_told_on_that(tmp_path: Path) -> None:
    """An actor whose node group has A800 alone was told to be on A800 and RTX4090, and flips did not say on what the rollout is."""
    file = tmp_path / "job.yaml"
    file.write_text(IN_A_GROUP)
    found = pw.account(file, sandbox=False)
    assert found is not None and found.planned.question.scope.on_models["rollout"] == ("A800", "RTX4090")
    data: Any = to_data(found)
    flips = data["sensitivity"]["flips"]
    designs = [data, *data["others"], *(each["to"] for each in flips if each["to"])]
    assert len(designs) > 3 and {each["components"]["actor"]["model"] for each in designs} == {"A800"}
    assert {block["model"] for each in designs for block in each["blocks"] if "actor" in block["components"]} == {"A800"}
    lines = [line for line in sensitivities(found).splitlines() if "changes if" in line]
    assert lines and all(" A800" in line.split("actor on")[1] and "RTX4090" in line for line in lines)
