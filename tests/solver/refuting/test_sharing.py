"""Sharing is offered where components need more than there is; each offer is typed into the file, and then it has an answer."""

from __future__ import annotations

import re
from pathlib import Path

import placewright as pw
import pytest

RELATION = re.compile(r"add `(\w+: \w+)` to (\w+)")


def native(folder: Path, cluster: str, **components: str) -> Path:
    lines = [f"  {name}: {{{fields}}}" for name, fields in components.items()]
    path = folder / "job.yaml"
    path.write_text("\n".join([f"cluster: {cluster}", "components:", *lines, ""]))
    return path


def offers(path: Path) -> list[str]:
    answer = pw.solve(path, sandbox=False)
    assert answer.verdict == "impossible"
    return answer.findings[0].help.split("; or ")


def typed(text: str, offer: str) -> str:
    for hint, name in RELATION.findall(offer):
        text = re.sub(rf"(  {name}: {{.*)}}", rf"\1, {hint}}}", text)
    return text


JOBS = {
    "three of a half": (("4x8", {"actor": "accelerators: 16", "rollout": "accelerators: 16", "critic": "accelerators: 16"}),
                        ["add `colocate_with: actor` to rollout", "add `colocate_with: actor` to critic", "add 2 nodes with 8 accelerators"]),
    "of several sizes": (("2x8", {"actor": "accelerators: 16", "reward": "accelerators: 4"}),
                         ["ask for 12 instead of 16 for actor", "add `within: actor` to reward", "add 1 node with 8 accelerators"]),
    "nested": (("2x8", {"actor": "accelerators: 8", "rollout": "accelerators: 16", "critic": "accelerators: 8"}),
               ["add `within: rollout` to actor and add `colocate_with: actor` to critic", "add 2 nodes with 8 accelerators"]),
    "all of the cluster": (("2x8", dict.fromkeys(("actor", "rollout", "critic"), "accelerators: 16")),
                           ["add `colocate_with: actor` to rollout and add `colocate_with: actor` to critic", "add 4 nodes with 8 accelerators"]),
    "at once": (("2x8", dict.fromkeys(("actor", "critic"), "accelerators: 16, phase: train")),
                ["add 2 nodes with 8 accelerators", "add `colocate_with: actor` to critic"]),
    "without memory for both": (("1x8xH100", dict.fromkeys(("actor", "critic"), "accelerators: 8, memory: 60GiB, phase: train")),
                                ["add 1 node with 8 H100"]),
}  # fmt: skip


@pytest.mark.parametrize("name", JOBS)
def test_sharing_is_offered_before_nodes_where_components_take_turns(tmp_path: Path, name: str) -> None:
    (cluster, components), expected = JOBS[name]
    assert offers(native(tmp_path, cluster, **components)) == expected


@pytest.mark.parametrize("name", JOBS)
def test_every_offered_sharing_has_an_answer_once_it_is_typed(tmp_path: Path, name: str) -> None:
    (cluster, components), _ = JOBS[name]
    path = native(tmp_path, cluster, **components)
    text = path.read_text()
    for offer in offers(path):
        if RELATION.search(offer):
            path.write_text(typed(text, offer))
            assert path.read_text() != text
            assert pw.solve(path, sandbox=False).plan is not None, offer
