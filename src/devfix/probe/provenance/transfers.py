"""Count copies between devices by the source line that made them."""

from __future__ import annotations

from typing import Any

from ..simulation.tensors.suspended_trace import is_traced, suspend_trace
from . import places

TO_HOST = "to-host"
_MOST = 20_000
_counted: dict[tuple[int, int, str], list[Any]] = {}  # code identity, instruction, direction -> stack, count, bytes


def direction(here: str, there: str) -> str:
    """Return the direction of a copy from device `there` to device `here`."""
    return TO_HOST if here == "cpu" else "to-device" if there == "cpu" else "between-devices"


def bytes_of(tensor: Any) -> int:
    """Return the size of a tensor's values; a trace would record the question, and answer with a tensor."""
    if not is_traced():
        return int(tensor.numel() * tensor.element_size())
    with suspend_trace():
        return int(tensor.numel() * tensor.element_size())


def count(direction: str, size: int, stack: places.Stack) -> None:
    """Count one copy, made at the innermost owned location, else the innermost."""
    if not stack:
        return
    owned = 0
    if places.kind_of(stack[0]) != places.OWNED:
        owned = next((at for at in range(2, len(stack), 2) if places.kind_of(stack[at]) == places.OWNED), 0)
    key = (id(stack[owned]), stack[owned + 1], direction)
    counted = _counted.get(key)
    if counted is None:
        if len(_counted) >= _MOST:
            return
        counted = _counted[key] = [stack[owned], stack[owned + 1], 0, 0]
    counted[2] += 1
    counted[3] += size


def export() -> list[dict[str, Any]]:
    """Write all copies, one entry for each line and direction."""
    lines: dict[tuple[str, int, str], dict[str, Any]] = {}
    for (_, _, direction), (code, instruction, number, size) in list(_counted.items()):
        place = places.describe(code, instruction)
        entry = lines.setdefault(
            (place["path"], place["line"], direction),
            {"place": place, "direction": direction, "count": 0, "bytes": 0},
        )
        entry["count"] += number
        entry["bytes"] += size
    return list(lines.values())


def reset() -> None:
    """Forget all counts, for a forked child."""
    _counted.clear()
