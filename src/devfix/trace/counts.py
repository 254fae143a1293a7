"""What operators did, out of a trace: at the places asked for, and in the whole run."""

from __future__ import annotations

from typing import Any

from devfix.model import Checksum, OperatorCount, OperatorTotals
from devfix.trace import values


def visit(raw: dict[str, Any]) -> OperatorCount:
    """Return what an operator did at the places."""
    ran, failed = values.number(raw.get("ran")), values.number(raw.get("failed"))
    works, same = raw.get("works") is not False, raw.get("same") is True
    return OperatorCount(values.text(raw.get("op"), 200), ran, failed, works, values.number(raw.get("device")), same)


def computed(raw: dict[str, Any]) -> OperatorTotals:
    """Return what an operator computed."""
    host, device = values.number(raw.get("host")), values.number(raw.get("device"))
    return OperatorTotals(
        values.text(raw.get("op"), 200), host, device, values.real(raw.get("total")), values.real(raw.get("size"))
    )


def summed(raw: object) -> Checksum | None:
    """Return the values of a tensor in short, None where they are not told."""
    sums = values.items(raw)
    return Checksum(values.real(sums[0]), values.real(sums[1])) if len(sums) == 2 else None
