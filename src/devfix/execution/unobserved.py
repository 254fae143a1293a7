"""Find processes of a program that used torch without a probe, so that nothing of them was recorded."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from devfix.process import Completed, TorchProcess

_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_MARK_LIMIT = 4_000  # bytes of a mark file, and mark files of a run


def find_unobserved(done: Completed, traces: Path) -> tuple[str, ...]:
    """Return a sentence for each process that loaded torch without the probe, or in which the probe could not start.

    The entry of the probe writes a mark to `traces` before torch is imported (docs/reference/trace-format.md).
    """
    images, problems = _marks(traces)
    said = [
        f"`{_command_text(each)}` (process {each.pid}) imported torch without devfix's probe: {_why(each)}"
        for each in done.with_torch
        if each.image not in images
    ]
    return (*said, *(f"the probe could not begin: {problem}" for problem in problems))


def _marks(folder: Path) -> tuple[set[str], list[str]]:
    """Return the program images with a probe, and why others have none."""
    images, problems = set(), []
    for path in sorted(folder.glob("*.begun"))[:_MARK_LIMIT]:
        try:
            image, _, problem = _text(path).partition("\n")
        except OSError:
            continue
        images.add(image)
        if problem:
            problems.append(f"process {path.stem}: {problem.splitlines()[0][:300]}")
    return images, problems


def _text(path: Path) -> str:
    # A program may create a pipe or a link there; neither is read.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("no regular file")
        return file.read(_MARK_LIMIT).decode("utf-8", "replace")


def _command_text(process: TorchProcess) -> str:
    shown = shlex.join(process.command)
    return shown if len(shown) <= 120 else f"{shown[:119]}…"


def _why(process: TorchProcess) -> str:
    flags = "".join(_flags(process))
    for flag in "IE":
        if flag in flags:
            return f"-{flag} makes Python ignore PYTHONPATH"
    if "S" in flags:
        return "-S keeps Python from running sitecustomize"
    if process.lacks:
        return f"it was started without the environment of the program ({' and '.join(process.lacks)})"
    return "another sitecustomize was found first, or its import path was changed"


def _flags(process: TorchProcess) -> Iterator[str]:
    """Yield the letters of the interpreter's own options."""
    words = iter(process.command[1:])
    for word in words:
        if word in _WITH_VALUE:
            next(words, None)
        elif word.startswith("-") and not word.startswith("--") and word != "-":
            yield word[1:].partition("c")[0].partition("m")[0]
            if "c" in word or "m" in word:
                return
        elif not word.startswith("--"):
            return
