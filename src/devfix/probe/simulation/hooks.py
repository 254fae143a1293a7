"""Hooks between the simulation and the recording of provenance: functions that are no-ops at first.

The dispatcher (`dispatch.py`) and the patches call these hooks; provenance sets them when a world is entered, by
assigning to the module's attributes (`hooks.on_created = ...`). Callers must therefore use `hooks.on_created(...)`, and
never import the names.

Every tensor, plain or simulated, has the attribute `_devfix_record`: None at first (a class attribute of
`torch.Tensor`), set by provenance on simulated ones. It is neither copied nor pickled with the tensor.
"""

from __future__ import annotations

from typing import Any


def _ignore_creation(result: Any, func: Any, args: Any, kwargs: Any) -> None:
    """Do nothing; see `on_created`."""


def _ignore_derivation(result: Any, func: Any, source: Any) -> None:
    """Do nothing; see `fast_on_created`."""


def _ignore_move(result: Any, source: Any, func: Any) -> None:
    """Do nothing; see `moved`."""


def _ignore_change(tensor: Any, value: Any) -> None:
    """Do nothing; see `on_data_set`."""


def _ignore_reading(tensor: Any, func: Any) -> None:
    """Do nothing; see `read`."""


def _ignore_mixture(args: Any, kwargs: Any) -> None:
    """Do nothing; see `mixed`."""


def _ignore_success(func: Any) -> None:
    """Do nothing; see `on_completed`."""


def _ignore_failure(exception: BaseException, func: Any, args: Any, kwargs: Any) -> None:
    """Do nothing; see `failed`."""


FAILED = object()


def _leave_failed(error: BaseException, func: Any, args: Any, kwargs: Any) -> Any:
    """Return FAILED; see `again`."""
    return FAILED


on_created = _ignore_creation
"""on_created(result, func, args, kwargs): an operator created `result` (a tensor, or a tuple or list of them).

`func` is the OpOverload, or the qualified name of a function outside the dispatcher ("torch.from_numpy"). It is called
for plain CPU tensors and for simulated ones, before the caller gets the result; not for results that are not tensors.
"""

fast_on_created: dict[Any, Any] = {_ignore_creation: _ignore_derivation}
"""Fast path: creation callbacks that only need the source tensor, by the regular callback.

fast_on_created[on_created](result, func, source): an operator created the simulated tensor `result` from `source`, a
simulated one. It may be called for a composite operator instead of its parts.
"""

fast_on_created_cpu: dict[Any, Any] = {_ignore_creation: _ignore_derivation}
"""The same for a new host tensor that was created from a host tensor."""

moved = _ignore_move
"""moved(result, source, func): `result` is a copy of `source` on another device (`result is not source`).

`func` as in `on_created`. For `copy_` between devices `result` is the tensor written to. Bytes are
`result.numel() * result.element_size()`. Called instead of `on_created`, never in addition.
"""

on_data_set = _ignore_change
"""on_data_set(tensor, value): `tensor` keeps its identity and is now on the device of `value` (`x.data = y`)."""

on_data_shared = _ignore_change
"""on_data_shared(tensor, value): the same, where both are on one device already."""

read = _ignore_reading
"""read(tensor, func): the host has waited for the values of a tensor on a GPU, outside the dispatcher (`tolist`)."""

mixed = _ignore_mixture
"""mixed(args, kwargs): an operator runs next on tensors of several devices, as CUDA allows (an index, a number)."""

on_completed = _ignore_success
"""on_completed(func): a function outside the dispatcher that may fail (`numpy()`) has completed; `func` is its name."""

failed = _ignore_failure
"""failed(exception, func, args, kwargs): an operator raised; the exception is about to leave the probe.

For errors raised outside the dispatcher (`numpy()`, `torch.load`, ordinals, generators, ...) `func` is the qualified
name as a string, `args` the tensors involved, and `kwargs` empty. An inner operator may report an exception before an
outer one reports the same object again.
"""

again = _leave_failed
"""again(error, func, args, kwargs): an operator has failed. Return the result of running it otherwise, or FAILED.

A lifted run moves operands whose devices test code itself has mixed.
"""
