"""Format failures, endings and differences for pages and people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import unified_diff

from devfix.model import Failure, Outcome, Run


def format_failure(failure: Failure) -> str:
    """Return a failure as pages contain it: `KIND at PATH:LINE`, then the exception and its message."""
    at = failure.at
    where = f" at {at.shown}" if at is not None and at.owned else ""
    return f"{failure.kind}{where}\n{failure.exception}: {failure.message.strip()}"


def lasting(text: str) -> str:
    """Return the part of a formatted failure that a page can quote for any build of torch.

    Without a GPU, a CPU build raises AssertionError ("Torch not compiled with CUDA enabled") or AttributeError, and a
    CUDA build raises RuntimeError ("Found no NVIDIA driver on your system").
    """
    return text.split("\n", 1)[0] if text.startswith("no-device") else text


def matches_failure(wanted: str, text: str) -> bool:
    """Return whether each line of a page's failure occurs in the actual one; `…` or `...` matches anything.

    Torch changes the wording of its messages, so a page quotes the part that stays.
    """
    whole = " ".join(text.split())
    return all(_pattern(line).search(whole) for line in wanted.splitlines() if line.strip())


def _pattern(line: str) -> re.Pattern[str]:
    parts = [re.escape(" ".join(part.split())) for part in re.split(r"…|\.\.\.", line)]
    return re.compile(r"(?<!\w)" + ".*".join(parts) + ("" if line.rstrip().endswith(("…", "...")) else r"(?!\w)"))


def format_ending(run: Run) -> str:
    """Return how a run ended: the failure, else the end of its stderr."""
    if run.outcome is Outcome.FAILED and run.failure is not None:
        return format_failure(run.failure)
    ending = f"{run.outcome.value} in the world {run.world.name}"
    problem = "".join(f"\n{line}" for line in (*run.internal_errors, *run.notes))
    return "\n".join([ending + problem, *run.stderr.strip().splitlines()[-12:]])


def differences(old: Mapping[str, bytes], new: Mapping[str, bytes], old_name: str, new_name: str) -> str:
    """Return the lines in which files differ, as a unified diff."""
    parts: list[str] = []
    for path in sorted({*old, *new}):
        before, after = (files.get(path, b"").decode("utf-8", "replace").splitlines() for files in (old, new))
        lines = unified_diff(before, after, f"{path} ({old_name})", f"{path} ({new_name})", lineterm="", n=2)
        parts += lines
    return "\n".join(parts)
