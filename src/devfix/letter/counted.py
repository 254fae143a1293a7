"""What operators did, out of a letter: at the places asked for, and in the whole run."""

from __future__ import annotations

from typing import Any

from devfix.letter import values
from devfix.model import Computed, Visit


def visit(raw: dict[str, Any]) -> Visit:
    """Return what an operator did at the places."""
    ran, failed = values.number(raw.get("ran")), values.number(raw.get("failed"))
    return Visit(
        values.text(raw.get("op"), 200), ran, failed, raw.get("works") is not False, values.number(raw.get("device"))
    )


def computed(raw: dict[str, Any]) -> Computed:
    """Return what an operator computed."""
    host, device = values.number(raw.get("host")), values.number(raw.get("device"))
    return Computed(
        values.text(raw.get("op"), 200), host, device, values.real(raw.get("total")), values.real(raw.get("size"))
    )
