"""Which new answers are wrong beside a recorded one."""

from __future__ import annotations

from typing import Any

import pytest

from .answered import MODELS, NESTED, Record, answered
from .compare import BETTER, EQUAL, LISTED, WORSE, WRONG, judged
from .questions import RANDOM_FILES, files_of
from .record import WARM, read

PROVED: Record = {"verdict": "optimal", "price": [100, 8], "bound": 100, "proved": True, "components": {"a": [], "b": []}}
FOUND: Record = {**PROVED, "verdict": "feasible", "bound": 80, "proved": False}
NONE: Record = {"verdict": "impossible", "codes": ["PW601"]}
MANY: Record = {"components": {str(number): [] for number in range(8)}}


def changed(record: Record, **keys: Any) -> Record:
    return {**record, **keys}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (PROVED, PROVED, EQUAL),
        (PROVED, changed(PROVED, sets=[["a", "b"]]), EQUAL),
        (PROVED, changed(PROVED, price=[101, 8], bound=101), WRONG),
        (PROVED, changed(PROVED, price=[99, 8], bound=99), WRONG),
        (PROVED, FOUND, WRONG),
        (PROVED, NONE, WRONG),
        (PROVED, changed(PROVED, price=[100, 9]), WRONG),
        (PROVED, changed(PROVED, price=[100, 9], ties_open=True), WORSE),
        (PROVED, changed(PROVED, price=[100, 7]), BETTER),
        (PROVED, {"verdict": "crash", "error": ""}, WRONG),
        (FOUND, changed(FOUND, price=[110, 8]), WORSE),
        (FOUND, changed(FOUND, price=[110, 8], bound=105), WRONG),
        (FOUND, changed(FOUND, price=[90, 8]), BETTER),
        (FOUND, PROVED, BETTER),
        (changed(PROVED, **MANY), changed(FOUND, price=[105, 8]), LISTED),
        (changed(PROVED, outside=[NESTED]), changed(PROVED, price=[120, 8], bound=120), LISTED),
        (changed(PROVED, outside=[MODELS]), NONE, LISTED),
        (NONE, NONE, EQUAL),
        (NONE, PROVED, WRONG),
        (NONE, {"verdict": "undecided"}, WRONG),
        ({"verdict": "undecided"}, PROVED, BETTER),
        ({"verdict": "crash"}, NONE, BETTER),
        (changed(PROVED, aim="accelerators", bound=8), changed(PROVED, aim="accelerators", bound=8, price=[90, 8]), BETTER),
        (changed(PROVED, own=[120, 8]), changed(PROVED, own=[119, 8]), WRONG),
    ],
)
def test_a_new_answer_is_judged_by_prices_bounds_and_claims(old: Record, new: Record, kind: str) -> None:
    assert judged(old, new)[0] == kind


def test_a_relation_makes_many_components_related() -> None:
    assert judged(changed(PROVED, **MANY), FOUND, "a: {within: b}")[0] == WRONG


def test_an_answer_is_summarised() -> None:
    record = answered(WARM)
    assert record["verdict"] == "optimal"
    assert record["price"] == [3_000_000_000, 2]
    assert record["components"] == {"actor": [1, "", "H100"], "critic": [1, "", "H100"]}


def test_the_generator_makes_the_recorded_files() -> None:
    asks = [entry["ask"] for entry in read() if entry["part"] == "random"]
    assert len(asks) == RANDOM_FILES
    for ask in asks[::50]:
        assert "components:" in files_of(ask)["job.yaml"]
