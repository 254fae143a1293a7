"""Identify a failure across runs, commits and moved lines."""

from __future__ import annotations

import hashlib
import json

from devfix.model import DeviceType
from devfix.report.failure_types import FailureRecord, PlaceRecord
from devfix.report.types import ReportRecord


def failure_id(failure: FailureRecord) -> str:
    """Return twelve characters that stay the same while the failing line and its operands do.

    Line numbers, shapes, the operator's name and the message are not included: they change with edits above, with the
    data and with the version of torch.
    """
    at = failure.at or PlaceRecord(path="", line=0)
    named = sorted({operand.name for operand in failure.operands})
    return _digest(failure.kind, at.path, at.function, at.source.strip(), named)


def program_id(data: ReportRecord) -> str:
    """Return twelve characters for the command, its folder and its number of GPUs, whatever the outcome."""
    gpus, current = (data.world.gpus, data.world.current) if data.world else (0, 0)
    # CUDA's is left out, so that what was recorded before there were others stays the same.
    others = (data.world.device.value,) if data.world and data.world.device is not DeviceType.CUDA else ()
    return _digest(data.command, data.subfolder, gpus, current, *others)


def _digest(*parts: object) -> str:
    # ASCII: a string with a lone surrogate has no UTF-8.
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:12]
