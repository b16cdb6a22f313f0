"""How fast an endpoint may be asked: slots that adapt, and a pace where one is configured."""

import asyncio
import time
from collections import deque

START = 32
"""Slots to begin with; they double while calls succeed, until the first 429."""
CUT = 0.7
BUSY = 0.8
"""Slots grow only while so large a share of them is in use."""


class Limiter:
    """Slots for calls in flight. Grows while calls succeed, is cut once a burst of 429s."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(min(START, most))
        self.active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._clean = 0
        self._was_cut_at = 0.0
        self._doubling = True

    async def __aenter__(self) -> float:
        """Take a slot; returns the time, to be given to `rate_limited`."""
        if self.active < int(self.limit) and not self._waiting:
            self.active += 1
        else:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    await self.__aexit__()
                raise
        return time.monotonic()

    async def __aexit__(self, *_: object) -> None:
        """Give the slot back."""
        self.active -= 1
        while self._waiting and self.active < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.cancelled():
                self.active += 1
                turn.set_result(None)

    def succeeded(self) -> None:
        """Count a good call; after as many as there are slots, grow."""
        if self.active < BUSY * int(self.limit):
            return
        self._clean += 1
        if self._clean >= self.limit and self.limit < self.most:
            step = self.limit if self._doubling else max(1.0, 0.05 * self.limit)
            self.limit = min(self.most, self.limit + step)
            self._clean = 0

    def rate_limited(self, began: float) -> None:
        """Cut the slots, unless the call began before the last cut: that is the same burst."""
        if began <= self._was_cut_at:
            return
        self._was_cut_at = time.monotonic()
        self._doubling = False
        self._clean = 0
        self.limit = max(1.0, self.limit * CUT)


class Pace:
    """At most so many units a minute, evenly; None is no limit."""

    def __init__(self, per_minute: float | None) -> None:
        self._seconds = 60 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def wait(self, units: float = 1) -> None:
        """Wait until `units` more may be used."""
        if not self._seconds:
            return
        now = time.monotonic()
        turn = max(now, self._next)
        self._next = turn + units * self._seconds
        if turn > now:
            await asyncio.sleep(turn - now)
