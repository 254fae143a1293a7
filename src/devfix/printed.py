"""Whether a changed program prints something else, where what it prints is not the same each time."""

from __future__ import annotations

from collections.abc import Sequence


def prints_else(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a line that is the same in all outputs before the change is another one in all outputs after it.

    Outputs of different lengths cannot be held side by side, and say nothing.

    >>> prints_else(["loss 1\\n0.3 s", "loss 1\\n0.4 s"], ["loss 2\\n0.3 s", "loss 2\\n0.5 s"])
    True
    >>> prints_else(["loss 1\\n0.3 s", "loss 1\\n0.4 s"], ["loss 1\\n0.9 s", "loss 1\\n0.5 s"])
    False
    """
    lines = [output.splitlines() for output in (*before, *after)]
    if len({len(each) for each in lines}) != 1:
        return False
    first, last = lines[: len(before)], lines[len(before) :]
    return any(
        len(set(old)) == len(set(new)) == 1 and old[0] != new[0]
        for old, new in zip(zip(*first, strict=True), zip(*last, strict=True), strict=True)
    )
