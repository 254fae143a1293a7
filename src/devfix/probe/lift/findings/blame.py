"""Attribute a failure of a lifted run: to the code under test, or to the lift itself."""

from __future__ import annotations

from typing import Any

from ...simulation.accelerators import kinds as kinds_of_gpus
from .. import dtypes
from ..whose import HANDLER, Whose, kinds, learn
from . import marks

Json = dict[str, Any]
FINDING, ARTEFACT = "finding", "artefact"
_RAISED = "raised in the code under test"
# On a machine with another kind of GPU, "no-device" is CUDA taken for granted: no lift asks for CUDA there.
_OF_THE_LIFT = frozenset({"fork", "pin-memory", "no-device", "deserialize", "collective"})


def blame(failure: Json, exception: BaseException | None) -> tuple[str, str]:
    """Return whether a failure is a finding or an artefact of the lift, and why.

    It is a finding where the code under test raised it, of tensors that this code has made or kept itself. What the
    test passed on the host it would have moved first.
    """
    whose = [_whose(frame) for frame in failure["frames"]]
    raising = _raising(failure, whose)
    if failure["kind"] == "dtype-on-device":
        return _blame_dtype(failure, exception, raising is not None and whose[raising] == Whose.CODE)
    if raising is None or whose[raising] == Whose.TEST:
        return ARTEFACT, "raised in test code"
    if marks.served_location(exception):
        return FINDING, "a cache serves a tensor of another device"
    if marks.is_kept_by_suite(exception):
        return ARTEFACT, "the test keeps what it made on another device"
    if failure["kind"] in _OF_THE_LIFT and not (failure["kind"] == "no-device" and not kinds_of_gpus.now().is_cuda):
        return ARTEFACT, f"what a lifted test does not do on a GPU ({failure['kind']})"
    if Whose.TEST not in whose[:raising]:
        return FINDING, _RAISED
    if name := marks.handed_over(exception):
        return ARTEFACT, f"the test passes {name}, which is on another device"
    return FINDING, _RAISED


def _blame_dtype(failure: Json, exception: BaseException | None, is_in_code: bool) -> tuple[str, str]:
    """Return the same for a dtype that the GPU lacks: what test code makes of it was never meant for such a GPU.

    A module that cannot be moved is to blame on the code that made the tensor in it.
    """
    if dtypes.is_default() or marks.asks_for_dtype(exception):
        return ARTEFACT, "the test asks for a dtype that the GPU lacks"
    if is_in_code:
        name = marks.handed_over(exception)
        return (ARTEFACT, f"the test passes {name}, which is on the host") if name else (FINDING, _RAISED)
    if marks.moves_module(exception) and any(_is_made_by_code(each) for each in failure["operands"]):
        return FINDING, "a module holds a tensor of a dtype that the GPU lacks"
    return ARTEFACT, "the test makes a tensor of a dtype that the GPU lacks"


def _is_made_by_code(operand: Json) -> bool:
    """Return whether the innermost place at which a tensor was created belongs to the code under test."""
    place = _made_at(operand)
    return place is not None and _whose({"place": place}) == Whose.CODE


def _made_at(operand: Json) -> Json | None:
    """Return the innermost place of the suite or of the code under test at which a tensor was created."""
    places: list[Json] = next((event["places"] for event in operand.get("history") or ()), [])
    return next((place for place in places if _whose({"place": place}) <= Whose.CODE), None)


def raising_place(failure: Json) -> Json:
    """Return the innermost place of the suite or of the code under test; of a refused lift, the tensor's."""
    whose = [_whose(frame) for frame in failure["frames"]]
    at = _raising(failure, whose)
    if failure["kind"] == "dtype-on-device" and (at is None or whose[at] == Whose.TEST):
        made = next(filter(None, map(_made_at, filter(_is_made_by_code, failure["operands"]))), None)
        if made is not None:
            return made
    return failure["frames"][-1 if at is None else at]["place"]  # type: ignore[no-any-return]


def _raising(failure: Json, whose: list[Whose]) -> int | None:
    own = (at for at in reversed(range(len(whose))) if whose[at] <= Whose.CODE)
    return next((at for at in own if not _handles(failure["frames"][at])), None)


def _handles(frame: Json) -> bool:
    """Return whether a frame runs what its caller has called on a class of tensors."""
    return str(frame["place"].get("function", "")).rpartition(".")[2] == HANDLER


def _whose(frame: Json) -> Whose:
    path = frame["place"]["path"]
    return kinds[path] if path in kinds else learn(path)
