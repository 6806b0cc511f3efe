"""Lengths of a job's samples, which the positions of its model must hold, as data.

model_cards/facts/lengths.json has a row per framework, releases and engine: `tokens` names the number (`limit`:
the longest sequence that the engine is started for; `sample`: prompt and response; `either`: the
limit, if written, else the sample), `proof` says what refuses more: the `framework`, in any case or
`unscaled` (only without RoPE scaling), or the `engine`, unless an environment variable allows it.
Without `proof` it is a warning. `unscaled` rows count positions without RoPE scaling; `without_limit`
rows are for jobs without a limit.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Mapping, Sequence

from ..configuration.settings import Amount, Settings, plain_value, whole_number
from ..model_cards import Length
from ..releases.release import Range
from ..text.tree import Scalar
from .checks import Facts, Number

ALLOWING = {"vllm": "VLLM_ALLOW_LONG_MAX_MODEL_LEN", "sglang": "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"}
"""Engine -> environment variable with which it takes any length."""


@cache
def _rows() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    data = json.loads((Path(__file__).parent.parent / "model_cards" / "facts" / "lengths.json").read_text(encoding="utf-8"))
    rows: Mapping[str, Sequence[Mapping[str, Any]]] = data["rows"]
    return rows


def _read_amount(settings: Settings, path: str) -> Amount | None:
    """Return a known whole number, without a note about an unknown one."""
    path = settings.resolve_key(path)
    default, value = settings.defaults.get(path), settings.at(path)
    usual = "" if default is None or default.value is None else default.value
    number, scalar = whole_number(plain_value(settings, path, usual)), value if isinstance(value, Scalar) else None
    return Amount(number, path, scalar, default.source if default and value is None else "") if number else None


def lengths_of(
    framework: str, facts: Facts, engine: object, limit_key: str, keys: Sequence[str] = (), mode: str = ""
) -> tuple[Length, ...]:
    """Return the lengths that an engine must take.

    Parameters
    ----------
    limit_key : path of the longest sequence that the engine is started for.
    keys : paths of prompt and response, or of their sum; the last one is the one to shorten.
    mode : mode of the engine, if the rows of the framework name modes.
    """
    limit, parts = facts.of(_read_amount(facts.settings, limit_key)), [_read_amount(facts.settings, key) for key in keys]
    known_parts = [part for part in parts if part is not None]
    total = sum(part.value for part in known_parts)
    note = f"{total} tokens: {' + '.join(map(facts.text, known_parts))}" if len(known_parts) > 1 else ""
    is_whole = bool(known_parts) and len(known_parts) == len(parts)
    sample = Number(total, f"the {total} tokens of a sample", known_parts[-1], note) if is_whole else None
    numbers, allowing = {"limit": limit, "sample": sample, "either": limit or sample}, ALLOWING.get(str(engine), "")
    is_allowed, choice, lengths = bool(allowing) and allowing in facts.notes.document.source.text, facts.notes.choice, list[Length]()
    for row in _rows()[framework]:
        number = numbers[row["tokens"]]
        applies = engine in row["engines"] and row.get("mode", mode) == mode and not (limit and row.get("without_limit"))
        releases = Range(row.get("since", ""), row.get("until", ""))
        if number is None or not applies or (choice is not None and not choice.has(releases)):
            continue
        proof, amount = row.get("proof", ""), number.amount
        when = row["when"] + (f", unless `{allowing}=1` is in its environment" if proof == "engine" else "")
        help_ = f"set {facts.spell(amount.name, 'VALUE')} or less" if amount else ""
        remainder, is_proved = 0 if number is limit or amount is None else total - amount.value, proof in ("framework", "unscaled")
        lengths.append(Length(
            number.value, number.text, help_, number.span, number.note, when, remainder, is_proved or (proof == "engine" and not is_allowed),
            proof == "unscaled", row.get("unscaled", False),
        ))  # fmt: skip
    return tuple(lengths)
