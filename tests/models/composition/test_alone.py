"""A file that stands alone is not composed of anything, and read as one that is."""

from __future__ import annotations

import subprocess
import sys

import pytest
from placewright.models.composition import Composer
from placewright.models.text.environment import Environment
from placewright.models.text.source import Source

TEXTS = {
    "plain": "cluster: 1x8xH100\ncomponents: {actor: {accelerators: 8}}\nmissing: ???\n",
    "flow": "{a: [1, {b: null}], c: 3}\n",
    "interpolated": "a: {b: 1}\nc: ${a.b}\n",
    "comments": "# of nothing\n# package\na: 1  # one\n",
    "empty map": "{}\n",
    "below": "a: {defaults: [b], hydra: {run: 1}}\n",
}
COMPOSED = {
    "defaults": "defaults: [_self_]\na: 1\n", "no defaults": "defaults: []\na: 1\n", "a map of defaults": "defaults: {}\na: 1\n",
    "hydra": "hydra: {run: {dir: x}}\na: 1\n", "a package": "# @package _group_\na: 1\n", "a named package": "# @package actor.model\na: 1\n",
}  # fmt: skip


@pytest.mark.parametrize("text", [*TEXTS.values(), *COMPOSED.values()], ids=[*TEXTS, *COMPOSED])
def test_it_is_read_as_where_everything_is_composed(text: str) -> None:
    source, composer = Source("job.yaml", text), Composer()
    assert composer.compose(source) == composer.compose_program(source, source, (), Environment.of(()))


def test_what_composes_is_not_loaded_for_it() -> None:
    program = """import sys
from placewright.models.composition import Composer
from placewright.models.text.source import Source
Composer().compose(Source("job.yaml", sys.argv[1]))
print("placewright.models.composition.composed" in sys.modules)"""
    for text, loaded in ((TEXTS["plain"], "False"), (COMPOSED["defaults"], "True")):
        assert subprocess.run([sys.executable, "-c", program, text], capture_output=True, text=True, check=True).stdout.strip() == loaded
