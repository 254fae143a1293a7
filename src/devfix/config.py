"""Read [tool.devfix] of pyproject.toml, or devfix.toml, into one frozen record; unknown keys are errors."""

from __future__ import annotations

import difflib
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_type_hints

from msgspec import Meta, ValidationError

from devfix.decoding import convert
from devfix.errors import UserError
from devfix.model import DeviceType, WorldChoice

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_CHOICES = ", ".join(each.value for each in WorldChoice)
# The description of each type says what a value must be; the error message for another value contains it.
Command = Annotated[str, Meta(pattern=r"\S", description="a command in a string")]
World = Annotated[WorldChoice, Meta(description=f"one of {_CHOICES}")]
_DEVICES = ", ".join(each.value for each in DeviceType)
Devices = Annotated[tuple[DeviceType, ...], Meta(description=f"a list of {_DEVICES}")]
Number = Annotated[int, Meta(ge=1, description="a number from 1")]
Interpreter = Annotated[str, Meta(pattern=r"\S", description="the path of an interpreter in a string")]
Patterns = Annotated[tuple[str, ...], Meta(description="a list of patterns in strings")]
Seconds = Annotated[float, Meta(gt=0, description="a number of seconds above 0")]
Gigabytes = Annotated[float, Meta(gt=0, description="a number of gigabytes above 0")]
Megabytes = Annotated[float, Meta(gt=0, description="a number of megabytes above 0")]
Switch = Annotated[bool, Meta(description="true or false")]
Budget = Annotated[float, Meta(ge=0, description="a number of seconds from 0")]
Names = Annotated[tuple[str, ...], Meta(description="a list of rules or packs in strings")]
Folders = Annotated[tuple[str, ...], Meta(description="a list of folders in strings")]
Text = Annotated[str, Meta(pattern=r"\S", description="a text in a string")]
Texts = Annotated[tuple[Text, ...], Meta(description="a list of texts in strings")]
Commits = Annotated[Literal["git", "api"], Meta(description="'git' or 'api'")]
PublishTable = Annotated[Mapping[str, Any], Meta(description="a table: [tool.devfix.publish]")]
RuleId = Annotated[str, Meta(pattern="^[^/]*/[^/]*$")]
RuleOptions = Annotated[
    Mapping[RuleId, Mapping[str, Any]], Meta(description='tables named after rules: [tool.devfix.rules."pack/name"]')
]


@dataclass(frozen=True)
class PublishConfig:
    """Defaults for the options of `devfix publish`; None and () stand for keys that are not set."""

    branch: Text | None = None
    draft: Switch | None = None
    per_fix: Switch | None = None
    labels: Texts = ()
    reviewers: Texts = ()
    assignees: Texts = ()
    milestone: Text | None = None
    max_open: Number | None = None
    accept_lines: Texts = ()
    commits: Commits | None = None
    delete_branches: Switch | None = None
    dashboard: Switch | None = None


@dataclass(frozen=True)
class Config:
    """The configuration of a repository; None and () stand for keys that are not set.

    `devices` are the kinds of accelerator that the program supports. `test` selects regression tests for fixes.
    `timeout` and `others` count seconds, `memory` and `file_size` gigabytes, `output_limit` megabytes. `rules` maps a
    rule's id ("pack/name") to its options. `source` is the configuration file.
    """

    run: Command | None = None
    world: World | None = None
    gpus: Number | None = None
    devices: Devices | None = None
    python: Interpreter | None = None
    exclude: Patterns = ()
    timeout: Seconds | None = None
    memory: Gigabytes | None = None
    processes: Number | None = None
    file_size: Gigabytes | None = None
    output_limit: Megabytes | None = None
    sandbox: Switch | None = None
    test: Switch | None = None
    others: Budget | None = None
    max_fixes: Number | None = None
    select: Names = ()
    ignore: Names = ()
    rule_paths: Folders = ()
    rules: RuleOptions = field(default_factory=lambda: MappingProxyType({}))
    publish: PublishConfig = field(default_factory=PublishConfig)
    source: Path | None = None

    @property
    def chooses_rules(self) -> bool:
        """True if it says which rules are used, or with which options."""
        return bool(self.select or self.ignore or self.rule_paths or self.rules)


def read_config(root: Path, subfolder: str = "") -> Config:
    """Read the nearest configuration from `subfolder` up to `root`. Raises UserError with the file and the key."""
    folder = root / subfolder
    for place in (folder, *folder.parents):
        for name in ("devfix.toml", "pyproject.toml"):
            file = place / name
            table = parse_table(_read(file), name, str(file)) if file.is_file() else None
            if table is not None:
                return replace(decode_config(table, str(file)), source=file)
        if place == root:
            break
    return Config()


def user_folder() -> Path:
    """Return the folder of the user's own configuration, `devfix.toml`."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "devfix"


def decode_config(table: Mapping[str, Any], where: str) -> Config:
    """Return the configuration of devfix's table in the file `where`. Raises UserError for a wrong key or value."""
    values = decode_table(table, _types(), where, "key")
    publish = decode_table(values.pop("publish", {}), _publish_types(), f"{where}: publish", "key")
    return Config(**values, publish=PublishConfig(**publish))


def decode_table(table: Mapping[str, object], types: Mapping[str, Any], where: str, noun: str) -> dict[str, Any]:
    """Return the values of a TOML table by the names of their fields.

    `types` has the type of each field; the description in its `Meta` is used in messages. Raises UserError for a value
    of another type and for an unknown name, with `where` first and calling the name a `noun`.
    """
    known = {name.replace("_", "-"): name for name in types}
    values = {}
    for key, value in table.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known)) or 'none'}"
            raise UserError(f"{where}: unknown {noun} {key!r}; {hint}")
        name = known[key]
        try:
            values[name] = convert(value, types[name])
            fits = not isinstance(value, float) or math.isfinite(value)
        except ValidationError:
            fits = False
        if not fits:
            raise UserError(f"{where}: {noun} {key!r} must be {_description(types[name])}, not {value!r}")
    return values


@cache
def _types() -> Mapping[str, Any]:
    """Return the type of each key, without `source`, which is not a key."""
    hints = get_type_hints(Config, include_extras=True)
    return {name: kind for name, kind in hints.items() if name != "source"} | {"publish": PublishTable}


@cache
def _publish_types() -> Mapping[str, Any]:
    return get_type_hints(PublishConfig, include_extras=True)


def _description(kind: Any) -> str:
    """Return the description of a type; for an optional type, that of the type without None."""
    parts = (*getattr(kind, "__metadata__", ()), *(meta for each in get_args(kind) for meta in _metadata(each)))
    return next(part.description for part in parts if isinstance(part, Meta) and part.description)


def _metadata(kind: Any) -> tuple[Any, ...]:
    found: tuple[Any, ...] = getattr(kind, "__metadata__", ())
    return found


def parse_table(data: bytes, name: str, where: str) -> Mapping[str, Any] | None:
    """Return devfix's table in a devfix.toml or pyproject.toml (`name`); None if it has none. `where` is for errors."""
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{where}: not valid TOML: {error}") from error
    if name == "devfix.toml":
        return document
    tool = document.get("tool")
    table = tool.get("devfix") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UserError(f"{where}: tool.devfix must be a table: [tool.devfix]")
    return table


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
