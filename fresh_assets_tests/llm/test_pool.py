"""Calls to a real server on loopback: retries, circuit, budget, cache, odd replies."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from fresh_assets.llm.cache import CallCache
from fresh_assets.llm.limits import Limiter
from fresh_assets.llm.pool import Endpoint, Pool, stream
from fresh_assets.llm.prices import Budget, Price, read_prices
from fresh_assets.llm.request import Outcome, Parameters, Request
from fresh_assets_tests.openai_server import Reply, Script, Server, openai_server

QUICK = {"retry-after-ms": "10"}
PRICE = Price(input=1, cached_input=0.5, output=2, date=date(2026, 1, 1), source="test")


def ask(server: Server, text: str = "hello", model: str = "m", **parameters: Any) -> Request:
    return Request(server.url, model, (("user", text),), Parameters(**parameters))


def run(
    server: Server,
    requests: list[Request],
    cache: CallCache | None = None,
    usable: Callable[[str], bool] | None = None,
    endpoint: dict[str, Any] | None = None,
    **pool: Any,
) -> list[Outcome]:
    async def go() -> list[Outcome]:
        line = Endpoint(server.url, "sk-very-secret-key", **(endpoint or {}))
        async with Pool([line], cache or CallCache(":memory:"), **pool) as calls:
            return await asyncio.gather(*(calls.complete(r, usable) for r in requests))

    return asyncio.run(go())


def script(*replies: Reply) -> Script:
    return lambda _, number: replies[min(number, len(replies) - 1)]


def test_a_good_reply_is_kept_and_served_again() -> None:
    cache = CallCache(":memory:")
    with openai_server(script(Reply("Paris", extra={"citations": ["https://a.b"]}))) as server:
        (first,) = run(server, [ask(server)], cache)
        (second,) = run(server, [ask(server)], cache)
    assert len(server.requests) == 1
    assert (first.state, first.text, first.model, first.citations) == (
        "ok",
        "Paris",
        "m-2026",
        ("https://a.b",),
    )
    assert second == replace(first, from_cache=True)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_transient_errors_are_tried_again(status: int) -> None:
    with openai_server(script(Reply(status=status, headers=QUICK), Reply("fine"))) as server:
        (outcome,) = run(server, [ask(server)])
    assert (outcome.state, outcome.text, outcome.tries) == ("ok", "fine", 2)


def test_tries_are_bounded() -> None:
    with openai_server(script(Reply(status=500, headers=QUICK))) as server:
        (outcome,) = run(server, [ask(server)], endpoint={"tries": 3})
    assert (outcome.state, outcome.tries, len(server.requests)) == ("error", 3, 3)
    assert outcome.problem == "HTTP 500: no"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=401),
        Reply(status=403),
        Reply(status=404),
        Reply(
            status=429,
            error={"message": "pay", "type": "insufficient_quota", "code": "insufficient_quota"},
        ),
    ],
    ids=["401", "403", "404", "quota"],
)
def test_permanent_errors_stop_one_system_and_not_the_others(reply: Reply) -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        return reply if body["model"] == "bad" else Reply("fine")

    with openai_server(answer) as server:

        async def go() -> list[Outcome]:
            async with Pool([Endpoint(server.url)], CallCache(":memory:")) as pool:
                bad = [await pool.complete(ask(server, str(i), "bad")) for i in range(5)]
                return [*bad, await pool.complete(ask(server))]

        *bad, good = asyncio.run(go())
    assert good.state == "ok"
    assert {o.state for o in bad} == {"error"}
    assert [o.tries for o in bad] == [1, 0, 0, 0, 0]
    assert "stopped: HTTP" in (bad[-1].problem or "")
    assert len(server.requests) == 2


def test_a_single_bad_request_stops_nothing() -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        return Reply(status=400) if "long" in body["messages"][0]["content"] else Reply("fine")

    with openai_server(answer) as server:
        long, short = run(server, [ask(server, "too long"), ask(server, "short")])
    assert (long.state, long.tries, short.state) == ("error", 1, "ok")


def test_a_wait_beyond_patience_is_deferred_not_guessed() -> None:
    with openai_server(script(Reply(status=429, headers={"retry-after": "3600"}))) as server:
        (outcome,) = run(server, [ask(server)])
    assert (outcome.state, outcome.tries) == ("deferred", 1)


def test_a_dead_endpoint_is_an_error() -> None:
    dead = Server("http://127.0.0.1:9/v1")
    (outcome,) = run(dead, [ask(dead)], endpoint={"tries": 2})
    assert outcome.state == "error"
    assert "APIConnectionError" in (outcome.problem or "")


def test_secrets_do_not_reach_an_error_text() -> None:
    leak = {"message": "bad key sk-very-secret-key", "type": "x", "code": None}
    with openai_server(script(Reply(status=401, error=leak))) as server:
        (outcome,) = run(server, [ask(server)])
    assert "sk-very-secret-key" not in (outcome.problem or "")
    assert "bad key ***" in (outcome.problem or "")


def test_a_cut_reply_is_asked_once_more_with_a_larger_budget_and_then_served() -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        if body["max_completion_tokens"] < 100:
            return Reply(None, finish_reason="length")
        return Reply("the whole of it")

    cache = CallCache(":memory:")
    with openai_server(answer) as server:
        request = ask(server, max_tokens=50, limit_name="max_completion_tokens", temperature=None)
        (outcome,) = run(server, [request], cache)
        (again,) = run(server, [request], cache)
    assert (outcome.state, outcome.text) == ("ok", "the whole of it")
    assert outcome.usage.output == 10
    assert again.from_cache
    assert [r["max_completion_tokens"] for r in server.requests] == [50, 200]
    assert "temperature" not in server.requests[0]
    assert cache.stats().states == {"empty": 1, "ok": 1}


def test_an_unusable_reply_is_asked_again_and_never_served() -> None:
    cache = CallCache(":memory:")
    with openai_server(script(Reply("maybe"), Reply("maybe"), Reply("yes"))) as server:
        (outcome,) = run(server, [ask(server)], cache, lambda text: text == "yes")
    assert (outcome.state, outcome.text, outcome.usage.output) == ("ok", "yes", 15)
    assert cache.stats().states == {"ok": 1, "unusable": 2}
    with openai_server(script(Reply("maybe"))) as server:
        (outcome,) = run(server, [ask(server)], cache, lambda text: text == "yes")
    assert (outcome.state, len(server.requests)) == ("unusable", 3)


def test_the_same_request_in_flight_is_sent_once() -> None:
    with openai_server(script(Reply("ok", seconds=0.2))) as server:
        outcomes = run(server, [ask(server)] * 5)
    assert len(server.requests) == 1
    assert {o.text for o in outcomes} == {"ok"}


def test_the_budget_counts_calls_in_flight() -> None:
    with openai_server(script(Reply("ok", seconds=0.1))) as server:
        estimate = 1e-6 * (int(5 / 3.5) + 8) + 2e-6 * 100
        budget = Budget(limit=3.5 * estimate)
        requests = [ask(server, f"call{i}", max_tokens=100) for i in range(10)]
        outcomes = run(server, requests, prices={"m": PRICE}, budget=budget)
    states = [o.state for o in outcomes]
    assert states.count("ok") == 3
    assert states.count("deferred") == 7
    assert budget.spent == pytest.approx(3 * (10e-6 + 2 * 5e-6))
    assert budget.reserved == pytest.approx(0)


def test_cost_counts_cached_tokens_and_is_unknown_without_a_price() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    with openai_server(script(Reply("ok", usage=usage))) as server:
        priced, unpriced = run(server, [ask(server), ask(server, model="n")], prices={"m": PRICE})
    assert priced.cost == pytest.approx((6 * 1 + 4 * 0.5 + 5 * 2) / 1e6)
    assert unpriced.cost is None


def test_too_many_at_once_is_cut_once_a_burst() -> None:
    active = [0, 0]

    def answer(_: dict[str, Any], number: int) -> Reply:
        active[0] += 1
        active[1] = max(active)
        over = active[0] > 4
        try:
            return Reply(status=429, headers=QUICK) if over else Reply("ok", seconds=0.02)
        finally:
            active[0] -= 1

    with openai_server(answer) as server:
        outcomes = run(server, [ask(server, str(i)) for i in range(60)], endpoint={"tries": 12})
    assert {o.state for o in outcomes} == {"ok"}


def test_limiter_grows_on_success_and_is_cut_once_for_calls_of_one_burst() -> None:
    async def go() -> tuple[float, float, float]:
        limiter = Limiter(64)
        starts = [await limiter.__aenter__() for _ in range(16)]
        for _ in range(16):
            limiter.succeeded()
        grown = limiter.limit
        for began in starts:
            limiter.rate_limited(began)
        cut = limiter.limit
        limiter.rate_limited(asyncio.get_running_loop().time() + 10)
        return grown, cut, limiter.limit

    grown, cut, again = asyncio.run(go())
    assert grown == 32
    assert cut == pytest.approx(32 * 0.7)
    assert again == pytest.approx(32 * 0.7 * 0.7)


def test_requests_a_minute_are_kept() -> None:
    with openai_server(script(Reply("ok"))) as server:
        loop_time = asyncio.new_event_loop().time
        began = loop_time()
        run(server, [ask(server, str(i)) for i in range(4)], endpoint={"requests_per_minute": 600})
        assert loop_time() - began >= 0.3


def test_stream_takes_items_only_as_they_are_needed() -> None:
    taken: list[int] = []

    def items() -> Any:
        for i in range(100):
            taken.append(i)
            yield i

    async def go() -> None:
        async def work(i: int) -> int:
            await asyncio.sleep(0)
            return i

        seen = []
        async for result in stream(items(), work, 5):
            seen.append(result)
            assert len(taken) <= len(seen) + 2 * 5
        assert sorted(seen) == list(range(100))

    asyncio.run(go())


def test_stream_ends_with_the_first_exception() -> None:
    async def go() -> None:
        async def work(i: int) -> int:
            if i == 3:
                raise ValueError("three")
            return i

        async for _ in stream(range(100), work, 4):
            pass

    with pytest.raises(ValueError, match="three"):
        asyncio.run(go())


def test_prices_file() -> None:
    text = '[m]\ninput = 1\ncached_input = 0.5\noutput = 2\ndate = 2026-01-01\nsource = "test"\n'
    assert read_prices(text) == {"m": PRICE}
    with pytest.raises(Exception, match="prices.toml"):
        read_prices("[m]\ninput = 'much'\n")
