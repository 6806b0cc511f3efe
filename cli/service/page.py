"""Page of the service on its paths, without scripts or the network."""

from __future__ import annotations

from html import escape
from typing import Any, Iterator, Mapping

_STYLE = "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}td{padding:.2em 1em .2em 0;vertical-align:top}"


def forms_page(openapi: Mapping[str, Any]) -> str:
    """Render an OpenAPI document as HTML: a heading for each path, a row for each field of its body."""
    title = escape(openapi["info"]["title"])
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    about = f'<h1>{title}</h1><p>{escape(openapi["info"]["summary"])} The same as data: <a href="openapi.json">openapi.json</a>.</p>'
    return head + about + "".join(_sections(openapi["paths"]))


def _sections(paths: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            yield f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>"
            if body := operation.get("requestBody"):
                schema = body["content"]["application/json"]["schema"]
                yield f"<table>{''.join(_rows(schema))}</table>"


def _rows(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, field in schema["properties"].items():
        kind = " or ".join(f"`{choice}`" for choice in field["enum"]) if "enum" in field else field.get("type", "")
        amount = "required" if name in schema.get("required", ()) else f"default `{field.get('default')}`"
        cells = (f"<code>{escape(name)}</code>", escape(kind), escape(amount), escape(field.get("description", "")))
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
