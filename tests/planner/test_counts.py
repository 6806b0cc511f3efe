"""Plans of lists of counts: as good as the best of all plans in which each component has one count of its list."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.findings.finding import UnusableInput
from sampling import examples

PLANS = (
    "{}", "{workflow: a -> b}", "{workflow: a -> b, nested: true}", "{workflow: a -> b, minimise: accelerators, budget: {seconds: 95}}",
    "{workflow: a -> b, cost_model: stages, budget: {accelerators: 6}}",
)  # fmt: skip


class Lists:
    """Two components with times, one of them with degrees to choose, and one that fills what they leave; holes, groups and relations."""

    def __init__(self, seed: int) -> None:
        random = Random(f"lists {seed}")
        self.random, self.plan = random, random.choice(PLANS)
        self.counts = {name: sorted(random.sample(range(1, 9), random.choice((1, 2, 3)))) for name in "abc"[: random.choice((2, 3))]}
        self.nodes = random.choice(("2x4xH100", "1x8xH100", "1x4xH100+1x4xA100"))
        self.said = {
            "a": f"seconds: {{1: {random.randint(60, 99)}, 8: {random.randint(10, 40)}}}",
            "b": f"seconds: {{1: {random.randint(60, 99)}, 4: {random.randint(30, 50)}}}, parallel: {{tp: {random.choice(('1', '2', '[1, 2]'))}}}",
            "c": random.choice(("contiguous: false", "within: a", "disjoint_from: b", "contiguous: true")),
        }
        self.tie = random.choice(("", "", ", colocate_with: a", ", disjoint_from: a"))

    def text(self, counts: dict[str, object]) -> str:
        parts = "".join(
            f"  {name}: {{accelerators: {count}, {self.said[name]}{self.tie if name == 'b' else ''}}}\n" for name, count in counts.items()
        )
        return f"cluster: {self.nodes}\ncomponents:\n{parts}plan: {self.plan}\n"


def answer(file: Path, text: str) -> tuple[tuple[int, int] | None, dict[str, int]]:
    """(price, counts) of the plan; (None, {}) where it is told that there is none."""
    file.write_text(text, encoding="utf-8")
    try:
        found = pw.solve(str(file), sandbox=False)
    except UnusableInput:  # its count is not a multiple of its degrees, which is told before anything is searched
        return None, {}
    if found.planned is None:
        assert found.verdict == "impossible", (text, found.findings)
        return None, {}
    assert found.planned.proved, text
    best = found.planned
    return best.price, {name: option.amount for name, option in best.best.design.options.items()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(examples(12)))
def test_as_good_as_the_best_of_all_single_counts(seed: int, tmp_path: Path) -> None:
    its = Lists(seed)
    price, held = answer(tmp_path / "job.yaml", its.text({name: list(counts) for name, counts in its.counts.items()}))
    assert all(count in its.counts[name] for name, count in held.items())
    every = [answer(tmp_path / "one.yaml", its.text(dict(zip(its.counts, chosen))))[0] for chosen in product(*its.counts.values())]
    assert price == min((each for each in every if each is not None), default=None), its.text(dict(its.counts))
