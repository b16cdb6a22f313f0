"""Fetching against a real server that misbehaves in every way it can."""

import resource
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from fresh_assets.web.fetch import FetchError, Limits, Web, place_of
from fresh_assets_tests.web_server import Got, Page, gzip_bomb, html_page, json_page, web_server

QUICK = Limits(tries=3, timeout=2, backoff=0.01)
OK = json_page({"fine": True})


def fetch(*pages: Page, limits: Limits = QUICK) -> tuple[bytes | FetchError, int]:
    """What a fetch brings when the server sends `pages` in turn, and how many requests it took."""
    with web_server(lambda _, number: pages[min(number, len(pages) - 1)]) as server:
        try:
            found: bytes | FetchError = (
                Web(limits).get(f"{server.url}/x", {"key": "sk-secret"}).content
            )
        except FetchError as error:
            found = error
        return found, len(server.requests)


@pytest.mark.parametrize("page", [Page(status=500), Page(status=401), Page(b"x" * 9, cut=1)])
def test_no_error_shows_a_query_or_has_one_that_does_behind_it(page: Page) -> None:
    error, _ = fetch(page)
    assert isinstance(error, FetchError)
    assert "sk-secret" not in repr(error)
    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize(
    "fault",
    [
        Page(status=500), Page(status=503), Page(status=429), Page(status=408),
        Page(b"x" * 1000, cut=10), Page(b"x" * 1000, cut=0),
        Page(b"not gzip", headers={"content-encoding": "gzip"}),
    ],
    ids=["500", "503", "429", "408", "cut", "no body", "bad gzip"],
)  # fmt: skip
def test_passing_faults_are_tried_again(fault: Page) -> None:
    assert fetch(fault, fault, OK) == (OK.body, 3)
    error, requests = fetch(fault)
    assert isinstance(error, FetchError)
    assert (error.kind, requests) == ("transient", 3)


@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        (Page(status=400), "refused", "HTTP 400"),
        (Page(status=401), "stopped", "HTTP 401: the key is wrong"),
        (html_page("Forbidden", status=403), "stopped", r"HTTP 403 \(Forbidden\): no access"),
        (Page(status=404), "stopped", "HTTP 404: not there"),
        (json_page({"error": "Your account has run out of searches."}, status=429), "stopped", "quota is used up"),
        (Page(status=302, headers={"location": "/x"}), "refused", "redirected without end"),
        (Page(status=302, headers={"location": "file:///etc/passwd"}), "unsafe", "no web address"),
        (Page(status=302, headers={"location": "http://[bad"}), "unsafe", "no web address"),
        (Page(status=302, headers={"location": f"http://{'x' * 70}.example/"}), "unsafe", "no web address"),
        (json_page({"message": "Not enough credits"}, status=400), "refused", r"HTTP 400 \(Not enough credits\)"),
    ],
)  # fmt: skip
def test_lasting_faults_are_not_tried_again(fault: Page, kind: str, told: str) -> None:
    error, requests = fetch(fault)
    assert isinstance(error, FetchError)
    assert error.kind == kind
    assert requests == (6 if "end" in told else 1)
    with pytest.raises(FetchError, match=told):
        raise error


def test_a_server_that_asks_to_wait_is_given_the_time() -> None:
    began = time.monotonic()
    assert fetch(Page(status=429, headers={"retry-after": "1"}), OK) == (OK.body, 2)
    assert time.monotonic() - began >= 1
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    assert fetch(Page(status=503, headers={"retry-after": at}), OK) == (OK.body, 2)
    error, requests = fetch(Page(status=429, headers={"retry-after": "7200"}))
    assert isinstance(error, FetchError)
    assert requests == 1


def test_a_bomb_is_left_unread() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error, requests = fetch(gzip_bomb(400_000_000), limits=Limits(max_bytes=1_000_000))
    assert isinstance(error, FetchError)
    assert (error.problem, requests) == ("the reply is too large", 1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_slow_replies_end() -> None:
    error, _ = fetch(Page(seconds=1), limits=Limits(tries=2, timeout=0.2, backoff=0.01))
    assert isinstance(error, FetchError)
    assert error.problem == "no reply in time"


def test_no_server() -> None:
    with web_server(lambda *_: OK) as server:
        address = server.url
    with pytest.raises(FetchError, match="no connection"):
        Web(QUICK).get(address)


def test_redirects_to_other_private_machines_are_refused_unless_allowed() -> None:
    with web_server(lambda *_: OK) as inner:
        away = Page(status=302, headers={"location": f"{inner.url}/admin"})
        with web_server(lambda *_: away) as outer:
            with pytest.raises(FetchError, match=r"private address 127\.0\.0\.1") as caught:
                Web(QUICK).get(outer.url)
            assert caught.value.kind == "unsafe"
            assert inner.requests == []
            allowing = Web(Limits(tries=1, allow_private=True))
            assert allowing.get(outer.url, headers={"x-api-key": "sk-1"}).content == OK.body
        assert "x-api-key" not in inner.requests[0].headers


def test_redirects_at_home_are_followed() -> None:
    def script(got: Got, _: int) -> Page:
        return OK if got.path == "/there" else Page(status=307, headers={"location": "/there"})

    with web_server(script) as server:
        assert Web(QUICK).get(f"{server.url}/here").content == OK.body


def test_pace_is_kept() -> None:
    with web_server(lambda *_: OK) as server:
        web = Web(Limits(requests_per_minute=600))
        for _ in range(4):
            web.get(server.url)
        arrived = [got.at for got in server.requests]
    assert arrived[-1] - arrived[0] >= 0.28


def test_a_complaint_is_tried_again_then_told() -> None:
    with web_server(lambda _, n: OK if n else html_page("Sorry")) as server:
        web = Web(QUICK)
        assert web.get(server.url, complaint=lambda f: "odd" if b"Sorry" in f.content else None)
    with (
        web_server(lambda *_: OK) as server,
        pytest.raises(FetchError, match="never good"),
    ):
        Web(QUICK).get(server.url, complaint=lambda _: "never good")


def test_places_hide_queries_and_passwords() -> None:
    assert place_of("https://u:p@host:1/path?api_key=x#y") == "https://host:1/path"


def test_a_limit_a_second_is_no_used_up_quota() -> None:
    limited = json_page(
        {"error": {"code": "RATE_LIMITED", "meta": {"quota_limit": 2000}}}, status=429
    )
    assert fetch(limited, OK) == (OK.body, 2)


def test_a_dripping_reply_ends_in_time() -> None:
    limits = Limits(tries=1, timeout=0.5)
    began = time.monotonic()
    error, _ = fetch(Page(b"x" * 400, drip=0.05), limits=limits)
    assert isinstance(error, FetchError)
    assert error.problem == "the reply came too slowly"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("url", ["localhost:1/x", "foo/bar", "ftp://x/y"])
def test_what_is_no_address_is_told_at_once(url: str) -> None:
    with pytest.raises(FetchError, match="not a web address") as caught:
        Web(QUICK).get(url)
    assert caught.value.kind == "stopped"
