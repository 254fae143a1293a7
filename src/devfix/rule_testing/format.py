"""Failures, endings and differences in words that a page can hold and a person can read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import unified_diff

from devfix.model import Failure, Outcome, Run


def tell(failure: Failure) -> str:
    """A failure as pages tell it: `KIND at PATH:LINE`, then the exception and its message."""
    at = failure.at
    where = f" at {at.path}:{at.line}" if at is not None and at.owned else ""
    return f"{failure.kind}{where}\n{failure.exception}: {failure.message.strip()}"


def lasting(told: str) -> str:
    """Return the part of a told failure that a page can quote, whichever build of torch runs its cases.

    Where a GPU is missing, a build for the CPU raises AssertionError ("Torch not compiled with CUDA enabled") or
    AttributeError, and a build for CUDA raises RuntimeError ("Found no NVIDIA driver on your system").
    """
    return told.split("\n", 1)[0] if told.startswith("no-device") else told


def is_told(wanted: str, told: str) -> bool:
    """Whether each line of a page's failure occurs in what was told; `…` or `...` stands for anything.

    Torch words its messages again now and then, so a page quotes the part that lasts.
    """
    whole = " ".join(told.split())
    return all(_pattern(line).search(whole) for line in wanted.splitlines() if line.strip())


def _pattern(line: str) -> re.Pattern[str]:
    parts = [re.escape(" ".join(part.split())) for part in re.split(r"…|\.\.\.", line)]
    return re.compile(r"(?<!\w)" + ".*".join(parts) + ("" if line.rstrip().endswith(("…", "...")) else r"(?!\w)"))


def tell_run(run: Run) -> str:
    """How a run ended: the failure, else the end of its standard error."""
    if run.outcome is Outcome.FAILED and run.failure is not None:
        return tell(run.failure)
    ending = f"{run.outcome.value} in the world {run.world.name}"
    trouble = "".join(f"\n{line}" for line in run.internal_errors)
    return "\n".join([ending + trouble, *run.stderr.strip().splitlines()[-12:]])


def differences(old: Mapping[str, bytes], new: Mapping[str, bytes], old_name: str, new_name: str) -> str:
    """The lines in which files differ, as a unified difference."""
    parts: list[str] = []
    for path in sorted({*old, *new}):
        before, after = (files.get(path, b"").decode("utf-8", "replace").splitlines() for files in (old, new))
        lines = unified_diff(before, after, f"{path} ({old_name})", f"{path} ({new_name})", lineterm="", n=2)
        parts += lines
    return "\n".join(parts)
