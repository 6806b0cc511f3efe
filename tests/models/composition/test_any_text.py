"""Whatever stands in a list of defaults or is set: a document, or findings; never another exception."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.composition import Composer
from placewright.models.findings.codes import CODES
from placewright.models.findings.finding import UnusableInput
from placewright.models.text.source import Source
from sampling import examples

MAIN = """\
# @package _global_
defaults:
  - db/pg@a.b
  - db: mysql
  - app@_here_: ${db}
  - optional db@x: [pg, mysql]
  - override db: pg
  - _self_
hydra: {searchpath: ["file://${oc.env:CONF}", db]}
a: {b: {port: 1}, c: [1, {d: 2}]}
"""
GROUP = "# @package _group_.x\ndefaults: [../main, /db/mysql, _self_]\nport: ${a.b.port}\nmap: {x: [1]}\n"
PIECES = st.sampled_from(
    ["~", "???", "[]", "{}", "a", "/", "..", "@", "_self_", "_global_", "_here_", "_name_", "${a}", "${db}", ".", ":", " ", "-", ",", "'", "\n", "db", "pg"]
)  # fmt: skip
SETTINGS = st.lists(
    st.sampled_from(["db=pg", "+db@q=pg", "~db", "a.c.1.d=3", "++a.z={x:1}", "a.b=${a.c}", "~a.c.0", "hydra.searchpath=[db]", "a={b:[1]}", "db=[pg]", "=", "a/b=c"]),
    max_size=3,
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        text = text[:start] + draw(PIECES) + text[start + draw(st.integers(0, 10)) :]
    return text


@settings(max_examples=examples(100), deadline=None)
@given(mutated(MAIN), mutated(GROUP), SETTINGS)
def test_any_text_gives_a_document_or_findings(main: str, group: str, chosen: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "db").mkdir()
        (Path(folder) / "main.yaml").write_text(main, "utf-8")
        (Path(folder) / "db" / "pg.yaml").write_text(group, "utf-8")
        (Path(folder) / "db" / "mysql.yaml").write_text("port: 3306\n", "utf-8")
        try:
            document = Composer(settings=tuple(chosen)).compose(Source.read(Path(folder) / "main.yaml"))
        except UnusableInput as problem:
            assert problem.findings
            return
        assert {finding.code for finding in document.findings} <= set(CODES)
        for finding in document.findings:
            for span in (finding.span, finding.origin):
                assert span is None or span.file in document.texts
