"""Identify a failure across runs, commits and moved lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Record = Mapping[str, Any]


def failure_id(failure: Record) -> str:
    """Return twelve characters that stay the same while the failing line and its operands do.

    Line numbers, shapes, the operator's name and the message are not included: they change with edits above, with the
    data and with the version of torch.
    """
    at = failure["at"] or {}
    named = sorted({operand["name"] for operand in failure["operands"]})
    return _digest(failure["kind"], at.get("path", ""), at.get("function", ""), at.get("source", "").strip(), named)


def program_id(data: Record) -> str:
    """Return twelve characters for the command, its folder and its number of GPUs, whatever the outcome."""
    world = data["world"] or {}
    return _digest(data["command"], data.get("subfolder", ""), world.get("gpus", 0), world.get("current", 0))


def _digest(*parts: object) -> str:
    # ASCII: a string with a lone surrogate has no UTF-8.
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:12]
