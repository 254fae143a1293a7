"""Parameters, buffers and layers of a moved module that the code under test has replaced by ones on the host.

`p.data = torch.zeros(p.shape)` takes a parameter back to the CPU, and the next call of the module fails on a GPU; so
does `self.table = nn.Embedding(size, 2)` in a method that resizes. Test code's first call would move it again: before
that it is noted, as a result that the code under test leaves on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...provenance import records
from ...simulation import hooks
from ...simulation.patching import undo_with
from .. import boundaries, creations, modules
from . import kept, silent

_MOST = 10_000
_assigned: dict[int, creations.Creation] = {}  # by the moment at which a tensor got its data: where these were created


def look(module: Any) -> None:
    """Note what replaced a tensor of a module since its move; in a strict run, fail."""
    for name, tensor in _replaced_tensors(module):
        creation = _creation(tensor)
        if creation is not None and silent.note_result(creation, name) and silent.is_strict():
            silent.fail("torch.nn.Module.__call__", tensor)


def _replaced_tensors(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tensors on the host that a moved module had elsewhere, each with its name."""
    for inner, arrived, names in kept.arrivals(module):
        for name, tensor in (*inner.named_parameters(recurse=False), *inner.named_buffers(recurse=False)):
            if tensor.device.type == "cpu" and name in names and _is_younger(tensor, arrived):
                yield f"{type(inner).__name__}.{name}", tensor
        for name, layer in inner.named_children():
            if name in names and not kept.has_arrived(layer):
                on_host = (each for each in modules.tensors_of(layer) if each.device.type == "cpu")
                if (tensor := next((each for each in on_host if _is_younger(each, arrived)), None)) is not None:
                    yield f"{type(inner).__name__}.{name}", tensor


def _is_younger(tensor: Any, moment: int) -> bool:
    history = records.of(tensor) or ()
    return any(event is not None and event[records.MOMENT] > moment for event in history[records.CREATION :])


def _creation(tensor: Any) -> creations.Creation | None:
    """Return where the code under test has created a tensor, or the one whose data it has now."""
    history = records.of(tensor)
    assigned = None if history is None else history[records.MOVE]
    known = None if assigned is None else _assigned.get(assigned[records.MOMENT])
    return known or boundaries.creation_of(tensor)


def install() -> None:
    """Look at each module before test code first calls it, and hear of assignments to the data of a tensor."""
    before, modules.before_call = modules.before_call, look
    heard = hooks.on_data_set
    _assigned.clear()

    def hear(tensor: Any, value: Any) -> None:
        heard(tensor, value)
        creation, history = boundaries.creation_of(value), records.of(tensor)
        if creation is not None and history is not None and history[records.MOVE] and len(_assigned) < _MOST:
            _assigned[history[records.MOVE][records.MOMENT]] = creation

    hooks.on_data_set = hear

    def restore() -> None:
        modules.before_call, hooks.on_data_set = before, heard

    undo_with(restore)
