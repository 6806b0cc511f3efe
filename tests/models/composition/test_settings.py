"""The command line sets values, and chooses groups, as Hydra lets it."""

from __future__ import annotations

from typing import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.composition.setting import read_setting
from placewright.models.composition.settings import CommandSettings
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import Span
from placewright.models.text.document import Document
from placewright.models.text.tree import Scalar, find, plain
from sampling import examples

Compose = Callable[..., Document]

TEXTS = {
    "main.yaml": "defaults: [db: pg]\na: {b: 1, c: [1, 2], d: null}\nref: ${a}\n",
    "db/pg.yaml": "port: 5432\n",
    "db/mysql.yaml": "port: 3306\n",
    "app/one.yaml": "x: 1\n",
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        ("-4", -4),
        ("1_000", 1000),
        ("010", "010"),
        ("4.5", 4.5),
        ("1e3", 1000.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("", ""),
        ("0-7", "0-7"),
        ("0-3:0-7", "0-3:0-7"),
        ("'0-3,8-11'", "0-3,8-11"),
        ('"a b"', "a b"),
        (r"'it\'s'", "it's"),
        (r"a\,b\ c", "a,b c"),
        ("hello world", "hello world"),
        ("[0, 1,[a]]", [0, 1, ["a"]]),
        ("[]", []),
        ("{a: 1, b: {c: x}}", {"a": 1, "b": {"c": "x"}}),
        ("{}", {}),
        ("${a.b}", "${a.b}"),
        ("'${multiply:${a.b},2}'", "${multiply:${a.b},2}"),
        ("${x}/y@z", "${x}/y@z"),
        ("int(3)", 3),
        ("int(3.7)", 3),
        ("int('12')", 12),
        ('int( float("4") )', 4),
        ("float(2)", 2.0),
        ("str(8)", "8"),
        ("str(True)", "true"),
        ("bool(0)", False),
        ("bool('False')", False),
        ("str([1, x])", ["1", "x"]),
        ("int({a: 2.5})", {"a": 2}),
        ("[int('1'), 2]", [1, 2]),
    ],
)
def test_a_value_has_the_type_that_hydra_gives_it(text: str, value: object) -> None:
    found = read_setting(f"k={text}", Span("--set", 0, 2 + len(text), 1, 1)).value
    assert found is not None
    assert plain(found) == value
    assert type(plain(found)) is type(value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("k", "no `=` follows its key"),
        ("k v=1", "no `=` follows its key"),
        ("", "no `=` follows its key"),
        ("k=1,2", "a sweep, which Hydra refuses without `--multirun`"),
        ("k=list(range(0,8))", "`list` is not computed here"),
        ("k=range(1,3)", "`range` sweeps over values, which Hydra refuses without `--multirun`"),
        ("k=sort(1)", "`sort` is not computed here"),
        ("k=int(abc)", "Hydra cannot take `int` of it"),
        ("k=int(null)", "Hydra cannot take `int` of it"),
        ("k=bool(1, 2)", "`,` is not allowed here"),
        ("k=bool(yes)", "Hydra cannot take `bool` of it"),
        ("k=json_str([a])", "`json_str` is not computed here"),
        ("k=a=b", "`=` is not allowed here"),
        ("k=[1,", "it ends too early"),
        ("k={1}", "`}` is not allowed here"),
        ("k=ü", "`ü` must be in quotes"),
        ("k=\u201ca", "`\u201c` (left double quotation mark) must be in quotes"),
        ("k=1\u00a0", "`\u00a0` (no-break space) must be in quotes"),
        ("k=" + "9" * 30, "a whole number has more than 19 digits"),
        ("k=" + "[" * 40, "it is nested more than 32 levels deep"),
    ],
)
def test_what_hydra_could_not_read_is_told_at_its_place(text: str, why: str) -> None:
    with pytest.raises(UnusableInput) as caught:
        read_setting(text, Span("--set", 0, len(text), 1, 1))
    (finding,) = caught.value.findings
    assert finding.code == "PW012"
    assert finding.message == f"`{text[:80]}` cannot be set: {why}"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("a.b=2", {"a": {"b": 2, "c": [1, 2], "d": None}}),
        ("a.c.1=5", {"a": {"b": 1, "c": [1, 5], "d": None}}),
        ("a.c=[7]", {"a": {"b": 1, "c": [7], "d": None}}),
        ("a.d={x: 1}", {"a": {"b": 1, "c": [1, 2], "d": {"x": 1}}}),
        ("a={b: 9}", {"a": {"b": 9, "c": [1, 2], "d": None}}),
        ("+a.n.m=2", {"a": {"b": 1, "c": [1, 2], "d": None, "n": {"m": 2}}}),
        ("++a.b=2", {"a": {"b": 2, "c": [1, 2], "d": None}}),
        ("++a={z: 1}", {"a": {"b": 1, "c": [1, 2], "d": None, "z": 1}}),
        ("+a.d=3", {"a": {"b": 1, "c": [1, 2], "d": 3}}),
        ("~a", {}),
        ("~a.b", {"a": {"c": [1, 2], "d": None}}),
        ("~a.b=1", {"a": {"c": [1, 2], "d": None}}),
        ("ref.b=6", {"a": {"b": 6, "c": [1, 2], "d": None}}),
        ("hydra.run.dir=x", {"a": {"b": 1, "c": [1, 2], "d": None}}),
    ],
)
def test_values(compose: Compose, text: str, content: dict[str, object]) -> None:
    document = compose(TEXTS, settings=(text,))
    assert document.findings == ()
    assert plain(document.root) == {"db": {"port": 5432}, **content, "ref": "${a}"}


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("db=mysql", {"db": {"port": 3306}}),
        ("db=[pg,mysql]", {"db": {"port": 3306}}),
        ("~db", {}),
        ("~db=pg", {}),
        ("+app=one", {"db": {"port": 5432}, "app": {"x": 1}}),
        ("+app@here=one", {"db": {"port": 5432}, "here": {"x": 1}}),
        ("db={port: 1}", {"db": {"port": 1}}),
    ],
)
def test_groups(compose: Compose, text: str, content: dict[str, object]) -> None:
    document = compose({**TEXTS, "main.yaml": "defaults: [db: pg]\n"}, settings=(text,))
    assert document.findings == ()
    assert plain(document.root) == content


@pytest.mark.parametrize(
    ("text", "message", "help_"),
    [
        ("a.bb=1", "there is no `a.bb` in the configuration, so Hydra refuses it", "write `+a.bb=1` to add it"),
        ("reff=1", "there is no `reff` in the configuration, so Hydra refuses it", "write `ref`"),
        ("a.c.9=1", "there is no `a.c.9` in the configuration, so Hydra refuses it", "write `+a.c.9=1` to add it"),
        ("+a.b=1", "`a.b` is there already, so Hydra refuses to add it", "write `a.b=1` to change it"),
        ("~nope", "there is no `nope` that could be deleted", "leave it out"),
        ("~a.b=7", "`a.b` has another value, so Hydra refuses to delete it", "write `~a.b`"),
        ("a={z: 1}", "there is no `z` in `a`, so Hydra refuses it", "write `+a={z: 1}` to add it"),
        ("a=[1]", "`a` is a map, and cannot become a list", "give it a map"),
        (
            "db=null",
            "what is chosen for the group `db` must be a name or a list of names, but it is nothing",
            "write `db=OPTION`; `~db` takes the group out",
        ),
        ("++db=pg", "a group cannot be added with `++`", "write `+db=pg`"),
        ("db@x=mysql", "there is no `db@x` in the list of defaults that could be overridden", "write `db`"),
        ("=1", "it names no key", "write the key of a value, such as `cluster.num_nodes`"),
    ],
)
def test_what_hydra_refuses_is_told_with_what_it_would_take(compose: Compose, text: str, message: str, help_: str) -> None:
    document = compose(TEXTS, settings=(text,))
    (finding,) = document.findings
    assert (finding.code, finding.message, finding.help) == ("PW012", message, help_)
    assert finding.span is not None
    assert finding.span.file == "--set"


def test_a_key_of_a_section_that_is_not_there_is_not_added_by_a_fix(compose: Compose) -> None:
    (finding,) = compose(TEXTS, settings=("a.section.key=1",)).findings
    assert finding.help == "choose a configuration with `a.section`, or write `+a.section.key=1` to add it"
    assert finding.edit is None


UNSET = {
    "main.yaml": "defaults: [db: pg]\na:\n  b: 1\n  needed: ???\n  d: null\nnone: ${oc.select:a.d,5}\none: ${a.b}\nlacking: ${oc.select:a.gone,null}\n"
    "lacking_one: ${oc.select:a.gone,1}\nvariable: ${oc.env:NO_SUCH,1}\n",
    "db/pg.yaml": "port: 5432\n",
}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("+a.needed=1", ""),
        ("+none=1", ""),
        ("+lacking=1", ""),
        ("~lacking", "there is no `lacking` that could be deleted"),
        ("+lacking_one=1", "`lacking_one` is there already, so Hydra refuses to add it"),
        ("+variable=1", ""),
        ("~variable=2", ""),
        ("+one=1", "`one` is there already, so Hydra refuses to add it"),
        ("~one=1", ""),
        ("~one=null", ""),
        ("~one=2", "`one` has another value, so Hydra refuses to delete it"),
        ("~a.needed", "there is no `a.needed` that could be deleted"),
        ("~db=5", "the option of `~db` must be a name, but it is a whole number"),
        ("hydra.run.dir=/x", ""),
        ("hydra.job_logging.root.level=INFO", ""),
        ("+hydra.nope=1", ""),
        ("hydra.nope=1", "there is no `hydra.nope` in Hydra, so Hydra refuses it"),
        ("hydra.run.folder=/x", "there is no `hydra.run.folder` in Hydra, so Hydra refuses it"),
        ("+1.a=2", ""),
        ("+1=2", "`+1=2` cannot be set: no `=` follows its key"),
    ],
)
def test_what_hydra_selects_decides(compose: Compose, text: str, why: str) -> None:
    assert [finding.message for finding in compose(UNSET, settings=(text,)).findings] == [why] * bool(why)


def test_a_group_that_no_folder_has_is_told(compose: Compose) -> None:
    (finding,) = compose(TEXTS, settings=("nowhere@x=one",)).findings
    assert finding.message == "there is no folder `nowhere`, so it is not a group that could be chosen"
    assert finding.help == "it is not in `.`; `--config-root DIR` names another folder"


def test_a_key_that_may_come_from_a_missing_part_is_set(compose: Compose) -> None:
    document = compose({"main.yaml": "defaults: [nowhere, _self_]\na: 1\ne: ${oc.select:f,null}\n"}, settings=("b.c=2", "~d", "+e=3"))
    assert document.findings == ()
    assert plain(document.root) == {"a": 1, "b": {"c": 2}, "e": 3}


def test_a_value_points_into_a_text_that_repeats_the_options(compose: Compose) -> None:
    document = compose(TEXTS, settings=("a.b=2", "+n=[x, 'y z']"))
    assert document.text_of("--set") == "--set a.b=2\n--set +n=[x, 'y z']"
    first, second = find(document.root, "a.b"), find(document.root, "n.1")
    assert isinstance(first, Scalar)
    assert isinstance(second, Scalar)
    assert (first.span.line, first.span.column) == (1, 11)
    assert (second.span.line, second.span.column) == (2, 14)
    assert document.text_of("--set")[second.span.start : second.span.end] == "'y z'"


def test_a_search_path_of_the_command_line_replaces_the_one_of_the_file(compose: Compose) -> None:
    texts = {"job/main.yaml": "hydra: {searchpath: [nowhere]}\ndefaults: [part]\n", "conf/part.yaml": "x: 1\n"}
    document = compose(texts, "job/main.yaml", roots=(".",), settings=("hydra.searchpath=[file://conf]",))
    assert plain(document.root) == {"x": 1}


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.text("ab1.=,+~@/'\"\\{}[]()$ :\n\u00e9", max_size=14), max_size=3))
def test_no_text_breaks_it(texts: list[str]) -> None:
    found = CommandSettings.read(texts)
    assert len(found.settings) + len(found.findings) == len(texts)


@pytest.mark.parametrize(
    ("text", "help_", "quoted"),
    [
        ("k=a > b", "put the value in quotes, as in `key='a b'`", "k='a > b'"),
        ("k=[a > b, [c], d]", "put the items of the list in quotes, as in `key=['a b']`", "k=['a > b', [c], d]"),
        ("k=[[c], a > b]", "put the items of the list in quotes, as in `key=['a b']`", "k=[[c], 'a > b']"),
        ("k={x: a > b}", "put the items of the map in quotes, as in `key={a: 'a b'}`", "k={x: 'a > b'}"),
        ("k={x: [a > b]}", "put the items of the list in quotes, as in `key=['a b']`", "k={x: ['a > b']}"),
        ("k=[{x: 1}, {y: a > b}]", "put the items of the map in quotes, as in `key={a: 'a b'}`", "k=[{x: 1}, {y: 'a > b'}]"),
    ],
)
def test_what_is_to_be_put_in_quotes_is_what_stands_there(text: str, help_: str, quoted: str) -> None:
    """In quotes as a whole, a list or a map would be a text."""
    with pytest.raises(UnusableInput) as caught:
        read_setting(text, Span("--set", 0, len(text), 1, 1))
    assert caught.value.findings[0].help == help_
    read_setting(quoted, Span("--set", 0, len(quoted), 1, 1))
