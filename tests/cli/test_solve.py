"""What `solve` writes is read and verified first, as the file itself was."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.dialects.load import read
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import FileSession, Reading
from placewright.models.text.source import Source
from placewright.planner.write_back import edits_of
from placewright.solver.searching.search import solve

TEXT = "cluster: {num_nodes: 1}\nplacewright:\n  components:\n    actor: {accelerators: 4}\n"
MACHINES = read_shorthand("1x8")


def test_an_answer_that_would_be_refused_where_it_is_written_is_not_written() -> None:
    reading = read(Source("run.yaml", TEXT), MACHINES)
    assert reading.problem is not None
    answer, seen = solve(reading.problem), list[str]()

    def on_smaller_machines(text: str, other: Cluster | None) -> Reading:
        seen.append(text)
        return read(Source("run.yaml", text), read_shorthand("1x2"))

    edits, why = edits_of(replace(reading, session=FileSession(on_smaller_machines)), answer)
    assert not edits and seen == [TEXT.replace("1}", "1, component_placement: {actor: 0-3}}")]
    assert [finding.code for finding in why] == ["PW603"] and "(PW102)" in why[0].message
    edits, why = edits_of(reading, answer)
    assert len(edits) == 1 and not why
