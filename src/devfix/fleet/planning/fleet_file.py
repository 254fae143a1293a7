"""Read fleet.toml: the repositories of a fleet, and what is done with each; unknown keys are errors."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from msgspec import Meta

from devfix.config import (
    Command,
    Gigabytes,
    Interpreter,
    Number,
    Patterns,
    Seconds,
    Switch,
    Text,
    Texts,
    World,
    decode_table,
)
from devfix.errors import UserError
from devfix.model import JobMode, WorldChoice

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MODES = " or ".join(each.value for each in JobMode)
ModeName = Annotated[JobMode, Meta(description=_MODES)]
Options = Annotated[tuple[str, ...], Meta(description="a list of options in strings")]
Cores = Annotated[float, Meta(gt=0, description="a number of cores above 0")]
Retries = Annotated[int, Meta(ge=0, le=100, description="a number from 0 to 100")]
Subfolder = Annotated[
    str, Meta(pattern=r"^(?![/-])(?!(.*/)?\.\.(/|$)).+$", description="a folder inside the repository in a string")
]
ForgeName = Annotated[
    str, Meta(pattern="^(github|gitlab|forgejo|gitea)$", description="github, gitlab, forgejo or gitea")
]

# Each would take over what the job itself decides: where the result goes, and what runs the program.
RESERVED = (
    "--output",
    "--format",
    "--python",
    "--install",
    "--torch",
    "--sandbox",
    "--no-sandbox",
    "--apply",
    "--take",
)

LIFTED = (WorldChoice.SIMULATED, WorldChoice.MPS, WorldChoice.XPU)  # the worlds of `devfix find`


@dataclass(frozen=True)
class Settings:
    """Settings for a repository; None and () stand for keys that are not set.

    `memory` and `disk` count gigabytes, `time` seconds. `python` is an interpreter of the nodes, in place of an
    environment of the repository's own.
    """

    mode: ModeName | None = None
    run: Command | None = None
    world: World | None = None
    gpus: Number | None = None
    torch: Text | None = None
    packages: Texts | None = None
    python: Interpreter | None = None
    options: Options | None = None
    cores: Cores | None = None
    memory: Gigabytes | None = None
    disk: Gigabytes | None = None
    time: Seconds | None = None
    sandbox: Switch | None = None
    network: Switch | None = None

    def over(self, defaults: Settings) -> Settings:
        """Return these settings, with those that are not set taken from `defaults`."""
        names = [each.name for each in fields(Settings)]
        own = {name: getattr(self, name) for name in names}
        return Settings(**{name: getattr(defaults, name) if own[name] is None else own[name] for name in names})


@dataclass(frozen=True)
class Repository:
    """An entry of fleet.toml: a repository, or with `owner` all those of an owner on a forge that the patterns select.

    `address` is what git clones: an address, or the path of a folder. `where` names the entry in messages.
    """

    settings: Settings
    where: str
    address: str = ""
    ref: str = ""
    subfolder: str = ""
    owner: str = ""
    forge: str = ""
    api: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    archived: bool = False
    forks: bool = False


@dataclass(frozen=True)
class FleetFile:
    """A fleet: its repositories, where its results are kept, and how often a job is tried again whose node dies."""

    repositories: tuple[Repository, ...]
    results: Path
    retries: int = 2


@dataclass(frozen=True)
class _Entry:
    address: Text | None = None
    path: Text | None = None
    ref: Text | None = None
    subfolder: Subfolder | None = None
    owner: Text | None = None
    forge: ForgeName | None = None
    api: Text | None = None
    include: Patterns = ()
    exclude: Patterns = ()
    archived: Switch = False
    forks: Switch = False


@dataclass(frozen=True)
class _Fleet:
    results: Text | None = None
    retries: Retries | None = field(default=None)


def read_fleet_file(file: Path) -> FleetFile:
    """Read a fleet.toml; paths in it are relative to its folder. Raises UserError with the file and the key."""
    try:
        document = tomllib.loads(file.read_bytes().decode("utf-8"))
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{file}: not valid TOML: {error}") from error
    for key in document:
        if key not in ("fleet", "repository"):
            raise UserError(f"{file}: unknown table {key!r}; known are [fleet] and [[repository]]")
    table, entries = document.get("fleet", {}), document.get("repository", [])
    if not isinstance(table, dict):
        raise UserError(f"{file}: fleet must be a table: [fleet]")
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise UserError(f"{file}: repository must be a list of tables: [[repository]]")
    if not entries:
        raise UserError(f'{file}: names no repository; add one: [[repository]] with address = "https://…"')
    where = f"{file}: fleet"
    values = decode_table(table, {**_types(Settings), **_types(_Fleet)}, where, "key")
    own = {name: values.pop(name) for name in ("results", "retries") if name in values}
    defaults = Settings(**values)
    _check(defaults, defaults.mode, where)
    folder = file.parent
    found = (
        _repository(each, f"{file}: repository {number}", defaults, folder) for number, each in enumerate(entries, 1)
    )
    return FleetFile(tuple(found), folder / (own.get("results") or "fleet-results"), own.get("retries", 2))


def _repository(table: Mapping[str, object], where: str, defaults: Settings, folder: Path) -> Repository:
    values = decode_table(table, {**_types(Settings), **_types(_Entry)}, where, "key")
    entry = _Entry(**{name: values.pop(name) for name in _types(_Entry) if name in values})
    own = Settings(**values)
    settings = own.over(defaults)
    _check(own, settings.mode, where)
    _check_search(settings, where)
    named = [name for name in ("address", "path", "owner") if getattr(entry, name) is not None]
    if len(named) != 1:
        raise UserError(f"{where}: give one of address, path and owner, not {' and '.join(named) or 'none of them'}")
    if entry.owner is None:
        for name in ("forge", "api", "include", "exclude", "archived", "forks"):
            if getattr(entry, name):
                raise UserError(
                    f'{where}: key {name!r} is for the repositories of an owner; give owner = "host/name/*"'
                )
    elif entry.ref is not None:
        raise UserError(
            f"{where}: key 'ref' is for one repository; those of an owner are taken at their default branch"
        )
    address = entry.address or (str((folder / entry.path).resolve()) if entry.path else "")
    return Repository(
        settings,
        where,
        address,
        entry.ref or "",
        entry.subfolder or "",
        entry.owner or "",
        entry.forge or "",
        entry.api or "",
        entry.include,
        entry.exclude,
        entry.archived,
        entry.forks,
    )


def _check(settings: Settings, mode: JobMode | None, where: str) -> None:
    for option in settings.options or ():
        if option.partition("=")[0] in RESERVED:
            raise UserError(f"{where}: key 'options' has {option}, which a job of a fleet decides itself")
    if mode is JobMode.FIND and settings.run is not None:
        raise UserError(f"{where}: key 'run' is for mode = \"repair\"; `devfix find` runs the tests")
    if settings.python is not None and (settings.torch is not None or settings.packages):
        raise UserError(f"{where}: key 'python' names an environment, and 'torch' and 'packages' are for a new one")


def _check_search(settings: Settings, where: str) -> None:
    """Raise UserError if tests cannot be lifted to this world."""
    if settings.mode is not JobMode.FIND:
        return
    world = settings.world or WorldChoice.SIMULATED
    if world not in LIFTED:
        known = ", ".join(each.value for each in LIFTED)
        raise UserError(f"{where}: key 'world' is {world.value}, and `devfix find` lifts tests to {known}")
    most = min(2, world.device.most)
    if (settings.gpus or 1) > most:
        raise UserError(f"{where}: key 'gpus' is {settings.gpus}, and `devfix find` uses {most} at most")


@cache
def _types(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind, include_extras=True)
