"""Git over a network: hidden tokens, timeouts, and retries."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

from devfix.errors import UserError
from devfix.workspace.git.command import GitError

Result = TypeVar("Result")

WAITS = (1.0, 5.0, 20.0)  # seconds between attempts
_PASSING = re.compile(
    r"returned error: (?:429|5\d\d)|HTTP (?:429|5\d\d)|Could not resolve host|Connection (?:reset|refused|timed out)|"
    r"early EOF|unexpected disconnect|the remote end hung up|Operation too slow|TLS|GnuTLS|Failed to connect"
)
_ABSENT = re.compile(r"repository '[^']*' not found|does not appear to be a git repository")
_REFUSED = re.compile(
    r"returned error: 40[13]|HTTP 40[13]|Authentication failed|could not read Username|Permission denied"
)


class UnreachableError(GitError, UserError):
    """There is no repository at an address, or no way to it."""

    def __init__(self, error: GitError, address: str) -> None:
        """Report it in one line."""
        fatal = [line.partition("fatal: ")[2] for line in str(error).splitlines() if "fatal: " in line]
        self.line = fatal[0] if fatal else error.line
        self.args = (f"{address}: not reached ({self.line}); check the address and the network",)


def settings(address: str, token: str | None) -> dict[str, str]:
    """Return the environment in which git may reach `address`; the token is sent to that address only.

    Raises UserError if the token would be sent unencrypted, or is part of the address.
    """
    parts = urlsplit(address)
    kind = parts.scheme if "://" in address else ("ssh" if re.match(r"[\w.-]+@?[\w.-]*:", address) else "file")
    if kind not in ("https", "http", "ssh", "file"):
        raise UserError(f"{kind}: not a way to a repository that is taken; give an address with https or ssh")
    if parts.password:
        raise UserError("the address holds a password; take it out and put the token into the environment")
    if kind == "http" and token and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise UserError(f"{address}: over http the token could be read on the way; use https")
    config = [
        ("credential.helper", ""),  # the token or nothing: no credential helper is asked or informed
        ("http.followRedirects", "false"),
        ("http.lowSpeedLimit", "1000"),
        ("http.lowSpeedTime", "60"),
    ]
    if token and kind in ("https", "http"):
        words = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        # A header for this address, in the environment: other users can read arguments.
        config.append((f"http.{address}.extraHeader", f"Authorization: Basic {words}"))
    numbered = {
        f"GIT_CONFIG_{what}_{number}": text
        for number, pair in enumerate(config)
        for what, text in zip(("KEY", "VALUE"), pair, strict=True)
    }
    return {"GIT_ALLOW_PROTOCOL": kind, "GIT_CONFIG_COUNT": str(len(config)), **numbered}


def patiently(call: Callable[[], Result], address: str, advice: str) -> Result:
    """Call git, with retries if the server or the network fails.

    Raises GitError, which is a UserError too if there is no way to the address or nothing there, or UserError with the
    advice if access is denied.
    """
    for wait in (*WAITS, None):
        try:
            return call()
        except GitError as error:
            if _REFUSED.search(str(error)):
                raise UserError(f"{address}: refused ({error.line}); {advice}") from error
            is_passing = _PASSING.search(str(error)) is not None
            if _ABSENT.search(str(error)) or (is_passing and wait is None):
                raise UnreachableError(error, address) from error
            if wait is None or not is_passing:
                raise
            time.sleep(wait)
    raise AssertionError("unreachable")
