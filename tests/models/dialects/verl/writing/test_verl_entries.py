"""Keys that stand nowhere yet are put into the sections of a text, and into one new section each where there is none."""

from __future__ import annotations

import pytest
from placewright.models.dialects.written import edits_of, put
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import Edit, apply_edits
from placewright.models.text.source import Source

SIZES = {"trainer.nnodes": 2, "trainer.n_gpus_per_node": 8}
TP = {"actor_rollout_ref.rollout.tensor_model_parallel_size": 4}


def added(source: Source, numbers: dict[str, int]) -> list[Edit]:
    return edits_of(source, source.root, put({}, numbers))


@pytest.mark.parametrize(
    ("text", "numbers", "after"),
    [
        ("data: {}\n", SIZES, "data: {}\ntrainer:\n  nnodes: 2\n  n_gpus_per_node: 8\n"),
        ("trainer:\n", SIZES, "trainer: {nnodes: 2, n_gpus_per_node: 8}\n"),
        ("trainer: {total: 1}\n", SIZES, "trainer: {total: 1, nnodes: 2, n_gpus_per_node: 8}\n"),
        ("trainer:\n  total: 1\ndata: {}\n", SIZES, "trainer:\n  total: 1\n  nnodes: 2\n  n_gpus_per_node: 8\ndata: {}\n"),
        ("data: {}\n", TP, "data: {}\nactor_rollout_ref:\n  rollout: {tensor_model_parallel_size: 4}\n"),
        ("actor_rollout_ref:\n  actor: {}\n", TP, "actor_rollout_ref:\n  actor: {}\n  rollout: {tensor_model_parallel_size: 4}\n"),
        (
            "data: {}\n", {**SIZES, **TP, "rollout.nnodes": 1},
            "data: {}\ntrainer:\n  nnodes: 2\n  n_gpus_per_node: 8\nactor_rollout_ref:\n  rollout: {tensor_model_parallel_size: 4}\nrollout:\n  nnodes: 1\n",
        ),
        ('{"data": {}}\n', TP, '{"data": {}, "actor_rollout_ref": {"rollout": {"tensor_model_parallel_size": 4}}}\n'),
    ],
)  # fmt: skip
def test_each_section_is_there_once(text: str, numbers: dict[str, int], after: str) -> None:
    written = apply_edits(text, added(Source("train.yaml", text), numbers))
    assert written == after
    for key, value in numbers.items():
        found = Source("train.yaml", written).root
        for name in key.split(".")[:-1]:
            found = found.get(name)  # type: ignore[assignment]
        assert found.get(key.split(".")[-1]).value == value  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["trainer: 1\n", "trainer: [1]\n"])
def test_what_is_no_section_with_entries_is_not_added_to(text: str) -> None:
    with pytest.raises(UnusableInput) as refused:
        added(Source("train.yaml", text), SIZES)
    assert [each.code for each in refused.value.findings] == ["PW603"]
