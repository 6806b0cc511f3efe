"""Every formula that is shown comes to the size beside it, whatever is estimated."""

from __future__ import annotations

import re
from math import ceil
from typing import Iterator

from hypothesis import given
from hypothesis import strategies as st
from placewright.models.component import Component, Parallel
from placewright.models.estimate import OPTIMIZERS, RECOMPUTED, SHARDINGS, MemoryInput
from placewright.models.memory.estimate import estimate_memory
from placewright.models.model_cards.known import KNOWN


def value(formula: str) -> float:
    """What a formula comes to: numbers in products, quotients, sums and parentheses; words are passed over."""
    return _sum(iter(re.findall(r"(?<![a-z])\d[\d,]*(?:\.\d+)?| x | / | \+ |[()]", formula)))


def _sum(parts: Iterator[str]) -> float:
    total, product, divides = 0.0, 1.0, False
    for part in parts:
        if part == ")":
            break
        if part.strip() == "+":
            total, product, divides = total + product, 1.0, False
        elif part.strip() in ("x", "/"):
            divides = part.strip() == "/"
        else:
            number = _sum(parts) if part == "(" else float(part.replace(",", ""))
            product = product / number if divides else product * number
    return total + product


def test_how_a_formula_is_read() -> None:
    assert value("(2 layers x 1,000 + 4 of embedding and head) x 2 bytes") == 4008
    assert value("(6 parameters / 3 ranks + 5 of experts) x 12 bytes / tp 2") == 42


DEGREES = st.sampled_from((1, 1, 2, 4, 8))
ESTIMATES = st.builds(
    MemoryInput, sharding=st.sampled_from(SHARDINGS), shards=st.sampled_from((0, 1, 8)), sequence=st.sampled_from((0, 1, 4096, 32_768)),
    micro_batch=st.integers(1, 4), recompute=st.sampled_from(RECOMPUTED), attention_scores=st.booleans(), sequences=st.sampled_from((0, 64)),
    precision=st.sampled_from(("bf16", "fp16", "fp32")), optimizer=st.sampled_from(("", *OPTIMIZERS)),
    parameters=st.sampled_from((0, 7_000_000_000)), trainable=st.sampled_from((0, 40_000_000, 10**13)), layers=st.sampled_from((0, 1, 33)),
    experts=st.sampled_from((0, 8)),
)  # fmt: skip


@given(
    ESTIMATES, st.sampled_from([None, *KNOWN.values()]), st.builds(Parallel, tp=DEGREES, pp=DEGREES, cp=DEGREES, ep=DEGREES),
    st.sampled_from(("actor", "rollout", "reference")), st.sampled_from((1, 8, 64, 512)),
)  # fmt: skip
def test_a_formula_comes_to_its_size(estimate: MemoryInput, card: object, parallel: Parallel, role: str, accelerators: int) -> None:
    found = estimate_memory(Component(role, estimate=estimate), card, parallel, accelerators)  # type: ignore[arg-type]
    for term in found.terms if found else ():
        assert term.size >= 0 and term.source
        size = value(term.formula)
        assert abs(size - term.size) <= max(64, 2e-6 * term.size), (
            term.formula,
            term.size,
        )  # parts of a term are rounded up to whole numbers
    if found:
        assert found.mebibytes == ceil(sum(term.size for term in found.terms) / 2**20) and found.kept <= found.mebibytes
