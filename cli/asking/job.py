"""Options that say a job by its model: those of `plan` and `init`."""

from __future__ import annotations

from functools import wraps
from typing import Any, Callable, TypeVar, cast

import click

from ...models.dialects.native.from_model import ALGORITHMS, JobRequest
from ...models.machines.shorthand import AsDeclared
from ...models.text.values import LARGEST
from .completed import models
from .options import read_machines

Verb = TypeVar("Verb", bound=Callable[..., int])
_COUNT = click.IntRange(1, LARGEST)


def job_options(verb: Verb) -> Verb:
    """Add the options of a job to a verb, as the argument `text`: the native file that they mean.

    On a terminal it asks for what is missing. Raises UnusableInput for an unknown model.
    """

    @wraps(verb)
    def with_text(*arguments: Any, cluster: str, **options: Any) -> int:
        from ...models.dialects.native.from_model import native_file

        request = {name: options.pop(name) for name in ("model", "algorithm", "prompts", "samples", "prompt", "response", "mean_response")}
        try:
            machines = read_machines(cluster)
        except ValueError as problem:
            raise click.BadParameter(str(problem), click.get_current_context(), param_hint="'--cluster'") from None
        if isinstance(machines, AsDeclared):
            raise click.BadParameter("it does not say how many nodes there are", click.get_current_context(), param_hint="'--cluster'")
        if request["mean_response"] > request["response"]:
            raise click.UsageError("--mean-response is larger than --response, the longest answer")
        return verb(*arguments, text=native_file(JobRequest(**request), machines), **options)

    result = cast(Verb, with_text)
    for option in (
        click.option("--mean-response", type=click.IntRange(0, LARGEST), default=0, help="Tokens of an answer on average; unless said, a quarter to all of --response."),
        click.option("--response", type=_COUNT, required=True, prompt="tokens of the longest answer", help="Tokens of the longest answer."),
        click.option("--prompt", type=_COUNT, default=512, show_default=True, help="Tokens of a prompt."),
        click.option("--samples", type=_COUNT, default=8, show_default=True, help="Answers to each prompt."),
        click.option("--prompts", type=_COUNT, required=True, prompt="prompts of an iteration", help="Prompts of an iteration."),
        click.option("--algorithm", type=click.Choice(list(ALGORITHMS)), default="grpo", show_default=True, help="Decides which components there are."),
        click.option("--cluster", metavar="SHORTHAND|FILE", required=True, prompt="cluster, such as 4x8xH100", help="The machines."),
        click.option("--model", metavar="ID", required=True, prompt="model, such as Qwen/Qwen2.5-7B-Instruct", shell_complete=models, help="Id of a known model."),
    ):  # fmt: skip
        result = option(result)
    return result
