"""Mark a failure as it is raised: with what the test has passed, and what a cache has served."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ...provenance import records
from ...simulation import hooks
from ...simulation.patching import undo_with
from .. import boundaries, dtypes, modules
from . import stale

MARK = "_devfix_handed_over"
STALE = "_devfix_stale"
MET = "_devfix_met"
KEPT = "_devfix_kept_by_suite"
ASKED = "_devfix_asked_for_dtype"
TOLD = "_devfix_told_gpu"


def install() -> None:
    """Mark each failure by what the test has passed."""
    failed = hooks.failed

    def mark_failure(exception: BaseException, func: Any, args: Any, kwargs: Any) -> None:
        if getattr(exception, MARK, None) is None:
            with contextlib.suppress(Exception):  # it takes no attributes, or an object raises as it is looked at
                setattr(exception, MARK, boundaries.handed_over(sys._getframe(1), (args, kwargs)))
                if stale.is_wanted():
                    setattr(exception, MET, _creations((args, kwargs)))
                setattr(exception, STALE, stale.served_location(sys._getframe(1), (args, kwargs)))
                setattr(exception, KEPT, stale.is_kept_by_suite(sys._getframe(1), (args, kwargs)))
                setattr(exception, TOLD, any(map(boundaries.was_told_gpu, tree_leaves((args, kwargs)))))
                if isinstance(exception, TypeError):
                    setattr(exception, ASKED, dtypes.asked_for(sys._getframe(1)))
        failed(exception, func, args, kwargs)

    hooks.failed = mark_failure

    def restore() -> None:
        hooks.failed = failed

    undo_with(restore)


def handed_over(exception: BaseException | None) -> str:
    """Return what was passed to the call that raised an exception, or one that it comes from."""
    return str(_find_mark(exception, MARK) or "")


def served_location(exception: BaseException | None) -> dict[str, Any] | None:
    """Return where the tensor was made that a cache has served to the call that raised an exception."""
    found: dict[str, Any] | None = _find_mark(exception, STALE)
    return found


def is_kept_by_suite(exception: BaseException | None) -> bool:
    """Return whether the call that raised an exception was given what test code keeps of a warm-up."""
    return bool(_find_mark(exception, KEPT))


def asks_for_dtype(exception: BaseException | None) -> bool:
    """Return whether test code asked for a dtype that the GPU lacks, in the call that raised an exception."""
    return bool(_find_mark(exception, ASKED))


def was_told_gpu(exception: BaseException | None) -> bool:
    """Return whether a tensor that an exception is about was to be made on a GPU, by the `device` that a call got."""
    return bool(_find_mark(exception, TOLD))


def moves_module(exception: BaseException | None) -> bool:
    """Return whether an exception was raised as a module of test code was moved."""
    return bool(_find_mark(exception, modules.MOVES_MODULE))


def strays(exception: BaseException | None, device: torch.device) -> set[int]:
    """Return the creations of the tensors on a device that an operator was given when it raised."""
    return {moment for moment, place in _find_mark(exception, MET) or () if place == device}


def _creations(values: Any) -> list[tuple[int, torch.device]]:
    tensors = [each for each in tree_leaves(values) if isinstance(each, torch.Tensor)]
    return [(moment, each.device) for each in tensors if (moment := records.creation_moment(each)) is not None]


def _find_mark(exception: BaseException | None, name: str) -> Any:
    for _ in range(20):
        if exception is None:
            return None
        if found := getattr(exception, name, None):
            return found
        exception = exception.__cause__ or exception.__context__
    return None
