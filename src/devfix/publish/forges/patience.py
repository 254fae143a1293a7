"""Decide how long to wait before a request is sent again, after a rate limit or an error of a server or network."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from devfix.errors import UserError

ATTEMPTS = 5  # of one request
LONGEST = 20 * 60  # seconds of one wait; for a longer one, the next run is better
FIRST = 2.0  # seconds, doubled each time


@dataclass(frozen=True)
class Patience:
    """Waits on behalf of the client of one forge; `notify` is called before each wait."""

    forge: str
    notify: Callable[[str], None]

    def wait(self, attempt: int, status: int | None, headers: Mapping[str, str]) -> bool:
        """Wait after a failed attempt (the first is 1), and return whether to send the request again.

        `status` is None if there was no response. Raises UserError if a rate limit lasts too long.
        """
        if not (status is None or status == 429 or status >= 500):
            return False
        seconds = max(FIRST * 2 ** (attempt - 1), _asked_for(headers) if status == 429 else 0.0)
        if status == 429 and (attempt >= ATTEMPTS or seconds > LONGEST):
            later = f"in {seconds / 60:.0f} minutes" if seconds >= 60 else "later"
            raise UserError(f"{self.forge}'s rate limit is reached; run again {later} to continue")
        if attempt >= ATTEMPTS:
            return False
        if status == 429:
            self.notify(f"{self.forge}'s rate limit is reached: waiting {seconds:.0f} s")
        else:
            self.notify(f"{self.forge} is not responding: waiting {seconds:.0f} s")
        time.sleep(seconds)
        return True


def _asked_for(headers: Mapping[str, str]) -> float:
    """Return the seconds that a response with status 429 asks to wait; 0 if it names none."""
    asked = headers.get("Retry-After", "")
    if asked.isdecimal():
        return float(asked)
    reset = headers.get("RateLimit-Reset", "")
    return max(float(reset) - time.time(), 0.0) if reset.isdecimal() else 0.0
