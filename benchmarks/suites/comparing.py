"""What became of each test of a suite on the CPU and on simulated devices, and where the two differ."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_RANK = {"passed": 0, "skipped": 1, "failed": 2}
_DEVICE = re.compile(r"(?<![A-Za-z])((cuda|xpu|mps)(:0|0)?|cpu)(?![A-Za-z])|CUDA|CPU")
_PADDING = re.compile(r"(?<=_)0+(?=\d)")  # numbered cases are padded, the wider the more there are: a GPU gives more
_PLACE = re.compile(r"\b0x[0-9a-f]+|/tmp/\S+")
_NOT_RUN = {"outcome": "not run", "words": ""}
Results = dict[str, dict[str, Any]]


def read(written: Path, varying: str = "") -> tuple[Results, dict[str, Any]]:
    """Return what became of each test, by a name that is the same with every device, and how the run ended.

    `varying` is a pattern of what else in a name hangs on the devices: cases renumbered where there is a GPU.
    Of tests that have one name then (those for the CPU and the GPU) the worst is told, and the longest time.
    """
    results: Results = {}
    end: dict[str, Any] = {}
    for line in written.read_text("utf-8").splitlines():
        told = json.loads(line)
        if "seconds" in told:
            end = told
            continue
        name = _PADDING.sub("", _DEVICE.sub("*", told["test"]))
        name = re.sub(varying, "*", name) if varying else name
        known = results.get(name)
        if known is not None and "worked" in told:
            known["worked"] = told["worked"] = max(told["worked"], known.get("worked", 0.0))
        if known is None or _RANK[known["outcome"]] < _RANK[told["outcome"]]:
            results[name] = told
    return results, end


def differences(host: Results, other: Results) -> dict[str, str]:
    """Return the tests that end otherwise on the device than on the CPU, with the words of the one that does not pass.

    Left out are those that pass on the GPU and need one: on the CPU they are skipped, or are not there.
    """
    found = {}
    for name in sorted({*host, *other}):
        here, there = (results.get(name, _NOT_RUN) for results in (host, other))
        outcomes = here["outcome"], there["outcome"]
        if outcomes[0] == outcomes[1] or ("passed" not in outcomes and outcomes[1] != "failed"):
            continue
        if outcomes[1] != "passed":
            found[name] = _said(there, "" if outcomes[0] == "passed" else f" ({outcomes[0]} on the CPU)")
        elif outcomes[0] == "failed":
            found[name] = _said(here, " on the CPU")
    return found


def needing(host: Results, there: Results) -> int:
    """Return how many tests pass on the GPU and are not run on the CPU."""
    passing = (name for name, told in there.items() if told["outcome"] == "passed")
    return sum(host.get(name, _NOT_RUN)["outcome"] not in ("passed", "failed") for name in passing)


def times(host: Results, there: Results) -> str:
    """Return how much longer the tests take on GPUs that are run on both, "" where the results do not tell."""
    both = [(told["worked"], there[name]["worked"]) for name, told in host.items() if _timed(told, there.get(name))]
    return f"{sum(second for _, second in both) / max(sum(first for first, _ in both), 0.1):.2f}" if both else ""


def _timed(told: dict[str, Any], other: dict[str, Any] | None) -> bool:
    return other is not None and all("worked" in each and each["outcome"] != "skipped" for each in (told, other))


def _said(told: dict[str, Any], where: str) -> str:
    return f"{told['outcome']}{where}: {' '.join(_PLACE.sub('…', told['words']).split())[:300]}"


def cause(name: str, words: str, causes: dict[str, str]) -> str:
    """Return the cause of a difference, "" where nobody has looked into it."""
    return next((cause for part, cause in causes.items() if part in name or part in words), "")
