"""[tool.devfix] of pyproject.toml, or devfix.toml, as one frozen record; what is not understood is refused."""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from devfix.errors import UserError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WORLDS = ("auto", "real", "simulated", "cpu")


@dataclass(frozen=True)
class Config:
    """What a repository says about its repairs; None and () where it says nothing.

    `test` says whether fixes get regression tests; `timeout` and `others` count seconds, `memory` and `file_size`
    gigabytes, `output_limit` megabytes; `rules` maps a rule's id ("pack/name") to its options, `source` is the file it
    stands in.
    """

    run: str | None = None
    world: str | None = None
    gpus: int | None = None
    python: str | None = None
    exclude: tuple[str, ...] = ()
    timeout: float | None = None
    memory: float | None = None
    processes: int | None = None
    file_size: float | None = None
    output_limit: float | None = None
    sandbox: bool | None = None
    test: bool | None = None
    others: float | None = None
    max_fixes: int | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    rule_paths: tuple[str, ...] = ()
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    source: Path | None = None


def read_config(root: Path, subfolder: str = "") -> Config:
    """Read the nearest configuration from `subfolder` up to `root`; raise UserError naming the file and the key."""
    folder = root / subfolder
    for place in (folder, *folder.parents):
        for name in ("devfix.toml", "pyproject.toml"):
            file = place / name
            table = _table(file) if file.is_file() else None
            if table is not None:
                return _config(file, table)
        if place == root:
            break
    return Config()


def _table(file: Path) -> Mapping[str, Any] | None:
    """Return the file's table for devfix, None where it has none."""
    try:
        document = tomllib.loads(file.read_bytes().decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{file}: not valid TOML: {error}") from error
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    if file.name == "devfix.toml":
        return document
    tool = document.get("tool")
    table = tool.get("devfix") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UserError(f"{file}: tool.devfix must be a table: [tool.devfix]")
    return table


def _config(file: Path, table: Mapping[str, Any]) -> Config:
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(_KEYS))}"
            raise UserError(f"{file}: unknown key {key!r}; {hint}")
        expected, read = _KEYS[key]
        taken = read(value)
        if taken is None:
            raise UserError(f"{file}: {key!r} must be {expected}, not {value!r}")
        values[key.replace("-", "_")] = taken
    return Config(**values, source=file)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _texts(value: object) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _amount(value: object) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if 0 < value < math.inf else None


def _amount_or_none(value: object) -> float | None:
    return 0.0 if value == 0 and not isinstance(value, bool) else _amount(value)


def _yes_or_no(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _world(value: object) -> str | None:
    return value if isinstance(value, str) and value in WORLDS else None


def _rules(value: object) -> Mapping[str, Mapping[str, Any]] | None:
    if not isinstance(value, dict) or not all(isinstance(options, dict) for options in value.values()):
        return None
    if not all(len(identifier.split("/")) == 2 for identifier in value):
        return None
    return MappingProxyType({identifier: MappingProxyType(options) for identifier, options in value.items()})


_KEYS: dict[str, tuple[str, Callable[[object], Any]]] = {
    "run": ("a command in a string", _text),
    "world": (f"one of {', '.join(WORLDS)}", _world),
    "gpus": ("a number from 1", _count),
    "python": ("the path of an interpreter in a string", _text),
    "exclude": ("a list of patterns in strings", _texts),
    "timeout": ("a number of seconds above 0", _amount),
    "memory": ("a number of gigabytes above 0", _amount),
    "processes": ("a number from 1", _count),
    "file-size": ("a number of gigabytes above 0", _amount),
    "output-limit": ("a number of megabytes above 0", _amount),
    "sandbox": ("true or false", _yes_or_no),
    "test": ("true or false", _yes_or_no),
    "others": ("a number of seconds from 0", _amount_or_none),
    "max-fixes": ("a number from 1", _count),
    "select": ("a list of rules or packs in strings", _texts),
    "ignore": ("a list of rules or packs in strings", _texts),
    "rule-paths": ("a list of folders in strings", _texts),
    "rules": ('tables named after rules: [tool.devfix.rules."pack/name"]', _rules),
}
