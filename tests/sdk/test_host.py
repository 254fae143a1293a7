"""A tensor is copied to the host in the argument that hands it to code which reads the host alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from mismatch_factory import after, meeting, place

from devfix.model import Event, NameRef, SourceLocation
from devfix.sdk.fixes.host import host_copies

CALL = "plot(mask)"


def copies(code: str, failing: str, names: Sequence[NameRef] = (), history: Sequence[Event] = ()) -> list[str]:
    """What the failing line reads with each copy."""
    diagnosis, source = meeting(code, failing, history=history)
    first, wrong = diagnosis.failure.operands
    failure = replace(diagnosis.failure, operands=(first, replace(wrong, names=tuple(names))))
    line = code[: code.index(failing)].count("\n")
    found = [after(each) for each in host_copies(replace(diagnosis, failure=failure), source)]
    return [each.splitlines()[line].strip() for each in found]


def event_at(*places: SourceLocation) -> Event:
    return Event("op", "aten::mul", "cuda:0", places)


@pytest.mark.parametrize(
    ("argument", "held", "expected"),
    [
        ("mask", NameRef(0, "mask"), ["mask.cpu()"]),
        # The outermost is what was handed over: had `norm` failed, it would be the failing call.
        ("norm(mask), mask", NameRef(0, "mask"), ["norm(mask), mask.cpu()"]),
        ("rows", NameRef(0, "rows[0]"), ["[each.cpu() for each in rows]"]),
        ("rows[1:], mask[0]", NameRef(0, "mask", "source"), ["rows[1:], mask[0].cpu()"]),
        ("rows.T, mask.T", NameRef(0, "mask", "source"), ["rows.T, mask.T.cpu()"]),
        ("rows", NameRef(0, "mask", "source"), []),
        ("rows", NameRef(1, "rows"), []),
    ],
)
def test_what_holds_the_tensor_is_copied(argument: str, held: NameRef, expected: list[str]) -> None:
    code = f"def f(rows, mask):\n    plot({argument})\n"
    assert copies(code, f"plot({argument})", [held]) == [f"plot({each})" for each in expected]


def test_what_computes_the_tensor_is_copied() -> None:
    code = "def f(x, y):\n    plot(x * 2, y * 3)\n"
    events = [event_at(place(code, "x * 2")), event_at(place(code, "y * 3"))]
    assert copies(code, "plot(x * 2, y * 3)", history=events) == ["plot(x * 2, (y * 3).cpu())"]
    assert copies(code, "plot(x * 2, y * 3)", history=events[:1]) == ["plot((x * 2).cpu(), y * 3)"]
    elsewhere = event_at(replace(place(code, "x * 2"), path="other.py"))
    assert copies(code, "plot(x * 2, y * 3)", history=[elsewhere]) == []


def test_each_element_of_a_list_display_is_copied() -> None:
    code = "def f(xs):\n    plot([x * 2 for x in xs])\n"
    assert copies(code, "plot([x * 2 for x in xs])", history=[event_at(place(code, "x * 2"))]) == [
        "plot([(x * 2).cpu() for x in xs])"
    ]
    code = "def f(xs):\n    plot(g(x) for x in xs)\n"
    assert copies(code, "plot(g(x) for x in xs)") == ["plot(g(x).cpu() for x in xs)"]


def test_what_has_no_name_is_what_a_call_gave() -> None:
    code = "def f(model, x):\n    plot(x, predict(model, x), 3)\n"
    inside = event_at(SourceLocation("main.py", 9, "predict", 9, 4, 9, owned=True))
    assert copies(code, "plot(x, predict(model, x), 3)", history=[inside]) == ["plot(x, predict(model, x).cpu(), 3)"]
    code = "def f(mask):\n    plot(norm(2), mask)\n"
    assert copies(code, "plot(norm(2), mask)", [NameRef(0, "mask")]) == ["plot(norm(2), mask.cpu())"]


def test_nothing_where_the_file_or_its_line_is_not_there() -> None:
    diagnosis, source = meeting(f"def f(mask):\n    {CALL}\n", CALL)
    at = diagnosis.failure.frames[0].place
    for frames in (
        (),
        (replace(diagnosis.failure.frames[0], place=replace(at, owned=False)),),
        (replace(diagnosis.failure.frames[0], place=replace(at, line=40, end_line=40)),),
    ):
        failure = replace(diagnosis.failure, frames=frames)
        assert list(host_copies(replace(diagnosis, failure=failure), source)) == []
    failure = replace(diagnosis.failure, operands=())
    assert list(host_copies(replace(diagnosis, failure=failure), source)) == []
