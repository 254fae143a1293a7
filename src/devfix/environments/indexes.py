"""Package indexes that the user has configured for pip, for uv has a configuration of its own."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from devfix.process import run

_LINE = re.compile(r"(?:global|install|:env:)\.(index-url|extra-index-url|find-links|no-index)=(.*)")
_UV = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX")
_NAMED = re.compile(r"^[\w-]+=")
_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]+@")


def index_lines(environment: Mapping[str, str] | None = None) -> list[str]:
    """Return lines of a requirement file that name the user's indexes: those set for uv, or else those of pip.

    Without a password an address set for uv stays where it is. One with a password goes into a file that devfix alone
    can read, since variables and arguments are seen by others.
    """
    given = os.environ if environment is None else environment
    if any(given.get(name) for name in _UV):
        return list(_of_uv(given))
    return [] if given.get("UV_CONFIG_FILE") or any(map(Path.is_file, uv_files(given))) else list(_of_pip())


def uv_files(given: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files in which the user and the machine configure uv, whether they are there or not."""
    if given.get("UV_CONFIG_FILE"):
        yield Path(given["UV_CONFIG_FILE"])
    yield Path(given.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "uv" / "uv.toml"
    yield Path("/etc/uv/uv.toml")


def _of_uv(given: Mapping[str, str]) -> Iterator[str]:
    for name in _UV[:4]:
        option = "--index-url" if name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL") else "--extra-index-url"
        for address in given.get(name, "").split():
            if _PASSWORD.search(given[name]):
                yield f"{option} {_NAMED.sub('', address)}"


def _of_pip() -> Iterator[str]:
    if importlib.util.find_spec("pip") is None:
        return
    command = (sys.executable, "-I", "-m", "pip", "config", "list")
    done = run(command, Path("/"), {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}, 60)
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        if match := _LINE.fullmatch(line.strip()):
            found[match[1]] = str(_value(match[2]))  # those of the environment come last, and count
    for option, value in sorted(found.items()):
        if option == "no-index":
            if value.lower() in ("1", "true", "yes", "on"):
                yield "--no-index"
            continue
        yield from (f"--{option} {each}" for each in value.split())


def _value(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
