"""A page as a person reads it: short lines, what is wrong before what is right, and no colour unless asked for."""

from __future__ import annotations

import json

from placewright.cli.pages import page_of
from placewright.models.findings.codes import CODES, FAMILIES
from placewright.report.explain import list_to_json, pages_to_json, render, render_list
from placewright.report.page import parse_page

PAGE = parse_page(
    "PW102",
    """Ranks count from 0: eight accelerators are ranks 0-7, and so rank 8 does not exist in any way at all.

## Wrong
```yaml verify train.yaml --cluster 1x8
actor: 0-8
```
```yaml file machines.yaml
nodes: []
```

## Right
```yaml verify train.yaml --cluster 2x8
actor: 0-8
```

## Fix
Name ranks that exist, or `all`, or set a larger number of nodes than it is at the moment.

Give up.

## See also
PW103
""",
    source="RLinf, rlinf/scheduler/cluster/utils.py",
)

TEXT = """PW102: a rank is outside what exists

Ranks count from 0: eight accelerators are ranks 0-7, and so rank 8 does not
exist in any way at all.

wrong (`placewright verify train.yaml --cluster 1x8`):

    actor: 0-8

    # machines.yaml
    nodes: []

right (`placewright verify train.yaml --cluster 2x8`):

    actor: 0-8

fix: Name ranks that exist, or `all`, or set a larger number of nodes than it is
at the moment.

Give up.

source: RLinf, rlinf/scheduler/cluster/utils.py

see also:
  PW103  text is not a rank expression"""


def test_a_page_as_text() -> None:
    assert render(PAGE) == TEXT


def test_colour_changes_nothing_but_the_colour() -> None:
    import re

    painted = render(PAGE, colour=True)
    assert "\x1b[1;31mwrong\x1b[0m" in painted and "\x1b[1;32mright\x1b[0m" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == TEXT


def test_the_list_has_every_code_under_its_family() -> None:
    blocks = render_list().split("\n\n")
    assert [block.splitlines()[0] for block in blocks[:-1]] == list(FAMILIES.values())
    assert [line.split()[0] for block in blocks[:-1] for line in block.splitlines()[1:]] == sorted(CODES)
    assert all(len(line) <= 80 for line in render_list().splitlines())


def test_json_has_every_field_by_name() -> None:
    page = json.loads(pages_to_json([page_of("PW102")]))["codes"][0]
    assert page["code"] == "PW102" and page["title"] == CODES["PW102"]
    assert page["wrong"][0]["command"] == "verify train.yaml --cluster 1x8"
    assert {"family", "text", "right", "fix", "source", "see_also"} <= page.keys()
    assert [each["code"] for each in json.loads(list_to_json())["codes"]] == sorted(CODES)
