"""The one way to call models: cached, limited, retried in a single layer, never over budget."""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Any, NoReturn, Self, TypeVar

import openai
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from fresh_assets.llm.cache import CallCache
from fresh_assets.llm.limits import Limiter, Pace
from fresh_assets.llm.prices import Budget, Prices, cost_of, estimated_usage
from fresh_assets.llm.request import Outcome, Request, Usage

TRANSIENT = {408, 409, 429}
"""Statuses worth another try, beside 5xx. All others say that the request itself is wrong."""
STOPPING = {401, 403, 404}
"""Statuses that no request to this model will get past."""
BAD_REQUESTS_TO_STOP = 5
LONGEST_BACKOFF = 30.0

Item = TypeVar("Item")
Result = TypeVar("Result")
Usable = Callable[[str], bool]
OnText = Callable[[str], None]
"""Gets pieces of a reply as they come."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint and what it allows.

    `patience`: a server that asks to wait for longer (seconds) gets no further try; the call is
    deferred. `api_key` never reaches a request, a cache entry or an error text. `name` is what
    requests call it, and so part of their key (default: the URL).
    """

    url: str
    api_key: str = "none"
    name: str = ""
    most_at_once: int = 32
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = 120.0
    tries: int = 6
    patience: float = 120.0


class _Line:
    """A connection to an endpoint with its limits."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.client = AsyncOpenAI(
            base_url=endpoint.url, api_key=endpoint.api_key, max_retries=0, timeout=endpoint.timeout
        )
        self.limiter = Limiter(endpoint.most_at_once)
        self.requests = Pace(endpoint.requests_per_minute)
        self.tokens = Pace(endpoint.tokens_per_minute)


class Pool:
    """Calls over any number of endpoints; use it as an async context manager.

    `reasks`: how often a reply that the caller cannot use is asked for again. With `on_text`
    replies are streamed to it; what is returned and kept is the same.
    """

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        cache: CallCache,
        prices: Prices | None = None,
        budget: Budget | None = None,
        reasks: int = 2,
        on_text: OnText | None = None,
    ) -> None:
        self._endpoints = {endpoint.name or endpoint.url: endpoint for endpoint in endpoints}
        self._lines: dict[str, _Line] = {}
        self._cache = cache
        self._prices = prices or {}
        self.budget = budget or Budget()
        self._reasks = reasks
        self._on_text = on_text
        self._in_flight: dict[str, asyncio.Task[Outcome]] = {}
        self._stopped: dict[tuple[str, str], str] = {}
        self._bad_requests: dict[tuple[str, str], int] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._in_flight.values():
            task.cancel()
        for line in self._lines.values():
            await line.client.close()

    async def complete(self, request: Request, usable: Usable | None = None) -> Outcome:
        """Answer a request from the cache or the endpoint; never raises for what a server does.

        A reply cut off by its budget is asked for once more with a larger one. A reply that
        `usable` rejects is asked for again, `reasks` times, then comes back as `unusable`.
        """
        cached = self._cache.get(request)
        if cached and (usable is None or usable(cached.text)):
            return cached
        task = self._in_flight.get(request.key)
        if task is None:
            task = asyncio.ensure_future(self._ask_until_usable(request, usable))
            self._in_flight[request.key] = task
            task.add_done_callback(lambda _: self._in_flight.pop(request.key, None))
        return await asyncio.shield(task)

    async def _ask_until_usable(self, request: Request, usable: Usable | None) -> Outcome:
        spent = Usage()
        cost: float | None = 0.0
        for _ in range(self._reasks + 1):
            outcome = await self._ask(request)
            if outcome.state in {"truncated", "empty"} and outcome.finish_reason == "length":
                self._cache.put(outcome)
                spent, cost = spent + outcome.usage, _sum(cost, outcome.cost)
                if self._on_text:
                    self._on_text("\n")
                larger = await self._ask(request.with_larger_budget())
                outcome = replace(larger, request=request)
            if outcome.state == "ok" and usable and not usable(outcome.text):
                outcome = replace(outcome, state="unusable")
            if outcome.tries:
                self._cache.put(outcome)
            spent, cost = spent + outcome.usage, _sum(cost, outcome.cost)
            if outcome.state != "unusable":
                break
        return replace(outcome, usage=spent, cost=cost)

    async def _ask(self, request: Request) -> Outcome:
        """One request over the wire, with retries; stops at a closed circuit or the budget."""
        place = (request.endpoint, request.model)
        if reason := self._stopped.get(place):
            return Outcome(request, "error", problem=f"stopped: {reason}")
        price = self._prices.get(request.model)
        estimate = cost_of(estimated_usage(request), price)
        if not self.budget.reserve(estimate):
            return Outcome(
                request, "deferred", problem=f"the budget of ${self.budget.limit} is used up"
            )
        outcome = Outcome(request, "error", problem="cancelled")
        try:
            outcome = await self._with_retries(request, place)
            outcome = replace(outcome, cost=cost_of(outcome.usage, price) if outcome.tries else 0.0)
        finally:
            self.budget.settle(estimate, outcome.cost)
        return outcome

    async def _with_retries(self, request: Request, place: tuple[str, str]) -> Outcome:
        line = self._line(request.endpoint)
        began = time.monotonic()
        tries = 1
        while True:
            try:
                reply = await self._send(line, request)
                break
            except openai.OpenAIError as error:
                hopeless = not _is_transient(error) or _too_long(error, line.endpoint)
                if hopeless or tries == line.endpoint.tries:
                    return self._failed(error, request, place, tries)
                await asyncio.sleep(_wait(error, tries))
                tries += 1
        self._bad_requests[place] = 0
        return read_reply(reply, request, time.monotonic() - began, tries)

    async def _send(self, line: _Line, request: Request) -> Any:
        await line.requests.wait()
        await line.tokens.wait(estimated_usage(request).input)
        async with line.limiter as began:
            try:
                reply = await self._exchange(line.client, arguments_of(request))
            except openai.RateLimitError:
                line.limiter.rate_limited(began)
                raise
            line.limiter.succeeded()
            return reply

    async def _exchange(self, client: AsyncOpenAI, arguments: dict[str, Any]) -> Any:
        if self._on_text is None:
            return await client.chat.completions.create(**arguments)
        options: Any = {"include_usage": True}
        chunks = await client.chat.completions.create(
            **arguments, stream=True, stream_options=options
        )
        return await _gathered(chunks, self._on_text)

    def _failed(
        self, error: openai.OpenAIError, request: Request, place: tuple[str, str], tries: int
    ) -> Outcome:
        problem = describe(error, self._endpoints[request.endpoint].api_key)
        if _is_transient(error) and _too_long(error, self._endpoints[request.endpoint]):
            return Outcome(request, "deferred", problem=problem, tries=tries)
        status = getattr(error, "status_code", None)
        if status == 400:
            self._bad_requests[place] = self._bad_requests.get(place, 0) + 1
        if (
            status in STOPPING
            or _is_quota(error)
            or self._bad_requests.get(place) == BAD_REQUESTS_TO_STOP
        ):
            self._stopped[place] = problem
        return Outcome(request, "error", problem=problem, tries=tries)

    def _line(self, name: str) -> _Line:
        if name not in self._lines:
            self._lines[name] = _Line(self._endpoints[name])
        return self._lines[name]


async def stream(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], at_once: int
) -> AsyncIterator[Result]:
    """Run `work` over `items`, `at_once` at a time, and yield results as they come.

    Items are taken only as they are needed, so memory does not grow with their number. The first
    exception of `work` ends the stream.
    """
    waiting = iter(items)
    results: asyncio.Queue[Callable[[], Result] | None] = asyncio.Queue(at_once)

    async def worker() -> None:
        try:
            for item in waiting:
                result = await work(item)
                await results.put(partial(_give, result))
        except Exception as error:
            await results.put(partial(_raise, error))
        await results.put(None)

    workers = [asyncio.create_task(worker()) for _ in range(at_once)]
    try:
        for _ in workers:
            while (take := await results.get()) is not None:
                yield take()
    finally:
        for task in workers:
            task.cancel()


def _give(result: Result) -> Result:
    return result


def _raise(error: Exception) -> NoReturn:
    raise error


async def _gathered(chunks: AsyncIterator[Any], on_text: OnText) -> ChatCompletion:
    """The reply that a stream adds up to; its pieces go to `on_text` as they come."""
    text, finish = "", None
    last: dict[str, Any] = {}
    async for chunk in chunks:
        told = {name: value for name, value in chunk.model_dump().items() if value is not None}
        last = {**last, **told}
        for choice in chunk.choices:
            piece = choice.delta.content or ""
            finish = choice.finish_reason or finish
            text += piece
            on_text(piece)
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "finish_reason": finish or "stop", "message": message}]
    body = {"id": "", "created": 0, "model": "", **last, "object": "chat.completion"}
    return ChatCompletion.model_validate({**body, "choices": choices})


def arguments_of(request: Request) -> dict[str, Any]:
    """The request in the form of the endpoint."""
    chosen = request.parameters
    arguments: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": role, "content": content} for role, content in request.messages],
        chosen.limit_name: chosen.max_tokens,
        "temperature": chosen.temperature,
        "seed": chosen.seed,
        "response_format": chosen.response_format and json.loads(chosen.response_format),
        "extra_body": chosen.extra and json.loads(chosen.extra),
    }
    return {name: value for name, value in arguments.items() if value is not None}


def read_reply(reply: Any, request: Request, seconds: float, tries: int) -> Outcome:
    """Outcome of a chat completion."""
    choice = reply.choices[0] if reply.choices else None
    text = (choice.message.content if choice else None) or ""
    finish = choice.finish_reason if choice else None
    state = "truncated" if finish == "length" else "ok"
    if not text.strip():
        state = "empty"
    return Outcome(
        request,
        state,
        text,
        problem=None if state == "ok" else f"finish reason {finish}",
        finish_reason=finish,
        model=reply.model,
        usage=_usage(reply.usage),
        seconds=seconds,
        tries=tries,
        citations=_citations(reply),
    )


def _usage(usage: Any) -> Usage:
    """Tokens of a reply; providers that count cached tokens apart from the input are evened out."""
    if usage is None:
        return Usage()
    details = getattr(usage, "prompt_tokens_details", None)
    cached = (getattr(details, "cached_tokens", None) or 0) if details else 0
    return Usage(max(usage.prompt_tokens or 0, cached), cached, usage.completion_tokens or 0)


def _citations(reply: Any) -> tuple[str, ...]:
    found = (getattr(reply, "model_extra", None) or {}).get("citations") or ()
    return tuple(str(item) for item in found if isinstance(item, str))


def _is_transient(error: BaseException) -> bool:
    if isinstance(error, openai.APIConnectionError):
        return True
    if not isinstance(error, openai.APIStatusError) or _is_quota(error):
        return False
    return error.status_code in TRANSIENT or error.status_code >= 500


def _is_quota(error: BaseException) -> bool:
    return "insufficient_quota" in {getattr(error, "code", None), getattr(error, "type", None)}


def _retry_after(error: BaseException) -> float:
    headers = error.response.headers if isinstance(error, openai.APIStatusError) else {}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
    return 0.0


def _too_long(error: BaseException, endpoint: Endpoint) -> bool:
    return _retry_after(error) > endpoint.patience


def _wait(error: BaseException, tries: int) -> float:
    """Full jitter over an exponential back-off, never sooner than the server asked for."""
    backoff = min(LONGEST_BACKOFF, 0.5 * 2.0**tries)
    asked = _retry_after(error)
    return asked + random.uniform(0, min(backoff, 1.0) if asked else backoff)  # noqa: S311


def describe(error: openai.OpenAIError, secret: str) -> str:
    """One line about an error, without the secret."""
    status = getattr(error, "status_code", None)
    body = getattr(error, "body", None)
    told = body.get("message") if isinstance(body, dict) else None
    text = " ".join(str(told or getattr(error, "message", error)).split())[:300]
    described = f"HTTP {status}: {text}" if status else f"{type(error).__name__}: {text}"
    return described.replace(secret, "***") if len(secret) > 6 else described


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second
