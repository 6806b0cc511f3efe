"""Pages of the codes, as `placewright explain CODE` prints them, and their list."""

from __future__ import annotations

from typing import Iterator

from ...cli.pages import page_of
from ...models.findings.codes import CODES, FAMILIES
from ...report.page import Example, Page, command_of


def code_pages() -> Iterator[tuple[str, str]]:
    """Yield (path below `docs/`, Markdown) of the list of codes and of each code."""
    yield "reference/codes/index.md", _list()
    for code in CODES:
        yield f"reference/codes/{code}.md", _markdown(page_of(code))


def _list() -> str:
    lines = [
        "# Codes",
        "",
        "Every finding has a code. `placewright explain CODE` prints the page of a code on a terminal.",
    ]
    for prefix, family in FAMILIES.items():
        lines += ["", f"## {prefix}xx: {family}", "", "| code | what it means |", "|---|---|"]
        codes = sorted(code for code in CODES if code.startswith(prefix))
        lines += [f"| [{code}]({code}.md) | {_escape(CODES[code])} |" for code in codes]
    return "\n".join(lines) + "\n"


def _markdown(page: Page) -> str:
    parts = [f"# {page.code}: {_escape(page.title)}", "[All codes](index.md)", _escape(page.text)]
    parts += ["## Wrong", *_examples(page.wrong, "")]
    parts += ["## Right", *_examples(page.right, command_of(page.wrong))]
    parts += ["## What to do", _escape(page.fix)]
    if page.source:
        parts += ["## Where the rule comes from", _escape(page.source)]
    if page.see_also:
        links = "\n".join(f"- [{code}]({code}.md): {_escape(CODES[code])}" for code in page.see_also)
        parts += ["## See also", links]
    return "\n\n".join(parts) + "\n"


def _examples(examples: tuple[Example, ...], known: str) -> Iterator[str]:
    """Yield fenced texts, after their commands if these differ."""
    for example in examples:
        if example.command and example.command != known:
            yield f"```sh\nplacewright {example.command}\n```"
            known = example.command
        title = f' title="{example.file}"' if example.file else ""
        yield f"```{example.language}{title}\n{example.text.rstrip()}\n```"


def _escape(text: str) -> str:
    """Return the text with `<` outside of backticks shown as it is, not as HTML."""
    parts = text.split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))
