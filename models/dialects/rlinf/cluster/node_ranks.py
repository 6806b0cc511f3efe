"""A `node_ranks` value: a rank expression, or the YAML list that RLinf's documentation promises and its parser refuses."""

from __future__ import annotations

from ....configuration.notes import Notes, is_unknown
from ....findings.span import Edit
from ....ranks import CODES_BY_REASON, RankError, Ranks, merge, parse_ranks, write_ranks
from ....text.scalar_text import in_flow_map, plain_or_quoted
from ....text.tree import Scalar, Sequence, Value


def read_node_ranks(
    notes: Notes, value: Value, subject: str, size: int | None, whole: Ranks | None = None, in_flow: bool = False
) -> Ranks | None:
    """The node ranks, or None if they cannot be told (the reason is noted).

    `size`: nodes of the cluster, None if not known. `whole`: what `all` stands for, if not all of them. `in_flow`: the
    value stands in a flow map, where an edit must quote commas.
    """
    if is_unknown(value):
        return None
    if isinstance(value, Scalar):
        return _expression(notes, value, subject, size, whole, in_flow)
    items = value.items if isinstance(value, Sequence) else ()
    if not items or not all(isinstance(item, Scalar) and not is_unknown(item) for item in items):
        notes.wrong_type(subject, "node_ranks", value, "a rank expression such as `0-3`", "write `0-3` or `0,2`")
        return None
    found = [_expression(notes, item, subject, size, whole, True) for item in items if isinstance(item, Scalar)]
    ranges = merge([each for ranks in found if ranks is not None for each in ranks.ranges])
    text = write_ranks(ranges)
    message = f"`node_ranks` of `{subject}` is a YAML list: RLinf's documentation allows it, its parser refuses it"
    edit = Edit(value.span, in_flow_map(text) if in_flow else plain_or_quoted(text)) if text else None
    notes.warn("PW105", subject, message, value, "a list", f"write `{text}`", edit)
    return None if None in found else Ranks(ranges)


def _expression(notes: Notes, scalar: Scalar, subject: str, size: int | None, whole: Ranks | None, in_flow: bool) -> Ranks | None:
    if scalar.is_null:
        message = f"`node_ranks` of `{subject}` is empty: RLinf takes that for the rank `None`, which it refuses"
        notes.error("PW103", subject, message, scalar, "no rank", "write ranks such as `0-3`, or `all`", notes.instead(scalar, "all"))
        return whole or (Ranks((range(size),)) if size is not None else None)
    text = notes.ranks(scalar, subject, in_flow, of_processes=False)
    if text.text.strip().lower() == "all":
        if text.text != text.text.strip():
            message = f"`node_ranks` of `{subject}`: RLinf knows `all` only without blanks around it"
            notes.error("PW103", subject, message, scalar, "blanks", "write `all`", text.replaced("all", in_flow))
        if whole is not None or size is None:
            return whole
    try:
        return parse_ranks(text.text, size, "node rank")
    except RankError as problem:
        better = _mended(text.text, size)
        edit = text.replaced(better, in_flow) if better is not None else None
        help = f"write `{better}`" if better is not None else "write ranks such as `0-3` or `0,2`"
        place = text.scalar if text.shift is None else text.part(problem.start, problem.end)
        message = f"`node_ranks` of `{subject}`: {problem}"
        notes.error(CODES_BY_REASON[problem.reason], subject, message, place, problem.label, help, edit)
        return parse_ranks(better, size, "node rank") if better is not None else None


def _mended(text: str, size: int | None) -> str | None:
    """The ranks with every range turned round or cut to what exists; None if one of them cannot be told."""
    pieces = []
    for piece in text.split(","):
        try:
            parse_ranks(piece, size, "node rank")
        except RankError as problem:
            if problem.reason == "order" and problem.replacement is not None:
                piece = _mended(problem.replacement, size) or ""
            elif problem.reason == "range":
                piece = problem.replacement or ""
            else:
                return None
        if piece.strip().lower() == "all":
            return "all"
        if piece.strip():
            pieces.append(piece.strip())
    return ",".join(pieces) or None
