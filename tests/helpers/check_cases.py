"""Diagnoses and runs for tests of the verifier's checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from verifier_cases import CPU, FILES, FIRST, HOME, SOURCE, TWO, make_run, patch

from devfix.model import CountRequest, Diagnosis, Finding, Run, World
from devfix.verification.verifier import Verifier

DIAGNOSIS = Diagnosis("p/r", "", FIRST, Finding(1, ""))
FIX = b"a = make(d)\nb = other()\nuse(a)\nuse(b)\n"
THREE = World("simulated", 2, 1)
Call = tuple[World, bool, bool, tuple[tuple[str, int, int | None], ...]]


class Asked:
    """A program with given runs in each world, with the patch and without it, and the runs that were requested."""

    def __init__(self, plain: Callable[[World], Run], fixed: Callable[[World], Run], before: Run) -> None:
        self.plain, self.fixed = plain, fixed
        self.calls: list[Call] = []
        self.verifier = Verifier(self.run, before, FILES, [HOME, CPU, TWO, THREE], self.baseline)

    def baseline(self, world: World) -> Run:
        assert isinstance(world, World)
        return self.plain(world)

    def run(self, world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        assert isinstance(world, World) and isinstance(fresh, bool)
        is_plain = files["m.py"] == SOURCE
        self.calls.append(
            (world, is_plain, fresh, tuple((each.path, each.line, each.end_line) for each in reach.locations))
        )
        return self.plain(world) if is_plain else self.fixed(world)


def plainly(world: World) -> Run:
    return make_run(world, FIRST if world == HOME else None)


def make_check(
    fixed: Callable[[World], Run] = make_run, plain: Callable[[World], Run] = plainly, **before: Any
) -> Asked:
    return Asked(plain, fixed, replace(make_run(HOME, FIRST), **before))


def verdict(given: Asked, after: bytes = FIX) -> tuple[str, str]:
    """Return the outcome of a patch, and the reason."""
    kept, rejected = given.verifier.select_best([patch(after)], [DIAGNOSIS])
    found = kept or rejected[0]
    assert (kept is None) is (found.verdict.outcome not in ("verified", "progressed"))
    return found.verdict.outcome, found.verdict.reason
