"""What the adapters of engines with processes of their own have in common."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ..failure import failed
from .engine import Message
from .shape import Shape


def refuse_shape(engine: str, settings: Mapping[str, Any], shape: Shape, nodes: int) -> None:
    """Raises LaunchFailed (PW741) for more than tensor parallelism on one node, which alone these adapters pass on, and without a model.

    An engine starts its processes below the server of the first node, which sees that node's accelerators and no others.
    Source: verl refuses pipeline parallelism for both engines as well (verl, workers/config/rollout.py).
    """
    if shape.pipeline > 1 or shape.data > 1:
        message = f"the engine `{engine}` is served with tensor parallelism alone, not with dp {shape.data} and pp {shape.pipeline}"
        raise failed("PW741", engine, message, "start more replicas instead of data parallelism, or raise tp", shape.data, shape.pipeline)
    if nodes > 1:
        size, each = shape.world_size, shape.world_size // nodes
        message = (
            f"the engine `{engine}` is served on one node: tp {size} over {nodes} nodes of {each} would see {each} of {size} accelerators"
        )
        help = f"set tp to {each}: {nodes} replicas of {each} take the same {size} accelerators, each on a node of its own"
        raise failed("PW741", engine, message, help, size, nodes, each)
    if not settings.get("path"):
        raise failed("PW741", engine, f"the engine `{engine}` needs a model", "give `path`, a name or a directory of a model")


class HuggingFaceTokenizer:
    """A tokenizer of the library `transformers`, which both engines use."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.size: int = len(tokenizer)
        self.end: int | None = tokenizer.eos_token_id

    def encode(self, text: str) -> list[int]:
        """See Tokenizer."""
        return list(self._tokenizer.encode(text))

    def decode(self, tokens: Sequence[int]) -> str:
        """See Tokenizer."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def template(self, messages: Sequence[Message]) -> list[int]:
        """The prompt of a conversation, by the template of the model."""
        return list(self._tokenizer.apply_chat_template([dict(message) for message in messages], add_generation_prompt=True))
