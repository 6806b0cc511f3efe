"""Every configuration file of verl is read, and none that verl ships is called false."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load
from placewright.models.machines.shorthand import read_shorthand
from placewright.planner.verify import verify

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "verl"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")

NO_CONFIGURATION = {
    "yaml/verl/trainer/config/reward_model/dp_reward_loop.yaml": "a part that others are composed of",
    "yaml/verl/trainer/config/reward_model/megatron_reward_loop.yaml": "a part that others are composed of",
    "yaml/verl/trainer/config/reward_model/reward_model.yaml": "a part that others are composed of",
}
FILES = (CORPUS / "placement_files.txt").read_text("utf-8").split() if CORPUS.is_dir() else []


@pytest.mark.parametrize("level", ["placement", "training"])
@pytest.mark.parametrize("roots", [(), ("yaml/verl/trainer/config",)], ids=["alone", "composed"])
@pytest.mark.parametrize("machines", ["x8", ""], ids=["on nodes of 8", "nothing said"])
def test_no_file_of_verl_is_called_false(level: str, roots: tuple[str, ...], machines: str) -> None:
    composer = Composer(tuple(str(CORPUS / root) for root in roots), frameworks=("verl==b178a3cd",))
    said = {}
    for name in FILES:
        report = verify(load(CORPUS / name, read_shorthand(machines) if machines else None, level=level, composer=composer))
        if report.errors:
            said[name] = [(finding.code, finding.message) for finding in report.errors]
    assert {name for name, its in said.items() if {code for code, _ in its} == {"PW010"}} == NO_CONFIGURATION.keys()
    rest = {f"{name}: {message}" for name, its in said.items() if name not in NO_CONFIGURATION for _, message in its}
    assert {message for message in rest if level == "placement" or not any(words in message for words in TO_BE_SET)} == set()


TO_BE_SET = (
    "is set; verl demands one of them",
    "generates in a pool of its own",
)
"""What verl's own configurations leave to the command line: as they stand, verl refuses them."""
