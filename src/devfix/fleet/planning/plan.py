"""Turn a fleet file into jobs: one for each repository, at the commit that its ref has now."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from devfix.errors import UserError
from devfix.fleet.planning.fleet_file import FleetFile, Repository, Settings
from devfix.fleet.planning.owner import token_of
from devfix.fleet.planning.owners import list_owner
from devfix.fleet.records import Job, JobLimits
from devfix.model import JobMode
from devfix.workspace import hide_user, is_address, resolve

AT_ONCE = 16  # calls of `git ls-remote`, which mostly wait for a network
_SHOWN_ONLY = ("key", "repository", "ref")


@dataclass(frozen=True)
class Plan:
    """The jobs of a fleet, and in one line each what has no commit and therefore no job."""

    jobs: tuple[Job, ...]
    unresolved: tuple[str, ...] = ()


def make_plan(file: FleetFile, devfix: str, environment: Mapping[str, str], notify: Callable[[str], None]) -> Plan:
    """Return the plan of a fleet; `devfix` is its version.

    Tokens for listing and for resolving refs are read from `environment`; no job has one. Raises UserError if an owner
    cannot be listed, or if no repository can be resolved.
    """
    entries = [found for each in file.repositories for found in _expand_owner(each, environment, notify)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        resolved = list(pool.map(lambda each: _commit_of(each, environment), entries))
    jobs: dict[str, Job] = {}
    unresolved = []
    for entry, commit in zip(entries, resolved, strict=True):
        if isinstance(commit, UserError):
            unresolved.append(str(commit))
        else:
            job = _job(entry, commit, devfix)
            jobs.setdefault(job.key, job)
    if not jobs and unresolved:
        raise UserError(f"no repository of the fleet can be read; the first: {unresolved[0]}")
    return Plan(tuple(jobs.values()), tuple(unresolved))


def key_of(job: Job, devfix: str) -> str:
    """Return the key of a job: a digest of what decides its result."""
    decisive = {name: value for name, value in asdict(job).items() if name not in _SHOWN_ONLY}
    text = json.dumps([decisive, devfix], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _expand_owner(
    entry: Repository, environment: Mapping[str, str], notify: Callable[[str], None]
) -> Iterator[Repository]:
    if entry.owner:
        yield from list_owner(entry, environment, notify)
    else:
        yield entry


def _commit_of(entry: Repository, environment: Mapping[str, str]) -> str | UserError:
    try:
        return resolve(entry.address, entry.ref, token_of(entry, environment))
    except UserError as error:
        return UserError(f"{entry.where}: {error}")


def _job(entry: Repository, commit: str, devfix: str) -> Job:
    settings, plain = entry.settings, JobLimits()
    limits = JobLimits(
        settings.cores or plain.cores,
        settings.memory or plain.memory,
        settings.disk or plain.disk,
        settings.time or plain.seconds,
    )
    mode = settings.mode or JobMode.REPAIR
    job = Job(
        "",
        _name(entry.address),
        entry.address,
        entry.ref,
        commit,
        entry.subfolder,
        mode,
        (settings.run or "") if mode is JobMode.REPAIR else "",
        tuple(_options(settings)),
        settings.packages or (),
        settings.torch or "",
        settings.sandbox is not False,
        bool(settings.network),
        limits,
        settings.python or "",
    )
    return replace(job, key=key_of(job, devfix))


def _options(settings: Settings) -> Iterator[str]:
    if settings.world is not None:
        yield from ("--world", settings.world.value)
    if settings.gpus is not None:
        yield from ("--gpus", str(settings.gpus))
    yield from settings.options or ()


def _name(address: str) -> str:
    """Return the name that is shown: "owner/name" of an address, the last folder of a path.

    >>> _name("https://github.com/ada/model.git"), _name("git@host:ada/model"), _name("/data/model/")
    ('ada/model', 'ada/model', 'model')
    """
    if not is_address(address):
        return Path(address).name or address
    if address.startswith("file:"):
        return Path(address).name
    path = hide_user(address).partition("://")[2] if "://" in address else address.replace(":", "/", 1)
    parts = path.rstrip("/").removesuffix(".git").split("/")
    return "/".join(parts[1:] or parts)[-200:]
