"""Results that the code under test leaves on the host although it was given tensors on a GPU: nothing fails by them.

One is seen where the test puts it together with a tensor on the GPU, which its author would expect the result to be on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from . import boundaries

RESULT_ON_HOST = "result-on-host"
_MOST = 20  # of one test
_found: dict[tuple[Any, ...], dict[str, Any]] = {}


def look(values: Iterable[Any]) -> None:
    """Note which of some values, put together by a test, were made by a call that was given tensors on a GPU alone."""
    for value in values:
        if not isinstance(value, torch.Tensor) or value.device.type != "cpu":
            continue
        birth = boundaries.birth_of(value)
        if birth is not None and birth.given == boundaries.Given.GPU and len(_found) < _MOST:
            told = {"kind": RESULT_ON_HOST, "path": birth.path, "line": birth.line, "function": birth.function}
            _found.setdefault((birth.path, birth.line), {**told, "call": birth.call})


def take() -> list[dict[str, Any]]:
    """Return what the test at hand has shown, and forget it."""
    found = list(_found.values())
    _found.clear()
    return found
