"""The key `seconds` of a component: how long an iteration of it takes, where that was measured."""

from __future__ import annotations

from ...machines.accelerators import NUMBERS
from ...parallel import DEGREES, Parallel
from ...planning.measured import Measured
from ...text.form import MAX_TEXT, Form, Schema, form_of, key, list_of
from ...text.values import NAME_PATTERN, Count, Name, Word, whole_schema
from .duration import NUMBER_OF_SECONDS, WRITTEN, Duration
from .short_form import rows_of

MAX_MEASURED = 4096
_DEGREE = "a whole number such as `2`"


class MeasuredForm(Form):
    """One measurement: on so many accelerators an iteration took so many seconds, with nothing else on them."""

    seconds = key(Duration, description=WRITTEN)
    accelerators = key(
        Count, default=None, title="on how many; as many as the component asks for", description="a whole number such as `8`"
    )
    phase = key(Word, default="", title="the phase whose work it was; all that the component does", description="a name such as `train`")
    accelerator = key(Name, default=None, title="the model of the accelerators; any", description="a name such as `H100`")
    tp = key(Count, default=None, title="the tensor parallel size that it ran with; any", description=_DEGREE)
    pp = key(Count, default=None, title="the pipeline parallel size that it ran with; any", description=_DEGREE)
    cp = key(Count, default=None, title="the context parallel size that it ran with; any", description=_DEGREE)
    ep = key(Count, default=None, title="the expert parallel size that it ran with; any", description=_DEGREE)
    dp = key(Count, default=None, title="data parallel ranks inside one replica that it ran with; any", description=_DEGREE)

    def measured(self, amount: int) -> Measured:
        """What it says; `amount` is how many accelerators the component asks for."""
        named = {name: degree for name in DEGREES if (degree := getattr(self, name))}
        parallel = Parallel(**named) if named else None
        model, its = self.accelerator or "", tuple(named) or DEGREES
        return Measured(self.accelerators or amount, self.seconds, self.phase, parallel, model, named=its)


_BY_COUNT: Schema = {
    "type": "object", "minProperties": 1, "maxProperties": MAX_MEASURED, "additionalProperties": False,
    "patternProperties": {"^0{0,8}[1-9][0-9]{0,8}$": NUMBER_OF_SECONDS},
}  # fmt: skip
_NUMBERED = f"^({'|'.join(NUMBERS)})$"
_NO_COUNT = f"[^-+.0-9]|{_NUMBERED}"
_BY_MODEL: Schema = {
    "type": "object", "minProperties": 1, "maxProperties": MAX_MEASURED, "additionalProperties": {"anyOf": [NUMBER_OF_SECONDS, _BY_COUNT]},
    "patternProperties": {_NUMBERED: _BY_COUNT}, "propertyNames": {"allOf": [{"pattern": NAME_PATTERN}, {"pattern": _NO_COUNT}]},
}  # fmt: skip
_BY_PHASE: Schema = {
    "type": "object", "minProperties": 1, "maxProperties": MAX_MEASURED, "propertyNames": {"maxLength": MAX_TEXT, "pattern": _NO_COUNT},
    "patternProperties": {_NUMBERED: _BY_COUNT}, "additionalProperties": {"anyOf": [NUMBER_OF_SECONDS, _BY_COUNT, _BY_MODEL]},
}  # fmt: skip
_ROW: Schema = {
    "type": "object", "required": ["seconds"], "additionalProperties": False,
    "properties": {
        "seconds": NUMBER_OF_SECONDS, "phase": {"type": "string", "maxLength": MAX_TEXT}, "accelerator": {"type": "string", "pattern": NAME_PATTERN},
        **{key: whole_schema(1) for key in ("accelerators", "tp", "pp", "cp", "ep", "dp")},
    },
}  # fmt: skip
Seconds = list_of(
    form_of(MeasuredForm), 1, MAX_MEASURED, rows_of,
    schema={"anyOf": [NUMBER_OF_SECONDS, _BY_COUNT, _BY_PHASE, {"type": "array", "minItems": 1, "maxItems": MAX_MEASURED, "items": _ROW}]},
)  # fmt: skip
"""Measurements: a number of seconds, `{8: 120, 16: 66}`, `{generate: {8: 95}, train: {8: 60}}`, `{H100: {8: 60}, A100: {8: 90}}` or a list of rows in full."""
