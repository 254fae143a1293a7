"""The result of a search for bugs: causes, each with the tests that reach it, and counts of tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from devfix.find.suites import SuiteKind
from devfix.model import Diagnosis, Failure, SourceLocation
from devfix.report.find_types import CauseKind, Confidence

Line = tuple[str, int]  # a path, and a line of the file
Remedy = tuple[tuple[str, bytes], ...]  # paths, and what a change makes of the files


@dataclass(frozen=True)
class Evidence:
    """The evidence of a silent finding: the function that test code called, and the attribute that keeps the tensor.

    `is_told`: the function was told the GPU by its `device`, and given no tensors there.
    """

    call: str
    entered: SourceLocation
    attribute: str = ""
    is_told: bool = False


@dataclass(frozen=True)
class Cause:
    """One bug: where the stray tensor comes from, where the code under test failed by it, and which rule explains it.

    `tests` reach it, the first of them is the one that was run again alone; `devices` are those of the inputs.
    `suite` is how the first runs. A silent finding has `evidence`, and its `failure` is that of a strict run.
    `shown_by` are the options of pytest beside `--lift` with which its tests show it, `past` the lines at which they
    fail before, by other causes. `made` are the lines of the code under test that were making the stray tensor, from
    the innermost outward; none where others made it. `remedy` is the first change that its rule proposes,
    where an attribute of a module keeps the tensor.
    """

    kind: CauseKind
    place: SourceLocation
    failing: SourceLocation
    rule: str
    title: str
    failure: Failure | None
    diagnoses: tuple[Diagnosis, ...]
    tests: tuple[str, ...]
    devices: tuple[str, ...]
    confirmed: bool = False
    confidence: Confidence = "low"
    evidence: Evidence | None = None
    suite: SuiteKind = SuiteKind.tests
    shown_by: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    made: tuple[Line, ...] = ()
    remedy: Remedy = ()

    @property
    def is_silent(self) -> bool:
        """True if nothing fails by it in a run as people run their tests."""
        return self.evidence is not None

    @property
    def is_strict(self) -> bool:
        """True if its tests fail by it in a strict run alone."""
        return self.is_silent or self.kind == "handled"

    @property
    def is_seen_on_one(self) -> bool:
        """True if its tests show it in a world with one GPU."""
        return any(device.endswith(":0") for device in self.devices)

    @property
    def options(self) -> tuple[str, ...]:
        """The options of pytest with which its tests fail by it; a function stays what it is when lines move."""
        return self._options(self.place.function, self.is_strict)

    @property
    def options_with_silent(self) -> tuple[str, ...]:
        """Those with which they fail by it and, once it is repaired, by what its function leaves on the host."""
        return self._options(self.place.function, True)

    @property
    def exact_options(self) -> tuple[str, ...]:
        """Those with which they fail by it, and by no other, as long as no line has moved."""
        return (*options_past(self.past), *self._options(str(self.place.line), self.is_strict))

    def _options(self, at: str, is_strict: bool) -> tuple[str, ...]:
        strict = (f"--lift-strict-at={self.place.path}:{at}",) if is_strict else ()
        return (*self.shown_by, *strict)

    @property
    def key(self) -> tuple[str, str, int, str]:
        """The identity of a cause: two with the same key are one."""
        return (self.kind, self.place.path, self.place.line, self.rule)


def options_past(places: Iterable[str]) -> tuple[str, ...]:
    """Return the options of pytest with which tests do not fail at some places."""
    return tuple(f"--lift-past={place}" for place in places)


@dataclass(frozen=True)
class FindReport:
    """The result of `devfix find`.

    `tests` counts those that passed or failed on the CPU, `passed_cpu` the former; of these `passed_lifted` passed
    lifted on the first GPU, as did the `passed_on_gpu_alone` that need one. `artefacts` failed by the lift itself,
    `failed_lifted` otherwise, each with its reason. `missing` are the names that could not be imported; `known` are the
    causes that the baseline has, `left_out` the scripts that do not run by themselves on the CPU, each with the reason.
    """

    root: str
    commit: str
    tests: int = 0
    passed_cpu: int = 0
    passed_lifted: int = 0
    passed_on_gpu_alone: int = 0
    skipped: int = 0
    artefacts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    failed_cpu: tuple[str, ...] = ()
    failed_lifted: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    missing: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    known: tuple[Cause, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    processor_seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    interrupted: bool = False
