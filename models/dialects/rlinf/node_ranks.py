"""A `node_ranks` value: a rank expression, or the YAML list that RLinf's documentation promises and its parser refuses."""

from __future__ import annotations

from ...ranks import CODES_BY_REASON, RankError, Ranks, merge, parse_ranks, write_ranks
from ...span import Edit
from ...text.tree import Scalar, Sequence, Value
from .notes import Notes, is_unknown


def read_node_ranks(notes: Notes, value: Value, subject: str, size: int | None, whole: Ranks | None = None) -> Ranks | None:
    """The node ranks, or None if they cannot be told (the reason is noted).

    `size`: nodes of the cluster, None if not known. `whole`: what `all` stands for, if not all of them.
    """
    if is_unknown(value):
        return None
    if isinstance(value, Scalar):
        return _expression(notes, value, subject, size, whole)
    items = value.items if isinstance(value, Sequence) else ()
    if not items or not all(isinstance(item, Scalar) and not is_unknown(item) for item in items):
        notes.wrong_type(subject, "node_ranks", value, "a rank expression such as `0-3`", "write `0-3` or `0,2`")
        return None
    found = [_expression(notes, item, subject, size, whole) for item in items if isinstance(item, Scalar)]
    ranges = [each for ranks in found if ranks is not None for each in ranks.ranges]
    if None in found:
        return None
    text = write_ranks(merge(ranges))
    message = f"`node_ranks` of `{subject}` is a YAML list: RLinf's documentation allows it, its parser refuses it"
    notes.warn("PW105", subject, message, value, "a list", f"write `{text}`", Edit(value.span, text))
    return Ranks(merge(ranges))


def _expression(notes: Notes, scalar: Scalar, subject: str, size: int | None, whole: Ranks | None) -> Ranks | None:
    text = notes.text(scalar, subject)
    if text.text.strip().lower() == "all" and (whole is not None or size is None):
        return whole
    try:
        return parse_ranks(text.text, size, "node rank")
    except RankError as problem:
        edit = None
        if problem.replacement is not None and text.shift is not None:
            edit = Edit(text.part(problem.start, problem.end), problem.replacement)
        help = f"write `{problem.replacement}`" if problem.replacement else "write ranks such as `0-3` or `0,2`"
        span = text.part(problem.start, problem.end)
        notes.error(CODES_BY_REASON[problem.reason], subject, f"`node_ranks` of `{subject}`: {problem}", span, problem.label, help, edit)
        return None
