"""The verdict on a patch, for programs that are functions: `verify` runs what it is handed and nothing else."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from verifier_cases import CPU, FILES, FIRST, HOME, SOURCE, TWO, failure, make_run, patch
from waiting import HANGS

from devfix.model import (
    CountRequest,
    Diagnosis,
    Finding,
    Outcome,
    Run,
    SourceLocation,
    World,
)
from devfix.verification.checks.stdout import last_line
from devfix.verification.verifier import Verifier


def choose(
    program: Callable[[World, bytes], Run], *afters: bytes, fails_always: bool = True
) -> tuple[object, list[tuple[str, str]]]:
    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if world == HOME and files["m.py"] == SOURCE:
            return make_run(HOME, FIRST if fails_always else None)
        return program(world, files["m.py"])

    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU, TWO], lambda world: program(world, SOURCE))
    diagnosis = Diagnosis("p/r", "", FIRST, Finding(1, ""))
    kept, rejected = verifier.select_best([patch(after) for after in afters], [diagnosis])
    return (kept and kept.patch.title.encode()), [(each.verdict.outcome, each.verdict.reason) for each in rejected]


def test_keeps_the_first_that_holds_in_every_world() -> None:
    assert choose(lambda world, data: make_run(world), b"one", b"two")[0] == b"one"


def test_drops_one_that_breaks_the_world_without_a_gpu() -> None:
    def program(world: World, data: bytes) -> Run:
        return make_run(world, failure(1, 1, 1) if world == CPU and data == b"one" else None)

    kept, rejected = choose(program, b"one", b"two")
    assert kept == b"two"
    assert rejected[0][0] == "regressed" and "cpu ran before" in rejected[0][1]


def test_forgives_a_world_that_failed_before() -> None:
    assert choose(lambda world, data: make_run(world, FIRST if world == TWO else None), b"one")[0] == b"one"


def test_drops_one_that_breaks_two_gpus() -> None:
    def program(world: World, data: bytes) -> Run:
        return make_run(world, FIRST if world == TWO and data == b"one" else None)

    kept, rejected = choose(program, b"one", b"two")
    assert kept == b"two" and rejected[0][0] == "regressed"


def test_drops_one_that_prints_something_else_on_the_cpu() -> None:
    def program(world: World, data: bytes) -> Run:
        return make_run(world, stdout="2\n" if world == CPU and data == b"one" else "1\n")

    kept, rejected = choose(program, b"one", b"two")
    assert kept == b"two" and rejected[0][0] == "behaviour-changed"


def test_does_not_compare_what_changes_from_run_to_run() -> None:
    count = iter(range(99))
    assert choose(lambda world, data: make_run(world, stdout=str(next(count))), b"one")[0] == b"one"


def test_drops_one_that_holds_only_once() -> None:
    seen: list[bytes] = []

    def program(world: World, data: bytes) -> Run:
        seen.append(data)
        again = world == HOME and data == b"one" and seen.count(b"one") > 1
        return make_run(world, FIRST if again else None)

    kept, rejected = choose(program, b"one", b"two")
    assert kept == b"two" and "does not repeat" in rejected[0][1]


def test_leaves_a_flaky_failure_alone() -> None:
    kept, rejected = choose(lambda world, data: make_run(world), b"one", b"two", fails_always=False)
    assert kept is None and len(rejected) == 1 and "flaky" in rejected[0][1]


def test_rejects_one_that_only_moves_the_crash_of_the_same_tensor() -> None:
    def program(world: World, data: bytes) -> Run:
        moved = world == HOME and data != b"good"
        return make_run(world, failure(4, 1, 11) if moved else None)

    kept, rejected = choose(program, b"a = make()\nb = other()\nuse(a.to(d))\nuse(b)\n", b"good")
    assert kept == b"good"
    assert rejected[0][0] == "same-failure" and "same cause" in rejected[0][1]


def test_keeps_one_that_gets_to_a_failure_with_another_cause() -> None:
    def program(world: World, data: bytes) -> Run:
        return make_run(world, failure(4, 2, 11) if world.kind != "cpu" else None)

    assert choose(program, b"a = make(d)\nb = other()\nuse(a)\nuse(b)\n")[0] is not None


def test_rejects_one_whose_next_failure_is_fixed_by_one_that_holds() -> None:
    def program(world: World, data: bytes) -> Run:
        return make_run(world, failure(4, 2, 11) if world == HOME and data == b"moves" else None)

    kept, rejected = choose(program, b"moves", b"verified")
    assert kept == b"verified"
    assert rejected[0] == ("same-failure", "it only moves the crash to m.py:4: same cause, the fix kept fixes both")


def test_distinguishes_two_equal_creations_after_lines_have_shifted() -> None:
    def program(world: World, data: bytes) -> Run:
        return make_run(world, failure(5, 3, 11) if world.kind != "cpu" else None)

    assert choose(program, b"import d\na = make(d)\nb = other()\nuse(a)\nuse(b)\n")[0] is not None


def test_drops_one_that_fails_earlier() -> None:
    kept, rejected = choose(lambda world, data: make_run(world, failure(1, 2, 3)), b"one")
    assert kept is None and rejected[0][0] == "broken" and "earlier" in rejected[0][1]


def test_prefers_fewer_copies_over_one_in_a_loop() -> None:
    def program(world: World, data: bytes) -> Run:
        return make_run(world, copies=9 if data == b"loop" else 1)

    kept, rejected = choose(program, b"loop", b"once", b"last")
    assert kept == b"once"
    assert "no more copies" in rejected[-1][1] or rejected


def test_what_repeats_exactly_is_not_called_flaky() -> None:
    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        plain = files["m.py"] == SOURCE
        return make_run(world, FIRST if plain and world == HOME else None, stdout="1\n" if plain else "2\n")

    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU], lambda world: run(world, FILES, False, ()))
    kept, rejected = verifier.select_best([patch(b"one")], [Diagnosis("p/r", "", FIRST, Finding(1, ""))])
    assert kept is None and rejected[0].verdict.outcome == "behaviour-changed" and verifier.flaky == []


def test_a_limit_is_told_as_the_reason() -> None:
    def program(world: World, data: bytes) -> Run:
        ended = Run(
            world,
            (),
            Outcome.SIGNAL,
            None,
            0.1,
            signal="SIGKILL",
            internal_errors=("devfix ended the program: memory",),
        )
        return ended if data == b"one" else make_run(world)

    kept, rejected = choose(program, b"one", b"two")
    assert kept == b"two" and rejected[0][1].endswith("devfix ended the program: memory")


def test_where_operators_are_counted_is_where_the_failure_stands_after_the_edit() -> None:
    asked: list[Sequence[SourceLocation]] = []

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        asked.append(reach.locations)
        return make_run(world, FIRST if files["m.py"] == SOURCE and world == HOME else None)

    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME], lambda world: run(world, FILES, False, ()))
    verifier.run_on_failing_world(patch(b"import d\n" + SOURCE), Diagnosis("p/r", "", FIRST, Finding(1, "")))
    assert [(place.path, place.line) for place in asked[0]] == [("m.py", 4)]


MANY = [f"a = make()\nb = {number}\nuse(a)\nuse(b)\n".encode() for number in range(40)]


def test_how_many_candidates_are_tried() -> None:
    def same(world: World, data: bytes) -> Run:
        return make_run(world, FIRST if world == HOME else None)

    def further(world: World, data: bytes) -> Run:
        return make_run(world, failure(4, 2, 11) if world == HOME else None)

    def in_a_loop(world: World, data: bytes) -> Run:
        return make_run(world, copies=9, line=2)

    assert [len(choose(program, *MANY)[1]) for program in (same, further, in_a_loop)] == [24, 6, 6]
    assert [choose(program, *MANY)[0] for program in (same, further, in_a_loop)] == [None, MANY[0], MANY[0]]


def test_of_those_that_copy_in_a_loop_the_one_with_the_fewest_copies_is_kept() -> None:
    def program(world: World, data: bytes) -> Run:
        return make_run(world, copies=9 - MANY.index(data) if data in MANY else 9, line=2)

    kept, rejected = choose(program, *MANY[:7])
    assert kept == MANY[6] and len(rejected) == 6
    kept, rejected = choose(lambda world, data: make_run(world, copies=1 + (data == MANY[0]), line=2), *MANY[:7])
    assert kept == MANY[1] and len(rejected) == 2, "one that copies once a run is enough; two are tried at once"


def test_the_last_word_of_a_run() -> None:
    def said(**ended: object) -> str:
        plain = {"world": HOME, "command": (), "outcome": Outcome.OTHER, "exit_code": 1, "seconds": 0.1}
        return last_line(Run(**{**plain, **ended}))  # type: ignore[arg-type]

    assert said(failure=replace(FIRST, message="first\nsecond")) == "RuntimeError: first"
    assert said(stderr="one\ntwo\nthree\n") == "three"
    assert said() == "exit code 1"
    assert said(signal="SIGSEGV", stderr="one\n") == "SIGSEGV"
    assert (
        said(signal="SIGKILL", internal_errors=("a", "devfix ended the program: memory"))
        == "devfix ended the program: memory"
    )


def test_the_control_run_needs_no_fresh_process_and_the_first_world_does() -> None:
    asked: list[tuple[str, bool, bool]] = []

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        plain = files["m.py"] == SOURCE
        asked.append((world.name, plain, fresh))
        return make_run(world, FIRST if plain and world == HOME else None)

    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, TWO], lambda world: run(world, FILES, False, ()))
    assert verifier.select_best([patch(b"one")], [Diagnosis("p/r", "", FIRST, Finding(1, ""))])[0] is not None
    expected = [(HOME.name, False, False), (HOME.name, False, True), (HOME.name, True, False), (TWO.name, False, False)]
    assert sorted(asked) == sorted(expected)


def test_the_failure_is_repeated_once_and_beside_the_first_candidate() -> None:
    """Where a core is free: a program of an hour is not run for an hour more."""
    repeats, began = [0], threading.Event()

    def run(world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest) -> Run:
        if files["m.py"] == SOURCE and world == HOME:
            repeats[0] += 1
            began.set()
            return make_run(world, FIRST)
        assert began.wait(HANGS)
        return make_run(world)

    verifier = Verifier(run, make_run(HOME, FIRST), FILES, [HOME, CPU, TWO], lambda world: make_run(world))
    kept, _ = verifier.select_best([patch(b"one")], [Diagnosis("p/r", "", FIRST, Finding(1, ""))])
    assert kept is not None and kept.verdict.outcome == "verified"
    assert repeats == [1]
