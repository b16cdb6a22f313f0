"""What is asked of a model, and what came of it."""

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property

KEY_SCHEMA = 1
"""Raised when the meaning of a key changes; older cache entries are then never served."""
GROWTH = 4
"""An output cut off by its budget is asked for once more with so many times the budget."""


@dataclass(frozen=True)
class Parameters:
    """Sampling parameters; None leaves one out of the request.

    `limit_name`: reasoning models take `max_completion_tokens`. `response_format` and `extra` are
    JSON text, so that a request can be hashed and compared.
    """

    temperature: float | None = 0.0
    max_tokens: int | None = 256
    limit_name: str = "max_tokens"
    seed: int | None = None
    response_format: str | None = None
    extra: str | None = None


@dataclass(frozen=True)
class Request:
    """One chat completion. `repeat` tells apart repeated samples of the same prompt."""

    endpoint: str
    model: str
    messages: tuple[tuple[str, str], ...]
    parameters: Parameters = field(default_factory=Parameters)
    repeat: int = 0

    @cached_property
    def text(self) -> str:
        """Readable JSON of the whole request; the cache keeps it beside the reply."""
        return json.dumps(
            {
                "schema": KEY_SCHEMA,
                "endpoint": self.endpoint,
                "model": self.model,
                "parameters": self.parameters.__dict__,
                "repeat": self.repeat,
                "messages": self.messages,
            },
            ensure_ascii=False,
        )

    @cached_property
    def key(self) -> str:
        """Hash of everything that can change the reply."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @classmethod
    def from_text(cls, text: str) -> "Request":
        """The request that `text` describes."""
        read = json.loads(text)
        return cls(
            read["endpoint"],
            read["model"],
            tuple((role, content) for role, content in read["messages"]),
            Parameters(**read["parameters"]),
            read["repeat"],
        )

    def with_larger_budget(self) -> "Request":
        """The same request with a larger output budget."""
        most = (self.parameters.max_tokens or 0) * GROWTH or None
        return replace(self, parameters=replace(self.parameters, max_tokens=most))


@dataclass(frozen=True)
class Usage:
    """Tokens of a call; `cached` are input tokens the provider had cached, part of `input`."""

    input: int = 0
    cached: int = 0
    output: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input, self.cached + other.cached, self.output + other.output
        )


@dataclass(frozen=True)
class Outcome:
    """What came of a request.

    `state`: `ok`; `truncated` (cut by the output budget), `empty`, `unusable` (the caller could not
    use the text), `error` (with `problem`), `deferred` (not asked: budget, or too long a wait).
    `model`: as the server reported it. `cost`: US dollars, None if the price is unknown.
    """

    request: Request
    state: str
    text: str = ""
    problem: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    seconds: float = 0.0
    tries: int = 0
    citations: tuple[str, ...] = ()
    from_cache: bool = False
