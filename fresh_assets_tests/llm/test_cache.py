"""The call cache: keys that hold the whole request, entries that are only served when good."""

import multiprocessing
import os
import signal
import time
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from fresh_assets.llm.cache import CallCache
from fresh_assets.llm.request import Outcome, Parameters, Request, Usage

REQUEST = Request("http://e/v1", "m", (("system", "s"), ("user", "u")))
TEXT = st.text(max_size=20)
PARAMETERS = st.builds(
    Parameters,
    temperature=st.none() | st.floats(0, 2),
    max_tokens=st.none() | st.integers(1, 5000),
    limit_name=st.sampled_from(["max_tokens", "max_completion_tokens"]),
    seed=st.none() | st.integers(0, 99),
    response_format=st.none() | st.just('{"type": "json_object"}'),
    extra=st.none() | st.just('{"grammar": "x"}'),
)
REQUESTS = st.builds(
    Request,
    endpoint=TEXT,
    model=TEXT,
    messages=st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple),
    parameters=PARAMETERS,
    repeat=st.integers(0, 5),
)


@given(REQUESTS, REQUESTS)
def test_keys_are_equal_exactly_when_the_requests_are(first: Request, second: Request) -> None:
    assert (first.key == second.key) == (first == second)


@pytest.mark.parametrize("name", [f.name for f in fields(Request)])
@given(request=REQUESTS, other=REQUESTS)
def test_changing_any_field_changes_the_key(name: str, request: Request, other: Request) -> None:
    value: Any = getattr(other, name)
    changed = replace(request, **{name: value})
    assert (changed.key == request.key) == (value == getattr(request, name))


@given(REQUESTS, PARAMETERS)
def test_changing_any_parameter_changes_the_key(request: Request, other: Parameters) -> None:
    for name in (f.name for f in fields(Parameters)):
        value: Any = getattr(other, name)
        changed = replace(request, parameters=replace(request.parameters, **{name: value}))
        assert (changed.key == request.key) == (value == getattr(request.parameters, name))


@given(st.text(), st.text())
def test_any_text_survives(text: str, problem: str) -> None:
    cache = CallCache(":memory:")
    outcome = Outcome(
        REQUEST, "ok", text, problem, usage=Usage(1, 2, 3), citations=("c",), cost=None
    )
    cache.put(outcome)
    assert cache.get(REQUEST) == replace(outcome, from_cache=True)


@pytest.mark.parametrize("state", ["error", "truncated", "empty", "unusable"])
def test_what_is_not_good_is_kept_but_never_served(state: str) -> None:
    cache = CallCache(":memory:")
    cache.put(Outcome(REQUEST, state, "text"))
    assert cache.get(REQUEST) is None
    assert cache.stats().states == {state: 1}


def test_a_broken_entry_is_a_miss(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c.sqlite")
    cache.put(Outcome(REQUEST, "ok", "text"))
    cache._db.execute("UPDATE calls SET reply = '{'")
    assert cache.get(REQUEST) is None
    cache.put(Outcome(REQUEST, "ok", "better"))
    assert cache.get(REQUEST)


def test_prune(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c.sqlite")
    cache.put(Outcome(REQUEST, "ok"))
    cache.put(Outcome(REQUEST, "error"))
    assert cache.prune(timedelta(days=1), only_unserved=False) == 0
    assert cache.prune(timedelta(days=-1), only_unserved=True) == 1
    assert cache.stats().states == {"ok": 1}


def put_for_ever(file: Path) -> None:
    cache = CallCache(file)
    for number in range(10**6):
        cache.put(Outcome(replace(REQUEST, repeat=number), "ok", str(number)))


def test_a_killed_writer_leaves_every_finished_call(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    kept = 0
    for _ in range(10):
        process = multiprocessing.get_context("forkserver").Process(
            target=put_for_ever, args=(file,)
        )
        process.start()
        cache = CallCache(file)
        while cache.stats().states.get("ok", 0) <= kept:
            time.sleep(0.01)
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        kept = cache.stats().states.get("ok", 0)
        assert all(
            (o := cache.get(replace(REQUEST, repeat=n))) and o.text == str(n) for n in range(kept)
        )
        cache.close()
    assert kept >= 10
