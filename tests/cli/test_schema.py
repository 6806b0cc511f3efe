"""`placewright schema` prints the schema and nothing else."""

from __future__ import annotations

import json

import pytest
from placewright.cli.main import run
from placewright.report.schema import KINDS, schema_to_json


@pytest.mark.parametrize("kind", KINDS)
def test_it_prints_the_schema(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", kind]) == 0
    said = capsys.readouterr().out
    assert said == schema_to_json(kind)
    assert json.loads(said)["$schema"] == "http://json-schema.org/draft-07/schema#"


def test_native_files_are_meant_where_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == 0
    assert capsys.readouterr().out == schema_to_json("native")


def test_there_are_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "slurm"]) == 2
    assert "'native', 'cluster', 'plan'" in capsys.readouterr().err
