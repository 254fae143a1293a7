"""Watch a program that does not end by itself, until it may be ended."""

from __future__ import annotations

import http.client
import threading
import time
from urllib.parse import urlsplit

from devfix.model.until import Request, Until

LOOK = 0.1  # seconds between two looks
_ANSWER = 10.0  # seconds for an answer to the first question, after which it is asked again


class EndWatch:
    """Says when a program may be ended (`is_due`), and in words why (`why`).

    `failed` has the requests that the server answered with an error of its own (5xx), or not at all.
    """

    def __init__(self, until: Until, deadline: float) -> None:
        """Begin to watch a program that has just started; the deadline is a time of `time.monotonic`."""
        self._until, self._deadline = until, deadline
        self._began = time.monotonic()
        self._reached: float | None = None if until.line or until.url else self._began
        self._tails: dict[int, bytes] = {}
        self._closed = threading.Event()
        self.failed: list[str] = []
        if until.url:
            threading.Thread(target=self._ask, daemon=True).start()

    def see(self, stream: int, data: bytes) -> None:
        """Look for the line in what the program printed."""
        wanted = self._until.line.encode()
        if not wanted or self._reached is not None:
            return
        text = self._tails.get(stream, b"") + data
        if wanted in text:
            self._reached = time.monotonic()
        self._tails[stream] = text[-len(wanted) :]

    @property
    def is_due(self) -> bool:
        """True if everything has happened that is waited for."""
        return self._reached is not None and time.monotonic() >= self._reached + self._until.seconds

    @property
    def why(self) -> str:
        """A description of what the program did before it was ended."""
        until = self._until
        if until.requests:
            answered = len(until.requests) - len(self.failed)
            did = f"alive, and answered {answered} of {len(until.requests)} requests"
        elif until.url:
            did = f"alive, and answered at {until.url}"
        elif until.line:
            did = f"alive, and printed {until.line!r}"
        else:
            return f"alive for {until.seconds:g} s"
        return did + (f", alive for {until.seconds:g} s after that" if until.seconds else "")

    def close(self) -> None:
        """Stop asking: the program has ended."""
        self._closed.set()

    def _ask(self) -> None:
        """Wait until the server answers, then send the requests, one after the other."""
        path = urlsplit(self._until.url)
        first = Request("GET", (path.path or "/") + (f"?{path.query}" if path.query else ""))
        while self._answer(first, _ANSWER) is None:
            if self._closed.wait(LOOK) or time.monotonic() > self._deadline:
                return
        for request in self._until.requests:
            status = self._answer(request, max(1.0, self._deadline - time.monotonic()))
            if status is None or status >= 500:
                self.failed.append(f"{request}: {status or 'no answer'}")
        self._reached = time.monotonic()

    def _answer(self, request: Request, seconds: float) -> int | None:
        """Return the status of the answer to a request; None if there is none."""
        return answer(self._until.url, request, seconds)


def answer(url: str, request: Request, seconds: float) -> int | None:
    """Send a request to the server at this address and return the status of its answer; None if there is none."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port or 80, timeout=seconds)
    headers = {}
    if request.body:
        is_json = request.body.lstrip()[:1] in ("{", "[", '"')
        headers["Content-Type"] = "application/json" if is_json else "text/plain; charset=utf-8"
    try:
        connection.request(request.method, request.path, request.body.encode() or None, headers)
        answered = connection.getresponse()
        answered.read()
        return answered.status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
