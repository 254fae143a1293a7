"""Who is to blame for a failure of a lifted run: the code under test, or the lift itself."""

from __future__ import annotations

from typing import Any

from . import marks
from .whose import Whose, kinds, learn

Json = dict[str, Any]
FINDING, ARTEFACT = "finding", "artefact"
_OF_THE_LIFT = frozenset({"fork", "pin-memory", "no-device", "deserialize", "collective"})


def blame(failure: Json, exception: BaseException | None) -> tuple[str, str]:
    """Return whether a failure is a finding or an artefact of the lift, and why.

    It is a finding where the code under test raised it, of tensors that this code has made or kept itself. What the
    test handed over on the host it would have moved first.
    """
    whose = [_whose(frame) for frame in failure["frames"]]
    raising = _raising(whose)
    if raising is None or whose[raising] == Whose.TEST:
        return ARTEFACT, "raised in test code"
    if marks.served(exception):
        return FINDING, "a cache serves a tensor of another device"
    if marks.is_kept_by_suite(exception):
        return ARTEFACT, "the test keeps what it made on another device"
    if failure["kind"] in _OF_THE_LIFT:
        return ARTEFACT, f"what a lifted test does not do on a GPU ({failure['kind']})"
    if Whose.TEST not in whose[:raising]:
        return FINDING, "raised in the code under test"
    if name := marks.handed_over(exception):
        return ARTEFACT, f"the test hands over {name}, which lies on the host"
    return FINDING, "raised in the code under test"


def raising_place(failure: Json) -> Json:
    """Return the innermost place of the suite or of the code under test."""
    at = _raising([_whose(frame) for frame in failure["frames"]])
    return failure["frames"][-1 if at is None else at]["place"]  # type: ignore[no-any-return]


def _raising(whose: list[Whose]) -> int | None:
    return next((at for at in reversed(range(len(whose))) if whose[at] <= Whose.CODE), None)


def _whose(frame: Json) -> Whose:
    path = frame["place"]["path"]
    return kinds[path] if path in kinds else learn(path)
