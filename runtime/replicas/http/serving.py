"""Served engine under a name; it may be asleep or have failed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Sequence

from ....models.findings.wording import with_noun
from ...engines.engine import Engine, Sampling
from ..limits import Limits
from .bodies import INVALID, NOT_FOUND, SERVER, RequestRefused
from .choices import WantedChoices
from .requests import ChatRequest, CompletionRequest, GenerationRequest


@dataclass
class Serving:
    """Engine and its state. `failure`: description of lost workers, "" without any."""

    name: str
    engine: Engine
    api_key: str | None = None
    limits: Limits = field(default_factory=Limits)
    failure: str = ""
    asleep: bool = False
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def trouble(self) -> str:
        """Reason why no answer is possible; "" if there is none."""
        return self.failure or self.engine.failure

    def check(self, model: str) -> None:
        """Check that this model can answer now. Raises Refused otherwise."""
        if model != self.name:
            raise RequestRefused(404, f"the model `{model}` does not exist; this is `{self.name}`", NOT_FOUND, "model", "model_not_found")
        if self.trouble:
            raise RequestRefused(503, self.trouble, SERVER, None, "replica_failed")
        if self.asleep:
            raise RequestRefused(503, "the replica is asleep", SERVER, None, "asleep")

    def wanted_of_chat(self, request: ChatRequest) -> list[WantedChoices]:
        """Return the answers that a conversation requests. Raises Refused."""
        self.check(request.model)
        prompt = self.engine.chat([{"role": turn.role, "content": turn.words} for turn in request.messages])
        return self._wanted(request, [prompt], request.most, "messages")

    def wanted_of_completion(self, request: CompletionRequest) -> list[WantedChoices]:
        """Return the answers that prompts request: `n` per prompt, prompt by prompt.

        Raises Refused.
        """
        self.check(request.model)
        prompts = [self.engine.tokenizer.encode(prompt) if isinstance(prompt, str) else prompt for prompt in request.prompts]
        size = self.engine.tokenizer.size
        if any(token >= size for prompt in prompts for token in prompt):
            raise RequestRefused(400, f"`prompt`: there are {size} tokens, numbered from 0", INVALID, "prompt", "invalid_value")
        return self._wanted(request, prompts, request.max_tokens, "prompt")

    def _wanted(self, request: GenerationRequest, prompts: Sequence[Sequence[int]], most: int | None, param: str) -> list[WantedChoices]:
        if len(prompts) * request.n > self.limits.max_choices:
            message = (
                f"`n`: {with_noun(request.n, 'answer')} to {with_noun(len(prompts), 'prompt')} are more than {self.limits.max_choices}"
            )
            raise RequestRefused(400, message, INVALID, "n", "invalid_value")
        wanted = []
        for prompt in prompts:
            room = self._room(len(prompt), most, param)
            for index in range(request.n):
                sampling = Sampling(room, request.temperature, request.top_p, request.seed + index)
                wanted.append(WantedChoices(tuple(prompt), sampling, request.stops))
        return wanted

    def _room(self, prompt: int, most: int | None, param: str) -> int:
        """Return the maximal number of tokens of the answer."""
        longest = self.engine.longest
        if longest is None:
            return most or self.limits.default_max_tokens
        if most is not None and most > longest:
            raise RequestRefused(
                400, f"a context has at most {longest} tokens; `max_tokens` is {most}", INVALID, "max_tokens", "invalid_value"
            )
        room = longest - prompt
        if room < (most or 1):
            message = f"a context has at most {longest} tokens; {prompt} of the prompt and {most or 1} of the answer are more"
            raise RequestRefused(400, message, INVALID, param, "context_length_exceeded")
        return most or room
