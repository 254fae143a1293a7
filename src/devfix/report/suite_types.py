"""The JSON of `pytest --devfix-report`: the types from which it is written, and from which suite.json is generated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from devfix.model.patch import Safety
from devfix.report.failure_types import Count, FailureRecord, WorldRecord
from devfix.report.find_types import ReasonRecord, Tests
from devfix.report.types import EditRecord, Seconds


@dataclass(frozen=True, kw_only=True)
class SuiteWorldRecord:
    """The results of the tests that ran in one world."""

    world: Annotated[WorldRecord | None, Meta(description="null for tests that asked for none")]
    passed: Count
    device_failures: Count
    other_failures: Count
    artefacts: Annotated[Count, Meta(description="tests that could not be lifted, with --lift")]
    skipped: Count


@dataclass(frozen=True, kw_only=True)
class ProposedChangeRecord:
    """The first change that a rule proposes for a failure. No run has verified it."""

    rule: str
    title: str
    reason: str
    safety: Safety
    edits: tuple[EditRecord, ...]


@dataclass(frozen=True, kw_only=True)
class SuiteFailureRecord:
    """One device failure, and the tests that end in it."""

    tests: Tests
    worlds: tuple[WorldRecord, ...]
    devices: Annotated[tuple[str, ...], Meta(description="those of the operands, sorted")]
    failure: FailureRecord
    proposal: ProposedChangeRecord | None
    command: Annotated[str, Meta(description="repairs it")]


@dataclass(frozen=True, kw_only=True)
class SuiteRecord:
    """The report of a pytest session with the plugin of devfix."""

    schema: Literal["devfix-suite/1"] = "devfix-suite/1"
    root: str
    world: Annotated[WorldRecord | None, Meta(description="that of the session; null if only marks asked for one")]
    lifted: bool
    seconds: Seconds
    worlds: tuple[SuiteWorldRecord, ...]
    failures: tuple[SuiteFailureRecord, ...]
    artefacts: Annotated[tuple[ReasonRecord, ...], Meta(description="tests that could not be lifted")]
    other_failures: Annotated[tuple[ReasonRecord, ...], Meta(description="tests that fail for another reason")]
