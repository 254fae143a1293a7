"""How one of several patches is chosen: how many are made, run at once, and which is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from check_cases import DIAGNOSIS, FIX, THREE, make_check, plainly
from verifier_cases import CPU, FILES, FIRST, HOME, SOURCE, TWO, failure, make_run, patch
from waiting import HANGS

from devfix.model import CountRequest, DeviceType, Patch, Run, World
from devfix.model.failure import FailureKind
from devfix.verification.checks.suppression import still_fails
from devfix.verification.verifier import Verifier

MAC = World("simulated", 1, device=DeviceType.MPS)


@pytest.mark.parametrize("jobs", [1, 3])
def test_no_more_runs_at_once_than_there_are_jobs(jobs: int) -> None:
    running, most, waits, changed = [0], [0], [False], threading.Condition()

    def busy(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        with changed:
            running[0] += 1
            most[0] = max(most[0], running[0])
            changed.notify_all()
            if waits[0]:
                changed.wait_for(lambda: most[0] >= jobs, timeout=HANGS)
        with changed:
            running[0] -= 1
        return plainly(world) if files["m.py"] == SOURCE else make_run(world)

    verifier = Verifier(busy, make_run(HOME, FIRST), FILES, [HOME, CPU, TWO, THREE], plainly, jobs)
    candidate = verifier.select_best([patch(FIX)], [DIAGNOSIS])[0]
    assert candidate is not None and most[0] <= jobs
    most[0], waits[0] = 0, True  # now there is more to run than there are jobs
    verifier.confirm(candidate)
    assert most == [jobs]


@pytest.mark.parametrize(("threads", "expected"), [(0, 2), (1, 2), (5, 5)])
def test_more_runs_at_once_may_be_asked_for_than_there_are_jobs(
    threads: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools: list[int | None] = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, most: int | None = None) -> None:
            super().__init__(most)
            pools.append(most)

    monkeypatch.setattr("devfix.verification.verifier.ThreadPoolExecutor", Pool)
    verifier = Verifier(
        lambda world, files, *_: plainly(world) if files["m.py"] == SOURCE else make_run(world),
        make_run(HOME, FIRST), FILES, [HOME, CPU], plainly, threads=threads,
    )  # fmt: skip
    candidate = verifier.select_best([patch(FIX)], [DIAGNOSIS])[0]
    assert candidate is not None and verifier.confirm(candidate).verdict.outcome == "verified"
    assert pools == [expected, expected]


def test_of_verified_candidates_the_one_with_the_fewest_failing_worlds() -> None:
    """Without a patch the line fails with two GPUs too; each candidate fixes it in more worlds than the last."""
    fails = {b"none": (TWO, THREE), b"two": (THREE,), b"all": ()}

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        data = files["m.py"]
        worlds_still_failing = world != CPU if data == SOURCE else world in fails[data.split(b"\n")[0]]
        return make_run(
            world,
            FIRST if worlds_still_failing and data == SOURCE else failure(4, 1, 10) if worlds_still_failing else None,
        )

    verifier = Verifier(
        run, make_run(HOME, FIRST), FILES, [HOME, CPU, TWO, THREE], lambda world: run(world, FILES, False, ())
    )
    patches = [patch(name + b"\n" + SOURCE) for name in fails]
    kept, rejected = verifier.select_best(patches, [DIAGNOSIS])
    assert kept is not None and kept.patch is patches[2] and kept.worlds_still_failing == 0
    assert [candidate.worlds_still_failing for candidate in rejected] == [2, 1] and len(rejected) == 2
    said = "another verified candidate makes fewer copies, or runs in more worlds"
    assert {candidate.verdict.reason for candidate in rejected} == {said}


def test_no_more_candidates_are_made_than_can_be_tried() -> None:
    made: list[int] = []

    def patches() -> Iterator[Patch]:
        for number in range(100):
            made.append(number)
            yield patch(f"{number}\n".encode() + SOURCE)

    make_check(lambda world: make_run(world, failure(5, 3, 11) if world == HOME else FIRST)).verifier.select_best(
        patches(), [DIAGNOSIS]
    )
    assert len(made) == 24


def test_what_is_said_of_one_that_is_not_needed() -> None:
    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        return plainly(world) if files["m.py"] == SOURCE else make_run(world, copies=9)

    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME], plainly)
    kept, rejected = verifier.select_best([patch(b"1\n" + SOURCE), patch(b"2\n" + SOURCE)], [DIAGNOSIS])
    assert kept is not None and [(each.verdict.outcome, each.verdict.reason) for each in rejected] == [
        ("superseded", "another verified candidate makes no more copies or is nearer")
    ]


@pytest.mark.parametrize("weaker", [True, False])
def test_one_that_gets_further_stands_before_one_that_holds_on_weaker_evidence(weaker: bool) -> None:
    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            return plainly(world)
        return make_run(world, failure(5, 3, 11) if world == HOME and files["m.py"].startswith(b"further") else None)

    first = replace(patch(b"further\n" + SOURCE), rank=(1, 0))
    second = replace(patch(b"holds\n" + SOURCE), rank=(2 if weaker else 1, 0))
    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU], plainly)
    kept, rejected = verifier.select_best([first, second], [DIAGNOSIS])
    assert kept is not None and kept.patch is (first if weaker else second)
    assert [candidate.patch for candidate in rejected] == [second if weaker else first]
    assert rejected[0].verdict.outcome == ("verified" if weaker else "same-failure")


def test_after_one_that_gets_further_other_lines_come_first() -> None:
    tried: list[bytes] = []

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        name = files["m.py"].split(b"\n")[0]
        if files["m.py"] == SOURCE:
            return plainly(world)
        tried.append(name)
        return make_run(world, None if world != HOME else failure(5, 3, 11) if name == b"1" else failure(2, 1, 3))

    one, two, three = (patch(name + b"\n" + SOURCE) for name in (b"1", b"2", b"3"))
    three = replace(three, edits=(replace(three.edits[0], line=4),))
    Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU], plainly, 1).select_best([one, two, three], [DIAGNOSIS])
    assert list(dict.fromkeys(tried)) == [b"1", b"3", b"2"]


def test_nothing_is_kept_once_the_failure_has_been_seen_to_be_flaky() -> None:
    plain = [make_run(HOME)]

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE:
            return plain.pop() if plain and world == HOME else plainly(world)
        return make_run(world, failure(5, 3, 11) if world == HOME and files["m.py"].startswith(b"further") else None)

    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU], plainly, 1)
    kept, rejected = verifier.select_best([patch(b"further\n" + SOURCE), patch(b"holds\n" + SOURCE)], [DIAGNOSIS])
    assert verifier.is_flaky and kept is None and len(rejected) == 2


@pytest.mark.parametrize(
    ("kind", "home", "world", "outcome", "expected"),
    [
        ("no-device", CPU, MAC, "dtype-on-device", True),
        ("no-device", CPU, MAC, "no-device", False),  # it failed so before, elsewhere
        ("no-device", CPU, HOME, "dtype-on-device", False),
        ("no-device", MAC, MAC, "dtype-on-device", False),
        ("device-mismatch", HOME, MAC, "dtype-on-device", False),
    ],
)
def test_a_program_that_is_led_to_another_accelerator_and_fails_there_still_fails(
    kind: FailureKind, home: World, world: World, outcome: FailureKind, expected: bool
) -> None:
    before = make_run(home, replace(failure(3, 1, 10), kind=kind))
    after = make_run(world, replace(failure(4, 1, 10), kind=outcome))
    assert still_fails(before, after, patch(SOURCE.replace(b"other", b"another")).edits) is expected
