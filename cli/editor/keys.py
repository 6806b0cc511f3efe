"""Completion of keys, words and names, from the JSON Schema of the kind of file."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Iterator, Mapping, Sequence

from ...models.dialect_names import FRAMEWORKS
from ...models.record import dataclass
from ...report.schema import schema

_KEY = re.compile(r"""\s*(?:- +)*(?:"([^"]*)"|'([^']*)'|([^\s#"'{}\[\],:][^#{}\[\],:]*?))\s*:(?:\s|$)""")
_ITEM = re.compile(r"\s*(?:- +)+")
_OPEN_KEY = re.compile(r"([\w.-]+)\s*:\s*$")
_COMPONENT = re.compile(r"^ {2}([\w.-]+):", re.MULTILINE)
_NAMES_COMPONENTS = "the name of a component"
_SCHEMA = cache(schema)
IN_A_LIST = "[]"
"""Step of a path into the items of a list."""


@dataclass(frozen=True)
class Suggestion:
    """Word that may stand at the cursor, and its meaning."""

    word: str
    meaning: str
    is_key: bool


def suggestions(text: str, line: int, column: int, dialect: str) -> list[Suggestion]:
    """Return what may stand at a cursor (line and character from 0); empty if unknown."""
    path, key = path_at(text, line, column)
    root = _SCHEMA("native" if dialect not in FRAMEWORKS else dialect)
    nodes = list(_nodes_at(root, [root], path))
    if key is None:
        keys = {name: node for parent in nodes for name, node in parent.get("properties", {}).items()}
        texts = {name: [inner["description"] for inner in _expand(root, node) if "description" in inner] for name, node in keys.items()}
        return [Suggestion(name, str(descriptions[0]) if descriptions else "", True) for name, descriptions in texts.items()]
    values = [value for node in nodes for value in _expand(root, node.get("properties", {}).get(key, {}))]
    words = [str(word) for value in values for word in (*value.get("enum", ()), *([value["const"]] if "const" in value else ()))]
    if any(_NAMES_COMPONENTS in value.get("description", "") for value in values):
        words += _COMPONENT.findall(text.partition("\ncomponents:")[2].partition("\n\n")[0])
    return [Suggestion(word, "", False) for word in dict.fromkeys(words)]


def meaning(text: str, line: int, column: int, dialect: str) -> str:
    """Return the meaning of the key at a cursor; "" if unknown."""
    row = (*text.split("\n")[line : line + 1], "")[0]
    word = next((match for match in re.finditer(r"[\w.-]+(?=\s*:)", row) if match.start() <= column <= match.end()), None)
    if word is None:
        return ""
    begins = sum(len(above) + 1 for above in text.split("\n")[:line]) + word.start()
    candidates = suggestions(text[:begins], line, word.start(), dialect)
    return next((suggestion.meaning for suggestion in candidates if suggestion.word == word.group()), "")


def path_at(text: str, line: int, column: int) -> tuple[list[str], str | None]:
    """Return (keys around a cursor, key of the value there; None at a key)."""
    lines = text.split("\n")
    row = lines[line][:column] if line < len(lines) else ""
    inner, rest = split_open_braces(row)
    path = _list_above(lines, line, row)
    if inner is not None:
        key = re.search(r"([\w.-]+)\s*:\s*[^,{}]*$", rest.rpartition(",")[2])
        return [*path, *inner], key.group(1) if key else None
    match = _KEY.match(rest + " ")
    return path, _name(match) if match else None


def split_open_braces(row: str) -> tuple[list[str] | None, str]:
    """Return (keys of the open braces of a line, text behind them); None without braces."""
    stack: list[tuple[str, int]] = []
    for place, character in enumerate(row):
        if character in "{[":
            key = _OPEN_KEY.search(row[:place])
            stack.append((key.group(1) if key else "", place))
        elif character in "}]" and stack:
            stack.pop()
    if not stack:
        return None, row
    names = list[str]()
    for name, place in stack:
        names += [name] if name else []
        names += [IN_A_LIST] if row[place] == "[" else []
    return names, row[stack[-1][1] + 1 :]


def _list_above(lines: Sequence[str], line: int, row: str) -> list[str]:
    """Return the keys of the lines above that hold a line, outermost first."""
    path: list[str] = []
    indent = _indent(row)
    for number in range(line, -1, -1):
        above = row if number == line else lines[number]
        if not above.strip() or above.lstrip().startswith("#"):
            continue
        key_match, item = _KEY.match(above + " "), _ITEM.match(above)
        if (
            number < line
            and key_match
            and not item
            and (_indent(above) < indent or (_indent(above) == indent and path[-1:] == [IN_A_LIST]))
        ):
            path.append(_name(key_match))
            indent = _indent(above)
        elif item and path[-1:] != [IN_A_LIST] and (number == line or item.end() == indent):
            path.append(IN_A_LIST)
            indent = _indent(above)
        if number < line and not _indent(above) and not item:
            break
    return path[::-1]


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def _name(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _expand(root: Mapping[str, Any], node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a node and all that it refers to or chooses from."""
    yield node
    if "$ref" in node:
        yield from _expand(root, root["definitions"][node["$ref"].rpartition("/")[2]])
    for choice in (*node.get("anyOf", ()), *node.get("allOf", ())):
        yield from _expand(root, choice)


def _nodes_at(root: Mapping[str, Any], nodes: list[Mapping[str, Any]], path: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    inner_nodes = [inner for node in nodes for inner in _expand(root, node)]
    if not path:
        yield from inner_nodes
        return
    step, inner = path[0], list[Mapping[str, Any]]()
    for node in inner_nodes:
        below = node.get("items") if step == IN_A_LIST else node.get("properties", {}).get(step, node.get("additionalProperties"))
        inner += [below] if isinstance(below, dict) else []
    yield from _nodes_at(root, inner, path[1:])
