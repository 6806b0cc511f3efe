"""A list of defaults brings in other texts, in Hydra's order and under Hydra's packages."""

from __future__ import annotations

from typing import Callable

import pytest
from placewright.models.text.document import Document
from placewright.models.text.tree import find, plain

Compose = Callable[..., Document]

DB = {"db/pg.yaml": "name: pg\nport: 5432\n", "db/mysql.yaml": "name: mysql\nport: 3306\n", "base.yaml": "x: 1\nname: base\n"}


@pytest.mark.parametrize(
    ("defaults", "content"),
    [
        ("[db/pg]", {"db": {"name": "pg", "port": 5432}, "name": "main"}),
        ("[db: pg]", {"db": {"name": "pg", "port": 5432}, "name": "main"}),
        ("[db/pg@source]", {"source": {"name": "pg", "port": 5432}, "name": "main"}),
        ("[db/pg@a.b]", {"a": {"b": {"name": "pg", "port": 5432}}, "name": "main"}),
        ("[db@a.b: pg]", {"a": {"b": {"name": "pg", "port": 5432}}, "name": "main"}),
        ("[db/pg@_global_]", {"name": "main", "port": 5432}),
        ("[db/pg@_here_]", {"name": "main", "port": 5432}),
        ("[base]", {"x": 1, "name": "main"}),
        ("[base, _self_]", {"x": 1, "name": "main"}),
        ("[_self_, base]", {"name": "base", "x": 1}),
        ("[db: null]", {"name": "main"}),
        ("[optional db: nothing]", {"name": "main"}),
        ("[db: [pg, mysql]]", {"db": {"name": "mysql", "port": 3306}, "name": "main"}),
        ("[db: pg, override db: mysql]", {"db": {"name": "mysql", "port": 3306}, "name": "main"}),
        ("[db: pg, db@old: '${db}']", {"db": {"name": "pg", "port": 5432}, "old": {"name": "pg", "port": 5432}, "name": "main"}),
        ("[override hydra/job_logging: stdout]", {"name": "main"}),
        ("[hydra/launcher: local, db/pg]", {"db": {"name": "pg", "port": 5432}, "name": "main"}),
    ],
)
def test_entries(compose: Compose, defaults: str, content: object) -> None:
    document = compose({**DB, "main.yaml": f"defaults: {defaults}\nhydra: {{run: {{dir: x}}}}\nname: main\n"})
    assert plain(document.root) == content
    assert (document.findings, document.unchecked, document.partial) == ((), (), False)


@pytest.mark.parametrize(
    ("header", "entry", "place"),
    [
        ("# @package _global_", "group/part", ""),
        ("# @package top.here", "group/part", "top.here"),
        ("# @package _group_", "group/part", "group"),
        ("# @package _global_.top", "group/part", "top"),
        ("# @package _global_", "group/part@named", "named"),
        ("\n# @package  top\n", "group: part", "top"),
        ("# a word first\n# @package top", "group/part", "group"),
        ("", "group/inner/part", "group.inner"),
    ],
)
def test_a_text_may_name_its_own_package_and_the_entry_knows_better(compose: Compose, header: str, entry: str, place: str) -> None:
    texts = {"group/part.yaml": f"{header}\nx: 1\n", "group/inner/part.yaml": "x: 1\n", "main.yaml": f"defaults: [{entry}]\n"}
    assert plain(find(compose(texts).root, place)) == {"x": 1}  # type: ignore[arg-type]


def test_defaults_of_a_group_count_from_the_group_and_its_package(compose: Compose) -> None:
    document = compose(
        {
            "main.yaml": "defaults: [model/large@actor.model]\n",
            "model/large.yaml": "defaults: [base, parts/head, /shared/optim@optim, /shared/optim@_global_.optim]\nsize: 2\n",
            "model/base.yaml": "size: 1\nkind: mlp\n",
            "model/parts/head.yaml": "width: 8\n",
            "shared/optim.yaml": "lr: 1e-3\n",
        }
    )
    assert plain(document.root) == {
        "actor": {"model": {"size": 2, "kind": "mlp", "parts": {"width": 8}, "optim": {"lr": 0.001}}},
        "optim": {"lr": 0.001},
    }
    assert not document.findings


def test_every_value_keeps_the_text_that_it_comes_from(compose: Compose) -> None:
    document = compose({**DB, "main.yaml": "defaults: [db/pg]\ndb: {port: 1}\n"})
    name, port = find(document.root, "db.name"), find(document.root, "db.port")
    assert name is not None
    assert port is not None
    assert (name.span.file, name.span.line, name.span.column) == ("db/pg.yaml", 1, 7)
    assert (port.span.file, port.span.line) == ("main.yaml", 2)
    assert document.texts == {"main.yaml": "defaults: [db/pg]\ndb: {port: 1}\n", "db/pg.yaml": DB["db/pg.yaml"]}


def test_a_text_is_read_once_for_many_files(compose: Compose, monkeypatch: pytest.MonkeyPatch) -> None:
    from placewright.models.composition import Composer
    from placewright.models.text.source import Source

    compose({**DB, "main.yaml": "defaults: [db/pg]\n", "other.yaml": "defaults: [db/pg@x]\n"})
    composer = Composer()
    first = composer.compose(Source.read("main.yaml"))
    second = composer.compose(Source.read("other.yaml"))
    assert first.included["db/pg.yaml"] is second.included["db/pg.yaml"]


@pytest.mark.parametrize(
    ("defaults", "message"),
    [
        ("{db: pg}", "`defaults` must be a list, but it is a map"),
        ("[5]", "an entry of `defaults` must be a word or a map, but it is a whole number"),
        ("[{a: x, b: y}]", "an entry of `defaults` must have one key, but this one has 2"),
        ("[db: {x: 1}]", "what `db` chooses must be a name or a list of names, but it is a map"),
        ("[_self_, _self_]", "`_self_` appears twice in one list of defaults, which Hydra refuses"),
        ("[_self_@x]", "`_self_` is in its own package and takes no other"),
        ("[db: '???']", "`db` must be chosen, or Hydra refuses to start"),
        ("[db: pg, db: mysql]", "`db` is chosen twice, once as `mysql` and once as `pg`, which Hydra refuses"),
        ("[db: pg, db: pg]", "`db` is chosen twice, which Hydra refuses"),
        ("[override db: pg]", "there is no `db` in the list of defaults that could be overridden"),
        ("[db: pg, override db: mysql, base]", "`@base`"),
        (
            "[db: pg, override db: mysql, app: one]",
            "`app` is after `override db`, which Hydra refuses: overrides are the end of a list",
        ),
    ],
)
def test_what_hydra_refuses_is_a_finding_at_its_place(compose: Compose, defaults: str, message: str) -> None:
    document = compose({**DB, "app/one.yaml": "a: 1\n", "main.yaml": f"defaults: {defaults}\n"})
    (finding,) = document.findings
    if not message.startswith("`@"):
        assert finding.message == message
    assert (finding.code, finding.unusable) == ("PW013", True)
    assert finding.span is not None
    assert finding.span.file == "main.yaml"


def test_a_circle_is_told_with_both_places(compose: Compose) -> None:
    document = compose({"main.yaml": "defaults: [a/one]\n", "a/one.yaml": "defaults:\n  - two\n", "a/two.yaml": "defaults:\n  - one\n"})
    (finding,) = document.findings
    assert finding.message == "`a/one` is one of the texts that it is a part of, so Hydra never ends"
    assert finding.span is not None
    assert finding.origin is not None
    assert (finding.span.file, finding.origin.file) == ("a/two.yaml", "main.yaml")
    assert document.partial


def test_a_map_that_meets_a_list_is_told_with_both_places(compose: Compose) -> None:
    document = compose({"main.yaml": "defaults: [base]\nx: [1]\n", "base.yaml": "x: {a: 1}\n"})
    (finding,) = document.findings
    assert finding.message == "`x` is a list here and a map before, which Hydra cannot merge"
    assert finding.origin is not None
    assert finding.origin.file == "base.yaml"


def test_a_part_that_is_no_yaml_is_unusable_at_its_own_line(compose: Compose) -> None:
    document = compose({"main.yaml": "defaults: [part]\nname: main\n", "part.yaml": "a: 1\nb: [\n"})
    (finding,) = document.findings
    assert finding.code == "PW003"
    assert finding.span is not None
    assert finding.span.file == "part.yaml"
    assert plain(document.root) == {"name": "main"}


def test_a_part_beyond_our_own_limits_is_unchecked(compose: Compose) -> None:
    document = compose({"main.yaml": "defaults: [part]\nname: main\n", "part.yaml": f"a: {'[' * 65}{']' * 65}\n"})
    assert (document.findings, document.partial) == ((), True)
    assert [(each.subject, each.why) for each in document.unchecked] == [("part.yaml", "values are nested more than 64 levels deep")]


def test_aliases_of_every_part_are_expanded(compose: Compose) -> None:
    texts = {"main.yaml": "defaults: [part]\nx: &x {a: 1}\ny: {<<: *x}\n", "part.yaml": "b: &x 2\nc: *x\ny: {d: *x}\n"}
    document = compose(texts)
    assert plain(document.root) == {"b": 2, "c": 2, "y": {"d": 2, "a": 1}, "x": {"a": 1}}
    assert [span.file for span in document.shared] == ["main.yaml", "part.yaml"]


def test_a_part_may_be_empty_or_a_list(compose: Compose) -> None:
    document = compose({"main.yaml": "defaults: [empty, many@x]\n", "empty.yaml": "# nothing\n", "many.yaml": "- 1\n- 2\n"})
    assert plain(document.root) == {"x": [1, 2]}
    assert document.findings == ()
