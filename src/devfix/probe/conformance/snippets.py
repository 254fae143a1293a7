"""Small programs with what CUDA makes of them: read them from `.snippets` files, and run each in the world we are in.

A file begins with a line about itself. A snippet begins with `=== title -> expectation`; `[2]` after the title says
that it needs two GPUs. The expectation is `ok`, `Exception: how its message begins`, or one of two shorthands for the
mismatch whose wording differs between releases: `two FIRST SECOND` and `argument NAME DEVICE COMMON METHOD`. A line
`# before 2.8: EXPECTATION` that follows says what older releases of PyTorch make of it.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..simulation.accelerators.messages import VERSION
from ..simulation.operator_tables.dtypes import DTYPE_ERROR

_OLDER = re.compile(r"# before (\d+)\.(\d+): (.+)")


@dataclass(frozen=True)
class Snippet:
    """A small program: `gpus` is how many it needs, `expected` its result on CUDA in this release."""

    title: str
    gpus: int
    expected: str
    code: str


def read(folder: Path) -> Iterator[Snippet]:
    """Return every snippet of a folder, by file and position."""
    for file in sorted(folder.glob("*.snippets")):
        for part in re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            header, _, code = part.partition("\n")
            title, _, expected = header.rpartition(" -> ")
            two = title.endswith("[2]")
            title = f"{file.stem}: {title.removesuffix(' [2]')}"
            yield Snippet(title, 2 if two else 1, _expected_before(code) or expected.strip(), code)


def _expected_before(code: str) -> str:
    """Return what a release as old as this one makes of a snippet, if that is told; the oldest release comes first."""
    for line in code.splitlines():
        older = _OLDER.match(line)
        if older is None:
            break
        if (int(older[1]), int(older[2])) > VERSION:
            return older[3].strip()
    return ""


def run(snippet: Snippet) -> str:
    """Run a snippet in the current world: return "ok", or the exception's type and message.

    The stream, the default device and dtype are reset after it, since all snippets share a process.
    """
    file = f"<{snippet.title}>"
    # TorchScript reads the source of what it compiles.
    linecache.cache[file] = (len(snippet.code), None, snippet.code.splitlines(keepends=True), file)
    names: dict[str, Any] = {"torch": torch, "__name__": "__snippet__"}
    try:
        exec(compile(snippet.code, file, "exec"), names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        if torch.cuda.is_initialized():  # a capture that fails leaves its stream current, as on CUDA
            torch.cuda.set_stream(torch.cuda.default_stream())
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
    return "ok"


def agrees(outcome: str, expected: str) -> bool:
    """Return whether a result is the expected one; messages are compared up to the length of the expectation."""
    if expected == "ok" or outcome == "ok":
        return outcome == expected
    kind, _, text = expected.partition(": ")
    word, *rest = expected.split()
    message = outcome.partition(": ")[2]
    if word == "two":
        return message.startswith(
            f"Expected all tensors to be on the same device, but found at least two devices, {rest[0]} and {rest[1]}!"
        )
    if word == "argument":
        name, device, common, method = rest
        return message in (
            "Expected all tensors to be on the same device, "
            f"but got {name} is on {device}, different from other tensors on {common} "
            f"(when checking argument in method {method})",
            "Expected all tensors to be on the same device, "
            f"but found at least two devices, {common} and {device}! "
            f"(when checking argument for argument {name} in method {method})",
        )
    return _is_kind(outcome.partition(": ")[0], kind) and message.startswith(text)


def _is_kind(name: str, expected: str) -> bool:
    """Treat subclasses alike: an AcceleratorError (since 2.8) and NotImplementedError are RuntimeErrors."""
    if expected == "NotImplementedError" and name == "RuntimeError":
        return DTYPE_ERROR is RuntimeError
    if expected == "AcceleratorError" and name == "RuntimeError":
        return not hasattr(torch, "AcceleratorError")
    return name == expected or (expected == "RuntimeError" and name in ("AcceleratorError", "NotImplementedError"))
