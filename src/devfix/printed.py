"""What a run printed: its last word, and whether a changed program prints something else."""

from __future__ import annotations

from collections.abc import Sequence

from devfix.model import Run


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


def last_line(run: Run) -> str:
    """How a run ended, in one line: the exception, the limit it broke, the signal, or the last line of its errors."""
    if run.failure is not None:
        return f"{run.failure.exception}: {run.failure.message}".split("\n")[0][:200]
    lines = run.stderr.strip().splitlines()
    if run.signal and run.trouble:  # a limit
        return run.trouble[-1][:200]
    return run.signal or (lines[-1][:200] if lines else f"exit code {run.exit_code}")
