"""Device failures of the code under test that it, or a test, has caught: noted as they are raised.

A user gets a fallback, a warning or nothing in their place. Those of tensors on two devices count. A tensor that
refuses to become an array does not: who asks for one, and catches what a GPU says to that, has a way around it.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from ...capture import kinds
from ...capture.failure_recorder import MARK
from ...simulation import hooks
from ...simulation.patching import undo_with
from ..whose import HANDLER, Whose, kind_of
from . import blame, silent

_KINDS = kinds.MIXED | {"generator-device", "gradient-device", "incompatible-data", "optimizer-state"}
_MOST = 5  # of one test
_raised: dict[int, BaseException] = {}  # by the number of the failure


def _note(exception: BaseException) -> None:
    mark: Any = getattr(exception, MARK, None)
    is_wanted = mark is not None and mark[1] not in _raised and len(_raised) < _MOST
    if is_wanted and kinds.kind_of(str(exception)) in _KINDS and _is_of_code(sys._getframe(2)):
        _raised[mark[1]] = exception if silent.is_strict() else _without_frames(exception)


def _is_of_code(frame: FrameType | None) -> bool:
    """Return whether the innermost frame but for torch's and the probe's is of the code under test, and no tool's."""
    while frame is not None:
        kind = kind_of(frame.f_code)
        if kind not in (Whose.TORCH, Whose.PROBE) and frame.f_code.co_name != HANDLER:
            return kind == Whose.CODE
        frame = frame.f_back
    return False


def _without_frames(exception: BaseException) -> BaseException:
    """Return an exception with the marks of another one, which would keep the objects of its frames alive."""
    copy = Exception(str(exception))
    vars(copy).update(vars(exception))
    return copy


def take() -> list[BaseException]:
    """Return what the code under test has raised in the test at hand, caught or not, and forget it."""
    raised = list(_raised.values())
    _raised.clear()
    return raised


def fails(failure: dict[str, Any]) -> bool:
    """Return whether a strict run fails by a failure that was caught: where it was raised, or made a tensor of it."""
    events = (event for each in failure["operands"] for event in each.get("history") or ())
    places = [blame.raising_place(failure), *(place for event in events for place in event["places"])]
    return any(silent.fails_at(each["path"], each["line"], str(each.get("function", ""))) for each in places)


def numbers(exception: BaseException | None) -> set[int]:
    """Return the numbers of the failures that an exception comes from."""
    found: set[int] = set()
    for _ in range(20):
        if exception is None:
            break
        if (mark := getattr(exception, MARK, None)) is not None:
            found.add(mark[1])
        exception = exception.__cause__ or exception.__context__
    return found


def install() -> None:
    """Note failures, behind what marks and records them."""
    failed = hooks.failed
    _raised.clear()

    def note_failure(exception: BaseException, func: Any, args: Any, kwargs: Any) -> None:
        failed(exception, func, args, kwargs)
        _note(exception)

    hooks.failed = note_failure

    def restore() -> None:
        hooks.failed = failed

    undo_with(restore)
