"""The options for programs that do not end by themselves, such as servers, and lengths of time as people type them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlsplit

import typer

from devfix.errors import UserError
from devfix.model import Request, Until

ForOption = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="TIME",
        help="End the program after this time (60s, 5m): it counts as clean if it was alive so long and got past the "
        "failing line. After --until-line or --until, the time is counted from there.",
    ),
]
UntilLineOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="End the program when it has printed a line with this text.")
]
UntilOption = Annotated[
    str | None, typer.Option(metavar="URL", help="End the program, a server, when it has answered at this address.")
]
RequestOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="'METHOD PATH [BODY]'",
        help="With --until: send this request once the server answers, and end it then; repeatable.",
    ),
]
StepsOption = Annotated[
    int | None,
    typer.Option(
        "--steps-after",
        metavar="N",
        help="End each run with a patch once the line that failed has run N times, and the rest of the program is "
        "not waited for: for programs that take long after the failure.",
    ),
]
_REQUEST = re.compile(r"([A-Z]+)\s+(/\S*)(?:\s+(.+))?", re.DOTALL)


def until_from(
    duration: str | None,
    line: str | None,
    url: str | None,
    requests: Sequence[str] | None,
    timeout: float,
    steps: int | None = None,
) -> Until | None:
    """Return what the options wait for; None if none of them is given. Raises UserError for wrong values."""
    if requests and url is None:
        raise UserError(f"--request {requests[0]}: needs --until URL, the address at which the server answers")
    if line is not None and url is not None:
        raise UserError("--until-line and --until: give one of them")
    if line is not None and not line.strip():
        raise UserError("--until-line is empty; give a part of a line that the program prints")
    if steps is not None and steps < 1:
        raise UserError(f"--steps-after {steps}: give at least 1")
    if duration is None and line is None and url is None and steps is None:
        return None
    length = seconds(duration, "--for") if duration is not None else 0.0
    if length >= timeout:
        raise UserError(f"--for {duration}: is not below the time limit for a run, {timeout:g} s; raise it: --timeout")
    address = _address(url) if url is not None else ""
    return Until(length, line or "", address, tuple(map(_request, requests or ())), steps or 0)


def _address(url: str) -> str:
    try:
        address = urlsplit(url)
        is_good = address.scheme == "http" and bool(address.hostname) and (address.port or 80) > 0
    except ValueError:
        is_good = False
    if not is_good:
        raise UserError(f"--until {url}: give an address like http://127.0.0.1:8000/")
    return url


def _request(text: str) -> Request:
    found = _REQUEST.fullmatch(text.strip())
    if found is None:
        raise UserError(
            f"--request {text}: give a method, a path and perhaps a body, like 'POST /predict {{\"x\": 1}}'"
        )
    return Request(found[1], found[2], found[3] or "")


_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds(text: str, option: str) -> float:
    """Return the seconds of "90", "90s", "10m", "1.5h"; UserError for anything else.

    >>> seconds("10m", "--budget"), seconds("90", "--budget")
    (600.0, 90.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|)", text.strip())
    if found is None or float(found[1]) == 0:
        raise UserError(f"{option} {text}: give a time above 0, for example 90s, 10m or 1h")
    return float(found[1]) * _UNITS[found[2]]
