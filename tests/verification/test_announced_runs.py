"""What a verifier tells its caller while it works: runs that it will ask for, patches that hold, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from check_cases import DIAGNOSIS, FIX, plainly
from verifier_cases import CPU, FILES, FIRST, HOME, SOURCE, TWO, failure, make_run, patch

from devfix.model import CountRequest, Patch, Run, World
from devfix.verification.requests import Request, expected_requests
from devfix.verification.verifier import Verifier

OTHER = b"other\n" + SOURCE


def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
    """Hold in the world that failed with a patch, and fail with two GPUs if it is the other one."""
    if files["m.py"] == SOURCE:
        return plainly(world)
    return make_run(world, failure(1, 2, 3) if world == TWO and files["m.py"] == OTHER else None)


def test_runs_are_announced_before_each_candidate_and_called_off_at_the_end() -> None:
    told: list[Sequence[Request]] = []
    before, worlds = make_run(HOME, FIRST), [HOME, CPU, TWO]
    verifier = Verifier(run, before, FILES, worlds, plainly, expect=told.append)
    kept, rejected = verifier.select_best([patch(OTHER), patch(FIX)], [DIAGNOSIS])
    assert kept is not None and kept.patch == patch(FIX) and len(rejected) == 1
    given = before, FILES, worlds
    first = expected_requests(*given, patch(OTHER), DIAGNOSIS)
    second = expected_requests(*given, patch(FIX), DIAGNOSIS, is_first=False)
    assert told == [first, second, ()] and len(first) == len(second) + 1


def test_once_a_patch_is_held_no_more_runs_are_announced() -> None:
    told: list[Sequence[Request]] = []

    def copying(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        return plainly(world) if files["m.py"] == SOURCE else make_run(world, copies=9)

    verifier = Verifier(copying, make_run(HOME, FIRST), FILES, [HOME], plainly, expect=told.append)
    verifier.select_best([patch(b"1\n" + SOURCE), patch(b"2\n" + SOURCE)], [DIAGNOSIS])
    assert [bool(each) for each in told] == [True, False, False]


def test_a_patch_is_told_of_that_holds_in_the_world_that_failed() -> None:
    promising: list[Patch] = []

    def some(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        return make_run(world, FIRST) if files["m.py"].startswith(b"fails") else run(world, files, fresh, reach)

    verifier = Verifier(some, make_run(HOME, FIRST), FILES, [HOME, CPU, TWO], plainly, promising=promising.append)
    verifier.select_best([patch(b"fails\n" + SOURCE), patch(OTHER), patch(FIX)], [DIAGNOSIS])
    assert promising == [patch(OTHER), patch(FIX)]


def test_how_far_it_is() -> None:
    told: list[tuple[int, int, int, str]] = []

    def fails(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        return make_run(world, FIRST)

    verifier = Verifier(
        fails, make_run(HOME, FIRST), FILES, [HOME], plainly, 2, report_progress=lambda *each: told.append(each)
    )
    patches = [patch(b"%d\n" % number + SOURCE) for number in range(4)]
    verifier.select_best(patches, [DIAGNOSIS])
    assert told == [(1, 1, 24, patches[0].title), (2, 3, 24, patches[1].title), (4, 4, 24, patches[3].title)]


def test_patches_that_were_put_behind_others_and_never_run_are_told() -> None:
    def moves_on(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        return make_run(world, failure(5, 3, 11) if world == HOME and files["m.py"] != SOURCE else FIRST)

    verifier = Verifier(moves_on, make_run(HOME, FIRST), FILES, [HOME], plainly, 1)
    assert verifier.untried == []
    patches = [patch(b"%d\n" % number + SOURCE) for number in range(9)]
    verifier.select_best(patches, [DIAGNOSIS])
    assert verifier.untried == patches[7:], "six more are run after one that reaches a failure with another cause"
    verifier.select_best(patches[:1], [DIAGNOSIS])
    assert verifier.untried == []


def test_patches_behind_one_that_is_kept_are_not_even_made() -> None:
    source = iter([patch(FIX), patch(OTHER)])
    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME], plainly, 1)
    kept, _ = verifier.select_best(source, [DIAGNOSIS])
    assert kept is not None and verifier.untried == [] and list(source) == [patch(OTHER)]


@pytest.mark.parametrize(("jobs", "announces", "expected"), [(1, False, 0), (2, False, 1), (2, True, 0), (3, False, 1)])
def test_the_failure_is_repeated_early_where_a_core_is_free(jobs: int, announces: bool, expected: int) -> None:
    plain: list[World] = []

    def fails(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        plain.extend([world] if files["m.py"] == SOURCE else [])
        return make_run(world, FIRST)

    expect = (lambda requests: None) if announces else None
    verifier = Verifier(fails, make_run(HOME, FIRST), FILES, [HOME], plainly, jobs, expect=expect)
    verifier.select_best([patch(b"%d\n" % number + SOURCE) for number in range(5)], [DIAGNOSIS])
    assert plain == [HOME] * expected
