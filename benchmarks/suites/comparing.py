"""What became of each test of a suite on the CPU and on the GPUs, and where the two differ."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_RANK = {"passed": 0, "skipped": 1, "failed": 2}
_DEVICE = re.compile(r"(?<![A-Za-z])(cuda(:0|0)?|cpu)(?![A-Za-z])|CUDA|CPU")
_PLACE = re.compile(r"\b0x[0-9a-f]+|/tmp/\S+")
Results = dict[str, dict[str, str]]


def read(written: Path) -> tuple[Results, dict[str, Any]]:
    """Return what became of each test, by a name that is the same on every device, and how the run ended.

    Of tests that have one name then (those for the CPU and the GPU) the worst is told.
    """
    results: Results = {}
    end: dict[str, Any] = {}
    for line in written.read_text("utf-8").splitlines():
        told = json.loads(line)
        if "seconds" in told:
            end = told
            continue
        name = _DEVICE.sub("*", told["test"])
        known = results.get(name)
        if known is None or _RANK[known["outcome"]] < _RANK[told["outcome"]]:
            results[name] = told
    return results, end


def differences(host: Results, cuda: Results) -> dict[str, str]:
    """Return the tests that pass on the CPU and do not on the GPU, with the words of their failure, and the reverse."""
    found = {}
    for name in sorted({*host, *cuda}):
        here, there = (results.get(name, {"outcome": "not run", "words": ""}) for results in (host, cuda))
        if here["outcome"] != there["outcome"] and "passed" in (here["outcome"], there["outcome"]):
            other, side = (there, "") if here["outcome"] == "passed" else (here, " on the CPU")
            found[name] = f"{other['outcome']}{side}: {' '.join(_PLACE.sub('…', other['words']).split())[:300]}"
    return found


def cause(name: str, words: str, causes: dict[str, str]) -> str:
    """Return the cause of a difference, "" where nobody has looked into it."""
    return next((cause for part, cause in causes.items() if part in name or part in words), "")
