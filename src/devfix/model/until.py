"""The conditions that end a program which does not end by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """A request that is sent to a server; `body` is empty for none."""

    method: str
    path: str
    body: str = ""

    def __str__(self) -> str:
        """Return the method and the path."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Until:
    """The end of the program: a line of output that contains `line`, an answer at `url`, answers to `requests`.

    The program is ended `seconds` after that; after so many seconds altogether if nothing else is given.
    """

    seconds: float = 0.0
    line: str = ""
    url: str = ""
    requests: tuple[Request, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the command line that say the same."""
        said = (("--until-line", self.line), ("--until", self.url), ("--for", f"{self.seconds:g}s"))
        options = [f"{name}={value}" for name, value in said if value not in ("", "0s")]
        return (*options, *(f"--request={request} {request.body}".rstrip() for request in self.requests))
