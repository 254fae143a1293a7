"""Where the simulated device and the provenance of tensors meet: slots that start as no-ops.

The dispatcher (`dispatch.py`) and the patches call these slots; provenance fills them on entering a world by assigning
to the module's attributes (`hooks.born = ...`). Callers must therefore say `hooks.born(...)`, never import the names.

Every tensor, plain or simulated, has the attribute `_devfix_record`: None at first (a class attribute of
`torch.Tensor`), set by provenance on simulated ones. It is neither copied nor pickled with the tensor.
"""

from __future__ import annotations

from typing import Any


def _ignore_birth(result: Any, func: Any, args: Any, kwargs: Any) -> None:
    """Do nothing; see `born`."""


def _ignore_derivation(result: Any, func: Any, source: Any) -> None:
    """Do nothing; see `shorter`."""


def _ignore_move(result: Any, source: Any, func: Any) -> None:
    """Do nothing; see `moved`."""


def _ignore_change(tensor: Any, value: Any) -> None:
    """Do nothing; see `became`."""


def _ignore_reading(tensor: Any, func: Any) -> None:
    """Do nothing; see `read`."""


def _ignore_mixture(args: Any, kwargs: Any) -> None:
    """Do nothing; see `mixed`."""


def _ignore_success(func: Any) -> None:
    """Do nothing; see `done`."""


def _ignore_failure(exception: BaseException, func: Any, args: Any, kwargs: Any) -> None:
    """Do nothing; see `failed`."""


FAILED = object()


def _leave_failed(error: BaseException, func: Any, args: Any, kwargs: Any) -> Any:
    """Return FAILED; see `again`."""
    return FAILED


born = _ignore_birth
"""born(result, func, args, kwargs): an operator made `result` (a tensor, or a tuple or list of them).

`func` is the OpOverload, or the qualified name of a function outside the dispatcher ("torch.from_numpy"). It is called
for plain CPU tensors and for simulated ones, before the caller gets the result; not for results that are not tensors.
"""

shorter: dict[Any, Any] = {_ignore_birth: _ignore_derivation}
"""For those `born` that ask no more than where a result comes from: what says it in less time.

shorter[born](result, func, source): an operator made the new simulated tensor `result` from `source`, a simulated one.
A composite operator may then be told of instead of its parts.
"""

on_host: dict[Any, Any] = {_ignore_birth: _ignore_derivation}
"""As `shorter`, for a new tensor of the host that was made from one of the host."""

moved = _ignore_move
"""moved(result, source, func): `result` holds a copy of `source` on another device (`result is not source`).

`func` as in `born`. For `copy_` between devices `result` is the tensor written to. Bytes are
`result.numel() * result.element_size()`. Called instead of `born`, never beside it.
"""

became = _ignore_change
"""became(tensor, value): `tensor`, which keeps its identity, lies where `value` lies from now on (`x.data = y`)."""

read = _ignore_reading
"""read(tensor, func): the host has waited for the values of a tensor on a GPU, outside the dispatcher (`tolist`)."""

mixed = _ignore_mixture
"""mixed(args, kwargs): an operator runs next on tensors of several devices, as CUDA allows (an index, a number)."""

done = _ignore_success
"""done(func): a function outside the dispatcher, which may fail (`numpy()`), came to its end; `func` is its name."""

failed = _ignore_failure
"""failed(exception, func, args, kwargs): an operator raised; the exception is about to leave the probe.

For errors raised outside the dispatcher (`numpy()`, `torch.load`, ordinals, generators, ...) `func` is the qualified
name as a string, `args` the tensors concerned, and `kwargs` empty. An inner operator may report an exception
before an outer one reports the same object again.
"""

again = _leave_failed
"""again(error, func, args, kwargs): an operator has failed. Return what it makes when it is run otherwise, or FAILED.

A lifted run moves what test code itself has mixed.
"""
