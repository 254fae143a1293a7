"""A failure as a rule sees it: its world, its scopes and its files, whichever operand is in view."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.model import Diagnosis, Failure, Finding, ScopeVariable, SourceLocation
from devfix.sdk.fixes.instances import objects_of
from devfix.sdk.trace.history import frame_of
from devfix.sdk.trace.holders import files_of
from devfix.sdk.trace.sites import scope_at
from devfix.source import File, Sources
from devfix.source.queries.reading import definition
from devfix.source.queries.repository import Definition, Repository


@dataclass(frozen=True)
class FailureView:
    """A failure, the sources of the repository, and a finding about one of its operands."""

    failure: Failure
    sources: Sources
    finding: Finding = Finding(0, "")  # noqa: RUF009  (a frozen record)

    @property
    def diagnosis(self) -> Diagnosis:
        """The finding with its failure, for functions that take one."""
        return Diagnosis("", "", self.failure, self.finding)

    @property
    def repository(self) -> Repository:
        """All files of the repository: definitions, callers, base classes."""
        return Repository(self.sources)

    @property
    def accelerator(self) -> str:
        """The kind of the GPUs in the world that failed: "cuda", "mps", "xpu"; "" in a world without any."""
        return self.failure.accelerator.value if self.failure.accelerator is not None else ""

    @property
    def claimed_accelerators(self) -> tuple[str, ...]:
        """The kinds of accelerator besides CUDA that the repository claims to support: "mps", "xpu"."""
        return tuple(each.value for each in self.failure.claimed)

    @property
    def other_accelerators(self) -> list[str]:
        """The kinds besides CUDA on which the program must run: that of the world that failed, then those claimed."""
        kinds = dict.fromkeys((self.accelerator, *self.claimed_accelerators))
        return [each for each in kinds if each not in ("", "cuda")]

    def objects(self, *classes: str, frame: int | None = None) -> list[ScopeVariable]:
        """Return the modules and objects of some classes in scope, in one frame or in any."""
        return objects_of(self.failure, *classes, frame=frame)

    def scope_at(self, place: SourceLocation) -> tuple[ScopeVariable, ...]:
        """Return the variables known to be in scope at a location."""
        return scope_at(self.failure, place)

    def frame_of(self, place: SourceLocation) -> int | None:
        """Return the number of the deepest frame that still runs the function around a location."""
        return frame_of(self.failure, place)

    def files(self) -> list[File]:
        """Return the editable files that the failure involves, those of the deepest frames first."""
        return files_of(self.failure, self.sources)

    def definition_at(self, place: SourceLocation | None) -> Definition | None:
        """Return the function around a location, if its file may be edited."""
        file = self.sources.file(place) if place is not None else None
        found = definition(file, place.function) if file is not None and place is not None else None
        return Definition(file, found) if file is not None and found is not None else None
