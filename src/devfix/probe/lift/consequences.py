"""Tensors of the host that are there because another one is, in a run that goes past the lines of known findings.

There the tensor of a known finding stays on the host, and the code under test makes others where that one is
(`torch.rand(3, device=kept.device)`, `kept.new_zeros(3)`). With the finding repaired they are on the GPU.
"""

from __future__ import annotations

from typing import Any

from ..provenance import records

_MOST = 100_000  # creations of one test
_placed: set[int] = set()  # the moments of creations that were told where


class _Run:
    goes_past = False


def go_past(is_wanted: bool) -> None:
    """Say whether the run goes past known findings."""
    _Run.goes_past = is_wanted


def note(made: Any, device: Any) -> None:
    """Note that a factory was told a device."""
    moment = records.creation_moment(made) if _Run.goes_past and device is not None else None
    if moment is not None and len(_placed) < _MOST:
        _placed.add(moment)


def is_one(tensor: Any) -> bool:
    """Return whether a tensor of the host was made where something else was."""
    history = records.of(tensor) if _Run.goes_past else None
    event = None if history is None else history[records.CREATION]
    if event is None:
        return False
    name = str(event[records.WHAT]).removeprefix("aten.").partition(".")[0]
    return event[records.MOMENT] in _placed or name.startswith("new_") or name.endswith("_like")


def forget() -> None:
    """Forget the creations of a test that has ended."""
    _placed.clear()
