"""The key `workflow` of a plan: chains that say what works on what."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Collection, Iterator, Mapping, NamedTuple

from ..component import UNBOUNDED, Component
from ..findings.finding import Finding, error
from ..findings.span import Edit, Span
from ..planning.workload import After
from ..text.nearest import nearest
from ..text.tree import ListNode, Scalar, Value, find
from .circles import ARROW, WHOLE, Wait, waits_in_circles
from .entries import unknown
from .times.timed import example

KEY = "workflow"
LEAVE = f"leave `{KEY}` out"
_BETWEEN = r"\s*(?:[-=]*>|→|[,;|]|\s)\s*"
"""What people write between the names of a chain."""


class _Part(NamedTuple):
    """A name or an arrow of a chain, and where it stands."""

    text: str
    span: Span


def read_workflow(
    chains: Collection[str],
    components: Mapping[str, Component],
    faulty: Collection[str],
    plan: Value | None,
    section: str,
    findings: list[Finding],
    most: int = UNBOUNDED,
) -> Iterator[After]:
    """What the chains of a plan say; of names that are none a finding, of those of `faulty` components nothing. `most`: all accelerators."""
    written, waits = find(plan, KEY), list[Wait]()
    if written is not None and len(chains) > 1 and all(len(chain.split()) == 1 and ARROW[-1] not in chain for chain in chains):
        listed, chained = ", ".join(f"`{chain}`" for chain in chains), f" {ARROW} ".join(chains)
        message = f"`{section}` lists {listed}, and says of none what works on what it makes"
        findings.append(error("PW105", "", message, written.span, help=f"write `{chained}`, or {LEAVE}"))
        return
    for position, chain in enumerate(chains):
        if written is None:
            continue  # there are chains only where they were written
        place = written.items[position] if isinstance(written, ListNode) else written
        parts = list(_parts(chain, place))
        names, arrows = parts[::2], parts[1::2]
        if len(parts) < 3 or len(parts) % 2 == 0 or any(each.text not in (ARROW, WHOLE) for each in arrows):
            message = f"`{chain}` is no chain of components"
            said = [name for name in re.split(_BETWEEN, chain.strip()) if name]
            meant = said if len(said) > 1 and all(name in faulty or _tasks(name, components) for name in said) else ["rollout", "actor"]
            help_ = f"write `{f' {ARROW} '.join(meant)}`, or `{f' {WHOLE} '.join(meant)}`; or {LEAVE}"
            findings.append(error("PW105", "", message, place.span, help=help_))
            continue
        findings += _strange(names, components, faulty, section, most)
        for one, arrow, other in zip(names, arrows, names[1:]):
            ones, others = _tasks(one.text, components), _tasks(other.text, components)
            if not ones or not others:
                continue
            if ones == others and len(ones) == 1:
                message = f"`{section}` has `{one.text}` work on what it makes itself"
                span = other.span
                findings.append(error("PW121", one.text, message, span, label="the same again", help="name another component, or drop it"))
            else:
                after = After(one.text, other.text, arrow.text == WHOLE, place.span)
                waits.append(Wait(after, ones, others, arrow.span))
                yield after
    findings += waits_in_circles(waits, section)


def _parts(chain: str, place: Value) -> Iterator[_Part]:
    """The names and arrows of a chain. They have places of their own where the text is written as it is read."""
    length = place.span.length - len(chain)
    alike = isinstance(place, Scalar) and place.origin is None and place.text == chain and length in (0, 2) and "\n" not in chain
    for found in re.finditer(rf"{ARROW}|{WHOLE}|(?:(?!{ARROW}|{WHOLE})\S)+", chain):
        shift = length // 2
        yield _Part(found.group(), place.span.part(shift + found.start(), shift + found.end()) if alike else place.span)


def _strange(
    names: list[_Part], components: Mapping[str, Component], faulty: Collection[str], section: str, most: int
) -> Iterator[Finding]:
    """Names that no time belongs to, each once."""
    timed = [task for name, each in components.items() if each.timed for task in (name, *_phases(each))]
    known = list(dict.fromkeys((*timed, *sorted(faulty))))
    for text, span in {each.text: each.span for each in reversed(names)}.items():
        name, _, phase = text.partition(".")
        if _tasks(text, components) or {text, name} & set(faulty):
            continue
        its = components.get(text) or components.get(name)
        if its is None:
            found = unknown(section, text, known, span)
            close = nearest(text, known) if span.length == len(text) else None  # else all of the chain would be replaced
            yield replace(found, edit=Edit(span, close) if close else None)
        elif its.timed is None:
            message = f"`{section}` names `{text}`, and nobody says how long `{its.name}` takes"
            count = example(its.least, min(its.most, most), its.step)
            yield error("PW121", its.name, message, span, label="no seconds", help=f"write `seconds: {count}` of `{its.name}`, or drop it")
        else:
            message = f"`{section}` names `{text}`, and no time of `{its.name}` is of a phase `{phase}`"
            yield error(
                "PW121",
                its.name,
                message,
                span,
                label="no such phase",
                help=f"write one of {', '.join(f'`{each}`' for each in (its.name, *_phases(its)))}",
            )


def _tasks(text: str, components: Mapping[str, Component]) -> frozenset[str]:
    """The tasks that a name means: all of a component, or one of them, such as ``critic.train``; none where it means nothing."""
    its = components.get(text)
    if its is not None and its.timed:
        return frozenset(_phases(its) or (text,))
    return frozenset({text} if any(text in _phases(each) for each in components.values()) else ())


def _phases(component: Component) -> tuple[str, ...]:
    return tuple(f"{component.name}.{phase}" for phase in component.timed.phases if phase) if component.timed else ()
