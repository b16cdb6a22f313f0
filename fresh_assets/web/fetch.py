"""One way to fetch: bounded in size and time, retried in a single layer, wary of redirects.

Neither errors nor logs show a query string or a header: they may hold a key.
"""

import email.utils
import ipaddress
import json
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from fresh_assets.errors import UserError

TRANSIENT = {408, 425, 429}
"""Statuses worth another try, beside 5xx."""
REDIRECTS = {301, 302, 303, 307, 308}
MAX_REDIRECTS = 5
NO_ADDRESS = "not a web address (http:// or https://)"
NO_TARGET = "redirected to no web address"
TOO_LARGE = "the reply is too large"
LONGEST_BACKOFF = 30.0
CHUNK = 1 << 16
LONGEST_MESSAGE = 200
SHORTEST_SECRET = 6
_QUOTA = re.compile(
    rb"run out of|out of credits|not enough credits|insufficient[_ ](?:quota|credits|balance)"
    rb"|quota (?:is |has been )?(?:exceeded|exhausted|used up)",
    re.IGNORECASE,
)
_TITLE = re.compile(rb"<title[^>]*>([^<]{1,200})", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """What a fetch may take. `patience`: longest wait (s) that a server may ask for.

    `allow_private`: whether a redirect may lead to another machine in a private network.
    """

    tries: int = 5
    timeout: float = 30.0
    max_bytes: int = 20_000_000
    patience: float = 120.0
    backoff: float = 0.5
    requests_per_minute: float | None = None
    allow_private: bool = False


@dataclass(frozen=True)
class Fetched:
    """A reply; `status` is 200 to 299, or 304 where the request was conditional."""

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes


class FetchError(UserError):
    """A fetch that brought nothing usable.

    `kind`: `transient` (worth trying later), `refused` (this request), `stopped` (a key, a quota or
    an address is wrong: no request to that place will do) or `unsafe`.
    """

    def __init__(self, place: str, problem: str, kind: str, wait: float = 0.0) -> None:
        super().__init__(f"{place}: {problem}")
        self.problem = problem
        self.kind = kind
        self.wait = wait


Complaint = Callable[[Fetched], str | None]
"""Says what is wrong with a reply that came with a good status; None if nothing is."""


@dataclass(frozen=True)
class _Call:
    method: str
    url: str
    params: Mapping[str, Any]
    headers: Mapping[str, str]
    body: Any = None


class Web:
    """Fetches within its limits; may be used by many threads.

    `secret`: what is sent as a key; where a server repeats it, in results or errors, it is masked.
    """

    def __init__(self, limits: Limits | None = None, secret: str = "") -> None:
        self.limits = limits or Limits()
        self._secret = secret.encode() if len(secret) >= SHORTEST_SECRET else None
        self._local = threading.local()
        self._lock = threading.Lock()
        self._next = 0.0

    def get(
        self,
        url: str,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        complaint: Complaint | None = None,
    ) -> Fetched:
        """GET `url`. A reply that `complaint` rejects counts as transient.

        Raises FetchError once the tries are used up, or at once where another try cannot help.
        """
        return self._retried(_Call("GET", url, params or {}, headers or {}), complaint)

    def post(
        self, url: str, body: Any, headers: Mapping[str, str], complaint: Complaint | None = None
    ) -> Fetched:
        """POST `body` as JSON, with the same rules."""
        return self._retried(_Call("POST", url, {}, headers, body), complaint)

    def _retried(self, call: _Call, complaint: Complaint | None) -> Fetched:
        retrying = Retrying(
            retry=retry_if_exception(self._worth_another_try),
            stop=stop_after_attempt(self.limits.tries),
            wait=self._wait,
            reraise=True,
        )
        return retrying(self._once, call, complaint)

    def _worth_another_try(self, error: BaseException) -> bool:
        return (
            isinstance(error, FetchError)
            and error.kind == "transient"
            and error.wait <= self.limits.patience
        )

    def _wait(self, state: RetryCallState) -> float:
        """Full jitter over an exponential back-off, never sooner than the server asked for."""
        error = state.outcome and state.outcome.exception()
        asked = error.wait if isinstance(error, FetchError) else 0.0
        longest = min(LONGEST_BACKOFF, self.limits.backoff * 2.0**state.attempt_number)
        return asked + random.uniform(0, longest)  # noqa: S311

    def _once(self, call: _Call, complaint: Complaint | None) -> Fetched:
        self._pace()
        fetched = self._followed(call)
        if complaint and (problem := complaint(fetched)):
            raise FetchError(place_of(call.url), problem, "transient")
        return fetched

    def _followed(self, call: _Call) -> Fetched:
        url, params, headers = call.url, call.params, call.headers
        for _ in range(MAX_REDIRECTS + 1):
            reply = self._exchange(_Call(call.method, url, params, headers, call.body))
            if reply.status not in REDIRECTS:
                return _accepted(reply)
            target = self._checked(url, reply)
            if _origin(target) != _origin(url):
                headers = {}
            url, params = target, {}
        raise FetchError(place_of(call.url), "redirected without end", "refused")

    def _exchange(self, call: _Call) -> Fetched:
        """One request over the wire; raises outside the handler, so that no cause shows the URL."""
        try:
            with self._session().request(
                call.method, call.url, params=dict(call.params), headers=dict(call.headers),
                json=call.body, timeout=self.limits.timeout, stream=True, allow_redirects=False,
            ) as response:  # fmt: skip
                content, problem = self._read(response)
                reply = Fetched(response.url, response.status_code, response.headers, content)
        except requests.RequestException as error:
            problem = _describe(error)
        except ValueError:  # requests reads the address of a redirect, wherever it leads
            problem = NO_TARGET
        if problem:
            kinds = {NO_ADDRESS: "stopped", NO_TARGET: "unsafe", TOO_LARGE: "refused"}
            raise FetchError(place_of(call.url), problem, kinds.get(problem, "transient"))
        return reply

    def _read(self, response: requests.Response) -> tuple[bytes, str | None]:
        """The body, unpacked, and what is wrong with it; a bomb is left unread beyond the limit."""
        until = time.monotonic() + 2 * self.limits.timeout
        content = bytearray()
        try:
            while chunk := response.raw.read1(CHUNK, decode_content=True):
                content += chunk
                if len(content) > self.limits.max_bytes:
                    return b"", TOO_LARGE
                if time.monotonic() > until:
                    return b"", "the reply came too slowly"
        except urllib3.exceptions.HTTPError as error:
            return b"", _describe_read(error)
        return self._masked(bytes(content)), None

    def _masked(self, content: bytes) -> bytes:
        return content.replace(self._secret, b"***") if self._secret else content

    def _session(self) -> requests.Session:
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
            self._local.session.headers["user-agent"] = "fresh-assets (benchmark maintenance)"
        session: requests.Session = self._local.session
        return session

    def _pace(self) -> None:
        """Wait for the turn that the configured pace allows."""
        if not self.limits.requests_per_minute:
            return
        with self._lock:
            turn = max(time.monotonic(), self._next)
            self._next = turn + 60 / self.limits.requests_per_minute
        time.sleep(max(0.0, turn - time.monotonic()))

    def _checked(self, url: str, reply: Fetched) -> str:
        """Where a reply leads; FetchError if that is no address, or one that must not be asked."""
        try:
            target = urljoin(reply.url, reply.headers.get("location", ""))
            if _origin(target) != _origin(url):
                self._refuse_private(url, target)
        except ValueError:
            target = ""
        if not target:
            raise FetchError(place_of(url), NO_TARGET, "unsafe")
        return target

    def _refuse_private(self, url: str, target: str) -> None:
        parts = urlsplit(target)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise FetchError(place_of(url), NO_TARGET, "unsafe")
        if not self.limits.allow_private and _is_private(parts.hostname):
            raise FetchError(
                place_of(url),
                f"redirected to the private address {parts.hostname}; set "
                "FRESH_ASSETS_ALLOW_PRIVATE=true if that is meant",
                "unsafe",
            )


def place_of(url: str) -> str:
    """The address without its query string; a path stays as it is."""
    parts = urlsplit(url)
    if not parts.netloc:
        return url
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def page_title(content: bytes) -> str | None:
    """Title of an HTML page; None if it is none."""
    match = _TITLE.search(content[:10_000])
    return " ".join(match[1].decode("utf-8", "replace").split()) if match else None


def _accepted(reply: Fetched) -> Fetched:
    if reply.status < 300 or reply.status == 304:
        return reply
    problem = f"HTTP {reply.status}"
    if told := page_title(reply.content) or _message(reply.content):
        problem += f" ({told})"
    if reply.status in {401, 403, 404} or (reply.status == 429 and _QUOTA.search(reply.content)):
        kind = "stopped"
        problem += ": " + {401: "the key is wrong", 403: "no access", 404: "not there"}.get(
            reply.status, "the quota is used up"
        )
    elif reply.status in TRANSIENT or reply.status >= 500:
        kind = "transient"
    else:
        kind = "refused"
    raise FetchError(place_of(reply.url), problem, kind, _retry_after(reply.headers))


def _message(content: bytes) -> str | None:
    """What a JSON error says."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    found = (
        [body.get(name) for name in ("message", "error", "detail")]
        if isinstance(body, dict)
        else []
    )
    found += [f.get(n) for f in found if isinstance(f, dict) for n in ("message", "detail")]
    told = next((" ".join(text.split()) for text in found if isinstance(text, str)), "")
    return told[:LONGEST_MESSAGE] or None


def _retry_after(headers: Mapping[str, str]) -> float:
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(
            0.0, (email.utils.parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        )
    except (ValueError, TypeError):
        return 0.0


def _describe(error: requests.RequestException) -> str:
    """What went wrong without the URL, which requests writes into its messages."""
    kinds: dict[type[Exception], str] = {
        requests.exceptions.InvalidURL: NO_ADDRESS,
        requests.exceptions.InvalidSchema: NO_ADDRESS,
        requests.exceptions.MissingSchema: NO_ADDRESS,
        requests.Timeout: "no reply in time",
        requests.exceptions.SSLError: "the certificate is not trusted",
        requests.ConnectionError: "no connection",
    }
    named = (text for kind, text in kinds.items() if isinstance(error, kind))
    return next(named, type(error).__name__)


def _describe_read(error: urllib3.exceptions.HTTPError) -> str:
    if isinstance(error, urllib3.exceptions.DecodeError):
        return "the reply could not be unpacked"
    if isinstance(error, urllib3.exceptions.ReadTimeoutError):
        return "no reply in time"
    return "the reply was cut off"


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _is_private(host: str) -> bool:
    """Whether any address of the host is not on the public internet; unknown hosts are not."""
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return any(not ipaddress.ip_address(a.partition("%")[0]).is_global for a in found)
