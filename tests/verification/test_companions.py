"""A change that also moves what the moved tensor meets earlier, where all of them were on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from devfix.model import (
    Diagnosis,
    Edit,
    Failure,
    Finding,
    Frame,
    Operand,
    Outcome,
    Patch,
    Run,
    Safety,
    SourceLocation,
    Verdict,
    World,
)
from devfix.pipeline.searching.companions import extend_to_companions, find_companion
from devfix.pipeline.searching.extend import is_further
from devfix.verification.candidate import CandidateResult

WORLD = World("simulated", 1)
LINES = (b"a\n", b"b\n", b"c\n")  # three tensors on the host, joined in one operation before the failing one
NAMES = "abc"


def text(moved: str) -> bytes:
    return b"".join(line.upper() if line.decode().strip() in moved else line for line in LINES)


def patch_of(name: str, before: str = "", title: str = "") -> Patch:
    edit = Edit("main.py", NAMES.index(name) + 1, text(before), text(before + name))
    return Patch("placement/input-not-moved", title or f"Move `{name}` to `device`", f"`{name}`.", Safety.SAFE, (edit,))


def tried(needed: str) -> Callable[[Patch], CandidateResult]:
    """A program that is clean once the needed ones are moved, and fails earlier while only some of them are."""

    def attempt(patch: Patch) -> CandidateResult:
        after = patch.edits[0].after
        left = [name for name in needed if name.encode() in after]
        operands = [Operand(name, "cpu" if name in left else "cuda:0") for name in needed]
        failure = Failure("device-mismatch", "RuntimeError", "…", operands=tuple(operands)) if left else None
        verdict = Verdict(
            "broken" if left else "verified", reason="it fails earlier, at main.py:4", next_failure=failure
        )
        run = Run(WORLD, (), Outcome.FAILED if left else Outcome.CLEAN, 0, 0.1, failure=failure)
        return CandidateResult(patch, {"main.py": after}, run, verdict)

    return attempt


def blamed(device: str = "cpu", peer: str = "cuda:0") -> Diagnosis:
    operands = (Operand("self", device, shape=(3,)), Operand("other", peer, shape=(3,)))
    return Diagnosis("p/r", "", Failure("device-mismatch", "RuntimeError", "…", operands=operands), Finding(0, ""))


def on_host(candidate: CandidateResult) -> Operand | None:
    return find_companion(candidate, blamed())


def moved(candidate: CandidateResult) -> str:
    return "".join(name for name in NAMES if name.upper().encode() in candidate.files["main.py"])


def next_one(candidate: CandidateResult) -> Iterator[Patch]:
    met = on_host(candidate)
    assert met is not None
    yield patch_of(met.argument, moved(candidate))


def test_what_the_tensor_meets_is_moved_with_it() -> None:
    attempt = tried("abc")
    (found,) = extend_to_companions([attempt(patch_of("a"))], on_host, next_one, attempt)
    assert found.verdict.outcome == "verified"
    (edit,) = found.patch.edits
    assert (edit.before, edit.after) == (text(""), text("abc"))
    assert found.patch.title == "Move `a`, `b` and `c` to `device`"
    assert found.patch.reason == "`a`. `b`. `c`."


def test_a_title_of_another_kind_says_that_there_is_more() -> None:
    attempt = tried("ab")
    (found,) = extend_to_companions([attempt(patch_of("a", title="Give it a device"))], on_host, next_one, attempt)
    assert found.patch.title == "Give it a device, and what it meets"


def test_the_candidate_with_the_fewest_changes_comes_first() -> None:
    """`c` is computed from `b`, so that a candidate for it moves both."""
    attempt = tried("abc")
    both = patch_of("c", "b")
    both = Patch(both.rule, both.title, both.reason, both.safety, (Edit("main.py", 2, text(""), text("bc")),))
    found = extend_to_companions([attempt(patch_of("a")), attempt(both)], on_host, next_one, attempt)
    assert [len(each.patch.reason.split()) for each in found] == [2, 3]


def test_patches_that_leave_it_where_it_is_are_tried_up_to_a_limit() -> None:
    attempt = tried("ab")
    asked = []

    def useless(candidate: CandidateResult) -> Iterator[Patch]:
        asked.append(candidate)
        yield Patch("r", "t", "b", Safety.SAFE, (Edit("other.py", 1, b"x\n", b"y\n"),))

    assert extend_to_companions([attempt(patch_of("a"))], on_host, useless, attempt) == []
    assert len(asked) == 6  # its history is unknown, so that only the limit ends it


def test_only_a_candidate_that_fails_on_the_device_of_the_tensor_has_a_companion() -> None:
    candidate = tried("ab")(patch_of("a"))
    found = find_companion(candidate, blamed())
    assert found is not None and found.argument == "b"
    assert find_companion(candidate, blamed("cuda:1")) is None
    assert find_companion(tried("a")(patch_of("a")), blamed()) is None


def test_nothing_follows_a_tensor_to_the_host() -> None:
    candidate = tried("ab")(patch_of("a"))
    assert find_companion(candidate, blamed("cuda:0", "cpu")) is None


def test_a_first_candidate_that_reaches_as_far_is_better_than_the_one_kept() -> None:
    """The candidate that comes first moves the data where it is made; the one kept moves what is computed of it."""
    places = [SourceLocation("main.py", line, "main", owned=True) for line in (9, 12)]
    nearer, later = (
        Failure("device-mismatch", "RuntimeError", "…", op=op, frames=(Frame(place),), operations=count)
        for op, place, count in zip(("aten::add", "aten::mul"), places, (20, 30), strict=True)
    )

    def leads_to(failure: Failure, rank: int, *objections: str) -> CandidateResult:
        patch = replace(patch_of("a"), rank=(rank, 0))
        run = Run(WORLD, (), Outcome.FAILED, 0, 0.1, failure=failure)
        verdict = Verdict("progressed", next_failure=failure, objections=objections)
        return CandidateResult(patch, {}, run, verdict)

    kept = leads_to(nearer, 3)
    assert is_further(leads_to(nearer, 2), kept) and is_further(leads_to(later, 3), kept)
    assert not is_further(leads_to(later, 4), kept)
    assert not is_further(leads_to(nearer, 2, "code converts it with numpy"), kept)
    assert not is_further(leads_to(nearer, 2), leads_to(later, 3))
    verified = replace(leads_to(nearer, 3), verdict=Verdict("verified"))
    assert is_further(verified, leads_to(later, 3))
