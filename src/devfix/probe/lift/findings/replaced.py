"""Parameters and buffers of a moved module that the code under test has replaced by tensors of the host.

`p.data = torch.zeros(p.shape)` takes a parameter back to the CPU, and the next call of the module fails on a GPU. Test
code's first call would move it again: before that it is noted, as a result that the code under test leaves on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...provenance import records
from ...simulation.patching import undo_with
from .. import boundaries, modules
from . import kept, silent

_DATA = "torch.Tensor.data"  # as records name its assignment


def look(module: Any) -> None:
    """Note what replaced a tensor of a module since its move; in a strict run, fail."""
    for name, tensor, event in _replaced(module):
        place = boundaries.made_at(event[records.SPOTS])
        if place is not None:
            path, line, function = place
            call = boundaries.Call(function.rpartition(".")[2], path, line)
            if silent.note(silent.RESULT_ON_HOST, (path, line, function), call, name) and silent.is_strict():
                silent.fail("torch.nn.Module.__call__", tensor)


def _replaced(module: Any) -> Iterator[tuple[str, Any, records.Event]]:
    """Yield the tensors on the host that a moved module had elsewhere, each with its name and what replaced it."""
    for inner, arrived, names in kept.arrivals(module):
        for name, tensor in (*inner.named_parameters(recurse=False), *inner.named_buffers(recurse=False)):
            history = records.of(tensor) if tensor.device.type == "cpu" and name in names else None
            if history is None:
                continue
            assigned, created = history[records.MOVE], history[records.CREATION]
            if assigned is not None and assigned[records.WHAT] == _DATA and not assigned[records.FROM]:
                event = assigned
            else:
                event = created
            if event is not None and event[records.MOMENT] > arrived:
                yield f"{type(inner).__name__}.{name}", tensor, event


def install() -> None:
    """Look at each module before test code first calls it."""
    before, modules.before_call = modules.before_call, look

    def restore() -> None:
        modules.before_call = before

    undo_with(restore)
