"""Parse `CUDA_VISIBLE_DEVICES` as the CUDA driver does; also used by devfix itself."""

from __future__ import annotations

import re
from itertools import takewhile

NAME = "CUDA_VISIBLE_DEVICES"


def uuid(index: int) -> str:
    """Return the UUID of a simulated GPU."""
    return f"GPU-{index:08d}-0000-0000-0000-000000000000"


def visible(text: str | None, gpus: int) -> list[int]:
    """Return the indexes of the GPUs that a process sees, if the machine has `gpus` and the variable is `text`.

    None stands for a variable that is not set. As in the driver, the first entry that names no GPU ends the list, and a
    duplicate entry empties it. A GPU is named by its number or by a prefix of its UUID.
    """
    if text is None:
        return list(range(gpus))
    seen: list[int] = []
    for entry in text.split(","):
        index = _index(entry.strip(), gpus)
        if index is None:
            break
        if index in seen:
            return []
        seen.append(index)
    return seen


def needed_gpus(text: str | None, gpus: int) -> int:
    """Return how many GPUs a machine must have to have all that `text` names by number; 0 if `gpus` are enough."""
    listed = takewhile(re.compile(r"\s*\d{1,3}\s*").fullmatch, (text or "").split(","))
    numbers = [int(entry) for entry in listed]
    return max(numbers) + 1 if numbers and max(numbers) >= gpus else 0


def _index(entry: str, gpus: int) -> int | None:
    if entry.startswith("GPU-"):
        found = [index for index in range(gpus) if uuid(index).startswith(entry)]
        return found[0] if len(found) == 1 else None
    number = re.match(r"\+?(\d+)", entry)
    return int(number[1]) if number is not None and int(number[1]) < gpus else None
