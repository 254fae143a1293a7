"""Loaders of data: test code gets their batches on the GPU, and the data themselves may lie there, too.

Lifted to another GPU than the first one, the code under test gets the batches of a loader that test code has made on
the host, where most programs have their data: it has to move them. Where a suite chooses its device, it is left alone.
"""

from __future__ import annotations

import multiprocessing
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._pytree import tree_map
from torch.utils.data import DataLoader, IterableDataset

from ...provenance import creations, records
from ...simulation.patching import wrap
from .. import devices
from ..whose import Whose, asks, works_for_test

_IN_THIS_PROCESS = {"num_workers": 0, "timeout": 0}
_of_test: weakref.WeakSet[Any] = weakref.WeakSet()


def _note_construction(original: Any) -> Any:
    """Note which loaders test code makes."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if works_for_test(1):
            _of_test.add(self)
        original(self, *args, **kwargs)

    return __init__


def _iterate_on_gpu(original: Any) -> Any:
    """Let test code get the batches of a loader on the GPU, also where the lift has put the data there."""

    def __iter__(self: Any) -> Any:
        with _reading(self, {} if devices.has_own_default() else _settings(self)):
            batches = original(self)
        if devices.has_own_default():
            return batches
        whose = asks(1)
        if whose == Whose.CODE and devices.target().index != 0 and self in _of_test and not devices.is_chosen():
            return map(_on_host, batches)
        return map(_batch, batches) if whose == Whose.TEST else batches

    return __iter__


def _settings(loader: Any) -> dict[str, Any]:
    """Return how a loader reads data that lie on the GPU, and in a test's author's program on the host.

    Forked processes cannot use a GPU, and its memory is not pinned. What a process has of its own, such as its part of
    an iterable dataset, is left to it.
    """
    context = loader.multiprocessing_context or multiprocessing
    is_forked = loader.num_workers > 0 and context.get_start_method() == "fork"
    is_shared_out = isinstance(loader.dataset, IterableDataset) or loader.worker_init_fn is not None
    return {"pin_memory": False, **(_IN_THIS_PROCESS if is_forked and not is_shared_out else {})}


@contextmanager
def _reading(loader: Any, settings: dict[str, Any]) -> Iterator[None]:
    """Give a loader other settings for as long as it begins to read."""
    said = {name: getattr(loader, name) for name in settings}
    vars(loader).update(settings)
    try:
        yield
    finally:
        vars(loader).update(said)


def _batch(batch: Any) -> Any:
    return batch.to(devices.target()) if hasattr(batch, "to") else devices.lift(batch)


def _on_host(batch: Any) -> Any:
    """Return a batch as a loader makes it whose data lie on the host."""

    def copied(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not devices.is_on_gpu(value):
            return value
        copy = value.detach().cpu()
        records.forget(copy)
        creations.record_creation(copy, "torch.utils.data.DataLoader", (), {})
        return copy

    return tree_map(copied, batch)


def install() -> None:
    """Patch the loader."""
    wrap(DataLoader, "__init__", _note_construction)
    wrap(DataLoader, "__iter__", _iterate_on_gpu)
